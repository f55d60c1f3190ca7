//! One changed path of a git change, as the scope rules see it.

use std::borrow::Cow;

use tollgate_core::Name;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing.
    Absent,
    /// A plain file.
    File,
    /// A file that can be started.
    Program,
    /// A symbolic link.
    Link,
    /// A submodule: a commit of another repository.
    Submodule,
}

/// The other end of a rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// Its content comes from there.
    From(Name),
    /// Its content went there.
    To(Name),
}

/// One changed path. A rename is two: the old path and the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<'a> {
    /// The path, quoted as git does when it is not plain text.
    pub path: Name,
    /// What was there before.
    pub before: Mode,
    /// What is there now.
    pub after: Mode,
    /// Where it came from or went to.
    pub moved: Option<Moved>,
    /// What changed in it.
    pub content: Content<'a>,
}

/// What changed in the content of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// Nothing: only its mode or its name changed.
    Same,
    /// All lines of the file, before and after.
    Lines(&'a [Line<'a>]),
    /// It is binary, or too large to be read.
    Unread,
}

/// A line without its end, and on which side it is.
pub type Line<'a> = (Sign, Cow<'a, str>);

/// On which side of a change a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// On both.
    Kept,
    /// Before only.
    Removed,
    /// After only.
    Added,
}

/// A word for what happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Added,
    Modified,
    Deleted,
    /// The new path of a rename.
    MovedHere,
    /// The old path of a rename.
    MovedAway,
    /// Another kind of thing is there now: a link in place of a file.
    Replaced,
    /// Only the mode changed.
    Mode,
}

impl Change<'_> {
    /// What its mode says that its lines do not.
    pub fn mode(&self) -> Option<&'static str> {
        match (self.before, self.after) {
            (Mode::Link, _) | (_, Mode::Link) => Some("the link has another target"),
            (Mode::File | Mode::Absent, Mode::Program) => Some("the file is executable now"),
            (Mode::Program, Mode::File) => Some("the file is no longer executable"),
            _ => None,
        }
    }

    /// What happened to the path.
    pub fn kind(&self) -> Kind {
        match (&self.moved, self.before, self.after) {
            (Some(Moved::From(_)), ..) => Kind::MovedHere,
            (Some(Moved::To(_)), ..) => Kind::MovedAway,
            (None, Mode::Absent, _) => Kind::Added,
            (None, _, Mode::Absent) => Kind::Deleted,
            (None, before, after) if !before.is_like(after) => Kind::Replaced,
            (None, ..) if matches!(self.content, Content::Same) => Kind::Mode,
            (None, ..) => Kind::Modified,
        }
    }

    /// How many lines were added and removed; none when they were not read.
    pub fn lines(&self) -> Option<(usize, usize)> {
        let lines = match self.content {
            Content::Same => return Some((0, 0)),
            Content::Unread => return None,
            Content::Lines(lines) => lines,
        };
        let count = |sign| lines.iter().filter(|(found, _)| *found == sign).count();
        Some((count(Sign::Added), count(Sign::Removed)))
    }
}

impl Mode {
    /// Whether two are the same kind of thing; an executable file is a file.
    fn is_like(self, other: Self) -> bool {
        let file = |mode| matches!(mode, Self::File | Self::Program);
        self == other || (file(self) && file(other))
    }
}
