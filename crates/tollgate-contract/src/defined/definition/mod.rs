//! The definition of a contract: data from which its reader, judge, mapping, renderer, schema, template, instructions and page come.
//!
//! `read` makes one from YAML, `check` finds what can never be meant; docs/contracts/language.md describes the language.

mod check;
mod conditions;
mod examples;
mod json_schema;
mod mappings;
mod plan;
mod read;
mod report;
mod satisfiable;
#[cfg(test)]
mod tests;
pub mod text_pattern;
mod types;

pub use check::faults;
#[cfg(test)]
pub use examples::put;
pub use examples::{Sample, samples};
pub use plan::{DecidedMap, IdMap, ItemMap, PlanMapping, RequirementMap, RowMap, UnitMap};
pub use read::{LINES, read};
pub use report::{
    Case, ClaimMap, CodeMap, CriterionMap, FindingMap, Mapping, NoticeMap, OptionMap, QuestionMap, Said, WordMap,
};

use self::text_pattern::Like;
use crate::Trailing;
use crate::markdown::Heading;
use crate::tree::Node;
use tollgate_core::Name;
use tollgate_core::diagnostic::Place;

/// A contract as data.
#[derive(Debug)]
pub struct Definition {
    /// Its name without version.
    pub name: Name,
    /// Its name and version, `wr.assessment@1`.
    pub id: Name,
    /// What it is for, in one or two sentences.
    pub purpose: String,
    /// The forms it may have; the first is written.
    pub forms: Vec<Form>,
    /// Names of files that are such documents.
    pub files: Vec<Name>,
    /// The roles that say it, where what they say depends on who they are.
    pub roles: Vec<Name>,
    /// The heading that a Markdown document stands under.
    pub heading: Option<Heading>,
    /// The sentence that a Markdown document ends with; it says nothing of its own.
    pub closing: Option<Name>,
    /// What becomes of text after a report.
    pub trailing: Trailing,
    /// What the document is.
    pub root: Type,
    pub rules: Vec<Rule>,
    /// What it means as a report.
    pub report: Option<Mapping>,
    /// What it brings into the ledger.
    pub plan: PlanMapping,
    /// What a worker is told beside fields and rules.
    pub instructions: String,
    /// A document that meets it.
    pub example: Node<'static>,
    /// Where the example stands.
    pub example_place: Place,
}

/// How a document is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Json,
    /// One JSON value a line; the fields are those of a line.
    JsonLines,
    Yaml,
    Markdown,
}

impl Form {
    pub const WORDS: [(&'static str, Self); 4] =
        [("json", Self::Json), ("jsonl", Self::JsonLines), ("yaml", Self::Yaml), ("markdown", Self::Markdown)];

    /// The word that definitions use.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, form)| *form == self).map_or("", |(word, _)| word)
    }
}

/// What a value may be.
#[derive(Debug, Clone)]
pub struct Type {
    pub kind: Kind,
    /// Whether null stands for no value.
    pub nullable: bool,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Any,
    Bool,
    /// Exactly this word; true for a number.
    Const(Name, bool),
    Text(TextType),
    Int(Range),
    Number(Range),
    OneOf(Vec<Name>),
    List(Box<ListType>),
    Map(Box<MapType>),
    Record(RecordType),
    /// One of several, told apart by their kinds.
    Union(Vec<Type>),
}

/// A text; limits count characters.
#[derive(Debug, Clone)]
pub struct TextType {
    pub range: Range,
    /// The forms it may have; none: any.
    pub like: Vec<Like>,
    /// What it must not say, as a whole, in any case.
    pub never: Vec<Name>,
}

/// Bounds, both included.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Range {
    pub min: Option<i64>,
    pub max: Option<i64>,
}

#[derive(Debug, Clone)]
pub struct ListType {
    pub of: Type,
    pub range: Range,
    /// Whether items differ; by a field of theirs, where one is named.
    pub unique: Option<Option<Name>>,
    /// How Markdown writes the items.
    pub items: Items,
}

/// How Markdown writes the items of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Items {
    Bullets,
    Numbers,
    Checks,
    /// Each item is a section of the next level.
    Sections,
    /// Each item is a row of a table, each of its fields a column.
    Table,
}

#[derive(Debug, Clone)]
pub struct MapType {
    pub keys: Vec<Like>,
    pub of: Type,
    pub range: Range,
}

#[derive(Debug, Clone)]
pub struct RecordType {
    pub fields: Vec<Field>,
    /// Whether fields that are not declared may be there.
    pub open: bool,
    /// How Markdown writes labelled fields.
    pub labels: Labels,
}

