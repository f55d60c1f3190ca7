//! What shows that each row holds, as a table: requirement, row, evidence, what it covers, and whether that is unchanged.

use tollgate_api::{self as api, EvidenceSource, RunDetail};

use super::table::table;
use super::text::{Line, Style};

/// So many digits of an object name it; `tollgate evidence` takes any unique beginning.
const DIGITS: usize = 12;

/// The table, and how a person reads on.
pub fn lines(detail: &RunDetail, width: usize) -> Vec<Line> {
    let mut rows: Vec<Vec<Line>> = Vec::new();
    for row in &detail.criteria {
        let subject =
            [row.requirement.clone().unwrap_or_default(), row.id.clone(), row.unit.clone().unwrap_or_default()];
        let subject = subject.map(Line::from);
        if row.evidence.is_empty() {
            rows.push(subject.iter().cloned().chain([Line::new().add(Style::Faint, "nothing yet")]).collect());
        }
        for evidence in &row.evidence {
            rows.push(subject.iter().cloned().chain(cells(evidence, detail)).collect());
        }
    }
    if rows.is_empty() {
        return vec![Line::from(format!("{} has no rows that evidence could show", detail.summary.run))];
    }
    let mut header = vec!["requirement", "row", "unit", "shown by", "result", "covers", "of", "object"];
    // A column that no row fills says nothing.
    for column in [2, 0] {
        if rows.iter().all(|cells| cells[column].width() == 0) {
            header.remove(column);
            rows.iter_mut().for_each(|cells| drop(cells.remove(column)));
        }
    }
    let mut all = detail.criteria.iter().flat_map(|row| &row.evidence);
    let object = all.rfind(|evidence| evidence.object.is_some()).and_then(|evidence| evidence.object.as_ref());
    let mut lines = table(&header, rows, width);
    lines.extend(
        object.map(|object| Line::from("  ").add(Style::Accent, format!("tollgate evidence {}", short(object)))),
    );
    lines
}

fn cells(evidence: &api::Evidence, detail: &RunDetail) -> [Line; 5] {
    let attempt = detail.attempts.iter().find(|attempt| attempt.id == evidence.from);
    let role = attempt.and_then(|attempt| attempt.role.as_deref()).unwrap_or("a report");
    let by = match evidence.source {
        EvidenceSource::Command => "its command",
        EvidenceSource::Decision => "a person's waiver",
        EvidenceSource::Measurement => "a measurement",
        EvidenceSource::Report | EvidenceSource::SelfCheck => role,
    };
    let own = if evidence.source == EvidenceSource::SelfCheck { ", of its own work" } else { "" };
    let result = match evidence.result.as_str() {
        "pass" => Style::Good,
        "fail" => Style::Bad,
        _ => Style::Warn,
    };
    let (state, style) =
        if evidence.fresh { ("this content", Style::Plain) } else { ("other content: stale", Style::Warn) };
    [
        Line::from(format!("{by} ({}){own}", evidence.from)),
        Line::new().add(result, evidence.result.clone()),
        Line::from(evidence.covers.join(" ")),
        Line::new().add(style, state),
        Line::new().add(Style::Faint, evidence.object.as_deref().map(short).unwrap_or_default()),
    ]
}

fn short(object: &str) -> String {
    object.chars().take(DIGITS).collect()
}
