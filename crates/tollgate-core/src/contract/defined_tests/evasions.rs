//! Documents that keep the letter of a contract and break its sense.

use super::*;
use crate::contract::tree::json;

/// The rules and codes that a changed example breaks.
pub(super) fn broken(id: &str, by: Option<&str>, change: impl FnOnce(&mut serde_json::Value)) -> Vec<String> {
    let own = registry::all_defined().find(|own| own.definition.id.split('@').next() == Some(id)).unwrap();
    let text = crate::contract::tree::json_line(&own.definition.example);
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    change(&mut document);
    let text = serde_json::to_string_pretty(&document).unwrap();
    json::read(&text).unwrap();
    let context = Context { role: by.map(Into::into), ..Context::default() };
    let judged = own.judge(&text, &context);
    judged
        .diagnostics
        .iter()
        .map(|d| match &d.rule {
            Some(rule) => format!("{}:{rule}", d.place.line),
            None => d.code.to_string(),
        })
        .collect()
}

pub(super) fn rules(broken: &[String]) -> Vec<&str> {
    broken.iter().map(|one| one.split(':').next_back().unwrap()).collect()
}

#[test]
fn a_rejection_is_never_led_to_approval() {
    let own = registry::all_defined().find(|own| own.definition.id.starts_with("supervisor.worker-report@")).unwrap();
    for word in ["NOT PASS", "not PASS", "no PASS", "UNPASS"] {
        let text =
            crate::contract::tree::json_pretty(&own.definition.example).replace("\"PASS\"", &format!("\"{word}\""));
        let judged = own.judge(&text, &Context::default());
        let hint = judged.diagnostics[0].hint.as_deref().unwrap();
        assert_eq!(hint, "one of: PASS, FAIL, BLOCKED", "{word}");
    }
}

#[test]
fn a_template_is_no_document() {
    let context = Context::default();
    for id in registry::all() {
        let (template, told) = match (registry::report_dialect(id), registry::document_dialect(id)) {
            (Some(own), _) => (own.template(&context), own.diagnose(&own.template(&context), &context)),
            (None, Some(own)) => (own.template(), own.read(&own.template(), &context).diagnostics),
            (None, None) => panic!("{id} is no dialect"),
        };
        assert!(told.iter().any(|one| one.severity == Severity::Error), "{id}\n{template}");
    }
    let review = registry::defined("decree.review-approval").unwrap();
    let template = crate::contract::guide::template(&review.definition);
    let filled = template.lines().map(|line| match line.starts_with('<') {
        true => "None\n".to_owned(),
        false => format!("{line}\n"),
    });
    let told = review.judge(&filled.collect::<String>(), &Context::default()).diagnostics;
    assert_eq!(told.len(), 6, "each line of the checklist is told: {told:?}");
}

#[test]
fn a_surface_that_is_everything_is_no_surface() {
    for surface in [".", "/", "./*", "**/*", "*.*", "..", "src/../..", "the entire repo", "All files."] {
        let told = broken("supervisor.dossier", None, |it| it["allowed_surfaces"][0] = surface.into());
        assert_eq!(rules(&told), ["surfaces-are-narrow"], "{surface}");
    }
}

