//! Context: what one attempt is shown, as text.
//!
//! The kernel decided which items an attempt sees and wrote that into the journal. Here each item becomes a part of the
//! brief or a file beside it; nothing that the bundle does not list gets in. Whatever is not Tollgate's own word is
//! made inert, bounded, and fenced as somebody's words.

mod brief;
mod handed_over;
mod items;
mod manifest;
mod next_roles;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::Name;
use crate::code::Code;
use crate::digest::Digest;
use crate::id::{AttemptId, RoleId, UnitId};
use crate::protocol::model::Role;
use crate::report::RequirementReport;
use crate::run::Run;
use crate::run::event::{BundleItem, Changed, Work};
use crate::run::state::{Attempt, Instance};

pub use brief::check;
pub use next_roles::{Next, next_roles};

/// What contracts say to workers and read from their reports. The core knows contracts by name alone.
pub trait Contracts {
    /// How the worker of an attempt must report. `rows`: whether it may know the rows that it is asked about.
    fn instructions(&self, run: &Run, attempt: AttemptId, rows: bool) -> String;
    /// The instructions for whoever writes a document; none where its contract is unknown.
    fn document(&self, schema: &str) -> Option<String>;
    /// The requirements that a document names, with what it proposes for each; none where its contract is unknown.
    fn requirements(&self, schema: &str, document: &str) -> Vec<RequirementReport>;
    /// The sections of a report that a role made before; none where its contract is unknown.
    fn sections(&self, run: &Run, role: &str, report: &str) -> Option<BTreeMap<Name, String>>;
}

/// What the engine looked up for the items of a bundle.
pub struct Sources<'a> {
    /// The contracts of the run's roles.
    pub contracts: &'a dyn Contracts,
    /// The text of an object.
    pub object: &'a dyn Fn(Digest) -> Option<String>,
    /// The measured change of the subject against the run's base; none: nothing has changed.
    pub change: Option<Change>,
    /// Facts about the repository, such as its name and a listing, that a person configured; may be empty.
    pub project: String,
    /// What the repository tells agents itself: the file, and its text.
    pub instructions: Option<(Name, String)>,
    /// What asks for the lines around the report; none where the worker's tool is forced to an object by a JSON Schema.
    pub marker_request: Option<String>,
    /// The folder in which documents are handed over; empty: nobody asks for one.
    pub out: String,
}

impl fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").field("change", &self.change).field("project", &self.project).finish_non_exhaustive()
    }
}

/// What a subject's tree changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    pub files: Vec<Changed>,
    pub patch: String,
    /// Whether the patch is not the whole of it.
    pub cut: bool,
    /// The paths that changed since the role judged this subject; none: it never did.
    pub since: Option<BTreeSet<Name>>,
}

/// What an attempt is shown: the brief, the files beside it, and the list of all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    pub brief: String,
    /// Path under `files/`, and the text.
    pub files: Vec<(String, String)>,
    pub manifest: serde_json::Value,
}

/// Why an attempt cannot be shown what its bundle lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextError {
    /// The attempt is not a live dispatch of a role of the protocol.
    NotADispatch(AttemptId),
    /// An object of the bundle is not there.
    ObjectMissing { item: Name, object: Digest },
    /// A report has no such section when it is read again.
    SectionMissing { item: Name, object: Digest },
    /// The template is not well formed, or cannot be rendered.
    Template { line: u32, why: String },
    /// The template names something that no brief has.
    UnknownName { name: String, line: u32 },
    /// The template makes too much of what it is given.
    TooLarge { why: String },
}

impl ContextError {
    /// The code of its page.
    pub const fn code(&self) -> Code {
        match self {
            Self::NotADispatch(_) => Code::NOT_A_DISPATCH,
            Self::ObjectMissing { .. } => Code::SHOWN_OBJECT_MISSING,
            Self::SectionMissing { .. } => Code::SHOWN_SECTION_MISSING,
            Self::Template { .. } => Code::BRIEF_INVALID,
            Self::UnknownName { .. } => Code::BRIEF_NAME_UNKNOWN,
            Self::TooLarge { .. } => Code::BRIEF_TOO_LARGE,
        }
    }
}

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADispatch(attempt) => write!(f, "{attempt} is not a live dispatch of a role"),
            Self::ObjectMissing { item, object } => {
                write!(f, "`{item}` must be shown, but its object {} is missing", object.short())
            }
            Self::SectionMissing { item, object } => {
                write!(f, "`{item}` must be shown, but the report {} has no such section", object.short())
            }
            Self::Template { line, why } => write!(f, "the brief cannot be read: line {line}: {why}"),
            Self::UnknownName { name, line } => write!(f, "the brief names `{name}` in line {line}; no brief has that"),
            Self::TooLarge { why } => write!(f, "the brief is too large: {why}"),
        }
    }
}

impl std::error::Error for ContextError {}

/// A live dispatch and what is known of it.
struct Dispatch<'a> {
    run: &'a Run,
    id: AttemptId,
    attempt: &'a Attempt,
    instance: &'a Instance,
    role_name: &'a RoleId,
    role: &'a Role,
    iteration: u32,
    bundle: &'a [BundleItem],
}

impl<'a> Dispatch<'a> {
    fn of(run: &'a Run, id: AttemptId) -> Option<Self> {
        let attempt = run.attempts.get(&id)?;
        let Work::Dispatch { role: role_name, iteration, bundle, .. } = &attempt.work else { return None };
        Some(Self {
            run,
            id,
            attempt,
            instance: run.instances.get(&attempt.instance)?,
            role_name,
            role: run.protocol.roles.get(role_name)?,
            iteration: *iteration,
            bundle,
        })
    }

    fn unit(&self) -> Option<&'a UnitId> {
        self.instance.unit.as_ref()
    }

    fn shows(&self, item: &str) -> bool {
        self.bundle.iter().any(|shown| &*shown.item == item)
    }
}

/// Puts together what an attempt is shown.
pub fn assemble(
    run: &Run,
    attempt: AttemptId,
    template: &str,
    sources: &Sources<'_>,
) -> Result<Assembled, ContextError> {
    let dispatch = Dispatch::of(run, attempt).ok_or(ContextError::NotADispatch(attempt))?;
    let shown = items::show(&dispatch, sources)?;
    // The rows are an item too: a role that may not see them must not learn their names here either.
    let rows = dispatch.shows("criteria");
    let mut report = sources.contracts.instructions(run, attempt, rows);
    if let Some(request) = &sources.marker_request {
        report = format!("{}\n\n{request}\n", report.trim_end());
    }
    let instructions = handed_over::request(&dispatch, sources).unwrap_or_default() + &report;
    let brief = brief::render(&dispatch, template, &shown, &instructions)?;
    let manifest = manifest::manifest(&dispatch, &shown, &brief);
    Ok(Assembled { brief, files: shown.files.into_iter().collect(), manifest })
}
