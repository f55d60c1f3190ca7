//! The items of a bundle as text. Each function reads what its item is about, and nothing else.

use std::collections::BTreeMap;

use crate::Name;
use crate::digest::Digest;
use crate::documents;
use crate::protocol::Protocol;
use crate::protocol::model::{Kind, NOTICES, Sees, Value};
use crate::report::Judgement;
use crate::run::event::{BundleItem, ChangeKind, DecisionEnd};
use crate::run::finding::FindingState;
use crate::run::gate;
use crate::run::repetition::Flaky;
use crate::run::state::RequirementDecision;
use crate::run::state::{Criterion, Decision, Shown as Evidence, Unit};

use super::text::{Quoted, code, file, file_name, line, quoted};
use super::{Change, ContextError, Dispatch, Sources};

/// The most that a brief holds of one kind of item. What is left out is named.
const BLOCK_MAX: usize = 128 * 1024;

/// What an attempt is shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Parts of the brief by the name a template uses.
    blocks: BTreeMap<&'static str, Vec<String>>,
    /// Path under `files/`, and the text.
    pub files: BTreeMap<String, String>,
    /// Sections of reports that were read again, by object and role.
    readings: BTreeMap<(Digest, Name), BTreeMap<Name, String>>,
    /// One entry for each item of the bundle, in its order: the file it is in, and its bytes.
    pub entries: Vec<Entry>,
}

/// How one item was shown.
#[derive(Debug)]
pub(super) struct Entry {
    pub file: Option<String>,
    pub bytes: usize,
}

impl Shown {
    /// A part of the brief; none where the bundle has nothing of the kind.
    pub fn block(&self, name: &str) -> Option<String> {
        self.blocks.get(name).map(|parts| list(parts.iter().cloned()))
    }

    fn push(&mut self, block: &'static str, part: String, file: Option<String>, bytes: usize) {
        self.blocks.entry(block).or_default().push(part);
        self.entries.push(Entry { file, bytes });
    }

    /// Adds a file under a name that no other has.
    fn file(&mut self, path: &str, text: &str) -> String {
        let (stem, ending) = path.rsplit_once('.').unwrap_or((path, "txt"));
        let names = std::iter::once(path.to_owned()).chain((2..).map(|n| format!("{stem}-{n}.{ending}")));
        let path = names.into_iter().find(|path| !self.files.contains_key(path)).unwrap_or_else(|| path.to_owned());
        self.files.insert(path.clone(), file(text));
        format!("files/{path}")
    }

    /// Somebody's words for a block that has `used` bytes; with a file where the block has not room for all of them.
    fn words(&mut self, who: &str, text: &str, used: usize, path: &str) -> (String, Option<String>) {
        match quoted(who, text, None) {
            Quoted { text, cut: false } if used + text.len() <= BLOCK_MAX => (text, None),
            _ => {
                let path = self.file(path, text);
                (quoted(who, text, Some(&path)).text, Some(path))
            }
        }
    }

    fn used(&self, block: &str) -> usize {
        self.blocks.get(block).into_iter().flatten().map(String::len).sum()
    }
}

/// Puts parts together as far as there is room; the rest is counted.
pub(super) fn list(parts: impl Iterator<Item = String>) -> String {
    let (mut text, mut left_out) = (String::new(), 0_usize);
    for part in parts {
        // The first part is bounded by itself.
        if left_out > 0 || (!text.is_empty() && text.len() + part.len() > BLOCK_MAX) {
            left_out += 1;
        } else {
            text.push_str(&part);
        }
    }
    if left_out > 0 {
        text.push_str(&format!("[cut: {left_out} more]\n"));
    }
    text
}

fn or_none(text: String) -> String {
    if text.is_empty() { "None.\n".to_owned() } else { text }
}

/// Turns every item of the bundle into text.
pub(super) fn show(dispatch: &Dispatch<'_>, sources: &Sources<'_>) -> Result<Shown, ContextError> {
    let mut shown = Shown::default();
    for item in dispatch.bundle {
        match &*item.item {
            "goal" => plain(&mut shown, "goal", goal(dispatch)),
            "project" => plain(&mut shown, "project", project(sources)),
            "unit" => plain(
                &mut shown,
                "unit",
                dispatch.unit().and_then(|name| dispatch.run.unit(name)).map(unit).unwrap_or_default(),
            ),
            "units" => plain(&mut shown, "units", list(dispatch.run.ledger.units.iter().map(unit))),
            "criteria" => plain(&mut shown, "criteria", criteria(dispatch)),
            "findings" => plain(&mut shown, "findings", findings(dispatch)),
            "decisions" => plain(&mut shown, "decisions", decisions(dispatch)),
            NOTICES => plain(&mut shown, NOTICES, notices(dispatch)),
            "evidence" => evidence(&mut shown, dispatch, sources)?,
            "change" => change(&mut shown, sources.change.as_ref()),
            _ if item.attempt.is_some() => section(&mut shown, dispatch, item, sources)?,
            _ => document(&mut shown, dispatch, item, sources)?,
        }
    }
    Ok(shown)
}

