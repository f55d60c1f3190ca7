//! One card with several questions: each is answered by itself, put off, skipped or cancelled, with who and why.

use crate::play::{BLOCKED, BUILT, Play, at, else_};
use tollgate_api::{Decision, DecisionStatus};
use tollgate_core::run::Event;

#[test]
fn the_questions_of_a_report_are_answered_one_by_one() {
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    let said = said.exits(4).says("1. Which greeting: \"Hello\" or \"Good day\"?").says("2. Also in French?");
    said.says(&format!("tollgate decide {} dec_2 --answer 1='ANSWER' --answer 2='ANSWER'", play.run));
    let listed = play.tollgate(&["ls", "--json"]).exits(0).out;
    assert!(listed.contains("dec_2 --answer 1='ANSWER' --answer 2='ANSWER'"), "{listed}");
    play.decide(&["dec_2", "--answer", "2=not yet", "--no-wait"]).exits(4).says("answered by ada: not yet");
    play.decide(&["dec_2", "--answer", "3=x", "--no-wait"]).exits(1).says("one of its questions 1 to 2, not 3");
    play.decide(&["dec_2", "--answer", "second"]).exits(2).says("NUMBER=TEXT");
    // What is put off is not asked for before its time, and can be answered all the same.
    play.decide(&["dec_2", "--defer", "yesterday"]).exits(2).says("is no time");
    play.decide(&["dec_2", "--cancel"]).exits(1).says("a reason");
    play.decide(&["dec_2", "--defer", "2h", "--why", "I ask Bob", "--no-wait"]).exits(4).says("is put off");
    assert!(play.tollgate(&["inbox"]).exits(0).out.is_empty());
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("put off, asked again in") && shown.contains("I ask Bob"), "{shown}");
    play.decide(&["dec_2", "--answer", "1=Hello"]).exits(0).says("question 1 of dec_2: Hello");
    let brief = play.brief("developer", 2);
    for pair in [["question 1", "Hello"], ["question 2", "not yet"]] {
        assert!(pair.iter().all(|text| brief.contains(text)), "{brief}");
    }
    assert_eq!(play.count(|event| matches!(event, Event::QuestionAnswered(_))), 2);
    play.holds();
}

/// All that was decided, in order: what, for whom, the answer, by whom, when and why.
#[test]
fn every_decision_of_a_run_is_listed() {
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    said.exits(4);
    play.decide(&["dec_2", "--answer", "2=not yet", "--no-wait"]).exits(4);
    play.decide(&["dec_2", "--defer", "2h", "--why", "I ask Bob", "--no-wait"]).exits(4);
    let all = || -> Vec<Decision> {
        let (lines, exit) = play.world.json(&format!("decisions {} --json", play.run));
        assert_eq!(exit, 0);
        lines.into_iter().map(|line| serde_json::from_value(line).unwrap()).collect()
    };
    let [first, second] = &*all() else { panic!("two decisions: {:?}", all()) };
    assert_eq!((&*first.id, &*first.class, first.status), ("dec_1", "approval", DecisionStatus::Answered));
    assert_eq!((first.answer.as_deref(), first.unit.as_deref()), (Some("approve"), None));
    assert_eq!(first.by.as_ref().map(|by| &*by.name), Some("ada"));
    assert_eq!(
        (&*second.id, second.status, second.unit.as_deref()),
        ("dec_2", DecisionStatus::Pending, Some("backend"))
    );
    assert_eq!(second.questions[1].answer.as_deref(), Some("not yet"));
    assert_eq!(second.reason.as_deref(), Some("I ask Bob"));
    let said = play.tollgate(&["decisions", "RUN"]).exits(0).out;
    for line in
        ["dec_1  approval for run, answered", "→ approve (by ada, ", "for backend, put off", "reason: I ask Bob"]
    {
        assert!(said.contains(line), "`{line}` is not in:\n{said}");
    }
    play.decide(&["dec_2", "--skip", "--why", "choose yourself"]).exits(0);
    let second = &all()[1];
    assert_eq!((second.status, second.reason.as_deref()), (DecisionStatus::Skipped, Some("choose yourself")));
    assert!(second.ended_at_ms >= Some(second.asked_at_ms));
    let said = play.tollgate(&["decisions", "RUN"]).exits(0).out;
    assert!(said.contains("→ skipped (by ada, ") && said.contains("reason: choose yourself"), "{said}");
    play.holds();
}

#[test]
fn a_question_is_skipped_or_cancelled_only_with_a_reason() {
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    said.exits(4);
    play.decide(&["dec_2", "--skip", "--no-wait"]).exits(1).says("a reason");
    for unseen in ["\u{200b}", " \u{2800}\u{3164}", "\u{202e}\u{feff}", "\u{1b}\t"] {
        play.decide(&["dec_2", "--skip", "--why", unseen, "--no-wait"]).exits(1).says("a reason");
        play.decide(&["dec_2", "--answer", &format!("1={unseen}"), "--no-wait"]).exits(2).says("TG0305");
        play.tollgate(&["cancel", "RUN", "--why", unseen]).exits(1).says("a reason");
    }
    play.decide(&["dec_2", "--skip", "--why", "choose yourself"]).exits(0).says("ada skips dec_2: choose yourself");
    assert!(play.brief("developer", 2).contains("choose yourself"));
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    said.exits(4);
    play.decide(&["dec_2", "--cancel", "--why", "not wanted"]).exits(1).says("ada cancels dec_2: not wanted");
    play.holds();
}

