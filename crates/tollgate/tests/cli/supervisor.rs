//! `supervisor`: sources become requirements, requirements units; a person decides what is left out, and an audit finds what was left for later.

use serde_json::{Value, json};

use crate::play::{Play, Said};
use crate::team::stage_brief;

/// A report of a role, with what differs from the plainest one.
pub fn report(role: &str, unit: &str, more: Value) -> Value {
    let mut report = json!({
        "schema": "WorkerReportV1", "status": "PASS", "role": role, "unit_id": unit, "summary": "It is done.",
        "changed_surfaces": [], "evidence": ["seen in the tree"], "checks_run": [], "skipped_checks": [], "findings": [],
        "blocking_question": null, "next_action": "None", "adapter": null, "guard": null, "reason": null,
    });
    let fields = report.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    report
}

/// What a judge says of a row.
pub fn row(id: &str, verdict: &str, finding: Option<&str>) -> Value {
    json!({
        "id": id, "source_requirement": "as the sources say", "expected_outcome": "it is there",
        "preferred_verification": ["shell_command"], "available_verification": ["shell_command"],
        "evidence_strength": {"strongest_possible": ["shell_command"], "strongest_available": ["shell_command"]},
        "evidence": ["ran it"], "invalid_pass_conditions": [], "verdict": verdict, "finding": finding,
    })
}

/// An entry of a script: where it counts, what it hands over or writes, and what it reports.
pub fn entry(at: Value, more: Value, report: &Value) -> Value {
    let mut entry = at;
    let fields = entry.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    fields.insert("report".to_owned(), report.clone());
    entry
}

const CORPUS: &str = "# Source Corpus\n\n## Sources\n\n| ID | Source | Authority | Notes |\n|---|---|---|---|\n| S1 | the request | controlling | |\n\n\
    ## Missing Sources\n\nNone\n\n## Contradictions\n\nNone\n\n## Assumptions\n\nNone\n\n## Allowed Next Action\n\nList the requirements.\n";

fn coverage(rows: &[(&str, &str, &str)]) -> String {
    let row = |(id, text, disposition): &(&str, &str, &str)| {
        let mut row = json!({"id": id, "source_ref": "the request", "requirement": text, "strength": "must", "disposition": disposition});
        if *disposition != "proposed_current_scope" {
            row["reason"] = "It looks like context.".into();
        }
        row
    };
    json!({"requirements": rows.iter().map(row).collect::<Vec<_>>()}).to_string()
}

fn spec(status: &str, rows: &[(&str, &str, &str)]) -> String {
    let in_scope = |disposition: &str| disposition == "proposed_current_scope";
    let covered = rows.iter().map(|(id, text, disposition)| {
        let unit = if in_scope(disposition) { "WU-001" } else { "" };
        format!("| {id} | the request | {text} | must | {disposition} | | | {unit} | |\n")
    });
    let left = rows.iter().filter(|(.., disposition)| !in_scope(disposition));
    let left = left
        .map(|(id, text, _)| format!("| {id} | {text} | Proposed | It looks like context. | Whether it may wait. |\n"));
    format!(
        "# SPEC\n\n**Status:** {status}\n\n## Objective\n\nGreet people.\n\n## Source Of Truth\n\n| Source | Role | Notes |\n|---|---|---|\n| the request | Controlling | It is all there is. |\n\n\
         ## Interpreted Scope\n\nTwo scripts.\n\n## Non-Goals\n\nNone\n\n## Requirement Coverage\n\n\
         | ID | Source Ref | Requirement | Strength | Proposed Disposition | Final Disposition | Decision Source | Work Unit | Acceptance Row |\n|---|---|---|---|---|---|---|---|---|\n{}\n\
         ## Deferred, Out-Of-Scope, Or Blocked Items\n\n| ID | Requirement | Status | Reason | Needed Decision |\n|---|---|---|---|---|\n{}\n\
         ## Proposed Work Units\n\n| Work Unit | Objective | Depends On | Verification |\n|---|---|---|---|\n| WU-001 | It greets. | | A command. |\n\n\
         ## Acceptance Summary\n\nCommands.\n\n## Assumptions And Risks\n\nNone\n\n## Open Questions\n\nNone\n",
        covered.collect::<String>(),
        left.collect::<String>(),
    )
}

