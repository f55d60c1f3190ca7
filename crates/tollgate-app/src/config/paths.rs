//! Where the files are that a worker or a command names.
//!
//! A path counts from the repository's root when it stands in a configuration file, and from the folder one is in when it was
//! typed. What lies in the repository's `.tollgate/` is taken from the last commit, once trusted, whatever path leads to it.

use std::path::{Path, PathBuf};

use tollgate_core::code::Code;
use tollgate_engine::workers::pinned_files::{FOLDER, PinnedFile, named_by};

use super::{Adapter, Worker};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;
use crate::trust::{self, Standing};

/// The places that paths count from.
#[derive(Debug, Clone, Copy)]
pub struct Paths<'a> {
    pub standing: &'a Standing,
    /// The folder one is in.
    pub directory: &'a Path,
}

/// A file that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named<'a> {
    /// In the trusted folder: the path from the root, and the file.
    Trusted(String, &'a PinnedFile),
    /// Anywhere else.
    There(PathBuf),
}

impl<'a> Paths<'a> {
    fn root(&self) -> &'a Path {
        self.standing.repository().map_or(self.directory, |repository| repository.root())
    }

    fn base(&self, typed: bool) -> &'a Path {
        if typed { self.directory } else { self.root() }
    }

    /// The file that a path names.
    pub fn file(&self, path: &str, typed: bool) -> Result<Named<'a>, Failure> {
        let path = self.base(typed).join(path);
        let Some(inside) = self.inside(&path) else { return Ok(Named::There(path)) };
        self.trusted(&inside)?;
        match self.standing.trusted().and_then(|folder| folder.file(&inside)) {
            Some(file) => Ok(Named::Trusted(inside, file)),
            None => Err(trust::uncommitted(&inside)),
        }
    }

    /// Where the program of a worker is, or the file of a script; none: nowhere. What the trusted folder has is named from the root.
    pub fn locate(&self, worker: &Worker, typed: bool, environment: &Environment) -> Result<Option<String>, Failure> {
        let Some(program) = worker.command.first() else { return Ok(None) };
        let script = worker.adapter == Adapter::Script;
        if !script && !program.contains('/') {
            return Ok(environment.find_program(program).map(|path| path.display().to_string()));
        }
        let named = self.file(program, typed);
        let named = if script { named } else { self.worker(&worker.command, typed).and(named) };
        Ok(match named? {
            Named::Trusted(path, file) => (script || file.executable).then_some(path),
            Named::There(path) => {
                let there = if script { files::is_file(&path) } else { files::is_program(&path) };
                there.then(|| if script { program.clone() } else { path.display().to_string() })
            }
        })
    }

    /// The words of a worker: what they name in the folder is named by its path from the root, and a program that was
    /// typed by its whole path.
    pub fn worker(&self, words: &[String], typed: bool) -> Result<Vec<String>, Failure> {
        let mut resolved = self.command(words)?;
        if let (Some(program), Some(word)) = (words.first().filter(|word| word.contains('/')), resolved.first_mut()) {
            match self.file(program, typed)? {
                Named::Trusted(path, _) => *word = path,
                Named::There(path) if typed && self.directory != self.root() => *word = path.display().to_string(),
                Named::There(_) => {}
            }
        }
        Ok(resolved)
    }

    /// The words of a command that runs in a tree: its paths count from the root of that tree.
    pub fn command(&self, words: &[String]) -> Result<Vec<String>, Failure> {
        words.iter().map(|word| self.word(word)).collect()
    }

    fn word(&self, word: &str) -> Result<String, Failure> {
        let parts = [Some(("", word)), word.find('=').map(|at| word.split_at(at + 1))];
        for (before, path) in parts.into_iter().flatten().filter(|(_, path)| !path.is_empty()) {
            if let Some(inside) = self.inside(&self.root().join(path)) {
                self.trusted(&inside)?;
                return Ok(format!("{before}{inside}"));
            }
        }
        let pieces = word.split(|c: char| c.is_whitespace() || "'\"=;:,()&|<>`$".contains(c));
        let hidden = |piece: &str| named_by(piece.trim_start_matches("./")).is_some();
        if !word.starts_with('/') && pieces.into_iter().any(hidden) {
            let message = format!("`{word}` names something in {FOLDER}/ in the midst of a word");
            return Err(Failure::refused(Code::UNTRUSTED, message)
                .because("it would be read from a work tree, where a worker can have written it")
                .hint(format!("give the file as a word of its own: `[\"sh\", \"{FOLDER}/FILE\"]`")));
        }
        Ok(word.to_owned())
    }

    /// The path from the root, where a path leads into the folder.
    fn inside(&self, path: &Path) -> Option<String> {
        let root = self.standing.repository()?.root();
        files::names_of(path).iter().find_map(|name| {
            let inside = name.strip_prefix(root).ok().filter(|inside| inside.starts_with(FOLDER))?;
            Some(inside.to_str()?.to_owned())
        })
    }

    /// Refuses what is not in the trusted folder: a file of it, or a folder that holds some.
    fn trusted(&self, inside: &str) -> Result<(), Failure> {
        let holds = |path: &str| Path::new(path).starts_with(inside);
        match self.standing {
            Standing::Trusted(_, folder) if folder.paths().any(holds) => Ok(()),
            Standing::Untrusted(_, folder) if folder.paths().any(holds) => Err(trust::refusal(inside)),
            Standing::Trusted(..) | Standing::Untrusted(..) | Standing::NoFolder(_) | Standing::NoRepository => {
                Err(trust::uncommitted(inside))
            }
        }
    }
}
