//! `tollgate logs`.

use std::time::Duration;

use tollgate_api::{LogLine, Stream};
use tollgate_app::event_text::Narrator;
use tollgate_app::failure::Failure;
use tollgate_app::files::{self, Growing};
use tollgate_app::format::duration;
use tollgate_app::runs::Runs;
use tollgate_app::wire;
use tollgate_core::code::Code;
use tollgate_core::id::{AttemptId, RunId};
use tollgate_core::run::event::{Event, Work};
use tollgate_core::run::{Recorded, Run};
use tollgate_engine::session::Session as Loaded;
use tollgate_engine::workers::LOG_BYTES_MAX;
use tollgate_engine::workspace::run_folder;

use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style};

/// How often it is checked that somebody still reads.
const WAIT: Duration = Duration::from_millis(500);
/// How often a growing log is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Tell what happened in a run, or print what a worker wrote
///
/// Without an attempt: the run's events, one sentence each. With one (`att_3` or `3`): the output of its worker.
#[derive(Debug, clap::Args)]
pub struct LogsArgs {
    /// The run; any unique beginning of its id will do
    run: String,
    /// The attempt whose worker's output is printed
    attempt: Option<String>,
    /// Go on until the run is closed, or the attempt has ended
    #[arg(short, long)]
    follow: bool,
}

pub fn run(args: &LogsArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = Runs::open_to_read(&call.environment)?;
    let loaded = runs.load(&args.run)?;
    match &args.attempt {
        Some(typed) => worker(&runs, loaded, typed, args.follow, call),
        None => story(&runs, loaded, args.follow, call),
    }
}

fn story(runs: &Runs, mut loaded: Loaded, follow: bool, call: &Invocation) -> Result<Exit, Failure> {
    let id = loaded.run().id;
    let news = follow.then(|| runs.watch(id)).transpose()?;
    let after = |seq: u64| tollgate_engine::session::events(&*runs.journal, id, seq, u64::MAX);
    let mut teller = Teller { narrator: Narrator::default(), call, last: 0 };
    loop {
        let events = after(teller.last)?;
        loaded.refresh()?;
        teller.tell(loaded.run(), &events);
        let Some(news) = &news else { return Ok(Exit::Done) };
        if loaded.run().is_closed() && loaded.run().seq == teller.last {
            return Ok(Exit::Done);
        }
        loop {
            if !call.output.is_wanted() {
                return Ok(Exit::Done);
            }
            if news.wait(WAIT)? {
                break;
            }
        }
    }
}

/// Tells events one after the other.
struct Teller<'a> {
    narrator: Narrator,
    call: &'a Invocation,
    last: u64,
}

impl Teller<'_> {
    fn tell(&mut self, run: &Run, events: &[Recorded]) {
        for recorded in events {
            self.last = recorded.seq;
            if self.call.json() {
                self.call.output.json(&wire::event(recorded));
            } else if let Some((unit, text)) = self.narrator.narrate(run, recorded) {
                let when = duration(recorded.at_ms.saturating_sub(run.opened_ms));
                let line = Line::new().add(Style::Faint, format!("+{when:<12} "));
                let unit = unit.unwrap_or_else(|| "run".to_owned());
                self.call.output.paragraph(line.add(Style::Strong, format!("{unit:<10} ")), &text);
            }
        }
    }
}

/// Whose log it is.
struct Writer {
    run: RunId,
    attempt: AttemptId,
    unit: Option<String>,
    role: Option<String>,
}

