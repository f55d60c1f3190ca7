//! Commands that have to change the tree that they are to check: a person is asked whether they may, before anything is routed.

use std::collections::BTreeSet;

use super::super::command_writes::{AtWrites, WRITES};
use super::super::event::{Asked, By, CommandResult, DecisionAsked, DecisionEnd, DecisionEnded, Offered, Origin};
use super::super::state::{Attempt, Decision};
use super::draft::Draft;
use super::{Answer, Rejection, list};
use crate::Name;
use crate::id::DecisionId;
use crate::protocol::model::Class;

/// How many paths of a command the question names; its card names all.
const PATHS_NAMED_MAX: usize = 5;

impl Draft {
    /// Asks whether commands may write what they have to, where nobody has said anything of it yet: one question for all of them.
    pub(super) fn ask_of_writes(&mut self, ran: &Attempt, results: &[CommandResult]) {
        let allowed = self.run.command_writes();
        let is_open = |path: &&Name| !allowed.contains(path);
        let (mut paths, mut lines): (Vec<Name>, Vec<String>) = (Vec::new(), Vec::new());
        for result in results.iter().filter(|result| !self.run.refuses_writes(&result.changes, &ran.tree)) {
            let changes: Vec<&Name> = result.changes.iter().filter(is_open).collect();
            if !changes.is_empty() {
                lines.push(self.changes_line(result, &changes));
            }
            for path in changes {
                if !paths.contains(path) {
                    paths.push(path.clone());
                }
            }
        }
        if paths.is_empty() {
            return;
        }
        let unit = self.unit_of(&ran.instance);
        let (between, runs, stays) =
            if lines.len() == 1 { (" ", "it runs", "It stays") } else { ("\n", "they run", "They stay") };
        let them = if paths.len() == 1 { "it" } else { "them" };
        let offered =
            |id: AtWrites, consequence: String| Offered { id: id.word().into(), consequence, waives: Vec::new() };
        let asked = Asked {
            instance: ran.instance.clone(),
            ask: WRITES.into(),
            class: Class::Approval,
            question: format!("{}{between}May this run's commands write {them}?", lines.join("\n")),
            why: "where the tree is read-only it fails, and where it may write it passes; for later runs, name what \
                  commands write in `[checks] writes` of the configuration"
                .to_owned(),
            options: vec![
                offered(
                    AtWrites::Allow,
                    format!("Exactly these paths may be written by this run's commands, and {runs} again"),
                ),
                offered(AtWrites::Refuse, format!("{stays} unobservable")),
            ],
            recommend: None,
            default: None,
            unit,
            blocking: true,
            shows: Vec::new(),
            origin: Origin { stage: ran.stage.clone(), outcome: None, cut_off: None },
            tree: ran.tree.clone(),
            paths,
            budget: None,
            questions: Vec::new(),
            tries: None,
        };
        self.emit(DecisionAsked { decision: DecisionId(self.run.next_decision), asked });
    }

    /// What one command changes, in one sentence.
    fn changes_line(&self, result: &CommandResult, changes: &[&Name]) -> String {
        let named = &changes[..changes.len().min(PATHS_NAMED_MAX)];
        let more = changes.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let are = if changes.len() == 1 { "is" } else { "are" };
        let name = result.command.name();
        let text = self.run.command_text(&result.command);
        let command = text.as_deref().and_then(|text| text.lines().next()).unwrap_or(name);
        format!("`{command}` ({name}) changes {}{more}, which {are} tracked.", list(named))
    }

    /// A person says whether commands may write what they have to. The flow that waits is resumed where it was; who waits for the same
    /// paths has this answer, too.
    pub(super) fn answer_writes(&mut self, id: DecisionId, answer: &Answer, by: &By) -> Result<(), Rejection> {
        self.end_own(id, answer, by, "anything but whether these paths may be written")?;
        let allowed: BTreeSet<Name> = self.run.command_writes().into_iter().cloned().collect();
        let is_allowed = |decision: &Decision| {
            decision.is_of_writes() && decision.asked.paths.iter().all(|path| allowed.contains(path))
        };
        let same: Vec<DecisionId> =
            self.run.pending().filter(|(_, decision)| is_allowed(decision)).map(|(same, _)| same).collect();
        for decision in same {
            let (end, option) = (DecisionEnd::Answered, Some(AtWrites::Allow.word().into()));
            let text = format!("allowed with {id}");
            self.emit_by(by.clone(), DecisionEnded { decision, end, option, text, in_advance: false });
        }
        Ok(())
    }
}
