//! Commands that are run more than once: one that passes and fails on the same content is flaky, and shows nothing.
//!
//! ```text
//! every run passes                      pass
//! one failed, one passed                fail: flaky, with how many of how many
//! one failed, none passed               fail
//! one could not be run, none failed     unobservable; nothing is run after it
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use super::event::{CommandRef, CommandResult};
use super::state::Run;
use crate::digest::Digest;
use crate::protocol::condition::Condition;
use crate::report::{Judgement, REPEAT_MAX};

/// One run of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Once {
    pub result: Judgement,
    /// The exit code; none: it was ended, or never ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// What it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Digest>,
}

/// How many runs failed of a command that also passed, on the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flaky {
    pub failed: u32,
    pub of: u32,
}

impl fmt::Display for Flaky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flaky: {} of {} runs failed", self.failed, self.of)
    }
}

impl CommandResult {
    /// The result of a command that was not run.
    pub fn unobserved(command: CommandRef, note: impl Into<String>) -> Self {
        let (runs, changes, setup) = Default::default();
        Self { command, result: Judgement::Unobservable, output: None, note: note.into(), runs, changes, setup }
    }

    /// What it printed: in the run that it is judged by, and in each.
    pub fn objects(&self) -> impl Iterator<Item = Digest> {
        self.output.into_iter().chain(self.runs.iter().filter_map(|once| once.output))
    }

    /// How flaky it is, if it is.
    pub fn flaky(&self) -> Option<Flaky> {
        let count = |wanted| self.runs.iter().filter(|once| once.result == wanted).count();
        let (failed, passed) = (count(Judgement::Fail), count(Judgement::Pass));
        let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
        (failed > 0 && passed > 0).then(|| Flaky { failed: number(failed), of: number(self.runs.len()) })
    }

    /// One result for each command out of one for each run; the runs of a command stand together.
    pub fn joined(each: Vec<Self>) -> Vec<Self> {
        let runs_of = |one: &Self, other: &Self| one.command == other.command;
        each.chunk_by(runs_of).filter_map(Self::join).collect()
    }

    fn join(each: &[Self]) -> Option<Self> {
        let (first, times) = (each.first()?, each.len());
        if times == 1 {
            return Some(first.clone());
        }
        let with = |wanted| each.iter().find(|once| once.result == wanted);
        let runs = each.iter().flat_map(|once| once.runs.clone()).collect();
        let (failed, unobserved) = (with(Judgement::Fail), with(Judgement::Unobservable));
        // What speaks against it is what somebody has to look at.
        let told = failed.or(unobserved).unwrap_or(first);
        let mut all = Self { runs, ..told.clone() };
        all.note = match (failed, unobserved, all.flaky()) {
            (_, _, Some(flaky)) => format!("{flaky}; {}", told.note),
            (Some(_), None, None) => format!("each of {times} runs failed; {}", told.note),
            (Some(_), Some(other), None) => format!("{}; then it could not be run: {}", told.note, other.note),
            (None, Some(_), None) => format!("{}, after {} of its runs passed", told.note, times - 1),
            (None, None, None) => format!("each of {times} runs passed"),
        };
        Some(all)
    }

    /// The same, if it passed as often as it must: a pass that nobody saw so often is none.
    #[must_use]
    pub fn held_to(self, times: u32) -> Self {
        let passed = self.runs.iter().filter(|once| once.result == Judgement::Pass).count();
        let enough = match self.runs.len() {
            0 => times <= 1,
            ran => passed == ran && ran >= usize::try_from(times).unwrap_or(usize::MAX),
        };
        if self.result != Judgement::Pass || enough {
            return self;
        }
        let note = format!("it was seen to pass {passed} of {times} times");
        Self { result: Judgement::Unobservable, note, ..self }
    }
}

impl Run {
    /// The commands in force, by what needs them.
    pub fn command_text(&self, command: &CommandRef) -> Option<String> {
        match command {
            CommandRef::Criterion(id) => self.criterion(id)?.command.clone(),
            CommandRef::Named(name) => self.opened.commands.get(name).map(|argv| argv.join(" ")),
        }
    }

