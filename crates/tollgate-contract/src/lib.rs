//! How Tollgate reads what workers hand in. Pure: no clock, no randomness, no files, no processes, no network.
//!
//! A contract says what a report or a document must look like, and what it means. A dialect is one file: a typed document with
//! parser and renderer, semantic rules, instructions for the worker and, where the document is a report, the mapping into the
//! canonical [`Report`](tollgate_core::report::Report). [`extract`] finds the report in what a worker printed, [`scope`] sorts
//! a change by what its task lists, and [`briefing`] tells the core what a contract says to a worker.
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests make files of their own")
)]
// Purity is a compile error, not a habit: clippy.toml names the calls. The tests may read their fixtures.
#![cfg_attr(not(test), forbid(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod briefing;
#[cfg(test)]
mod cases;
mod commands;
pub mod defined;
mod diagnostics;
#[cfg(test)]
mod docs_tests;
pub mod extract;
pub mod fix;
#[cfg(test)]
mod fuzz;
pub mod markdown;
mod path_list;
#[cfg(test)]
mod proptest_cases;
pub mod reask;
pub mod recognition;
pub mod registry;
mod rows;
pub mod scope;
mod source;
pub mod status_block;
pub mod task;
mod text;
pub mod tree;

use std::collections::BTreeMap;

pub use self::text::is_same_name;

use self::diagnostics::Sink;
use self::extract::{Looks, Markers};
use self::markdown::{Heading, Refused};
use self::text::Source;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::id::UnitId;
use tollgate_core::protocol::Declaration;
use tollgate_core::report::{CriterionRow, Health, Part, Plan, Report};
use tollgate_core::run::state::RequirementDecision;

/// What a reader knows about the run it reads for. Absent parts switch the rules off that need them.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The role that reports, as the protocol names it (`dod-checker`).
    pub role: Option<Name>,
    /// Whether the role judges.
    pub judges: Option<bool>,
    /// The part that the role declares.
    pub part: Option<Part>,
    /// The rows it was given to judge or to build.
    pub criteria: Option<Vec<CriterionRow>>,
    /// The other rows of the run: whoever names one of them is told whose it is.
    pub others: Vec<CriterionRow>,
    /// Who may come next by the protocol, by outcome (`ok`, `accept`, `reject`): role names, and `person` where a person may
    /// be next too; an empty list: a person or nobody.
    pub next: Option<BTreeMap<Name, Vec<Name>>>,
    /// The lanes that run, for documents whose rows belong to a side.
    pub sides: Option<Vec<Name>>,
    /// The file that a document is in, where it is one of a set: what it needs may be in another, and its ids by position begin with
    /// the name of the file.
    pub of_set: Option<Name>,
    /// The labels of the issue that a document is, where they are known.
    pub labels: Option<Vec<Name>>,
    /// What the worker was shown: an echo of it is no report.
    pub prompt: Option<String>,
    /// The unit that is reported on: a report that names another is not the one.
    pub unit: Option<UnitId>,
    /// The lines between which the worker was asked to print its report.
    pub markers: Option<Markers>,
    /// The headings that documents of a repository's own contracts begin with.
    pub beside: Vec<Heading>,
    /// Whether everything that is wrong is told, and not only the first things: for who mends it.
    pub every: bool,
}

/// What becomes of text after a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trailing {
    /// It is noted, and not read.
    #[default]
    Note,
    /// Beside an acceptance it makes the report malformed: a judge accepts with its last word.
    Refuse,
}

impl Trailing {
    pub const WORDS: [(&'static str, Self); 2] = [("note", Self::Note), ("refuse", Self::Refuse)];
}

/// A report as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The canonical report; `Health::Malformed` when any diagnostic is an error.
    pub report: Report,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Text of each declared section that later agents may be shown, by its declared name (`coverage`, `files`).
    pub sections: BTreeMap<Name, String>,
    /// Every section that is there, by its heading, with the bytes of its content: what is not among the report's
    /// `reads` was checked and not routed on.
    pub present: Vec<(Name, u64)>,
}

impl Reading {
    /// The texts that only people and later agents read: those of sections by which nothing was decided.
    pub fn notes<'r>(&'r self, dialect: &dyn ReportDialect) -> BTreeMap<&'r Name, &'r str> {
        if self.report.health == Health::Malformed {
            return BTreeMap::new();
        }
        let is_read = |heading: &Name| self.report.reads.iter().any(|read| read.section == *heading);
        let sections = self
            .sections
            .iter()
            .filter(|(name, text)| !text.trim().is_empty() && !dialect.headings(name).iter().any(is_read));
        sections.map(|(name, text)| (name, text.as_str())).collect()
    }
}