#[test]
fn a_row_of_a_dossier_says_what_is_meant() {
    use serde_json::json;
    for row in [json!({}), json!({"id": "AC-1", "criterion": "TBD"}), json!({"a": "n/a"}), json!({"a": "<what>"})] {
        let told = broken("supervisor.dossier", None, |it| it["acceptance_matrix"][0] = row.clone());
        assert_eq!(rules(&told), ["rows-say-something"], "{row}");
    }
    // The rows refuse the words that the other fields do.
    let own = registry::defined("supervisor.dossier").unwrap();
    let record = own.definition.root.record().unwrap();
    let objective = record.fields.iter().find(|field| &*field.name == "objective").unwrap();
    let crate::contract::definition::Kind::Text(words) = &objective.of.kind else { panic!("objective is a text") };
    assert!(words.never.len() > 15);
    for word in &words.never {
        for said in [word.to_string(), format!("{}.", word.to_uppercase())] {
            for row in [
                json!({"id": "AC-1", "requirement": said}),
                json!({"id": "AC-1", "requirement": "The cart shows a total.", "evidence_required": [said]}),
            ] {
                let told = broken("supervisor.dossier", None, |it| it["acceptance_matrix"][0] = row.clone());
                assert_eq!(rules(&told), ["rows-say-something"], "{row}");
            }
        }
    }
    for said in [
        json!({"id": "AC-1", "criterion": "Two items of 3 and 4 show 7.", "limitation": "none"}),
        json!({"id": "AC-1", "criterion": "None of the items is shown twice.", "depends_on": ["n/a"], "weight": null}),
    ] {
        assert!(
            broken("supervisor.dossier", None, |it| it["acceptance_matrix"][0] = said.clone()).is_empty(),
            "{said}"
        );
    }
    for word in ["whatever", "You decide", "later"] {
        let told = broken("supervisor.dossier", None, |it| it["allowed_surfaces"][0] = word.into());
        assert_eq!(told, ["TG0247"], "{word}");
    }
}

#[test]
fn security_asks_for_a_decision_in_its_own_words() {
    use serde_json::json;
    for findings in [json!(["medium: the cookie lives a year"]), json!([]), json!(null)] {
        let told = broken("team.output", Some("Security"), |it| {
            it["status"] = "NEEDS_DECISION".into();
            if !findings.is_null() {
                it["artifacts"]["findings"] = findings.clone();
            }
        });
        assert!(told.is_empty(), "{findings}: {told:?}");
    }
}

#[test]
fn a_pass_needs_evidence_that_says_something() {
    use serde_json::json;
    for nothing in [
        json!([]),
        json!([{}]),
        json!([{"a": null}]),
        json!(["none"]),
        json!(["..."]),
        json!([{"a": ["N/A", {}]}, "-"]),
    ] {
        let told = broken("supervisor.worker-report", None, |it| it["evidence"] = nothing.clone());
        assert_eq!(rules(&told), ["pass-has-evidence"], "{nothing}");
        let told =
            broken("supervisor.worker-report", None, |it| it["outcome_evaluations"][0]["evidence"] = nothing.clone());
        assert_eq!(rules(&told), ["passed-row-has-evidence"], "{nothing}");
    }
    let unseen = broken("supervisor.worker-report", None, |it| it["evidence"] = json!(["\u{200b}"]));
    assert_eq!(unseen, ["TG0246"]);
    for said in [json!(["npm test"]), json!([{"exit": 0}]), json!(["✅"]), json!(["none", "npm test: 3 passed"])] {
        assert!(broken("supervisor.worker-report", None, |it| it["evidence"] = said.clone()).is_empty(), "{said}");
    }
    // Who is blocked has no evidence to show.
    let blocked = broken("supervisor.worker-report", None, |it| {
        it["status"] = "BLOCKED".into();
        it["evidence"] = json!(["none"]);
    });
    assert!(blocked.is_empty(), "{blocked:?}");
}

/// A question that asks nothing is told: nobody could answer it.
#[test]
fn a_question_that_says_nothing_blocks_nothing() {
    for said in ["none", "None.", "N/A", "null", "-", "no", "...", "No question", "(none)"] {
        for (status, rule) in [("BLOCKED", "question-asks-something"), ("PASS", "only-blocked-asks")] {
            let told = broken("supervisor.worker-report", None, |it| {
                it["status"] = status.into();
                it["blocking_question"] = said.into();
            });
            assert_eq!(rules(&told), [rule], "{status} {said}");
        }
    }
    for said in ["No test covers it: which one should?", "None of the two roundings is in the spec. Which one?"] {
        let told = broken("supervisor.worker-report", None, |it| {
            it["status"] = "BLOCKED".into();
            it["blocking_question"] = said.into();
        });
        assert!(told.is_empty(), "{said}: {told:?}");
    }
}

