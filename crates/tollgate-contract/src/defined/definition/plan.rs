//! What a document brings into the ledger, as data, and reading that.

use super::conditions::Scope;
use super::mappings::{Around, one_word, said, word_of, words};
use super::{Path, Said, Type, WordMap};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::report::Disposition;
use tollgate_core::yaml::{Fields, Node, Problems};

/// What a document brings into the ledger.
#[derive(Debug, Default)]
pub struct PlanMapping {
    pub units: Option<UnitMap>,
    pub criteria: Option<RowMap>,
    pub requirements: Option<RequirementMap>,
    /// What is withdrawn; its text is the reason.
    pub retires: Option<ItemMap>,
}

/// The items of one kind: where they are, what each is called and what it says.
#[derive(Debug)]
pub struct ItemMap {
    /// The list; none: the document is one.
    pub each: Option<Path>,
    pub id: IdMap,
    pub text: Said,
}

/// Where the id of an item comes from.
#[derive(Debug)]
pub enum IdMap {
    Field(Said),
    /// This word and a number, counted over the document: `AC-1`.
    Position(Name),
    /// What these fields say and a number, counted for each of their values: `T-001.1`.
    PositionIn(Said),
}

#[derive(Debug)]
pub struct UnitMap {
    pub item: ItemMap,
    pub needs: Said,
    pub scope: Said,
    pub attrs: Vec<(Name, Said)>,
    pub requirements: Said,
}

/// Rows that units or the run are judged by.
#[derive(Debug)]
pub struct RowMap {
    pub item: ItemMap,
    pub unit: Option<WordMap>,
    pub group: Option<WordMap>,
    pub requirement: Said,
    /// Texts of which those that begin with `cmd:` are commands.
    pub command: Said,
    pub repeat: Said,
}

#[derive(Debug)]
pub struct RequirementMap {
    pub item: ItemMap,
    pub source: Said,
    pub strength: Said,
    pub proposed: Said,
    /// What each word of `proposed` means; nothing: that somebody has to decide.
    pub words: Vec<(Name, Option<Disposition>)>,
    pub decided: Option<DecidedMap>,
}

/// Where a document says what a person decided of a requirement: a field of the item, and the word for each disposition.
#[derive(Debug)]
pub struct DecidedMap {
    pub field: Name,
    pub words: Vec<(Disposition, Name)>,
    /// The field that says who decided it, and where.
    pub by: Option<Name>,
}

impl PlanMapping {
    /// Every kind of item that it has.
    pub fn items(&self) -> impl Iterator<Item = &ItemMap> {
        let units = self.units.iter().map(|map| &map.item);
        let rows = self.criteria.iter().map(|map| &map.item);
        units.chain(rows).chain(self.requirements.iter().map(|map| &map.item)).chain(&self.retires)
    }

    /// The paths from the document that it reads.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.items().flat_map(|map| map.each.iter().chain(map.text.iter().filter(|_| map.each.is_none())))
    }
}

