//! What the checks know about the dialects that roles report in.

use std::collections::BTreeMap;

use crate::Name;
use crate::diagnostic::Diagnostic;
use crate::report::{Health, RowWord, Verdict};
use crate::words::words;
use crate::yaml::{self, Fields, Node, Problems};

/// What the checker and the kernel must know about a dialect.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declaration {
    /// The verdicts it can express.
    pub verdicts: Vec<Verdict>,
    /// The healths it can express besides ok.
    pub healths: Vec<Health>,
    /// Closed codes that refine a health.
    pub codes: BTreeMap<Health, Vec<Name>>,
    /// Its sections and what kind of word each is.
    pub sections: BTreeMap<Name, SectionClass>,
    /// The variables it can give, and the values each can have.
    pub gives: BTreeMap<Name, Vec<Name>>,
    /// The fields that conditions may ask for, and the values each can have.
    pub fields: BTreeMap<Name, Vec<Name>>,
    /// What it can bring beside its verdict.
    pub brings: Vec<Brought>,
    /// The attributes that its units can have.
    pub attrs: Vec<Name>,
    /// The values of those of them that have a closed list.
    pub attr_words: BTreeMap<Name, Vec<Name>>,
    /// What its plan can say of units, in the words of `has`; none: whatever is asked.
    pub unit_parts: Option<Vec<Name>>,
    /// The closed lists of what `where` can ask of rows and findings: `group`, `severity`, `category`.
    pub words: BTreeMap<Name, Vec<Name>>,
    /// Whether what it asks of a report depends on the `part` of the role.
    pub reads_part: bool,
    /// Which rows a verdict speaks for.
    pub rows: RowWord,
    /// The kinds of notices that it can bring; none although it brings notices: any.
    pub notices: Vec<Name>,
}

impl Declaration {
    /// Whether it can bring a part of the ledger.
    pub fn can_bring(&self, resource: &str) -> bool {
        self.brings.iter().any(|brought| brought.word() == resource)
    }
}

/// What a report or document can bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Brought {
    /// Units.
    Units,
    /// Rows that units or the run are judged by.
    Criteria,
    /// Requirements.
    Requirements,
    /// Ids of what is withdrawn.
    Retires,
    /// What is left open.
    Notices,
}

words!(Brought {
    Units = "units",
    Criteria = "criteria",
    Requirements = "requirements",
    Retires = "retires",
    Notices = "notices",
});

/// What kind of word a section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionClass {
    /// The author's word on its own work.
    Claim,
    /// Measured, or taken from a source.
    Fact,
    /// Free hand-over.
    Note,
}

/// Declarations by the name of their contract, without its version.
#[derive(Debug, Clone, Default)]
pub struct Dialects {
    contracts: BTreeMap<Name, Declaration>,
    documents: BTreeMap<Name, Declaration>,
}

impl Dialects {
    /// Adds a dialect; one that is already there wins, since code knows better than a file.
    pub fn add(&mut self, id: &str, declaration: Declaration) {
        self.contracts.entry(bare(id).into()).or_insert(declaration);
    }

    /// Adds a contract of documents.
    pub fn add_document(&mut self, id: &str, declaration: Declaration) {
        self.documents.entry(bare(id).into()).or_insert(declaration);
    }

    /// What a contract of documents declares.
    pub fn document(&self, contract: &str) -> Option<&Declaration> {
        self.documents.get(bare(contract))
    }

    /// Adds every dialect of another set that is not there yet.
    pub fn merge(&mut self, other: Self) {
        for (name, declaration) in other.contracts {
            self.contracts.entry(name).or_insert(declaration);
        }
        for (name, declaration) in other.documents {
            self.documents.entry(name).or_insert(declaration);
        }
    }

    /// What a contract declares.
    pub fn get(&self, contract: &str) -> Option<&Declaration> {
        self.contracts.get(bare(contract))
    }

    /// The names of all contracts, in order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.contracts.keys()
    }

    /// The names of all contracts of documents, in order.
    pub fn document_names(&self) -> impl Iterator<Item = &Name> {
        self.documents.keys()
    }

    /// Reads a file of declarations: a map of contract to what it declares.
    pub fn read(text: &str) -> (Self, Vec<Diagnostic>) {
        let node = match yaml::parse(text) {
            Ok(node) => node,
            Err(diagnostic) => return (Self::default(), vec![diagnostic]),
        };
        let mut problems = Problems::default();
        let mut read = Self::default();
        for (key, value) in problems.entries(&node, "the file of dialects") {
            let mut fields = Fields::open(value, format!("the dialect `{}`", key.text), &mut problems);
            let document = fields.take("document").and_then(|node| problems.bool(node, "`document`"));
            let is_document = document.unwrap_or_default();
            let kind = if is_document { &mut read.documents } else { &mut read.contracts };
            kind.insert(key.text.clone(), declaration(fields, is_document, &mut problems));
        }
        (read, problems.into_list())
    }
}

/// The name of a contract without its version.
pub(super) fn bare(id: &str) -> &str {
    id.split_once('@').map_or(id, |(name, _)| name)
}

