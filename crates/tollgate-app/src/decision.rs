//! Decisions as questions on the wire.

use std::collections::BTreeSet;
use std::path::Path;

use tollgate_api::{self as api, DecisionStatus, Origin, QuestionOption};
use tollgate_core::Name;
use tollgate_core::id::{DecisionId, RunId};
use tollgate_core::run::Run;
use tollgate_core::run::event::{AskedQuestion, DecisionEnd};
use tollgate_core::run::gate::{self, CriterionState};
use tollgate_core::run::state::Decision;

use crate::event_text::target;
use crate::wire::actor;

/// What is known of a decision beside the state of its run.
#[derive(Debug, Default)]
pub struct Beside<'a> {
    /// The work tree that an answer by hand is about.
    pub tree: Option<&'a Path>,
    /// When it ended, by the journal.
    pub ended_ms: Option<u64>,
    /// The end of the output of what led to it.
    pub last_lines: Option<api::LastLines>,
}

/// A decision.
pub fn decision(run: &Run, id: DecisionId, decision: &Decision, beside: Beside<'_>) -> api::Decision {
    let Beside { tree, ended_ms, last_lines } = beside;
    let asked = &decision.asked;
    let ended = decision.end.as_ref();
    let open = waived(run, decision).into_iter().map(|(name, text)| format!("{name}: {text}"));
    let shown = asked.shows.iter().map(|digest| {
        let artifact = run.artifacts.iter().find(|(_, artifact)| artifact.object == *digest);
        artifact.map_or_else(|| format!("object {digest}"), |(name, _)| format!("`{name}`, object {digest}"))
    });
    let paths = asked.paths.iter().map(|path| format!("file {path}"));
    let tree = tree.map(|path| format!("work tree {}", path.display()));
    api::Decision {
        id: id.to_string(),
        class: asked.class.word().to_owned(),
        status: match ended.map(|ended| ended.end) {
            None => DecisionStatus::Pending,
            Some(DecisionEnd::Answered) => DecisionStatus::Answered,
            Some(DecisionEnd::Cancelled) => DecisionStatus::Cancelled,
            Some(DecisionEnd::Skipped) => DecisionStatus::Skipped,
            Some(DecisionEnd::Replaced) => DecisionStatus::Replaced,
        },
        question: asked.question.clone(),
        why: asked.why.clone(),
        blocking: asked.blocking,
        unit: asked.unit.as_ref().map(ToString::to_string),
        origin: Origin {
            stage: asked.origin.stage.to_string(),
            outcome: asked.origin.outcome.as_ref().map(ToString::to_string),
            cut_off: asked.origin.cut_off.as_ref().map(|cut_off| target(&cut_off.to)),
        },
        options: asked
            .options
            .iter()
            .map(|option| QuestionOption {
                id: option.id.to_string(),
                consequence: option.consequence.clone(),
                waives: option.waives.iter().map(ToString::to_string).collect(),
            })
            .collect(),
        recommendation: asked.recommend.as_ref().map(ToString::to_string),
        evidence: open.chain(shown).chain(paths).chain(tree).chain(rests_on(run, decision)).collect(),
        last_lines,
        default_answer: decision.default().map(|default| default.option.to_string()),
        default_at_ms: decision.default().map(|default| default.at_ms),
        asked_at_ms: decision.asked_ms,
        questions: questions(decision),
        requirements: requirements(run, id, decision),
        deferred_until_ms: decision.deferred.as_ref().filter(|_| ended.is_none()).map(|deferred| deferred.until_ms),
        tries: asked.tries,
        reason: ended
            .filter(|ended| matches!(ended.end, DecisionEnd::Cancelled | DecisionEnd::Skipped))
            .map(|ended| &ended.text)
            .or_else(|| decision.deferred.as_ref().filter(|_| ended.is_none()).map(|deferred| &deferred.why))
            .filter(|why| !why.is_empty())
            .cloned(),
        answer: ended.filter(|ended| ended.end == DecisionEnd::Answered).and_then(|ended| match &ended.option {
            Some(option) => Some(option.to_string()),
            None => Some(ended.text.clone()).filter(|text| !text.is_empty()),
        }),
        text: ended.filter(|ended| ended.option.is_some()).map(|ended| ended.text.clone()).filter(|t| !t.is_empty()),
        by: ended.map(|ended| actor(&ended.by)),
        ended_at_ms: ended_ms.filter(|_| ended.is_some()),
    }
}

