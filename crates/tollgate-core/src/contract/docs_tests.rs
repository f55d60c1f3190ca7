//! The committed pages and schemas say what the code does.

use std::fs;
use std::path::{Path, PathBuf};

use super::registry;
use crate::code::Code;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Compares a committed schema with the one the types give; `UPDATE_SCHEMAS=1` writes it.
#[test]
fn schemas_are_those_of_the_types() {
    for id in registry::all() {
        let report = registry::report_dialect(id).map(super::ReportDialect::schema);
        let schema =
            report.or_else(|| registry::document_dialect(id).map(super::DocumentDialect::schema)).expect("a schema");
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
        assert_eq!(committed, schema, "run UPDATE_SCHEMAS=1 cargo test -p tollgate-core schemas_are");
    }
}

/// Compares the page of each contract that is data with what its definition gives; `UPDATE_SCHEMAS=1` writes it.
#[test]
fn pages_are_those_of_the_definitions() {
    for own in registry::all_defined() {
        let path = docs().join(format!("contracts/{}.md", own.definition.name));
        let page = super::guide::page(&own.definition);
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            fs::write(&path, &page).expect("a file");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == page, "{}: run UPDATE_SCHEMAS=1 cargo test -p tollgate-core pages_are", own.definition.id);
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
        "UPDATE_SCHEMAS=1 cargo test -p tollgate-core contract::docs_tests"
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
