use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::*;
use crate::process::{End, find_by_marker};
use crate::testing::{Folder, folder, own_run, write};
use crate::workers::command::CommandWorker;
use crate::workers::{Job, Outcome, RawReport, Worker};

const SCRIPT: &str = r#"
script: 1
roles:
  developer:
    - iteration: 1
      write: {src/a.txt: "one\n", empty: }
      delete: [old]
      text: first
    - {unit: api, text: for api}
    - {text: any other, exit: 4}
  checker:
    - report: {status: ok, n: 3, quoted: "3", list: [true, ~]}
"#;

fn told(text: &str) -> String {
    let problems = Script::read(text).unwrap_err();
    let lines = problems.iter().map(|p| format!("{}:{} {} {}", p.place.line, p.place.column, p.code, p.message));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_entry_that_matches_counts() {
    let script = Script::read(SCRIPT).unwrap();
    let says = |role: &str, unit: Option<&str>, iteration| match &script.entry(role, unit, "build", iteration)?.says {
        Some(ScriptedReport::Text(text)) => Some(text.to_string()),
        _ => None,
    };
    assert_eq!(says("developer", Some("api"), 1).as_deref(), Some("first"));
    assert_eq!(says("developer", Some("api"), 2).as_deref(), Some("for api"));
    assert_eq!(says("developer", None, 2).as_deref(), Some("any other"));
    assert!(script.entry("nobody", None, "build", 1).is_none());
    let first = script.entry("developer", None, "build", 1).unwrap();
    assert_eq!(first.write, [("src/a.txt".into(), "one\n".into()), ("empty".into(), "".into())]);
    let Some(ScriptedReport::Report(report)) = &script.entry("checker", None, "build", 1).unwrap().says else {
        panic!("no report")
    };
    assert_eq!(*report, serde_json::json!({"status": "ok", "n": 3, "quoted": "3", "list": [true, null]}));
}

#[test]
fn everything_wrong_is_named_with_its_place() {
    let text = "script: 2\nroles:\n  a:\n    - {misbehave: crsh, delay: 1, exit: 300}\n    - {report: {}, text: x}\n    \
                - {write: {../x: y, /z: [1]}}\n    - {report: x}\n  b: no\n";
    let told = told(text);
    for part in
        ["1:9 TG0513", "`crsh`", "`delay`", "`exit`", "both `report` and `text`", "`../x`", "`/z`", "not text", "7:"]
    {
        assert!(told.contains(part), "{part} in\n{told}");
    }
    assert!(self::told("[]").contains("the script"));
    assert!(self::told("roles: {}").contains("no `script`"));
}

#[test]
fn the_published_schema_knows_the_same_keys_and_words() {
    let text = include_str!("../../../../../docs/schemas/script.schema.json");
    let schema: serde_json::Value = serde_json::from_str(text).unwrap();
    let entry = &schema["$defs"]["entry"];
    let words: Vec<&str> =
        entry["properties"]["misbehave"]["enum"].as_array().unwrap().iter().filter_map(|w| w.as_str()).collect();
    assert_eq!(words, Misbehaviour::WORDS.map(|(word, _)| word));
    // The reader's own word on its keys: what it lists when it meets one that it does not know.
    let problems = Script::read("script: 1\nroles: {a: [{zzzzzzzzzz: 1}]}").unwrap_err();
    let known = problems[0].hint.as_deref().unwrap().strip_prefix("known: ").unwrap();
    let mut known: Vec<&str> = known.split(", ").collect();
    known.sort_unstable();
    let mut keys: Vec<&str> = entry["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, known);
}

/// The process that the tests below start as their worker; in a run of all tests it has nothing to act out.
#[test]
#[expect(clippy::exit, reason = "the exit code is what the worker answers with")]
fn act_as_worker() {
    let Some(script) = std::env::var_os("SCRIPT_UNDER_TEST").map(PathBuf::from) else { return };
    let tollgate = script.with_file_name("tollgate");
    std::process::exit(run_script(&script, &tollgate).into());
}

struct Acted {
    root: Folder,
    outcome: Outcome,
    log: String,
}

impl Acted {
    fn text(&self) -> &str {
        match &self.outcome.said {
            RawReport::File(bytes) | RawReport::Printed { bytes, .. } => str::from_utf8(bytes).unwrap(),
            said => panic!("{said:?}, {}", self.log),
        }
    }

    fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join("tree").join(path)).ok()
    }
}

