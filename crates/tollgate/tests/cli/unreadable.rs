//! A run whose first event says something that this version cannot read, such as one that a later version started.

use tollgate_core::run::Event;
use tollgate_store::{Append, Filter, Journal, LeaseRequest, Object, Options, SqliteJournal};

use crate::play::{Play, TASK, script};

/// A run that waits for its sign-off, in a journal that says something else of its configuration.
fn waiting_with(config: serde_json::Value) -> Play {
    let mut play = Play::new(TASK, &script(&[]));
    play.start(&["--input", "complexity=standard", "--no-wait"]).exits(4);
    let state = play.world.path("state");
    let (mut events, run) = (play.events(), play.run.parse().unwrap());
    let epoch = events.iter().map(|recorded| recorded.epoch).max().unwrap();
    let (objects, summary) = {
        let old = SqliteJournal::open(&state, Options::default()).unwrap();
        let named = events.iter().flat_map(|recorded| recorded.event.objects());
        let objects: Vec<Object> = named.map(|digest| Object::new(old.object(digest).unwrap().unwrap())).collect();
        (objects, old.list(&Filter::default()).unwrap().runs.remove(0).text)
    };
    if let Event::RunOpened(opened) = &mut events[0].event {
        opened.config = config;
    }
    for file in ["journal.db", "journal.db-wal", "journal.db-shm", "heads"] {
        let _ = std::fs::remove_file(state.join(file));
    }
    let new = SqliteJournal::open(&state, Options::default()).unwrap();
    let events = events.iter().map(|recorded| recorded.to_bytes().unwrap()).collect();
    let (expected, head, fence, snapshot) = (0, None, None, None);
    let (seen, says) = Default::default();
    new.append(Append { run, expected, head, fence, seen, events, objects, summary, says, snapshot }).unwrap();
    for _ in 0..epoch {
        let taken = LeaseRequest::Acquire { holder: "before".to_owned(), now_ms: 1, ttl_ms: 1, over: None };
        new.lease(run, taken).unwrap();
    }
    play
}

#[test]
fn what_holds_a_worker_is_read_or_nothing_is_started() {
    for (config, what) in [
        (serde_json::json!({"sandbox": {"value": "strict", "from": "user"}}), "`sandbox.value` of its first event"),
        (serde_json::json!({"roles": {"developer": {"sandbox": "strict"}}}), "`roles.developer` of its first event"),
        (serde_json::json!({"worktree": {"setup": "npm ci"}}), "`worktree` of its first event"),
    ] {
        let play = waiting_with(config);
        play.decide(&["dec_1", "approve"]).exits(3).says("TG0542").says(what).says("tollgate cancel");
        assert_eq!(play.dispatched("developer"), 1);
        assert_eq!(play.count(|event| matches!(event, Event::AttemptReported(_))), 0, "nobody is blamed");
        assert_eq!(play.workers(), Vec::<String>::new());
    }
    // The same run with what can be read.
    waiting_with(serde_json::Value::Null).decide(&["dec_1", "approve"]).says("developer");
}
