//! The matrix of a run: requirement by unit by row, each with what shows it, whether that is fresh, and whose word it is.

use tollgate_api::{self as api, EvidenceSource, MatrixRow};
use tollgate_core::id::DecisionId;
use tollgate_core::run::Run;
use tollgate_core::run::state::{Requirement, Unit};

/// The lines of the matrix: requirements in the order of the plan, then what is about none, unit by unit.
pub fn matrix(run: &Run, criteria: &[api::Criterion], attempts: &[api::Attempt]) -> Vec<MatrixRow> {
    let mut rows = Vec::new();
    for requirement in &run.ledger.requirements {
        let about = MatrixRow {
            requirement: Some(requirement.id.to_string()),
            disposition: Some(disposition(requirement, criteria)),
            ..MatrixRow::default()
        };
        rows.extend(decided(run, requirement).map(|(id, result)| by_person(run, id, result, about.clone())));
        let own: Vec<&api::Criterion> =
            criteria.iter().filter(|row| row.requirement.as_deref() == Some(&*requirement.id)).collect();
        own.iter().for_each(|row| rows.extend(of_row(run, row, attempts, &about)));
        let serves = |unit: &&Unit| unit.retired.is_none() && unit.requirements.contains(&requirement.id);
        let is_shown = |unit: &&Unit| own.iter().any(|row| row.unit.as_deref() == Some(&*unit.name));
        let units = run.ledger.units.iter().filter(|unit| serves(unit) && !is_shown(unit));
        let before = rows.len();
        rows.extend(units.map(|unit| MatrixRow { unit: Some(unit.name.to_string()), ..about.clone() }));
        if own.is_empty() && rows.len() == before {
            rows.push(about);
        }
    }
    let rest: Vec<&api::Criterion> = criteria.iter().filter(|row| row.requirement.is_none()).collect();
    let none = MatrixRow::default();
    for unit in run.ledger.units.iter().filter(|unit| unit.retired.is_none()) {
        let of_unit = rest.iter().filter(|row| row.unit.as_deref() == Some(&*unit.name));
        of_unit.for_each(|row| rows.extend(of_row(run, row, attempts, &none)));
        if !rows.iter().any(|row| row.unit.as_deref() == Some(&*unit.name)) {
            rows.push(MatrixRow { unit: Some(unit.name.to_string()), ..MatrixRow::default() });
        }
    }
    let stays = |name: &str| run.unit(name).is_some_and(|unit| unit.retired.is_none());
    let runs = rest.iter().filter(|row| !row.unit.as_deref().is_some_and(stays));
    runs.for_each(|row| rows.extend(of_row(run, row, attempts, &none)));
    rows
}

/// What was decided of a requirement, or whether all that shows it passes.
fn disposition(requirement: &Requirement, criteria: &[api::Criterion]) -> String {
    let mut own = criteria.iter().filter(|row| row.requirement.as_deref() == Some(&*requirement.id)).peekable();
    let word: &str = match &requirement.disposition {
        _ if requirement.waived.is_some() => "waived",
        None if requirement.proposed.is_some() => "proposed",
        None => "undecided",
        Some(decided) if **decided != *"in_scope" => decided,
        Some(_) if own.peek().is_some() && own.all(|row| matches!(&*row.status, "passed" | "waived")) => "met",
        Some(decided) => decided,
    };
    word.to_owned()
}

/// The decisions by which a person disposed of a requirement or waived it, with what they made of it.
fn decided<'r>(run: &Run, requirement: &'r Requirement) -> impl Iterator<Item = (DecisionId, &'r str)> {
    let disposed = requirement.disposed_by.and_then(|id| Some((id, requirement.disposition.as_deref()?)));
    let waived = requirement.waived.map(|id| (id, "waived"));
    let known: Vec<DecisionId> = run.decisions.keys().copied().collect();
    disposed.into_iter().chain(waived).filter(move |(id, _)| known.contains(id))
}

fn by_person(run: &Run, id: DecisionId, result: &str, about: MatrixRow) -> MatrixRow {
    MatrixRow {
        source: Some(EvidenceSource::Decision),
        result: Some(result.to_owned()),
        fresh: Some(true),
        by: person(run, id),
        from: Some(id.to_string()),
        ..about
    }
}

/// Who answered a decision.
fn person(run: &Run, id: DecisionId) -> Option<String> {
    let ended = run.decisions.get(&id)?.end.as_ref()?;
    Some(ended.by.name.to_string())
}

/// A line for each piece of what shows a row; one without where nothing does.
fn of_row(run: &Run, row: &api::Criterion, attempts: &[api::Attempt], about: &MatrixRow) -> Vec<MatrixRow> {
    let bare = MatrixRow {
        unit: row.unit.clone(),
        criterion: Some(row.id.clone()),
        status: Some(row.status.clone()),
        ..about.clone()
    };
    let shown = |evidence: &api::Evidence| MatrixRow {
        source: Some(evidence.source),
        result: Some(evidence.result.clone()),
        fresh: Some(evidence.fresh),
        by: by(run, evidence, attempts),
        from: Some(evidence.from.clone()),
        object: evidence.object.clone(),
        ..bare.clone()
    };
    if row.evidence.is_empty() { vec![bare] } else { row.evidence.iter().map(shown).collect() }
}

/// Whose word it is: a person, a role, or the engine, which ran a command.
fn by(run: &Run, evidence: &api::Evidence, attempts: &[api::Attempt]) -> Option<String> {
    match evidence.source {
        EvidenceSource::Command | EvidenceSource::Measurement => Some("tollgate".to_owned()),
        EvidenceSource::Decision => person(run, evidence.from.parse().ok()?),
        EvidenceSource::Report | EvidenceSource::SelfCheck => {
            let attempt = attempts.iter().find(|attempt| attempt.id == evidence.from)?;
            attempt.role.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(requirement: Option<&str>, status: &str) -> api::Criterion {
        api::Criterion {
            id: "AC-1".to_owned(),
            text: String::new(),
            group: None,
            unit: None,
            requirement: requirement.map(str::to_owned),
            command: None,
            repeat: 1,
            status: status.to_owned(),
            evidence: Vec::new(),
        }
    }

    /// A requirement is met by rows that pass on this content, and by no others.
    #[test]
    fn a_requirement_is_what_was_decided_until_its_rows_pass() {
        let requirement = |disposition: Option<&str>, proposed: Option<&str>| Requirement {
            id: "R-1".into(),
            text: String::new(),
            disposition: disposition.map(Into::into),
            proposed: proposed.map(Into::into),
            disposed_by: None,
            waived: None,
        };
        let cases = [
            (requirement(None, None), vec![], "undecided"),
            (requirement(None, Some("deferred")), vec![], "proposed"),
            (requirement(Some("in_scope"), None), vec![], "in_scope"),
            (requirement(Some("in_scope"), None), vec![row(Some("R-1"), "passed"), row(Some("R-2"), "open")], "met"),
            (requirement(Some("in_scope"), None), vec![row(Some("R-1"), "stale")], "in_scope"),
            (requirement(Some("deferred"), None), vec![row(Some("R-1"), "passed")], "deferred"),
            (Requirement { waived: Some(DecisionId(1)), ..requirement(None, None) }, vec![], "waived"),
        ];
        for (requirement, criteria, expected) in cases {
            assert_eq!(disposition(&requirement, &criteria), expected, "{requirement:?}");
        }
    }
}