/// Units with the paths they may change and the requirements they cover.
fn units(all: &[(&str, &str, &[&str])]) -> String {
    let unit = |(id, path, covers): &(&str, &str, &[&str])| {
        json!({"id": id, "objective": format!("{path} is there."), "allowed_surfaces": [path], "readiness": "ready",
               "done_criteria": ["It runs."], "source_requirements_covered": covers, "verification": ["cmd: true"]})
    };
    let names: Vec<&str> = all.iter().map(|(id, ..)| *id).collect();
    json!({"units": all.iter().map(unit).collect::<Vec<_>>(), "sequence": names, "first_recommended_unit": names[0]})
        .to_string()
}

/// Rows: id, unit, requirement, what must be true, how it is seen.
fn matrix(rows: &[[&str; 5]]) -> String {
    let head = "| ID | Work Unit | Covers | Source Ref | Requirement | Evidence Required | Verification Method | Adversarial Check | Status | Evidence |\n|---|---|---|---|---|---|---|---|---|---|\n";
    let row = |[id, unit, covers, text, method]: &[&str; 5]| {
        format!(
            "| {id} | {unit} | {covers} | the request | {text} | Its output. | {method} | Another name. | Pending | |\n"
        )
    };
    format!("# Acceptance Matrix\n\n## Rows\n\n{head}{}", rows.iter().map(row).collect::<String>())
}

const OUTCOME: &str =
    "# Outcome\n\n## Residual Risks\n\nNone\n\n## Skipped Checks\n\nNone\n\n## Next Recommended Action\n\nNone\n";

/// What the intake asks besides the profile and the path.
const INTAKE: [&str; 6] =
    ["--input", "sources=the request", "--input", "boundaries=README.md stays", "--input", "width=2"];

fn play(script: &Value, words: &[&str]) -> (Play, Said) {
    let mut play = Play::new("", &script.to_string());
    let run = ["run", "supervisor", "--script", "../script.yaml", "--title", "Greet people", "--no-wait"];
    let said = play.tollgate(&[&run[..], words].concat());
    play.named_by(&said);
    (play, said)
}

/// The units of the story below: WU-001 greets, WU-002 says goodbye and keeps a log.
fn story() -> Value {
    let scope = "proposed_current_scope";
    let required = [
        ("R-001", "greet.sh prints Hello", scope),
        ("R-002", "bye.sh prints Bye", scope),
        ("R-003", "every Bye is logged while it is printed", scope),
    ];
    let planned = units(&[("WU-001", "greet.sh", &["R-001"]), ("WU-002", "bye.sh", &["R-002", "R-003"])]);
    let rows = matrix(&[
        ["AC-001", "WU-001", "R-001", "greet.sh prints Hello", "cmd: sh greet.sh \\| grep -q Hello"],
        ["AC-002", "WU-002", "R-002", "bye.sh prints Bye", "cmd: sh bye.sh \\| grep -q Bye"],
        ["AC-003", "WU-002", "R-003", "bye.sh knows of a log", "manual: read bye.sh"],
        ["AC-004", "", "R-002", "both speak English", "manual: read both"],
    ]);
    let built = |unit: &str, path: &str, text: &str, next: &str| {
        let said = report("implementer", unit, json!({"changed_surfaces": [path], "next_action": next}));
        entry(json!({"unit": unit}), json!({"write": {path: text}}), &said)
    };
    let at = |mut entry: Value, stage: &str| {
        entry["stage"] = stage.into();
        entry
    };
    let run = |role: &str| report(role, "run", json!({}));
    let checked = |unit: &str, rows: &[Value]| {
        entry(json!({"unit": unit}), json!({}), &report("verifier", unit, json!({"outcome_evaluations": rows})))
    };
    let ticket = |unit: &str| {
        let said = report("repair", unit, json!({"findings": ["Print what the row asks for."]}));
        entry(json!({"unit": unit}), json!({}), &said)
    };
    let whole = ["AC-001", "AC-002", "AC-004"].map(|id| row(id, "PASS", None));
    // It does not say which requirement that is.
    let hidden = row("AC-003", "FAIL", Some("it is not logged while it is printed"));
    json!({"script": 1, "roles": {
        "analyst": [
            entry(json!({"stage": "corpus"}), json!({"hand_over": {"corpus": CORPUS}}), &run("documenter")),
            entry(json!({"stage": "coverage"}), json!({"hand_over": {"coverage": coverage(&required)}}), &run("documenter")),
            entry(json!({"stage": "spec"}), json!({"hand_over": {"spec": spec("Draft", &required)}}), &run("documenter")),
        ],
        "planner": [entry(json!({}), json!({"hand_over": {"plan": planned, "matrix": rows}}), &run("documenter"))],
        "implementer": [
            at(built("WU-001", "greet.sh", "echo Hi\n", "None"), "implement"),
            at(built("WU-001", "greet.sh", "echo Hello\n", "None"), "repair"),
            at(built("WU-002", "bye.sh", "echo Bye # no log yet\n", "R-003: log it while it is printed"), "implement"),
            at(built("WU-002", "bye.sh", "echo Bye | tee -a bye.log\n", "None"), "repair"),
        ],
        "repair-author": [ticket("WU-001"), ticket("WU-002")],
        // It passes greet.sh though it prints Hi.
        "verifier": [
            checked("WU-001", &[row("AC-001", "PASS", None)]),
            checked("WU-002", &[row("AC-002", "PASS", None), row("AC-003", "PASS", None)]),
        ],
        "documenter": [entry(json!({}), json!({"hand_over": {"outcome": OUTCOME}}), &run("documenter"))],
        "auditor": [
            entry(json!({"iteration": 1}), json!({}), &report("verifier", "run", json!({"status": "FAIL", "outcome_evaluations": [whole[0], whole[1], whole[2], hidden]}))),
            entry(json!({"iteration": 2}), json!({}), &report("verifier", "run", json!({"status": "BLOCKED", "blocking_question": "Is the log kept?"}))),
            entry(json!({}), json!({}), &report("verifier", "run", json!({"outcome_evaluations": [whole[0], whole[1], whole[2], row("AC-003", "PASS", None)]}))),
        ],
    }})
}

