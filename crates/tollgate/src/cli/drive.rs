//! Driving a run in the foreground: live progress, questions at the terminal, and the exit code at the end.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tollgate_api::LastLines;
use tollgate_app::decision::{answer_each, open};
use tollgate_app::engine_errors::about;
use tollgate_app::event_text::Narrator;
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::format;
use tollgate_app::runs::Runs;
use tollgate_app::sandbox_summary;
use tollgate_core::code::Code;
use tollgate_core::id::DecisionId;
use tollgate_core::protocol::Outcome;
use tollgate_core::run::event::RunOutcome;
use tollgate_core::run::state::{At, Decision, Phase};
use tollgate_core::run::{Event, Recorded, Run, basis};
use tollgate_engine::driver::{DriveOutcome, Watch, WhenIdle};
use tollgate_engine::session::Session as RunSession;
use tollgate_engine::session::events;

use super::ask::{self, Asked, ask, options, question};
use super::output::Format;
use super::{Exit, Invocation, signals};
use crate::view;
use crate::view::progress::Region;
use crate::view::progress_model::picture;
use crate::view::text::{Line, Style, wrap};

/// The outcome of a worker that wrote what its role may not.
const OUTSIDE: &str = "failed.scope";

/// Whether the command stays while the run waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It asks at the terminal, if there is one.
    Attached,
    /// It exits with 4, and with 5 when only a time is waited for.
    No,
}

/// Shows a run while it works.
struct Screen<'a> {
    call: &'a Invocation,
    runs: &'a Runs,
    region: Option<Region<io::Stderr>>,
    narrator: Narrator,
    started_ms: u64,
    drawn_ms: u64,
    /// That something is asked: told when more happens, and not when the question itself is shown next.
    kept: Option<Vec<Line>>,
    quiet: bool,
}

/// How wide the column of units is.
const UNIT_WIDTH: usize = 10;
/// How often the live region is drawn again when nothing happened.
const REDRAW_MS: u64 = 200;

impl<'a> Screen<'a> {
    fn new(call: &'a Invocation, runs: &'a Runs, run: &Run) -> Self {
        let live = call.output.format() == Format::Text && io::stderr().is_terminal();
        let started_ms = call.now_ms();
        Self {
            call,
            runs,
            region: live.then(|| Region::new(io::stderr(), call.output.width(), call.output.colour_of_talk())),
            narrator: Narrator::of(run),
            started_ms,
            drawn_ms: 0,
            kept: None,
            quiet: false,
        }
    }

    fn clear(&mut self) {
        if let Some(region) = &mut self.region {
            region.clear().ok();
        }
    }

    /// A sentence beside its unit; broken to the width of a terminal, and one line elsewhere.
    fn lines(&self, unit: &str, sentence: &str) -> Vec<Line> {
        let room = match &self.region {
            Some(_) => self.call.output.width().saturating_sub(UNIT_WIDTH + 2).max(20),
            None => usize::MAX,
        };
        let beside = std::iter::once(unit).chain(std::iter::repeat(""));
        let broken = beside.zip(wrap(sentence, room));
        broken.map(|(unit, text)| Line::new().add(Style::Faint, format!("{unit:>UNIT_WIDTH$}  ")).text(text)).collect()
    }

    /// Tells what was kept.
    fn let_go(&mut self) {
        self.kept.take().into_iter().flatten().for_each(|line| self.call.output.talk(line));
    }

    /// Tells the end of the output of what failed, below its sentence.
    fn tell_last_lines(&self, run: &Run, event: &Recorded) {
        let Some(last) = self.runs.last_lines(run.id, &event.event) else { return };
        let indent = " ".repeat(UNIT_WIDTH + 2);
        let room = self.call.output.room_of_talk().saturating_sub(UNIT_WIDTH + 2);
        let lines = view::question::last_lines(&last, room).into_iter().skip(1);
        lines.for_each(|line| self.call.output.talk(Line::from(indent.as_str()).join(line)));
    }

    fn draw(&mut self, run: &Run) {
        let now_ms = self.call.now_ms();
        if let Some(region) = &mut self.region {
            region.show(&picture(run, self.started_ms, now_ms)).ok();
            self.drawn_ms = now_ms;
        }
    }
}

impl Watch for Screen<'_> {
    fn events(&mut self, run: &Run, events: &[Recorded]) {
        if events.is_empty() || self.quiet {
            return;
        }
        if self.call.json() {
            self.call.events(events);
            return;
        }
        self.clear();
        for event in events {
            // How it ended is said once it has.
            if matches!(event.event, Event::RunClosed(_) | Event::RunHalted(_)) {
                continue;
            }
            if let Some((unit, sentence)) = self.narrator.narrate(run, event) {
                let unit = unit.unwrap_or_else(|| "run".to_owned());
                self.let_go();
                let lines = self.lines(&unit, &sentence);
                if matches!(event.event, Event::DecisionAsked(_)) {
                    self.kept = Some(lines);
                } else {
                    lines.into_iter().for_each(|line| self.call.output.talk(line));
                    self.tell_last_lines(run, event);
                }
            }
        }
        // Others are at work: it may be long before the question is shown.
        if !run.attempts.is_empty() {
            self.let_go();
        }
        self.draw(run);
    }

    fn tick(&mut self, run: &Run) {
        if self.call.now_ms() >= self.drawn_ms + REDRAW_MS {
            self.draw(run);
        }
    }
}

