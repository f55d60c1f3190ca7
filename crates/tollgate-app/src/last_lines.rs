//! The last lines of what failed: the end of the output of a command or an agent, bounded and harmless.

use std::collections::BTreeMap;

use tollgate_api as api;
use tollgate_contract::extract::Transcript;
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, InstanceId, RunId, StageId};
use tollgate_core::report::{Health, Judgement};
use tollgate_core::run::Run;
use tollgate_core::run::event::{AttemptReported, CommandResult, Event, Recorded};
use tollgate_core::run::state::{At, Decision};
use tollgate_core::text::on_screen;
use tollgate_engine::workers::agent;
use tollgate_engine::workspace::run_folder;
use tollgate_store::Journal;

use crate::files;
use crate::runs::Runs;

/// Of a command or a plain program.
const LINES_MAX: usize = 8;
/// Of an agent.
const WORDS_LINES_MAX: usize = 3;
const CHARS_MAX: usize = 600;
/// How much of the end of a log is read.
const END_BYTES_MAX: u64 = 16 * 1024;

impl Runs {
    /// The last lines of what failed, where an event says that something did and it printed anything.
    pub fn last_lines(&self, run: RunId, event: &Event) -> Option<api::LastLines> {
        let (of, attempt, lines) = match event {
            Event::AttemptReported(reported) => {
                let failed = matches!(reported.health, Health::Failed | Health::Exhausted | Health::Malformed);
                let said = failed.then(|| self.said(run, reported))?;
                ("the worker".to_owned(), Some(reported.attempt), said)
            }
            Event::AttemptParked(parked) => {
                let said = self.agent_said(run, parked.attempt, parked.report, &parked.told.adapter);
                ("the worker".to_owned(), Some(parked.attempt), said.unwrap_or_default())
            }
            Event::AttemptUnready(unready) => {
                ("the setup".to_owned(), Some(unready.attempt), last(&self.object(unready.output?), LINES_MAX))
            }
            Event::CommandsRan(ran) => {
                let (of, lines) = self.of_commands(&ran.results)?;
                (of, Some(ran.attempt), lines)
            }
            Event::LandChecked(checked) => {
                let (of, lines) = self.of_commands(&checked.results)?;
                (of, None, lines)
            }
            _ => return None,
        };
        let attempt = attempt.map(|attempt| attempt.to_string());
        (!lines.is_empty()).then_some(api::LastLines { of, attempt, lines })
    }

    /// The last lines of what led to an open question: nothing where the work goes on beside it.
    pub fn last_lines_of(&self, run: &Run, events: &[Recorded], decision: &Decision) -> Option<api::LastLines> {
        let asked = &decision.asked;
        // A question that is a stage of its own comes after another stage.
        let stage = asked.origin.outcome.as_ref().map(|_| &asked.origin.stage);
        let asks = asked.blocking && decision.end.is_none();
        asks.then(|| self.failed_at(run, events, &asked.instance, stage)).flatten()
    }

    /// The last lines of what holds a run.
    pub fn last_lines_held(&self, run: &Run, events: &[Recorded]) -> Vec<api::LastLines> {
        let held = run.instances.iter().filter_map(|(name, instance)| match &instance.at {
            At::Held { stage, .. } => self.failed_at(run, events, name, Some(stage)),
            _ => None,
        });
        held.collect()
    }

    /// What failed last at a stage or in a flow; where that only judged, the commands that failed last in its flow.
    fn failed_at(
        &self,
        run: &Run,
        events: &[Recorded],
        instance: &InstanceId,
        stage: Option<&StageId>,
    ) -> Option<api::LastLines> {
        let started: BTreeMap<AttemptId, &StageId> = events
            .iter()
            .filter_map(|recorded| match &recorded.event {
                Event::AttemptStarted(started) if started.instance == *instance => {
                    Some((started.attempt, &started.stage))
                }
                _ => None,
            })
            .collect();
        let ended = || {
            events.iter().rev().map(|recorded| &recorded.event).filter_map(|event| {
                let attempt = match event {
                    Event::AttemptReported(reported) => reported.attempt,
                    Event::AttemptUnready(unready) => unready.attempt,
                    Event::CommandsRan(ran) => ran.attempt,
                    _ => return None,
                };
                started.get(&attempt).map(|stage| (*stage, event))
            })
        };
        let here = ended().find(|(at, _)| stage.is_none_or(|stage| *at == stage));
        if matches!(here, Some((_, Event::AttemptReported(reported))) if reported.health == Health::NeedsInput) {
            return None;
        }
        let ran = || ended().find(|(_, event)| matches!(event, Event::CommandsRan(_)));
        let lines = |(_, event)| self.last_lines(run.id, event);
        here.and_then(lines).or_else(|| ran().and_then(lines))
    }

