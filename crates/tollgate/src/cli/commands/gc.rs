//! `tollgate gc`.

use std::path::Path;

use tollgate_api::{GcFate, GcItem, GcResult};
use tollgate_app::failure::Failure;
use tollgate_app::format::count;
use tollgate_app::runs::Runs;
use tollgate_engine::gc::{self, DAYS_KEPT, Fate, Item, Options};
use tollgate_store::Filter;

use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style};

/// Clean up around runs that are over
///
/// Work trees and git folders go when their content is on a branch of your repository, in a patch of the journal, or is what the
/// run started from. What is nowhere else is not removed: it is set aside below `quarantine/` in the state directory, and
/// `--restore RUN` puts it back. Open runs and the journal are never touched.
#[derive(Debug, clap::Args)]
pub struct GcArgs {
    /// Only say what would happen, and why
    #[arg(long)]
    dry_run: bool,
    /// Put back what was set aside of a run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["dry_run", "expire"])]
    restore: Option<String>,
    /// Also remove what was set aside at least so many days ago; without a number 30
    #[arg(long, value_name = "DAYS", num_args = 0..=1, default_missing_value = "30")]
    expire: Option<u64>,
}

pub fn run(args: &GcArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = call.runs_as_person()?;
    if let Some(typed) = &args.restore {
        return restore(&runs, typed, call);
    }
    let options = Options { dry: args.dry_run, expire_days: args.expire, now_ms: call.now_ms() };
    let mut items = runs.service.gc(options)?;
    items.sort_by_key(|item| item.fate);
    let removed_bytes = items.iter().filter(|item| item.fate == Fate::Remove).map(|item| item.bytes).sum();
    if call.json() {
        let items = items.iter().map(wire).collect();
        call.output.json(&GcResult { dry_run: args.dry_run, items, removed_bytes, restored: Vec::new() });
        return Ok(Exit::Done);
    }
    for item in &items {
        print(item, args.dry_run, call);
    }
    let of = |fate| items.iter().filter(|item| item.fate == fate).count();
    let (removed, aside, kept) = (of(Fate::Remove), of(Fate::SetAside), of(Fate::Keep));
    let would = if args.dry_run { "would be " } else { "" };
    call.output.talk(format!(
        "{} {would}removed ({removed_bytes} bytes), {aside} {would}set aside, {kept} left alone",
        count(removed, "thing")
    ));
    if aside > 0 && !args.dry_run {
        call.output
            .talk(format!("what is set aside stays for {DAYS_KEPT} days at least, and until you say otherwise:"));
        call.output.talk(Line::from("  ").add(Style::Accent, "tollgate gc --restore RUN"));
        call.output.talk(Line::from("  ").add(Style::Accent, "tollgate gc --expire"));
    }
    Ok(Exit::Done)
}

fn restore(runs: &Runs, typed: &str, call: &Invocation) -> Result<Exit, Failure> {
    let id = runs.find(typed)?;
    let listed = runs.service.list(&Filter::default())?;
    let repository =
        listed.runs.iter().find(|summary| summary.run == id).map(|found| Path::new(&found.text.repository));
    let done = gc::restore(&runs.state, id, repository).map_err(|error| Failure::from(error).about(id))?;
    let restored: Vec<String> =
        done.iter().filter_map(|(_, to)| to.as_ref().ok()).map(|to| to.display().to_string()).collect();
    for (path, to) in &done {
        match to {
            Ok(to) if !call.json() => call.output.data(to.display().to_string()),
            Ok(_) => {}
            Err(why) => call.output.talk(format!("{} stays where it is: {why}", path.display())),
        }
    }
    if call.json() {
        call.output.json(&GcResult { dry_run: false, items: Vec::new(), removed_bytes: 0, restored });
    } else if done.is_empty() {
        call.output.talk(format!("nothing of {id} is set aside"));
    }
    Ok(Exit::Done)
}

const fn fate(fate: Fate) -> GcFate {
    match fate {
        Fate::Remove => GcFate::Removed,
        Fate::SetAside => GcFate::Quarantined,
        Fate::Keep => GcFate::Kept,
    }
}

fn wire(item: &Item) -> GcItem {
    GcItem {
        thing: item.kind.word().to_owned(),
        place: item.place.clone(),
        run: item.run.map(|run| run.to_string()),
        fate: fate(item.fate),
        why: item.why.clone(),
        bytes: item.bytes,
    }
}

fn print(item: &Item, dry: bool, call: &Invocation) {
    let (style, word) = match (item.fate, dry) {
        (Fate::Remove, false) => (Style::Good, "removed"),
        (Fate::Remove, true) => (Style::Good, "remove"),
        (Fate::SetAside, false) => (Style::Warn, "set aside"),
        (Fate::SetAside, true) => (Style::Warn, "set aside"),
        (Fate::Keep, _) => (Style::Faint, "keep"),
    };
    call.output.data(Line::new().add(style, format!("{word:<10}")).text(item.place.clone()));
    call.output.data(Line::from("          ").add(Style::Faint, item.why.clone()));
}
