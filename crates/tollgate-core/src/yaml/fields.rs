//! Taking a tree apart: each key that is asked for is known, each other one is an error.

use super::{Content, Key, Node};
use crate::Name;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place, Severity};

/// Errors that are kept; a file with more has one cause.
const PROBLEMS_MAX: usize = 100;
/// Names longer than this are not compared with what they could have been.
const SUGGEST_CHARS_MAX: usize = 40;
/// Known names that are compared; a file with more has no near miss worth the time.
const SUGGEST_NAMES_MAX: usize = 300;
/// Words of a closed list that a hint names.
const WORDS_MAX: usize = 40;

/// What is wrong with a file, in the order in which it was found.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<Diagnostic>,
}

impl Problems {
    /// Keeps a diagnostic.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < PROBLEMS_MAX {
            self.list.push(diagnostic);
        }
    }

    /// Keeps an error about a value.
    pub fn value(&mut self, place: Place, message: impl Into<String>, hint: impl Into<String>) {
        self.add(Diagnostic::error(Code::YAML_VALUE, place, message).hint(hint));
    }

    /// Whether no more is kept, so that looking for more is in vain.
    pub fn is_full(&self) -> bool {
        self.list.len() >= PROBLEMS_MAX
    }

    /// Whether an error was kept.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// Everything that was kept, in the order of the file.
    pub fn into_list(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| d.place);
        self.list
    }

    /// Expects a text, quoted or not.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<Name> {
        let text = node.text().cloned();
        if text.is_none() {
            self.value(node.place, format!("{what} is {}", node.kind()), "write it as text");
        }
        text
    }

    /// Expects `true` or `false`.
    pub fn bool(&mut self, node: &Node, what: &str) -> Option<bool> {
        match node.plain() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => {
                self.value(node.place, format!("{what} is neither true nor false"), "write `true` or `false`");
                None
            }
        }
    }

    /// Expects a number that is not negative.
    pub fn number<T: std::str::FromStr>(&mut self, node: &Node, what: &str) -> Option<T> {
        let digits = node.plain().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let number = digits.and_then(|text| text.parse().ok());
        if number.is_none() {
            self.value(node.place, format!("{what} is not a whole number that fits"), "write it in plain digits");
        }
        number
    }

    /// Expects a list.
    pub fn list<'a>(&mut self, node: &'a Node, what: &str) -> &'a [Node] {
        if let Content::Seq(items) = &node.value {
            return items;
        }
        self.value(node.place, format!("{what} is {}", node.kind()), "write a list: `[a, b]`");
        &[]
    }

    /// Expects a list that has something in it.
    pub fn filled<'a>(&mut self, node: &'a Node, what: &str) -> &'a [Node] {
        let items = self.list(node, what);
        if matches!(&node.value, Content::Seq(items) if items.is_empty()) {
            self.empty(node, what);
        }
        items
    }

    fn empty(&mut self, node: &Node, what: &str) {
        self.value(node.place, format!("{what} is a list of nothing"), "name one at least");
    }

    /// Expects a list of texts, each with its place.
    pub fn texts(&mut self, node: &Node, what: &str) -> Vec<(Name, Place)> {
        let items = self.list(node, what);
        items.iter().filter_map(|item| Some((self.text(item, what)?, item.place))).collect()
    }

    /// Expects a text or a list of texts.
    pub fn one_or_more(&mut self, node: &Node, what: &str) -> Vec<(Name, Place)> {
        match node.text() {
            Some(text) => vec![(text.clone(), node.place)],
            None => self.texts(node, what),
        }
    }

    /// Expects a text or a list of texts that has one.
    pub fn some(&mut self, node: &Node, what: &str) -> Vec<(Name, Place)> {
        let texts = self.one_or_more(node, what);
        if matches!(&node.value, Content::Seq(items) if items.is_empty()) {
            self.empty(node, what);
        }
        texts
    }

    /// Expects a map whose keys are names of the writer's choice.
    pub fn entries<'a>(&mut self, node: &'a Node, what: &str) -> &'a [(Key, Node)] {
        if let Content::Map(entries) = &node.value {
            return entries;
        }
        self.value(node.place, format!("{what} is {}", node.kind()), "write a map: `{key: value}`");
        &[]
    }

    /// Expects one of a few words.
    pub fn word<T: Clone>(&mut self, node: &Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(node, what)?;
        let found = words.iter().find(|(word, _)| *word == &*text).map(|(_, value)| value.clone());
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let hint = suggest(&text, &known).unwrap_or_else(|| format!("one of: {}", known.join(", ")));
            self.value(node.place, format!("`{text}` is not {what}"), hint);
        }
        found
    }
}

