//! What a task issue lists as in scope and out of scope, as paths.
//!
//! An item of those lists is written by a person or an agent: `src/cart.ts`, a path in backticks with a remark after it, a
//! folder, a glob. Brackets are part of a name (`pages/[id].tsx`), never a class of characters.

use std::collections::{BTreeMap, BTreeSet};

use super::item::{Item, is_path};
use super::loose::Loose;
use super::pathless::names_no_path;
use super::{literal, matches, pattern_problem};
use crate::Name;
use crate::code::Code;
use crate::contract::Context;
use crate::contract::registry::defined;
use crate::contract::text::quote;
use crate::contract::tree::{Node, Places};
use crate::diagnostic::{Diagnostic, Place, Severity};

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
    /// Takes an item in, as it is written.
    fn item(&mut self, text: &str) -> usize {
        self.items.push(text.into());
        self.items.len() - 1
    }

    /// Takes in a path that an item names; what is wrong with it otherwise.
    fn take(&mut self, path: &str, at: usize) -> Result<(), &'static str> {
        // An address and prose with two slashes are no paths.
        if path.contains("//") && path.contains([' ', ':']) {
            return Ok(());
        }
        if let Some(problem) = parted_otherwise(path).or_else(|| pattern_problem(&literal_brackets(path))) {
            return Err(problem);
        }
        let bare = path.trim_start_matches("./").trim_end_matches('/');
        self.named.entry(bare.into()).or_insert(at);
        if path.ends_with('/') || !is_file(bare) {
            self.folders.insert(bare.into());
        }
        if is_pattern(path) {
            self.globs.push((literal_brackets(path.trim_start_matches("./")).into(), at));
        }
        Ok(())
    }

    /// Takes in a path as that of a file, where it may be one.
    fn take_file(&mut self, path: &str, at: usize) {
        if !is_pattern(path) && !path.ends_with('/') {
            self.named.entry(path.trim_start_matches("./").into()).or_insert(at);
        }
    }

    /// Takes in what words name: where that is no path they name nothing.
    fn take_all(&mut self, paths: &[String], at: usize) {
        paths.iter().for_each(|path| _ = self.take(path, at));
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

    /// Whether an item names a path itself.
    pub(super) fn names(&self, path: &str) -> bool {
        self.named.contains_key(path)
    }

    /// The first path that both lists name.
    fn both_name<'a>(&'a self, other: &'a Self) -> Option<(&'a Name, usize)> {
        let clash = |(path, at): (&'a Name, &usize)| other.named.contains_key(path).then_some((path, *at));
        self.named.iter().find_map(clash)
    }
}

/// Where an item stands, and what is said of it.
struct Reading<'d> {
    place: Place,
    found: &'d mut Vec<Diagnostic>,
}

impl Reading<'_> {
    const HINT: &'static str = "write paths from the top of the repository: `src/cart.ts`, `src/cart/`, `src/**/*.ts`";

    const PART: &'static str =
        "leave the words out where all of it is meant; otherwise name the files, each in an item of its own";
    const POINTED: &'static str = "a file that is changed has an item of its own: `- src/cart.ts`";

    fn warn(&mut self, message: String) {
        self.found.push(Diagnostic::warning(Code::TASK_SCOPE, self.place, message).hint(Self::HINT));
    }

    fn doubt(&mut self, what: String, hint: &str) {
        let message = format!("{what}: a person has to say what is meant");
        self.found.push(Diagnostic::warning(Code::TASK_SCOPE, self.place, message).hint(hint));
    }

    /// Takes in the paths that an item is about.
    fn take(&mut self, paths: &[String], at: usize, into: &mut Paths) {
        for path in paths {
            let Err(problem) = into.take(path, at) else { continue };
            let message = format!("the path `{path}` {problem}");
            self.found.push(Diagnostic::error(Code::TASK_SCOPE, self.place, message).hint(Self::HINT));
            return;
        }
    }
}

/// How many folders of one item a name behind them is looked for in.
pub(super) const FOLDERS_MAX: usize = 16;

/// How many paths of one item are named in warnings.
const POINTED_MAX: usize = 8;

fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?']) || (path.contains('{') && path.contains(','))
}

/// Whether a path may be a folder, or hold several files.
pub(super) fn is_folder(path: &str) -> bool {
    is_pattern(path) || path.ends_with('/') || !is_file(path)
}

/// Whether a path without an extension has a name as files have it: `Makefile`, `.gitignore`.
fn is_named_like_a_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !is_pattern(path) && (name.starts_with(|c: char| c.is_uppercase() || c == '.') || name.ends_with("file"))
}

/// Patterns of the tests beside a file.
fn tests_of(path: &str) -> Vec<String> {
    let (folder, name) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let (folder, stem) = (literal(folder), literal(stem));
    vec![format!("{folder}{stem}*{{test,Test,spec,Spec}}*"), format!("{folder}{{test,Test}}*{stem}*")]
}

