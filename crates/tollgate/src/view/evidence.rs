//! What shows that each row holds: a matrix of requirement, row, evidence, what it covers, and whether that is unchanged.

use tollgate_api::{self as api, EvidenceSource, RunDetail};

use super::table::{table, wrap};
use super::text::{Line, Style, plain};

/// So many digits of an object name it; `tollgate evidence` takes any unique beginning.
const DIGITS: usize = 12;
/// How many runs of a command are told one by one.
const RUNS_MAX: usize = 20;
/// The columns that say what is shown; the others say by what.
const SUBJECT: [&str; 3] = ["requirement", "row", "unit"];
const SHOWN: [&str; 5] = ["shown by", "result", "covers", "content", "object"];

/// A row, or a configured command, and what shows it.
struct Row<'a> {
    subject: [String; 3],
    /// What must be true, and where it stands.
    about: String,
    evidence: Vec<&'a api::Evidence>,
}

/// The matrix, why what does not pass does not, and how a person reads on.
pub fn lines(detail: &RunDetail, width: usize) -> Vec<Line> {
    let rows = rows(detail);
    if rows.is_empty() {
        return vec![Line::from(format!("{} has no rows that evidence could show", detail.summary.run))];
    }
    let mut lines = matrix(&rows, detail, usize::MAX);
    if lines.iter().any(|line| line.width() > width) {
        lines = grouped(&rows, detail, width);
    }
    let unsure = |evidence: &&api::Evidence| evidence.result != "pass";
    if rows.iter().any(|row| row.evidence.iter().any(unsure)) {
        lines.push(Line::new());
    }
    for row in &rows {
        for evidence in row.evidence.iter().filter(|evidence| unsure(evidence)) {
            let label = Line::from("  ").add(Style::Strong, row.subject[1].as_str()).text("  ");
            lines.extend(why(label, evidence, detail, width));
        }
    }
    let mut all = rows.iter().flat_map(|row| &row.evidence);
    lines.push(Line::new());
    let object = all.rfind(|evidence| evidence.object.is_some()).and_then(|evidence| evidence.object.as_ref());
    lines.extend(
        object.map(|object| Line::from("  ").add(Style::Accent, format!("tollgate evidence {}", short(object)))),
    );
    lines
}

fn rows(detail: &RunDetail) -> Vec<Row<'_>> {
    let row = |row: &'_ api::Criterion| [row.requirement.clone(), Some(row.id.clone()), row.unit.clone()];
    let criteria = detail.criteria.iter().map(|known| Row {
        subject: row(known).map(Option::unwrap_or_default),
        about: format!("{}: {}", known.status, known.text),
        evidence: known.evidence.iter().collect(),
    });
    let commands = detail.commands.iter().map(|ran| Row {
        subject: [String::new(), ran.name.clone(), ran.unit.clone().unwrap_or_default()],
        about: format!("a command that a gate asks for: {}", ran.command),
        evidence: vec![&ran.evidence],
    });
    criteria.chain(commands).collect()
}