/// A map whose keys are known to the reader.
#[derive(Debug)]
pub struct Fields<'a> {
    entries: &'a [(Key, Node)],
    /// Whether it is a map at all; if not, that was said and no key is missed.
    is_map: bool,
    known: Vec<&'static str>,
    /// What the map describes, for messages.
    what: String,
    /// Where the map begins.
    pub place: Place,
}

impl<'a> Fields<'a> {
    /// Opens a map; another kind of node is a problem, and then no key is there.
    pub fn open(node: &'a Node, what: impl Into<String>, problems: &mut Problems) -> Self {
        let what = what.into();
        let is_map = node.map().is_some();
        Self { entries: problems.entries(node, &what), is_map, known: Vec::new(), what, place: node.place }
    }

    /// The value of a key that may be absent.
    pub fn take(&mut self, key: &'static str) -> Option<&'a Node> {
        self.known.push(key);
        self.entries.iter().find(|(k, _)| &*k.text == key).map(|(_, node)| node)
    }

    /// The value of a key that must be there.
    pub fn need(&mut self, key: &'static str, problems: &mut Problems) -> Option<&'a Node> {
        let found = self.take(key);
        if found.is_none() && self.is_map {
            let message = format!("{} has no `{key}`", self.what);
            problems
                .add(Diagnostic::error(Code::YAML_MISSING_KEY, self.place, message).hint(format!("add `{key}: …`")));
        }
        found
    }

    /// Reports each key that nobody asked for.
    pub fn close(self, problems: &mut Problems) {
        for (key, _) in self.entries.iter().filter(|(key, _)| !self.known.contains(&&*key.text)) {
            if problems.is_full() {
                break;
            }
            let hint = suggest(&key.text, &self.known).unwrap_or_else(|| format!("known: {}", self.known.join(", ")));
            let message = format!("{} has no key `{}`", self.what, key.text);
            problems.add(Diagnostic::error(Code::YAML_UNKNOWN_KEY, key.place, message).hint(hint));
        }
    }
}

/// Says which known name was probably meant.
pub fn suggest(written: &str, known: &[&str]) -> Option<String> {
    nearest(written, known.iter().copied()).map(|best| format!("did you mean `{best}`?"))
}

/// The known name that was probably meant, if one is near enough.
pub fn nearest<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let letters = written.chars().count();
    if letters > SUGGEST_CHARS_MAX {
        return None;
    }
    // Of two letters one is half the word: every short name would be near every other.
    let most = if letters < 3 { 0 } else { 1 + letters / 4 };
    let near = known.into_iter().take(SUGGEST_NAMES_MAX).filter(|name| name.len() <= SUGGEST_CHARS_MAX);
    let near = near.filter(|name| name.chars().count().abs_diff(letters) <= most);
    let near = near.map(|name| (distance(written, name), name)).filter(|(distance, _)| *distance <= most);
    near.filter(|(_, name)| !is_negation(written, name)).min().map(|(_, best)| best)
}

/// Says which words there are, and which of them was probably meant.
pub fn suggest_word(written: &str, known: &[&str]) -> String {
    let meant = suggest(written, known).map(|meant| meant + " ").unwrap_or_default();
    let more = if known.len() > WORDS_MAX { ", …" } else { "" };
    format!("{meant}one of: {}{more}", known[..known.len().min(WORDS_MAX)].join(", "))
}

/// Words that turn what stands beside them into its opposite.
const NEGATIONS: [&str; 19] = [
    "not", "no", "non", "never", "without", "cannot", "cant", "isnt", "arent", "wasnt", "werent", "dont", "doesnt",
    "didnt", "wont", "nor", "neither", "hardly", "un",
];
/// The same as beginnings of a word.
const NEGATING: [&str; 11] = ["un", "dis", "in", "im", "ir", "il", "non", "not", "no", "mis", "never"];

/// Whether one name is the opposite of the other: whoever wrote it must not be led to say what they did not mean.
fn is_negation(a: &str, b: &str) -> bool {
    let folded = |text: &str| text.replace(['\'', '’'], "").to_lowercase();
    let (a, b) = (folded(a), folded(b));
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let (bare_a, bare_b) = (bare(&a), bare(&b));
    if bare_a == bare_b {
        return false;
    }
    let says_no = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| NEGATIONS.contains(&word));
    let turned = |long: &str, short: &str| {
        NEGATING.iter().filter(|begin| !short.starts_with(**begin)).any(|begin| {
            long.strip_prefix(begin).is_some_and(|rest| distance(rest, short) <= 1 + short.chars().count() / 4)
        })
    };
    says_no(&a) != says_no(&b) || turned(&bare_a, &bare_b) || turned(&bare_b, &bare_a)
}

