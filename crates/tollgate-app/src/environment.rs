//! What a process was started with: variables, the working directory and its own program, read once at the edge and handed down.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tollgate_core::code::Code;

use crate::failure::Failure;
use crate::files;

/// Variables and working directory.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The names of variables whose value is no text.
    unreadable: BTreeSet<String>,
    directory: PathBuf,
    program: Option<PathBuf>,
}

impl Environment {
    /// What a process was started with: its directory, its own program, its variables.
    pub fn new(
        directory: PathBuf,
        program: Option<PathBuf>,
        all: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let (mut variables, mut unreadable) = (BTreeMap::new(), BTreeSet::new());
        for (name, value) in all {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => drop(variables.insert(name, value)),
                (Ok(name), Err(_)) => drop(unreadable.insert(name)),
                (Err(_), _) => {} // No name of ours.
            }
        }
        Self { variables, unreadable, directory, program }
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The variables whose name begins so, without that beginning.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.variables.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// This program, to be started again: the file that runs, whatever lies in its place since.
    pub fn program(&self) -> Result<&Path, Failure> {
        let unknown = || Failure::environment(Code::FILE, "the path of this program cannot be read");
        self.program.as_deref().ok_or_else(unknown)
    }

    /// The working directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The same, in another directory.
    pub fn at(&self, directory: &Path) -> Result<Self, Failure> {
        let directory = files::canonical(&self.directory.join(directory))?;
        if !files::is_folder(&directory) {
            let why = std::io::ErrorKind::NotADirectory.into();
            return Err(files::cannot_read(&directory.display().to_string(), why));
        }
        Ok(Self { directory, ..self.clone() })
    }

    /// The state directory: `TOLLGATE_STATE`, else `$XDG_STATE_HOME/tollgate`, else `~/.local/state/tollgate`.
    pub fn state_dir(&self) -> Result<PathBuf, Failure> {
        let refused =
            |why: String| Failure::environment(Code::STATE, why).hint("set TOLLGATE_STATE to a folder of yours");
        // Another folder than the one that was meant would look like one without runs.
        if let Some(name) =
            ["TOLLGATE_STATE", "XDG_STATE_HOME", "HOME"].iter().find(|name| self.unreadable.contains(**name))
        {
            return Err(refused(format!("{name} is not text: its bytes are not UTF-8")));
        }
        let named = self.get("TOLLGATE_STATE").map(|state| self.directory.join(state));
        let state = named.or_else(|| Some(self.base("XDG_STATE_HOME", ".local/state")?.join("tollgate")));
        let state =
            state.ok_or_else(|| refused("there is no place for the state directory: HOME is not set".to_owned()))?;
        if state.as_os_str().as_encoded_bytes().contains(&b'\n') {
            let shown = state.display().to_string().replace('\n', "\\n");
            return Err(refused(format!("the path of the state directory holds a line break: {shown}"))
                .because("git reads paths a line each"));
        }
        Ok(state)
    }

    /// The user's configuration file, when there is a home for it.
    pub fn user_config(&self) -> Option<PathBuf> {
        self.base("XDG_CONFIG_HOME", ".config").map(|base| base.join("tollgate/config.toml"))
    }

    /// A program by name, as the shell would find it.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(self.directory.join(name)).filter(|path| files::is_program(path));
        }
        let path = self.get("PATH")?;
        std::env::split_paths(path)
            .map(|folder| self.directory.join(folder).join(name))
            .find(|path| files::is_program(path))
    }

    // The specification says that a relative path in these variables counts as unset.
    fn base(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let absolute = |text: &str| Some(PathBuf::from(text)).filter(|path| path.is_absolute());
        let named = self.get(variable).and_then(absolute);
        named.or_else(|| Some(self.get("HOME").and_then(absolute)?.join(below_home)))
    }
}

#[cfg(test)]
pub fn environment(variables: &[(&str, &str)], directory: &Path) -> Environment {
    Environment::new(directory.to_owned(), None, variables.iter().map(|(name, value)| (name.into(), value.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_follows_the_variables() {
        let state = |variables: &[(&str, &str)]| environment(variables, Path::new("/here")).state_dir().ok();
        assert_eq!(state(&[("TOLLGATE_STATE", "s"), ("HOME", "/h")]), Some("/here/s".into()));
        assert_eq!(state(&[("XDG_STATE_HOME", "/x"), ("HOME", "/h")]), Some("/x/tollgate".into()));
        assert_eq!(state(&[("XDG_STATE_HOME", "x"), ("HOME", "/h")]), Some("/h/.local/state/tollgate".into()));
        assert_eq!(state(&[("TOLLGATE_STATE", "")]), None);
        assert_eq!(state(&[("TOLLGATE_STATE", "a\nb"), ("HOME", "/h")]), None);
    }

    #[test]
    fn programs_are_found_as_the_shell_finds_them() {
        let here = environment(&[("PATH", "/nowhere:/bin")], Path::new("/"));
        assert!(here.find_program("sh").is_some());
        assert!(here.find_program("bin/sh").is_some());
        assert!(here.find_program("no-such-program").is_none());
        assert!(here.find_program("/etc").is_none());
    }
}
