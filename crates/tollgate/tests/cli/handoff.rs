//! Hand-offs that say more than they may, or less, and are read for what they are.

use crate::own_contract::CONTRACT as OWN;
use crate::world::World;

pub fn shown(world: &World, what: &str) -> String {
    String::from_utf8(world.run(&format!("contract show {what}"), "").stdout).unwrap()
}

/// Health, verdict, and the errors, in a line.
pub fn checked(world: &World, options: &str, text: &str) -> String {
    world.write("it", text);
    told(world, &format!("contract check --json --contract {options} it"))
}

pub fn extracted(world: &World, options: &str, text: &str) -> String {
    world.write("it", text);
    told(world, &format!("contract extract --json --contract {options} it"))
}

fn told(world: &World, command: &str) -> String {
    let (lines, exit) = world.json(command);
    let report = &lines[0]["report"];
    let word = |key: &str| report[key].as_str().unwrap_or("-").to_owned();
    let errors: Vec<String> = lines[0]["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["severity"] == "error")
        .map(|one| format!(" {}@{}", one["code"].as_str().unwrap(), one["line"]))
        .collect();
    let code = report["code"].as_str().map(|code| format!(".{code}")).unwrap_or_default();
    format!("{exit} {}{code} {}{}", word("health"), word("verdict"), errors.concat())
}

#[test]
fn an_approval_has_no_findings_and_no_open_box() {
    let world = World::new();
    let approval = shown(&world, "decree.review-approval --example");
    let check = |text: &str| checked(&world, "decree.review-approval", text);
    assert_eq!(check(&approval), "0 ok accept");
    let finding = "- **What:** x **Why:** y **Fix:** z";
    for heading in ["### Findings", "### findings:", "## Findings", "### Findings (1)"] {
        let with = format!("{approval}\n{heading}\n\n{finding}\n");
        assert!(check(&with).starts_with("1 malformed none TG0"), "{heading}: {}", check(&with));
    }
    assert_eq!(check(&format!("{approval}\n### Findings\n\nNone\n")), "0 ok accept");
    assert_eq!(check(&approval.replace("- **", "- [x] **")), "0 ok accept");
    assert_eq!(check(&approval.replace("- **Code", "- [ ] **Code")), "1 malformed none TG0247@10");
    assert_eq!(
        check(&approval.replace("\n### Warnings", "- [ ] **Docs:** not looked at\n\n### Warnings")),
        "1 malformed none TG0247@11"
    );
    assert!(!shown(&world, "decree.review-approval --template").contains("Findings"));

    let result = shown(&world, "decree.reviewer-result --example");
    let check = |text: &str| checked(&world, "decree.reviewer-result", text);
    let findings = format!("{result}\n### Findings\n\n- It shows NaN.\n");
    assert_eq!(check(&findings), "1 malformed none TG0249@15");
    assert_eq!(check(&findings.replace("approved", "needs-changes")), "0 ok reject");
    assert_eq!(
        check(&format!("{result}\n### Checklist\n\n- [x] Scope\n- [ ] Quality\n")),
        "1 malformed none TG0249@15"
    );
}

const WHY: &str = "No test shows the second criterion.";

pub fn verdict(word: &str) -> String {
    format!(
        "{{\"kind\": \"wr.gate_verdict\", \"version\": 1, \"verdict\": \"{word}\", \"confidence\": \"high\", \"rationale\": \"{WHY}\"}}"
    )
}

#[test]
fn what_nobody_filled_in_is_no_report() {
    let world = World::new();
    let extract = |text: &str| extracted(&world, "wr.gate_verdict", text);
    let rejected = verdict("rejected");
    for part in ["--example", "--template", "--instructions", "--schema"] {
        let echo = shown(&world, &format!("wr.gate_verdict {part}"));
        assert_eq!(extract(&format!("{rejected}\n{echo}\n")), "0 ok reject", "{part}");
        if part == "--example" {
            assert_eq!(extract(&echo), "0 ok accept", "alone it may be meant");
            continue;
        }
        assert!(extract(&echo).starts_with("1 malformed none TG0201"), "{part}");
    }
    for part in ["--template", "--instructions", "--schema"] {
        let echo = shown(&world, &format!("build-plan.task {part}"));
        assert!(extracted(&world, "build-plan.task", &echo).starts_with("1 "), "{part}");
    }
    let status = shown(&world, "status-block --example").replace("a checked addition", "a wider type");
    let template = shown(&world, "status-block --template");
    assert_eq!(extracted(&world, "status-block --role reviewer", &format!("{status}\n{template}")), "0 ok reject");
}

#[test]
fn headings_in_other_words_are_what_they_are() {
    let world = World::new();
    let spec =
        "# Spec\n\n## 1. Goals\n\nx\n\n## Acceptance Criteria (ACs)\n\n- a\n\n## Definition of Done (DoD)\n\n- b\n";
    let check = |text: &str| checked(&world, "team.spec", text);
    assert_eq!(check(spec), "0 - -");
    let other =
        spec.replace("Acceptance Criteria (ACs)", "What we accept").replace("Definition of Done (DoD)", "The end");
    assert_eq!(check(&other), "1 - - TG0204@1 TG0204@1", "missing, not cut off");
    let cut = spec.split("## Acceptance").next().unwrap();
    assert!(check(cut).contains("TG0208"), "{}", check(cut));

    let report = shown(&world, "status-block --example");
    let check = |text: &str| checked(&world, "status-block --role reviewer", text);
    let fine = check(&report);
    assert!(fine.starts_with("0 ok"), "{fine}");
    assert_eq!(check(&report.replace("## Status\n", "## Status ##\n").replace("## Abstract", "## Abstract ##")), fine);
    let after = check(&format!("{}\n\nLet me know if you need anything else.\n", report.trim_end()));
    assert!(after.starts_with("0 ok reject"), "{after}");
}

#[test]
fn one_mistake_is_one_error() {
    let world = World::new();
    let result = shown(&world, "decree.implementor-result --example");
    assert_eq!(checked(&world, "decree.implementor-result", &result.replace("**", "")), "1 malformed none TG0247@3");
    let approval = shown(&world, "decree.review-approval --example");
    assert_eq!(
        checked(&world, "decree.review-approval", &approval.replace("**", "")),
        "0 ok accept",
        "an item begins with its label"
    );
    let rejection = shown(&world, "decree.review-rejection --example");
    let bullet = rejection.replace("\n### Warnings", "- something else\n\n### Warnings");
    assert_eq!(checked(&world, "decree.review-rejection", &bullet), "1 malformed none TG0242@8");
    let gate = |text: &str| checked(&world, "wr.gate_verdict", text);
    let whole = verdict("approved");
    assert_eq!(gate(&whole.replace("approved", "\\ud800")), "1 malformed none TG0240@1");
    assert_eq!(gate(&whole.replace("approved", "rejected\u{8}\u{8}\u{8}approved")), "1 malformed none TG0240@1");
    assert_eq!(
        gate(&whole.replace("1, ", "1,, ,").replace("approved", "perhaps")),
        "1 malformed none TG0240@1 TG0245@1"
    );
}

#[test]
fn a_verdict_and_a_level_have_one_answer() {
    let world = World::new();
    let report = shown(&world, "status-block --example");
    for wrong in [
        report.replace("verdict: REQUEST_CHANGES", "verdict: Request-Changes"),
        report.replace("## ", "### "),
        report.replace("## Status\n", "# Status\n"),
    ] {
        assert_ne!(wrong, report);
        world.write("it", &wrong);
        let (lines, exit) = world.json("contract fix --json --contract status-block --role reviewer it");
        assert_eq!((exit, &lines[0]["valid"]), (0, &true.into()), "{wrong}\n{}", lines[0]);
        assert_eq!(std::fs::read_to_string(world.path("work/it")).unwrap(), report);
    }
}

#[test]
fn a_dossier_is_for_the_role_that_is_asked_for() {
    let world = World::new();
    let dossier = shown(&world, "supervisor.dossier --example");
    assert_eq!(checked(&world, "supervisor.dossier --role implementer", &dossier), "0 - -");
    assert!(checked(&world, "supervisor.dossier --role verifier", &dossier).starts_with("1 - - TG0249"));
    world.write("it", &dossier);
    let said = world.run("contract check --contract supervisor.dossier --role pilot it", "");
    assert_eq!(said.status.code(), Some(2));
}

#[test]
fn a_report_that_says_why_has_a_code() {
    let world = World::new();
    let report =
        shown(&world, "supervisor.worker-report --example").replace("\"status\": \"PASS\"", "\"status\": \"BLOCKED\"");
    let because = |reason: &str| {
        let text = report.replace("\"reason\": null", &format!("\"reason\": \"{reason}\""));
        checked(&world, "supervisor.worker-report", &text)
    };
    for (reason, code) in [
        ("adapter_timeout", ".adapter"),
        ("adapter_auth_unavailable", ".auth"),
        ("dirty_workspace", ".dirty"),
        ("scope", ".scope"),
        ("it rains", ""),
    ] {
        assert_eq!(because(reason), format!("0 failed{code} none"), "{reason}");
    }
    let guard = report.replace("\"guard\": null", "\"guard\": {\"allowed_surface_violations\": [\"README.md\"]}");
    assert_eq!(checked(&world, "supervisor.worker-report", &guard), "0 failed.scope none");
    let output = shown(&world, "team.output --example").replace("\"OK\"", "\"BLOCKED\"");
    for (summary, code) in [
        ("missing-context: docs/spec.md is not there.", ".missing-context"),
        ("outgrown: this is three tasks.", ""),
        ("The tools cannot run.", ""),
    ] {
        let text = output.replace("The cart shows a total.", summary);
        assert_eq!(checked(&world, "team.output --role Coder", &text), format!("0 needs_input{code} none"));
    }
    let outgrown = output.replace("\"recommended_agent\": \"Reviewer\"", "\"recommended_agent\": \"Planner\"");
    assert_eq!(checked(&world, "team.output --role Coder", &outgrown), "0 needs_input.outgrown none");
}

#[test]
fn a_contract_that_cannot_be_used_stops_no_other() {
    let world = World::with_repository();
    world.write(".tollgate/contracts/my.verdict.yaml", OWN);
    world.write(
        ".tollgate/contracts/my.broken.yaml",
        OWN.replace("my.verdict", "my.broken")
            .replace("health: ok, verdict: reject", "health: failed, verdict: accept"),
    );
    world.commit("Contracts of our own");
    assert!(world.run("trust", "").status.success());
    world.write("verdict.json", verdict("approved"));
    assert!(world.run("contract check verdict.json", "").status.success(), "a built-in");
    world.write("own.json", "{\"verdict\": \"pass\", \"findings\": []}");
    assert!(world.run("contract check --contract my.verdict own.json", "").status.success(), "another one");
    for command in ["contract list", "contract check --contract my.broken own.json", "contract show my.broken"] {
        let said = world.run(command, "");
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(said.status.code(), Some(1), "{command}: {err}");
        assert!(err.contains("my.broken.yaml"), "{command}: {err}");
    }
}

/// Fields of a finding that the contract does not know are handed on by others; at the top of the verdict nothing unknown may stand.
#[test]
fn a_finding_may_carry_more_than_its_contract_knows() {
    let world = World::new();
    let report = shown(&world, "wr.review_verdict --example");
    assert_eq!(checked(&world, "wr.review_verdict", &report), "0 ok accept_with_notes");
    let more = report.replacen("\"severity\"", "\"ruleId\": {\"id\": 7}, \"tags\": [\"a\"], \"severity\"", 1);
    assert_ne!(more, report);
    assert_eq!(checked(&world, "wr.review_verdict", &more), "0 ok accept_with_notes");
    // What is passed on keeps its form: a line as a text, a file as a list.
    let odd = report.replace("\"startLine\": 12", "\"startLine\": \"12-14\", \"endLine\": null");
    assert_ne!(odd, report);
    assert_eq!(checked(&world, "wr.review_verdict", &odd), "0 ok accept_with_notes");
    let top = report.replacen("\"verdict\"", "\"ruleId\": 7, \"verdict\"", 1);
    assert!(checked(&world, "wr.review_verdict", &top).starts_with("1 malformed none TG0"));
    let (lines, _) = {
        world.write("it", &more);
        world.json("contract check --json --contract wr.review_verdict it")
    };
    let finding = &lines[0]["report"]["findings"][0];
    assert_eq!((&finding["path"], &finding["line"]), (&"src/cart.rs".into(), &12.into()), "{finding}");
    // What stands in a field that is not known cannot make the finding another one.
    let twice = report.replacen("\"severity\": \"minor\"", "\"severity\": \"minor\", \"severity\": \"critical\"", 1);
    assert!(checked(&world, "wr.review_verdict", &twice).starts_with("1 malformed none TG024"));
}

#[test]
fn another_form_is_one_mistake() {
    let world = World::new();
    let status = shown(&world, "status-block --example");
    let from = status.find("outcome:").unwrap();
    let to = status.find("\n\n## Iteration").unwrap();
    let rows: String =
        status[from..to].lines().map(|line| format!("| {} |\n", line.replacen(": ", " | ", 1))).collect();
    let table = format!("{}| field | value |\n|---|---|\n{rows}{}", &status[..from], &status[to..]);
    assert_eq!(checked(&world, "status-block --role reviewer", &table), "1 malformed none TG0210@7");
    let finding = "- [major] `src/cart.rs:42` (BE-012) — the total overflows for large quantities";
    assert!(status.contains(finding));
    let approved = status.replace("REQUEST_CHANGES", "APPROVED").replace("## Findings", "## Befunde");
    assert_eq!(checked(&world, "status-block --role reviewer", &approved), "1 malformed none TG0206@28");
    let rows = "## DoD coverage\n| row | seen |\n|---|---|\n| DoD-1 | ✓ |\n| DoD-2 | ✓ |\n";
    let tested = approved.replace("verdict: APPROVED", "verdict: n/a").replace("## DoD coverage\nNone\n", rows);
    let tested = tested.split("## Befunde").next().unwrap();
    assert_eq!(checked(&world, "status-block --role tester", tested), "1 malformed none TG0224@26");
    let blocker = shown(&world, "decree.blocker --example");
    let headings = blocker.replace("**Options:**", "### Options").replace("**Spec Reference:**", "### Spec Reference");
    assert_eq!(checked(&world, "decree.blocker", &headings), "1 malformed none TG0247@7");
    let second = headings.replace("spec-gap", "gap");
    assert_eq!(checked(&world, "decree.blocker", &second), "1 malformed none TG0245@3 TG0247@7", "and hides no other");
}

#[test]
fn a_key_that_is_wrong_hides_no_circle() {
    let world = World::new();
    let plan = r#"{"created": [7, 8], "closed": [], "updated": [], "blocking": {"7": [8], "8": [7], "x": []}}"#;
    assert_eq!(checked(&world, "decree.planner-output", plan), "1 malformed none TG0249@1 TG0247@1");
}

#[test]
fn what_is_not_done_yet_is_no_finding() {
    let world = World::new();
    let output = shown(&world, "team.output --example")
        .replace("\"meets_definition_of_done\": true", "\"meets_definition_of_done\": false");
    // A reviewer's OK of one task is an OK.
    assert_eq!(checked(&world, "team.output --role QA", &output), "0 ok accept");
    assert_eq!(checked(&world, "team.output --role Coder", &output), "0 ok none");
}