#[test]
fn no_judge_waves_a_high_risk_through() {
    use serde_json::json;
    for by in ["Reviewer", "QA", "Security"] {
        for severity in ["high", "critical", "blocker"] {
            let told = broken("team.output", Some(by), |it| {
                it["artifacts"]["findings"] = json!([{"severity": severity, "description": "The password is logged."}]);
            });
            assert_eq!(rules(&told), ["high-risk-blocks"], "{by} {severity}");
        }
        let told = broken("team.output", Some(by), |it| {
            it["artifacts"]["review_comments"] = json!([{"severity": "blocker", "message": "The password is logged."}]);
        });
        assert_eq!(rules(&told), ["review-with-a-blocker-blocks"], "{by}");
    }
}

#[test]
fn each_kind_of_label_stands_once() {
    let own = registry::all_defined().find(|own| own.definition.id.starts_with("decree.task-issue@")).unwrap();
    let text = text_of(own, &own.definition.example);
    let told = |labels: &[&str]| {
        let labels = Some(labels.iter().map(|label| (*label).into()).collect());
        let judged = own.judge(&text, &Context { labels, ..Context::default() });
        let told = judged.diagnostics.iter().map(|d| d.rule.as_ref().map_or(d.code.to_string(), ToString::to_string));
        told.collect::<Vec<_>>()
    };
    let rest = ["status:pending", "priority:high", "complexity:simple"];
    assert!(told(&[&rest[..], &["task:implement"]].concat()).is_empty());
    assert_eq!(told(&[&rest[..], &["task:implement", "task:docs"]].concat()), ["is-an-implementation"]);
    assert_eq!(told(&[&rest[..], &["task:docs"]].concat()), ["is-an-implementation"]);
    for twice in ["task:implement", "status:pending", "priority:high", "complexity:simple"] {
        assert_eq!(told(&[&rest[..], &["task:implement", twice]].concat()), ["TG0248"], "{twice}");
    }
}

#[test]
fn a_pending_decision_is_pointed_at_where_it_is_not_open() {
    for (field, value) in
        [("answer", "half up"), ("resolved_at", "2026-01-31T12:30:00Z"), ("resolution_reason", "no answer")]
    {
        let mut line = 0;
        let told = broken("team.status", None, |it| {
            let decision = &mut it["user_decisions"][0];
            decision["status"] = "pending".into();
            for name in ["answer", "resolved_at", "resolution_reason"] {
                decision[name] = if name == field { value.into() } else { serde_json::Value::Null };
            }
            let text = serde_json::to_string_pretty(it).unwrap();
            line = 1 + text.lines().position(|line| line.contains(&format!("\"{field}\": \""))).unwrap();
        });
        assert_eq!(told, [format!("{line}:pending-is-open")], "{field}");
    }
}

#[test]
fn an_issue_that_has_no_label_at_all_is_not_ready() {
    for id in ["decree.task-issue", "decree.refinement-issue"] {
        let own = registry::defined(id).expect(id);
        let text = text_of(own, &own.definition.example);
        let told = |labels| own.judge(&text, &Context { labels, ..Context::default() }).diagnostics;
        assert!(told(None).is_empty(), "{id}: nothing is known");
        let found = told(Some(Vec::new()));
        assert!(found.len() > 1 && found.iter().all(|one| one.rule.is_some()), "{id}: {:?}", super::told(&found));
    }
}

