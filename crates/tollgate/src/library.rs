//! The protocols that can be named: built in, or in the trusted `.tollgate/protocols/` of the repository.

use std::collections::BTreeMap;
use std::path::Path;

use tollgate_api::ProtocolOrigin;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::protocol::Protocol;

use crate::cli::Session;
use crate::cli::environment::Environment;
use crate::cli::failure::Failure;
use crate::cli::snippet::Source;
use crate::files;
use crate::trust::{self, Standing};
use crate::view::words::nearest;

const BUILT_IN: &[(&str, &str)] = &[("build-plan", include_str!("../../../protocols/build-plan.yaml"))];
/// The briefs of the built-in protocols' roles.
const BRIEFS: &[(&str, &str)] = &[
    ("build-plan/developer", include_str!("../../../protocols/build-plan/developer.md")),
    ("build-plan/dev-tester", include_str!("../../../protocols/build-plan/dev-tester.md")),
    ("build-plan/devops", include_str!("../../../protocols/build-plan/devops.md")),
    ("build-plan/dod-checker", include_str!("../../../protocols/build-plan/dod-checker.md")),
    ("build-plan/reviewer", include_str!("../../../protocols/build-plan/reviewer.md")),
    ("build-plan/tester", include_str!("../../../protocols/build-plan/tester.md")),
];
/// What a role is told whose protocol has no brief for it.
const COMMON_BRIEF: &str = include_str!("../../../protocols/role.md");
const FOLDER: &str = ".tollgate/protocols/";
const PROTOCOL_BYTES_MAX: u64 = 1024 * 1024;

/// The text of a protocol and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The name that commands take.
    pub id: String,
    pub origin: ProtocolOrigin,
    /// The id of a built-in protocol, or the file, and the text.
    pub source: Source,
}

impl Definition {
    /// The digest that a run is pinned to.
    pub fn digest(&self) -> Digest {
        Digest::of(self.source.text.as_bytes())
    }
}

/// Every protocol that can be run here, built-in ones first.
pub fn list(environment: &Environment) -> Result<Vec<Definition>, Failure> {
    let mut all: Vec<_> = BUILT_IN.iter().map(|(id, text)| built_in(id, text)).collect();
    all.extend(of_repository(&Standing::look(environment)?)?);
    Ok(all)
}

/// A protocol by its name or, when there is none of that name, by its file.
pub fn find(name: &str, session: &Session) -> Result<Definition, Failure> {
    // Built-in protocols need no repository, and none can take their place.
    if let Some((id, text)) = BUILT_IN.iter().find(|(id, _)| *id == name) {
        return Ok(built_in(id, text));
    }
    if name.contains(['/', '.']) {
        return of_file(name, &session.environment);
    }
    let standing = Standing::look(&session.environment)?;
    let found = of_repository(&standing)?;
    if let Some(definition) = found.iter().find(|definition| definition.id == name) {
        return Ok(definition.clone());
    }
    if let Standing::Untrusted(_, folder) = &standing
        && let Some(path) = folder.paths().find(|path| stem(path) == Some(name))
    {
        return Err(trust::refusal(path));
    }
    let failure = Failure::usage(Code::NO_PROTOCOL, format!("there is no protocol `{name}`"));
    let known = found.iter().map(|definition| definition.id.as_str()).chain(BUILT_IN.iter().map(|(id, _)| *id));
    Err(match nearest(name, known) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("`tollgate protocol list` shows the names; a file needs its path: `./NAME.yaml`"),
    })
}

/// The brief of each role: beside the protocol, in a folder of its name; the common one where there is none.
pub fn briefs(
    definition: &Definition,
    protocol: &Protocol,
    session: &Session,
) -> Result<BTreeMap<Name, String>, Failure> {
    let mut briefs = BTreeMap::new();
    let standing = Standing::look(&session.environment)?;
    for role in protocol.roles.keys() {
        let own = match definition.origin {
            ProtocolOrigin::BuiltIn => {
                let key = format!("{}/{role}", definition.id);
                BRIEFS.iter().find(|(name, _)| *name == key).map(|(_, text)| (*text).to_owned())
            }
            ProtocolOrigin::Repository => {
                let path = format!("{FOLDER}{}/{role}.md", definition.id);
                standing.trusted().and_then(|folder| folder.text(&path)).transpose()?
            }
            ProtocolOrigin::File => {
                let file = session.environment.directory().join(&definition.source.file);
                let path = file.with_extension("").join(format!("{role}.md"));
                files::read_text_if_any(&path, PROTOCOL_BYTES_MAX)?
            }
        };
        briefs.insert(role.clone(), own.unwrap_or_else(|| COMMON_BRIEF.to_owned()));
    }
    Ok(briefs)
}

fn built_in(id: &str, text: &str) -> Definition {
    let source = Source { file: format!("{id} (built in)"), text: text.to_owned() };
    Definition { id: id.to_owned(), origin: ProtocolOrigin::BuiltIn, source }
}

fn of_repository(standing: &Standing) -> Result<Vec<Definition>, Failure> {
    let Standing::Trusted(_, folder) = standing else { return Ok(Vec::new()) };
    let named = folder.paths().filter_map(|path| Some((path, stem(path)?)));
    let own = named.filter(|(_, id)| !BUILT_IN.iter().any(|(taken, _)| taken == id));
    let definitions = own.filter_map(|(path, id)| {
        let text = folder.text(path)?;
        Some(text.map(|text| Definition {
            id: id.to_owned(),
            origin: ProtocolOrigin::Repository,
            source: Source { file: path.to_owned(), text },
        }))
    });
    definitions.collect()
}

fn stem(path: &str) -> Option<&str> {
    path.strip_prefix(FOLDER)?.strip_suffix(".yaml").filter(|stem| !stem.contains('/'))
}

fn of_file(name: &str, environment: &Environment) -> Result<Definition, Failure> {
    let path = environment.directory().join(name);
    let text = files::read_text(&path, PROTOCOL_BYTES_MAX)?;
    let id = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Definition { id, origin: ProtocolOrigin::File, source: Source { file: name.to_owned(), text } })
}
