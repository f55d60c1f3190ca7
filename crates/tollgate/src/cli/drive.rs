//! Driving a run in the foreground: live progress, questions at the terminal, and the exit code at the end.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tollgate_core::id::DecisionId;
use tollgate_core::run::decide::Answer;
use tollgate_core::run::state::{Decision, Phase};
use tollgate_core::run::{Recorded, Run};
use tollgate_engine::driver::{Driver, Patience, Rest, Watch};
use tollgate_engine::hands::RealHands;
use tollgate_engine::holder;
use tollgate_engine::session::Session as RunSession;

use super::environment::Environment;
use super::failure::{Failure, Kind};
use super::output::Format;
use super::runs::{Runs, drive_failure, load_failure, rejected, service_failure};
use super::{Exit, Session};
use crate::view::picture::picture;
use crate::view::progress::{Place, Region};
use crate::view::story::Story;
use crate::view::text::{Line, Style};
use crate::view::words;

/// How long ended workers have to come down before the process leaves.
const QUIET: Duration = Duration::from_secs(5);

/// Whether the command stays while the run waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It asks at the terminal, if there is one.
    Attached,
    /// It exits with 4.
    No,
}

/// Shows a run while it works.
struct Screen<'a> {
    session: &'a Session,
    region: Option<Region<io::Stderr>>,
    story: Story,
    started_ms: u64,
    drawn_ms: u64,
}

/// How often the live region is drawn again when nothing happened.
const REDRAW_MS: u64 = 200;

impl<'a> Screen<'a> {
    fn new(session: &'a Session) -> Self {
        let live = session.output.format() == Format::Text && io::stderr().is_terminal();
        let place = Place::Terminal { width: session.output.width(), colour: session.output.colour_of_talk() };
        let started_ms = session.now_ms();
        Self {
            session,
            region: live.then(|| Region::new(io::stderr(), place)),
            story: Story::default(),
            started_ms,
            drawn_ms: 0,
        }
    }

    fn clear(&mut self) {
        if let Some(region) = &mut self.region {
            region.clear().ok();
        }
    }

    fn draw(&mut self, run: &Run) {
        let now_ms = self.session.now_ms();
        if let Some(region) = &mut self.region {
            region.show(&picture(run, self.started_ms, now_ms)).ok();
            self.drawn_ms = now_ms;
        }
    }
}

impl Watch for Screen<'_> {
    fn events(&mut self, run: &Run, events: &[Recorded]) {
        if events.is_empty() {
            return;
        }
        if self.session.json() {
            events.iter().for_each(|event| self.session.output.json(&crate::view::wire::event(event)));
            return;
        }
        self.clear();
        for event in events {
            if let Some((unit, sentence)) = self.story.tell(run, event) {
                let unit = unit.unwrap_or_else(|| "run".to_owned());
                self.session.output.talk(Line::new().add(Style::Faint, format!("{unit:>10}  ")).text(sentence));
            }
        }
        self.draw(run);
    }

    fn tick(&mut self, run: &Run) {
        if self.session.now_ms() >= self.drawn_ms + REDRAW_MS {
            self.draw(run);
        }
    }
}

/// Drives a run until it is over, waits for somebody who is not here, or is halted.
pub fn drive(
    runs: &Runs,
    mut run: RunSession,
    opened: &[Recorded],
    wait: Wait,
    session: &Session,
) -> Result<Exit, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without it, Ctrl-C ends the process at once: the journal does not mind.
        signal_hook::flag::register(signal, Arc::clone(&stop)).ok();
    }
    let mut screen = Screen::new(session);
    screen.events(run.run(), opened);
    let interactive =
        wait == Wait::Attached && io::stdin().is_terminal() && io::stderr().is_terminal() && !session.json();
    loop {
        let hands = Arc::new(RealHands::new(&runs.state, runs.service.journal.clone(), &Environment::program()?));
        let mut driver =
            Driver::take(run, Arc::new(Arc::clone(&hands)), &holder::this_process(), stop.clone(), &mut screen)
                .map_err(drive_failure)?;
        let rest = driver.drive(Patience::Leave, &mut screen);
        hands.wait_until_quiet(QUIET);
        run = driver.release();
        screen.clear();
        match rest.map_err(drive_failure)? {
            Rest::Closed | Rest::Halted => return Ok(end(run.run(), session)),
            Rest::Stopped => {
                session.output.talk("stopped; everything up to here is in the journal");
                next(session, &format!("tollgate resume {}", run.run().id));
                return Ok(Exit::With(Kind::Waiting));
            }
            Rest::Waiting if interactive => {
                if !ask(runs, &mut run, session, &mut screen)? {
                    return Ok(waiting(runs, run.run(), session));
                }
            }
            Rest::Waiting => return Ok(waiting(runs, run.run(), session)),
        }
    }
}