/// How Markdown writes labelled fields; all are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// `**Label:** text`, a paragraph each.
    Lines,
    /// `- Label: text`.
    Bullets,
    /// `- **Label:** text`.
    BoldBullets,
    /// `**Label:** text **Label:** text`.
    Inline,
    /// `Label: text`: only read, where none is bold, to say so.
    Plain,
}

/// One field of a record.
#[derive(Debug, Clone)]
pub struct Field {
    pub name: Name,
    pub of: Type,
    pub optional: bool,
    /// Whether nobody is asked for it: no template has it, and rules say what it means when it is there all the same.
    pub unasked: bool,
    /// Whether every check box in it is checked.
    pub checked: bool,
    /// What it says, in a sentence.
    pub doc: String,
    /// Where Markdown has it.
    pub layout: Layout,
}

/// Where a field of a Markdown document stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// Under a heading of this name, or one of the others.
    Section(Vec<Name>),
    /// Behind `**Label:**`.
    Label(Name),
    /// The words of the heading, or what stands before the first label.
    Head,
    /// All that stands there.
    Body,
    /// Not in the text: the labels of the issue, given beside it.
    Given,
}

/// From a document or an item to values in it: `user_decisions.status`, `blocking.*`, `it`.
#[derive(Clone, PartialEq, Eq)]
pub struct Path {
    /// Where a field of an item around begins: after so many steps of the way to the item. None: at the item itself.
    pub outer: Option<usize>,
    pub steps: Vec<Name>,
    /// As it was written.
    pub written: Name,
    pub place: Place,
}

/// Without its place: conditions that ask the same are the same wherever they are written.
impl std::fmt::Debug for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.steps.join("."))
    }
}

/// What may be true of a document, or of an item in it.
#[derive(Debug, Clone)]
pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// The role that reports is one of these.
    By(Vec<Name>),
    /// The field is there and says something.
    Has(Path),
    Test(Path, Test),
    Each {
        quantifier: Quantifier,
        over: Path,
        filter: Option<Box<Condition>>,
        is: Box<Condition>,
    },
    /// No item needs itself, however far: `by` names an item, `to` the ones it points to; a map points from its keys.
    Acyclic {
        over: Path,
        by: Option<Name>,
        to: Option<Name>,
    },
    /// The names that begin with a prefix go on with 1, 2, 3 ….
    Numbered {
        over: Path,
        by: Name,
        prefix: Name,
    },
    /// What the language cannot say: a check by name.
    Check(Name),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    Every,
    Some,
    None,
}

/// What may be true of one value.
#[derive(Debug, Clone)]
pub enum Test {
    /// One of these words.
    Is(Vec<Name>),
    /// A number within bounds; of a list or map its size, of a text its characters.
    Within(Range),
    Begins(Vec<Name>),
    Holds(Vec<Name>),
    /// One of the values at a path from the root; of a map, its keys.
    In(Path),
    /// The value at a path from the root.
    Same(Path),
    /// How many values are at a path from the root.
    CountOf(Path),
}

/// A rule over fields that are right by themselves.
#[derive(Debug)]
pub struct Rule {
    pub id: Name,
    pub place: Place,
    pub when: Option<Condition>,
    pub must: Condition,
    /// What is wrong when it does not hold.
    pub says: String,
    /// What to do then.
    pub fix: String,
    /// Where it points; by default at what `must` reads first.
    pub at: Option<Path>,
    /// Whether the document is still good.
    pub warning: bool,
    pub good: Example,
    pub bad: Example,
}

/// A change of the contract's example.
#[derive(Debug, Default)]
pub struct Example {
    pub place: Place,
    /// The role that says it.
    pub by: Option<Name>,
    /// What stands at a path.
    pub set: Vec<(Path, Node<'static>)>,
    /// What is not there.
    pub without: Vec<Path>,
}

impl Field {
    /// A field that must be there, with a label of its own name.
    pub fn new(name: &Name, of: Type) -> Self {
        let (doc, layout) = (String::new(), Layout::Label(name.clone()));
        Self { name: name.clone(), of, optional: false, unasked: false, checked: false, doc, layout }
    }
}

impl Type {
    /// The type without null.
    pub fn of(kind: Kind) -> Self {
        Self { kind, nullable: false }
    }

    /// The record in it, also behind a union.
    pub fn record(&self) -> Option<&RecordType> {
        match &self.kind {
            Kind::Record(record) => Some(record),
            Kind::Union(types) => types.iter().find_map(Self::record),
            _ => None,
        }
    }

