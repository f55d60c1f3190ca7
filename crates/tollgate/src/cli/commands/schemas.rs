//! `tollgate schemas`.

use std::path::PathBuf;

use serde_json::Value;
use tollgate_core::code::Code;

use crate::cli::failure::Failure;
use crate::cli::{Exit, Session};
use crate::files;
use crate::view::words::{count, list};

const SCHEMA_BYTES_MAX: u64 = 1024 * 1024;

/// Write the JSON Schemas of everything that `--json` prints, and of the contracts
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct SchemasArgs {
    /// The folder
    #[arg(long)]
    dir: PathBuf,
    /// Only look whether the folder holds exactly these
    #[arg(long)]
    check: bool,
}

pub fn run(args: &SchemasArgs, session: &Session) -> Result<Exit, Failure> {
    let wire = tollgate_api::schemas().into_iter().map(|(name, schema)| (format!("{name}.json"), schema.to_value()));
    let schemas: Vec<(String, Value)> = wire.chain(super::contract::schemas()?).collect();
    let dir = session.environment.directory().join(&args.dir);
    let mut differ = Vec::new();
    for (name, schema) in &schemas {
        let path = dir.join(name);
        let text = serde_json::to_string_pretty(schema)
            .map_err(|error| Failure::internal("a schema cannot be written").cause(error))?
            + "\n";
        if args.check {
            if files::read_text_if_any(&path, SCHEMA_BYTES_MAX)?.as_ref() != Some(&text) {
                differ.push(name.clone());
            }
        } else {
            files::write(&path, text.as_bytes()).map_err(|error| files::cannot_write(&path, error))?;
        }
    }
    if args.check {
        differ.extend(strays(&dir, &schemas)?);
    }
    if differ.is_empty() {
        session.output.talk(format!("{} in {}", count(schemas.len(), "schema"), args.dir.display()));
        return Ok(Exit::Done);
    }
    let message = format!("{} in {} differ: {}", count(differ.len(), "schema"), args.dir.display(), list(&differ));
    Err(Failure::refused(Code::SCHEMAS, message)
        .hint(format!("`tollgate schemas --dir {}` writes them", args.dir.display())))
}

/// Schemas of things that are no more.
fn strays(dir: &std::path::Path, schemas: &[(String, Value)]) -> Result<Vec<String>, Failure> {
    let mut strays = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|error| files::cannot_read(&dir.display().to_string(), error))? {
        let name = entry.map_err(|error| files::cannot_read(&dir.display().to_string(), error))?.file_name();
        let name = name.to_string_lossy().into_owned();
        if name.ends_with(".json") && !schemas.iter().any(|(known, _)| *known == name) {
            strays.push(name);
        }
    }
    strays.sort();
    Ok(strays)
}