/// Says how a run ended or why it stands still, and what to type next.
fn end(run: &Run, session: &Session) -> Exit {
    let output = &session.output;
    match &run.phase {
        Phase::Closed { outcome: tollgate_core::run::event::RunOutcome::Succeeded, .. } => {
            if !session.json() {
                output.talk(Line::new().add(Style::Good, "✓ ").add(Style::Strong, format!("{} succeeded", run.id)));
                next(session, &format!("git log -p tollgate/{}", run.id));
                next(session, &format!("tollgate show {}", run.id));
            }
            Exit::Done
        }
        Phase::Closed { why, .. } => {
            output.talk(
                Line::new()
                    .add(Style::Bad, "✗ ")
                    .add(Style::Strong, format!("{} closed without success: {why}", run.id)),
            );
            next(session, &format!("tollgate show {}", run.id));
            Exit::With(Kind::Refused)
        }
        Phase::Halted { .. } | Phase::Open => {
            let reasons = match &run.phase {
                Phase::Halted { reasons } => reasons.clone(),
                Phase::Open | Phase::Closed { .. } => held(run),
            };
            output.talk(Line::new().add(Style::Bad, "■ ").add(Style::Strong, format!("{} is halted", run.id)));
            reasons.iter().for_each(|reason| output.talk(format!("  {reason}")));
            next(session, &format!("tollgate retry {}", run.id));
            next(session, &format!("tollgate cancel {}", run.id));
            Exit::With(Kind::Refused)
        }
    }
}

fn held(run: &Run) -> Vec<String> {
    let why = |instance: &Arc<tollgate_core::run::state::Instance>| match &instance.at {
        tollgate_core::run::state::At::Held { why, .. } => Some(why.clone()),
        _ => None,
    };
    run.instances.values().filter_map(why).collect()
}

fn next(session: &Session, command: &str) {
    session.output.talk(Line::from("  ").add(Style::Accent, command.to_owned()));
}

/// Shows what a run waits for, and how to answer.
fn waiting(runs: &Runs, run: &Run, session: &Session) -> Exit {
    if !session.json() {
        for (id, decision) in run.pending() {
            question(runs, run, id, decision, session);
            let options = &decision.asked.options;
            if options.is_empty() {
                next(session, &format!("tollgate decide {} {id} --text 'YOUR ANSWER'", run.id));
            }
            options.iter().for_each(|option| next(session, &format!("tollgate decide {} {id} {}", run.id, option.id)));
        }
    }
    Exit::With(Kind::Waiting)
}

/// Shows a question, word for word.
pub fn question(runs: &Runs, run: &Run, id: DecisionId, decision: &Decision, session: &Session) {
    let output = &session.output;
    let asked = &decision.asked;
    let subject = asked.unit.as_ref().map_or_else(|| run.id.to_string(), |unit| format!("{} ({unit})", run.id));
    output.talk(Line::new().add(Style::Warn, "? ").add(Style::Strong, format!("{id} of {subject}")));
    asked.question.lines().for_each(|line| output.talk(format!("    {line}")));
    if !asked.why.is_empty() {
        output.talk(Line::from("  ").add(Style::Faint, asked.why.clone()));
    }
    for option in &asked.options {
        let mut line =
            Line::from("    ").add(Style::Accent, option.id.to_string()).text(format!(": {}", option.consequence));
        if !option.waives.is_empty() {
            line = line.text(format!(" (waives {})", words::list(&option.waives)));
        }
        output.talk(line);
    }
    if let Some(tree) = runs.service.tree_of(run, decision) {
        output.talk(format!("  the work tree is {}", tree.display()));
    }
}

/// Asks the person at the terminal; false when they leave.
fn ask(runs: &Runs, run: &mut RunSession, session: &Session, screen: &mut Screen<'_>) -> Result<bool, Failure> {
    let Some((id, decision)) = run.run().pending().next().map(|(id, decision)| (id, decision.clone())) else {
        return Ok(false);
    };
    question(runs, run.run(), id, &decision, session);
    loop {
        let prompt = if decision.asked.options.is_empty() { "answer" } else { "option" };
        write!(io::stderr(), "{prompt}> ").ok();
        io::stderr().flush().ok();
        let mut typed = String::new();
        let read = io::stdin().lock().read_line(&mut typed).unwrap_or(0);
        let typed = typed.trim();
        if read == 0 || typed.is_empty() {
            return Ok(false);
        }
        let answer = if decision.asked.options.is_empty() {
            Answer { text: typed.to_owned(), ..Answer::default() }
        } else {
            let (option, text) = typed.split_once(' ').unwrap_or((typed, ""));
            Answer { option: Some(option.into()), text: text.trim().to_owned(), ..Answer::default() }
        };
        let seen = run.refresh().map_err(load_failure)?;
        screen.events(run.run(), &seen);
        match runs.service.decide(run, id, answer) {
            Ok(outcome) => {
                screen.events(run.run(), &outcome.events);
                if let Some(refusal) = &outcome.refusal {
                    session.output.failure(&rejected(refusal));
                }
                return Ok(true);
            }
            Err(error) => session.output.failure(&service_failure(error)),
        }
    }
}
