//! Documents that keep the letter of a contract and break its sense.

use super::*;
use crate::tree::json;

/// The rules and codes that a changed example breaks.
fn broken(id: &str, by: Option<&str>, change: impl FnOnce(&mut serde_json::Value)) -> Vec<String> {
    let own = registry::all_defined().find(|own| own.definition.id.split('@').next() == Some(id)).unwrap();
    let text = crate::tree::json_line(&own.definition.example);
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

fn rules(broken: &[String]) -> Vec<&str> {
    broken.iter().map(|one| one.split(':').next_back().unwrap()).collect()
}

#[test]
fn a_rejection_is_never_led_to_approval() {
    let own = registry::all_defined().find(|own| own.definition.id.starts_with("supervisor.worker-report@")).unwrap();
    for word in ["NOT PASS", "not PASS", "no PASS", "UNPASS"] {
        let text = crate::tree::json_pretty(&own.definition.example).replace("\"PASS\"", &format!("\"{word}\""));
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
    let template = crate::defined::guide::template(&review.definition);
    let filled = template.lines().map(|line| match line.starts_with('<') {
        true => "None\n".to_owned(),
        false => format!("{line}\n"),
    });
    let told = review.judge(&filled.collect::<String>(), &Context::default()).diagnostics;
    assert_eq!(told.len(), 6, "each line of the checklist is told: {told:?}");
}

#[test]
fn a_surface_that_is_everything_is_no_surface() {
    for surface in [".", "/", "./*", "**/*", "*.*", "..", "src/../.."] {
        let told = broken("supervisor.dossier", None, |it| it["allowed_surfaces"][0] = surface.into());
        assert_eq!(rules(&told), ["surfaces-are-narrow"], "{surface}");
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
fn a_pass_needs_evidence() {
    use serde_json::json;
    for nothing in [json!([]), json!([{}]), json!([{"a": null}])] {
        let told = broken("supervisor.worker-report", None, |it| it["evidence"] = nothing.clone());
        assert_eq!(rules(&told), ["pass-has-evidence"], "{nothing}");
        let told =
            broken("supervisor.worker-report", None, |it| it["outcome_evaluations"][0]["evidence"] = nothing.clone());
        assert_eq!(rules(&told), ["passed-row-has-evidence"], "{nothing}");
    }
    let unseen = broken("supervisor.worker-report", None, |it| it["evidence"] = json!(["\u{200b}"]));
    assert_eq!(unseen, ["TG0246"]);
    for said in [json!(["npm test"]), json!([{"exit": 0}])] {
        assert!(broken("supervisor.worker-report", None, |it| it["evidence"] = said.clone()).is_empty(), "{said}");
    }
    // Who is blocked has no evidence to show.
    let blocked = broken("supervisor.worker-report", None, |it| {
        it["status"] = "BLOCKED".into();
        it["evidence"] = json!([]);
    });
    assert!(blocked.is_empty(), "{blocked:?}");
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
        let both = [(tollgate_core::code::Code::RULE_BROKEN, 3)];
        assert_eq!(told([task(id, ""), task("T-002", "T-009")])[1..], both, "{id}");
        assert_eq!(told([task(id, ""), task("T-002", "T-001")]).len(), 1, "{id}: one mistake");
    }
    assert_eq!(told([task("X", ""), task("T-002", "X")]).len(), 1, "the name as it is written");
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

#[test]
fn a_row_of_a_dossier_is_filled_in() {
    use serde_json::json;
    for row in [json!({}), json!({"id": null}), json!({"a": [""]})] {
        let told = broken("supervisor.dossier", None, |it| it["acceptance_matrix"][0] = row.clone());
        assert_eq!(rules(&told), ["rows-say-something"], "{row}");
    }
}

/// The box of a row is the claim, its words are evidence.
#[test]
fn a_box_that_is_not_checked_is_no_approval() {
    let review = crate::defined::guide::example(&registry::defined("decree.review-approval").unwrap().definition);
    for (mark, count) in [("- [ ] **Code", 1), ("- [x] **Code", 0), ("* **Code", 0)] {
        let text = review.replace("- **Code", mark);
        assert_ne!(text, review);
        assert_eq!(errors("decree.review-approval", &text).len(), count, "{text}");
    }
}

/// The codes of the errors of a document.
fn errors(id: &str, text: &str) -> Vec<String> {
    let judged = registry::defined(id).unwrap().judge(text, &Context::default());
    let wrong = judged.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    wrong.map(|one| format!("{} {}", one.place.line, one.code)).collect()
}

#[test]
fn options_that_are_headings_are_one_mistake() {
    let blocker = crate::defined::guide::example(&registry::defined("decree.blocker").unwrap().definition);
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
    let example = crate::defined::guide::example(&review.definition);
    let parted = example.replace(" **Why:**", "\n- **Why:**").replace(" **Fix:**", "\n- **Fix:**");
    assert_ne!(parted, example);
    assert_eq!(errors("decree.review-rejection", &parted), ["7 TG0247"], "{parted}");
    let judged = review.judge(&parted, &Context::default());
    assert_eq!(judged.diagnostics[0].message, "`What:`, `Why:`, `Fix:` are spread over 3 items");
}

#[test]
fn a_hint_says_what_to_write() {
    let hint = |id: &str, text: &str| -> String {
        let judged = registry::defined(id).unwrap().judge(text, &Context::default());
        judged.diagnostics[0].hint.as_deref().unwrap_or_default().to_owned()
    };
    let review = crate::defined::guide::example(&registry::defined("decree.reviewer-result").unwrap().definition);
    let pr = review.lines().find(|line| line.starts_with("**PR:**")).unwrap();
    for said in ["https://github.com/acme/shop/pull/34", "[#34](https://github.com/acme/shop/pull/34)", "#34 (draft)"] {
        let text = review.replace(pr, &format!("**PR:** {said}"));
        assert_eq!(hint("decree.reviewer-result", &text), "write `#34` and nothing else", "{said}");
    }
    let tasks = crate::defined::guide::example(&registry::defined("team.tasks").unwrap().definition);
    let check = tasks.lines().find(|line| line.contains("cmd: npm test")).unwrap();
    let text = tasks.replacen(check, &check.replace(['"', '\''], ""), 1);
    assert_ne!(text, tasks);
    assert_eq!(hint("team.tasks", &text), "put it in quotes: `\"cmd: npm test\"`");
}