    /// What each item of a list is; anything else is its own item.
    pub fn item(&self) -> &Self {
        match &self.kind {
            Kind::List(list) => &list.of,
            _ => self,
        }
    }

    /// What one step of a path leads to; into a list by way of its items.
    pub fn step(&self, step: &str) -> Option<(&Self, bool)> {
        match &self.kind {
            Kind::Record(record) => {
                record.fields.iter().find(|field| &*field.name == step).map(|field| (&field.of, field.optional))
            }
            Kind::Map(map) if step == "*" => Some((&map.of, false)),
            Kind::List(list) => list.of.step(step),
            Kind::Union(types) => types.iter().find_map(|of| of.step(step)).map(|(of, _)| (of, true)),
            _ => None,
        }
    }

    /// What a path leads to.
    pub fn at(&self, path: &Path) -> Option<&Self> {
        path.steps.iter().try_fold(self, |of, step| of.step(step).map(|(of, _)| of))
    }

    /// The words it is limited to.
    pub fn words(&self) -> Option<Vec<Name>> {
        match &self.kind {
            Kind::OneOf(words) => Some(words.clone()),
            Kind::Const(word, _) => Some(vec![word.clone()]),
            Kind::Bool => Some(vec!["true".into(), "false".into()]),
            _ => None,
        }
    }

    /// How many types it is made of: one that names another holds all of it.
    pub fn parts(&self) -> usize {
        let inner = match &self.kind {
            Kind::List(list) => list.of.parts(),
            Kind::Map(map) => map.of.parts(),
            Kind::Record(record) => record.fields.iter().map(|field| field.of.parts()).sum(),
            Kind::Union(types) => types.iter().map(Type::parts).sum(),
            Kind::Any
            | Kind::Bool
            | Kind::Const(..)
            | Kind::Text(_)
            | Kind::Int(_)
            | Kind::Number(_)
            | Kind::OneOf(_) => 0,
        };
        inner + 1
    }

    /// What it is called in messages and tables.
    pub fn describe(&self) -> String {
        let what = match &self.kind {
            Kind::Any => "anything".to_owned(),
            Kind::Bool => "true or false".to_owned(),
            Kind::Const(word, _) => format!("`{word}`"),
            Kind::Text(text) => match (&text.like[..], text.range.described("characters")) {
                ([], None) => "a text".to_owned(),
                ([], Some(range)) => format!("a text of {range}"),
                (like, _) => {
                    format!("a text like {}", like.iter().map(|l| format!("`{l}`")).collect::<Vec<_>>().join(" or "))
                }
            },
            Kind::Int(range) => described("a whole number", *range),
            Kind::Number(range) => described("a number", *range),
            Kind::OneOf(words) => words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(" or "),
            Kind::List(list) => {
                let range = list.range.described("items").map(|r| format!(" of {r}")).unwrap_or_default();
                format!("a list{range}, each {}", list.of.describe())
            }
            Kind::Map(map) => format!("a map, each value {}", map.of.describe()),
            Kind::Record(_) => "a record".to_owned(),
            Kind::Union(types) => types.iter().map(Self::describe).collect::<Vec<_>>().join(" or "),
        };
        if self.nullable { format!("{what}, or null") } else { what }
    }
}

fn described(what: &str, range: Range) -> String {
    range.described("").map_or_else(|| what.to_owned(), |range| format!("{what}, {}", range.trim_end()))
}

/// A bound as the numbers that it is compared with.
#[expect(clippy::cast_precision_loss, reason = "bounds are small")]
fn as_float(bound: i64) -> f64 {
    bound as f64
}

impl Range {
    /// The bounds in words.
    pub fn described(self, unit: &str) -> Option<String> {
        match (self.min.filter(|min| *min != 1 || unit.is_empty() || unit == "items"), self.max) {
            (None, None) => None,
            (Some(min), None) => Some(format!("at least {min} {unit}")),
            (None, Some(max)) => Some(format!("at most {max} {unit}")),
            (Some(min), Some(max)) => Some(format!("{min} to {max} {unit}")),
        }
    }

    /// Whether a number is within.
    pub fn holds(self, number: f64) -> bool {
        self.min.is_none_or(|min| number >= as_float(min)) && self.max.is_none_or(|max| number <= as_float(max))
    }

    /// Whether a size is within.
    pub fn counts(self, size: usize) -> bool {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        self.min.is_none_or(|min| size >= min) && self.max.is_none_or(|max| size <= max)
    }
}