/// Everything in one table: a row is named once, with all that shows it below each other.
fn matrix(rows: &[Row<'_>], detail: &RunDetail, width: usize) -> Vec<Line> {
    let mut cells: Vec<Vec<Line>> = Vec::new();
    for row in rows {
        let subject = row.subject.clone().map(Line::from);
        if row.evidence.is_empty() {
            cells.push(subject.iter().cloned().chain([nothing()]).collect());
        }
        for (place, evidence) in row.evidence.iter().enumerate() {
            let subject = if place == 0 { subject.clone() } else { Default::default() };
            cells.push(subject.into_iter().chain(shown(evidence, detail)).collect());
        }
    }
    let mut header: Vec<&str> = SUBJECT.iter().chain(&SHOWN).copied().collect();
    // A column that no row fills says nothing.
    for column in [2, 0] {
        if rows.iter().all(|row| row.subject[column].is_empty()) {
            header.remove(column);
            cells.iter_mut().for_each(|cells| drop(cells.remove(column)));
        }
    }
    table(&header, cells, width)
}

/// The same where that is too wide: each row is a line of its own, above what shows it.
fn grouped(rows: &[Row<'_>], detail: &RunDetail, width: usize) -> Vec<Line> {
    let cells: Vec<Vec<Line>> =
        rows.iter().flat_map(|row| row.evidence.iter().map(|e| shown(e, detail).to_vec())).collect();
    let mut below = table(&SHOWN, cells, width.saturating_sub(2)).into_iter();
    let indented = |line: Line| Line::from("  ").join(line);
    let mut lines: Vec<Line> = below.next().map(indented).into_iter().collect();
    for row in rows {
        let subject: Vec<&str> = row.subject.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let head = Line::new().add(Style::Strong, subject.join("  "));
        lines.push(head.add(Style::Faint, format!("  {}", row.about)).fit(width));
        lines.extend(below.by_ref().take(row.evidence.len()).map(indented));
        if row.evidence.is_empty() {
            lines.push(indented(nothing()));
        }
    }
    lines
}

fn nothing() -> Line {
    Line::new().add(Style::Faint, "nothing yet")
}

/// Why something does not pass, wrapped beside its row.
fn why(label: Line, evidence: &api::Evidence, detail: &RunDetail, width: usize) -> Vec<Line> {
    let mut text = sentence(evidence, detail);
    if evidence.runs.len() > 1 {
        let exit = |run: &api::EvidenceRun| run.exit.map_or_else(|| "none".to_owned(), |exit| exit.to_string());
        let exits: Vec<String> = evidence.runs.iter().take(RUNS_MAX).map(exit).collect();
        let more = if evidence.runs.len() > RUNS_MAX { " …" } else { "" };
        text = format!("exit codes {}{more}; {text}", exits.join(" "));
    }
    let indent = " ".repeat(label.width());
    let mut label = Some(label);
    // Made harmless first: what is shown in its place may be wider.
    let broken = wrap(&plain(&text), width.saturating_sub(indent.len()));
    broken.into_iter().map(|line| label.take().unwrap_or_else(|| Line::from(indent.as_str())).text(line)).collect()
}

fn shown(evidence: &api::Evidence, detail: &RunDetail) -> [Line; 5] {
    let attempt = detail.attempts.iter().find(|attempt| attempt.id == evidence.from);
    let role = attempt.and_then(|attempt| attempt.role.as_deref()).unwrap_or("a report");
    let by = match evidence.source {
        EvidenceSource::Command => "command",
        EvidenceSource::Decision => "waiver",
        EvidenceSource::Measurement => "measurement",
        EvidenceSource::Report | EvidenceSource::SelfCheck => role,
    };
    let own = if evidence.source == EvidenceSource::SelfCheck { ", of its own work" } else { "" };
    let result = match (evidence.result.as_str(), evidence.source) {
        (_, EvidenceSource::Decision) => ("waived", Style::Warn),
        ("pass", _) => ("pass", Style::Good),
        ("fail", _) => ("fail", Style::Bad),
        ("flaky", _) => ("flaky", Style::Bad),
        (other, _) => (other, Style::Warn),
    };
    let (state, style) = if evidence.fresh { ("fresh", Style::Plain) } else { ("stale", Style::Warn) };
    [
        Line::from(format!("{by} ({}){own}", evidence.from)),
        Line::new().add(result.1, result.0),
        Line::from(evidence.covers.join(" ")),
        Line::new().add(style, state),
        Line::new().add(Style::Faint, evidence.object.as_deref().map(short).unwrap_or_default()),
    ]
}

/// "dod-checker says yes (att_4): “src/main.rs:12”", with a word when it is about other content.
pub fn sentence(evidence: &api::Evidence, detail: &RunDetail) -> String {
    let stale = if evidence.fresh { "" } else { ", of other content" };
    let from = format!("({}{stale})", evidence.from);
    let attempt = detail.attempts.iter().find(|attempt| attempt.id == evidence.from);
    let who = attempt.and_then(|attempt| attempt.role.as_deref()).unwrap_or("a report");
    let text = evidence.text.lines().next().unwrap_or_default();
    match (evidence.source, evidence.result.as_str()) {
        (EvidenceSource::Decision, _) => format!("{text} {from}"),
        (EvidenceSource::Command, "pass") => match evidence.runs.len() {
            0 | 1 => format!("its command passes {from}"),
            times => format!("its command passes {times} times {from}"),
        },
        (EvidenceSource::Command, "flaky") => {
            format!("its command is flaky {from}: {}", text.trim_start_matches("flaky: "))
        }
        (EvidenceSource::Command, _) => format!("its command does not pass {from}: {text}"),
        (_, result) => {
            let says = match result {
                "pass" => "says yes",
                "fail" => "says no",
                _ => "cannot tell",
            };
            let text = if text.is_empty() { String::new() } else { format!(": “{text}”") };
            format!("{who} {says} {from}{text}")
        }
    }
}

fn short(object: &str) -> String {
    object.chars().take(DIGITS).collect()
}
