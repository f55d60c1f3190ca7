//! Whether a change outside the listed files is incidental: three criteria, each measured as far as the change itself says.
//!
//! A criterion that is not met settles it, three that are met settle it too. Anything else is for a person, with what was
//! measured. What was not read is never taken to be good.

use std::collections::{BTreeMap, BTreeSet};

use super::beside;
use super::change::{Change, Content, Hunk, Kind, Mode, Moved, Sign};
use super::imports::{self, Imports};
use super::names::{Known, Names, added_field};
use super::reached;
use super::shape::{Piece, Stands, pieces};
use super::words::{Language, Sort, definitions, is_telling, language, steering, test_case};
use super::written::{fixture, lock, prose};
use crate::Name;

/// Up to so many lines a change counts as minimal, whatever it is.
pub const MINIMAL_LINES_MAX: usize = 10;
/// From so many lines on that follow no rule, a change does not count as minimal.
pub const LARGE_LINES_MIN: usize = 50;
const _: () = assert!(MINIMAL_LINES_MAX < LARGE_LINES_MIN);

/// Whether a criterion is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    Yes,
    No,
    /// The change does not say: a person has to judge.
    Unknown,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    pub met: Met,
    /// What was measured.
    pub measured: String,
}

/// The three criteria of an incidental change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criteria {
    /// The change is minimal.
    pub minimal: Criterion,
    /// The change in scope would not work without it.
    pub required: Criterion,
    /// The file does what it did before.
    pub unaltered: Criterion,
}

impl Criteria {
    /// Whether the change is incidental; none when a person has to judge.
    pub fn settled(&self) -> Option<bool> {
        let all = self.all();
        if all.iter().any(|(_, criterion)| criterion.met == Met::No) {
            return Some(false);
        }
        all.iter().all(|(_, criterion)| criterion.met == Met::Yes).then_some(true)
    }

    /// The criteria with their names, in their order.
    pub fn all(&self) -> [(&'static str, &Criterion); 3] {
        [("minimal", &self.minimal), ("required", &self.required), ("unaltered", &self.unaltered)]
    }

    /// What a person has to judge.
    pub fn to_judge(&self) -> Vec<&'static str> {
        let questions = [
            "Is the change minimal?",
            "Would the change in scope work without it?",
            "Does the file still do what it did before?",
        ];
        let open = |((_, criterion), question): ((&str, &Criterion), &'static str)| {
            (criterion.met == Met::Unknown).then_some(question)
        };
        self.all().into_iter().zip(questions).filter_map(open).collect()
    }
}

pub(super) fn yes(measured: impl Into<String>) -> Criterion {
    Criterion { met: Met::Yes, measured: measured.into() }
}

pub(super) fn no(measured: impl Into<String>) -> Criterion {
    Criterion { met: Met::No, measured: measured.into() }
}

pub(super) fn unknown(measured: impl Into<String>) -> Criterion {
    Criterion { met: Met::Unknown, measured: measured.into() }
}

/// Measures one change against the change in scope.
pub fn measure(change: &Change<'_>, names: &Names<'_>) -> Criteria {
    if !names.any {
        let nothing = no("no file in scope changed, so nothing can need it");
        return Criteria { required: nothing, ..of_content(change, names) };
    }
    of_content(change, names)
}

fn of_content(change: &Change<'_>, names: &Names<'_>) -> Criteria {
    match (change.before, change.after) {
        (Mode::Submodule, Mode::Submodule | Mode::Absent) | (Mode::Absent, Mode::Submodule) => Criteria {
            minimal: whole(change).unwrap_or_else(|| unknown("the submodule stands at another commit")),
            required: unknown("what changed in the submodule is not read"),
            unaltered: unknown("what changed in the submodule is not read"),
        },
        _ if change.kind() == Kind::Replaced => Criteria {
            minimal: no("another kind of thing stands at this path now"),
            required: required_by_file(change, names),
            unaltered: unknown("another kind of thing stands at this path now"),
        },
        _ => match change.content {
            Content::Unread => unread(change, names),
            Content::Same => same(change, names),
            Content::Lines(hunks) => lines(change, hunks, names),
        },
    }
}

/// A whole file comes or goes; none where it stays.
pub(super) fn whole(change: &Change<'_>) -> Option<Criterion> {
    match change.kind() {
        Kind::Added if change.after == Mode::Submodule => Some(no("a new submodule")),
        Kind::Added => Some(no("a new file")),
        Kind::Deleted => Some(no("the whole file is removed")),
        Kind::Modified | Kind::MovedHere | Kind::MovedAway | Kind::Replaced | Kind::Mode => None,
    }
}

fn unread(change: &Change<'_>, names: &Names<'_>) -> Criteria {
    let not_read = "binary, or too large to be read";
    Criteria {
        minimal: whole(change).unwrap_or_else(|| unknown(not_read)),
        required: required_by_file(change, names),
        unaltered: unknown(not_read),
    }
}

