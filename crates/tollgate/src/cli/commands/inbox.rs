//! `tollgate inbox`.

use std::path::PathBuf;

use tollgate_api::InboxItem;
use tollgate_app::decision::{self, Beside};
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::format::{ago, count};
use tollgate_app::runs::Runs;
use tollgate_engine::session;
use tollgate_engine::session::summary::{SummaryBody, SummaryStatus, halted};
use tollgate_store::{Filter, Journal, Summary};

use crate::cli::{Exit, Invocation};
use crate::view;
use crate::view::question;
use crate::view::text::{Line, Style};

/// Everything that waits for you, in all runs, with the command for every answer
///
/// Open questions, the last changed run first, and runs that are halted and wait for `retry` or `cancel`.
#[derive(Debug, clap::Args)]
pub struct InboxArgs {}

pub fn run(_args: &InboxArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = Runs::open_to_read(&call.environment)?;
    let listed = runs.journal.list(&Filter::default())?;
    call.unlisted(&listed.damaged);
    let mut unreadable = listed.damaged.len();
    let mut items = Vec::new();
    for summary in listed.runs.iter().filter(|summary| waits(summary)) {
        match of_run(&runs, summary, call) {
            Ok(more) => items.extend(more),
            // One run that cannot be read hides no other.
            Err(failure) => {
                unreadable += 1;
                call.output.talk(format!("{} cannot be read; `tollgate verify {}` says why", summary.run, summary.run));
                if !call.json() {
                    view::failure::lines(&failure, call.output.width(), call.output.room_of_talk())
                        .into_iter()
                        .for_each(|line| call.output.talk(line));
                }
            }
        }
    }
    if call.json() {
        items.iter().for_each(|item| call.output.json(item));
    } else {
        items.iter().for_each(|item| print(item, call));
    }
    if items.is_empty() && unreadable == 0 {
        call.output.talk("nothing waits for you");
    } else if !call.json() {
        call.output.talk(format!("{} waiting for you", count(items.len(), "thing")));
    }
    Ok(if unreadable > 0 { Exit::With(Kind::Refused) } else { Exit::Done })
}

fn waits(summary: &Summary) -> bool {
    match SummaryStatus::parse(&summary.text.status) {
        Some(SummaryStatus::Reported | SummaryStatus::Dropped | SummaryStatus::Cancelled) => false,
        Some(SummaryStatus::Halted) | None => true,
        // One that succeeded asks when it is to land and what it lands on has moved.
        Some(SummaryStatus::Working | SummaryStatus::Waiting | SummaryStatus::Sleeping | SummaryStatus::Succeeded) => {
            SummaryBody::of(&summary.text).is_none_or(|body| body.open > 0)
        }
    }
}

fn of_run(runs: &Runs, summary: &Summary, call: &Invocation) -> Result<Vec<InboxItem>, Failure> {
    let loaded = runs.service.load(summary.run)?;
    let run = loaded.run();
    let events = session::events(&*runs.journal, run.id, 0, run.seq)?;
    let item = |decision, reason: String, last_lines, next| InboxItem {
        run: run.id.to_string(),
        goal: run.opened.title.clone(),
        repository: run.opened.repository.clone(),
        decision,
        reason,
        last_lines,
        next,
    };
    let mut notices = Vec::new();
    let trees = runs.trees_of(run, &mut notices);
    notices.iter().for_each(|notice| call.output.notice(notice));
    let now_ms = call.now_ms();
    let mut items: Vec<InboxItem> = run
        .pending()
        .filter(|(_, asked)| !asked.is_deferred(now_ms))
        .map(|(id, asked)| {
            let tree = trees.get(&id).map(PathBuf::as_path);
            let last_lines = runs.last_lines_of(run, &events, asked);
            let wire = decision::decision(run, id, asked, Beside { tree, last_lines, ended_ms: None });
            let reason = if wire.why.is_empty() { format!("{id} is not answered") } else { wire.why.clone() };
            item(Some(wire), reason, Vec::new(), decision::commands(run, id, asked))
        })
        .collect();
    if let Some(reasons) = halted(run) {
        let next = vec![format!("tollgate retry {}", run.id), format!("tollgate cancel {}", run.id)];
        items.push(item(None, reasons.join("; "), runs.last_lines_held(run, &events), next));
    }
    Ok(items)
}

fn print(item: &InboxItem, call: &Invocation) {
    let output = &call.output;
    let head = Line::new().add(Style::Strong, &item.run).text("  ").text(&item.goal);
    output.data(head.add(Style::Faint, format!("  {}", item.repository)).fit(output.width()));
    match &item.decision {
        Some(question) => {
            output.data(
                Line::from("  ").add(Style::Faint, format!("asked {}", ago(call.now_ms(), question.asked_at_ms))),
            );
            let lines = question::lines(question, &item.next, call.now_ms(), output.width().saturating_sub(2));
            lines.into_iter().for_each(|line| output.data(Line::from("  ").join(line)));
        }
        None => {
            let wrapped =
                crate::view::table::wrap(&format!("halted: {}", item.reason), output.width().saturating_sub(4));
            let mut mark = Some(Line::from("  ").add(Style::Bad, "■ "));
            for line in wrapped {
                output.data(mark.take().unwrap_or_else(|| Line::from("    ")).text(line));
            }
            let last = item.last_lines.iter().flat_map(|last| question::last_lines(last, output.width() - 4));
            last.for_each(|line| output.data(Line::from("    ").join(line)));
            for command in &item.next {
                output.data(Line::from("      ").add(Style::Accent, command));
            }
        }
    }
    output.data(Line::new());
}
