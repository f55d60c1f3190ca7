//! A report behind which the deciding word is said once more, and otherwise.

use super::*;

/// What somebody writes who says a word under a key, and no whole report.
fn ways(key: &str, word: &str) -> Vec<String> {
    let title = format!("{}{}", key[..1].to_uppercase(), &key[1..]);
    vec![
        format!("{{\"{key}\":\"{word}\"}}"),
        format!("{{\"{key}\":\"{word}\",\"reason\":\"x\",\"by\":\"me\"}}"),
        format!("{{\"reason\":\"x\",\"{key}\":\"{word}\"}}"),
        format!("```json\n{{\"{key}\": \"{word}\"}}\n```"),
        format!("{key}: {word}"),
        format!("```yaml\n{key}: {word}\n```"),
        format!("{key}:\n  {word}"),
        format!("{key} = \"{word}\""),
        format!("| {key} | {word} |"),
        format!("| {key} | by |\n|---|---|\n| {word} | me |"),
        format!("- {key}: {word}"),
        format!("- **{title}:** {word}"),
        format!("**{title}**: `{word}`"),
        format!("## {title}\n\n{word}"),
        format!("Final {key}: {word}"),
        format!("I was wrong. {title}: {word}"),
        format!("<{key}>{word}</{key}>"),
        format!("{key} → {word}"),
        format!("{key}: ❌ {word}"),
        format!("{{'{key}': '{word}'}}"),
        format!("1) {title}: {word}"),
        format!("(2) {title}: {word}"),
        format!("- [x] {title}: {word}"),
        format!("## {title}\n\n1. {word}"),
        format!("<h2>{title}: {word}</h2>"),
        format!("<h3>{title}</h3>\n<p>{word}</p>"),
        format!("<ul>\n<li>{title}: {word}</li>\n</ul>"),
        format!("<tr><td>{key}</td><td>{word}</td></tr>"),
        format!("<b>{title}:</b> {word}"),
        format!("│ {key} │ {word} │"),
        format!("║ {key} ║ {word} ║"),
        format!("{key} - {word}"),
        format!("{title} (final): {word}"),
        format!("**{title} [revised]:** {word}"),
        format!("{title}: ~~undecided~~ **{word}**"),
        format!("{title}: <del>undecided</del> {word}"),
        format!("{title}: undecided\n{title}: {word}"),
    ]
}

fn said(text: &str) -> String {
    format!("{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":{}}}}}\n", quoted(text))
}

/// The example of a contract, with other words, so that it is somebody's.
pub(super) fn report(id: &str, from: &str, to: &str) -> String {
    let example = crate::contract::guide::example(&registry::defined(id).expect("a contract").definition);
    assert!(example.contains(from), "{example}");
    example.replace(from, to)
}

fn reports() -> [(&'static str, String, &'static str, &'static str, &'static str); 6] {
    let block = include_str!("../../../../../../docs/contracts/examples/status-block.md");
    [
        ("wr.gate_verdict", verdict("approved", WHY), "verdict", "approved", "rejected"),
        ("wr.loop_control", report("wr.loop_control", "two", "three"), "decision", "stop", "continue"),
        ("supervisor.worker-report", report("supervisor.worker-report", "41", "42"), "status", "PASS", "FAIL"),
        (
            "decree.reviewer-result",
            report("decree.reviewer-result", "#34", "#35"),
            "outcome",
            "approved",
            "needs-changes",
        ),
        ("team.output", report("team.output", "\"OK\"", "\"OK\" "), "status", "OK", "BLOCKED"),
        ("status-block", block.replace("two things", "three things"), "status", "complete", "failed"),
    ]
}

