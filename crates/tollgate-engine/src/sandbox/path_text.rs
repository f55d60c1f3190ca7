//! Paths in JSON: a path is bytes, and a text holds a character for each of them.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

fn text(path: &Path) -> String {
    path.as_os_str().as_bytes().iter().copied().map(char::from).collect()
}

fn path<E: Error>(text: &str) -> Result<PathBuf, E> {
    let bytes = text.chars().map(|letter| u8::try_from(letter).map_err(E::custom)).collect::<Result<_, _>>()?;
    Ok(OsString::from_vec(bytes).into())
}

pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    paths.iter().map(|path| text(path)).collect::<Vec<_>>().serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    Vec::<String>::deserialize(deserializer)?.iter().map(|text| path(text)).collect()
}

/// The same for one path.
pub mod one {
    use super::{Deserialize, Deserializer, Path, PathBuf, Serialize, Serializer, path, text};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        text(path).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        path(&String::deserialize(deserializer)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Policy;
    use super::*;

    #[test]
    fn every_path_comes_back_as_it_was() {
        let odd = PathBuf::from(OsString::from_vec((1..=255).filter(|byte| *byte != b'/').collect()));
        let policy = Policy { kept: vec![odd.clone(), "/caf\u{e9}".into()], temporary: odd, ..Policy::default() };
        let text = serde_json::to_vec(&policy).unwrap();
        assert_eq!(serde_json::from_slice::<Policy>(&text).unwrap(), policy);
        let wrong = String::from_utf8(text).unwrap().replace("/caf", "/\u{100}");
        assert!(serde_json::from_str::<Policy>(&wrong).is_err());
    }
}