/// What its answer decided of requirements, and whether that still counts.
fn requirements(run: &Run, id: DecisionId, decision: &Decision) -> Vec<api::DecidedRequirement> {
    let later = |requirement: &Name| {
        let row = run.ledger.requirements.iter().find(|row| row.id == *requirement)?;
        row.disposed_by.filter(|by| *by != id).map(|by| by.to_string())
    };
    let decided = decision.dispositions.iter().map(|(requirement, disposition)| api::DecidedRequirement {
        id: requirement.to_string(),
        disposition: disposition.to_string(),
        overruled_by: later(requirement),
    });
    decided.collect()
}

fn questions(decision: &Decision) -> Vec<api::CardQuestion> {
    let numbered = (1..).zip(&decision.asked.questions);
    let question = |(number, asked): (u32, &AskedQuestion)| {
        let given = decision.answers.get(&number);
        api::CardQuestion {
            number,
            text: asked.text.clone(),
            input: asked.input.as_ref().map(ToString::to_string),
            options: asked.options.clone(),
            recommendation: asked.recommend.clone(),
            reason: asked.reason.clone(),
            answer: given.map(|given| given.text.clone()),
            by: given.map(|given| actor(&given.by)),
        }
    };
    numbered.map(question).collect()
}

/// What an open question rests on, and whether that is still as it was: the rows, the change, the last report.
pub fn rests_on(run: &Run, decision: &Decision) -> Vec<String> {
    let asked = &decision.asked;
    if decision.end.is_some() || decision.is_of_landing() || decision.is_of_budget() {
        return Vec::new();
    }
    let unit = asked.unit.as_ref();
    let tree = run.tree_of(unit);
    let fresh = |of: &Name| if of == tree { "fresh" } else { "stale: the work tree has changed since" };
    let rows = run.ledger.criteria.iter().filter(|row| unit.is_none() || row.unit.as_ref() == unit);
    let states: Vec<(CriterionState, bool)> =
        rows.map(|row| gate::criterion(run, row, &gate::row_rests_on(run, row), unit)).collect();
    let count = |wanted: &dyn Fn(&(CriterionState, bool)) -> bool| states.iter().filter(|state| wanted(state)).count();
    let shown = count(&|(state, _)| *state != CriterionState::Open);
    let evidence = (shown > 0).then(|| {
        let passed = count(&|(state, fresh)| *state == CriterionState::Passed && *fresh);
        let stale = match count(&|(state, fresh)| *state != CriterionState::Open && !fresh) {
            0 => "fresh".to_owned(),
            stale => format!("{stale} stale"),
        };
        format!("evidence: {passed} of {} rows passed, {stale} (`tollgate show {} --evidence`)", states.len(), run.id)
    });
    let changed = asked.tree != run.opened.content.tree;
    let change = changed.then(|| format!("change: `tollgate diff {}` ({})", run.id, fresh(&asked.tree)));
    let last = run.reports.get(&asked.instance).and_then(|reports| reports.last());
    let report = last.map(|last| {
        let object: String = last.object.to_string().chars().take(12).collect();
        format!("report of {} ({}): `tollgate evidence {object}` ({})", last.role, last.attempt, fresh(&last.tree))
    });
    evidence.into_iter().chain(change).chain(report).collect()
}

/// What becomes of a question that no work waits for.
pub const BESIDE: &str = "the work goes on beside it; with an answer, whatever it says, the run may close; `tollgate cancel RUN` gives it up";

/// What the options of an open question would waive: each row and finding with its words, once.
pub fn waived(run: &Run, decision: &Decision) -> Vec<(String, String)> {
    let options = decision.asked.options.iter().filter(|_| decision.end.is_none());
    let named: BTreeSet<&str> = options.flat_map(|option| option.waives.iter().map(|name| &**name)).collect();
    let meaning = |name: &str| {
        let row = run.ledger.criteria.iter().find(|row| &*row.id == name).map(|row| &row.text);
        let finding = || run.ledger.findings.iter().find(|(id, _)| id.to_string() == name).map(|(_, f)| &f.about.what);
        let text = row.or_else(finding)?;
        Some((name.to_owned(), text.lines().next().unwrap_or_default().to_owned()))
    };
    named.into_iter().filter_map(meaning).collect()
}

/// The commands that answer an open question.
pub fn commands(run: &Run, id: DecisionId, decision: &Decision) -> Vec<String> {
    let options = decision.asked.options.iter().map(|option| &*option.id);
    answers(run.id, id, &options.collect::<Vec<_>>(), open(decision))
}

