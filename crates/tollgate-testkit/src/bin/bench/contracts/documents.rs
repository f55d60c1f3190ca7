//! Documents of a size: the example of a contract, grown wherever the contract lets it grow and stays met.

use serde_json::{Value as Json, json};
use tollgate_core::Name;
use tollgate_core::contract::Context;
use tollgate_core::contract::defined::Defined;
use tollgate_core::contract::definition::{Form, Kind, Range, Type};
use tollgate_core::contract::tree::{Entry, Node, Value, yaml_text};
use tollgate_core::diagnostic::Severity;

use crate::Outcome;

/// A sentence as reports have them.
const SENTENCE: &str = " The total of a cart is the sum over its lines, rounded once at the end.";

/// The largest document up to a size that the example of a contract grows to, in each form that is read, and who says it.
pub fn grown(own: &Defined, bytes: usize) -> Outcome<(Vec<(Form, String)>, Context)> {
    let definition = &own.definition;
    let mut growing = Growing { own, document: definition.example.clone(), context: Context::default() };
    growing.context = growing.author()?;
    match &*definition.name {
        "decree.planner-output" => growing.document = plan(bytes),
        _ => [What::Items, What::Words].into_iter().try_for_each(|what| growing.grow(what, bytes))?,
    }
    let written = growing.text(&growing.document)?;
    let mut texts = Vec::new();
    for (at, form) in definition.forms.iter().enumerate() {
        match (at, form) {
            (0, _) => texts.push((*form, written.clone())),
            (_, Form::Yaml) => texts.push((*form, yaml_text(&growing.document))),
            (_, other) => return Err(format!("{}: {other:?} cannot be written here", definition.id).into()),
        }
    }
    Ok((texts, growing.context))
}

/// The same for the two that are code: a report and a task with as many entries as fit.
pub fn coded(id: &str, bytes: usize) -> Json {
    let count = bytes / 100;
    let many = |one: &dyn Fn(usize) -> Json| Json::Array((0..count).map(one).collect());
    match id {
        "status-block@1" => json!({
            "status": "complete",
            "abstract": {"outcome": "read the change to the cart; some of it must be mended", "verdict": "REQUEST_CHANGES", "next_phase": "developer"},
            "iteration": 2,
            "quality_gate_results": "cargo clippy: 0 warnings",
            "findings": many(&|at| json!({"severity": "major", "path": format!("src/cart/item_{at}.rs"), "line": at + 1, "rule": "BE-012", "text": "the total overflows for large quantities"})),
            "re_review_mode": "full",
            "key_decisions": "The sum is checked at every addition.",
            "for_the_next_agent": "The overflow needs a checked addition.",
        }),
        _ => json!({
            "rows": many(&|at| json!({"text": format!("`GET /cart/{at}` returns the total of its items, rounded half up"), "part": "backend", "command": format!("cargo test cart_{at}")})),
            "scopes": {"backend": ["src/**", "migrations/**"]},
        }),
    }
}

/// What becomes more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Items,
    Words,
}

/// From the document to a value: which entry or item, again and again.
type Way = Vec<usize>;

struct Growing<'d> {
    own: &'d Defined,
    document: Node<'static>,
    context: Context,
}

impl Growing<'_> {
    fn text(&self, document: &Node<'_>) -> Outcome<String> {
        self.own.write(document).map_err(|why| format!("{}: {why}", self.own.definition.id).into())
    }

    /// The first role that may say it.
    fn author(&self) -> Outcome<Context> {
        let definition = &self.own.definition;
        let labels = self.document.get("labels").and_then(Node::list);
        let labels = labels.map(|labels| labels.iter().filter_map(Node::word).map(Name::from).collect());
        let by = |role: Option<Name>| Context { role, labels: Option::clone(&labels), ..Context::default() };
        let mut all = definition.roles.iter().cloned().map(Some).chain([None]).map(by);
        let fits = |context: &Context| self.is_met(&self.document, context);
        all.find(fits).ok_or_else(|| format!("{}: nobody may say its example", definition.id).into())
    }

    fn is_met(&self, document: &Node<'_>, context: &Context) -> bool {
        let Ok(text) = self.text(document) else { return false };
        let judged = self.own.judge(&text, context);
        judged.root.is_some() && judged.diagnostics.iter().all(|found| found.severity != Severity::Error)
    }

    /// Lets everything grow alike until the size is reached, as far as the limits go.
    fn grow(&mut self, what: What, bytes: usize) -> Outcome {
        let size = self.text(&self.document)?.len();
        if size * 10 > bytes * 9 {
            return Ok(());
        }
        let (base, root) = (self.document.clone(), &self.own.definition.root);
        let more = |ways: &[Way], by: usize| {
            let mut document = base.clone();
            ways.iter().for_each(|way| add(&mut document, root, way, what, by));
            document
        };
        let mut ways = Vec::new();
        for way in places(root, &base, what) {
            if self.is_met(&more(std::slice::from_ref(&way), 3), &self.context) {
                ways.push(way);
            }
        }
        let step = self.text(&more(&ways, 8))?.len().saturating_sub(size) / 8;
        if step == 0 {
            return Ok(());
        }
        // Where some have a limit the others go on, up to the size.
        let (mut low, mut high) = (0, (bytes - size.min(bytes)) / step * 64 + 1);
        while high - low > 1 {
            let middle = low.midpoint(high);
            // What is too large is not written.
            let fits = self.text(&more(&ways, middle)).is_ok_and(|text| text.len() <= bytes);
            (low, high) = if fits { (middle, high) } else { (low, middle) };
        }
        let document = more(&ways, low);
        if !self.is_met(&document, &self.context) {
            return Err(format!("{}: it is broken when it grows", self.own.definition.id).into());
        }
        self.document = document;
        Ok(())
    }
}