fn plain(shown: &mut Shown, block: &'static str, text: String) {
    let text = or_none(text);
    let bytes = text.len();
    shown.push(block, text, None, bytes);
}

fn goal(dispatch: &Dispatch<'_>) -> String {
    let run = dispatch.run;
    let mut text = format!("{}\n", line(&run.opened.title));
    // Inputs, and what stages gave since. What a worker gave is its word, and no judge that is shown a part of all reads it here.
    let is_judge_of_a_part = dispatch.role.judges() && dispatch.role.sees != Sees::Full;
    let is_shown = |name: &Name| !(is_judge_of_a_part && is_given_by_worker(&run.protocol, name));
    let given = run.vars.iter().filter(|(name, _)| !run.opened.inputs.contains_key(*name) && is_shown(name));
    for (name, value) in run.opened.inputs.iter().chain(given) {
        let value = match value {
            Value::Int(number) => number.to_string(),
            Value::Text(text) => line(text),
            Value::List(items) => line(&items.join(", ")),
        };
        text.push_str(&format!("- {name}: {value}\n"));
    }
    text
}

/// Whether a stage that dispatches a role gives a variable.
fn is_given_by_worker(protocol: &Protocol, variable: &Name) -> bool {
    let stages = protocol.flows.iter().flat_map(|flow| &flow.stages);
    let mut dispatches = stages.filter(|stage| matches!(stage.kind, Kind::Dispatch { .. }));
    dispatches.any(|stage| stage.gives.iter().any(|given| **given == **variable))
}

/// What a person configured, and what the repository says: in fences of their own, so that the one cannot pass for the other.
fn project(sources: &Sources<'_>) -> String {
    let configured = Some(&sources.project).map(|text| ("Facts about the repository".to_owned(), text));
    let of_repository = sources.instructions.as_ref();
    let of_repository =
        of_repository.map(|(path, text)| (format!("Text of the repository, {} as the run began", code(path)), text));
    let all = configured.into_iter().chain(of_repository).filter(|(_, text)| !text.trim().is_empty());
    all.map(|(who, text)| quoted(&who, text, None).text).collect::<Vec<_>>().join("\n")
}

fn unit(unit: &Unit) -> String {
    let scope: Vec<String> = unit.scope.iter().map(|glob| code(glob)).collect();
    let scope = if scope.is_empty() { "everything".to_owned() } else { scope.join(" ") };
    let title = if *unit.title == *unit.name { String::new() } else { format!(" {}", line(&unit.title)) };
    let attrs = unit.attrs.iter().map(|(name, values)| format!("; {name}: {}", line(&values.join(", "))));
    let needs: Vec<String> = unit.needs.iter().map(|name| line(name)).collect();
    let needs = if needs.is_empty() { String::new() } else { format!("; after {}", needs.join(", ")) };
    let more: String = attrs.chain([needs]).collect();
    format!("- {} [{}]{title} (scope: {scope}{more})\n", line(&unit.name), unit.state.word())
}

fn criteria(dispatch: &Dispatch<'_>) -> String {
    let (run, unit) = (dispatch.run, dispatch.unit());
    list(rows(dispatch).map(|row| {
        let (state, fresh) = gate::criterion(run, row, &gate::row_rests_on(run, row), unit);
        let mut about: Vec<String> = row.unit.iter().filter(|_| unit.is_none()).map(|unit| line(unit)).collect();
        about.extend(row.group.iter().map(|group| line(group)));
        about.push(state.word().to_owned());
        if !fresh {
            about.push("the content has changed since".to_owned());
        }
        let command = row.command.as_ref().map_or_else(String::new, |command| {
            let came = row.ran.as_ref().map_or_else(String::new, |ran| format!("; it {}", result(ran)));
            let times = row.repeat.map_or_else(String::new, |times| format!(" {times} times"));
            format!(" (the engine runs {}{times}{came})", code(command))
        });
        format!("- {} [{}] {}{command}\n", line(&row.id), about.join("; "), line(&row.text))
    }))
}

