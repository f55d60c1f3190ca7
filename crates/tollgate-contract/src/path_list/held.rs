//! What an item of a scope holds: a file, a folder or the paths of a glob.
//!
//! Brackets are part of a name (`pages/[id].tsx`), never a class of characters.

use std::collections::BTreeSet;

use super::item::{self, is_folder, is_glob, literal_brackets};
use tollgate_core::Name;
use tollgate_core::scope::{literal, matches};

/// How closely an item names a path: a folder by its length, a glob by that of the folder it begins with, the path itself most.
pub type Closeness = usize;

/// A path, a folder or a glob of a list.
#[derive(Debug, Clone)]
pub enum Held {
    File(Name),
    /// A path with everything below it.
    Tree(Name),
    Glob(Name),
}

impl Held {
    /// A folder ends in a slash, and a name without an extension may be one.
    pub fn listed(path: &str) -> Self {
        let name = bare(path);
        let file = name.rsplit('/').next().unwrap_or_default();
        let extension = file.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        let is_file = extension.is_some_and(|(_, end)| end.starts_with(|c: char| c.is_ascii_alphabetic()));
        if is_glob(path) {
            Self::Glob(literal_brackets(path.trim_start_matches("./")).into())
        } else if is_file && !path.ends_with('/') {
            Self::File(name.into())
        } else {
            Self::Tree(name.into())
        }
    }

    /// What is left out is left out with all that could lie below it, whatever its name.
    pub fn excluded(path: &str) -> Self {
        match Self::listed(path) {
            Self::File(path) => Self::Tree(path),
            held @ (Self::Tree(_) | Self::Glob(_)) => held,
        }
    }

    pub fn closeness(&self, path: &str) -> Option<Closeness> {
        match self {
            Self::File(name) | Self::Tree(name) if **name == *path => Some(Closeness::MAX),
            Self::File(_) => None,
            Self::Tree(name) => {
                path.strip_prefix(&**name).is_some_and(|rest| rest.starts_with('/')).then_some(name.len())
            }
            Self::Glob(glob) => matches(glob, path).then(|| {
                let plain = glob.find(['*', '?', '{', '\\']).unwrap_or(glob.len());
                glob[..plain].rfind('/').unwrap_or(0)
            }),
        }
    }

    /// Whether one of these files, in order, is held.
    pub fn holds_any(&self, files: &BTreeSet<&str>) -> bool {
        match self {
            Self::File(name) => files.contains(&**name),
            Self::Tree(name) => files.contains(&**name) || is_folder(name, files),
            Self::Glob(glob) => files.iter().any(|file| matches(glob, file)),
        }
    }

    pub fn patterns(&self) -> Vec<Name> {
        match self {
            Self::File(name) => vec![literal(name)],
            Self::Tree(name) => vec![literal(name), format!("{}/", literal(name)).into()],
            Self::Glob(glob) => vec![glob.clone()],
        }
    }
}

/// A path without `./` and a slash at its end.
pub fn bare(path: &str) -> &str {
    path.trim_start_matches("./").trim_end_matches('/')
}

/// The patterns of an item in the scope of a unit.
pub fn unit_patterns(text: &str) -> Result<Vec<Name>, item::Problem> {
    let item = item::read(text)?;
    if !item.except.is_empty() {
        let message = format!("the scope of a unit cannot leave paths out of `{}`", item.path);
        return Err(item::Problem { message, hint: "list the paths that the unit may change" });
    }
    Ok(Held::listed(&item.path).patterns())
}