fn autonomous() -> Vec<&'static str> {
    [&INTAKE[..], &["--input", "profile=strict", "--input", "path=autonomous_goal"]].concat()
}

#[test]
fn a_lie_against_a_command_is_repaired_and_a_requirement_that_was_left_for_later_fails_the_audit() {
    let (play, said) = play(&story(), &autonomous());
    // The verifier accepts what the command of its row has shown to be wrong: that is a rejection, and goes to the repair.
    said.exits(4)
        .says("AC-001 failed")
        .says("The audit does not find every requirement")
        .says("it is not logged while it is printed")
        .says("AC-003 is failed: bye.sh knows of a log, for R-003: every Bye is logged while it is printed");
    assert_eq!((play.dispatched("repair-author"), play.dispatched("auditor")), (1, 1));
    let next = play.brief("auditor", 1);
    assert!(next.contains("R-003: log it while it is printed"), "{next}");
    let line = |row: &str| {
        let matrix = play.tollgate(&["show", "RUN", "--matrix"]).exits(0).out;
        let line = matrix.lines().find(|line| line.contains(row)).unwrap_or_else(|| panic!("{matrix}"));
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("AC-003"), "R-003 (in_scope) WU-002 AC-003 failed report fail (att_19) fresh auditor");
    // The repair changed what the audit rested on: until it is heard again, that is stale.
    play.decide(&["dec_1", "repair", "--no-wait"]).exits(4).says("Is the log kept?");
    assert_eq!(line("AC-004"), "R-002 (in_scope) AC-004 stale report pass (att_19) stale auditor");
    play.decide(&["dec_2", "--text", "It is."]).exits(0).says("succeeded");
    assert_eq!(line("AC-003"), "R-003 (met) WU-002 AC-003 passed report pass (att_28) fresh auditor");
    // What was left for later is in the picture of the run, whoever judged it since.
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    let left = shown.split("Left open by reports").nth(1).unwrap_or_else(|| panic!("{shown}"));
    assert!(left.contains("R-003: log it while it is printed") && left.contains("(implementer"), "{left}");
    assert_eq!(left.matches("None").count(), 0, "{left}");
    assert_eq!(
        (play.file("greet.sh").as_deref(), play.file("bye.sh").as_deref()),
        (Some("echo Hello\n"), Some("echo Bye | tee -a bye.log\n"))
    );
    play.holds();
}