fn same(change: &Change<'_>, names: &Names<'_>) -> Criteria {
    let (minimal, unaltered) = match (&change.moved, change.before, change.mode()) {
        (Some(_), ..) => (unknown("only its name changes"), yes("its content is the same")),
        (None, Mode::File | Mode::Program, Some(mode)) => {
            (yes(format!("only its mode changes: {mode}")), unknown(mode))
        }
        // An empty file comes or goes.
        (None, Mode::Absent, _) => {
            (unknown("a new file without a line"), unknown("that it is there may change something"))
        }
        (None, ..) => (unknown("an empty file is removed"), unknown("that it is gone may change something")),
    };
    Criteria { minimal, required: required_by_file(change, names), unaltered }
}

/// What the change in scope says of the file itself.
fn required_by_file(change: &Change<'_>, names: &Names<'_>) -> Criterion {
    match (&change.moved, names.names_file(&change.path)) {
        (Some(Moved::From(other) | Moved::To(other)), None) => {
            unknown(format!("the other end of its rename is {other}"))
        }
        (_, Some(by)) => unknown(format!("the change in {by} names it")),
        (None, None) => unknown("nothing in the change says so"),
    }
}

fn lines(change: &Change<'_>, hunks: &[Hunk<'_>], names: &Names<'_>) -> Criteria {
    let language = language(&change.path);
    match language.sort {
        Sort::Lock => return lock(change, hunks, names),
        Sort::Fixture => return fixture(change, hunks, names, language),
        Sort::Prose => return prose(change, names),
        Sort::Code | Sort::Other => {}
    }
    let pieces = pieces(hunks, language);
    let imports = match pieces.iter().any(|piece| matches!(piece, Piece::Import(_))) {
        true => imports::judge(&change.path, hunks, language, names),
        false => Imports::default(),
    };
    let doubt = reached::doubt(&change.path, hunks, &pieces, language, names);
    let size = change.lines().map_or(0, |(added, removed)| added + removed);
    Criteria {
        minimal: minimal(change, &pieces, names, language, size),
        required: doubted(required(change, &pieces, names, language, &imports), doubt.as_deref()),
        unaltered: match change.mode().map(str::to_owned).or_else(|| other_name(hunks, &pieces, language)) {
            Some(open) => unknown(open),
            None => {
                let unaltered = doubted(unaltered(&pieces, names, language, &imports), doubt.as_deref());
                doubted(unaltered, presence(change, &imports))
            }
        },
    }
}

/// What a file does by being there, whatever it holds: a tool may find a route, a migration or a test by its place.
fn presence(change: &Change<'_>, imports: &Imports<'_>) -> Option<&'static str> {
    let gathers = imports.gathered && beside::gathers(&change.path);
    match (change.before, change.after) {
        (Mode::Absent, _) if !gathers => Some("that it is there may change something"),
        (_, Mode::Absent) => Some("that it is gone may change something"),
        _ => None,
    }
}

/// What is met is for a person where something speaks against it.
fn doubted(criterion: Criterion, doubt: Option<&str>) -> Criterion {
    doubt.filter(|_| criterion.met == Met::Yes).map_or(criterion, unknown)
}

/// A word that stands in place of another although the file knew both: that is no new name for the old thing.
fn other_name(hunks: &[Hunk<'_>], pieces: &[Piece<'_>], language: Language) -> Option<String> {
    let used = |but: Sign| -> BTreeSet<&str> {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|(sign, _)| *sign != but);
        lines.flat_map(|(_, line)| super::words::words(line, language)).collect()
    };
    if language.sort != Sort::Code || !pieces.iter().any(|piece| matches!(piece, Piece::Renamed { .. })) {
        return None;
    }
    let (before, now) = (used(Sign::Added), used(Sign::Removed));
    let renamed = pieces.iter().filter_map(|piece| match piece {
        Piece::Renamed { pairs, .. } => Some(pairs),
        _ => None,
    });
    let mut renamed = renamed.flatten().filter(|(old, new)| old != new);
    renamed.find_map(|(old, new)| {
        let both = before.contains(&**new) || now.contains(&**old);
        both.then(|| format!("{} in place of {}, and the file knows both", quoted(new), quoted(old)))
    })
}

pub(super) fn by_size(lines: usize) -> Criterion {
    let said = if lines == 1 { "1 line changes".to_owned() } else { format!("{lines} lines change") };
    match lines {
        0..=MINIMAL_LINES_MAX => yes(said),
        LARGE_LINES_MIN.. => no(format!("{said}, and {LARGE_LINES_MIN} or more are not minimal")),
        _ => unknown(said),
    }
}

