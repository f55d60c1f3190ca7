//! Every brief of build-plan, as a worker gets it.

use crate::bench::{Bench, checked, developed, reviewed};
use tollgate_contract::briefing::reading_context;
use tollgate_contract::extract::Markers;
use tollgate_contract::registry;
use tollgate_core::context::Change;
use tollgate_core::report::{Health, Judgement};
use tollgate_core::run::event::{ChangeKind, Changed};

const GREET: &str = "\
diff --git a/src/greet.rs b/src/greet.rs
new file mode 100644
--- /dev/null
+++ b/src/greet.rs
@@ -0,0 +1 @@
+pub fn greet(name: &str) -> String { format!(\"Hello, {name}!\") }
";

fn change() -> Change {
    let files = vec![Changed::new("src/greet.rs", ChangeKind::Created)];
    Change { files, patch: GREET.to_owned(), cut: false, since: None }
}

fn standard() -> Bench {
    Bench::open(&[("complexity", "standard")])
}

/// Snapshots a brief. How to report is the contract's to test: here it must only be there, whole and last.
fn snapshot(name: &str, bench: &mut Bench) {
    let shown = bench.brief();
    let attempt = bench.live();
    let role = bench.run.protocol.roles[&bench.role(attempt)].clone();
    let context = reading_context(&bench.run, attempt);
    let told = registry::report_dialect(&role.contract).unwrap().instructions(&context);
    let asked = bench.markers(attempt).request();
    let (brief, rest) = shown.brief.split_at(shown.brief.find("## How to report\n").unwrap());
    assert_eq!(rest, format!("## How to report\n\n{}\n\n{asked}\n", told.trim_end()));
    insta::assert_snapshot!(name, brief);
}

#[test]
fn the_manifest_says_what_is_shown_and_why() {
    let mut bench = standard();
    bench.report("developer", &developed());
    bench.change = Some(change());
    let mut manifest = bench.brief().manifest;
    // The brief's own digest changes with every word of it.
    assert_eq!(manifest["files"][0]["path"], "brief.md");
    manifest["files"].as_array_mut().unwrap().remove(0);
    insta::assert_snapshot!("manifest", serde_json::to_string_pretty(&manifest).unwrap());
}

/// The markers are those of the attempt, inside of a sentence; a tool that is held to a schema is asked for none.
#[test]
fn a_brief_asks_for_the_markers_of_its_attempt() {
    let mut bench = standard();
    let attempt = bench.live();
    let markers = bench.markers(attempt);
    let brief = bench.brief().brief;
    assert_eq!(Markers::named_in(&brief), Some(markers.clone()));
    assert!(markers.begin().contains(&attempt.to_string()));
    assert!(!brief.lines().any(|line| [markers.begin(), markers.end()].contains(&line.trim())), "{brief}");
    bench.marked = false;
    assert_eq!(Markers::named_in(&bench.brief().brief), None);
}

#[test]
fn developer_first() {
    snapshot("developer", &mut standard());
}

#[test]
fn developer_after_a_question_and_findings() {
    let mut bench = standard();
    let blocked = "## Status\nblocked\n\n## Status reason\nthe greeting of a stranger is not said\n\n## Abstract\noutcome: stopped\n\
                   verdict: n/a\nfiles: 0 created, 0 modified, 0 deleted\nnext_phase: stop, surface to human\nopen_questions: 1\n\n\
                   ## Open Questions\n- What does a stranger hear?\n";
    bench.report("developer", blocked);
    bench.answer(None, "Hello, friend!\nNothing else.");
    bench.report("developer", &developed());
    bench.report(
        "dod-checker",
        &checked(
            "APPROVED",
            "reviewer",
            "## Verified rows\n- DoD-1 — src/greet.rs:1\n- DoD-2 — make\n\n## Gaps\nNone\n",
        ),
    );
    bench.report(
        "reviewer",
        &reviewed("REQUEST_CHANGES", "developer", "- [major] `src/greet.rs:1` (RS-1) — the name is not trimmed"),
    );
    bench.change = Some(change());
    snapshot("developer-again", &mut bench);
}

#[test]
fn developer_after_a_malformed_report() {
    let mut bench = standard();
    assert_eq!(bench.report_any("developer", "It is all done, trust me."), Health::Malformed);
    let brief = bench.brief().brief;
    assert!(brief.contains("## Why you are here again"), "{brief}");
    assert!(brief.contains("- there is no report in the text: it has no `## Status` heading"), "{brief}");
}

#[test]
fn dod_checker() {
    let mut bench = standard();
    bench.report("developer", &developed());
    bench.live_after(Judgement::Fail);
    bench.change = Some(change());
    snapshot("dod-checker", &mut bench);
}

#[test]
fn reviewer_first_and_again() {
    let mut bench = standard();
    bench.change = Some(change());
    let check = checked(
        "APPROVED",
        "reviewer",
        "## Verified rows\n- DoD-1 — src/greet.rs:1\n- DoD-2 — make\n\n## Gaps\nNone\n",
    );
    bench.report("developer", &developed());
    bench.report("dod-checker", &check);
    snapshot("reviewer", &mut bench);
    bench.report(
        "reviewer",
        &reviewed("REQUEST_CHANGES", "developer", "- [major] `src/greet.rs:1` — the name is not trimmed"),
    );
    bench.report(
        "developer",
        &developed()
            .replace("1 created, 0 modified", "0 created, 1 modified")
            .replace("## Files Modified\nNone\n", "")
            .replace("Files Created", "Files Modified"),
    );
    bench.report("dod-checker", &check);
    snapshot("reviewer-again", &mut bench);
}

#[test]
fn tester() {
    let mut bench = standard();
    bench.change = Some(change());
    bench.report("developer", &developed());
    bench.report(
        "dod-checker",
        &checked(
            "APPROVED",
            "reviewer",
            "## Verified rows\n- DoD-1 — src/greet.rs:1\n- DoD-2 — make\n\n## Gaps\nNone\n",
        ),
    );
    bench.report("reviewer", &reviewed("APPROVED", "tester", "None"));
    snapshot("tester", &mut bench);
}

#[test]
fn dev_tester_again() {
    let mut bench = Bench::open(&[("complexity", "simple")]);
    bench.report("dev-tester", &developed());
    let gaps = "## Verified rows\n- DoD-1 — src/greet.rs:1\n- DoD-2 — make\n\n## Gaps\n- DoD-3 — no test names an empty name\n";
    bench.report("dod-checker", &checked("BLOCKED", "dev-tester", gaps));
    bench.change = Some(change());
    snapshot("dev-tester-again", &mut bench);
}

#[test]
fn devops() {
    let mut bench = Bench::open(&[("complexity", "standard"), ("infra", "needed")]);
    snapshot("devops", &mut bench);
}
