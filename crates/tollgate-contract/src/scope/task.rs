//! What a task issue lists as in scope and out of scope.
//!
//! Brackets are part of a name (`pages/[id].tsx`), never a class of characters.

use std::collections::BTreeSet;

use crate::Context;
use crate::defined::layout::without_box;
use crate::markdown::{Block, BlockKind, blocks, item_text};
use crate::path_list::held::{Closeness, Held, bare};
use crate::path_list::item;
use crate::registry::defined;
use crate::text::{is_none, is_title, quote};
use crate::tree::{Node, Places};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place, Severity};
use tollgate_core::scope::overlap;

/// The contract of a task issue.
pub const TASK_CONTRACT: &str = "decree.task-issue";
/// How many items a list may have: each changed path is compared with each of them.
const ITEMS_MAX: usize = 1_000;

#[derive(Debug, Clone)]
struct Listed {
    /// The item as it is written, and where.
    text: Name,
    place: Place,
    /// Its path without `./` and a slash at its end.
    path: Name,
    held: Held,
    except: Vec<Held>,
}

/// The paths of one list.
#[derive(Debug, Clone, Default)]
pub struct Paths(Vec<Listed>);

impl Paths {
    /// The item that names a path most closely, and how closely; of two that are as close, the first.
    pub(super) fn find(&self, path: &str) -> Option<(&Name, Closeness)> {
        let holds = |item: &Listed| {
            let is_out = item.except.iter().any(|held| held.closeness(path).is_some());
            item.held.closeness(path).filter(|_| !is_out)
        };
        let found = self.0.iter().rev().filter_map(|item| Some((&item.text, holds(item)?)));
        found.max_by_key(|(_, closeness)| *closeness)
    }
}

/// What a task says of its scope.
#[derive(Debug, Clone, Default)]
pub struct TaskScope {
    /// The spec it comes from, and its sections.
    pub spec: (String, String),
    pub(super) listed: Paths,
    pub(super) excluded: Paths,
}

impl TaskScope {
    /// What lies within patterns, as the scope of a unit has them.
    pub fn within(patterns: &[Name]) -> Self {
        let listed = |pattern: &Name| Listed {
            text: pattern.clone(),
            place: Place::default(),
            path: pattern.clone(),
            held: Held::Glob(pattern.clone()),
            except: Vec::new(),
        };
        Self { listed: Paths(patterns.iter().map(listed).collect()), ..Self::default() }
    }

