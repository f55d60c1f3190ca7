//! `tollgate init`.

use tollgate_api::Written;
use tollgate_app::config::TEMPLATE;
use tollgate_app::failure::Failure;
use tollgate_app::repository::Repository;

use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style};

/// Write a commented configuration into this repository
///
/// The file is `.tollgate/config.toml`. It acts once it is committed and trusted. An existing file is left alone.
#[derive(Debug, clap::Args)]
pub struct InitArgs {}

pub fn run(_: &InitArgs, call: &Invocation) -> Result<Exit, Failure> {
    let repository = Repository::need(&call.environment)?;
    let path = repository.write_config(TEMPLATE.as_bytes())?;
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