/// Does what is left to be done of a run that is over: its branch, and where it lands.
pub fn finish(runs: &Runs, run: RunSession, call: &Invocation) -> Result<RunSession, Failure> {
    let mut screen = Screen::new(call, runs, run.run());
    // What it comes to is printed as one document.
    screen.quiet = call.json();
    let stop = Arc::new(AtomicBool::new(false));
    let ended = runs.drive(call.environment.program()?).until_rest(run, WhenIdle::WaitForTimer, stop, &mut screen);
    screen.clear();
    ended.map(|(run, _)| run)
}

/// Drives a run until it is over, waits for somebody who is not here, or is halted.
pub fn drive(
    runs: &Runs,
    mut run: RunSession,
    opened: &[Recorded],
    wait: Wait,
    call: &Invocation,
) -> Result<Exit, Failure> {
    let stop = signals::stop();
    runs.service.sweep();
    let (id, after) = (run.run().id, run.run().seq);
    let program = call.environment.program()?;
    let mut driving = runs.drive(program);
    driving.notices(run.run()).filter(|_| !call.json()).for_each(|notice| call.output.notice(&notice));
    let mut screen = Screen::new(call, runs, run.run());
    screen.events(run.run(), opened);
    let interactive = wait == Wait::Attached && io::stdin().is_terminal() && io::stderr().is_terminal() && !call.json();
    let patience = if wait == Wait::No { WhenIdle::Return } else { WhenIdle::WaitForTimer };
    loop {
        let rested = driving.until_rest(run, patience, stop.clone(), &mut screen);
        screen.clear();
        let rest;
        (run, rest) = rested?;
        match rest {
            DriveOutcome::Closed | DriveOutcome::Halted => {
                let all = events(&*runs.journal, id, 0, u64::MAX)?;
                let last_lines = runs.last_lines_held(run.run(), &all);
                let exit = end(run.run(), sandbox_summary::recorded(&all), &last_lines, call);
                let mut commands = Vec::new();
                let delivered = runs.complete_deliveries(run.run(), after, &mut commands);
                commands.iter().for_each(|command| next(call, command));
                delivered.map_err(about(id))?;
                return Ok(exit);
            }
            DriveOutcome::Stopped => {
                call.output.talk("stopped: the workers are ended, and everything up to here is in the journal");
                next(call, &format!("tollgate resume {}", run.run().id));
                // Nothing failed, and unless something is asked nobody is waited for: what is outside of the run ended it.
                let asked = run.run().pending().next().is_some();
                return Ok(Exit::With(if asked { Kind::Waiting } else { Kind::Environment }));
            }
            DriveOutcome::Waiting if interactive => {
                screen.kept = None;
                let mut watch = |run: &Run, events: &[Recorded]| screen.events(run, events);
                if ask(runs, &mut run, call, &stop, &mut watch)? == Asked::Left {
                    return Ok(left(run.run(), call));
                }
                screen.clear();
                driving = runs.drive(program);
            }
            DriveOutcome::Waiting => return Ok(waiting(runs, run.run(), call)),
            DriveOutcome::Sleeping => return Ok(sleeping(run.run(), call)),
        }
    }
}

/// Says how a run ended or why it stands still, without which parts of the sandbox, and what to type next.
fn end(run: &Run, sandbox: Option<String>, last_lines: &[LastLines], call: &Invocation) -> Exit {
    let output = &call.output;
    let sandbox = sandbox.map(|said| format!("; {said}")).unwrap_or_default();
    match &run.phase {
        Phase::Closed { outcome: RunOutcome::Succeeded, why, .. } => {
            if !call.json() {
                let head = Line::new().add(Style::Good, "✓ ").add(Style::Strong, format!("{} succeeded", run.id));
                output.talk(head.text(format!(": {why}{sandbox}")));
                basis::basis(run).into_iter().for_each(|basis| output.talk(format!("  what shows it: {basis}")));
                if run.has_changed() {
                    next(call, &format!("git log -p tollgate/{}", run.id));
                }
                if run.has_changed() && run.landed.is_empty() {
                    next(call, &format!("tollgate land {} --as merge", run.id));
                }
                next(call, &format!("tollgate show {}", run.id));
            }
            Exit::Done
        }
        Phase::Closed { outcome: RunOutcome::Reported, why } => {
            if !call.json() {
                let head = Line::new().add(Style::Good, "✓ ").add(Style::Strong, format!("{} reported", run.id));
                output.talk(head.text(format!(": {why}{sandbox}")));
                next(call, &format!("tollgate show {}", run.id));
            }
            Exit::Done
        }
        Phase::Closed { why, .. } => {
            let head = format!("{} closed without success: {why}", run.id);
            output.talk(Line::new().add(Style::Bad, "✗ ").add(Style::Strong, head).text(sandbox));
            next(call, &format!("tollgate show {}", run.id));
            Exit::With(Kind::Refused)
        }
        Phase::Halted { .. } | Phase::Open => {
            let head = format!("{} is halted", run.id);
            output.talk(Line::new().add(Style::Bad, "■ ").add(Style::Strong, head).text(sandbox));
            // Broken for people; one line each where a program reads on.
            let room = if io::stderr().is_terminal() { output.width().saturating_sub(8).max(20) } else { usize::MAX };
            for line in held(run) {
                let text = line.trim_start();
                let indent = " ".repeat(2 + line.len() - text.len());
                let begins = std::iter::once("").chain(std::iter::repeat("  "));
                begins.zip(wrap(text, room)).for_each(|(more, line)| output.talk(format!("{indent}{more}{line}")));
            }
            last_lines.iter().for_each(|last| ask::last_lines(last, call));
            next(call, &format!("tollgate retry {}", run.id));
            next(call, &format!("tollgate cancel {}", run.id));
            if is_held_by(run, &OUTSIDE.into()) {
                let name = &run.protocol.name;
                output.talk(format!(
                    "  a run keeps the areas it started with; [areas.{name}] in .tollgate/config.toml says for the next one where files lie:"
                ));
                next(call, &format!("tollgate doctor {name}"));
            }
            if !is_held_by(run, &Outcome::Unready) {
                return Exit::With(Kind::Refused);
            }
            next(call, &format!("tollgate explain {}", Code::NOT_READY));
            Exit::With(Kind::Environment)
        }
    }
}