#[test]
fn another_word_behind_a_report_takes_it_back() {
    for (id, report, key, same, other) in reports() {
        let context = Context::default();
        assert!(!found(id, &report, &context).read.is_refused(), "{id}\n{report}");
        let arrows = ["→", "->", "=>", "⇒", "➡️", "⟹"].map(|arrow| format!("{key}: {same} {arrow} {other}"));
        let changes = [
            format!("{key} ➡️ {other}"),
            format!("{key}: {same} (was) → {other}"),
            format!("| Field | Old | New |\n|---|---|---|\n| x | 1 | 2 |\n| {key} | {same} | {other} |"),
            format!("| Round | {key} |\n|---|---|\n| 1 | {same} |\n| 2 | {other} |"),
            format!("| | {key} |\n|---|---|\n| Round 1 | {same} |\n| Round 2 | {other} |"),
            format!("{key} (round 1): {same}\n{key} (round 2): {other}"),
            format!("{key} (round 2): {other}"),
            format!("```rs\n\n{key}: {other}\n"),
            format!("```rs\nlet x = 1;\n```\n\n{key}: {other}\n\n```rs\n```"),
            format!("| | **After** | Before |\n|:--|---|---|\n| **{key}** | `{other}` | {same} |"),
        ];
        for way in ways(key, other).into_iter().chain(arrows).chain(changes) {
            let (no, crlf) = (format!("No:\n\n{way}\n"), |text: &str| text.replace('\n', "\r\n"));
            let below = format!("{report}\n\n{no}");
            let behind = [&no, &crlf(&no)].map(|no| format!("{}{}", said(&report), said(no)));
            for text in [crlf(&below), below].into_iter().chain(behind) {
                let extraction = found(id, &text, &context);
                assert!(shown(&extraction).starts_with("malformed none"), "{id}\n{way}\n{}", shown(&extraction));
            }
        }
    }
    let approved = verdict("approved", WHY);
    check(
        "wr.gate_verdict",
        &format!("{approved}\n\nverdict: rejected\n"),
        "malformed none @3:1 earlier@1:1 valid before@1:1 TG0201@3:1",
    );
    // An echo behind the word hides it no more than words do.
    let Dialect::Report(dialect) = dialect("wr.gate_verdict") else { panic!("a report") };
    let told = dialect.instructions(&Context::default());
    let text = format!("{approved}\n\nverdict: rejected\n\n{told}\n");
    assert!(shown(&found("wr.gate_verdict", &text, &Context::default())).starts_with("malformed none @3:1"));
}

/// The own word denied, and a refusal in words of another contract, say otherwise under the key as a word of the contract does.
#[test]
fn a_denial_and_another_refusal_take_a_report_back() {
    for (id, report, key, same, _) in
        reports().into_iter().filter(|(id, ..)| !["wr.loop_control", "status-block"].contains(id))
    {
        let title = format!("{}{}", key[..1].to_uppercase(), &key[1..]);
        let result = |text: &str| shown(&found(id, &format!("{report}\n\n{text}\n"), &Context::default()));
        for way in [
            format!("{key}: not {same}"),
            format!("{title}: NOT {} ❌", same.to_uppercase()),
            format!("**{title}:** not yet {same}"),
            format!("{title}: un{same}"),
            format!("Final {key}: reject"),
            format!("Final {key}: **needs work**."),
            format!("Final {key} is: declined"),
            format!("The {key} is now: not {same}"),
            format!("{{\"{key}\": \"not {same}\"}}"),
            format!("| {key} | reject |"),
        ] {
            assert!(result(&way).starts_with("malformed none"), "{id}\n{way}\n{}", result(&way));
        }
        for way in [
            format!("{title}: reject the cache, keep the rest."),
            format!("{title}: no change since then"),
            format!("{title}: not applicable to the docs"),
            format!("The {key} is not the same as before."),
            format!("Previous {key}: reject"),
        ] {
            assert!(result(&way).starts_with("ok "), "{id}\n{way}\n{}", result(&way));
        }
    }
    let approved = verdict("approved", WHY);
    check("wr.gate_verdict", &format!("{approved}\n\nverdict: not rejected\n"), "ok accept @1:1");
    check("wr.gate_verdict", &format!("{}\n\nverdict: not rejected\n", verdict("rejected", WHY)), "ok reject @1:1");
}

