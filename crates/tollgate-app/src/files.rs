//! Files that a person names: read whole, within bounds, with a failure that says which file and why.
#![expect(clippy::disallowed_methods, reason = "the room of the command line's files")]

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_engine::paths::lexical;

use crate::failure::Failure;

/// Reads a file of at most so many bytes.
pub fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    open(path)
        .and_then(|file| read_all(file, bytes_max))
        .map_err(|error| cannot_read(&path.display().to_string(), error))
}

/// Reads a text of at most so many bytes.
pub fn read_text(path: &Path, bytes_max: u64) -> Result<String, Failure> {
    String::from_utf8(read(path, bytes_max)?).map_err(|error| not_text(&path.display().to_string(), &error))
}

/// Reads a text if the file exists.
pub fn read_text_if_any(path: &Path, bytes_max: u64) -> Result<Option<String>, Failure> {
    match path.try_exists() {
        Ok(false) => Ok(None),
        Ok(true) | Err(_) => read_text(path, bytes_max).map(Some),
    }
}

/// Reads a stream to its end, or to the bound.
pub fn read_all(stream: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} KiB", bytes_max / 1024)));
    }
    Ok(bytes)
}

/// Writes a new file; an existing one is left alone.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    File::create_new(path)?.write_all(bytes)
}

/// Makes a folder, if it is not there yet. What is there must be a folder itself, no link to one.
pub fn make_own_folder(path: &Path) -> io::Result<()> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.symlink_metadata()?.is_dir() => Ok(()),
        made => made,
    }
}

/// Whether a link is at a path, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    path.is_symlink()
}

/// Writes a file and its folders, whole or not at all: a reader never sees a half.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let half = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&half, bytes)?;
    std::fs::rename(&half, path)
}

/// Writes a file that is there, whole or not at all, with the permissions it has; a link to it stays one.
pub fn rewrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = std::fs::canonicalize(path)?;
    let half = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&half, bytes)?;
    std::fs::set_permissions(&half, std::fs::metadata(&path)?.permissions())?;
    std::fs::rename(&half, &path)
}

/// Makes a new file; one that is there is left alone.
pub fn create_new(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// Opens a file to be read piece by piece.
pub fn open_to_read(path: &Path) -> Result<File, Failure> {
    open(path).map_err(|error| cannot_read(&path.display().to_string(), error))
}

/// The end of a file, at most so many bytes of it.
pub fn end(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    file.seek(io::SeekFrom::Start(length.saturating_sub(bytes_max)))?;
    read_all(file, bytes_max)
}

/// A file that another process writes, read as far as it is there.
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    file: Option<File>,
}

impl Growing {
    /// A file that may not be there yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    /// The next bytes; none when there are no more for now.
    pub fn read_more(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        const PIECE: u64 = 64 * 1024;
        if self.file.is_none() && exists(&self.path)? {
            self.file = Some(open_to_read(&self.path)?);
        }
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = file.take(PIECE).read_to_end(&mut bytes);
        read.map_err(|error| cannot_read(&self.path.display().to_string(), error))?;
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

/// An empty folder that goes when this does.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one below a folder.
    pub fn new(below: &Path, name: &str) -> Result<Self, Failure> {
        let path = below.join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(below)
            .and_then(|()| std::fs::create_dir(&path))
            .map_err(|error| cannot_write(&path, error))?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// A file that cannot be written.
pub fn cannot_write(path: &Path, error: io::Error) -> Failure {
    Failure::environment(Code::FILE, format!("{} cannot be written", path.display())).cause(error)
}

/// A file that cannot be read.
pub fn cannot_read(file: &str, error: io::Error) -> Failure {
    Failure::environment(Code::FILE, format!("{file} cannot be read")).cause(error)
}

/// A file that is no text.
pub fn not_text(file: &str, error: &std::string::FromUtf8Error) -> Failure {
    let at = error.utf8_error().valid_up_to();
    Failure::environment(Code::FILE, format!("{file} is not text: byte {at} is not UTF-8"))
}

/// A text that is none, as far as it can be shown, and where it stops being one.
pub fn undecoded(error: std::string::FromUtf8Error) -> (String, Diagnostic) {
    let good = error.utf8_error().valid_up_to();
    let before = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX - 1) + 1;
    let place = Place {
        line: number(before.matches('\n').count()),
        column: number(before.rsplit('\n').next().map_or(0, |line| line.chars().count())),
    };
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    (text, Diagnostic::error(Code::FILE, place, "the file is not UTF-8 from here on").hint("write it as UTF-8 text"))
}

/// The names in a folder; none when there is no such folder.
pub fn names(folder: &Path) -> Result<Option<Vec<String>>, Failure> {
    let failed = |error| cannot_read(&folder.display().to_string(), error);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(Some(names))
}

/// What a pattern is that no file matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmatched {
    /// A mistake.
    Refused,
    /// Nothing to look at.
    Passed,
}

/// The files that are meant: a name as it stands, a pattern (`reports/**/*.md`) by the files below a folder that match it, in order.
pub fn matching(folder: &Path, wanted: &[String], unmatched: Unmatched) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for name in wanted {
        let pattern = name.contains(['*', '?', '[', '{']) && !folder.join(name).exists();
        if !pattern {
            found.push(name.clone());
            continue;
        }
        let before = found.len();
        let (base, rest) = base(name);
        below(&folder.join(base), base, 0, &mut |path| {
            if tollgate_core::scope::matches(rest, &path[base.len()..]) {
                found.push(path.to_owned());
            }
        })?;
        if found.len() == before && unmatched == Unmatched::Refused {
            let message = format!("no file matches `{name}`");
            return Err(Failure::environment(Code::FILE, message)
                .hint("patterns match from the working directory: `reports/**/*.json`"));
        }
    }
    Ok(found)
}

