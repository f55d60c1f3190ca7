//! What a report means, as data: its cases and its lists.

use super::{Condition, Path, Test};
use tollgate_core::Name;
use tollgate_core::diagnostic::Place;
use tollgate_core::protocol::SectionClass;
use tollgate_core::report::{Health, Judgement, Verdict};

/// What a report means.
#[derive(Debug)]
pub struct Mapping {
    /// The field that names the unit a report is about.
    pub unit: Option<Path>,
    pub cases: Vec<Case>,
    pub criteria: Vec<CriterionMap>,
    pub findings: Vec<FindingMap>,
    pub questions: Vec<QuestionMap>,
    pub notices: Vec<NoticeMap>,
    /// Whether a verdict counts for every row that the worker was shown.
    pub rows_shown: bool,
    pub claims: ClaimMap,
    /// Variables and the fields that give them.
    pub gives: Vec<(Name, Path)>,
    /// Sections that later agents may be shown, and the fields they are made of.
    pub sections: Vec<(Name, SectionClass, Vec<Path>)>,
}

/// The first case whose condition holds says how the worker fared and what it judged.
#[derive(Debug)]
pub struct Case {
    pub place: Place,
    pub when: Option<Condition>,
    pub health: Health,
    pub code: Option<CodeMap>,
    pub verdict: Verdict,
    pub reason: Vec<Path>,
}

/// The code of a health: a word, or the word in a field.
#[derive(Debug)]
pub enum CodeMap {
    Word(Name),
    Field(Path, Vec<Name>),
}

/// Texts at the first of several paths that says something.
pub type Said = Vec<Path>;

#[derive(Debug)]
pub struct CriterionMap {
    pub each: Path,
    pub id: Said,
    pub result: Path,
    pub words: Vec<(Name, Judgement)>,
    pub evidence: Said,
}

#[derive(Debug, Default)]
pub struct FindingMap {
    /// The list; none: the document is one finding.
    pub each: Option<Path>,
    pub when: Option<Condition>,
    pub what: Said,
    pub why: Said,
    pub fix: Said,
    pub severity: Said,
    pub category: Said,
    pub path: Said,
    pub line: Said,
    /// The row that it is about.
    pub criterion: Said,
}

#[derive(Debug, Default)]
pub struct QuestionMap {
    pub each: Option<Path>,
    pub when: Option<Condition>,
    pub text: Said,
    pub blocking: bool,
    pub options: Option<OptionMap>,
    pub recommendation: Said,
    /// Why it is recommended.
    pub reason: Said,
}

/// The answers that a question proposes.
#[derive(Debug)]
pub struct OptionMap {
    /// The list; none: the texts are fields of what asks.
    pub each: Option<Path>,
    pub text: Said,
    /// Whether it is the one to take.
    pub recommended: Said,
    pub reason: Said,
}

#[derive(Debug, Default)]
pub struct ClaimMap {
    pub created: Said,
    pub modified: Said,
    pub deleted: Said,
    pub next: Said,
}

/// What a report leaves open.
#[derive(Debug)]
pub struct NoticeMap {
    pub each: Option<Path>,
    pub when: Option<Condition>,
    pub kind: WordMap,
    pub text: Said,
    pub requirement: Said,
}

/// A word that a mapping gives: always the same, or what a field says.
#[derive(Debug)]
pub enum WordMap {
    Fixed(Name),
    Field(Said),
}

impl Mapping {
    /// Every path that the mapping reads; sections are for later readers and are not among them.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = Vec::new();
        for case in &self.cases {
            case.when.iter().for_each(|when| when.paths(&mut paths));
            paths.extend(&case.reason);
            if let Some(CodeMap::Field(path, _)) = &case.code {
                paths.push(path);
            }
        }
        paths.extend(self.criteria.iter().map(|map| &map.each));
        let findings = self.findings.iter().map(|map| (&map.each, &map.when, &map.what));
        let questions = self.questions.iter().map(|map| (&map.each, &map.when, &map.text));
        let notices = self.notices.iter().map(|map| (&map.each, &map.when, &map.text));
        for (each, when, text) in findings.chain(questions).chain(notices) {
            when.iter().for_each(|when| when.paths(&mut paths));
            paths.extend(each.iter().chain(text.iter().filter(|_| each.is_none())));
        }
        let claims = &self.claims;
        paths.extend([&claims.created, &claims.modified, &claims.deleted, &claims.next].into_iter().flatten());
        paths.extend(self.gives.iter().map(|(_, path)| path));
        paths
    }
}

impl Condition {
    /// The paths from the document that a condition reads.
    pub fn paths<'c>(&'c self, paths: &mut Vec<&'c Path>) {
        match self {
            Self::All(all) | Self::Any(all) => all.iter().for_each(|inner| inner.paths(paths)),
            Self::Not(inner) => inner.paths(paths),
            Self::Has(path) => paths.push(path),
            Self::Test(path, test) => {
                paths.push(path);
                match test {
                    Test::In(other) | Test::Same(other) | Test::CountOf(other) => paths.push(other),
                    Test::Is(_) | Test::Within(_) | Test::Begins(_) | Test::Holds(_) => {}
                }
            }
            Self::Each { over, .. } | Self::Acyclic { over, .. } | Self::Numbered { over, .. } => paths.push(over),
            Self::By(_) | Self::Check(_) => {}
        }
    }
}