/// The folder that a folder or a pattern begins with.
pub(super) fn base_of(path: &str) -> &str {
    let base = match is_pattern(path) {
        true => &path[..folder_of(path)],
        false => path.trim_end_matches('/'),
    };
    base.trim_start_matches("./")
}

/// What a name means that stands behind folders or patterns: itself, or something in one of them.
fn within(folders: &[String], names: &[String]) -> Vec<String> {
    let mut found = names.to_vec();
    // Each is looked for in each: more would cost their product.
    for folder in folders.iter().take(FOLDERS_MAX) {
        let base = base_of(folder);
        let base = if base.is_empty() { String::new() } else { format!("{base}/") };
        let inside = names.iter().filter(|name| base.is_empty() || !name.starts_with(&base));
        found.extend(inside.flat_map(|name| [format!("{base}{name}"), format!("{base}**/{name}")]));
    }
    found
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
pub(super) fn is_file(path: &str) -> bool {
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
    /// Folders and patterns of which the task means a part: which one, a person has to say.
    pub(super) narrowed: Paths,
    /// What items of In Scope name with words that refuse a change.
    pub(super) refused: Paths,
    /// An item of In Scope lists something.
    lists: bool,
    /// Paths that items of In Scope only point at, each with its item and where that stands.
    pointed: Vec<(String, Name, Place)>,
    /// What items of Out of Scope may mean, and where each of those stands.
    loose: Loose,
    excluded_at: BTreeMap<usize, Place>,
}

impl TaskScope {
    /// What lies within patterns, as the scope of a unit has them.
    pub fn within(patterns: &[Name]) -> Self {
        let globs = patterns.iter().cloned().zip(0..).collect();
        Self { listed: Paths { items: patterns.to_vec(), globs, ..Paths::default() }, ..Self::default() }
    }

    /// Takes in an item of In Scope.
    fn list(&mut self, text: &str, reading: &mut Reading<'_>) {
        let item = Item::listed(text);
        let no_path = names_no_path(text, &item, true);
        if let Some(why) = no_path {
            reading.warn(format!("{} names no path: {why}", quote(text)));
        }
        let is_prose = no_path.is_some();
        let (folders, files): (Vec<String>, Vec<String>) = item.paths.iter().cloned().partition(|path| is_folder(path));
        let is_narrowed = item.is_narrowed || item.is_above || !item.only.is_empty() || is_prose;
        if !folders.is_empty() && is_narrowed {
            let at = self.narrowed.item(text);
            reading.take(&folders, at, &mut self.narrowed);
            let at = self.listed.item(text);
            // A file may have such a name too: `Makefile`.
            folders.iter().for_each(|path| self.listed.take_file(path, at));
            self.listed.take_all(&files, at);
            self.listed.take_all(&within(&folders, &item.only), at);
        } else {
            let at = self.listed.item(text);
            reading.take(&item.paths, at, &mut self.listed);
            self.listed.take_all(&item.only, at);
        }
        let may_be_file = folders.iter().any(|path| is_named_like_a_file(path));
        let lists = !files.is_empty() || !item.only.is_empty() || (!folders.is_empty() && !is_narrowed);
        self.lists |= !is_prose && (lists || may_be_file);
        let part = folders.iter().find(|path| !is_named_like_a_file(path) && !is_prose);
        if let Some(folder) = part.filter(|_| item.is_narrowed && item.only.is_empty() && item.refused.is_empty()) {
            reading.doubt(format!("{} may mean a part of `{folder}`", quote(text)), Reading::PART);
        }
        if !item.pointed.is_empty() {
            let at = self.narrowed.item(text);
            self.narrowed.take_all(&item.pointed, at);
            // `Tests for` a file means those beside it.
            let tests = item.pointed.iter().filter(|_| item.paths.is_empty()).flat_map(|path| tests_of(path));
            self.narrowed.globs.extend(tests.map(|glob| (glob.into(), at)));
            let named: BTreeSet<&String> = item.pointed.iter().take(POINTED_MAX).collect();
            self.pointed.extend(named.into_iter().map(|path| (path.clone(), text.into(), reading.place)));
        }
        if !item.apart.is_empty() {
            let at = self.excluded.item(text);
            self.excluded.take_all(&within(&folders, &item.apart), at);
        }
        if let Some(first) = item.refused.iter().find(|path| is_path(path)).or(item.refused.first()) {
            let message = format!("{} refuses a change of `{first}`: a person has to say what is meant", quote(text));
            let hint = "what may not be changed stands under Out of Scope";
            reading.found.push(Diagnostic::warning(Code::TASK_SCOPE, reading.place, message).hint(hint));
            let at = self.refused.item(text);
            self.refused.take_all(&within(&folders, &item.refused), at);
        }
        for text in &item.below {
            self.list(text, reading);
            if item.is_above {
                let inner = Item::listed(text);
                let at = self.listed.item(text);
                self.listed.take_all(&within(&folders, &[inner.paths, inner.only].concat()), at);
            }
        }
    }

    /// What is left to be said of In Scope when all of it is known.
    fn list_is_read(&mut self, found: &mut Vec<Diagnostic>) {
        for (path, item, place) in std::mem::take(&mut self.pointed) {
            // Another item may say what is meant.
            if self.listed.find(path.trim_start_matches("./").trim_end_matches('/')).is_none() {
                let what = format!("{} names `{path}`, and does not say that it is changed", quote(&item));
                Reading { place, found: &mut *found }.doubt(what, Reading::POINTED);
            }
        }
        let last = found.iter_mut().rfind(|one| one.code == Code::TASK_SCOPE && one.severity == Severity::Warning);
        if let Some(last) = last.filter(|_| !self.lists) {
            last.hint = Some("nothing is in scope so: begin an item with each path that may be changed, without words that limit it: `- src/cart.ts`".to_owned());
        }
    }

    /// Takes in an item of Out of Scope, when those of In Scope are known.
    fn exclude(&mut self, text: &str, reading: &mut Reading<'_>) {
        let item = Item::excluded(text);
        if let Some(why) = names_no_path(text, &item, false).filter(|_| item.alone.is_empty()) {
            reading.warn(format!("{} names no path: {why}", quote(text)));
        }
        let at = self.excluded.item(text);
        reading.take(&item.paths, at, &mut self.excluded);
        // What In Scope names itself may be changed; of which part of it the words speak, nobody measures.
        let is_listed = |path: &&String| self.listed.names(path.trim_start_matches("./"));
        let own: BTreeSet<&String> = item.paths.iter().collect();
        let mentioned = item.mentioned.iter().filter(|path| !own.contains(path));
        let (listed, apart): (Vec<&String>, Vec<&String>) = mentioned.partition(is_listed);
        for path in listed {
            reading.warn(format!("{} names `{path}`, which is in scope: it stays so", quote(text)));
        }
        let doubtful: Vec<&String> = item.doubtful.iter().filter(|path| !is_listed(path)).collect();
        self.excluded_at.insert(at, reading.place);
        self.loose.take(item.paths.iter().chain(apart.iter().copied()), at);
        self.loose.take_names(&item.alone, at);
        self.excluded.take_all(&item.alone, at);
        doubtful.into_iter().for_each(|path| self.loose.mean(path, at));
        apart.into_iter().for_each(|path| _ = self.excluded.take(path, at));
        for path in item.apart.iter().filter(|path| self.listed.find(path).is_none()) {
            reading.warn(format!("{} does not exclude `{path}`", quote(text)));
        }
        item.below.iter().for_each(|text| self.exclude(text, reading));
    }

    /// Whether each path of Out of Scope is that of a file among these, or of a folder that holds one.
    pub fn excludes_only(&self, files: &BTreeSet<&str>) -> bool {
        self.loose.is_held(files)
    }

    /// Holds Out of Scope against all files, before the change and in it: a path that none of them has is named in a warning, and
    /// what it may mean is for a person.
    pub fn settle(&mut self, files: &BTreeSet<&str>) -> Vec<Diagnostic> {
        let missing = self.loose.settle(files);
        let warning = |(path, at): (Name, usize)| {
            let place = self.excluded_at.get(&at).copied().unwrap_or_default();
            let message = format!("`{path}` excludes nothing: no file has such a path");
            Diagnostic::warning(Code::TASK_SCOPE, place, message).hint(Reading::HINT)
        };
        missing.into_iter().map(warning).collect()
    }

    /// The item of Out of Scope that may mean a path.
    pub(super) fn may_exclude(&self, path: &str) -> Option<&Name> {
        self.excluded.items.get(self.loose.find(path)?)
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
        for name in ["in_scope", "out_of_scope"] {
            let items = scope.and_then(|scope| scope.get(name)).and_then(Node::list).unwrap_or_default();
            for item in items {
                let mut reading = Reading { place: places.place(item.at), found: &mut diagnostics };
                let text = item.text().unwrap_or_default();
                match name {
                    "in_scope" => task.list(text, &mut reading),
                    _ => task.exclude(text, &mut reading),
                }
                listed_at.resize(task.listed.items.len(), item.at);
            }
            if name == "in_scope" {
                task.list_is_read(&mut diagnostics);
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

/// A glob in which brackets and exclamation marks stand for themselves.
pub(super) fn literal_brackets(path: &str) -> String {
    let mut glob = String::with_capacity(path.len());
    for char in path.chars() {
        if matches!(char, '[' | ']' | '!' | '\\') {
            glob.push('\\');
        }
        glob.push(char);
    }
    glob
}
