//! What a document brings into the ledger, in sentences.

use crate::defined::definition::{Definition, IdMap, ItemMap, Path, Said};

/// A line for each kind of item that a document plans.
pub fn lines(definition: &Definition) -> String {
    let plan = &definition.plan;
    let mut lines = Vec::new();
    if let Some(units) = &plan.units {
        let mut line = item(&units.item, "a unit");
        if !units.needs.is_empty() {
            line += &format!(" {} names other units, without a circle.", fields(&units.needs));
        }
        if !units.scope.is_empty() {
            line += &format!(" Each item of {} begins with a path or a glob.", fields(&units.scope));
        }
        lines.push(line);
    }
    if let Some(rows) = &plan.criteria {
        let mut line = item(&rows.item, "a row that the work is judged by");
        if !rows.command.is_empty() {
            let from = fields(&rows.command);
            line += &format!(
                " Text in {from} that begins with `cmd:` is a command, which is run; other text is for a judge."
            );
        }
        lines.push(line);
    }
    if let Some(requirements) = &plan.requirements {
        let mut line = item(&requirements.item, "a requirement");
        if !requirements.proposed.is_empty() {
            line += &format!(" {} is a proposal: a person decides.", fields(&requirements.proposed));
        }
        lines.push(line);
    }
    if let Some(retired) = &plan.retires {
        lines.push(item(retired, "withdrawn"));
    }
    lines.into_iter().map(|line| format!("- {line}\n")).collect()
}

fn item(map: &ItemMap, what: &str) -> String {
    let item = map.each.as_ref().map_or("The document".to_owned(), |each| format!("Each item of `{}`", each.written));
    let id = match &map.id {
        IdMap::Field(from) => format!("with the id in {}, which no other has", fields(from)),
        IdMap::Position(prefix) if map.each.is_none() => format!("`{prefix}-1`"),
        IdMap::Position(prefix) => format!("`{prefix}-1`, `{prefix}-2`, … by its position"),
        IdMap::PositionIn(from) => format!("called by the {} and a number", fields(from)),
    };
    format!("{item} is {what}, {id}.")
}

fn fields(from: &Said) -> String {
    let name = |path: &Path| match (&*path.written, path.outer) {
        ("it", None) => "the item".to_owned(),
        (written, None) => format!("`{written}`"),
        (written, Some(_)) => format!("`{}` of what it is in", written.trim_start_matches('^')),
    };
    from.iter().map(name).collect::<Vec<_>>().join(" and ")
}