#[test]
fn the_same_word_and_ordinary_data_take_nothing_back() {
    // Of wr.loop_control, one key is half of those it must have: an object with it is a report that lacks the other.
    for (id, report, key, same, other) in reports().into_iter().filter(|(id, ..)| *id != "wr.loop_control") {
        let as_before = shown(&found(id, &report, &Context::default()));
        let behind = |text: &str| shown(&found(id, &format!("{}{}", said(&report), said(text)), &Context::default()));
        let own = shown(&found(id, &said(&report), &Context::default()));
        assert_eq!(own.split(' ').take(2).collect::<Vec<_>>(), as_before.split(' ').take(2).collect::<Vec<_>>());
        // `## Status` begins another report.
        for way in ways(key, same).iter().filter(|way| !way.starts_with("##")) {
            assert_eq!(behind(&format!("In short:\n\n{way}\n")), own, "{id}\n{way}");
        }
        for data in [
            format!("[{{\"test\": \"a\", \"{key}\": \"{other}\"}}, {{\"test\": \"b\", \"{key}\": \"{same}\"}}]"),
            format!("{{\"test\": \"a\", \"{key}\": \"{other}\"}}\n{{\"test\": \"b\", \"{key}\": \"{other}\"}}\n"),
            format!("{{\"tests\": [{{\"{key}\": \"{other}\"}}], \"took\": 3}}"),
            format!("{{\"name\": \"x\", \"port\": 80, \"{key}\": \"{other}\"}}"),
            format!("The {key} {other} is what it said before."),
            format!("Had it failed, I could not have said that the {key} is {other}."),
            format!("if {key} == \"{other}\" {{ return }}"),
            format!("T-3 {key}: {other}"),
            format!("Task 3 {key}: {other}"),
            format!("{key}: {same} | {other}"),
            format!("{key}: {same} or {other}"),
            format!("{key}: see above"),
            format!("the {key}s: {other}"),
            format!("test.{key}: {other}"),
            format!("~~{key}: {other}~~"),
            format!("{key}: ~~{other}~~ {same}"),
            format!("{key}: {other} → {same}"),
            format!("The {key} (not {other}) stays."),
            format!("| Field | First | Second |\n|---|---|---|\n| {key} | {same} | {other} |"),
            format!("| Field | Old | New |\n|---|---|---|\n| {key} | {other} | {same} |"),
            format!("| Round | {key} |\n|---|---|\n| 1 | {other} |\n| 2 | {same} |"),
            format!("| | {key} |\n|---|---|\n| Round 1 | {other} |\n| Round 2 | {same} |"),
            format!("{key} (round 1): {other}"),
            format!("{key} (round 1): {other}\n{key} (round 2): {other}\n**{key}** (round 3): {same}"),
            format!("```diff\n-{key}: {same}\n+{key}: {other}\n```"),
            format!("```ts\nexpect(r).toEqual({{ {key}: \"{other}\" }})\n```"),
            format!("```http\nHTTP/1.1 409\n\n{{\"{key}\": \"{other}\"}}\n```"),
        ] {
            assert_eq!(behind(&data), own, "{id}\n{data}");
        }
    }
    let rejected = verdict("rejected", WHY);
    for data in ["verdict: Approved", "{\"verdict\": \"APPROVED\"}"] {
        check("wr.gate_verdict", &format!("{rejected}\n\n{data}\n"), "ok reject @1:1");
    }
}

/// Another unit's word is about another unit, and a prompt's own lines are the prompt's.
#[test]
fn what_is_said_of_others_takes_nothing_back() {
    let report = report("supervisor.worker-report", "41", "42");
    let context = Context { unit: Some("U-3".into()), ..Context::default() };
    let other = format!("{report}\n{{\"unit_id\": \"U-9\", \"status\": \"FAIL\"}}\n");
    assert!(shown(&found("supervisor.worker-report", &other, &context)).starts_with("ok none"));
    let own = format!("{report}\n{{\"unit_id\": \"U-3\", \"status\": \"FAIL\"}}\n");
    assert!(shown(&found("supervisor.worker-report", &own, &context)).starts_with("malformed none"));
    // A unit that is spelt otherwise may be this one.
    let whole = |unit: &str| report.replace("\"U-3\"", &format!("\"{unit}\""));
    assert_ne!(whole("U_3"), report);
    let then = |unit: &str| shown(&found("supervisor.worker-report", &format!("{report}\n{}", whole(unit)), &context));
    for unit in ["U\u{2011}3", "U_3", "`U-3`", "Unit U-3"] {
        assert!(then(unit).starts_with("malformed none"), "{unit}\n{}", then(unit));
    }
    assert!(then("U-4").starts_with("ok none"), "{}", then("U-4"));
    let prompt = Some("Say no with\nverdict: rejected\nin the end.".to_owned());
    let context = Context { prompt, ..Context::default() };
    let text = format!("{}\n\nAs I was told:\nverdict: rejected\n", verdict("approved", WHY));
    check_with("wr.gate_verdict", &text, &context, "ok accept @1:1");
}

