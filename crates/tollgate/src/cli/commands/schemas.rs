//! `tollgate schemas`.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tollgate_app::failure::Failure;
use tollgate_app::files;
use tollgate_app::format::{count, list};
use tollgate_core::code::Code;

use crate::cli::{Exit, Invocation};

/// The folder for what `--json` prints.
const WIRE: &str = "wire";
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

pub fn run(args: &SchemasArgs, call: &Invocation) -> Result<Exit, Failure> {
    let wire = tollgate_api::schemas()
        .into_iter()
        .map(|(name, schema)| (format!("{WIRE}/{name}.schema.json"), schema.to_value()));
    let contracts = super::contract::schemas();
    let contracts = contracts.into_iter().map(|(name, schema)| (format!("{name}.schema.json"), schema));
    let schemas: Vec<(String, Value)> = wire.chain(contracts).collect();
    let dir = call.environment.directory().join(&args.dir);
    let mut differ = Vec::new();
    for (name, schema) in &schemas {
        let path = dir.join(name);
        let text = serde_json::to_string_pretty(schema)
            .map_err(|error| Failure::internal("a schema cannot be written").cause(error))?
            + "\n";
        if args.check {
            // As values: in which order keys are written depends on how this program was built.
            let committed = files::read_text_if_any(&path, SCHEMA_BYTES_MAX)?;
            let committed = committed.and_then(|text| serde_json::from_str::<Value>(&text).ok());
            if committed.as_ref() != Some(schema) {
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
        call.output.talk(format!("{} in {}", count(schemas.len(), "schema"), args.dir.display()));
        return Ok(Exit::Done);
    }
    let message = format!("{} in {} differ: {}", count(differ.len(), "schema"), args.dir.display(), list(&differ));
    Err(Failure::refused(Code::SCHEMAS, message)
        .hint(format!("`tollgate schemas --dir {}` writes them", args.dir.display())))
}

/// Schemas of the wire's things that are no more; beside them lie schemas written by hand.
fn strays(dir: &Path, schemas: &[(String, Value)]) -> Result<Vec<String>, Failure> {
    let mut strays = Vec::new();
    for name in files::names(&dir.join(WIRE))?.unwrap_or_default() {
        let name = format!("{WIRE}/{name}");
        if !schemas.iter().any(|(known, _)| *known == name) {
            strays.push(name);
        }
    }
    Ok(strays)
}