    /// Reads a task issue by its contract; what is wrong with it otherwise. Warnings come with both.
    pub fn read(text: &str) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        let Some(contract) = defined(TASK_CONTRACT) else { return Err(Vec::new()) };
        let judged = contract.judge(text, &Context::default());
        let mut diagnostics = judged.diagnostics;
        // Its items are read below, with what they leave out.
        diagnostics.retain(|one| one.code != Code::TASK_SCOPE);
        let is_wrong = |all: &[Diagnostic]| all.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        let (false, Some(root)) = (is_wrong(&diagnostics), judged.root) else { return Err(diagnostics) };
        let places = Places::of(text);
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let blocks = blocks(text);
        diagnostics.extend(strays(text, &blocks, &places));
        let part = |name| {
            let node = root.get("spec_reference").and_then(|spec| spec.get(name));
            node.and_then(Node::text).unwrap_or_default().to_owned()
        };
        let mut task = Self { spec: (part("spec"), part("sections")), ..Self::default() };
        for name in ["in_scope", "out_of_scope"] {
            let items = root.get("scope").and_then(|scope| scope.get(name)).and_then(Node::list).unwrap_or_default();
            for (at, item) in items.iter().enumerate() {
                let place = places.place(item.at);
                // The text of the tree has lost the indentation that makes code of a list.
                let written = blocks.get(blocks.partition_point(|block| block.range.end <= item.at as usize));
                let (said, _) = written.map(|block| item_text(text, &block.range)).unwrap_or_default();
                let said = without_box(&said);
                let taken = if at == ITEMS_MAX { Err(too_many()) } else { task.take(said, place, name == "in_scope") };
                if let Err(problem) = taken {
                    let error = Diagnostic::error(Code::TASK_SCOPE, place, problem.message);
                    diagnostics.push(error.hint(problem.hint));
                }
                if at == ITEMS_MAX {
                    break;
                }
            }
        }
        let clash = task.listed.0.iter().find(|item| task.excluded.0.iter().any(|other| other.path == item.path));
        if let Some(item) = clash {
            let message = format!("`{}` is both in scope and out of scope", item.path);
            let error = Diagnostic::error(Code::TASK_SCOPE, item.place, message);
            diagnostics.push(error.hint("remove it from one of the two lists"));
        }
        if is_wrong(&diagnostics) { Err(diagnostics) } else { Ok((task, diagnostics)) }
    }

    fn take(&mut self, text: &str, place: Place, in_scope: bool) -> Result<(), item::Problem> {
        let item = item::read(text)?;
        let one = |path: &str, held| Listed {
            text: text.lines().next().unwrap_or_default().into(),
            place,
            path: bare(path).into(),
            held,
            except: Vec::new(),
        };
        let held = if in_scope { Held::listed(&item.path) } else { Held::excluded(&item.path) };
        let except: Vec<Held> = item.except.iter().map(|path| Held::excluded(path)).collect();
        for (path, exception) in item.except.iter().zip(&except) {
            if !overlap(&held.patterns(), &exception.patterns()) {
                let message = format!("`{path}` is not inside `{}`", item.path);
                return Err(item::Problem { message, hint: "write the whole path: `except: src/cart/generated.ts`" });
            }
        }
        let list = if in_scope { &mut self.listed } else { &mut self.excluded };
        list.0.push(Listed { except: except.clone(), ..one(&item.path, held) });
        if in_scope {
            let exceptions = item.except.iter().zip(except).map(|(path, held)| one(path, held));
            self.excluded.0.extend(exceptions);
        }
        Ok(())
    }

    /// Warns of items that exclude none of these files: all files before the change, and those in it.
    pub fn excludes_nothing(&self, files: &BTreeSet<&str>) -> Vec<Diagnostic> {
        let idle = self.excluded.0.iter().filter(|item| !item.held.holds_any(files));
        let warning = |item: &Listed| {
            let message = format!("`{}` excludes nothing: no file has this path", item.path);
            Diagnostic::warning(Code::TASK_SCOPE, item.place, message)
                .hint("names are compared byte for byte; `git ls-files` lists them")
        };
        idle.map(warning).collect()
    }
}

/// What is in a list of a scope and is no item of it. A paragraph that ends with a colon introduces the list.
fn strays(text: &str, blocks: &[Block], places: &Places<'_>) -> Vec<Diagnostic> {
    let (mut list, mut found) = (None, Vec::new());
    for Block { kind, range } in blocks {
        let said = text[range.clone()].trim();
        let is_stray = match kind {
            BlockKind::Heading(level, title) if list.is_none_or(|outer| *level <= outer) => {
                let is_list = ["In Scope", "Out of Scope"].iter().any(|known| is_title(known, &text[title.clone()]));
                list = is_list.then_some(*level);
                false
            }
            BlockKind::Paragraph => !said.ends_with(':') && !is_none(said),
            BlockKind::Heading(..) | BlockKind::Underlined(_) | BlockKind::Html => true,
            BlockKind::Item | BlockKind::Fence { .. } | BlockKind::Indented | BlockKind::Quote | BlockKind::Comment => {
                false
            }
        };
        if is_stray && list.is_some() {
            let message = format!("{} is not an item of the list", quote(said));
            let place = places.place(u32::try_from(range.start).unwrap_or(u32::MAX));
            let hint = "write each path as an item: `- src/cart.ts`";
            found.push(Diagnostic::error(Code::TASK_SCOPE, place, message).hint(hint));
        }
    }
    found
}

fn too_many() -> item::Problem {
    let message = format!("the list has more than {ITEMS_MAX} items");
    item::Problem { message, hint: "list folders instead of their files" }
}