/// Whether a run stands still because of such an outcome.
fn is_held_by(run: &Run, wanted: &Outcome) -> bool {
    run.instances
        .values()
        .any(|instance| matches!(&instance.at, At::Held { outcome, .. } if outcome.as_ref() == Some(wanted)))
}

/// Why a run stands still: what is held, with everything that was wrong with it, a line each.
fn held(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, instance) in &run.instances {
        let At::Held { stage, why, .. } = &instance.at else { continue };
        let below = run
            .children(name)
            .any(|(_, child)| child.each.as_ref() == Some(stage) && matches!(child.at, At::Held { .. }));
        // What is held below says it.
        if below {
            continue;
        }
        // What the remarks say in full is not said before them.
        let said = |remark: &String| why.match_indices(": ").find(|(at, _)| remark.contains(&why[at + 2..]));
        let said = instance.remarks.first().and_then(said);
        let unit = instance.unit.as_ref().map(|unit| format!("{unit}: ")).unwrap_or_default();
        lines.push(format!("{unit}{}", said.map_or(&**why, |(at, _)| &why[..at])));
        if said.is_some() {
            lines.extend(instance.remarks.iter().map(|remark| format!("  {remark}")));
        }
    }
    match &run.phase {
        Phase::Halted { reasons } if lines.is_empty() => reasons.clone(),
        Phase::Halted { .. } | Phase::Open | Phase::Closed { .. } => lines,
    }
}

fn next(call: &Invocation, command: &str) {
    call.output.talk(Line::from("  ").add(Style::Accent, command.to_owned()));
}

/// Shows what a run waits for, and how to answer.
pub fn waiting(runs: &Runs, run: &Run, call: &Invocation) -> Exit {
    if !call.json() {
        for (id, decision) in run.pending() {
            if let Some(deferred) = decision.deferred.as_ref().filter(|_| decision.is_deferred(call.now_ms())) {
                let when = format::then(call.now_ms(), deferred.until_ms);
                call.output.talk(format!("{id} of {} is put off, asked again {when}", run.id));
                continue;
            }
            question(runs, run, id, decision, call);
            how_to_answer(run, id, decision, call);
        }
    }
    Exit::With(kind(run))
}

/// What a run waits for: a person's word on the work, or on nothing but its budget.
fn kind(run: &Run) -> Kind {
    if run.pending().all(|(_, decision)| decision.is_of_budget()) { Kind::Budget } else { Kind::Waiting }
}

/// Says until when a run sleeps that nobody wakes.
fn sleeping(run: &Run, call: &Invocation) -> Exit {
    let when = run.sleeps_until().map_or_else(String::new, |at| format::then(call.now_ms(), at));
    call.output.talk(format!("{} sleeps: a quota is used up, and it can go on {when}", run.id));
    next(call, &format!("tollgate resume {}", run.id));
    Exit::With(Kind::Budget)
}

/// The person left the question open.
fn left(run: &Run, call: &Invocation) -> Exit {
    call.output.talk(format!("{} waits for an answer; nothing is lost", run.id));
    run.pending().for_each(|(id, decision)| how_to_answer(run, id, decision, call));
    Exit::With(kind(run))
}

fn how_to_answer(run: &Run, id: DecisionId, decision: &Decision, call: &Invocation) {
    let in_words = decision.asked.options.is_empty();
    if let Some(command) = answer_each(&run.id.to_string(), &id.to_string(), open(decision), in_words) {
        next(call, &command);
        if !in_words {
            options(decision, "    ", "", call);
        }
        return;
    }
    options(decision, &format!("tollgate decide {} {id} ", run.id), "--text 'YOUR ANSWER'", call);
}