/// The open questions of a card: their numbers, and the inputs that they ask for.
pub fn open(decision: &Decision) -> impl Iterator<Item = (u32, Option<&str>)> {
    decision.open_questions().map(|(number, asked)| (number, asked.input.as_deref()))
}

/// The commands that answer a question: one for all that are open on a card, else one per option.
pub fn answers<'q>(
    run: RunId,
    id: DecisionId,
    options: &[&str],
    open: impl Iterator<Item = (u32, Option<&'q str>)>,
) -> Vec<String> {
    match answer_each(&run.to_string(), &id.to_string(), open, options.is_empty()) {
        Some(command) => vec![command],
        None if options.is_empty() => vec![format!("tollgate decide {run} {id} --text 'ANSWER'")],
        None => options.iter().map(|option| format!("tollgate decide {run} {id} {option}")).collect(),
    }
}

/// The command that answers the open questions of a card, each by itself; none where it has none.
pub fn answer_each<'q>(
    run: &str,
    id: &str,
    open: impl Iterator<Item = (u32, Option<&'q str>)>,
    in_words: bool,
) -> Option<String> {
    let answer = |(number, input): (u32, Option<&str>)| match input {
        Some(input) => format!(" --answer {input}='VALUE'"),
        None if in_words => format!(" --answer {number}='ANSWER'"),
        None => format!(" --answer {number}=OPTION"),
    };
    let answers: String = open.map(answer).collect();
    (!answers.is_empty()).then(|| format!("tollgate decide {run} {id}{answers}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_testkit::script::play;

    /// The open decision that a script ends with.
    fn asked(script: &str) -> (Run, DecisionId, Decision) {
        let (played, log) = play(script);
        let run = played.unwrap().run;
        let (id, decision) = run.pending().last().map_or_else(|| panic!("{log}"), |(id, known)| (id, known.clone()));
        (run, id, decision)
    }

    #[test]
    fn a_card_says_what_of_it_is_stale() {
        let begun = "protocol build-plan | input complexity=simple | row DoD-1 group=dod | advance sign-off=approve
            report solo ok write=src/a.rs open=\"Is this right?\"";
        for (more, change) in [
            ("", "(fresh)"),
            (
                " | report solo-check reject fail=DoD-1 | report solo ok write=src/a.rs",
                "(stale: the work tree has changed since)",
            ),
        ] {
            let (run, _, decision) = asked(&format!("{begun}{more}"));
            let lines = rests_on(&run, &decision);
            let line = |of: &str| lines.iter().find(|line| line.starts_with(of)).cloned().unwrap_or_default();
            assert!(line("change: ").ends_with(change), "{lines:#?}");
            assert!(line("report of dev-tester").ends_with("(fresh)"), "{lines:#?}");
        }
    }

    #[test]
    fn a_card_about_what_commands_write_names_each_path_once() {
        let begun = "protocol build-plan | input complexity=standard | advance sign-off=approve
            row DoD-1 unit=backend group=dod cmd=cargo | row DoD-2 unit=backend group=dod cmd=npm
            report build ok write=src/a.rs | ran DoD-1=changes:gen.txt,Cargo.lock DoD-2=changes:gen.txt";
        let (run, id, decision) = asked(begun);
        let card = super::decision(&run, id, &decision, Beside::default());
        let files: Vec<&str> = card.evidence.iter().filter_map(|line| line.strip_prefix("file ")).collect();
        assert_eq!(files, ["gen.txt", "Cargo.lock"]);
        let answers = commands(&run, id, &decision);
        assert_eq!(
            answers.iter().map(|line| line.rsplit(' ').next().unwrap()).collect::<Vec<_>>(),
            ["allow", "refuse"]
        );
        assert!(card.why.contains("[checks] writes"), "{}", card.why);
    }

    /// What is put off has no default any more, and neither has its card.
    #[test]
    fn a_card_that_is_put_off_names_no_answer_of_a_timer() {
        let begun = "protocol ledger | input path=quick | req R1 disposition=in_scope
            report specify ok doc=spec:one req=R1;disposition=in_scope";
        let (run, id, decision) = asked(begun);
        assert_eq!(super::decision(&run, id, &decision, Beside::default()).default_answer.as_deref(), Some("plain"));
        let (run, id, decision) = asked(&format!("{begun} | answer taste defer=7200"));
        let card = super::decision(&run, id, &decision, Beside::default());
        assert_eq!((card.default_answer, card.default_at_ms), (None, None));
    }
}
