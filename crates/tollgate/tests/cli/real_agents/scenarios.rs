//! The scenarios: the same for every agent. What Tollgate owes its users is asserted; what an agent can do is noted on its sheet.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::json;
use tollgate_contract::extract::Markers;
use tollgate_core::report::Health;
use tollgate_core::run::Event;
use tollgate_engine::workers::LOG_BYTES_MAX;
use tollgate_engine::workers::agent::{AgentCapabilities, QuotaReport, Resume, Schema};
use tollgate_testkit::model::Step;

use super::agents::Agent;
use super::stage::{Guard, Stage, report};
use crate::delegate::stage as delegate;
use crate::play::Said;
use crate::world::TOLLGATE;

/// Long enough for the slowest to start and to use a tool. On a machine that does other things too it may not be, and then there is more.
const SHORT: Duration = Duration::from_secs(45);
/// How often it is given more: eight times as much is the last.
const LONGER: u32 = 4;

/// Plays a scenario that ends by its time, with more of it as long as the agent did not come to what is looked at.
fn in_time<T>(what: &str, play: impl Fn(Duration) -> Result<T, String>) -> T {
    let mut seen = String::new();
    for longer in 0..LONGER {
        let limit = SHORT * 2_u32.pow(longer);
        match play(limit) {
            Ok(found) => return found,
            Err(why) => seen = why,
        }
        println!("it did not come to {what} within {limit:?}");
    }
    panic!("it never came to {what}:\n{seen}");
}

/// What is said of one that was ended by its time.
const LATE: &str = "ran past its time";