#[test]
fn a_person_decides_what_is_left_out_and_approves_the_reading_and_a_plan_alone_is_reported() {
    let scope = "proposed_current_scope";
    let hello = "greet.sh prints Hello";
    let rows = [
        ("R-001", hello, scope),
        ("R-002", "every greeting is logged", "non_material_context"),
        ("R-003", "it greets in French", "proposed_deferred"),
    ];
    let run = report("documenter", "run", json!({}));
    let hands =
        |stage: &str, name: &str, text: &str| entry(json!({"stage": stage}), json!({"hand_over": {name: text}}), &run);
    let planned = units(&[("WU-001", "greet.sh", &["R-001"])]);
    let matrix = matrix(&[["AC-001", "WU-001", "R-001", "greet.sh is there", "cmd: sh greet.sh"]]);
    let script = json!({"script": 1, "roles": {
        "analyst": [
            hands("corpus", "corpus", CORPUS),
            hands("coverage", "coverage", &coverage(&rows)),
            hands("spec", "spec", &spec("Draft", &rows)),
            hands("answer-questions", "spec", &spec("Draft", &rows)),
        ],
        "planner": [entry(json!({}), json!({"hand_over": {"plan": planned, "matrix": matrix}}), &run)],
    }});
    let given = ["--input", "width=2", "--input", "profile=planning_only", "--input", "path=human_in_loop"];
    let (play, said) = play(&script, &given);
    // Nothing is inferred: what was not given is asked on one card, and nobody works before it is answered.
    said.exits(4).says("`sources`, a text").says("`boundaries`, a text").silent_on("`width`");
    play.decide(&["dec_1", "--answer", "boundaries=README.md stays", "--no-wait"]).exits(4);
    assert_eq!(play.dispatched("analyst"), 0);
    let said = play.decide(&["dec_1", "--answer", "sources=the request", "--no-wait"]);
    // What the analyst calls no requirement is a proposal; what is in scope needs no word.
    said.exits(4).says("R-002 is proposed as non_material").says("R-003 is proposed as deferred").silent_on("R-001 is");
    play.decide(&["dec_2", "decided", "--requirement", "R-003=deferred", "--no-wait"])
        .exits(4)
        .says("R-002 is proposed");
    let decided = ["dec_3", "decided", "--requirement", "R-002=in_scope", "--no-wait"];
    play.decide(&decided)
        .exits(4)
        .says("ada decided: R-002 is in scope")
        .says("Is this the right reading of the sources?");
    // Every later brief holds what was decided, and whose proposal beside it no longer counts.
    let brief = stage_brief(&play, "spec", 1, "");
    for said in ["- R-002: in scope, decided by ada at dec_3\n", "dec_3: `non_material` in this document is overruled"]
    {
        assert!(brief.contains(said), "{said}: {brief}");
    }
    let document = |name: &str| {
        let path = format!("state/runs/{}/files/{name}", play.run);
        std::fs::read_to_string(play.world.path(&path)).unwrap()
    };
    let coverage = document("COVERAGE.yaml");
    assert!(coverage.contains("in_current_scope") && coverage.contains("decided by ada at dec_3"), "{coverage}");
    play.decide(&["dec_4", "question", "--text", "Is stdout enough?", "--no-wait"]).exits(4);
    play.decide(&["dec_5", "revise", "--text", "Name the scripts.", "--no-wait"]).exits(4);
    // What is deferred at the gate is not planned for.
    play.decide(&["dec_6", "defer", "--requirement", "R-002=deferred", "--no-wait"]).exits(4);
    play.decide(&["dec_7", "approve", "--no-wait"])
        .exits(4)
        .says("Start these units")
        .says("AC-001 is open: greet.sh is there, for R-001: greet.sh prints Hello");
    let brief = play.brief("planner", 1);
    let last = ["R-002: deferred, decided by ada at dec_6", "R-003: deferred, decided by ada at dec_2"];
    for said in ["Is stdout enough?", "Name the scripts.", "README.md stays"].iter().chain(&last) {
        assert!(brief.contains(said), "{said}: {brief}");
    }
    assert!(!brief.contains("R-002: in scope"), "{brief}");
    let spec = document("SPEC.md");
    let row = spec.lines().find(|line| line.starts_with("| R-002 | the request")).unwrap_or_else(|| panic!("{spec}"));
    assert!(row.contains("explicit_user_deferred | decided by ada at dec_6"), "{row}");
    // Each decision says what it decided, and by which one it counts no longer.
    let decisions = play.tollgate(&["decisions", "RUN"]).exits(0).out;
    for said in ["R-003: deferred\n", "R-002: in scope, until dec_6\n", "R-002: deferred\n"] {
        assert!(decisions.contains(said), "{said}: {decisions}");
    }
    let lines = play.tollgate(&["decisions", "RUN", "--json"]).exits(0).out;
    let third: Value = serde_json::from_str(lines.lines().nth(2).unwrap()).unwrap();
    let expected = json!([{"id": "R-002", "disposition": "in_scope", "overruled_by": "dec_6"}]);
    assert_eq!(third["requirements"], expected, "{third}");
    play.decide(&["dec_8", "approve"]).exits(0).says("ada answers dec_8: approve").says("reported");
    assert_eq!((play.dispatched("planner"), play.dispatched("implementer")), (1, 0));
    // The matrix says whose word it is that nothing shows a requirement.
    let matrix = play.tollgate(&["show", "RUN", "--matrix"]).exits(0).out;
    let deferred = matrix.lines().find(|line| line.contains("R-003 (deferred)")).unwrap_or_else(|| panic!("{matrix}"));
    assert!(deferred.contains("deferred (dec_2)") && deferred.ends_with("fresh    ada"), "{matrix}");
    play.holds();
}

