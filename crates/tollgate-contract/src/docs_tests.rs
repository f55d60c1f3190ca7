//! The committed pages and schemas say what the code does.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cases::dialect;
use crate::{Context, registry};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::report::Part;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Compares a committed schema with the one the types give; `UPDATE_SCHEMAS=1` writes it.
#[test]
fn schemas_are_those_of_the_types() {
    for id in registry::all() {
        let schema = dialect(id).format().schema();
        let bare = id.split('@').next().expect("a name");
        let path = docs().join(format!("schemas/{bare}.schema.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).expect("JSON"));
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            fs::create_dir_all(docs().join("schemas")).expect("a folder");
            fs::write(&path, &text).expect("a file");
        }
        let committed = fs::read_to_string(&path).expect("a committed schema");
        // As values: the order of keys depends on what other crates ask of serde_json.
        let committed: serde_json::Value = serde_json::from_str(&committed).expect("JSON");
        assert_eq!(committed, schema, "run UPDATE_SCHEMAS=1 cargo test -p tollgate-contract schemas_are");
    }
}

/// Compares the page of each contract that is data with what its definition gives; `UPDATE_SCHEMAS=1` writes it.
#[test]
fn pages_are_those_of_the_definitions() {
    for own in registry::all_defined() {
        let path = docs().join(format!("contracts/{}.md", own.definition.name));
        let page = crate::defined::guide::page(&own.definition);
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            fs::write(&path, &page).expect("a file");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == page,
            "{}: run UPDATE_SCHEMAS=1 cargo test -p tollgate-contract pages_are",
            own.definition.id
        );
    }
}

/// The list of contracts in docs/contracts/ is whole; `UPDATE_SCHEMAS=1` writes it.
#[test]
fn the_list_of_contracts_is_whole() {
    let mut list = String::from(
        "# Contracts\n\nWhat a report or a document must look like, and what it means. Most are data, in [one language](language.md); \
         a repository can bring its own. [How a report is found](extract.md) in what an agent printed, and [how a document is mended](fix.md).\n\n| contract | form | what it is for |\n|---|---|---|\n\
         | [status-block](status-block.md) | markdown | How a worker of `build-plan` reports. |\n\
         | [build-plan.task](build-plan.task.md) | markdown | The task file of `build-plan`. |\n",
    );
    for own in registry::all_defined() {
        let definition = &own.definition;
        let forms: Vec<&str> = definition.forms.iter().map(|form| form.word()).collect();
        list +=
            &format!("| [{0}]({0}.md) | {1} | {2} |\n", definition.name, forms.join(", "), definition.purpose.trim());
    }
    let path = docs().join("contracts/README.md");
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        fs::write(&path, &list).expect("a file");
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap_or_default(),
        list,
        "UPDATE_SCHEMAS=1 cargo test -p tollgate-contract docs_tests"
    );
}

#[test]
fn pages_hold_the_example_and_every_code() {
    let read = |name: &str| fs::read_to_string(docs().join("contracts").join(name)).expect(name);
    let (status, task, language) = (read("status-block.md"), read("build-plan.task.md"), read("language.md"));
    assert!(status.contains(&read("examples/status-block.md")), "the page shows the example the tests read");
    assert!(task.contains(&read("examples/build-plan.task.md")), "the page shows the example the tests read");
    for code in Code::all().filter(|code| code.as_str().starts_with("TG02")) {
        let pages = [&status, &task, &language];
        assert!(pages.iter().any(|page| page.contains(code.as_str())), "{code} is on no page");
    }
}

/// The rows of a page's table of rules: the code and its other cells.
fn rules(page: &str) -> Vec<(&str, Vec<&str>)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.filter(|row| row.starts_with("TG"));
    rows.map(|row| row.split_once(" | ").map(|(code, rest)| (code, rest.split(" | ").collect())).expect(row)).collect()
}

/// An example with the edits of a cell: `` `from` → `to` ``, where `⏎` is a line end.
fn edited(example: &str, cell: &str) -> String {
    let mut text = example.to_owned();
    for edit in cell.replace("→ nothing", "→ ``").split("`, `") {
        let (from, to) = edit.split_once("` → ").expect(cell);
        let [from, to] = [from, to].map(|words| words.trim_matches('`').replace('⏎', "\n"));
        assert!(text.contains(&from), "{from:?} is not there: {cell}");
        text = text.replacen(&from, &to, 1);
    }
    text
}

#[test]
fn each_rule_of_a_contract_in_code_has_its_own_examples() {
    let read = |name: &str| fs::read_to_string(docs().join("contracts").join(name)).expect(name);
    let row = |at: usize, group: &str| tollgate_core::report::CriterionRow {
        id: format!("DoD-{at}").into(),
        text: format!("row {at}"),
        group: Some(group.into()),
        ..tollgate_core::report::CriterionRow::default()
    };
    let (mut seen, mut wrong) = (std::collections::BTreeSet::new(), Vec::new());
    for name in ["status-block", "build-plan.task"] {
        let (page, example) = (read(&format!("{name}.md")), read(&format!("examples/{name}.md")));
        for (code, cells) in rules(&page) {
            let [.., right, broken] = &cells[..] else { panic!("{name} {code} has no examples") };
            let part = (cells.len() == 4).then(|| Part::parse(cells[1]).expect(cells[1]));
            let mut context = Context { part, ..Context::default() };
            if part == Some(Part::Tester) {
                context.criteria = Some(vec![row(1, "dod"), row(2, "dod"), row(3, "tester")]);
            }
            match code {
                "TG0215" => context.next = Some([("reject".into(), vec!["developer".into()])].into()),
                "TG0232" => context.sides = Some(vec!["backend".into()]),
                _ => {}
            }
            let found = |text: &str| match registry::report_dialect(name) {
                Some(dialect) => dialect.read(text, &context).diagnostics,
                None => registry::document_dialect(name).expect(name).read(text, &context).diagnostics,
            };
            let kept = found(&edited(&example, right));
            let is_wrong = |one: &&Diagnostic| one.code.as_str() == code || one.severity == Severity::Error;
            wrong.extend(kept.iter().filter(is_wrong).map(|one| format!("{name} {code} right: {one:?}")));
            let breaks: std::collections::BTreeSet<String> =
                found(&edited(&example, broken)).iter().map(|one| one.code.to_string()).collect();
            if !breaks.iter().map(String::as_str).eq([code]) {
                wrong.push(format!("{name} {code} wrong: {breaks:?}"));
            }
            assert!(right != broken && seen.insert(((*right).to_owned(), (*broken).to_owned())), "{code}: {right}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen.len(), 26 + 8);
}