/// A name that is wrong hides nothing but what may have been meant as it.
#[test]
fn a_bad_id_hides_no_unknown_dependency() {
    let own = registry::defined("team.tasks").expect("team.tasks");
    let task = |id: &str, needs: &str| {
        format!("- {{id: {id}, status: blocked, goal: g, acceptance_checks: [\"cmd: x\"], depends_on: [{needs}]}}\n")
    };
    let told = |tasks: [String; 2]| {
        let text = format!("tasks:\n{}", tasks.concat());
        let judged = own.judge(&text, &Context::default());
        judged.diagnostics.iter().map(|one| (one.code, one.place.line)).collect::<Vec<_>>()
    };
    for id in ["X", "T_1", "7"] {
        let both = [(crate::code::Code::RULE_BROKEN, 3)];
        assert_eq!(told([task(id, ""), task("T-002", "T-009")])[1..], both, "{id}");
        assert_eq!(told([task(id, ""), task("T-002", "T-001")]).len(), 1, "{id}: one mistake");
    }
    assert_eq!(told([task("X", ""), task("T-002", "X")]).len(), 1, "the name as it is written");
}

/// A line of a checklist that is struck through was taken out, and what is left of one counts.
#[test]
fn what_is_struck_through_is_not_checked() {
    let review = registry::defined("decree.review-approval").unwrap();
    let example = crate::contract::guide::example(&review.definition);
    let errors = |text: &str| {
        let told = review.judge(text, &Context::default()).diagnostics;
        told.into_iter().filter(|one| one.severity == Severity::Error).count()
    };
    let (label, value) = ("**Code Quality:**", "Consistent with project standards");
    let with = |line: &str| {
        let old = format!("- {label} {value}");
        assert!(example.contains(&old), "{example}");
        example.replace(&old, line)
    };
    for struck in [
        format!("- ~~{label} {value}~~"),
        format!("- {label} ~~{value}~~"),
        format!("- <del>{label} {value}</del>"),
        format!("- [x] {label} <s>{value}</s>"),
    ] {
        assert_eq!(errors(&with(&struck)), 1, "{struck}");
    }
    assert_eq!(errors(&with(&format!("- {label} ~~Not consistent~~ {value}"))), 0);
    let all: String = example
        .lines()
        .map(|line| line.strip_prefix("- ").map_or(format!("{line}\n"), |it| format!("- ~~{it}~~\n")))
        .collect();
    assert_eq!(errors(&all), 6);
    assert_eq!(
        errors(
            &example
                .replace("### Checklist\n", "### Checklist\n\n<del>\n")
                .replace("### Warnings", "</del>\n\n### Warnings")
        ),
        6
    );
    for tag in ["del", "s", "strike"] {
        assert_eq!(errors(&format!("<{tag}>\n\n{example}\n</{tag}>\n")), 1, "{tag}");
        assert_eq!(errors(&format!("<{tag}>old</{tag}>\n\n{example}")), 0, "{tag}");
    }
}

/// A number that is too large to be counted is none that comes next.
#[test]
fn decisions_are_numbered_however_large_the_number() {
    let numbered = |ids: &[&str]| {
        let told = broken("team.status", None, |it| {
            let one = it["user_decisions"][0].clone();
            let with = |id: &&str| {
                let mut one = one.clone();
                one["decision_id"] = (*id).into();
                one
            };
            it["user_decisions"] = ids.iter().map(with).collect();
        });
        told.is_empty()
    };
    assert!(numbered(&["UD-1", "UD-2"]));
    for ids in [
        &["UD-1", "UD-3"][..],
        &["UD-1", "UD-99999999999999999999999"],
        &["UD-1", "UD-18446744073709551616", "UD-2"],
        &["UD-99999999999999999999999"],
    ] {
        assert!(!numbered(ids), "{ids:?}");
    }
}

/// The codes of the errors of a document.
pub(super) fn errors(id: &str, text: &str) -> Vec<String> {
    let judged = registry::defined(id).unwrap().judge(text, &Context::default());
    let wrong = judged.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    wrong.map(|one| format!("{} {}", one.place.line, one.code)).collect()
}

