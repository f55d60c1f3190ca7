//! Questions: shown word for word with what they are about, and asked at the terminal.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tollgate_api::LastLines;
use tollgate_app::decision::{BESIDE, Beside, decision as wire, rests_on, waived};
use tollgate_app::failure::Failure;
use tollgate_app::format;
use tollgate_app::runs::Runs;
use tollgate_app::tail::Subscription;
use tollgate_core::id::DecisionId;
use tollgate_core::run::decide::Answer;
use tollgate_core::run::event::Offered;
use tollgate_core::run::state::Decision;
use tollgate_core::run::{Recorded, Run, next_wake};
use tollgate_engine::session::{Session as RunSession, events};

use super::Invocation;
use crate::view;
use crate::view::text::{Line, Style, width, wrap};

/// With fewer columns than these beside what is typed, what an option means stands below it.
const MEANING_MIN: usize = 30;

/// Shows the options, each as what is typed and what it stands for.
pub fn options(decision: &Decision, prefix: &str, free: &str, call: &Invocation) {
    let options = &decision.asked.options;
    if options.is_empty() {
        call.output.talk(Line::from("  ").add(Style::Accent, format!("{prefix}{free}")));
    }
    let wide = options.iter().map(|option| option.id.chars().count()).max().unwrap_or(0);
    let typed =
        |option: &Offered, wide: usize| Line::from("  ").add(Style::Accent, format!("{prefix}{:wide$}", option.id));
    let means = |option: &Offered| {
        let mut means = option.consequence.clone();
        if !option.waives.is_empty() {
            means.push_str(&format!(" (waives {})", format::list(&option.waives)));
        }
        if decision.asked.recommend.as_ref() == Some(&option.id) {
            means.push_str(" (recommended)");
        }
        means
    };
    let room = call.output.room_of_talk();
    let fits = |option| typed(option, wide).width() + 2 + MEANING_MIN.min(width(&means(option))) <= room;
    let beside = options.iter().all(fits);
    for option in options {
        if beside {
            call.output.say(typed(option, wide).text("  "), Style::Plain, &means(option));
        } else {
            call.output.talk(typed(option, 0));
            call.output.say("      ", Style::Plain, &means(option));
        }
    }
}

/// How many lines of a document are shown with a question.
const SHOWN_LINES_MAX: usize = 40;

/// Shows a question, word for word, with what it is about.
pub fn question(runs: &Runs, run: &Run, id: DecisionId, decision: &Decision, call: &Invocation) {
    let output = &call.output;
    let asked = &decision.asked;
    let subject = asked.unit.as_ref().map_or_else(|| run.id.to_string(), |unit| format!("{} ({unit})", run.id));
    for digest in &asked.shows {
        let bytes = runs.service.journal.object(*digest).ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let room = output.room_of_talk().saturating_sub(4);
        let faint = |line: &str| output.talk(Line::new().add(Style::Faint, format!("  │ {line}")));
        text.lines().take(SHOWN_LINES_MAX).flat_map(|line| fitted(line, room)).for_each(|line| faint(&line));
        if let Some(more) = text.lines().count().checked_sub(SHOWN_LINES_MAX).filter(|more| *more > 0) {
            faint(&format!("… and {}", format::count(more, "more line")));
        }
    }
    output.talk(Line::new().add(Style::Warn, "? ").add(Style::Strong, format!("{id} of {subject}")));
    let wire = wire(run, id, decision, Beside::default());
    let heading = view::question::heading(&wire);
    if !heading.is_empty() {
        output.say("  ", Style::Strong, heading);
    }
    for one in &wire.questions {
        output.say(format!("  {}. ", one.number), Style::Strong, &one.text);
        view::question::proposed(one).iter().for_each(|text| output.say("     ", Style::Plain, text));
    }
    if !asked.why.is_empty() {
        output.say("  ", Style::Faint, &asked.why);
    }
    if !asked.blocking {
        output.say("  ", Style::Faint, BESIDE);
    }
    for (name, text) in waived(run, decision) {
        output.say(format!("    {name}: "), Style::Plain, &text);
    }
    rests_on(run, decision).iter().for_each(|line| output.say("  ", Style::Plain, line));
    let events = events(&*runs.journal, run.id, 0, run.seq).unwrap_or_default();
    runs.last_lines_of(run, &events, decision).iter().for_each(|last| last_lines(last, call));
    if let Some(default) = decision.default() {
        let when = format::then(call.now_ms(), default.at_ms);
        output.say("  ", Style::Plain, &format!("without an answer, {} is taken {when}", default.option));
    }
    let mut notices = Vec::new();
    let trees = runs.trees_of(run, &mut notices);
    notices.iter().for_each(|notice| output.notice(notice));
    if let Some(tree) = trees.get(&id) {
        output.talk(format!("  the work tree is {}", tree.display()));
    }
}