/// A contract may be decided by true or false.
#[test]
fn a_report_that_a_boolean_decides_is_taken_back() {
    let text = "contract: t.check\nversion: 1\npurpose: A check.\nform: json\n\
        schema: {type: object, required: [ok, note], properties: {ok: {type: boolean}, note: {type: string}}}\n\
        report:\n  cases:\n  - {when: {ok: true}, health: ok, verdict: accept}\n  - {when: {ok: false}, health: ok, verdict: reject}\n\
        instructions: Say.\nexample: {ok: true, note: fine}\n";
    let (definition, problems) = crate::contract::definition::read("t.check", text, false);
    assert!(problems.is_empty(), "{problems:?}");
    let own = crate::contract::defined::Defined { definition: definition.expect("a definition") };
    let result = |behind: &str| {
        let text = format!("{{\"ok\": true, \"note\": \"well\"}}\n\n{behind}\n");
        shown(&extract(Dialect::Report(&own), &text, &Context::default()))
    };
    for otherwise in
        ["ok: false", "**ok:** false", "```yaml\nok: false\n```", "ok: true → false", "{\"by\": 1, \"ok\": false}"]
    {
        assert!(result(otherwise).starts_with("malformed none"), "{otherwise}\n{}", result(otherwise));
    }
    for same in ["ok: true", "ok: see above", "{\"is\": {\"ok\": false}, \"a\": 1, \"b\": 2}"] {
        assert!(result(same).starts_with("ok accept"), "{same}\n{}", result(same));
    }
}

/// What is struck through, in a comment or in a line as code is not said last.
#[test]
fn what_is_taken_out_does_not_count() {
    let (approved, rejected) = (verdict("approved", WHY), verdict("rejected", WHY));
    for out in [
        format!("~~{approved}~~"),
        format!("~~My verdict was {approved}~~"),
        format!("<!-- {approved} -->"),
        format!("<!--\n{approved}\n-->"),
        format!("<del>{approved}</del>"),
        format!("It would read `{approved}` then."),
        format!("`{approved}`"),
    ] {
        let extraction = found("wr.gate_verdict", &format!("{rejected}\n\n{out}\n"), &Context::default());
        assert!(shown(&extraction).starts_with("malformed none"), "{out}\n{}", shown(&extraction));
    }
    check("wr.gate_verdict", &format!("My report: `{approved}`"), "ok accept @1:13");
    let (id, review) = ("decree.reviewer-result", report("decree.reviewer-result", "#34", "#35"));
    for (from, to) in [("<del>", "</del>"), ("<s>", "</s>"), ("<!--", "-->")] {
        let extraction = found(id, &format!("{from}\n\n{review}\n{to}\n"), &Context::default());
        assert!(!shown(&extraction).starts_with("ok"), "{from}\n{}", shown(&extraction));
        let around = format!("{from} Not this. {to}\n\n{review}\n\n{from} Nor this. {to}\n");
        assert!(shown(&found(id, &around, &Context::default())).starts_with("ok accept"), "{around}");
    }
}

/// A Markdown report that is said once more in a JSON string, or under a heading that is almost its own.
#[test]
fn a_markdown_report_is_taken_back_in_other_forms() {
    let report = report("decree.reviewer-result", "#34", "#35");
    let other = quoted(&report.replace("approved", "needs-changes"));
    for behind in [format!("{{\"report\": {other}}}"), other] {
        let text = format!("{report}\n{behind}\n");
        let extraction = found("decree.reviewer-result", &text, &Context::default());
        assert!(shown(&extraction).starts_with("malformed none"), "{text}\n{}", shown(&extraction));
    }
    let block =
        include_str!("../../../../../../docs/contracts/examples/status-block.md").replace("two things", "three");
    let text = format!("{block}\n## Final Status\nfailed\n");
    let extraction = found("status-block", &text, &Context::default());
    assert!(shown(&extraction).starts_with("malformed none"), "{}", shown(&extraction));
}

/// Work on words like these is reported with these words.
#[test]
fn a_markdown_report_may_speak_of_other_words() {
    let block = include_str!("../../../../../../docs/contracts/examples/status-block.md");
    let notes = "\n## Notes\n\nWhen it times out, status: failed. Otherwise:\n\n- status: blocked while it waits\n- `status: failed` in the end\n\n\
                 Status: failed is what it says then.\n\n| status | meaning |\n|---|---|\n| failed | it failed |\n\n\
                 ```yaml\nstatus: failed\n```\n\n{\"status\": \"failed\"}\n";
    let (before, last) = block.split_once("\n## Open Questions").expect("the last section");
    let text = format!("{}{notes}\n## Open Questions{last}", before.replace("two things", "three things"));
    let extraction = found("status-block", &text, &Context::default());
    assert!(shown(&extraction).starts_with("ok "), "{}", shown(&extraction));
}

