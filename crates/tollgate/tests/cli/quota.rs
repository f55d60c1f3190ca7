//! Quotas: a pool that said no is left alone until its time, its session is kept, and the run wakes by itself.

use tollgate_core::run::Event;

use tollgate_store::Journal;
use tollgate_store::bundle::{self, Limits};

use crate::budget::{NOTHING, ROW, calls, done, looking, play, prints};
use crate::play::Play;

/// What Claude Code prints when its plan is used up for so many seconds more.
pub fn refused(seconds: u32) -> String {
    format!(
        r#"echo "{{\"type\":\"rate_limit_event\",\"rate_limit_info\":{{\"status\":\"rejected\",\"resetsAt\":$(($(date +%s)+{seconds})),\"rateLimitType\":\"five_hour\"}}}}"
echo '{{"type":"result","subtype":"success","is_error":true,"session_id":"s-1","total_cost_usd":0.01,"usage":{{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}},"result":"limit reached"}}'; exit 1"#
    )
}

fn said(play: &Play, call: u32) -> String {
    std::fs::read_to_string(play.world.path(&format!("home/.claude/call-{call}/said"))).unwrap()
}

pub fn run(play: &mut Play, more: &[&str]) -> crate::play::Said {
    play.run.clear();
    let said = play.tollgate(&[&["run", "../row.yaml"], more].concat());
    play.named_by(&said);
    said
}

const MADE: &str = "## Status\\\\ncomplete\\\\n\\\\n## Abstract\\\\noutcome: made\\\\nverdict: n/a\\\\nfiles: 1 created, 0 modified, 0 deleted\\\\nnext_phase: n/a\\\\nopen_questions: 0\\\\n\\\\n## Files Created\\\\n- half.txt\\\\n";

#[test]
fn a_run_wakes_by_itself_in_the_session_and_with_the_work_that_was_cut_off() {
    let act = format!(
        "case $n in 1) echo half > half.txt; {} ;; 2) {} ;; *) {} ;; esac",
        refused(2),
        done(MADE),
        done(NOTHING)
    );
    let mut play = play(ROW, "[budget]\nrun = {attempts = 2}\n", &act);
    run(&mut play, &[])
        .exits(0)
        .says("was cut off: its quota is used up: the five_hour limit is reached")
        .says("goes on");
    assert_eq!(play.file("half.txt").as_deref(), Some("half\n"));
    assert_eq!(calls(&play), 3, "one call was wasted, and none but that");
    let again = said(&play, 2);
    assert!(again.contains("--resume s-1") && again.contains("A limit of your plan had stopped you"), "{again}");
    assert_eq!(play.count(|event| matches!(event, Event::AttemptReported(_))), 2);
    // It counts against no limit of attempts, and what it used counts.
    let json: serde_json::Value =
        serde_json::from_str(&play.tollgate(&["show", "RUN", "--json"]).exits(0).out).unwrap();
    assert_eq!((&json["budgets"][0]["used"]["known"], &json["attempts"][0]["status"]), (&2.into(), &"parked".into()));
    assert_eq!(json["usage"][0]["input_tokens"]["known"], 130);
    play.holds();
    // What it had said when it was cut off goes with the run, and is found by the beginning of its digest.
    let parked = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::AttemptParked(parked) => Some(parked.report),
        _ => None,
    });
    let parked = parked.unwrap();
    play.tollgate(&["export", "RUN", "-o", "../run.tar"]).exits(0);
    let exported = std::fs::read(play.world.path("run.tar")).unwrap();
    let (_, exported) = bundle::read(&exported[..], Limits::default()).unwrap();
    let report = exported.object(parked).unwrap().unwrap();
    let found = play.tollgate(&["evidence", &parked.to_string()[..12]]).exits(0).out;
    assert_eq!(found.as_bytes(), &report[..]);
    play.tollgate(&["verify", "../run.tar"]).exits(0);
}