/// What came of a command, in words.
fn result(ran: &Evidence) -> String {
    match (ran.result, ran.flaky) {
        (_, Some(Flaky { failed, of })) => format!("was flaky ({failed} of {of} runs on the same content failed)"),
        (Judgement::Pass, None) => "passed".to_owned(),
        (Judgement::Fail, None) => "failed".to_owned(),
        (Judgement::Unobservable, None) => "could not be run here".to_owned(),
    }
}

/// Rows of the subject: a unit's own; for the run all.
fn rows<'a>(dispatch: &Dispatch<'a>) -> impl Iterator<Item = &'a Criterion> {
    let unit = dispatch.unit();
    dispatch.run.ledger.criteria.iter().filter(move |row| unit.is_none_or(|unit| row.unit.as_ref() == Some(unit)))
}

fn findings(dispatch: &Dispatch<'_>) -> String {
    let of_subject = |finding: &FindingState| dispatch.unit().is_none_or(|unit| finding.about.units.contains(unit));
    let unsettled = |finding: &FindingState| !finding.status_in(dispatch.unit()).is_closed();
    let all = dispatch.run.ledger.findings.iter();
    let open = all.filter(|(_, finding)| unsettled(finding) && of_subject(finding));
    list(open.map(|(id, finding)| {
        let about = &finding.about;
        let mut head: Vec<String> = about.severity.iter().chain(&about.category).map(|word| line(word)).collect();
        head.push(finding.status_for(dispatch.unit()).word().to_owned());
        let by = about
            .role
            .as_ref()
            .map_or_else(|| "measured by the engine".to_owned(), |role| format!("by {}", line(role)));
        let place = about.path.as_ref().map(|path| match about.line {
            Some(at) => format!(" {}", code(&format!("{path}:{at}"))),
            None => format!(" {}", code(path)),
        });
        let row = about.criterion.as_ref().map(|row| format!(" ({})", line(row)));
        let mut text = format!(
            "- {id} [{}; {by}]{}{}: {}\n",
            head.join("; "),
            place.unwrap_or_default(),
            row.unwrap_or_default(),
            line(&about.what)
        );
        for (word, said) in [("why", &about.why), ("fix", &about.fix)] {
            if !said.is_empty() {
                text.push_str(&format!("  {word}: {}\n", line(said)));
            }
        }
        text
    }))
}

/// What reports left open: on a unit and on the run as a whole; for the run all.
fn notices(dispatch: &Dispatch<'_>) -> String {
    let unit = dispatch.unit();
    let near = dispatch.run.ledger.notices.iter().filter(|row| row.is_near(unit));
    list(near.map(|row| {
        let about = row.unit.iter().filter(|_| unit.is_none()).map(|unit| format!("of {}", line(unit)));
        let requirement = row.notice.requirement.iter().map(|id| line(id));
        let head: Vec<String> = [line(&row.notice.kind), format!("by {}", line(&row.role))]
            .into_iter()
            .chain(about)
            .chain(requirement)
            .collect();
        format!("- [{}] {}\n", head.join("; "), line(&row.notice.text))
    }))
}

/// What people decided of requirements, whoever asked: requirements are the run's.
fn requirement_decisions(dispatch: &Dispatch<'_>) -> Option<String> {
    let decided = dispatch.run.requirement_decisions().map(|decided| format!("- {}\n", line(&decided.to_string())));
    let lines = list(decided);
    let head = "Requirements that people decided on; what anybody proposed otherwise is overruled:";
    (!lines.is_empty()).then(|| format!("{head}\n\n{lines}\n"))
}

/// What people decided otherwise than a document proposes.
fn overruled(dispatch: &Dispatch<'_>, item: &BundleItem, text: &str, sources: &Sources<'_>) -> String {
    let artifact = dispatch.run.protocol.artifacts.get(&item.item);
    let decided: Vec<RequirementDecision> = dispatch.run.requirement_decisions().collect();
    let Some(schema) = artifact.and_then(|artifact| artifact.schema.as_ref()).filter(|_| !decided.is_empty()) else {
        return String::new();
    };
    let named = sources.contracts.requirements(schema, text);
    let lines = list(decided.iter().filter_map(|decided| {
        let row = named.iter().find(|row| row.id == decided.requirement)?;
        let said = row.disposition.as_ref().or(row.proposed.as_ref()).filter(|said| **said != decided.disposition)?;
        Some(format!("- {}: {} in this document is overruled\n", line(&decided.to_string()), code(said)))
    }));
    if lines.is_empty() { lines } else { format!("\nA person decided otherwise:\n\n{lines}") }
}