/// Reads `plan`.
pub fn read(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> PlanMapping {
    let mut fields = Fields::open(node, "the plan", problems);
    let [units, criteria, requirements, retires] =
        ["units", "criteria", "requirements", "retires"].map(|key| fields.take(key));
    fields.close(problems);
    PlanMapping {
        units: units.and_then(|node| unit(node, scope, problems)),
        criteria: criteria.and_then(|node| row(node, scope, problems)),
        requirements: requirements.and_then(|node| requirement(node, scope, problems)),
        retires: retires.and_then(|node| retired(node, scope, problems)),
    }
}

fn unit(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<UnitMap> {
    let mut fields = Fields::open(node, "the units", problems);
    let named = item(&mut fields, "text", scope, problems);
    let lists = ["needs", "scope", "requirements"].map(|key| fields.take(key));
    let attrs = fields.take("attrs").map(|node| problems.entries(node, "`attrs`")).unwrap_or_default();
    fields.close(problems);
    let (item, around) = named?;
    let [needs, scope, requirements] =
        lists.map(|node| node.map(|node| words(node, &around, problems)).unwrap_or_default());
    let attrs = attrs.iter().map(|(key, node)| (key.text.clone(), words(node, &around, problems))).collect();
    Some(UnitMap { item, needs, scope, attrs, requirements })
}

fn row(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<RowMap> {
    let mut fields = Fields::open(node, "the criteria", problems);
    let named = item(&mut fields, "text", scope, problems);
    let given = ["unit", "group"].map(|key| fields.take(key));
    let parts = ["requirement", "repeat"].map(|key| fields.take(key));
    let command = fields.take("command");
    fields.close(problems);
    let (item, around) = named?;
    let [unit, group] = given.map(|node| node.and_then(|node| word_of(node, &around, problems)));
    let [requirement, repeat] =
        parts.map(|node| node.map(|node| one_word(node, &around, problems)).unwrap_or_default());
    let command = command.map(|node| words(node, &around, problems)).unwrap_or_default();
    Some(RowMap { item, unit, group, requirement, command, repeat })
}

fn requirement(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<RequirementMap> {
    let mut fields = Fields::open(node, "the requirements", problems);
    let named = item(&mut fields, "text", scope, problems);
    let source = fields.take("source");
    let parts = ["strength", "proposed"].map(|key| fields.take(key));
    let meant = fields.take("words").map(|node| problems.entries(node, "`words`")).unwrap_or_default();
    let decided = fields.take("decided");
    fields.close(problems);
    let (item, around) = named?;
    let known: Vec<(&str, &str)> = Disposition::WORDS.iter().chain(&["undecided"]).map(|word| (*word, *word)).collect();
    let meant = meant.iter().filter_map(|(key, node)| {
        let word = problems.word(node, "a disposition", &known)?;
        Some((key.text.clone(), Some(word).filter(|word| *word != "undecided").map(Disposition::from)))
    });
    let meant: Vec<(Name, Option<Disposition>)> = meant.collect();
    close(parts[1], &around, &meant, node.place, problems);
    let source = source.map(|node| said(node, &around, problems)).unwrap_or_default();
    let [strength, proposed] = parts.map(|node| node.map(|node| one_word(node, &around, problems)).unwrap_or_default());
    let decided = decided.and_then(|node| self::decided(node, &around, problems));
    Some(RequirementMap { item, source, strength, proposed, words: meant, decided })
}

fn decided(node: &Node, around: &Around, problems: &mut Problems) -> Option<DecidedMap> {
    let mut fields = Fields::open(node, "what was decided", problems);
    let field = fields.need("field", problems);
    let words = fields.need("words", problems);
    let by = fields.take("by");
    fields.close(problems);
    let (field, of) = own_field(field?, around, problems)?;
    let known = of.words().unwrap_or_default();
    let known: Vec<(&str, &Name)> = known.iter().map(|word| (&**word, word)).collect();
    let words = words?;
    let (mut given, entries): (Vec<(Disposition, Name)>, _) = (Vec::new(), problems.entries(words, "`words`"));
    for (key, node) in entries {
        if !Disposition::WORDS.contains(&&*key.text) {
            let hint = format!("one of: {}", Disposition::WORDS.join(", "));
            problems.value(node.place, format!("`{}` is not a disposition", key.text), hint);
        } else if let Some(word) = problems.word(node, "a word of the field", &known) {
            given.push((Disposition::from(&*key.text), word.clone()));
        }
    }
    for word in Disposition::WORDS.iter().filter(|word| !entries.iter().any(|(key, _)| *key.text == ***word)) {
        let message = format!("`{word}` may be decided, and `words` does not say how the field says it");
        problems.add(Diagnostic::error(Code::NOT_MAPPED, words.place, message).hint("name a word of the field"));
    }
    let by = by.and_then(|node| own_field(node, around, problems)).map(|(name, _)| name);
    Some(DecidedMap { field, words: given, by })
}

/// A field of the item itself.
fn own_field<'t>(node: &Node, around: &'t Around, problems: &mut Problems) -> Option<(Name, &'t Type)> {
    let written = problems.text(node, "a field")?;
    let (path, of) = around.resolve(&written, node.place, problems)?;
    match path.steps.as_slice() {
        [field] if path.outer.is_none() => Some((field.clone(), of)),
        _ => {
            problems.value(node.place, format!("`{written}` is no field of the item itself"), "name one of its fields");
            None
        }
    }
}

/// Every word of the fields that propose a disposition means one, and no other word does.
fn close(
    proposed: Option<&Node>,
    around: &Around,
    meant: &[(Name, Option<Disposition>)],
    place: Place,
    problems: &mut Problems,
) {
    let mut known: Vec<Name> = Vec::new();
    for (written, place) in proposed.map(|node| problems.one_or_more(node, "the fields")).unwrap_or_default() {
        let Some((_, of)) = around.resolve(&written, place, problems) else { return };
        let Some(words) = of.words() else {
            problems.value(place, "dispositions are closed: the field must be a `one_of`", "name a `one_of`");
            return;
        };
        let is_meant = |word: &Name| Disposition::WORDS.contains(&&**word) || meant.iter().any(|(own, _)| own == word);
        for word in words.iter().filter(|word| !is_meant(word)) {
            let message = format!("`{written}` may be `{word}`, and `words` does not say what that means");
            let hint = format!("{}, or undecided", Disposition::WORDS.join(", "));
            problems.add(Diagnostic::error(Code::NOT_MAPPED, place, message).hint(hint));
        }
        known.extend(words);
    }
    for (word, _) in meant.iter().filter(|(word, _)| !known.contains(word)) {
        let message = format!("`words` explains `{word}`, which `proposed` never is");
        problems.add(Diagnostic::error(Code::CONTRACT_NAME, place, message).hint("remove it, or correct the word"));
    }
}

fn retired(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<ItemMap> {
    let mut fields = Fields::open(node, "what is retired", problems);
    let named = item(&mut fields, "why", scope, problems);
    fields.close(problems);
    named.map(|(item, _)| item)
}

/// What the items of every kind have.
fn item(
    fields: &mut Fields<'_>,
    text: &'static str,
    scope: Scope<'_>,
    problems: &mut Problems,
) -> Option<(ItemMap, Around)> {
    let around = Around::taken(fields, scope, problems);
    let id = fields.need("id", problems);
    let text = fields.need(text, problems);
    let around = around?;
    let id = id_of(id?, &around, problems)?;
    let text = said(text?, &around, problems);
    Some((ItemMap { each: around.each.clone(), id, text }, around))
}

fn id_of(node: &Node, around: &Around, problems: &mut Problems) -> Option<IdMap> {
    if node.map().is_none() {
        return Some(IdMap::Field(one_word(node, around, problems)));
    }
    let mut fields = Fields::open(node, "the id", problems);
    let [position, within] = ["position", "position_in"].map(|key| fields.take(key));
    fields.close(problems);
    match (position, within) {
        (Some(node), None) => problems.text(node, "`position`").map(IdMap::Position),
        (None, Some(node)) => Some(IdMap::PositionIn(one_word(node, around, problems))),
        _ => {
            let hint = "name the field, or write `{position: AC}` or `{position_in: ^id}`";
            problems.value(node.place, "an id is a field, or one kind of position", hint);
            None
        }
    }
}
