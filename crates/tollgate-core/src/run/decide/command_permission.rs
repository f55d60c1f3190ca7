//! Commands that need a person's word: to change the tree that they check, or to be prepared by a set-up that the work changed. The
//! question is put before anything is routed.

use super::super::command_permission::{AtPermission, Permission, changes, named};
use super::super::event::{Asked, By, CommandResult, DecisionAsked, DecisionEnd, DecisionEnded, Offered, Origin};
use super::super::state::{Attempt, Decision};
use super::draft::Draft;
use super::{Answer, Rejection};
use crate::Name;
use crate::id::DecisionId;
use crate::protocol::model::Class;

impl Permission {
    const fn why(self) -> &'static str {
        match self {
            Self::Writes => {
                "where the tree is read-only it fails, and where it may write it passes; for later runs, name what commands \
                 write in `[checks] writes` of the configuration"
            }
            Self::Setup => {
                "the set-up fills the caches that commands run with, and what the work wrote takes no part in that unless you \
                 allow it; look at these files first"
            }
        }
    }
}

impl Draft {
    /// Asks what commands need a person's word for, where nobody has said anything of it yet: one question for all of them. What is
    /// prepared otherwise may have to write something else, so that is asked first, and alone.
    pub(super) fn ask_permission(&mut self, ran: &Attempt, results: &[CommandResult]) {
        if !self.asks_of(Permission::Setup, ran, results) {
            self.asks_of(Permission::Writes, ran, results);
        }
    }

    /// Whether it asks.
    fn asks_of(&mut self, permission: Permission, ran: &Attempt, results: &[CommandResult]) -> bool {
        let (mut paths, mut lines): (Vec<Name>, Vec<String>) = (Vec::new(), Vec::new());
        for result in results {
            let all = result.asks_for(permission);
            let open: Vec<&Name> = all.iter().filter(|path| !self.run.is_allowed(permission, path)).collect();
            if open.is_empty() || self.run.refuses(permission, all, &ran.tree) {
                continue;
            }
            lines.push(self.asking_line(permission, result, &open));
            for path in open {
                if !paths.contains(path) {
                    paths.push(path.clone());
                }
            }
        }
        if paths.is_empty() {
            return false;
        }
        let is_one = lines.len() == 1;
        let between = if is_one { " " } else { "\n" };
        let (runs, stays) = if is_one { ("it runs", "It stays") } else { ("they run", "They stay") };
        let (may, allowed) = match permission {
            Permission::Writes => (
                format!("May this run's commands write {}?", if paths.len() == 1 { "it" } else { "them" }),
                format!("Exactly these paths may be written by this run's commands, and {runs} again"),
            ),
            Permission::Setup => (
                "May the work's own set-up prepare what this run checks and judges?".to_owned(),
                format!("The set-up runs on what the work wrote, for the rest of this run, and {runs} again"),
            ),
        };
        let offered =
            |id: AtPermission, consequence: String| Offered { id: id.word().into(), consequence, waives: Vec::new() };
        let asked = Asked {
            instance: ran.instance.clone(),
            ask: permission.word().into(),
            class: Class::Approval,
            question: format!("{}{between}{may}", lines.join("\n")),
            why: permission.why().to_owned(),
            options: vec![
                offered(AtPermission::Allow, allowed),
                offered(AtPermission::Refuse, format!("{stays} unobservable")),
            ],
            recommend: None,
            default: None,
            unit: self.unit_of(&ran.instance),
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
        true
    }

    /// What one command needs, in one sentence.
    fn asking_line(&self, permission: Permission, result: &CommandResult, paths: &[&Name]) -> String {
        let name = result.command.name();
        let text = self.run.command_text(&result.command);
        let command = text.as_deref().and_then(|text| text.lines().next()).unwrap_or(name);
        match permission {
            Permission::Writes => format!("`{command}` ({name}) {}.", changes(paths)),
            Permission::Setup => {
                format!("The set-up of `{command}` ({name}) was changed by the work: {}.", named(paths))
            }
        }
    }

    /// A person says what commands may do. The flow that waits is resumed where it was; who waits for the same has this answer, too.
    pub(super) fn answer_permission(
        &mut self,
        id: DecisionId,
        permission: Permission,
        answer: &Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        let what = match permission {
            Permission::Writes => "anything but whether these paths may be written",
            Permission::Setup => "anything but whether the work's set-up may be run",
        };
        self.end_own(id, answer, by, what)?;
        let is_allowed = |decision: &Decision| {
            decision.permission() == Some(permission)
                && decision.asked.paths.iter().all(|path| self.run.is_allowed(permission, path))
        };
        let same: Vec<DecisionId> =
            self.run.pending().filter(|(_, decision)| is_allowed(decision)).map(|(same, _)| same).collect();
        for decision in same {
            let (end, option) = (DecisionEnd::Answered, Some(AtPermission::Allow.word().into()));
            let text = format!("allowed with {id}");
            self.emit_by(by.clone(), DecisionEnded { decision, end, option, text, in_advance: false });
        }
        Ok(())
    }
}