fn declaration(mut fields: Fields<'_>, is_document: bool, problems: &mut Problems) -> Declaration {
    let verdicts = fields.take("verdicts").map(|n| words(n, "a verdict", &verdict_words(), problems));
    let healths = if is_document { fields.take("healths") } else { fields.need("healths", problems) };
    let healths = healths.map(|n| words(n, "a health", &health_words(), problems));
    let codes = fields.take("codes").map(|n| problems.entries(n, "codes")).unwrap_or_default();
    let sections = fields.take("sections").map(|n| problems.entries(n, "sections")).unwrap_or_default();
    let gives = fields.take("gives").map(|n| problems.entries(n, "gives")).unwrap_or_default();
    let asked = fields.take("fields").map(|n| problems.entries(n, "fields")).unwrap_or_default();
    let known = RowWord::ALL.map(|rows| (rows.word(), rows));
    let rows = fields.take("rows").and_then(|n| problems.word(n, "which rows a verdict speaks for", &known));
    let attrs = fields.take("attrs").map(|n| problems.texts(n, "attributes")).unwrap_or_default();
    let attr_words = fields.take("attr_words").map(|n| problems.entries(n, "attr_words")).unwrap_or_default();
    let closed = fields.take("words").map(|n| problems.entries(n, "words")).unwrap_or_default();
    let unit_parts = fields.take("unit_parts").map(|n| problems.texts(n, "parts of units"));
    let reads_part = fields.take("reads_part").and_then(|n| problems.bool(n, "`reads_part`"));
    let notices = fields.take("notices").map(|n| problems.texts(n, "kinds of notices")).unwrap_or_default();
    let known = Brought::ALL.map(|brought| (brought.word(), brought));
    let brings = fields.take("brings").map(|n| words(n, "what a contract brings", &known, problems));
    fields.close(problems);
    let mut declaration = Declaration {
        verdicts: verdicts.unwrap_or_default(),
        healths: healths.unwrap_or_default(),
        brings: brings.unwrap_or_default(),
        attrs: attrs.into_iter().map(|(attr, _)| attr).collect(),
        unit_parts: unit_parts.map(|parts| parts.into_iter().map(|(part, _)| part).collect()),
        reads_part: reads_part.unwrap_or_default(),
        rows: rows.unwrap_or_default(),
        notices: notices.into_iter().map(|(kind, _)| kind).collect(),
        ..Declaration::default()
    };
    for (key, value) in codes {
        let codes = problems.texts(value, "codes").into_iter().map(|(code, _)| code).collect();
        match Health::parse(&key.text).filter(|health| declaration.healths.contains(health)) {
            Some(health) => drop(declaration.codes.insert(health, codes)),
            None => {
                problems.value(key.place, format!("`{}` is not one of its healths", key.text), "list it in `healths`")
            }
        }
    }
    let classes = [("claim", SectionClass::Claim), ("fact", SectionClass::Fact), ("note", SectionClass::Note)];
    for (key, value) in sections {
        if let Some(class) = problems.word(value, "a class of sections", &classes) {
            declaration.sections.insert(key.text.clone(), class);
        }
    }
    let Declaration { gives: variables, fields, attr_words: of_attrs, words, .. } = &mut declaration;
    for (entries, kept, what) in [
        (gives, variables, "the values of a variable"),
        (asked, fields, "the values of a field"),
        (attr_words, of_attrs, "the values of an attribute"),
        (closed, words, "the words of a filter"),
    ] {
        for (key, value) in entries {
            let values = problems.texts(value, what).into_iter().map(|(value, _)| value).collect();
            kept.insert(key.text.clone(), values);
        }
    }
    declaration
}

fn words<T: Copy>(node: &Node, what: &str, known: &[(&str, T)], problems: &mut Problems) -> Vec<T> {
    problems.list(node, what).iter().filter_map(|item| problems.word(item, what, known)).collect()
}

fn verdict_words() -> Vec<(&'static str, Verdict)> {
    [Verdict::Accept, Verdict::AcceptWithNotes, Verdict::Reject].map(|verdict| (verdict.word(), verdict)).to_vec()
}

fn health_words() -> Vec<(&'static str, Health)> {
    Health::ALL.into_iter().filter(|health| *health != Health::Ok).map(|health| (health.word(), health)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    #[test]
    fn declarations_are_read_and_code_wins() {
        let (read, problems) = Dialects::read(
            "a: {verdicts: [accept, reject], healths: [failed], codes: {failed: [exit]}, sections: {done: claim}, gives: {x: [y]}, brings: [units]}",
        );
        assert!(problems.is_empty(), "{problems:?}");
        let mut all = Dialects::default();
        all.add("a@1", Declaration::default());
        all.merge(read.clone());
        assert_eq!(all.get("a"), Some(&Declaration::default()));
        assert_eq!(read.get("a@2").map(|d| d.codes[&Health::Failed].clone()), Some(vec!["exit".into()]));
        assert_eq!(read.get("a").map(|d| d.brings.clone()), Some(vec![Brought::Units]));
        let mut documents = Dialects::default();
        documents.add_document("b@1", Declaration::default());
        all.merge(documents);
        assert!(all.document("b").is_some() && all.get("b").is_none() && all.document("a").is_none());
    }

    #[test]
    fn what_is_wrong_with_a_declaration_has_a_place() {
        let (_, problems) = Dialects::read("a:\n  healths: [fine]\n  codes: {partial: [x]}\n  section: {}\n");
        let told: Vec<_> = problems.iter().map(|d| (d.code, d.place.line, d.place.column)).collect();
        assert_eq!(told, [(Code::YAML_VALUE, 2, 13), (Code::YAML_VALUE, 3, 11), (Code::YAML_UNKNOWN_KEY, 4, 3)]);
    }
}