/// Decisions that have ended: a unit's own and the run's; for the run all.
fn decisions(dispatch: &Dispatch<'_>) -> String {
    let unit = dispatch.unit();
    let of_subject =
        |decision: &Decision| unit.is_none() || decision.asked.unit.is_none() || decision.asked.unit.as_ref() == unit;
    // Inputs are shown as what they are.
    let ended = dispatch.run.decisions.iter().filter(|(_, decision)| of_subject(decision) && !decision.is_of_intake());
    list(requirement_decisions(dispatch).into_iter().chain(ended.filter_map(|(id, decision)| {
        let end = decision.end.as_ref()?;
        let about = decision.asked.unit.as_ref().map_or_else(String::new, |unit| format!(" about {}", code(unit)));
        let question = quoted(&format!("{id}{about}, the question"), &decision.asked.question, None).text;
        let by = line(&end.by.name);
        let answer = match end.end {
            DecisionEnd::Cancelled => "It was cancelled; there is no answer.\n".to_owned(),
            DecisionEnd::Skipped => format!("{by} goes on without an answer: {}\n", line(&end.text)),
            DecisionEnd::Replaced => "It was asked again; there is no answer.\n".to_owned(),
            DecisionEnd::Answered => {
                let option = end.option.as_ref().map(|option| format!("{by} chose {}.\n", code(option)));
                let text = (!end.text.is_empty())
                    .then(|| quoted(&format!("The answer of {by}, word for word"), &end.text, None).text);
                format!("{}{}", option.unwrap_or_default(), text.map_or_else(String::new, |text| format!("\n{text}")))
            }
        };
        if !decision.answers.is_empty() {
            let pairs = decision.answers.iter().filter_map(|(number, given)| {
                let asked = decision.asked.questions.get(usize::try_from(*number).ok()?.checked_sub(1)?)?;
                let question = quoted(&format!("{id}{about}, question {number}"), &asked.text, None).text;
                let said = format!("The answer of {}, word for word", line(&given.by.name));
                Some(format!("{question}\n{}\n", quoted(&said, &given.text, None).text))
            });
            return Some(pairs.chain((!answer.is_empty()).then_some(answer)).collect());
        }
        Some(format!("{question}\n{}\n", answer.trim_start_matches('\n')))
    })))
}

fn evidence(shown: &mut Shown, dispatch: &Dispatch<'_>, sources: &Sources<'_>) -> Result<(), ContextError> {
    let run = dispatch.run;
    let mut results: Vec<(String, String, &Evidence)> = Vec::new();
    for row in rows(dispatch) {
        if let (Some(command), Some(ran)) = (&row.command, &row.ran) {
            results.push((row.id.to_string(), format!("{} for {}", code(command), line(&row.id)), ran));
        }
    }
    for (key, result) in &run.ledger.commands {
        let (name, of) = (&key.name, key.unit.as_ref());
        if dispatch.unit().is_none_or(|unit| of.is_none_or(|of| of == unit)) {
            let about = of.map_or_else(String::new, |unit| format!(" of {}", code(unit)));
            results.push((key.to_string(), format!("the command {}{about}", code(name)), result));
        }
    }
    let (mut text, mut bytes, mut used) = (Vec::new(), 0, 0);
    for (name, what, ran) in results {
        let since = if ran.on.tree == *run.tree_of(dispatch.unit()) { "" } else { ", on other content than now" };
        let said = format!("{what}: {}{since}", result(ran));
        text.push(match ran.object {
            Some(object) => {
                let output =
                    (sources.object)(object).ok_or(ContextError::ObjectMissing { item: "evidence".into(), object })?;
                bytes += output.len();
                let path = format!("evidence/{}.txt", file_name(&name));
                let (words, _) = shown.words(&format!("{said}. Its output"), &output, used, &path);
                used += words.len() + 1;
                format!("{words}\n")
            }
            None => format!("{said}.\n\n"),
        });
    }
    if text.is_empty() {
        text.push("None.\n".to_owned());
    }
    shown.push("evidence", list(text.into_iter()), None, bytes);
    Ok(())
}