fn worker(runs: &Runs, mut loaded: Loaded, typed: &str, follow: bool, call: &Invocation) -> Result<Exit, Failure> {
    let news = follow.then(|| runs.watch(loaded.run().id)).transpose()?;
    loaded.refresh()?;
    let writer = find(runs, &loaded, typed)?;
    let path = run_folder(&runs.state, writer.run).join("logs").join(format!("{}.log", writer.attempt));
    let is_live = |loaded: &Loaded| loaded.run().attempts.contains_key(&writer.attempt);
    if writer.role.is_none() {
        call.output.talk(format!(
            "{} ran commands, not an agent; their output is in the evidence: `tollgate show`",
            writer.attempt
        ));
        return Ok(Exit::Done);
    }
    let mut log = Log { growing: Growing::new(path.clone()), line: 0, rest: Vec::new(), at: 0 };
    loop {
        // Looked at before the log is read: what is written before the end is read after it.
        let live = is_live(&loaded);
        log.read_on(&writer, call)?;
        let Some(news) = news.as_ref().filter(|_| live && call.output.is_wanted()) else { break };
        if news.wait(LOOK)? {
            loaded.refresh()?;
        }
    }
    log.last(&writer, call);
    if log.at == 0 {
        call.output.talk(no_log(&path, is_live(&loaded)));
    }
    Ok(Exit::Done)
}

fn no_log(path: &std::path::Path, live: bool) -> String {
    match (files::exists(path), live) {
        (Ok(true), true) => "it has written nothing yet; `-f` waits for more".to_owned(),
        (Ok(true), false) => "it wrote nothing".to_owned(),
        _ => format!("there is no log at {}", path.display()),
    }
}

/// The attempt that was typed: `att_3` or `3`.
fn find(runs: &Runs, loaded: &Loaded, typed: &str) -> Result<Writer, Failure> {
    let run = loaded.run();
    let absent = || {
        Failure::refused(Code::NO_ATTEMPT, format!("{} has no attempt `{typed}`", run.id))
            .hint(format!("`tollgate show {}` lists them", run.id))
    };
    let id: AttemptId = typed.parse().or_else(|_| format!("att_{typed}").parse()).map_err(|_| absent())?;
    let events = tollgate_engine::session::events(&*runs.journal, run.id, 0, run.seq)?;
    let started = events.iter().find_map(|recorded| match &recorded.event {
        Event::AttemptStarted(started) if started.attempt == id => Some(started),
        _ => None,
    });
    let started = started.ok_or_else(absent)?;
    let role = match &started.work {
        Work::Dispatch { role, .. } => Some(role.to_string()),
        Work::Commands { .. } | Work::Land { .. } => None,
    };
    let unit = run.instances.get(&started.instance).and_then(|instance| instance.unit.as_ref());
    Ok(Writer { run: run.id, attempt: id, unit: unit.map(ToString::to_string), role })
}

/// A log that is read line by line while it grows.
struct Log {
    growing: Growing,
    line: u64,
    rest: Vec<u8>,
    at: u64,
}

impl Log {
    fn read_on(&mut self, writer: &Writer, call: &Invocation) -> Result<(), Failure> {
        while let Some(bytes) = self.growing.read_more()? {
            for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                self.rest.extend_from_slice(piece);
                // A line without an end is printed in pieces: a worker that writes none must not fill the memory.
                if piece.ends_with(b"\n") || self.rest.len() > LINE_BYTES_MAX {
                    self.print(writer, call);
                }
            }
        }
        Ok(())
    }

    fn last(&mut self, writer: &Writer, call: &Invocation) {
        if !self.rest.is_empty() {
            self.print(writer, call);
        }
    }

    fn print(&mut self, writer: &Writer, call: &Invocation) {
        let bytes = std::mem::take(&mut self.rest);
        // What stands behind the bound is Tollgate's own word; a worker cannot write there.
        let stream = if self.at >= LOG_BYTES_MAX { Stream::Tollgate } else { Stream::Output };
        self.at += bytes.len() as u64;
        self.line += 1;
        let text = String::from_utf8_lossy(bytes.strip_suffix(b"\n").unwrap_or(&bytes)).into_owned();
        if call.json() {
            call.output.json(&LogLine {
                run: writer.run.to_string(),
                attempt: writer.attempt.to_string(),
                unit: writer.unit.clone(),
                role: writer.role.clone(),
                stream,
                line: self.line,
                text,
            });
        } else {
            call.output.text(if text.is_empty() { "\n" } else { &text });
        }
    }
}

/// The longest line that is kept whole.
const LINE_BYTES_MAX: usize = 64 * 1024;