/// Shows the end of the output of what failed.
pub fn last_lines(last: &LastLines, call: &Invocation) {
    let lines = view::question::last_lines(last, call.output.room_of_talk().saturating_sub(2));
    lines.into_iter().for_each(|line| call.output.talk(Line::from("  ").join(line)));
}

/// A line of a document in so many columns, what is broken off below its beginning.
fn fitted(line: &str, room: usize) -> Vec<String> {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let broken = wrap(text, room.saturating_sub(indent + 2).max(20));
    let begins = std::iter::once(indent).chain(std::iter::repeat(indent + 2));
    broken.into_iter().zip(begins).map(|(part, begin)| format!("{:begin$}{part}", "")).collect()
}

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// There is something to do again: an answer, given here or elsewhere, or a time that came.
    GoOn,
    /// The person left.
    Left,
}

/// Asks the person at the terminal, until they answer, somebody else does, or they leave.
pub fn ask(
    runs: &Runs,
    run: &mut RunSession,
    call: &Invocation,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(&Run, &[Recorded]),
) -> Result<Asked, Failure> {
    let news = runs.watch(run.run().id)?;
    let seen = run.refresh()?;
    if !seen.is_empty() {
        watch(run.run(), &seen);
        return Ok(Asked::GoOn);
    }
    // What was put off is not asked for.
    let now_ms = call.now_ms();
    let mut open = run.run().pending().filter(|(_, decision)| !decision.is_deferred(now_ms));
    let Some((id, decision)) = open.next().map(|(id, decision)| (id, decision.clone())) else {
        return Ok(Asked::Left);
    };
    drop(open);
    let is_first = decision.answers.is_empty();
    let one = decision.open_questions().next().map(|(number, one)| (number, one.text.clone()));
    match one.as_ref().filter(|_| !is_first) {
        // The card was shown with its first question.
        Some((number, text)) => call.output.say(format!("  {number}. "), Style::Strong, text),
        None => {
            question(runs, run.run(), id, &decision, call);
            options(&decision, "", "type your answer; an empty line leaves the run waiting", call);
        }
    }
    let free = decision.asked.options.is_empty();
    loop {
        match &one {
            Some((number, _)) => write!(io::stderr(), "answer {number}> ").ok(),
            None => write!(io::stderr(), "{}> ", if free { "answer" } else { "option" }).ok(),
        };
        io::stderr().flush().ok();
        let typed = match typed(run, id, &news, stop, watch)? {
            Typed::Line(typed) => typed,
            Typed::Nothing => return Ok(Asked::Left),
            Typed::Overtaken => return Ok(Asked::GoOn),
        };
        let answer = if let Some((number, _)) = &one {
            Answer { answers: [(*number, typed)].into(), ..Answer::default() }
        } else if free {
            Answer { text: typed, ..Answer::default() }
        } else {
            // Words behind an option may take it back: they are given as on the command line, or the line is no option.
            let (option, text) = typed.split_once(" --text ").unwrap_or((&typed, ""));
            Answer { option: Some(option.trim().into()), text: text.trim().to_owned(), ..Answer::default() }
        };
        match runs.service.decide(&call.person(), run, id, answer) {
            Ok(outcome) => {
                watch(run.run(), &outcome.events);
                if let Some(refusal) = &outcome.refusal {
                    call.output.failure(&Failure::from(refusal).about(run.run().id));
                }
                return Ok(Asked::GoOn);
            }
            Err(error) => call.output.failure(&Failure::from(error).about(run.run().id)),
        }
    }
}

enum Typed {
    Line(String),
    /// An empty line, the end of the input, or an interrupt.
    Nothing,
    /// The question is not asked any more, or a time came.
    Overtaken,
}

/// Waits for a line, and meanwhile for what others append.
fn typed(
    run: &mut RunSession,
    id: DecisionId,
    news: &Subscription,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(&Run, &[Recorded]),
) -> Result<Typed, Failure> {
    let moment = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
    loop {
        if stop.load(Ordering::Relaxed) {
            writeln!(io::stderr()).ok();
            return Ok(Typed::Nothing);
        }
        let stdin = io::stdin();
        // An interrupt ends the wait early; the loop looks at the flag it set.
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&moment)).unwrap_or(0);
        if ready > 0 {
            let mut typed = String::new();
            let read = stdin.lock().read_line(&mut typed).unwrap_or(0);
            let typed = typed.trim().to_owned();
            return Ok(if read == 0 || typed.is_empty() { Typed::Nothing } else { Typed::Line(typed) });
        }
        let seen = if news.wait(Duration::ZERO)? { run.refresh()? } else { Vec::new() };
        let due = next_wake(run.run()).is_some_and(|at| at <= run.now_ms());
        if due || run.run().pending().all(|(open, _)| open != id) {
            writeln!(io::stderr()).ok();
            watch(run.run(), &seen);
            return Ok(Typed::Overtaken);
        }
        if !seen.is_empty() {
            writeln!(io::stderr()).ok();
            watch(run.run(), &seen);
        }
    }
}
