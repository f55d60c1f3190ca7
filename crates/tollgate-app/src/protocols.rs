//! The protocols that can be named: built in, or in the trusted `.tollgate/protocols/` of the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_api::ProtocolOrigin;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::protocol::Protocol;
use tollgate_core::yaml::nearest;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::failure::Source;
use crate::files;
use crate::repository::{self, Folder, Repository};
use crate::trust::{self, Standing};
use tollgate_core::id::RoleId;

const BUILT_IN: &[(&str, &str)] = &[
    ("build-plan", include_str!("../../../protocols/build-plan.yaml")),
    ("supervisor", include_str!("../../../protocols/supervisor.yaml")),
    ("team", include_str!("../../../protocols/team.yaml")),
];
/// The briefs of the built-in protocols' roles.
const BRIEFS: &[(&str, &str)] = &[
    ("build-plan/developer", include_str!("../../../protocols/build-plan/developer.md")),
    ("build-plan/dev-tester", include_str!("../../../protocols/build-plan/dev-tester.md")),
    ("build-plan/devops", include_str!("../../../protocols/build-plan/devops.md")),
    ("build-plan/dod-checker", include_str!("../../../protocols/build-plan/dod-checker.md")),
    ("build-plan/reviewer", include_str!("../../../protocols/build-plan/reviewer.md")),
    ("build-plan/tester", include_str!("../../../protocols/build-plan/tester.md")),
    ("supervisor/analyst", include_str!("../../../protocols/supervisor/analyst.md")),
    ("supervisor/auditor", include_str!("../../../protocols/supervisor/auditor.md")),
    ("supervisor/documenter", include_str!("../../../protocols/supervisor/documenter.md")),
    ("supervisor/implementer", include_str!("../../../protocols/supervisor/implementer.md")),
    ("supervisor/planner", include_str!("../../../protocols/supervisor/planner.md")),
    ("supervisor/repair-author", include_str!("../../../protocols/supervisor/repair-author.md")),
    ("supervisor/verifier", include_str!("../../../protocols/supervisor/verifier.md")),
    ("team/architect", include_str!("../../../protocols/team/architect.md")),
    ("team/coder", include_str!("../../../protocols/team/coder.md")),
    ("team/designer", include_str!("../../../protocols/team/designer.md")),
    ("team/docs", include_str!("../../../protocols/team/docs.md")),
    ("team/integrator", include_str!("../../../protocols/team/integrator.md")),
    ("team/planner", include_str!("../../../protocols/team/planner.md")),
    ("team/qa", include_str!("../../../protocols/team/qa.md")),
    ("team/researcher", include_str!("../../../protocols/team/researcher.md")),
    ("team/reviewer", include_str!("../../../protocols/team/reviewer.md")),
    ("team/security", include_str!("../../../protocols/team/security.md")),
    ("team/spec-agent", include_str!("../../../protocols/team/spec-agent.md")),
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
    /// The trusted folder that a repository's protocol comes from.
    folder: Option<Arc<Folder>>,
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

/// A protocol to look at: by its name or, when there is none of that name, by its file as it lies there.
pub fn find(name: &str, environment: &Environment) -> Result<Definition, Failure> {
    if is_path(name) { of_file(name, environment) } else { named(name, environment) }
}

/// A protocol to run. A file of a `.tollgate/` folder acts as it is committed and trusted, whatever path leads to it.
pub fn find_to_run(name: &str, environment: &Environment) -> Result<Definition, Failure> {
    if !is_path(name) {
        let standing = Standing::look(environment)?;
        return match shadowed(&standing).into_iter().find(|path| stem(path) == Some(name)) {
            Some(path) => Err(taken(&path).hint(format!("to run it as it is: `tollgate run ./{path}`"))),
            None => named(name, environment),
        };
    }
    let path = environment.directory().join(name);
    let Some((root, path)) = files::names_of(&path).iter().find_map(|path| in_folder(path)) else {
        return of_file(name, environment);
    };
    let standing = Standing::of(Repository::holding(&root)?, environment)?;
    match standing {
        Standing::Untrusted(_, folder) if folder.paths().any(|known| known == path) => Err(trust::refusal(&path)),
        Standing::Trusted(_, folder) => {
            let id = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            of_folder(&Arc::new(folder), &path, &id).unwrap_or_else(|| Err(trust::uncommitted(&path)))
        }
        Standing::Untrusted(..) | Standing::NoFolder(_) | Standing::NoRepository => Err(trust::uncommitted(&path)),
    }
}

/// The trusted files whose name a built-in protocol has: no name leads to them.
pub fn shadowed(standing: &Standing) -> Vec<String> {
    let taken = |path: &&str| stem(path).is_some_and(|id| BUILT_IN.iter().any(|(taken, _)| *taken == id));
    standing.trusted().into_iter().flat_map(Folder::paths).filter(taken).map(str::to_owned).collect()
}

/// What is wrong with such a file.
pub fn taken(path: &str) -> Failure {
    let message = format!("{path} has the name of a built-in protocol, and cannot take its place");
    Failure::refused(Code::PROTOCOL_SHADOWED, message).hint("rename it, commit, and `tollgate trust`")
}

fn is_path(name: &str) -> bool {
    name.contains(['/', '.'])
}

/// The repository's root and the path from there, where a path lies in the `.tollgate/` folder of a repository.
fn in_folder(path: &Path) -> Option<(PathBuf, String)> {
    let roots = path.ancestors().filter(|folder| folder.file_name().is_some_and(|name| name == repository::FOLDER));
    let mut roots = roots.filter_map(Path::parent);
    let root = roots.find(|root| repository::is_root(root))?;
    Some((root.to_owned(), path.strip_prefix(root).ok()?.to_str()?.to_owned()))
}

fn named(name: &str, environment: &Environment) -> Result<Definition, Failure> {
    // Built-in protocols need no repository, and none can take their place.
    if let Some((id, text)) = BUILT_IN.iter().find(|(id, _)| *id == name) {
        return Ok(built_in(id, text));
    }
    let standing = Standing::look(environment)?;
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
    environment: &Environment,
) -> Result<BTreeMap<RoleId, String>, Failure> {
    let mut briefs = BTreeMap::new();
    for role in protocol.roles.keys() {
        let own = match definition.origin {
            ProtocolOrigin::BuiltIn => {
                let key = format!("{}/{role}", definition.id);
                BRIEFS.iter().find(|(name, _)| *name == key).map(|(_, text)| (*text).to_owned())
            }
            ProtocolOrigin::Repository => {
                let file = Path::new(&definition.source.file);
                let path = file.with_extension("").join(format!("{role}.md"));
                definition.folder.as_ref().and_then(|folder| folder.text(path.to_str()?)).transpose()?
            }
            ProtocolOrigin::File => {
                let file = environment.directory().join(&definition.source.file);
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
    Definition { id: id.to_owned(), origin: ProtocolOrigin::BuiltIn, source, folder: None }
}

fn of_repository(standing: &Standing) -> Result<Vec<Definition>, Failure> {
    let Some(folder) = standing.trusted() else { return Ok(Vec::new()) };
    let folder = Arc::new(folder.clone());
    let named = folder.paths().filter_map(|path| Some((path, stem(path)?)));
    let own = named.filter(|(_, id)| !BUILT_IN.iter().any(|(taken, _)| taken == id));
    own.filter_map(|(path, id)| of_folder(&folder, path, id)).collect()
}

fn of_folder(folder: &Arc<Folder>, path: &str, id: &str) -> Option<Result<Definition, Failure>> {
    let definition = |text| Definition {
        id: id.to_owned(),
        origin: ProtocolOrigin::Repository,
        source: Source { file: path.to_owned(), text },
        folder: Some(Arc::clone(folder)),
    };
    Some(folder.text(path)?.map(definition))
}

fn stem(path: &str) -> Option<&str> {
    path.strip_prefix(FOLDER)?.strip_suffix(".yaml").filter(|stem| !stem.contains('/'))
}

fn of_file(name: &str, environment: &Environment) -> Result<Definition, Failure> {
    let path = environment.directory().join(name);
    let text = files::read_text(&path, PROTOCOL_BYTES_MAX)?;
    let id = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let source = Source { file: name.to_owned(), text };
    Ok(Definition { id, origin: ProtocolOrigin::File, source, folder: None })
}
