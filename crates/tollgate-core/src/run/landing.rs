//! A landing under way: a run that succeeded hands its tree over, and stays closed.

use serde::{Deserialize, Serialize};

use super::event::{CommandRef, CommandResult, LandTarget};
use super::state::Run;
use crate::id::DecisionId;
use crate::report::Judgement;
use crate::words::words;

/// Stands for a flow instance, a stage and an ask where a landing puts its question: no protocol can use this name.
pub const LAND: &str = "@land";

/// What a person can say of a tree that no evidence covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtLanding {
    Land,
    /// Nothing is moved.
    Leave,
}

words!(AtLanding { Land = "land", Leave = "leave" });

/// A landing under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    /// The seq of the event that asked for it.
    pub token: u64,
    pub target: LandTarget,
    pub commands: Vec<CommandRef>,
    pub asked_ms: u64,
    /// What came of the commands; none: they have not run.
    pub results: Option<Vec<CommandResult>>,
    /// The question that it put, and whether the answer was to go on.
    pub decision: Option<(DecisionId, bool)>,
}

impl Landing {
    /// Whether everything it waited for is there.
    pub const fn is_checked(&self) -> bool {
        self.commands.is_empty() || self.results.is_some()
    }

    /// What no evidence covers on the tree that lands, one sentence each.
    pub fn open(&self, run: &Run) -> Vec<String> {
        if self.target.tree == run.tree {
            return Vec::new();
        }
        let results = self.results.iter().flatten().filter(|result| result.result != Judgement::Pass);
        let mut open: Vec<String> = results.map(failed).collect();
        if !self.target.touched.is_empty() {
            let shown: Vec<&str> = self.target.touched.iter().take(TOUCHED_SHOWN).map(|path| &**path).collect();
            let more = self.target.touched.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let onto = &self.target.onto;
            open.push(format!("what was reviewed changed on `{onto}`, too: {}{more}", shown.join(", ")));
        }
        if self.target.apart {
            let lacks = &self.target.lacks;
            let lacks = if lacks.is_empty() { String::new() } else { format!(": {}", lacks.join("; ")) };
            open.push(format!("`{}` does not hold what the run started from{lacks}", self.target.onto));
        }
        open
    }

    /// Whether the tree may be put where it is wanted.
    pub fn is_clear(&self, run: &Run) -> bool {
        run.published.is_some()
            && self.is_checked()
            && (self.open(run).is_empty() || matches!(self.decision, Some((_, true))))
    }
}

/// How many files a question names.
const TOUCHED_SHOWN: usize = 10;

fn failed(result: &CommandResult) -> String {
    let name = result.command.name();
    let how = match (result.result, result.flaky()) {
        (_, Some(_)) => "does not hold",
        (Judgement::Fail, None) => "fails",
        (Judgement::Pass | Judgement::Unobservable, None) => "cannot be observed",
    };
    let note = if result.note.is_empty() { String::new() } else { format!(": {}", result.note) };
    format!("`{name}` {how} on the merged tree{note}")
}