    /// How often a command is run on the same content: as its row or the strictest gate that names it says.
    pub fn repeats(&self, command: &CommandRef) -> u32 {
        let times = match command {
            CommandRef::Criterion(id) => self.criterion(id).and_then(|row| row.repeat),
            CommandRef::Named(wanted) => {
                let parts = self.protocol.gates.values().flat_map(|gate| gate.holds.parts());
                let asked = parts.filter_map(|part| {
                    if let Condition::Command { name, repeat } = part { Some((name, *repeat)) } else { None }
                });
                asked.filter(|(name, _)| *name == wanted).map(|(_, repeat)| repeat).max()
            }
        };
        times.unwrap_or(1).clamp(1, REPEAT_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once(result: Judgement, exit: i32) -> CommandResult {
        let run = Once { result, exit: Some(exit), output: Some(Digest::of(exit.to_string().as_bytes())) };
        let note = format!("it exited with {exit}");
        CommandResult {
            command: CommandRef::Named("test".into()),
            result,
            output: run.output,
            note,
            runs: vec![run],
            changes: Vec::new(),
            setup: Vec::new(),
        }
    }

    fn joined(exits: &[i32]) -> CommandResult {
        let judged = |exit: &i32| match exit {
            0 => once(Judgement::Pass, 0),
            127 => once(Judgement::Unobservable, 127),
            exit => once(Judgement::Fail, *exit),
        };
        let mut all = CommandResult::joined(exits.iter().map(judged).collect());
        assert_eq!(all.len(), 1);
        let all = all.remove(0);
        assert_eq!(all.runs.iter().map(|run| run.exit.unwrap()).collect::<Vec<_>>(), exits, "every run is kept");
        all
    }

    #[test]
    fn what_passes_and_fails_is_flaky_and_never_passes() {
        for (exits, result, flaky, note) in [
            (&[0][..], Judgement::Pass, None, "it exited with 0"),
            (&[0, 0, 0], Judgement::Pass, None, "each of 3 runs passed"),
            (&[3, 3], Judgement::Fail, None, "each of 2 runs failed; it exited with 3"),
            (&[0, 3, 0], Judgement::Fail, Some((1, 3)), "flaky: 1 of 3 runs failed; it exited with 3"),
            (&[3, 4, 0], Judgement::Fail, Some((2, 3)), "flaky: 2 of 3 runs failed; it exited with 3"),
            (&[127], Judgement::Unobservable, None, "it exited with 127"),
            (&[0, 0, 127], Judgement::Unobservable, None, "it exited with 127, after 2 of its runs passed"),
            (&[3, 127], Judgement::Fail, None, "it exited with 3; then it could not be run: it exited with 127"),
            (&[0, 3, 127], Judgement::Fail, Some((1, 3)), "flaky: 1 of 3 runs failed; it exited with 3"),
        ] {
            let all = joined(exits);
            let flaky = flaky.map(|(failed, of)| Flaky { failed, of });
            assert_eq!((all.result, all.flaky(), &*all.note), (result, flaky, note), "{exits:?}");
        }
        assert_eq!(joined(&[0, 3, 4]).output, Some(Digest::of(b"3")), "what failed first is shown");
    }

    #[test]
    fn runs_of_other_commands_are_not_counted_together() {
        let other = CommandResult { command: CommandRef::Criterion("test".into()), ..once(Judgement::Fail, 1) };
        let all = CommandResult::joined(vec![once(Judgement::Pass, 0), other, once(Judgement::Pass, 0)]);
        assert_eq!(all.iter().map(|result| result.result).collect::<Vec<_>>().len(), 3);
        assert!(all.iter().all(|result| result.flaky().is_none()));
    }

    #[test]
    fn a_pass_that_was_not_seen_so_often_is_none() {
        assert_eq!(joined(&[0, 0]).held_to(2).result, Judgement::Pass);
        assert_eq!(joined(&[0, 0, 0]).held_to(2).result, Judgement::Pass);
        let short = joined(&[0, 0]).held_to(3);
        assert_eq!((short.result, &*short.note), (Judgement::Unobservable, "it was seen to pass 2 of 3 times"));
        let bare = CommandResult { runs: Vec::new(), ..once(Judgement::Pass, 0) };
        assert_eq!(bare.clone().held_to(1).result, Judgement::Pass);
        assert_eq!(bare.held_to(2).result, Judgement::Unobservable);
        let lied = CommandResult { result: Judgement::Pass, ..joined(&[0, 1]) };
        assert_eq!(lied.held_to(2).result, Judgement::Unobservable);
        assert_eq!(joined(&[1, 1]).held_to(3).result, Judgement::Fail);
    }
}