#[test]
fn a_line_of_a_checklist_that_denies_is_no_approval() {
    let review = registry::defined("decree.review-approval").unwrap();
    let example = crate::contract::guide::example(&review.definition);
    let with = |label: &str, value: &str| -> String {
        let line = |line: &str| match line.starts_with(&format!("- **{label}:**")) {
            true => format!("- **{label}:** {value}\n"),
            false => format!("{line}\n"),
        };
        example.lines().map(line).collect()
    };
    for (label, value) in [
        ("Acceptance Criteria", "FAIL: criterion 3 is not met"),
        ("Acceptance Criteria", "not verified"),
        ("Code Quality", "needs-changes: rename `x`"),
        ("Code Quality", "not checked"),
        ("Code Quality", "TBD"),
        ("Code Quality", "None"),
        ("Code Quality", "[ ] Consistent with project standards"),
        ("Code Quality", "skipped: no time"),
        ("Spec Conformance", "TODO: check"),
        ("Scope Compliance", "No"),
        ("Unresolved Comments", "pending: two of them"),
        ("Acceptance Criteria", "FAIL criterion 3"),
        ("Acceptance Criteria", "Status: FAIL"),
        ("Acceptance Criteria", "1 ✓, 2 ✓, 3 ✗"),
        ("Acceptance Criteria", "✗ criterion 3"),
        ("Acceptance Criteria", "pass | fail"),
        ("Acceptance Criteria", "<pass/fail>"),
        ("Code Quality", "Skipped, no time"),
        ("Code Quality", "rejected"),
        ("Code Quality", "🔴"),
        ("Code Quality", "👎 names"),
        ("Acceptance Criteria", "All 4 criteria verified\n  - criterion 1: FAIL"),
        ("Acceptance Criteria", "All 4 criteria verified\n  - criterion 1: PASS\n    - case 2: FAIL"),
        ("Acceptance Criteria", "All 4 criteria verified\n\n  not verified on a terminal"),
        ("Acceptance Criteria", "All 4 criteria verified\n  | c | r |\n  |---|---|\n  | 1 | FAIL |"),
        ("Unresolved Comments", "No outstanding items\n  - the second: pending\n  - FAIL: the third"),
        ("Acceptance Criteria", "Not all criteria verified"),
        ("Code Quality", "Consistent\n- **Required Changes:** Fix the NaN"),
        ("Code Quality", "Consistent\n  - must fix: NaN"),
        ("Code Quality", "Consistent\n\n| Step | Result |\n|---|---|\n| Acceptance Criteria | FAIL |"),
    ] {
        assert_eq!(errors("decree.review-approval", &with(label, value)).len(), 1, "{label}: {value}");
    }
    for (label, value) in [
        ("Unresolved Comments", "N/A"),
        ("Unresolved Comments", "No — all are settled"),
        ("Unresolved Comments", "None"),
        ("Unresolved Comments", "Not applicable"),
        ("Unresolved Comments", "✅ None"),
        ("Task Constraints", "N/A"),
        ("Task Constraints", "Not applicable"),
        ("Acceptance Criteria", "Rejected promises are caught: verified"),
        ("Code Quality", "No failures, nothing missing"),
        ("Spec Conformance", "Failing test added first, as the spec says"),
        ("Code Quality", "Consistent\n- **Security:** inputs are checked\n- **Blocking issues:** None"),
        (
            "Acceptance Criteria",
            "All 4 criteria verified\n  - criterion 1: PASS\n  - criterion 2: fails with 401, as it must",
        ),
    ] {
        assert_eq!(errors("decree.review-approval", &with(label, value)), [""; 0], "{label}: {value}");
    }
}

