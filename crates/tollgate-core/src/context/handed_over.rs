//! The documents that a stage gives, as its worker is asked for them.

use crate::protocol::model::Artifact;

use super::text::code;
use super::{Dispatch, Sources};

/// What is asked for, and how each is written; none where the stage gives no document.
pub(super) fn request(dispatch: &Dispatch<'_>, sources: &Sources<'_>) -> Option<String> {
    let run = dispatch.run;
    let stage = run.stage(dispatch.instance, &dispatch.attempt.stage)?;
    let documents = stage.gives.iter().filter_map(|name| run.protocol.artifacts.get_key_value(&**name));
    let documents: Vec<_> = documents.filter(|(_, artifact)| !artifact.from_report).collect();
    if documents.is_empty() {
        return None;
    }
    let paths = run.parts().documents;
    let place = |name: &str, artifact: &Artifact| match (paths.get(name), artifact.many) {
        (Some(path), _) => format!("the file {} of the work tree", code(path)),
        (None, false) => format!("the file {}", code(&format!("{}/{name}", sources.out))),
        (None, true) => {
            format!(
                "a file for each, with a name of your choice, in the folder {}",
                code(&format!("{}/{name}", sources.out))
            )
        }
    };
    let mut text = "Write these documents before you report:\n\n".to_owned();
    for (name, artifact) in &documents {
        text += &format!("- {}: {}\n", code(name), place(name, artifact));
    }
    for (name, artifact) in &documents {
        let sections: Vec<String> = artifact.sections.iter().map(|section| code(section)).collect();
        if !sections.is_empty() {
            text += &format!("\n{} has the sections {}.\n", code(name), sections.join(", "));
        }
        let contract = artifact.schema.as_deref().and_then(|schema| sources.contracts.document(schema));
        if let Some(contract) = contract {
            text += &format!("\n### How to write {}\n\n{}\n", code(name), contract.trim_end());
        }
    }
    Some(text + "\n### The report\n\n")
}
