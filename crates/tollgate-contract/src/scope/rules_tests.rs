//! A task and a change in, classes out (`rules_tests/cases.txt`).
//!
//! A script has lines `in` and `out` (what the task lists), `before` (the text before the excluded), `protect`, `correct LISTED => ACTUAL`, `there` (a file from before the
//! change), and for each changed path `@ PATH` with its lines as a diff has them. Behind the path may be the modes before and after
//! it, `from` or `to` another path, and `unread`.

mod properties;
mod reading;

use std::collections::BTreeSet;

use super::change::{Change, Content, Line, Mode, Moved, Sign};
use super::correction::{Correction, corrections};
use super::incidental::{Criteria, Met};
use super::rules::{Class, Rules, Sorted};
use super::task::TaskScope;
use tollgate_core::diagnostic::Place;

/// A task issue with these lists.
fn task(listed: &[&str], excluded: &[&str]) -> String {
    let list = |intro: &str, items: &[&str]| match items {
        [] => "None\n".to_owned(),
        items => intro.to_owned() + &items.iter().map(|item| format!("- {item}\n")).collect::<String>(),
    };
    format!(
        "## Objective\n\nThe cart shows a total.\n\n## Spec Reference\n\n- Spec: `docs/specs/cart.md`\n- Section(s): Totals\n\n\
         ## Scope\n\n### In Scope\n\n{}\n### Out of Scope\n\n{}\n## Acceptance Criteria\n\n- [ ] The page shows the total.\n\n## Context\n\n\
         Prices are in cents.\n\n## Constraints\n\nNo new dependency.\n",
        list("Files/modules this task may touch:\n\n", listed),
        list("Files/modules explicitly excluded:\n\n", excluded)
    )
}

fn rules(listed: &[&str], excluded: &[&str]) -> Rules {
    let text = task(listed, excluded);
    let (task, warnings) = TaskScope::read(&text).unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}"));
    assert_eq!(warnings, []);
    Rules { task, ..Rules::default() }
}

/// A change that owns its lines: ` kept`, `-removed`, `+added`.
#[derive(Debug)]
struct Made {
    path: String,
    lines: Vec<Line<'static>>,
    modes: (Mode, Mode),
    moved: Option<Moved>,
    unread: bool,
}

fn made(path: &str, diff: &str) -> Made {
    let lines = diff.split_terminator('\n').map(line).collect();
    Made { path: path.to_owned(), lines, modes: (Mode::File, Mode::File), moved: None, unread: false }
}

fn line(line: &str) -> Line<'static> {
    let (sign, text) = match line.split_at_checked(1) {
        Some(("+", text)) => (Sign::Added, text),
        Some(("-", text)) => (Sign::Removed, text),
        Some((_, text)) => (Sign::Kept, text),
        None => (Sign::Kept, line),
    };
    (sign, text.to_owned().into())
}

impl Made {
    /// A changed path as a script writes it.
    fn named(words: &str) -> Self {
        let mut words = words.split("  ");
        let mut made = made(words.next().expect("a path"), "");
        for word in words {
            match word.split_once(' ') {
                None => made.unread = true,
                Some(("from", path)) => made.moved = Some(Moved::From(path.into())),
                Some(("to", path)) => made.moved = Some(Moved::To(path.into())),
                Some((before, after)) => made.modes = (mode(before), mode(after)),
            }
        }
        made
    }

    fn change(&self) -> Change<'_> {
        let content = match (self.unread, self.lines.is_empty()) {
            (true, _) => Content::Unread,
            (false, true) => Content::Same,
            (false, false) => Content::Lines(&self.lines),
        };
        let (before, after) = self.modes;
        Change { path: self.path.as_str().into(), before, after, moved: self.moved.clone(), content }
    }
}

fn mode(word: &str) -> Mode {
    match word {
        "absent" => Mode::Absent,
        "file" => Mode::File,
        "program" => Mode::Program,
        "link" => Mode::Link,
        "submodule" => Mode::Submodule,
        other => panic!("{other} is no mode"),
    }
}

fn changes(made: &[Made]) -> Vec<Change<'_>> {
    made.iter().map(Made::change).collect()
}

