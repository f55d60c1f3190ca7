//! The brief of a role: a template over a closed list of names.

use std::collections::BTreeMap;
use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};

use crate::protocol::model::{ITEMS, ScopePolicy};
use crate::run::state::Collision;

use super::items::Shown;
use super::text::{code, line};
use super::{ContextError, Dispatch};

/// Steps a template may take; one that uses each item once needs some hundred.
const FUEL: u64 = 20_000;
/// The largest template.
const TEMPLATE_MAX: usize = 256 * 1024;
/// The largest brief.
const BRIEF_MAX: usize = 2 * 1024 * 1024;

/// The names a brief has besides the items of the kernel's list.
const NAMES: [&str; 16] = [
    "run",
    "attempt",
    "role",
    "subject",
    "stage",
    "iteration",
    "judges",
    "writes",
    "documents",
    "reports",
    "remarks",
    "collisions",
    "outside",
    "instructions",
    "shown",
    "files",
];

fn is_known(name: &str) -> bool {
    NAMES.contains(&name) || ITEMS.contains(&name)
}

fn environment() -> Result<Environment<'static>, ContextError> {
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    let mut environment = Environment::new();
    environment.set_syntax(syntax.map_err(|error| refused(&error))?);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    Ok(environment)
}

/// Checks a template before anything runs: it is well formed, and it names nothing that no brief has.
pub fn check(template: &str) -> Result<(), ContextError> {
    if template.len() > TEMPLATE_MAX {
        let why = format!("its template has {} bytes, more than {TEMPLATE_MAX}", template.len());
        return Err(ContextError::TooLarge { why });
    }
    let environment = environment()?;
    let parsed = environment.template_from_str(template).map_err(|error| refused(&error))?;
    let globals: Vec<String> = environment.globals().map(|(name, _)| name.to_owned()).collect();
    let unknown = parsed.undeclared_variables(false).into_iter();
    let unknown = unknown.filter(|name| !is_known(name) && !globals.contains(name));
    match unknown.map(|name| (line_of(template, &name), name)).min() {
        Some((line, name)) => Err(ContextError::UnknownName { name, line }),
        None => Ok(()),
    }
}

/// The first line in which a tag uses a name.
fn line_of(template: &str, name: &str) -> u32 {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let names = |text: &str| text.split(|c| !is_part(c)).any(|word| word == name);
    let mut line = 1;
    let mut rest = template;
    while let Some(start) = rest.find(['{']) {
        line += newlines(&rest[..start]);
        rest = &rest[start..];
        let close = match rest.get(..2) {
            Some("{{") => "}}",
            Some("{%") => "%}",
            Some("{#") => "#}",
            _ => "",
        };
        let end = if close.is_empty() { 1 } else { rest.find(close).map_or(rest.len(), |at| at + 2) };
        let tag = &rest[..end];
        let is_code = matches!(close, "}}" | "%}");
        if let Some(at) = tag.lines().position(names).filter(|_| is_code) {
            return line + u32::try_from(at).unwrap_or_default();
        }
        line += newlines(tag);
        rest = &rest[end..];
    }
    line
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

fn refused(error: &minijinja::Error) -> ContextError {
    if error.kind() == ErrorKind::OutOfFuel {
        return ContextError::TooLarge { why: format!("its template takes more than {FUEL} steps") };
    }
    if error.kind() == ErrorKind::WriteFailure {
        return ContextError::TooLarge { why: format!("it passes {BRIEF_MAX} bytes") };
    }
    let line = error.line().and_then(|line| u32::try_from(line).ok()).unwrap_or_default();
    let why = error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()));
    ContextError::Template { line, why }
}

/// Writes the brief.
pub(super) fn render(
    dispatch: &Dispatch<'_>,
    template: &str,
    shown: &Shown,
    instructions: &str,
) -> Result<String, ContextError> {
    check(template)?;
    let environment = environment()?;
    let parsed = environment.template_from_str(template).map_err(|error| refused(&error))?;
    let mut out = Bounded(Vec::new());
    parsed
        .render_captured_to(Value::from(values(dispatch, shown, instructions)), &mut out)
        .map_err(|error| refused(&error))?;
    Ok(String::from_utf8_lossy(&out.0).into_owned())
}

struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > BRIEF_MAX {
            return Err(io::Error::other("the brief is too large"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn values(dispatch: &Dispatch<'_>, shown: &Shown, instructions: &str) -> BTreeMap<&'static str, Value> {
    let text = |text: String| Value::from(text.trim_end().to_owned());
    let some =
        |text: Option<String>| text.map_or_else(|| Value::from(()), |text| Value::from(text.trim_end().to_owned()));
    let mut values: BTreeMap<&'static str, Value> = ITEMS.iter().map(|item| (*item, some(shown.block(item)))).collect();
    values.extend([
        ("run", text(dispatch.run.id.to_string())),
        ("attempt", text(dispatch.id.to_string())),
        ("role", text(line(dispatch.role_name))),
        ("subject", text(subject(dispatch))),
        ("stage", text(line(&dispatch.attempt.stage))),
        ("iteration", Value::from(dispatch.iteration)),
        ("judges", Value::from(dispatch.role.judges())),
        ("writes", some(writes(dispatch))),
        ("documents", some(shown.block("documents"))),
        ("reports", some(shown.block("reports"))),
        ("remarks", some(remarks(dispatch))),
        ("collisions", some(collisions(dispatch))),
        ("outside", some(outside(dispatch))),
        ("instructions", text(instructions.to_owned())),
        ("shown", text(names(dispatch))),
        ("files", some(files(shown))),
    ]);
    values
}

fn subject(dispatch: &Dispatch<'_>) -> String {
    dispatch.unit().map_or_else(|| "the whole run".to_owned(), |unit| format!("the unit {}", code(unit)))
}

/// What the role may write: its areas, by pattern, and the unit's scope. None: it writes nothing.
fn writes(dispatch: &Dispatch<'_>) -> Option<String> {
    let (run, role) = (dispatch.run, dispatch.role);
    if role.writes.is_empty() {
        return None;
    }
    let patterns = |patterns: &[crate::Name]| patterns.iter().map(|glob| code(glob)).collect::<Vec<_>>().join(" ");
    let mut lines = Vec::new();
    for (at, area) in run.areas.iter().enumerate() {
        if role.writes.contains(&area.name) {
            // The first pattern that matches wins, so an area ends where an earlier one begins.
            let earlier: Vec<&str> = run.areas[..at]
                .iter()
                .filter(|earlier| !role.writes.contains(&earlier.name))
                .map(|earlier| &*earlier.name)
                .collect();
            let but =
                if earlier.is_empty() { String::new() } else { format!(", but nothing of {}", earlier.join(", ")) };
            lines.push(format!("- {}: {}{but}", area.name, patterns(&area.patterns)));
        } else {
            lines.push(format!("- not {}: {}", area.name, patterns(&area.patterns)));
        }
    }
    let scope =
        dispatch.unit().and_then(|unit| run.unit(unit)).map(|unit| &unit.scope).filter(|scope| !scope.is_empty());
    if let Some(scope) = scope {
        let strict = match role.scope {
            ScopePolicy::Strict => "only",
            ScopePolicy::Incidental => "apart from small changes the work cannot do without, only",
            ScopePolicy::Advisory => "as far as possible, only",
        };
        lines.push(format!("- of these, {strict} what the scope holds: {}", patterns(scope)));
    }
    Some(lines.join("\n"))
}

/// What the stage must know of what happened here before: how the role's own last report ended. The words of another
/// role's report are no remark: they would pass by what the role may see.
fn remarks(dispatch: &Dispatch<'_>) -> Option<String> {
    let instance = dispatch.instance;
    let own = instance.remarks_of.as_ref() == Some(dispatch.role_name);
    let said = instance.remarks.iter().filter(|_| own).map(|remark| format!("- {}\n", line(remark)));
    let unnamed = instance.wrote.get(dispatch.role_name).into_iter().flat_map(|wrote| &wrote.unnamed);
    let unnamed = unnamed.map(|path| format!("- {} changed before, and no report names it: name it now\n", code(path)));
    let lines: Vec<String> = said.chain(unnamed).collect();
    (!lines.is_empty()).then(|| super::items::list(lines.into_iter()))
}

/// How the unit's work collided with what landed before it, for who may mend it.
fn collision<'a>(dispatch: &Dispatch<'a>) -> Option<&'a Collision> {
    let unit = dispatch.unit().and_then(|unit| dispatch.run.unit(unit));
    unit?.tree.as_ref().filter(|own| !own.landed)?.collision.as_ref().filter(|_| !dispatch.role.writes.is_empty())
}

fn collisions(dispatch: &Dispatch<'_>) -> Option<String> {
    let collision = collision(dispatch)?;
    let paths = collision.paths.iter().map(|path| format!("- {}\n", code(path)));
    let how = collision.how.lines().map(|how| format!("- {}\n", line(how)));
    Some(super::items::list(paths) + "\nAs git tells it:\n\n" + &super::items::list(how))
}

/// Paths that a landing found outside the unit's scope and a person did not allow.
fn outside(dispatch: &Dispatch<'_>) -> Option<String> {
    let instance = dispatch.instance;
    let collided = collision(dispatch).is_some_and(|collision| {
        collision.paths.iter().map(|path| &**path).eq(instance.remarks.iter().map(String::as_str))
    });
    let measured = instance.remarks_of.is_none() && !collided && !dispatch.role.writes.is_empty();
    let lines = instance.remarks.iter().map(|path| format!("- {}\n", code(path)));
    (measured && !instance.remarks.is_empty()).then(|| super::items::list(lines))
}

/// The items of the bundle by name, each once.
fn names(dispatch: &Dispatch<'_>) -> String {
    let mut names: Vec<String> = Vec::new();
    for item in dispatch.bundle {
        let name = code(&item.item);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn files(shown: &Shown) -> Option<String> {
    let lines =
        shown.files.iter().map(|(path, text)| format!("- {} ({} bytes)\n", code(&format!("files/{path}")), text.len()));
    (!shown.files.is_empty()).then(|| super::items::list(lines))
}