    /// What a worker printed last; of an agent, what it said last. A log of JSON lines is the stream of an agent behind a plain
    /// program. The end of a report that could be read is no cause: its reason is told.
    fn said(&self, run: RunId, reported: &AttemptReported) -> Vec<String> {
        let adapter = reported.told.as_ref().map(|told| &told.adapter);
        if let Some(said) = adapter.and_then(|adapter| self.agent_said(run, reported.attempt, reported.report, adapter))
        {
            return if reported.sections.is_empty() { said } else { Vec::new() };
        }
        let lines = last(&self.log(run, reported.attempt), LINES_MAX);
        let is_stream = lines.last().is_none_or(|line| line.starts_with('{') || line.starts_with('…'));
        let report = last(&self.object(reported.report), LINES_MAX);
        match is_stream || lines == report {
            true if !reported.sections.is_empty() => Vec::new(),
            true => report,
            false => lines,
        }
    }

    /// The last words of an agent, by what its program printed; none where its adapter is not known.
    fn agent_said(&self, run: RunId, attempt: AttemptId, output: Digest, adapter: &str) -> Option<Vec<String>> {
        let adapter = agent::adapter(adapter)?;
        let output = self.object(output);
        let output = String::from_utf8_lossy(&output);
        let speech = agent::speech(adapter, &output);
        let said = match speech.transcript {
            Transcript::Agent(..) => speech.last_words(),
            Transcript::Plain(text) => agent::prose(text),
        };
        let said = if said.is_empty() { beside_lines(&self.log(run, attempt)) } else { said };
        Some(last(said.as_bytes(), WORDS_LINES_MAX))
    }

    /// The end of the log of an attempt.
    fn log(&self, run: RunId, attempt: AttemptId) -> Vec<u8> {
        let log = run_folder(&self.state, run).join("logs").join(format!("{attempt}.log"));
        files::end(&log, END_BYTES_MAX).unwrap_or_default()
    }

    fn of_commands(&self, results: &[CommandResult]) -> Option<(String, Vec<String>)> {
        let failed = |wanted: Judgement| results.iter().find(move |result| result.result == wanted);
        let result = failed(Judgement::Fail).or_else(|| failed(Judgement::Unobservable))?;
        let mut lines = last(&result.output.map(|output| self.object(output)).unwrap_or_default(), LINES_MAX);
        if lines.is_empty() && !result.note.is_empty() {
            lines = last(result.note.as_bytes(), LINES_MAX);
        }
        Some((format!("the command of {}", result.command.name()), lines))
    }

    fn object(&self, digest: Digest) -> Vec<u8> {
        self.journal.object(digest).ok().flatten().map(|bytes| bytes.to_vec()).unwrap_or_default()
    }
}

/// What an agent's program printed beside its lines, by the end of the log.
fn beside_lines(log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log);
    // The first line of a part begins anywhere.
    let is_part = log.len() as u64 == END_BYTES_MAX;
    let whole = if is_part { text.split_once('\n').map_or("", |(_, rest)| rest) } else { &text };
    agent::prose(whole)
}

/// The last lines of an output, without what a terminal would obey.
fn last(bytes: &[u8], lines_max: usize) -> Vec<String> {
    let start = bytes.len().saturating_sub(usize::try_from(END_BYTES_MAX).unwrap_or(usize::MAX));
    let text = String::from_utf8_lossy(&bytes[start..]);
    let (mut lines, mut room) = (Vec::new(), CHARS_MAX);
    for line in text.lines().rev().map(on_screen).filter(|line| !line.trim().is_empty()) {
        if lines.len() == lines_max || room == 0 {
            break;
        }
        let length = line.chars().count();
        let cut = length.saturating_sub(room);
        room = room.saturating_sub(length);
        lines.push(match cut {
            0 => line,
            cut => std::iter::once('…').chain(line.chars().skip(cut + 1)).collect(),
        });
    }
    lines.reverse();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_within_bounds_and_nothing_of_it_is_obeyed() {
        let many: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let lines = last(many.as_bytes(), LINES_MAX);
        assert_eq!((lines.len(), lines[0].as_str(), lines[7].as_str()), (LINES_MAX, "line 13", "line 20"));
        let long = format!("first\n{}\nlast\n", "x".repeat(2000));
        let lines = last(long.as_bytes(), LINES_MAX);
        assert_eq!(lines.iter().map(|line| line.chars().count()).sum::<usize>(), CHARS_MAX);
        assert!(lines.len() == 2 && lines[0].starts_with("…x") && lines[1] == "last");
        assert_eq!(last(b"\x1b[31mred\x1b[0m\x07\n10%\r100%\n\n \n", LINES_MAX), ["red", "100%"]);
        assert_eq!(last(b"", LINES_MAX), Vec::<String>::new());
    }
}