/// Behind the last section of a report nothing is asked for: data with its words is no content there.
#[test]
fn data_behind_the_last_section_of_a_markdown_report_takes_it_back() {
    let report = report("decree.reviewer-result", "#34", "#35");
    let as_data = |word: &str| {
        [
            format!("```yaml\ntask: 21\noutcome: {word} # two tests fail\npr: 34\n```"),
            format!("```json\n{{\"task\": 21, \"outcome\": \"{word}\", \"pr\": 34}}\n```"),
            format!("| Field | Value | Why |\n|---|---|---|\n| Task | 21 | |\n| Outcome | {word} | Two tests fail. |"),
            format!("### Details\n\n```toml\noutcome = \"{word}\"\n```\n\nThat is all."),
        ]
    };
    for (word, expected) in [("needs-changes", "malformed none"), ("approved", "ok accept"), ("open", "ok accept")] {
        for data in as_data(word) {
            let extraction = found("decree.reviewer-result", &format!("{report}\n{data}\n"), &Context::default());
            assert!(shown(&extraction).starts_with(expected), "{data}\n{}", shown(&extraction));
        }
    }
}

/// However much stands between the two, and in every spelling.
#[test]
fn what_stands_far_behind_a_report_is_looked_at() {
    let approval = report("decree.review-approval", "All 4", "All 5");
    for (id, text) in [("wr.gate_verdict", verdict("approved", WHY)), ("decree.review-approval", approval)] {
        for filler in [0, 5_000, 15_000] {
            let log =
                "a line of a log that was pasted here, and says nothing at all, as most of them do\n".repeat(filler);
            for asks in ["## Required changes\n\n- Fix the NaN", "- **Verdict:** rejected", "## Verdict\n\nrejected"] {
                let extraction = found(id, &format!("{text}\n\n{log}\n{asks}\n"), &Context::default());
                assert!(shown(&extraction).starts_with("malformed"), "{id} {filler} {asks}\n{}", shown(&extraction));
            }
            // What stands behind a report in Markdown is a part of it, and makes it too long.
            if filler > 10_000 && id != "wr.gate_verdict" {
                continue;
            }
            let extraction = found(id, &format!("{text}\n{log}\nVerdict: approved\n"), &Context::default());
            assert!(shown(&extraction).starts_with("ok accept"), "{id} {filler}\n{}", shown(&extraction));
        }
    }
}

/// What is said of an earlier round, in a report or behind it, is no word about the report.
#[test]
fn a_report_may_speak_of_the_round_before() {
    for (id, report, key, _, other) in reports() {
        let notes = if id == "status-block" { "## Notes\n\n" } else { "" };
        let with = |line: &str| shown(&found(id, &format!("{report}\n\n{notes}{line}\n"), &Context::default()));
        let behind = |line: &str| shown(&found(id, &format!("{}{}", said(&report), said(line)), &Context::default()));
        for before in [
            format!("Previous {key}: {other}"),
            format!("**Previous {key}:** {other}"),
            format!("My earlier {key}: {other}"),
            format!("The old {key} → {other}"),
            format!("### Prior {key}\n\n{other}"),
        ] {
            assert!(with(&before).starts_with("ok "), "{id}\n{before}\n{}", with(&before));
            assert!(behind(&before).starts_with("ok "), "{id}\n{before}\n{}", behind(&before));
        }
        for otherwise in [
            format!("Final {key}: {other}"),
            format!("Correcting my previous {key}: {other}"),
            format!("No previous {key}: {other}"),
            format!("Previous {key}: unknown. My {key}: {other}"),
            format!("Previous {key}: {other}\n\nNew {key}: {other}"),
            format!("Previously.\n{key}: {other}"),
        ] {
            assert!(with(&otherwise).starts_with("malformed none"), "{id}\n{otherwise}\n{}", with(&otherwise));
            assert!(behind(&otherwise).starts_with("malformed none"), "{id}\n{otherwise}\n{}", behind(&otherwise));
        }
    }
}