/// Edits between two names (insert, delete, replace).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replace.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        let names = ["worker", "roles", "areas", "commands"];
        assert_eq!(nearest("role", names), Some("roles"));
        assert_eq!(nearest("wroker", names), Some("worker"));
        assert_eq!(nearest("comands", names), Some("commands"));
        assert_eq!(nearest("zebra", names), None);
        assert_eq!(nearest("b", ["a", "c"]), None);
        assert_eq!(nearest(&"x".repeat(100_000), names), None);
    }

    #[test]
    fn an_unknown_key_is_named_with_what_was_meant() {
        let node = parse("worker: a\ndelai_ms: 3\nzzz: 1\n").unwrap();
        let mut problems = Problems::default();
        let mut fields = Fields::open(&node, "the entry", &mut problems);
        assert!(fields.take("worker").is_some());
        assert!(fields.take("delay_ms").is_none());
        assert!(fields.need("report", &mut problems).is_none());
        fields.close(&mut problems);
        let list = problems.into_list();
        let told: Vec<_> = list.iter().map(|d| (d.code, d.place.line, d.hint.as_deref().unwrap_or(""))).collect();
        assert_eq!(
            told,
            [
                (Code::YAML_MISSING_KEY, 1, "add `report: …`"),
                (Code::YAML_UNKNOWN_KEY, 2, "did you mean `delay_ms`?"),
                (Code::YAML_UNKNOWN_KEY, 3, "known: worker, delay_ms, report"),
            ]
        );
    }

    #[test]
    fn a_value_of_another_kind_is_refused() {
        let node = parse("n: -1\nb: \"true\"\nl: x\nt: [a]\nw: grene\n").unwrap();
        let mut problems = Problems::default();
        assert_eq!(problems.number::<u32>(node.get("n").unwrap(), "n"), None);
        assert_eq!(problems.bool(node.get("b").unwrap(), "b"), None);
        assert!(problems.list(node.get("l").unwrap(), "l").is_empty());
        assert_eq!(problems.text(node.get("t").unwrap(), "t"), None);
        assert_eq!(problems.word(node.get("w").unwrap(), "a colour", &[("red", 1), ("green", 2)]), None);
        let list = problems.into_list();
        assert_eq!(list.len(), 5);
        assert_eq!(list[4].hint.as_deref(), Some("did you mean `green`?"));
    }

    #[test]
    fn nobody_is_led_to_the_opposite_of_what_was_written() {
        let words = ["approved", "completed", "not-started", "valid", "notes"];
        for written in [
            "not approved",
            "disapproved",
            "unapproved",
            "not-completed",
            "notcompleted",
            "incomplete",
            "uncompletd",
            "invalid",
            "isn't valid",
            "started",
            "approved: no",
            "never approved",
            "in-valid",
        ] {
            assert_eq!(suggest(written, &words), None, "{written}");
        }
        for (written, meant) in
            [("aproved", "approved"), ("notstarted", "not-started"), ("not startd", "not-started"), ("note", "notes")]
        {
            assert_eq!(suggest(written, &words), Some(format!("did you mean `{meant}`?")), "{written}");
        }
        assert_eq!(suggest_word("not valid", &["valid", "broken"]), "one of: valid, broken");
        assert_eq!(suggest_word("vald", &["valid", "broken"]), "did you mean `valid`? one of: valid, broken");
        let many = vec!["word"; 1000];
        assert!(suggest_word("", &many).len() < 300);
    }

    #[test]
    fn the_number_of_problems_is_bounded() {
        let mut problems = Problems::default();
        for _ in 0..1000 {
            problems.value(Place::default(), "again", "never");
        }
        assert_eq!(problems.into_list().len(), PROBLEMS_MAX);
    }
}
