//! What a task issue lists as in scope and out of scope, as paths.
//!
//! An item of those lists is written by a person or an agent: `src/cart.ts`, a path in backticks with a remark after it, a
//! folder, a glob. Brackets are part of a name (`pages/[id].tsx`), never a class of characters.

use std::collections::{BTreeMap, BTreeSet};

use super::{matches, pattern_problem};
use crate::Name;
use crate::code::Code;
use crate::contract::Context;
use crate::contract::registry::defined;
use crate::contract::text::quote;
use crate::contract::tree::{Node, Places};
use crate::diagnostic::{Diagnostic, Severity};

/// The contract of a task issue.
pub const TASK_CONTRACT: &str = "decree.task-issue";

/// How firmly an item holds a path: a folder by its length, a glob by that of the folder it begins with, the path itself most.
type Firmness = usize;

/// The paths of one list.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    /// The items as they are written.
    items: Vec<Name>,
    /// Paths that are named, and the item that does.
    named: BTreeMap<Name, usize>,
    /// Those of them that may be folders, and hold what lies in them.
    folders: BTreeSet<Name>,
    globs: Vec<(Name, usize)>,
}

impl Paths {
    /// Takes an item in; what is wrong with it otherwise.
    fn add(&mut self, item: &str) -> Result<(), (String, &'static str)> {
        let at = self.items.len();
        self.items.push(item.into());
        for path in paths_of(item) {
            // An address and prose with two slashes are no paths.
            if path.contains("//") && path.contains([' ', ':']) {
                continue;
            }
            if let Some(problem) = parted_otherwise(&path).or_else(|| pattern_problem(&literal_brackets(&path))) {
                return Err((path, problem));
            }
            let bare = path.trim_start_matches("./").trim_end_matches('/');
            self.named.entry(bare.into()).or_insert(at);
            if path.ends_with('/') || !is_file(bare) {
                self.folders.insert(bare.into());
            }
            if path.contains(['*', '?']) || (path.contains('{') && path.contains(',')) {
                self.globs.push((literal_brackets(path.trim_start_matches("./")).into(), at));
            }
        }
        Ok(())
    }

    /// The item that holds a path, and how firmly.
    pub(super) fn find(&self, path: &str) -> Option<(&Name, Firmness)> {
        let item = |at: &usize| &self.items[*at];
        if let Some(at) = self.named.get(path) {
            return Some((item(at), Firmness::MAX));
        }
        let folders = path.rmatch_indices('/').map(|(end, _)| &path[..end]);
        let folders = folders.filter(|folder| self.folders.contains(*folder));
        let folder = folders.filter_map(|folder| Some((self.named.get(folder)?, folder.len()))).next();
        let globs = self.globs.iter().filter(|(glob, _)| matches(glob, path));
        let globs = globs.map(|(glob, at)| (at, folder_of(glob)));
        // Of two that are as firm, the one that was written first.
        let firmest = globs.chain(folder).rev().max_by_key(|(_, firmness)| *firmness);
        firmest.map(|(at, firmness)| (item(at), firmness))
    }

    /// The first path that both lists name.
    fn both_name<'a>(&'a self, other: &'a Self) -> Option<(&'a Name, usize)> {
        let clash = |(path, at): (&'a Name, &usize)| other.named.contains_key(path).then_some((path, *at));
        self.named.iter().find_map(clash)
    }
}

/// Whether the folders of a path are parted as another system does it; a name that holds a backslash stands in git's quotes.
fn parted_otherwise(path: &str) -> Option<&'static str> {
    let inside = |(at, _): (usize, &str)| {
        let before =
            path[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '*' | ']'));
        before && !path[at + 1..].starts_with(|c: char| c.is_whitespace())
    };
    let parted = !path.starts_with('"') && !path.contains(char::is_whitespace) && path.match_indices('\\').any(inside);
    parted.then_some("has a `\\`: folders are parted by `/`")
}

