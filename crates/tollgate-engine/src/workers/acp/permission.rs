//! Answers an agent that asks whether it may use a tool: there is no person to ask.

use std::path::Path;

use serde_json::{Value, json};

use crate::paths::lexical;

/// What an agent is allowed when it asks. It is no boundary: an agent that does not ask is not held by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Permission {
    /// To look.
    Nothing,
    /// To look, and to change files in its folder.
    #[default]
    Edits,
    /// Whatever it asks for.
    All,
}

impl Permission {
    pub const WORDS: [(&'static str, Self); 3] =
        [("nothing", Self::Nothing), ("edits", Self::Edits), ("all", Self::All)];

    /// Reads its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, permission)| permission)
    }

    /// Whether a tool may be used.
    fn allows(self, call: &Value, folders: &[&Path]) -> bool {
        let kind = call["kind"].as_str().unwrap_or("other");
        let looks = matches!(kind, "read" | "search" | "think");
        let edits = matches!(kind, "edit" | "delete" | "move");
        match self {
            Self::All => true,
            // Some ask for a folder that is not theirs by another kind than the edit that follows.
            Self::Edits => {
                let base = folders.first().copied().unwrap_or(Path::new("/"));
                let out = folders.get(1..).unwrap_or_default();
                let paths = paths(call);
                let all_in = |folders: &[&Path]| paths.iter().all(|path| inside(path, base, folders));
                looks || (edits && all_in(folders)) || (kind == "other" && !paths.is_empty() && all_in(out))
            }
            Self::Nothing => looks,
        }
    }
}

/// What was asked for and what was answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub allowed: bool,
    pub tool: String,
    pub about: Option<String>,
    /// The result of the request.
    pub result: Value,
}

/// Answers `session/request_permission`.
pub(super) fn answer(params: &Value, permission: Permission, folders: &[&Path]) -> Answer {
    let call = &params["toolCall"];
    let allowed = permission.allows(call, folders);
    let wanted = if allowed { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
    let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let option = wanted.iter().find_map(|kind| options.iter().find(|option| option["kind"] == *kind));
    let result = match option.map(|option| &option["optionId"]) {
        Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    };
    let kind = call["kind"].as_str().unwrap_or("tool").to_owned();
    let about = paths(call).into_iter().next().or_else(|| call["title"].as_str().map(str::to_owned));
    // Asked, but not in a way that could be allowed: that is a denial too.
    Answer { allowed: allowed && option.is_some(), tool: kind, about, result }
}

fn paths(call: &Value) -> Vec<String> {
    let locations = call["locations"].as_array().into_iter().flatten().map(|location| &location["path"]);
    let diffs = call["content"].as_array().into_iter().flatten().map(|content| &content["path"]);
    locations.chain(diffs).filter_map(|path| path.as_str().map(str::to_owned)).collect()
}

/// Whether a path leads into one of the folders, by its names alone.
fn inside(path: &str, base: &Path, folders: &[&Path]) -> bool {
    let path = lexical(&base.join(path));
    folders.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kind: &str, path: Option<&str>, options: &[&str]) -> Value {
        let locations: Vec<Value> = path.iter().map(|path| json!({"path": path})).collect();
        let options: Vec<Value> =
            options.iter().map(|kind| json!({"optionId": format!("id-{kind}"), "kind": kind})).collect();
        json!({"toolCall": {"toolCallId": "1", "title": "does it", "kind": kind, "locations": locations}, "options": options})
    }

    #[test]
    fn what_is_allowed_is_what_the_worker_may_do() {
        let all = ["allow_always", "allow_once", "reject_once"];
        for (permission, kind, path, allowed) in [
            (Permission::Edits, "edit", Some("/repo/a.txt"), true),
            (Permission::Edits, "edit", Some("a.txt"), true),
            (Permission::Edits, "edit", None, true),
            (Permission::Edits, "edit", Some("/repo/../etc/passwd"), false),
            (Permission::Edits, "delete", Some("/etc/passwd"), false),
            (Permission::Edits, "execute", None, false),
            (Permission::Edits, "other", None, false),
            (Permission::Edits, "edit", Some("/out/spec"), true),
            (Permission::Edits, "other", Some("/out/spec"), true),
            (Permission::Edits, "other", Some("/out/../repo/a.txt"), false),
            (Permission::Edits, "other", Some("a.txt"), false),
            (Permission::Edits, "read", Some("/etc/passwd"), true),
            (Permission::Nothing, "edit", Some("/repo/a.txt"), false),
            (Permission::Nothing, "search", None, true),
            (Permission::All, "execute", None, true),
        ] {
            let answer = answer(&asked(kind, path, &all), permission, &[Path::new("/repo"), Path::new("/out")]);
            let id = if allowed { "id-allow_once" } else { "id-reject_once" };
            assert_eq!(answer.result["outcome"]["optionId"], id, "{permission:?} {kind} {path:?}");
            assert_eq!((answer.allowed, answer.tool.as_str()), (allowed, kind));
            assert_eq!(answer.about.as_deref(), Some(path.unwrap_or("does it")));
        }
    }

    #[test]
    fn what_cannot_be_answered_as_wanted_is_cancelled() {
        for options in [&["reject_once"][..], &[]] {
            let answer = answer(&asked("edit", None, options), Permission::Edits, &[Path::new("/repo")]);
            assert_eq!((answer.allowed, answer.result["outcome"]["outcome"].as_str()), (false, Some("cancelled")));
        }
        let always = answer(&asked("execute", None, &["reject_always"]), Permission::Edits, &[Path::new("/repo")]);
        assert_eq!(always.result["outcome"]["optionId"], "id-reject_always");
    }
}