/// The folder that a pattern begins with, wherever it lies, and what is matched below it.
fn base(pattern: &str) -> (&str, &str) {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let plain = pattern.find(['*', '?', '[', '{', '\\', '"']).unwrap_or(0);
    pattern.split_at(pattern[..plain].rfind('/').map_or(0, |at| at + 1))
}

/// How deep folders are looked through.
const DEPTH_MAX: usize = 32;

fn below(folder: &Path, prefix: &str, depth: usize, visit: &mut impl FnMut(&str)) -> Result<(), Failure> {
    for name in names(folder)?.unwrap_or_default() {
        let path = folder.join(&name);
        let shown = format!("{prefix}{name}");
        // Links are not followed: they may lead back.
        let kind = std::fs::symlink_metadata(&path).map(|found| found.file_type());
        match kind {
            Ok(kind) if kind.is_dir() && name != ".git" && depth < DEPTH_MAX => {
                below(&path, &format!("{shown}/"), depth + 1, visit)?;
            }
            Ok(kind) if kind.is_file() => visit(&shown),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Whether something is there.
pub fn exists(path: &Path) -> Result<bool, Failure> {
    path.try_exists().map_err(|error| cannot_read(&path.display().to_string(), error))
}

/// Whether a path is taken, also by a link that leads nowhere.
pub fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Whether a file is there.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Whether a file is there that this process may start.
pub fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Makes a folder where there is none, and looks whether files can be made in it.
pub fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)?;
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?)
}

/// Takes a file of ours away.
pub fn remove(path: &Path) -> Result<(), Failure> {
    std::fs::remove_file(path).map_err(|error| cannot_write(path, error))
}

/// The one name of a folder, without links.
pub fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| cannot_read(&path.display().to_string(), error))
}

/// The same for a path whose end may not be there yet.
pub fn canonical_as_far_as_it_is_there(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    there
        .and_then(|(folder, canonical)| {
            let rest = path.strip_prefix(folder).ok()?;
            Some(if rest.as_os_str().is_empty() { canonical } else { canonical.join(rest) })
        })
        .unwrap_or_else(|| path.to_owned())
}

/// Every name by which a path can be known: as it is written, and with links followed up to it and through it.
pub fn names_of(path: &Path) -> Vec<PathBuf> {
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    let up_to_it = parent.zip(path.file_name()).map(|(parent, name)| parent.join(name));
    [Some(lexical(path)), up_to_it, path.canonicalize().ok()].into_iter().flatten().collect()
}

pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

// A pipe or a terminal would block, and a device never ends.
fn open(path: &Path) -> io::Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_file() { File::open(path) } else { Err(io::Error::other("it is not a file")) }
}