/// Whether a path has the name of a file: a folder that has such a name is written with a slash behind it.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && extension.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// How long the folder is that a glob begins with.
fn folder_of(glob: &str) -> Firmness {
    let plain = glob.find(['*', '?', '{', '\\']).unwrap_or(glob.len());
    glob[..plain].rfind('/').unwrap_or(0)
}

/// What a task says of its scope.
#[derive(Debug, Clone, Default)]
pub struct TaskScope {
    /// What it achieves, in a sentence.
    pub objective: String,
    /// The spec it comes from, and its sections.
    pub spec: (String, String),
    pub(super) listed: Paths,
    pub(super) excluded: Paths,
}

impl TaskScope {
    /// What lies within patterns, as the scope of a unit has them.
    pub fn within(patterns: &[Name]) -> Self {
        let globs = patterns.iter().cloned().zip(0..).collect();
        Self { listed: Paths { items: patterns.to_vec(), globs, ..Paths::default() }, ..Self::default() }
    }

    /// Reads a task issue by its contract; what is wrong with it otherwise. Warnings come with both.
    pub fn read(text: &str) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        let Some(contract) = defined(TASK_CONTRACT) else { return Err(Vec::new()) };
        let judged = contract.judge(text, &Context::default());
        let mut diagnostics = judged.diagnostics;
        let is_wrong = |all: &[Diagnostic]| all.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        let (false, Some(root)) = (is_wrong(&diagnostics), judged.root) else { return Err(diagnostics) };
        let places = Places::of(text);
        let said = |node: Option<&Node<'_>>| node.and_then(Node::text).unwrap_or_default().to_owned();
        let spec = root.get("spec_reference");
        let part = |name| said(spec.and_then(|spec| spec.get(name)));
        let mut task =
            Self { objective: said(root.get("objective")), spec: (part("spec"), part("sections")), ..Self::default() };
        let scope = root.get("scope");
        let mut listed_at = Vec::new();
        for (name, paths) in [("in_scope", &mut task.listed), ("out_of_scope", &mut task.excluded)] {
            let items = scope.and_then(|scope| scope.get(name)).and_then(Node::list).unwrap_or_default();
            for item in items {
                if name == "in_scope" {
                    listed_at.push(item.at);
                }
                let (text, place) = (item.text().unwrap_or_default(), places.place(item.at));
                let hint = "write paths from the top of the repository: `src/cart.ts`, `src/cart/`, `src/**/*.ts`";
                if let Some(why) = names_no_path(text, name == "in_scope") {
                    let message = format!("{} names no path: {why}", quote(text));
                    diagnostics.push(Diagnostic::warning(Code::TASK_SCOPE, place, message).hint(hint));
                }
                let Err((path, problem)) = paths.add(text) else { continue };
                let message = format!("the path `{path}` {problem}");
                diagnostics.push(Diagnostic::error(Code::TASK_SCOPE, place, message).hint(hint));
            }
        }
        // What is left alone is so with all that could lie in it, whatever its name.
        task.excluded.folders = task.excluded.named.keys().cloned().collect();
        if let Some((path, at)) = task.listed.both_name(&task.excluded) {
            let place = listed_at.get(at).map(|at| places.place(*at)).unwrap_or_default();
            let message = format!("`{path}` is in scope and out of scope");
            let hint = "take it out of one of the two lists";
            diagnostics.push(Diagnostic::error(Code::TASK_SCOPE, place, message).hint(hint));
        }
        if is_wrong(&diagnostics) { Err(diagnostics) } else { Ok((task, diagnostics)) }
    }
}