#[test]
fn what_is_struck_through_is_no_finding_and_no_option() {
    let text = |id: &str| crate::contract::guide::example(&registry::defined(id).unwrap().definition);
    let (rejection, blocker) = (text("decree.review-rejection"), text("decree.blocker"));
    let finding = rejection.lines().find(|line| line.contains("**What:**")).unwrap();
    let struck = rejection.replace(finding, &format!("- ~~{}~~ (mended)", finding.trim_start_matches("- ")));
    assert_eq!(errors("decree.review-rejection", &struck), ["7 TG0247"], "{struck}");
    for out in [format!("- ~~{}~~", &finding[2..]), format!("- ~~{}~~ (mended)", &finding[2..])] {
        let beside = rejection.replace(finding, &format!("{out}\n{finding}"));
        assert_eq!(errors("decree.review-rejection", &beside), [""; 0], "{beside}");
    }
    let struck = blocker.replace("Option A because", "~~Option A~~ because");
    assert_eq!(errors("decree.blocker", &struck).len(), 1, "{struck}");
    let struck = blocker.replace("**Keep fractions**", "~~**Keep fractions**~~");
    assert_ne!(struck, blocker);
    assert_eq!(errors("decree.blocker", &struck).len(), 1, "{struck}");
}

#[test]
fn labels_with_a_dash_are_one_mistake_where_they_stand() {
    let review = registry::defined("decree.review-approval").unwrap();
    let text = crate::contract::guide::example(&review.definition).replace(":** ", "** — ");
    assert_eq!(errors("decree.review-approval", &text), ["5 TG0247"], "{text}");
}

#[test]
fn options_that_are_headings_are_one_mistake() {
    let blocker = crate::contract::guide::example(&registry::defined("decree.blocker").unwrap().definition);
    let text = blocker
        .replace("1. **Round half up**", "### Option A: Round half up\n")
        .replace("2. **Keep fractions**", "### Option B: Keep fractions\n");
    assert_eq!(text.matches("### ").count(), 2, "{text}");
    assert_eq!(errors("decree.blocker", &text).len(), 1, "{text}\n{:?}", errors("decree.blocker", &text));
    // What stands behind the last label under a heading of its own is no part of it.
    let more = format!("{}\n\n### Notes\n\nNone.\n", blocker.trim_end());
    assert_eq!(errors("decree.blocker", &more), [""; 0], "{more}");
}

/// What, Why and Fix as three items are one finding, and one mistake.
#[test]
fn labels_that_stand_in_several_items_are_one_mistake() {
    let review = registry::defined("decree.review-rejection").unwrap();
    let example = crate::contract::guide::example(&review.definition);
    let parted = example.replace(" **Why:**", "\n- **Why:**").replace(" **Fix:**", "\n- **Fix:**");
    assert_ne!(parted, example);
    assert_eq!(errors("decree.review-rejection", &parted), ["7 TG0247"], "{parted}");
    let judged = review.judge(&parted, &Context::default());
    assert_eq!(judged.diagnostics[0].message, "`What:`, `Why:`, `Fix:` stand in 3 items");
}

#[test]
fn a_hint_says_what_to_write() {
    let hint = |id: &str, text: &str| -> String {
        let judged = registry::defined(id).unwrap().judge(text, &Context::default());
        judged.diagnostics[0].hint.as_deref().unwrap_or_default().to_owned()
    };
    let review = crate::contract::guide::example(&registry::defined("decree.reviewer-result").unwrap().definition);
    let pr = review.lines().find(|line| line.starts_with("**PR:**")).unwrap();
    for said in ["https://github.com/acme/shop/pull/34", "[#34](https://github.com/acme/shop/pull/34)", "#34 (draft)"] {
        let text = review.replace(pr, &format!("**PR:** {said}"));
        assert_eq!(hint("decree.reviewer-result", &text), "write `#34` and nothing else", "{said}");
    }
    let tasks = crate::contract::guide::example(&registry::defined("team.tasks").unwrap().definition);
    let check = tasks.lines().find(|line| line.contains("cmd: npm test")).unwrap();
    let text = tasks.replacen(check, &check.replace(['"', '\''], ""), 1);
    assert_ne!(text, tasks);
    assert_eq!(hint("team.tasks", &text), "put it in quotes: `\"cmd: npm test\"`");
}