fn change(shown: &mut Shown, change: Option<&Change>) {
    let Some(change) = change.filter(|change| !change.files.is_empty()) else {
        return shown.push("change", "Nothing has changed since the run began.\n".to_owned(), None, 0);
    };
    let mut text = list(change.files.iter().map(|changed| {
        let kind = match changed.kind {
            ChangeKind::Created => "created",
            ChangeKind::Modified => "modified",
            ChangeKind::Deleted => "deleted",
        };
        let since = change.since.as_ref().is_some_and(|since| since.contains(&changed.path));
        let since = if since { " (also since this role judged it last)" } else { "" };
        format!("- {kind} {}{since}\n", code(&changed.path))
    }));
    let whole = if change.cut {
        format!("{}\n[cut: the change is larger than this patch]\n", change.patch)
    } else {
        change.patch.clone()
    };
    let path = shown.file("change.patch", &whole);
    let cut = if change.cut { "; it is cut, the work tree has the rest" } else { "" };
    text.push_str(&format!("\nThe lines are in {} ({} bytes{cut}).\n", code(&path), change.patch.len()));
    shown.push("change", text, Some(path), change.patch.len());
}

fn document(
    shown: &mut Shown,
    dispatch: &Dispatch<'_>,
    item: &BundleItem,
    sources: &Sources<'_>,
) -> Result<(), ContextError> {
    let text = fetch(item, sources)?;
    let is_set = dispatch.run.protocol.artifacts.get(&item.item).is_some_and(|artifact| artifact.many);
    let Some(set) = is_set.then(|| documents::unpack(&text)).flatten() else {
        let path = shown.file(&format!("{}.md", file_name(&item.item)), &text);
        let part = quoted(&format!("The document {}", code(&item.item)), &text, Some(&path));
        let part = part.text + &overruled(dispatch, item, &text, sources);
        shown.push("documents", format!("{part}\n"), Some(path), text.len());
        return Ok(());
    };
    let (mut parts, folder) = (Vec::new(), file_name(&item.item));
    for (name, one) in &set {
        let path = shown.file(&format!("{folder}/{name}"), one);
        let who = format!("The document {}", code(&format!("{}/{name}", item.item)));
        let part = quoted(&who, one, Some(&path)).text + &overruled(dispatch, item, one, sources);
        parts.push(part + "\n");
    }
    shown.push("documents", list(parts.into_iter()), Some(format!("files/{folder}/")), text.len());
    Ok(())
}

fn fetch(item: &BundleItem, sources: &Sources<'_>) -> Result<String, ContextError> {
    // The kernel lists every document and section with its object.
    let object = item.object.unwrap_or_default();
    (sources.object)(object).ok_or_else(|| ContextError::ObjectMissing { item: item.item.clone(), object })
}

/// A section of an earlier report.
fn section(
    shown: &mut Shown,
    dispatch: &Dispatch<'_>,
    item: &BundleItem,
    sources: &Sources<'_>,
) -> Result<(), ContextError> {
    let run = dispatch.run;
    let missing = || ContextError::SectionMissing { item: item.item.clone(), object: item.object.unwrap_or_default() };
    let (role, section) = item.item.split_once('.').ok_or_else(missing)?;
    let key = (item.object.unwrap_or_default(), Name::from(role));
    if !shown.readings.contains_key(&key) {
        let sections = sources.contracts.sections(run, role, &fetch(item, sources)?).ok_or_else(missing)?;
        shown.readings.insert(key.clone(), sections);
    }
    let text = shown.readings.get(&key).and_then(|sections| sections.get(section)).cloned().ok_or_else(missing)?;

    let attempt = item.attempt.map_or_else(String::new, |attempt| attempt.to_string());
    let of = run.reports.iter().find(|(_, reports)| reports.iter().any(|report| Some(report.attempt) == item.attempt));
    let unit = of.and_then(|(instance, _)| run.instances.get(instance)).and_then(|known| known.unit.as_ref());
    let about = unit.map_or_else(String::new, |unit| format!(" on {}", code(unit)));
    let who = format!("Words of {} in {attempt}{about}, {}", line(role), code(section));
    let path = format!("reports/{}-{}.md", file_name(&item.item), file_name(&attempt));
    let (words, path) = shown.words(&who, &text, shown.used("reports"), &path);
    shown.push("reports", format!("{words}\n"), path, text.len());
    Ok(())
}