/// A question brings its ways out, and which one whoever asks would take and why.
#[test]
fn a_question_comes_with_its_options_and_a_recommendation() {
    let protocol = "\
protocol: blocked
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: decree.blocker, writes: none, sees: full}
asks:
  ways: {ask: {class: clarification, from: report}, on: {answered: back, cancelled: hold}}
otherwise: {needs_input: ways, failed: hold, malformed: hold, cancelled: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: done}}
";
    let report = "title: Rounding is not said, type: technical-constraint, description: How is a total rounded?, \
        options: [{name: Round half up, description: As in school., tradeoffs: Off by a cent.}, \
        {name: Keep fractions, description: Four digits., tradeoffs: Nobody pays them.}], \
        recommendation: Option A because the invoices do so., impact: It stops.";
    let mut play = Play::new("", &format!("script: 1\nroles:\n  maker:\n    - {{report: {{{report}}}}}\n"));
    std::fs::write(play.world.path("blocked.yaml"), protocol).unwrap();
    let said = play.tollgate(&["run", "../blocked.yaml", "--script", "../script.yaml", "--no-wait"]);
    play.named_by(&said);
    let said = said.exits(4).says("How is a total rounded?").says("- Round half up").says("- Keep fractions");
    said.says("recommended: Option A because the invoices do so.");
    let (lines, _) = play.world.json(&format!("decisions {} --json", play.run));
    let card: Decision = serde_json::from_value(lines.into_iter().next().unwrap()).unwrap();
    assert_eq!(card.questions[0].options, ["Round half up", "Keep fractions"]);
    assert_eq!(card.questions[0].recommendation.as_deref(), Some("Option A because the invoices do so."));
    // The person may take none of them.
    play.decide(&["dec_1", "--answer", "1=Round to even", "--no-wait"]).says("question 1 of dec_1: Round to even");
    play.holds();

    // Where an option is marked, what speaks for it is the reason.
    let protocol = protocol.replace("maker", "Researcher").replace("decree.blocker", "team.output");
    let report = "status: NEEDS_INFO, summary: How is a total rounded?, artifacts: {commands_to_run: [], notes: [], \
        options: [{id: OPT-1, label: Round half up, pros: [The invoices do so.], recommended: true}, \
        {id: OPT-2, label: Keep fractions, pros: [It is exact.]}]}, \
        gates: {meets_definition_of_done: false, needs_review: false, needs_tests: false, security_concerns: []}, \
        next: {recommended_agent: Researcher, recommended_task_id: meta, reason: It waits.}";
    let mut play = Play::new("", &format!("script: 1\nroles:\n  Researcher:\n    - {{report: {{{report}}}}}\n"));
    std::fs::write(play.world.path("blocked.yaml"), protocol).unwrap();
    let said = play.tollgate(&["run", "../blocked.yaml", "--script", "../script.yaml", "--no-wait"]);
    play.named_by(&said);
    said.exits(4).says("- Round half up (recommended)").says("reason: The invoices do so.");
    let (lines, _) = play.world.json(&format!("decisions {} --json", play.run));
    let card: Decision = serde_json::from_value(lines.into_iter().next().unwrap()).unwrap();
    assert_eq!(card.questions[0].reason.as_deref(), Some("The invoices do so."));
}

/// Where each question takes one of the options, the lines of the run say what each means and what it waives, as the inbox does.
#[test]
fn options_of_a_card_with_several_questions_are_shown_with_what_they_waive() {
    let protocol = "\
protocol: guarded
version: 1
areas: {code: [\"**\"]}
artifacts: {task: {schema: build-plan.task, given: input}}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
  guard: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [criteria, change]}}
gates:
  covered: {holds: {every: criterion, is: [passed, waived]}, bound_to: [code], mandatory: {run: true}}
asks:
  risk:
    ask: {class: security, from: report, options: {fix: Fix it, accept: Accept the risk}}
    on: {fix: as reject, accept: {to: as accept, ensures: origin}, cancelled: hold}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, cancelled: hold, unobservable: hold, inconclusive: hold, out_of_scope: hold}
flows:
  main:
    - {id: build, dispatch: maker, on: {ok: look}}
    - {id: look, dispatch: guard, ensures: [covered], on: {accept: done, reject: {to: build, limit: 2, then: hold}, needs_input: risk}}
";
    let made = BUILT.replace(", dod_coverage: [{mark: \"✓\", row: DoD-1}]", "");
    let script = format!("script: 1\nroles:\n  maker: [{{{made}}}]\n  guard: [{{{BLOCKED}}}]\n");
    let mut play = Play::new("# T\n\n## Definition of Done\n\n- the page is there\n", &script);
    std::fs::write(play.world.path("guarded.yaml"), protocol).unwrap();
    let said =
        play.tollgate(&["run", "../guarded.yaml", "--task", "../task.md", "--script", "../script.yaml", "--no-wait"]);
    play.named_by(&said);
    let said = said.exits(4).says("dec_1 --answer 1=OPTION --answer 2=OPTION");
    let listed = play.tollgate(&["ls", "--json"]).exits(0).out;
    assert!(listed.contains("dec_1 --answer 1=OPTION --answer 2=OPTION"), "{listed}");
    said.says("fix     Fix it").says("accept  Accept the risk (waives DoD-1)");
    let said = play.decide(&["dec_1", "--answer", "1=accept", "--no-wait"]).exits(4);
    said.says("--answer 2=OPTION").says("accept  Accept the risk (waives DoD-1)");
    play.holds();
}