/// Who builds says in a typed field what it leaves open. Where that is a requirement of its unit, nobody's acceptance makes it met.
#[test]
fn a_requirement_that_a_report_leaves_open_by_its_id_goes_back_to_who_left_it() {
    let mut script = story();
    let built = &mut script["roles"]["implementer"][2]["report"];
    built["next_action"] = "None".into();
    built["notices"] = json!([{"kind": "future_work", "text": "log it while it is printed", "requirement": "R-003"}]);
    // The auditor passes everything, as the verifier does.
    script["roles"]["auditor"].as_array_mut().unwrap().drain(..2);
    let (play, said) = play(&script, &autonomous());
    said.exits(0).says("the report leaves R-003 open, which is in scope: log it while it is printed").says("succeeded");
    assert_eq!((play.dispatched("repair-author"), play.dispatched("auditor")), (2, 1));
    assert_eq!(play.file("bye.sh").as_deref(), Some("echo Bye | tee -a bye.log\n"));
    play.holds();
}

/// The documenter gives its document after the command ran, and nothing of the tree changes: the command has shown what it showed.
#[test]
fn a_document_that_comes_after_a_command_leaves_its_result_and_nobody_is_asked() {
    let required = [("R-001", "greet.sh prints Hello", "proposed_current_scope")];
    let run = |role: &str| report(role, "run", json!({}));
    let hands = |stage: &str, name: &str, text: &str| {
        entry(json!({"stage": stage}), json!({"hand_over": {name: text}}), &run("documenter"))
    };
    let planned = units(&[("WU-001", "greet.sh", &["R-001"])]);
    let rows = matrix(&[["AC-001", "WU-001", "R-001", "greet.sh prints Hello", "cmd: sh greet.sh \\| grep -q Hello"]]);
    let passed = json!({"outcome_evaluations": [row("AC-001", "PASS", None)]});
    let built = report("implementer", "WU-001", json!({"changed_surfaces": ["greet.sh"]}));
    let script = json!({"script": 1, "roles": {
        "analyst": [
            hands("corpus", "corpus", CORPUS),
            hands("coverage", "coverage", &coverage(&required)),
            hands("spec", "spec", &spec("Draft", &required)),
        ],
        "planner": [entry(json!({}), json!({"hand_over": {"plan": planned, "matrix": rows}}), &run("documenter"))],
        "implementer": [entry(json!({}), json!({"write": {"greet.sh": "echo Hello\n"}}), &built)],
        "verifier": [entry(json!({}), json!({}), &report("verifier", "WU-001", passed.clone()))],
        "documenter": [entry(json!({}), json!({"hand_over": {"outcome": OUTCOME}}), &run("documenter"))],
        "auditor": [entry(json!({}), json!({}), &report("verifier", "run", passed))],
    }});
    let (play, said) = play(&script, &autonomous());
    said.exits(0).says("succeeded").silent_on("dec_1");
    assert_eq!((play.dispatched("verifier"), play.dispatched("auditor")), (1, 1));
    let evidence = play.tollgate(&["show", "RUN", "--evidence"]).exits(0).out;
    assert!(!evidence.contains("stale"), "{evidence}");
    play.holds();
}
