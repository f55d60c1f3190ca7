//! The table: for every stage, what happens on every outcome.

use std::fmt::Write;

use super::super::Outcome;
use super::super::dialects::Dialects;
use super::super::model::{Kind, Owner, Protocol, Role};
use super::rows::{Leads, OutcomeRow, StageRow, rows};
use super::wording;
use crate::report::Verdict;

/// The protocol as plain text of so many columns, flow by flow.
pub fn table(protocol: &Protocol, dialects: &Dialects, width: usize) -> String {
    let mut page = Page { text: format!("{} version {}\n", protocol.name, protocol.version), width };
    let rows = rows(protocol, dialects);
    for flow in &protocol.flows {
        page.text.push('\n');
        page.line(0, &format!("flow {}", flow.name), "");
        rows.iter().filter(|row| row.flow == Some(&flow.name)).for_each(|row| stage(&mut page, protocol, row));
    }
    if !protocol.asks.is_empty() {
        page.text.push('\n');
        page.line(0, "asks that any stage may put; `back` is where the limit cut in, else the stage that asked", "");
        rows.iter().filter(|row| row.flow.is_none()).for_each(|row| stage(&mut page, protocol, row));
    }
    if !protocol.gates.is_empty() {
        page.text.push('\n');
        page.line(0, "gates", "");
        for (name, gate) in &protocol.gates {
            let mut said = format!("{name}: {}", wording::condition(&gate.holds));
            if !gate.bound_to.is_empty() {
                let _ = write!(said, "; bound to {}", gate.bound_to.join(", "));
            }
            for (who, condition) in [("unit", &gate.mandatory_unit), ("run", &gate.mandatory_run)] {
                if let Some(condition) = condition {
                    let _ = write!(said, "; mandatory for the {who} {}", when(&wording::condition(condition)));
                }
            }
            page.line(2, &said, "");
        }
    }
    page.text
}

fn when(condition: &str) -> String {
    if condition == "always" { condition.into() } else { format!("when {condition}") }
}

fn stage(page: &mut Page, protocol: &Protocol, row: &StageRow<'_>) {
    let stage = row.stage;
    let mut head = format!("{}: {}", stage.id, row.what);
    if let Some(condition) = &row.when {
        let _ = write!(head, "; when {condition}");
    }
    let lists = [stage.requires.join(", "), stage.ensures.join(", "), stage.gives.join(", ")];
    for (word, list) in ["requires", "ensures", "gives"].iter().zip(lists).filter(|(_, list)| !list.is_empty()) {
        let _ = write!(head, "; {word} {list}");
    }
    page.line(2, &head, "");
    let judges = matches!(&stage.kind, Kind::Dispatch { role } if protocol.roles.get(role).is_some_and(Role::judges));
    for OutcomeRow { outcome, leads } in &row.outcomes {
        let shown = if !judges {
            outcome.to_string()
        } else if *outcome == Outcome::Verdict(Verdict::Inconclusive) {
            "ok, accept, gate open".into()
        } else if *outcome == Outcome::Unobservable {
            "ok, accept, unobservable".into()
        } else if matches!(outcome, Outcome::Verdict(_)) {
            format!("ok, {outcome}")
        } else {
            outcome.to_string()
        };
        let said = match leads {
            Leads::Upward => "passed on upward".into(),
            Leads::By(route, Owner::Stage) => wording::route(route),
            Leads::By(route, Owner::Otherwise) => format!("{}  [otherwise]", wording::route(route)),
            Leads::Nowhere => "no route".into(),
        };
        page.line(6, &format!("{shown:<26}"), &said);
    }
}

struct Page {
    text: String,
    width: usize,
}

impl Page {
    /// A line, broken at words where it is too long; what goes on stands below `rest`, or is indented once more.
    fn line(&mut self, indent: usize, head: &str, rest: &str) {
        let (first, body) = if rest.is_empty() { ("", head) } else { (head, rest) };
        let hang = if rest.is_empty() { indent + 4 } else { indent + head.chars().count() };
        let _ = write!(self.text, "{}{first}", " ".repeat(indent));
        let mut column = indent + first.chars().count();
        let mut fresh = true;
        for word in body.split(' ') {
            let length = word.chars().count();
            if !fresh && column + 1 + length > self.width {
                let _ = write!(self.text, "\n{}", " ".repeat(hang));
                (column, fresh) = (hang, true);
            }
            if !fresh {
                self.text.push(' ');
                column += 1;
            }
            self.text.push_str(word);
            (column, fresh) = (column + length, false);
        }
        self.text.push('\n');
    }
}
