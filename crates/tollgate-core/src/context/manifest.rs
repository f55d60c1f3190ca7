//! The manifest of a bundle: what is in it, from where, and why.

use serde_json::{Value, json};

use crate::digest::Digest;
use crate::protocol::model::Sees;

use super::Dispatch;
use super::items::Shown;

/// The newest form of the manifest.
const VERSION: u32 = 1;

/// Lists what an attempt is shown.
pub(super) fn manifest(dispatch: &Dispatch<'_>, shown: &Shown, brief: &str) -> Value {
    let role = dispatch.role;
    let items: Vec<Value> = dispatch
        .bundle
        .iter()
        .zip(&shown.entries)
        .map(|(item, entry)| {
            let mut listed = json!({"item": item.item, "why": why(dispatch, &item.item), "bytes": entry.bytes});
            for (key, value) in [
                ("object", item.object.map(|object| object.to_string())),
                ("attempt", item.attempt.map(|attempt| attempt.to_string())),
                ("file", entry.file.clone()),
            ] {
                if let Some(value) = value {
                    listed[key] = value.into();
                }
            }
            listed
        })
        .collect();
    let file =
        |path: &str, text: &str| json!({"path": path, "bytes": text.len(), "sha256": Digest::of(text.as_bytes())});
    let mut files = vec![file("brief.md", brief)];
    files.extend(shown.files.iter().map(|(path, text)| file(&format!("files/{path}"), text)));
    json!({
        "manifest": VERSION,
        "run": dispatch.run.id,
        "attempt": dispatch.id,
        "role": dispatch.role_name,
        "unit": dispatch.unit(),
        "stage": dispatch.attempt.stage,
        "iteration": dispatch.iteration,
        "tree": dispatch.attempt.tree,
        "contract": role.contract,
        "isolation": isolation(&role.sees),
        "items": items,
        "files": files,
    })
}

/// What a role may see, in words.
fn isolation(sees: &Sees) -> String {
    match sees {
        Sees::Full => "full: everything there is".to_owned(),
        Sees::Only(items) => format!("only: {}", items.join(", ")),
        Sees::AllBut(items) => format!("everything but: {}", items.join(", ")),
    }
}

fn why(dispatch: &Dispatch<'_>, item: &str) -> &'static str {
    let role = dispatch.role;
    if role.shown_claims.iter().any(|claim| **claim == *item) {
        return "a claim that the role is shown on purpose";
    }
    match role.sees {
        Sees::Full => "the role sees everything",
        Sees::Only(_) => "the role's list names it",
        Sees::AllBut(_) => "the role's list does not hide it",
    }
}
