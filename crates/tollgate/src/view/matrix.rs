//! The matrix of a run as a table: requirement, unit, row, what shows it, fresh or stale, by whom.

use tollgate_api::{EvidenceSource, MatrixRow};

use super::table::table;
use super::text::{Line, Style};

/// The columns that say what has to be shown; the others say by what.
const SUBJECT: [&str; 3] = ["requirement", "unit", "row"];
const SHOWN: [&str; 4] = ["status", "shown by", "content", "by"];

/// The lines of the table; where it is too wide for one, what has to be shown is a line above what shows it.
pub fn lines(rows: &[MatrixRow], width: usize) -> Vec<Line> {
    let mut header: Vec<&str> = SUBJECT.iter().chain(&SHOWN).copied().collect();
    let mut cells: Vec<Vec<Line>> = Vec::new();
    let mut before = None;
    for row in rows {
        let subject = subject(row);
        let is_same = before.as_ref() == Some(&subject);
        let named = if is_same { Default::default() } else { subject.clone() };
        before = Some(subject);
        cells.push(named.into_iter().map(Line::from).chain(shown(row, is_same)).collect());
    }
    // A column that no row fills says nothing.
    for column in (0..SUBJECT.len()).rev() {
        if cells.iter().all(|cells| cells[column].width() == 0) {
            header.remove(column);
            cells.iter_mut().for_each(|cells| drop(cells.remove(column)));
        }
    }
    let wide = table(&header, cells, usize::MAX);
    if wide.iter().all(|line| line.width() <= width) { wide } else { grouped(rows, width) }
}

fn grouped(rows: &[MatrixRow], width: usize) -> Vec<Line> {
    let cells = rows.iter().map(|row| shown(row, false).to_vec()).collect();
    let indented = |line: Line| Line::from("  ").join(line);
    let mut below = table(&SHOWN, cells, width.saturating_sub(2)).into_iter();
    let mut lines: Vec<Line> = below.next().map(indented).into_iter().collect();
    let mut before = None;
    for row in rows {
        let subject = subject(row);
        if before.as_ref() != Some(&subject) {
            let parts: Vec<&str> = subject.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
            lines.push(Line::new().add(Style::Strong, parts.join("  ")).fit(width));
        }
        before = Some(subject);
        lines.extend(below.next().map(indented));
    }
    lines
}

/// What has to be shown: the requirement with where it stands, the unit, the row.
fn subject(row: &MatrixRow) -> [String; 3] {
    let disposition = row.disposition.as_ref().map(|word| format!(" ({word})")).unwrap_or_default();
    let requirement = row.requirement.as_ref().map(|id| format!("{id}{disposition}"));
    [requirement, row.unit.clone(), row.criterion.clone()].map(Option::unwrap_or_default)
}

fn shown(row: &MatrixRow, is_same: bool) -> [Line; 4] {
    let status = row.status.as_deref().unwrap_or_default();
    let style = match status {
        "passed" => Style::Good,
        "failed" => Style::Bad,
        _ => Style::Warn,
    };
    let status = if is_same { Line::new() } else { Line::new().add(style, status) };
    let from = row.from.as_deref().unwrap_or_default();
    let result = row.result.as_deref().unwrap_or_default();
    let what = match row.source {
        Some(EvidenceSource::Command) => format!("command {result} ({from})"),
        Some(EvidenceSource::Measurement) => format!("measured {result} ({from})"),
        Some(EvidenceSource::Report) => format!("report {result} ({from})"),
        Some(EvidenceSource::SelfCheck) => format!("self-check {result} ({from})"),
        Some(EvidenceSource::Decision) if row.criterion.is_some() => format!("waived ({from})"),
        Some(EvidenceSource::Decision) => format!("{result} ({from})"),
        None => "nothing yet".to_owned(),
    };
    let content = match row.fresh {
        Some(true) => Line::from("fresh"),
        Some(false) => Line::new().add(Style::Warn, "stale"),
        None => Line::new(),
    };
    let what = if row.source.is_some() { Line::from(what) } else { Line::new().add(Style::Faint, what) };
    [status, what, content, Line::from(row.by.as_deref().unwrap_or_default())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<MatrixRow> {
        let row = |requirement: &str, unit: &str, criterion: &str| MatrixRow {
            requirement: Some(requirement.to_owned()),
            disposition: Some("in_scope".to_owned()),
            unit: Some(unit.to_owned()),
            criterion: Some(criterion.to_owned()),
            status: Some("passed".to_owned()),
            ..MatrixRow::default()
        };
        let by = |row: MatrixRow, source, from: &str, fresh, by: &str| MatrixRow {
            source: Some(source),
            result: Some("pass".to_owned()),
            from: Some(from.to_owned()),
            fresh: Some(fresh),
            by: Some(by.to_owned()),
            ..row
        };
        vec![
            by(row("R-1", "api", "AC-1"), EvidenceSource::Command, "att_4", true, "tollgate"),
            by(row("R-1", "api", "AC-1"), EvidenceSource::Report, "att_3", false, "reviewer"),
            MatrixRow { status: Some("open".to_owned()), ..row("R-2", "page", "AC-2") },
        ]
    }

    #[test]
    fn a_row_is_named_once_with_all_that_shows_it() {
        let text: Vec<String> = lines(&rows(), 120).iter().map(|line| line.to_string().trim_end().to_owned()).collect();
        assert_eq!(
            text,
            [
                "requirement     unit  row   status  shown by              content  by",
                "R-1 (in_scope)  api   AC-1  passed  command pass (att_4)  fresh    tollgate",
                "                                    report pass (att_3)   stale    reviewer",
                "R-2 (in_scope)  page  AC-2  open    nothing yet",
            ]
        );
    }

    #[test]
    fn it_fits_narrow_terminals() {
        let mut rows = rows();
        rows[0].unit = Some("a-unit-with-a-name-that-is-long".to_owned());
        for columns in [60, 80] {
            let lines = lines(&rows, columns);
            assert!(lines.iter().all(|line| line.width() <= columns), "{lines:#?}");
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            assert!(text.contains("stale    reviewer") && text.contains("R-2 (in_scope)  page  AC-2"), "{text}");
        }
    }
}