/// A document as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentReading {
    /// What enters the ledger.
    pub plan: Plan,
    /// Fields that `{artifact: x, with: {field: value}}` may ask for.
    pub fields: BTreeMap<Name, Name>,
    /// Where the scope of a unit is said, or would be.
    pub places: BTreeMap<Name, Place>,
    /// The units whose scope is said, whether they run or not, and where.
    pub scopes: BTreeMap<Name, Place>,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// What reports and documents have in common: how they are written, found and described.
pub trait Format: Sync {
    /// Its name and version, `status-block@1`.
    fn id(&self) -> &str;
    /// What a text of it looks like among other text, and the instructions for its writer.
    fn looks(&self, context: &Context) -> Looks;
    /// Whether a text is the template of the dialect, as it is.
    fn is_unfilled(&self, _text: &str) -> bool {
        false
    }
    /// Writes the text of a document given as JSON; what is wrong with the JSON otherwise.
    fn render(&self, document: &serde_json::Value) -> Result<String, String>;
    /// A document to fill in.
    fn template(&self, context: &Context) -> String;
    /// The instructions for whoever writes one.
    fn instructions(&self, context: &Context) -> String;
    /// The JSON Schema of the document.
    fn schema(&self) -> serde_json::Value;
}

/// A language in which workers report.
pub trait ReportDialect: Format {
    /// What it can express.
    fn declaration(&self) -> Declaration;
    /// Reads a text that is one report and nothing else.
    fn read_alone(&self, text: &str, context: &Context) -> Reading;
    /// Reads a file that was handed in as one report.
    fn read(&self, text: &str, context: &Context) -> Reading {
        self.read_alone(text, context)
    }
    /// Reads a text that is one report in the form for scripts and nothing else; none where it is something else.
    fn read_object(&self, _text: &str, _context: &Context) -> Option<Reading> {
        None
    }
    /// What becomes of text after a report.
    fn trailing(&self) -> Trailing {
        Trailing::Note
    }
    /// The unit that a report says it is about, in a dialect whose reports name one.
    fn unit(&self, text: &str, context: &Context) -> Option<String>;
    /// Whether its reports name the unit they are about.
    fn names_units(&self) -> bool;
    /// The headings that a declared section (`files`) is made of, as [`Reading::present`] names them.
    fn headings(&self, section: &str) -> Vec<Name>;
}

/// A language of documents that are given as artifacts.
pub trait DocumentDialect: Format {
    /// What it can bring, and the fields that conditions may ask for.
    fn declaration(&self) -> Declaration;
    /// Reads a text that was handed in as one document.
    fn read(&self, text: &str, context: &Context) -> DocumentReading;
    /// The document with what people decided of its requirements, where its contract has a place for that and something was decided.
    fn decided(&self, _text: &str, _decisions: &[RequirementDecision]) -> Option<String> {
        None
    }
    /// Reads a document that was found in a text.
    fn read_alone(&self, text: &str, context: &Context) -> DocumentReading {
        self.read(text, context)
    }
}

/// The JSON Schema of a dialect's document.
fn schema_of<T: schemars::JsonSchema>(id: &str) -> serde_json::Value {
    let mut schema = schemars::schema_for!(T);
    schema.insert("title".to_owned(), id.into());
    schema.to_value()
}

/// Says why a text was not read at all.
fn refuse(source: &Source<'_>, refused: Refused, sink: &mut Sink) {
    let (place, message) = match refused {
        Refused::TooLong => (Place::START, format!("the text is longer than {} bytes", markdown::BYTES_MAX)),
        Refused::TooDeep(at) => (source.place(at), "this line nests lists or quotes too deeply".to_owned()),
    };
    sink.error(Code::TEXT_REFUSED, place, message, "give the document alone, without a transcript around it");
}
