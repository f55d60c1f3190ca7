//! The status block as data: what the text says, and what a script may give to be written as text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tollgate_core::id::FindingId;
use tollgate_core::report::{Health, Judgement, Verdict};
use tollgate_core::words;

/// How the run of the worker went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It finished.
    Complete,
    /// It needs an answer.
    Blocked,
    /// It hit an error it could not recover from.
    Failed,
    /// It ran out of budget.
    Incomplete,
}

words!(Status { Complete = "complete", Blocked = "blocked", Failed = "failed", Incomplete = "incomplete" });

impl Status {
    /// What it means to the engine.
    pub const fn health(self) -> Health {
        match self {
            Self::Complete => Health::Ok,
            Self::Blocked => Health::NeedsInput,
            Self::Failed => Health::Failed,
            Self::Incomplete => Health::Exhausted,
        }
    }
}

/// A verdict as the text spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Word {
    /// The work passes.
    #[serde(rename = "APPROVED")]
    Approved,
    /// A reviewer wants changes.
    #[serde(rename = "REQUEST_CHANGES")]
    RequestChanges,
    /// A DoD checker found gaps.
    #[serde(rename = "BLOCKED")]
    Blocked,
    /// It judged nothing.
    #[default]
    #[serde(rename = "n/a")]
    NotApplicable,
}

words!(Word {
    Approved = "APPROVED",
    RequestChanges = "REQUEST_CHANGES",
    Blocked = "BLOCKED",
    NotApplicable = "n/a",
});

impl Word {
    /// What it means to the engine.
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::Approved => Verdict::Accept,
            Self::RequestChanges | Self::Blocked => Verdict::Reject,
            Self::NotApplicable => Verdict::None,
        }
    }
}

/// How many files a worker says it touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileCounts {
    /// Created.
    #[serde(default)]
    pub created: u32,
    /// Modified.
    #[serde(default)]
    pub modified: u32,
    /// Deleted.
    #[serde(default)]
    pub deleted: u32,
}

/// The index of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Abstract {
    /// What was achieved, or why it stopped, in one line.
    pub outcome: String,
    /// The verdict of a reviewer or DoD checker.
    #[serde(default)]
    pub verdict: Word,
    /// How many files were touched; absent: as many as the sections list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileCounts>,
    /// Who comes next: a role, `stop, surface to human` or `n/a`.
    #[serde(default = "not_applicable")]
    pub next_phase: String,
    /// How many questions are open; absent: as many as the section lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_questions: Option<u32>,
}

fn not_applicable() -> String {
    "n/a".to_owned()
}

/// A file and what was done to it; a bare path will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "FileForm", deny_unknown_fields)]
#[schemars(with = "FileForm")]
pub struct FileEntry {
    /// Its path.
    pub path: String,
    /// What was done to it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The two ways to write a file.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields, expecting = "a file is a path, or `{path, note}`")]
enum FileForm {
    Path(String),
    Noted {
        path: String,
        #[serde(default)]
        note: String,
    },
}

impl From<FileForm> for FileEntry {
    fn from(form: FileForm) -> Self {
        match form {
            FileForm::Path(path) => Self { path, note: String::new() },
            FileForm::Noted { path, note } => Self { path, note },
        }
    }
}

/// The mark of a row of the Definition of Done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Mark {
    /// It holds.
    #[serde(rename = "✓")]
    Pass,
    /// It does not hold.
    #[serde(rename = "✗")]
    Fail,
    /// It is left to the tester, or cannot be observed here.
    #[serde(rename = "⚠️")]
    Warning,
}

impl Mark {
    /// The mark in the text.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Pass => "✓",
            Self::Fail => "✗",
            Self::Warning => "⚠️",
        }
    }

    /// The mark that a character begins.
    pub const fn of(sign: char) -> Option<Self> {
        match sign {
            '✓' | '✔' | '✅' => Some(Self::Pass),
            '✗' | '✘' | '❌' => Some(Self::Fail),
            '⚠' => Some(Self::Warning),
            _ => None,
        }
    }

    /// What it means to the engine when a judge gives it.
    pub const fn judgement(self) -> Judgement {
        match self {
            Self::Pass => Judgement::Pass,
            Self::Fail => Judgement::Fail,
            Self::Warning => Judgement::Unobservable,
        }
    }
}

/// One row of the Definition of Done with its mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageRow {
    /// Whether it holds.
    pub mark: Mark,
    /// The row's id or text, and what shows it.
    pub row: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Must not go in.
    Critical,
    /// Must be fixed.
    Major,
    /// Should be fixed.
    Minor,
}

words!(Severity { Critical = "critical", Major = "major", Minor = "minor" });

/// One thing a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The earlier finding it repeats (`fnd_7`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub repeats: Option<FindingId>,
    /// The file it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line in that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The id of the rule it breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What is wrong.
    pub text: String,
}

/// A section the dialect does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Its heading.
    pub title: String,
    /// Its text.
    #[serde(default)]
    pub text: String,
}

/// A whole status block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// How the run went.
    pub status: Status,
    /// Why it is not complete, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status_reason: String,
    /// The index.
    #[serde(rename = "abstract")]
    pub index: Abstract,
    /// Which round it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u32>,
    /// Paths created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_created: Vec<FileEntry>,
    /// Paths modified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<FileEntry>,
    /// Paths deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_deleted: Vec<FileEntry>,
    /// What the tools printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quality_gate_results: String,
    /// The rows of the Definition of Done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dod_coverage: Vec<CoverageRow>,
    /// A DoD checker's verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Word>,
    /// The rows it verified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verified_rows: Vec<String>,
    /// The rows that do not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// What it read to say so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reading_scope_used: String,
    /// What a reviewer found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Whether a review was full or fast.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub re_review_mode: String,
    /// The findings a repair addressed; absent: all it was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub addressed_findings: Option<Vec<FindingId>>,
    /// What was decided on the way.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key_decisions: String,
    /// What the next agent should know.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub for_the_next_agent: String,
    /// What a tester learned.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lessons_learned: String,
    /// What a person must answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
    /// Sections the dialect does not know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<Note>,
}

impl Document {
    /// The document with the counts of its Abstract filled in from its sections, as its text has them.
    #[must_use]
    pub fn counted(mut self) -> Self {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.index.files.get_or_insert(FileCounts {
            created: count(self.files_created.len()),
            modified: count(self.files_modified.len()),
            deleted: count(self.files_deleted.len()),
        });
        self.index.open_questions.get_or_insert(count(self.open_questions.len()));
        self
    }
}