/// The paths that an item names: in backticks, or up to a remark; then also its first word alone.
pub(super) fn paths_of(item: &str) -> Vec<String> {
    let item = without_bold(item.trim());
    // A link is known by its words.
    let item = item.strip_prefix('[').and_then(|link| link.split_once("](")).map_or(item, |(words, _)| words);
    if item.starts_with('`') {
        return spans(item);
    }
    if let Some(quoted) = item.strip_prefix('"') {
        let end = quoted.match_indices('"').find(|(at, _)| !quoted[..*at].ends_with('\\')).map(|(at, _)| at);
        if let Some(inside) = end.map(|end| &quoted[..end]) {
            // In git's own quotes a name stays as it is; others are a person's.
            let name = if inside.contains('\\') { format!("\"{inside}\"") } else { inside.to_owned() };
            return vec![name];
        }
    }
    let remark = [" (", " — ", " – ", " -- ", " - ", ": "].iter().filter_map(|mark| item.find(mark)).min();
    let mut parts = item[..remark.unwrap_or(item.len())].split(", ");
    let whole = parts.next().unwrap_or_default().trim_end_matches([':', ',', ';']).trim();
    let word = whole.split_whitespace().next().unwrap_or_default();
    let mut paths = vec![whole.to_owned()];
    if word != whole {
        paths.push(word.to_owned());
    }
    // Several paths, as far as what follows a comma looks like one.
    let looks_like_one = |part: &&str| !part.contains(char::is_whitespace) && part.contains(['/', '.']);
    if !whole.contains('{') && whole.contains(',') && whole.split(',').all(|part| looks_like_one(&part)) {
        paths.extend(whole.split(',').map(str::to_owned));
    }
    paths.extend(
        parts.map(|part| part.trim().trim_end_matches([',', ';'])).take_while(looks_like_one).map(str::to_owned),
    );
    paths
}

/// The words of an item that begins in bold; `**` is also a glob.
fn without_bold(item: &str) -> &str {
    let bold = item.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    bold.map(|(words, _)| words).filter(|words| !words.is_empty() && !words.starts_with('/')).unwrap_or(item)
}

/// Why an item can hold no path, as far as its words say; prose is meant to name one under In Scope alone.
fn names_no_path(item: &str, is_listed: bool) -> Option<&'static str> {
    let looks_like_one = |words: &str| words.contains(['/', '.', '*']);
    let paths = paths_of(item);
    let numbered = |path: &String| {
        let (name, number) = path.rsplit_once(':').unwrap_or_default();
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '-');
        is_number && looks_like_one(name)
    };
    if paths.iter().any(numbered) {
        return Some("a scope holds whole files, without the number of a line");
    }
    if paths.iter().any(|path| path.starts_with('!')) {
        return Some("nothing is taken out by `!`; what is excluded stands under Out of Scope");
    }
    let elsewhere =
        |path: &String| path.starts_with("~/") || path.split_once(":/").is_some_and(|(word, _)| !word.contains('/'));
    if is_listed && paths.iter().any(elsewhere) {
        return Some("a path begins at the top of the repository");
    }
    let bare = without_bold(item.trim());
    let link = bare.strip_prefix('[').and_then(|link| link.split_once("]("));
    if let Some((words, target)) = link {
        return (!looks_like_one(words) && looks_like_one(target)).then_some("a link is read by its words");
    }
    let marked = bare.starts_with(['`', '"']);
    let prose = !marked && paths.len() > 1 && !paths.iter().any(|path| looks_like_one(path));
    (is_listed && prose).then_some("these words are no path; a path comes first, a remark after it")
}

/// The code spans at the beginning of an item, as far as only commas and `and` stand between them.
fn spans(item: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = item;
    while rest.starts_with('`') {
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let (fence, inside) = rest.split_at(ticks);
        let Some((name, after)) = inside.split_once(fence) else { break };
        let bare = name.strip_prefix(' ').and_then(|name| name.strip_suffix(' ')).unwrap_or(name);
        found.push(bare.to_owned());
        let next = after.trim_start_matches([',', ' ', '&', '+']);
        rest = next.strip_prefix("and ").unwrap_or(next).trim_start();
    }
    if found.is_empty() { vec![item.trim_matches('`').to_owned()] } else { found }
}

/// A glob in which brackets and exclamation marks stand for themselves.
fn literal_brackets(path: &str) -> String {
    let mut glob = String::with_capacity(path.len());
    for char in path.chars() {
        if matches!(char, '[' | ']' | '!' | '\\') {
            glob.push('\\');
        }
        glob.push(char);
    }
    glob
}