/// Whether a piece follows from another change by a rule, whatever its size.
fn is_mechanical(piece: &Piece<'_>, names: &Names<'_>) -> bool {
    match piece {
        Piece::Import(_) | Piece::Layout => true,
        Piece::Renamed { pairs, .. } => pairs.iter().all(|(old, new)| names.renamed(old, new).is_some()),
        Piece::Comment { .. } | Piece::Field(..) | Piece::Value(..) | Piece::Code(..) => false,
    }
}

fn minimal(change: &Change<'_>, pieces: &[Piece<'_>], names: &Names<'_>, language: Language, size: usize) -> Criterion {
    let mechanical = pieces.iter().filter(|piece| is_mechanical(piece, names)).count();
    if mechanical == pieces.len() {
        return yes(what(pieces, size));
    }
    if let Some(whole) = whole(change) {
        return whole;
    }
    if language.sort == Sort::Code {
        if let Some(test) = new_test(pieces) {
            return no(format!("it adds a test case ({test})"));
        }
        if let Some(name) = new_function(pieces, language) {
            return no(format!("it adds {}", quoted(name)));
        }
    }
    by_size(size)
}

/// What a mechanical change is made of.
fn what(pieces: &[Piece<'_>], size: usize) -> String {
    let any = |is: fn(&Piece<'_>) -> bool| pieces.iter().any(is);
    let kinds = [
        (any(|piece| matches!(piece, Piece::Import(_))), "imports and re-exports"),
        (any(|piece| matches!(piece, Piece::Renamed { .. })), "renamed words"),
        (any(|piece| matches!(piece, Piece::Layout)), "white space"),
    ];
    let kinds: Vec<&str> = kinds.into_iter().filter(|(there, _)| *there).map(|(_, kind)| kind).collect();
    let lines = if size == 1 { "1 line".to_owned() } else { format!("{size} lines") };
    format!("{lines}: {}", if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") })
}

fn code<'p>(pieces: &'p [Piece<'p>], wanted: Sign) -> impl Iterator<Item = &'p str> {
    pieces.iter().filter_map(move |piece| match piece {
        Piece::Code(sign, line) if *sign == wanted => Some(*line),
        _ => None,
    })
}

fn new_test(pieces: &[Piece<'_>]) -> Option<&'static str> {
    let (added, removed) = (code(pieces, Sign::Added), code(pieces, Sign::Removed));
    let before = removed.filter_map(test_case).count();
    let mut now = added.filter_map(test_case);
    now.nth(before)
}

fn new_function<'p>(pieces: &'p [Piece<'p>], language: Language) -> Option<&'p str> {
    let running = |line: &'p str| {
        definitions(line, &language.tokens(line)).into_iter().filter(|(_, runs)| *runs).map(|(name, _)| name)
    };
    let before: BTreeSet<&str> = code(pieces, Sign::Removed).flat_map(running).collect();
    let mut now = code(pieces, Sign::Added).flat_map(running);
    now.find(|name| !before.contains(name))
}

/// Why the change in scope needs the change, in order of strength.
#[derive(Debug, Default)]
struct Links<'n> {
    /// A rule says that it is needed: the word and the file in scope.
    strong: Option<(String, &'n Name)>,
    /// It names something of the change in scope.
    weak: Option<(String, &'n Name)>,
    /// A piece that no rule ties to the change in scope.
    loose: bool,
    /// Everything is white space or comments.
    idle: bool,
}

fn required(
    change: &Change<'_>,
    pieces: &[Piece<'_>],
    names: &Names<'_>,
    language: Language,
    imports: &Imports<'_>,
) -> Criterion {
    if let Some(foreign) = &imports.foreign {
        return no(format!("it imports {}, which is no file of this repository", quoted(foreign)));
    }
    let links = links(pieces, names, language, imports);
    if links.idle {
        return no("white space and comments: nothing in scope works or fails by them");
    }
    match (links.strong, links.weak, links.loose) {
        (Some((word, by)), _, false) => yes(format!("{word} in {by}")),
        (Some((word, by)), _, true) => unknown(format!("{word} in {by}; other lines follow from nothing in scope")),
        (None, Some((word, by)), _) => unknown(format!("it names {}, which the change in {by} touches", quoted(&word))),
        (None, None, _) => match (names.names_file(&change.path), names.unread, &change.moved) {
            (Some(by), ..) => unknown(format!("the change in {by} names it")),
            (None, Some(unread), _) => unknown(format!("{unread} could not be read: what it needs is not known")),
            (None, None, Some(Moved::From(other) | Moved::To(other))) => {
                unknown(format!("the other end of its rename is {other}"))
            }
            (None, None, None) => no("it shares no name with the change in scope"),
        },
    }
}

fn links<'n>(pieces: &[Piece<'_>], names: &Names<'n>, language: Language, imports: &Imports<'n>) -> Links<'n> {
    let mut links = Links { idle: true, strong: imports.strong.clone(), loose: imports.loose, ..Links::default() };
    for piece in pieces {
        let (lines, strong): (Vec<&str>, _) = match piece {
            Piece::Layout => continue,
            Piece::Comment { steers_a_tool } => {
                links.idle &= !steers_a_tool;
                links.loose |= steers_a_tool;
                continue;
            }
            Piece::Renamed { pairs, .. } => {
                let by = pairs.iter().map(|(old, new)| Some((old, new, names.renamed(old, new)?)));
                let by: Option<Vec<_>> = by.collect();
                let strong = by.and_then(|by| {
                    by.first().map(|(old, new, by)| (format!("{} is called {} now", quoted(old), quoted(new)), *by))
                });
                (pairs.iter().flat_map(|(old, new)| [*old, *new]).collect(), strong)
            }
            Piece::Import(words) => (words.clone(), None),
            Piece::Field(sign, line) => (vec![line], added_field(*sign, line, language, names)),
            Piece::Value(old, new) => (vec![old, new], None),
            Piece::Code(_, line) => (vec![line], None),
        };
        links.idle = false;
        let telling = |line: &&str| {
            let mut words = language.tokens(line).into_iter().map(|token| token.text).filter(|word| is_telling(word));
            words.find_map(|word| Some((word.to_owned(), touching(names.knows(word)?))))
        };
        if links.weak.is_none() {
            links.weak = lines.iter().find_map(telling);
        }
        match strong {
            Some(strong) if links.strong.is_none() => links.strong = Some(strong),
            Some(_) => {}
            // What imports bind was judged as a whole.
            None => links.loose |= !matches!(piece, Piece::Import(_)),
        }
    }
    links
}

fn touching<'n>(known: Known<'n>) -> &'n Name {
    match known {
        Known::Brought(by)
        | Known::Gone(by)
        | Known::File(by)
        | Known::Redefined(by)
        | Known::Fresh(by)
        | Known::Touched(by) => by,
    }
}

fn unaltered(pieces: &[Piece<'_>], names: &Names<'_>, language: Language, imports: &Imports<'_>) -> Criterion {
    if language.sort == Sort::Code {
        if let Some(word) = steered(pieces, language) {
            return no(format!("it changes the flow of control ({})", quoted(word)));
        }
        if let Some((old, new)) = pieces.iter().find_map(|piece| match piece {
            Piece::Value(old, new) => Some((old, new)),
            _ => None,
        }) {
            return no(format!("it changes a value ({} to {})", quoted(old), quoted(new)));
        }
    }
    // What is new says more than what is gone.
    let gone = |piece: &&Piece<'_>| matches!(piece, Piece::Code(Sign::Removed, _) | Piece::Field(Sign::Removed, _));
    let order = pieces.iter().filter(|piece| !gone(piece)).chain(pieces.iter().filter(gone));
    let open = order.into_iter().find_map(|piece| match piece {
        Piece::Layout
        | Piece::Import(_)
        | Piece::Field(Sign::Added | Sign::Kept, _)
        | Piece::Comment { steers_a_tool: false } => None,
        Piece::Comment { steers_a_tool: true } => Some("a comment that tells a tool something".to_owned()),
        Piece::Renamed { stands: Stands::AsValues, .. } => Some("a word that may be a value changes".to_owned()),
        Piece::Renamed { stands: Stands::AsParts, .. } => Some("a part of something has another name".to_owned()),
        Piece::Renamed { pairs, stands, .. } => pairs
            .iter()
            .find(|(old, new)| {
                names.renamed(old, new).is_none() || (*stands == Stands::Inside && !names.is_reached(old, new))
            })
            .map(|(old, new)| format!("{} in place of {}", quoted(new), quoted(old))),
        Piece::Value(..) => Some("a value changes".to_owned()),
        Piece::Code(Sign::Removed, line) | Piece::Field(Sign::Removed, line) => {
            Some(format!("this line is gone: {}", quoted(line.trim())))
        }
        Piece::Code(Sign::Added | Sign::Kept, line) => Some(format!("this line is new: {}", quoted(line.trim()))),
    });
    open.or_else(|| imports.open.clone()).map_or_else(|| yes("no line that does something changes"), unknown)
}

/// A steering word of which there is one more or one less.
fn steered<'p>(pieces: &'p [Piece<'p>], language: Language) -> Option<&'p str> {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for (sign, by) in [(Sign::Added, 1), (Sign::Removed, -1)] {
        for word in code(pieces, sign).flat_map(|line| steering(&language.tokens(line))) {
            *counts.entry(word).or_default() += by;
        }
    }
    counts.into_iter().find(|(_, count)| *count != 0).map(|(word, _)| word)
}

/// A word or line of the change as a sentence may repeat it.
pub(super) fn quoted(text: &str) -> String {
    crate::contract::text::quote(text)
}