pub type Scenario = fn(&'static Agent, &mut AgentCapabilities);

pub const ALL: [(&str, Scenario); 16] = [
    ("writes a file", writes),
    ("hands a document over", hands_over),
    ("marks its report", marks),
    ("is denied a write", is_denied),
    ("reports badly and is asked again", is_asked_again),
    ("is out of its quota", is_limited),
    ("is refused by its service", is_refused),
    ("hangs with a child", hangs),
    ("uses more than it may", uses_too_much),
    ("leaves a child behind", leaves_a_child),
    ("floods its output", floods),
    ("is killed with its driver and resumed", is_killed),
    ("tries to answer for the person", answers),
    ("is held to a schema", is_held_to_a_schema),
    ("is given tools", is_given_tools),
    ("is delegated to", is_delegated_to),
];

/// Without a run: the agent works in the folder itself, held to its surfaces, and its last message is the report.
fn is_delegated_to(agent: &'static Agent, _sheet: &mut AgentCapabilities) {
    let stage = Stage::new(agent, Guard::Own, None, |asked, _| {
        let folder = asked.body.split("and you work in ").nth(1).and_then(|rest| rest.split(". The dossier").next());
        match (asked.results, folder) {
            (0, Some(folder)) => (agent.write)(&format!("{folder}/src/new.rs"), "// new\n"),
            _ => Step::Say(delegate::report("implementer", "PASS").to_string()),
        }
    });
    let world = &stage.play.world;
    std::fs::write(world.path("dossier.json"), delegate::dossier("implementer").to_string()).unwrap();
    let words =
        ["delegate", "--agent", "real", "--role", "implementer", "--unit", "U-1", "--dossier", "../dossier.json"];
    let output = world.program(&words).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{out}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((&report["status"], &report["changed_surfaces"]), (&json!("PASS"), &json!(["src/new.rs"])), "{out}");
    assert_eq!(std::fs::read_to_string(world.path("work/src/new.rs")).unwrap(), "// new\n");
    assert_eq!(world.git(&["status", "--porcelain"]), "?? src/new.rs\n");
}

fn writes(agent: &'static Agent, sheet: &mut AgentCapabilities) {
    let mut stage = Stage::new(agent, Guard::Own, None, |asked, path| match asked.results {
        0 => (agent.write)(&path("a.txt"), "hello\n"),
        _ => report(&["a.txt"]),
    });
    let said = stage.run();
    let written = stage.play.file("a.txt").as_deref() == Some("hello\n");
    assert_eq!((said.code, written), (Some(0), true), "{}", stage.seen(&said));
    let (_, told) = stage.reported();
    let used = (told.usage.input_tokens, told.usage.output_tokens);
    // Two calls of the model, or nothing: a number that is wrong is worse than none.
    assert!(used == (Some(240), Some(60)) || used == (None, None), "{told:?}");
    assert!(told.denied.is_empty() && told.quota.is_none(), "{told:?}");
    assert!(told.turns.is_none_or(|turns| turns == 2), "{told:?}");
    sheet.unattended = Some(true);
    sheet.usage = Some(used.0.is_some());
    sheet.cost = Some(told.usage.cost_nano_usd.is_some());
    stage.play.holds();
}

/// One that may write nothing gives a document all the same: held by the sandbox, and by its own guard alone.
fn hands_over(agent: &'static Agent, _sheet: &mut AgentCapabilities) {
    for sandbox in ["require", "off"] {
        let mut stage =
            Stage::new(agent, Guard::Own, None, |asked, _| match (asked.results, place_of("spec", asked.body)) {
                (0, Some(path)) => (agent.write)(&path, "# Spec\n\n## Goals\n\nGreet people.\n"),
                _ => report(&[]),
            })
            .giving("spec", "{sections: [Goals], shown_at: spec.md}", sandbox);
        let said = stage.run();
        assert_eq!(said.code, Some(0), "sandbox {sandbox}: {}", stage.seen(&said));
        let shown = stage.play.world.path(&format!("state/runs/{}/files/spec.md", stage.play.run));
        assert!(std::fs::read_to_string(shown).is_ok_and(|text| text.contains("Greet people.")), "sandbox {sandbox}");
        stage.play.holds();
    }
}

/// Where a request says that a document is to be written.
pub fn place_of(document: &str, body: &str) -> Option<String> {
    let end = body.find(&format!("/out/{document}`"))? + "/out/".len() + document.len();
    let start = body[..end].rfind('`')? + 1;
    Some(body[start..end].to_owned())
}

/// A draft before the marked report and a farewell after it change nothing.
fn marks(agent: &'static Agent, _sheet: &mut AgentCapabilities) {
    let mut stage = Stage::new(agent, Guard::Own, None, |asked, path| match (asked.results, report(&["a.txt"])) {
        (0, _) => (agent.write)(&path("a.txt"), "hello\n"),
        (_, Step::Say(good)) => {
            let Some(markers) = Markers::named_in(asked.body) else { return Step::Say("No markers.".to_owned()) };
            let draft =
                good.replace("complete", "failed").replace("## Abstract", "## Status reason\nno\n\n## Abstract");
            let (begin, end) = (markers.begin(), markers.end());
            Step::Say(format!("A draft:\n\n{draft}\nThe report:\n\n{begin}\n{good}\n{end}\n\nThat is all, goodbye!\n"))
        }
        (_, other) => other,
    });
    let said = stage.run();
    assert!(is_done(&said), "{}", stage.seen(&said));
    let (report, _) = stage.reported();
    assert_eq!((report.health, stage.reports().len()), (Health::Ok, 1), "{report:?}\n{}", stage.seen(&said));
    stage.play.holds();
}

fn is_denied(agent: &'static Agent, sheet: &mut AgentCapabilities) {
    let mut stage = Stage::new(agent, Guard::Look, None, |asked, path| match asked.results {
        0 => (agent.write)(&path("a.txt"), "hello\n"),
        _ => report(&[]),
    });
    let said = stage.run();
    let (report, told) = stage.reported();
    let written = report.changed.iter().any(|change| &*change.path == "a.txt");
    sheet.read_only = Some(!written);
    sheet.denials = Some(!told.denied.is_empty());
    // Some end with the denial, without a report, and are asked for one; none may pass for one who did it.
    if !told.denied.is_empty() && !written {
        assert!(report.health != Health::Ok, "{report:?}\n{}", stage.seen(&said));
    }
    stage.play.holds();
}

/// Whether a run came to its end; the agent of a scenario that is not about files may have left none, which a person is asked about.
fn is_done(said: &Said) -> bool {
    said.code == Some(0) || said.code == Some(4) && said.err.contains("The whole change of this run is empty.")
}

fn is_asked_again(agent: &'static Agent, sheet: &mut AgentCapabilities) {
    const BAD: &str = "I am done, zebra.";
    const AGAIN: &str = "Where are you, zebra? Write it to ";
    let mut stage = Stage::new(agent, Guard::All, None, |asked, _| {
        let note = asked.body.split(AGAIN).nth(1).and_then(|rest| rest.split(';').next());
        match (note, asked.body.contains("cannot be used")) {
            // A session that knows the rest but works in the folder that it began in would be worse than a new one.
            (Some(note), _) if asked.results == 0 => (agent.shell)(&format!("pwd > {note}")),
            (Some(_), _) | (_, true) => report(&[]),
            (None, false) => Step::Say(BAD.to_owned()),
        }
    });
    let said = stage.run();
    assert!(is_done(&said), "{}", stage.seen(&said));
    let again = stage.model.asked().into_iter().filter(|body| body.contains("cannot be used")).collect::<Vec<_>>();
    let here = again.iter().any(|body| body.contains(BAD));
    let marked = |body: &String| body.contains("TOLLGATE-REPORT-BEGIN att_2 ");
    assert!(stage.model.asked().iter().any(marked), "the second attempt has its own markers");
    stage.play.holds();
    let session = stage.reports().pop().and_then(|report| report.told?.session);
    stage.bring_home();
    let (before, note) = (stage.model.calls(), stage.play.world.path("where.txt"));
    if let Some(session) = session.filter(|_| here) {
        stage.ask(&format!("{AGAIN}{};", note.display()), Some(&session), &[]);
    }
    let knows = stage.model.asked().into_iter().skip(before).any(|body| body.contains(BAD));
    let place = std::fs::read_to_string(note).unwrap_or_default();
    let elsewhere = knows && place.trim() == stage.play.world.path("elsewhere").display().to_string();
    sheet.resume = Some(match (here, elsewhere) {
        (false, _) => Resume::None,
        (true, false) => Resume::SameFolder,
        (true, true) => Resume::Anywhere,
    });
}

fn is_limited(agent: &'static Agent, sheet: &mut AgentCapabilities) {
    let quota = in_time("the limit of its quota", |limit| {
        let refused = Arc::new(OnceLock::new());
        let first = Arc::clone(&refused);
        let mut stage = Stage::new(agent, Guard::Own, Some(limit), move |_, _| {
            first.get_or_init(Instant::now);
            (agent.quota)()
        });
        let said = stage.play.tollgate(&["run", "../alone.yaml", "--no-wait"]);
        stage.play.named_by(&said);
        // What it says of a quota parks it; one that says nothing has failed, or is ended by its time.
        let parked = stage.play.events().into_iter().find_map(|recorded| match recorded.event {
            Event::AttemptParked(parked) => Some(parked),
            _ => None,
        });
        let quota = parked.and_then(|parked| parked.told.quota);
        assert_eq!(said.code, Some(if quota.is_some() { 5 } else { 1 }), "{}", stage.seen(&said));
        stage.play.holds();
        let ran_out = stage.reports().iter().any(|report| report.reason.contains(LATE));
        // One that had half of its time for it would have said so.
        let had_time = refused.get().is_some_and(|at| at.elapsed() > limit / 2);
        if ran_out && !had_time { Err(stage.seen(&said)) } else { Ok(quota) }
    });
    sheet.quota = Some(match quota {
        Some(quota) if quota.resets_ms.is_some() => QuotaReport::Time,
        Some(_) => QuotaReport::Words,
        None => QuotaReport::None,
    });
}

fn is_refused(agent: &'static Agent, _: &mut AgentCapabilities) {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "code": 400, "status": "INVALID_ARGUMENT", "message": "zebra failure"}});
    let mut stage = Stage::steps(agent, Guard::Own, None, vec![Step::Refuse(400, vec![], body)]);
    let said = stage.run();
    let (report, _) = stage.reported();
    let told = (said.code, report.code.as_deref(), report.reason.contains("zebra failure"));
    assert_eq!(told, (Some(1), Some("agent"), true), "{report:?}\n{}", stage.seen(&said));
    stage.play.holds();
}

static SLEEPS: AtomicU32 = AtomicU32::new(0);

/// A command that leaves a child in a session of its own, and the argument by which that is known.
fn child() -> (String, String) {
    let seconds = format!("{}.{}", 7000 + SLEEPS.fetch_add(1, Ordering::SeqCst), std::process::id());
    (format!("setsid sleep {seconds} >/dev/null 2>&1 </dev/null & echo begun > begun.txt"), seconds)
}

fn is_alive(argument: &str) -> bool {
    let all = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let line = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    all.map(line).any(|line| line.split(|byte| *byte == 0).collect::<Vec<_>>() == [b"sleep", argument.as_bytes(), b""])
}

fn hangs(agent: &'static Agent, sheet: &mut AgentCapabilities) {
    in_time("its child", |limit| {
        let (command, argument) = child();
        let mut stage = Stage::steps(agent, Guard::All, Some(limit), vec![(agent.shell)(&command), Step::Hang]);
        let said = stage.run();
        let report = stage.reports().remove(0);
        assert!(said.code == Some(1) && report.reason.contains(LATE), "{report:?}\n{}", stage.seen(&said));
        assert!(!is_alive(&argument), "its child lives");
        stage.play.holds();
        let begun = report.changed.iter().any(|change| &*change.path == "begun.txt");
        if begun { Ok(()) } else { Err(stage.seen(&said)) }
    });
    sheet.whole_tree_kill = Some(true);
}

/// One that tells as it works what it used is ended in its second turn at the latest, and not when that is done.
fn uses_too_much(agent: &'static Agent, sheet: &mut AgentCapabilities) {
    let stopped = |budget: &str, reason: &str| {
        in_time("its second turn", |limit| {
            let (_, argument) = child();
            let waits = (agent.shell)(&format!("sleep {argument}"));
            let mut stage = Stage::new(agent, Guard::All, Some(limit), move |asked, path| match asked.results {
                0 => (agent.write)(&path("a.txt"), "hello\n"),
                _ => waits.clone(),
            })
            .allowing(budget);
            let said = stage.run();
            let report = stage.reports().remove(0);
            assert_eq!(report.health, Health::Exhausted, "{report:?}\n{}", stage.seen(&said));
            assert!(!is_alive(&argument), "what it had begun lives");
            stage.play.holds();
            let (stopped, ran_out) = (report.reason.contains(reason), report.reason.contains(LATE));
            // What it did in its first turn counts.
            let written = report.changed.iter().any(|change| &*change.path == "a.txt");
            assert!(written || ran_out, "{report:?}\n{}", stage.seen(&said));
            if written && (stopped || stage.model.calls() > 1) { Ok(stopped) } else { Err(stage.seen(&said)) }
        })
    };
    sheet.turns = Some(stopped("turns: 1", "and its role may use 1 turn"));
    sheet.tokens_at_work = Some(stopped("tokens: 149", "its role may use 149 tokens"));
}

fn leaves_a_child(agent: &'static Agent, _: &mut AgentCapabilities) {
    let (command, argument) = child();
    let mut stage = Stage::steps(agent, Guard::All, None, vec![(agent.shell)(&command), report(&["begun.txt"])]);
    let said = stage.run();
    assert!(is_done(&said), "{}", stage.seen(&said));
    assert_eq!(stage.play.file("begun.txt").as_deref(), Some("begun\n"));
    assert!(!is_alive(&argument), "its child lives");
    stage.play.holds();
}

/// More than is kept of an output. Not more than that: Copilot ends with what its reader has not taken yet.
fn floods(agent: &'static Agent, _: &mut AgentCapabilities) {
    let command = "yes zebra | head -c 10000000; echo flooded > flooded.txt";
    let mut stage = Stage::steps(agent, Guard::All, None, vec![(agent.shell)(command), report(&["flooded.txt"])]);
    let said = stage.run();
    assert!(is_done(&said), "{}", stage.seen(&said));
    let log = stage.play.log("maker", 1).len() as u64;
    assert!(log <= LOG_BYTES_MAX + 4096, "{log}");
    stage.play.holds();
}

fn is_killed(agent: &'static Agent, _: &mut AgentCapabilities) {
    let (open, hangs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (answers, asked_once) = (Arc::clone(&open), Arc::clone(&hangs));
    let mut stage = Stage::new(agent, Guard::Own, None, move |asked, path| match asked.results {
        _ if !answers.load(Ordering::SeqCst) => {
            asked_once.store(true, Ordering::SeqCst);
            Step::Hang
        }
        0 => (agent.write)(&path("a.txt"), "hello\n"),
        _ => report(&["a.txt"]),
    });
    let mut driver = stage.play.program(&["run", "../alone.yaml"]);
    stage.play.find_run(&mut driver);
    // Not before its first call is known to hang: one that was answered after all would be remembered when it goes on.
    stage.play.until("the agent asks its model", |_| hangs.load(Ordering::SeqCst).then_some(()));
    driver.kill().unwrap();
    driver.wait().unwrap();
    open.store(true, Ordering::SeqCst);
    let said = stage.play.tollgate(&["resume", "RUN"]);
    assert!(is_done(&said), "{}", stage.seen(&said));
    assert_eq!(stage.play.file("a.txt").as_deref(), Some("hello\n"));
    stage.play.holds();
}

fn answers(agent: &'static Agent, _: &mut AgentCapabilities) {
    let mut stage = Stage::new(agent, Guard::All, None, move |asked, path| match asked.results {
        0 => {
            // The work tree lies in the state directory, and the run that waits is named beside it.
            let here = path("");
            let state = here.split("/trees/").next().unwrap_or_default().to_owned();
            let run = std::fs::read_to_string(format!("{state}/../waits")).unwrap_or_default();
            let decide = format!("{TOLLGATE} decide {run} dec_1 approve --no-resume");
            (agent.shell)(&format!(
                "TOLLGATE_STATE={state} {decide} > said.txt 2>&1; echo exit $? >> said.txt; env -i HOME=$HOME PATH=$PATH TOLLGATE_STATE={state} setsid {decide} >> said.txt 2>&1; echo exit $? >> said.txt"
            ))
        }
        _ => report(&["said.txt"]),
    });
    stage.play.start(&["--input", "complexity=standard"]).exits(4).says("dec_1");
    let waits = std::mem::take(&mut stage.play.run);
    std::fs::write(stage.play.world.path("waits"), &waits).unwrap();
    let said = stage.run();
    assert!(is_done(&said), "{}", stage.seen(&said));
    let heard = stage.play.file("said.txt").unwrap();
    assert!(heard.contains("exit ") && !heard.contains("exit 0"), "{heard}");
    stage.play.run = waits;
    assert_eq!(stage.play.count(|event| matches!(event, Event::DecisionEnded(_))), 0);
    stage.play.decide(&["dec_1", "approve", "--no-resume"]).exits(0);
}

fn is_held_to_a_schema(agent: &'static Agent, sheet: &mut AgentCapabilities) {
    if agent.schema.is_empty() {
        sheet.schema = Some(Schema::None);
        return;
    }
    let stage = Stage::steps(agent, Guard::Own, None, vec![Step::Say("No JSON here.".to_owned())]);
    let schema = json!({"type": "object", "properties": {"zebra_field": {"type": "string"}}, "required": ["zebra_field"], "additionalProperties": false}).to_string();
    let file = stage.play.world.path("schema.json").display().to_string();
    std::fs::write(&file, &schema).unwrap();
    let words = stage.words(agent.schema, &[("SCHEMA", &schema), ("FILE", &file)]);
    let ended_well = stage.ask("Answer.", None, &words);
    let asked = stage.model.asked();
    let handed_on = asked.iter().any(|body| body.contains("zebra_field"));
    assert!(!asked.is_empty(), "it asked nothing");
    sheet.schema = Some(match (handed_on, ended_well && asked.len() == 1) {
        (false, _) => Schema::None,
        (true, true) => Schema::BestEffort,
        (true, false) => Schema::Enforced,
    });
}

fn is_given_tools(agent: &'static Agent, sheet: &mut AgentCapabilities) {
    let stage = Stage::steps(agent, Guard::All, None, vec![Step::Say("I am done.".to_owned())]);
    let words = stage.serve_tools();
    stage.ask("Answer.", None, &words);
    sheet.mcp = Some(stage.model.asked().iter().any(|body| body.contains("zebra_tool")));
}
