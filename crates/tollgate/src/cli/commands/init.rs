//! `tollgate init`.

use std::io;

use tollgate_api::Written;
use tollgate_app::config::TEMPLATE;
use tollgate_app::failure::Failure;
use tollgate_app::files;
use tollgate_app::repository::{CONFIG_PATH, Repository};
use tollgate_core::code::Code;

use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style};

/// Write a commented configuration into this repository
///
/// The file is `.tollgate/config.toml`. It acts once it is committed and trusted. An existing file is left alone.
#[derive(Debug, clap::Args)]
pub struct InitArgs {}

pub fn run(_: &InitArgs, call: &Invocation) -> Result<Exit, Failure> {
    let repository = Repository::need(&call.environment)?;
    let path = repository.root().join(CONFIG_PATH);
    files::write_new(&path, TEMPLATE.as_bytes()).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::refused(Code::EXISTS, format!("{} is there already", path.display()))
            .hint("edit it; `tollgate doctor` says whether it is valid"),
        _ => Failure::environment(Code::FILE, format!("{} cannot be written", path.display())).cause(error),
    })?;
    let next = ["edit it", "git add .tollgate && git commit", "tollgate trust", "tollgate doctor build-plan"];
    if call.json() {
        let next = next.map(str::to_owned).to_vec();
        call.output.json(&Written { file: path.display().to_string(), next });
    } else {
        call.output.data(path.display().to_string());
        for (step, label) in next.iter().zip(["next: ", "      ", "      ", "      "]) {
            call.output.talk(Line::from(label).add(Style::Accent, *step));
        }
    }
    Ok(Exit::Done)
}