/// Where a document can grow: lists and maps, or texts without a form, in no list that grows itself.
fn places(of: &Type, node: &Node<'_>, what: What) -> Vec<Way> {
    let inside = |at: usize, of: &Type, node: &Node<'_>| {
        places(of, node, what).into_iter().map(move |way| [vec![at], way].concat()).collect::<Vec<_>>()
    };
    match (kind(of, node), &node.value) {
        (Kind::List(_) | Kind::Map(_), Value::List(_) | Value::Map(_)) if what == What::Items => vec![Way::new()],
        (Kind::Text(text), Value::Text(_)) if what == What::Words && text.like.is_empty() => vec![Way::new()],
        (Kind::List(list), Value::List(items)) => {
            items.iter().enumerate().take(64).flat_map(|(at, item)| inside(at, &list.of, item)).collect()
        }
        (Kind::Record(record), Value::Map(entries)) => {
            let of = |name: &str| record.fields.iter().find(|field| *field.name == *name);
            let typed = entries.iter().enumerate().filter_map(|(at, entry)| Some((at, of(&entry.key)?, entry)));
            typed.flat_map(|(at, field, entry)| inside(at, &field.of, &entry.node)).collect()
        }
        _ => Vec::new(),
    }
}

/// The kind that a value has, of several.
fn kind<'t>(of: &'t Type, node: &Node<'_>) -> &'t Kind {
    let fits = |of: &&Type| {
        matches!(
            (&of.kind, &node.value),
            (Kind::Text(_), Value::Text(_)) | (Kind::List(_), Value::List(_)) | (Kind::Record(_), Value::Map(_))
        )
    };
    match &of.kind {
        Kind::Union(types) => types.iter().find(fits).map_or(&of.kind, |of| &of.kind),
        kind => kind,
    }
}

fn add(node: &mut Node<'static>, of: &Type, way: &[usize], what: What, by: usize) {
    let kind = kind(of, node).clone();
    match (way, &kind, &mut node.value) {
        ([at, rest @ ..], Kind::Record(record), Value::Map(entries)) => {
            let Some(entry) = entries.get_mut(*at) else { return };
            let field = record.fields.iter().find(|field| *field.name == *entry.key);
            field.into_iter().for_each(|field| add(&mut entry.node, &field.of, rest, what, by));
        }
        ([at, rest @ ..], Kind::List(list), Value::List(items)) => {
            items.get_mut(*at).into_iter().for_each(|item| add(item, &list.of, rest, what, by));
        }
        ([], Kind::List(list), Value::List(items)) => {
            let (have, unique) = (items.len(), list.unique.as_ref());
            for at in have..(have + by).min(most(list.range)) {
                let Some(mut item) = items.get(at % have.max(1)).cloned() else { return };
                match unique {
                    Some(None) => vary(&mut item, at + 1),
                    Some(Some(field)) => vary_field(&mut item, field, at + 1),
                    None => {}
                }
                items.push(item);
            }
        }
        ([], Kind::Map(map), Value::Map(entries)) => {
            let have = entries.len();
            for at in have..(have + by).min(most(map.range)) {
                let Some(first) = entries.get(at % have.max(1)) else { return };
                let mut key = Node::new(Value::Text(first.key.clone()));
                vary(&mut key, at + 1);
                let key = key.word().unwrap_or_default().to_owned();
                let node = first.node.clone();
                entries.push(Entry { key: key.into(), at: 0, node });
            }
        }
        ([], Kind::Text(text), Value::Text(said)) if what == What::Words => {
            let room = most(text.range).saturating_sub(said.chars().count());
            *said = format!("{said}{}", SENTENCE.repeat(by.min(room / SENTENCE.len()))).into();
        }
        _ => {}
    }
}

fn most(range: Range) -> usize {
    range.max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX)
}

fn vary_field(item: &mut Node<'static>, field: &str, number: usize) {
    if let Value::Map(entries) = &mut item.value {
        entries.iter_mut().filter(|entry| entry.key == field).for_each(|entry| vary(&mut entry.node, number));
    }
}

/// Makes a name another one of the same form.
fn vary(node: &mut Node<'static>, number: usize) {
    match &mut node.value {
        Value::Number(digits) => *digits = (1000 + number).to_string().into(),
        Value::Text(text) => {
            let bare = text.trim_end_matches(|c: char| c.is_ascii_digit());
            let sign = if bare.len() < text.len() { "" } else { "-" };
            *text = format!("{bare}{sign}{number}").into();
        }
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {}
    }
}

/// A plan: its lists and its map speak of the same issues, so that none of them can grow alone.
fn plan(bytes: usize) -> Node<'static> {
    let issues = (bytes / 60).max(4);
    let number = |at: usize| Node::new(Value::Number((1000 + at).to_string().into()));
    let list = |ids: &mut dyn Iterator<Item = usize>| Node::new(Value::List(ids.map(number).collect()));
    let blocks = |at: usize| list(&mut [at + 1, at + 17].into_iter().filter(|blocked| *blocked < issues));
    let keys = (0..issues).map(|at| Entry { key: (1000 + at).to_string().into(), at: 0, node: blocks(at) });
    let entry = |key: &'static str, node: Node<'static>| Entry { key: key.into(), at: 0, node };
    Node::new(Value::Map(vec![
        entry("created", list(&mut (0..issues / 2))),
        entry("closed", list(&mut (issues..issues + issues / 8))),
        entry("updated", list(&mut (issues / 2..issues))),
        entry("blocking", Node::new(Value::Map(keys.collect()))),
    ]))
}