fn act(entry: &str, limit: Duration) -> Acted {
    let root = folder("script");
    write(&root, "tree/old", "old");
    write(&root, "journal.db", "");
    // Stands for the program: says how it was called and refuses.
    write(&root, "tollgate", "#!/bin/sh\necho \"called: $* [$TOLLGATE_ATTEMPT] $TOLLGATE_STATE\" >&2\nexit 1\n");
    std::fs::set_permissions(root.join("tollgate"), std::fs::Permissions::from_mode(0o755)).unwrap();
    write(&root, "script.yaml", &format!("script: 1\nroles:\n  developer:\n    - {entry}\n"));
    let test = "workers::script::tests::act_as_worker";
    let program = std::env::current_exe().unwrap();
    let argv = ["env".into(), format!("SCRIPT_UNDER_TEST={}", root.join("script.yaml").display()).into()]
        .into_iter()
        .chain([program.into(), "--exact".into(), test.into(), "--nocapture".into()])
        .collect::<Vec<OsString>>();
    let job = Job {
        run: own_run(),
        attempt: "att_1".parse().unwrap(),
        // Every test has a marker of its own.
        token: std::process::id().into(),
        unit: None,
        role: "developer".into(),
        contract: "status-block@1".into(),
        stage: "build".into(),
        iteration: 1,
        brief: "the brief".into(),
        cwd: root.join("tree"),
        bundle: root.join("bundle"),
        scratch: root.join("scratch"),
        out: Some(root.join("scratch/out")),
        log: root.join("log"),
        note: String::new(),
        limit,
        allowed: Default::default(),
        resumption: None,
        confinement: None,
        caches: root.join("caches"),
        layer: root.join("layer"),
        secrets: std::sync::Arc::new(tollgate_core::redact::Secrets::new([]).unwrap()),
    };
    let job = Job { attempt: tollgate_core::id::AttemptId(number(&root)), ..job };
    let marker = job.marker();
    let mut attempt = CommandWorker::new(argv, &root, &root).start(job).unwrap();
    let outcome = loop {
        if let Some(outcome) = attempt.wait(Instant::now() + Duration::from_secs(1)) {
            break outcome;
        }
    };
    assert_eq!(find_by_marker(&marker), []);
    let log = std::fs::read_to_string(root.join("log")).unwrap();
    Acted { root, outcome, log }
}

/// The number in the name of a test's folder.
fn number(root: &Folder) -> u64 {
    root.file_name().unwrap().to_str().unwrap().split('-').nth(2).unwrap().parse().unwrap()
}

fn long() -> Duration {
    Duration::from_secs(60)
}

#[test]
fn it_writes_deletes_reports_and_exits() {
    let acted = act("{write: {src/a: one}, delete: [old], text: done, exit: 5}", long());
    assert_eq!((acted.outcome.end, acted.text()), (End::Exited(5), "done"));
    assert_eq!((acted.file("src/a").as_deref(), acted.file("old")), (Some("one"), None));
    assert_eq!(act("{unit: other}", long()).outcome.end, End::Exited(3));
    let refused = act("{iteration: 2}", long());
    assert!(refused.log.contains("TG0514") && refused.log.contains("`developer`"), "{}", refused.log);
    let invalid = act("{report: {nonsense: 1}}", long());
    assert!(invalid.outcome.end == End::Exited(3) && invalid.log.contains("TG0513"), "{}", invalid.log);
}

#[test]
fn it_misbehaves_for_real() {
    let crashed = act("{misbehave: crash, write: {a: x}, text: abcdef}", long());
    assert_eq!((crashed.outcome.end, crashed.text()), (End::Signalled(9), "abc"));
    assert!(crashed.file("a").is_some());
    let hung = act("{misbehave: hang, text: abc}", Duration::from_millis(700));
    assert!(hung.outcome.end == End::TimedOut && !hung.root.join("scratch/report").exists());
    let lied = act("{misbehave: lie, write: {a: x}, delete: [old], text: done}", long());
    assert_eq!((lied.text(), lied.file("a"), lied.file("old").is_some()), ("done", None, true));
    // Both are printed, after what the test harness prints itself.
    assert!(act("{misbehave: twice, text: done}", long()).text().ends_with("\ndone\ndone"));
    assert!(act("{misbehave: echo, text: done}", long()).text().ends_with("\nthe brief\ndone"));
    let outside = act("{misbehave: outside, text: done}", long());
    assert!(outside.file("outside-every-scope/developer").is_some());
}

#[test]
fn a_late_answer_is_not_waited_for() {
    let late = act("{misbehave: late, text: too late, delay_ms: 60000}", long());
    assert_eq!(late.outcome.end, End::Exited(0));
    assert!(!late.root.join("scratch/report").exists());
}

#[test]
fn it_tries_to_decide_and_to_open_the_database() {
    let decided = act("{misbehave: decide, text: done}", long());
    let (state, run) = (decided.root.display(), own_run());
    let hidden = format!("hidden: true): exit Some(1): called: decide {run} dec_1 accept [] {state}");
    assert!(decided.log.contains(&hidden), "{}", decided.log);
    let marked = format!("hidden: false): exit Some(1): called: decide {run} dec_1 accept [{run}/");
    assert!(decided.log.contains(&marked), "{}", decided.log);
    assert!(act("{misbehave: database, text: done}", long()).log.contains("database: opened for writing"));
}