#[test]
fn a_run_that_sleeps_calls_nobody_whoever_drives_it_and_a_person_may_wake_it() {
    let act = format!("case $n in 1) {} ;; *) {} ;; esac", refused(3600), done(NOTHING));
    let mut play = play(&looking(), "", &act);
    run(&mut play, &["--no-wait"]).exits(5).says("sleeps: a quota is used up, and it can go on in ");
    play.tollgate(&["resume", "RUN", "--no-wait"]).exits(5);
    let mut driver = play.program(&["resume", "RUN"]);
    play.until_event("the driver", |event| matches!(event, Event::DriverTookOver(_)));
    let rows = play.tollgate(&["ls", "--status", "sleeping"]).exits(0).out;
    assert!(rows.contains("sleeps") && rows.contains("UTC"), "{rows}");
    prints(&play, &["show", "RUN"], "waits until claude may be called again");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    driver.kill().unwrap();
    driver.wait().unwrap();
    assert_eq!(calls(&play), 1, "who sleeps makes no call");
    prints(&play, &["ls", "--json"], "no process drives it, so it will not wake up");
    prints(&play, &["ls", "--json"], "\"wakes_at_ms\":1");
    play.holds();
    play.tollgate(&["retry", "RUN"]).exits(0);
    assert_eq!(calls(&play), 3);
    play.tollgate(&["retry", "RUN"]).exits(1);
    play.holds();
}

#[test]
fn other_runs_of_the_same_pool_waste_no_call_and_other_pools_go_on() {
    let config = "[worker.one]\nadapter = \"claude\"\npool = \"one\"\n[worker.two]\nadapter = \"claude\"\npool = \"two\"\n[roles]\nmaker = \"one\"\nreader = \"two\"\n";
    let act = format!("case $n in 1) {} ;; *) {} ;; esac", refused(3600), done(NOTHING));
    let mut play = play(&looking(), config, &act);
    run(&mut play, &["--no-wait"]).exits(5);
    let first = play.run.clone();
    run(&mut play, &["--no-wait"]).exits(5).says("one is called again in ").says(&first);
    assert_eq!((calls(&play), play.dispatched("maker")), (1, 0), "the second run knows it from the first");
    play.tollgate(&["verify", "--all"]).exits(0);
    run(&mut play, &["--no-wait", "--worker", "maker=two"]).exits(0);
    assert_eq!(calls(&play), 3);
    play.tollgate(&["verify", "--all"]).exits(0);
}

/// Who waits for another's call was not told no, and tells nobody that it was.
#[test]
fn once_one_run_was_answered_the_others_of_its_pool_go_on() {
    // The first call is told no, and the second one is answered when the others have seen that it is made.
    let act = format!(
        "case $n in 1) {} ;; 2) until [ -e \"$HOME/.claude/go\" ]; do sleep 0.1; done ;; esac\n{}",
        refused(3),
        done(NOTHING)
    );
    let mut play = play(&looking(), "", &act);
    run(&mut play, &["--no-wait"]).exits(5);
    let mut drivers = vec![play.program(&["resume", "RUN"])];
    drivers.extend([(); 2].map(|()| play.program(&["run", "../row.yaml"])));
    let waits = |event: &Event| matches!(event, Event::PoolParked(parked) if parked.tried);
    play.until("two wait for the third", |play| {
        let journal = play.journal();
        let runs = journal.list(&tollgate_store::Filter::default()).unwrap().runs;
        let events = |run| tollgate_engine::session::events(&*journal, run, 0, u64::MAX).unwrap();
        let waiting = runs.iter().filter(|known| events(known.run).iter().any(|recorded| waits(&recorded.event)));
        (waiting.count() == 2).then_some(())
    });
    std::fs::write(play.world.path("home/.claude/go"), "").unwrap();
    for mut driver in drivers {
        let ended = play.until("it goes on", |_| driver.try_wait().unwrap());
        assert!(ended.success(), "{ended}");
    }
    assert_eq!(calls(&play), 7, "one call was wasted, and none but that");
    play.tollgate(&["verify", "--all"]).exits(0);
}