/// `class path: reason`, a line each; with the three criteria, where they were measured.
fn shown(sorted: &[Sorted<'_>]) -> Vec<String> {
    let one = |one: &Sorted<'_>| {
        let (signs, open) = one.criteria.as_ref().map(measured).unwrap_or_default();
        format!("{} {}{signs}: {}{open}", one.class.word(), one.change.path, one.reason)
    };
    sorted.iter().map(one).collect()
}

/// Whether a change is minimal, required and leaves the file unaltered; and what was measured where that is not known.
fn measured(criteria: &Criteria) -> (String, String) {
    let sign = |met| match met {
        Met::Yes => '+',
        Met::No => '-',
        Met::Unknown => '?',
    };
    let all = criteria.all().map(|(_, criterion)| criterion);
    let signs: String = all.iter().map(|criterion| sign(criterion.met)).collect();
    let open = all.into_iter().filter(|criterion| criterion.met == Met::Unknown);
    (format!(" [{signs}]"), open.map(|criterion| format!(" ({})", criterion.measured)).collect())
}

fn class_of(rules: &Rules, made: &[Made], path: &str) -> Class {
    let changes = changes(made);
    rules.sort(&changes).iter().find(|one| &*one.change.path == path).unwrap().class
}

/// What becomes of the corrections and of the change of a script.
fn sorted(script: &str) -> String {
    let (mut lists, mut made): ([Vec<String>; 2], Vec<Made>) = Default::default();
    let (mut own, mut there) = (Rules::default(), Vec::new());
    let mut intro = String::new();
    for text in script.lines() {
        match text.split_once(' ') {
            Some(("before", text)) => intro = text.replace("\\n", "\n"),
            Some(("in", item)) => lists[0].push(item.replace("\\n", "\n")),
            Some(("out", item)) => lists[1].push(item.replace("\\n", "\n")),
            Some(("protect", pattern)) => own.protected.push(pattern.into()),
            Some(("there", path)) => there.push(path),
            Some(("@", words)) => made.push(Made::named(words)),
            Some(("correct", files)) => {
                let (listed, actual) = files.split_once(" => ").expect("two files");
                let [listed, actual, reason] = [listed, actual, "moved"].map(str::to_owned);
                own.corrections.push(Correction { listed, actual, reason, place: Place::default() });
            }
            _ => made.last_mut().expect("a changed path").lines.push(line(text)),
        }
    }
    let [listed, excluded] = lists.each_ref().map(|list| list.iter().map(String::as_str).collect::<Vec<_>>());
    let text = task(&listed, &excluded).replace("excluded:\n\n", &format!("excluded:\n\n{intro}\n\n"));
    own.task = match TaskScope::read(&text) {
        Ok((task, _)) => task,
        Err(wrong) => return wrong.iter().map(crate::cases::line).collect::<Vec<_>>().join("\n"),
    };
    let changes = changes(&made);
    if !there.is_empty() {
        let changed: BTreeSet<&str> = changes.iter().map(|change| &*change.path).collect();
        own.settle(&there.into_iter().collect(), &changed);
    }
    let sorted = own.sort(&changes);
    let is_measured = sorted.iter().any(|one| one.criteria.is_some() || one.class == Class::Test);
    let needs_content = own.need_content(changes.iter().map(|change| &change.path));
    assert!(needs_content || !is_measured, "the content decides and is not asked for: {script}");
    let refused = own.corrected().into_iter().filter_map(|one| Some(format!("no correction: {}", one.refused?)));
    refused.chain(shown(&sorted)).collect::<Vec<_>>().join("\n")
}

#[test]
fn cases() {
    crate::cases::check("scope/rules_tests/cases.txt", sorted);
}

const EDIT: &str = "-a\n+b";
/// A new function in a file outside of the task.
const GROWS: &str = "+function late() {\n+}";
const BODY: &str = "Adds the total.\n\nCloses #4\n\n## Scope correction\n- **Listed:** `src/cart.js`\n- **Actual:** `src/checkout/cart.js`\n- **Reason:** the handler lives there\n";
