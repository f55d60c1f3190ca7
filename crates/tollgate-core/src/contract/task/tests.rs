//! Task files in, rows out.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::contract::markdown::BYTES_MAX;
use crate::diagnostic::Severity;

const EXAMPLE: &str = include_str!("../../../../../docs/contracts/examples/build-plan.task.md");

fn sides(names: &[&str]) -> Context {
    Context { sides: Some(names.iter().map(|name| Name::from(*name)).collect()), ..Context::default() }
}

/// The rows as `id group unit text $ command`, then diagnostics as `E line:column CODE`.
fn shown(text: &str, context: &Context) -> String {
    let reading = Task.read(text, context);
    let rows = reading.plan.criteria.iter().map(|row| {
        let command = row.command.as_ref().map(|command| format!(" $ {command}")).unwrap_or_default();
        let unit = row.unit.as_deref().unwrap_or("run");
        format!("{} {} {unit} {}{command}", row.id, row.group.as_deref().unwrap_or_default(), row.text)
    });
    let wrong = reading.diagnostics.iter().map(|diagnostic| {
        let letter = if diagnostic.severity == crate::diagnostic::Severity::Error { 'E' } else { 'W' };
        format!("{letter} {}:{} {}", diagnostic.place.line, diagnostic.place.column, diagnostic.code)
    });
    rows.chain(wrong).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(text: &str, context: &Context, expected: &[&str]) {
    assert_eq!(shown(text, context), expected.join("\n"), "{text}");
}

#[test]
fn the_example_of_the_page_has_rows_for_each_side() {
    let rows = [
        "DoD-1 dod run The change is described in CHANGELOG.md",
        "DoD-2 dod backend `GET /cart` returns the total $ cargo test cart",
        "DoD-3 dod backend A quantity below one is refused with 422",
        "DoD-4 dod frontend The cart shows the total",
        "DoD-5 dod run The API description names the new field",
        "DoD-6 tester run A test adds two items and sees the total $ npm test -- cart",
    ];
    check(EXAMPLE, &sides(&["backend", "frontend"]), &rows);
    let reading = Task.read(EXAMPLE, &sides(&["backend", "frontend"]));
    assert_eq!(&*reading.plan.units[0].name, "backend");
    assert_eq!(reading.plan.units[0].scope, ["src/**".into(), "migrations/**".into()] as [Name; 2]);
    assert_eq!(reading.plan.units.len(), 2);
    let simple = rows.map(|row| row.replace(" backend ", " run ").replace(" frontend ", " run "));
    check(EXAMPLE, &Context::default(), &simple.each_ref().map(String::as_str));
    assert_eq!(Task.read(EXAMPLE, &Context::default()).plan.units, []);
}

#[test]
fn a_row_belongs_to_its_side() {
    let text =
        "## Definition of Done\n- a\n### Backend (developer scope)\n- b\n### SHARED rows\n- c\n### Tester scope\n- d\n";
    let one = ["DoD-1 dod backend a", "DoD-2 dod backend b", "DoD-3 dod backend c", "DoD-4 tester run d"];
    check(text, &sides(&["backend"]), &one);
    let two = ["DoD-1 dod run a", "DoD-2 dod backend b", "DoD-3 dod run c", "DoD-4 tester run d"];
    check(text, &sides(&["backend", "frontend"]), &two);
    let none =
        ["DoD-1 dod frontend a", "DoD-2 dod run b", "DoD-3 dod frontend c", "DoD-4 tester run d", "E 4:3 TG0232"];
    check(text, &sides(&["frontend"]), &none);
}

#[test]
fn rows_are_items_with_an_optional_command() {
    let text = "# Task\n## Plan\n- not a row\n## Definition of Done\nAll of:\n- [ ] it `adds`\n  numbers `cmd: cargo test add`\n\
                1. [x] two\n   - nested\n```\n- fenced\n```\n- `cmd: make` first\n- `cmd: `\n## Notes\n- no row\n";
    let rows = [
        "DoD-1 dod run it `adds` numbers $ cargo test add",
        "DoD-2 dod run two - nested",
        "DoD-3 dod run `cmd: make` first",
        "W 11:1 TG0234",
        "E 13:3 TG0233",
        "E 14:3 TG0233",
        "E 14:3 TG0234",
    ];
    check(text, &Context::default(), &rows);
}

/// A group with a text and no rows, and a row that is a comment, are told.
#[test]
fn a_row_that_is_none_is_told() {
    let groups = "## Definition of Done\n- a\n### Backend (developer scope)\nThe cart shows the total\n### Shared\nNone\n### Tester scope\nAll of:\n- d\n";
    check(groups, &sides(&["backend"]), &["DoD-1 dod backend a", "DoD-2 tester run d", "W 4:1 TG0234"]);
    let hidden = "## Definition of Done\n- a\n- [ ] <!-- b -->\n- c\n";
    check(hidden, &Context::default(), &["DoD-1 dod run a", "DoD-2 dod run c", "E 3:3 TG0234"]);
}

/// How often a command is run stands behind it, and nowhere else.
#[test]
fn a_command_may_say_how_often_it_is_run() {
    let row = |row: &str| Task.read(&format!("## Definition of Done\n- {row}\n"), &Context::default());
    for (text, times) in [
        ("it `adds` `cmd: make` `repeat: 5`", Some(5)),
        ("it `adds` `cmd: make`  ` repeat:100 ` ", Some(100)),
        ("it `adds` `cmd: make`", None),
        ("it has `repeat: 5` and more `cmd: make`", None),
    ] {
        let reading = row(text);
        assert_eq!(reading.diagnostics, [], "{text}");
        let known = &reading.plan.criteria[0];
        assert_eq!((known.command.as_deref(), known.repeat), (Some("make"), times), "{text}");
    }
    for text in [
        "it adds `cmd: make` `repeat: 0`",
        "it adds `cmd: make` `repeat: 1`",
        "it adds `cmd: make` `repeat: 101`",
        "it adds `cmd: make` `repeat: -3`",
        "it adds `cmd: make` `repeat: 99999999999`",
        "it adds `cmd: make` `repeat:`",
        "it adds `cmd: make` `repeat: 2` `repeat: 3`",
        "it adds `cmd: make` repeat: 5",
        "it adds `cmd: make` (`repeat: 5`)",
        "it adds `repeat: 5` `cmd: make`",
        "it adds `repeat: 5`",
    ] {
        let codes: Vec<Code> = row(text).diagnostics.iter().map(|one| one.code).collect();
        assert_eq!(codes, [Code::TASK_COMMAND], "{text}");
    }
}

#[test]
fn a_task_without_rows_is_refused() {
    check("", &Context::default(), &["E 1:1 TG0230"]);
    check("# T\n## DoD\n- a\n", &Context::default(), &["E 2:1 TG0230"]);
    check("# T\n### Definition of Done\n- a\n", &Context::default(), &["E 2:1 TG0230"]);
    check("## Definition\u{a0}of Done\n- a\n", &Context::default(), &["DoD-1 dod run a"]);
    check("## Definition of Done\nIt works.\n", &Context::default(), &["E 1:1 TG0230"]);
    check("```\n## Definition of Done\n- a\n```\n", &Context::default(), &["E 1:1 TG0230"]);
    check("# T\n\n~~~\nx\n## Definition of Done\n- a\n", &Context::default(), &["E 3:1 TG0230"]);
    check(
        "## Definition of Done\n- a\n## Definition of done:\n- b\n",
        &Context::default(),
        &["DoD-1 dod run a", "E 3:1 TG0205"],
    );
    check(&"x".repeat(BYTES_MAX + 1), &Context::default(), &["E 1:1 TG0200"]);
}

/// Rows have their numbers by their order: an author's own ones may not say otherwise.
#[test]
fn a_row_may_begin_with_its_own_number_only() {
    let numbered = "## Definition of Done\n- DoD-1: a\n- [ ] **DoD-2**: b\n- dod-03 — c `cmd: make`\n- DoD-4 holds\n";
    let rows = ["DoD-1 dod run a", "DoD-2 dod run **DoD-2**: b", "DoD-3 dod run c $ make", "DoD-4 dod run DoD-4 holds"];
    check(numbered, &Context::default(), &rows);
    for other in
        ["DoD-2: a", "dod-0: a", "**DoD-7** a", "[DoD-3] a", "`DoD-99999999999999999999999`", "DoD-2 and 3 hold"]
    {
        let text = format!("## Definition of Done\n- {other}\n");
        check(&text, &Context::default(), &[&format!("DoD-1 dod run {other}"), "E 2:3 TG0234"]);
    }
    check("## Definition of Done\n- DoD-1:\n", &Context::default(), &["E 2:3 TG0234"]);
}

/// A command that a person sees and the engine would not run is refused: its row would pass without it.
#[test]
fn a_command_that_would_not_be_run_is_an_error() {
    for row in [
        "it works `cmd: make`.",
        "it works (`cmd: make`)",
        "it works **`cmd: make`**",
        "it works ``cmd: make``",
        "it works `cmd: make` always",
        "it works `CMD: make`",
        "it works `cmd : make`",
        "it works `cmd: a` `cmd: b`",
        "it works `cmd: echo `date``",
        "it works `cmd: make`\n  and well",
    ] {
        let reading = Task.read(&format!("## Definition of Done\n- {row}\n"), &Context::default());
        let shown: Vec<_> = reading.diagnostics.iter().map(|one| (one.severity, one.code, one.place.line)).collect();
        assert_eq!(shown, [(crate::diagnostic::Severity::Error, Code::TASK_COMMAND, 2)], "{row}");
    }
    for row in ["it works ``cmd: echo `date` ``", "it works `cmd: echo `date``", "it works ``cmd: make``"] {
        let reading = Task.read(&format!("## Definition of Done\n- {row}\n"), &Context::default());
        assert!(reading.diagnostics[0].message.contains("cannot have a backtick"), "{:?}", reading.diagnostics);
    }
    check(
        "## Definition of Done\n- a\n\nAll of it `cmd: make`\n",
        &Context::default(),
        &["DoD-1 dod run a", "E 4:1 TG0233"],
    );
    for row in ["it works cmd: make", "it works (cmd: make)"] {
        let text = format!("## Definition of Done\n- {row}\n");
        check(&text, &Context::default(), &[&format!("DoD-1 dod run {row}"), "W 2:3 TG0233"]);
    }
    for row in ["the word `cmd` and a cmd:", "`cmd` : no"] {
        check(&format!("## Definition of Done\n- {row}\n"), &Context::default(), &[&format!("DoD-1 dod run {row}")]);
    }
}

#[test]
fn a_heading_is_a_heading_however_it_is_written() {
    check(
        "## Definition of Done\n- a\n\nNotes\n-----\n- no row\n",
        &Context::default(),
        &["DoD-1 dod run a", "DoD-2 dod run no row", "E 4:1 TG0231"],
    );
    check(
        "## Definition of Done\n\nTester scope\n------------\n- a\n\n---\n- b\n",
        &Context::default(),
        &["DoD-1 tester run a", "DoD-2 tester run b"],
    );
    for again in ["Definition of Done\n------------------", "# Definition of done:", "### Definition of Done"] {
        let text = format!("## Definition of Done\n- a\n\n## Notes\n\n{again}\n- b\n");
        check(&text, &Context::default(), &["DoD-1 dod run a", "E 6:1 TG0205"]);
    }
}

#[test]
fn odd_parts_are_told() {
    check(
        "## Definition of Done\n### Testing\n- a\n### Backends\n- b\n",
        &Context::default(),
        &["DoD-1 dod run a", "DoD-2 dod run b", "E 2:1 TG0231", "E 4:1 TG0231"],
    );
    check(
        "## Definition of Done\n- a\n- a\n",
        &Context::default(),
        &["DoD-1 dod run a", "DoD-2 dod run a", "W 3:3 TG0234"],
    );
    check("## Definition of Done\nScope: `src/**`\n- a\n", &Context::default(), &["DoD-1 dod run a", "E 2:1 TG0235"]);
    let evil = Task.read("## Definition of Done\n### \u{1b}[31m\n- a\u{1b}\n", &Context::default());
    assert_eq!(evil.plan.criteria[0].text, "a");
    assert!(!evil.diagnostics[0].message.contains('\u{1b}'));
}

/// Whatever a person takes for a scope is one, or is refused: what nobody reads nobody holds.
#[test]
fn what_looks_like_a_scope_is_one_or_an_error() {
    let backend = "## Definition of Done\n### Backend\n";
    for scope in [
        "**Scope**: `src/**`\n\n",
        "Scope : `src/**`\n\n",
        "Scope：`src/**`\n\n",
        "SCOPE: ``src/**``\n\n",
        "__Scope:__ src/**\n\n",
        "Scope:\n- src/**\n",
        "- Scope:\n  - `src/**`\n",
        "Scope:\n\n- `src/**`\n",
        "_Scope:_ `src/**`.\n\n",
        "- [ ] Scope: `src/**`\n",
    ] {
        let reading = Task.read(&format!("{backend}{scope}- it works\n"), &sides(&["backend"]));
        assert_eq!(reading.diagnostics, [], "{scope}");
        assert_eq!(reading.plan.units[0].scope, ["src/**".into()] as [Name; 1], "{scope}");
        assert_eq!(reading.plan.criteria.len(), 1, "{scope}");
    }
    for (scope, at) in [
        ("Scope:\n", "3:1"),
        ("Scope: -\n\n", "3:1"),
        ("Scope:\n\n```\nsrc/**\n```\n", "3:1"),
        ("Scope:\n\n    src/**\n\n", "3:1"),
        ("Scope: src\n\n", "3:1"),
        ("Scope: everything that is needed\n\n", "3:1"),
        ("Scope: `src/**`\nAll of it passes `cmd: false`\n\n", "3:1"),
        ("Scope: `src/**`\n• it starts `cmd: false`\n\n", "3:1"),
        ("- Scope: `src/**`\n  - it starts `cmd: false`\n", "3:3"),
        ("Scope: `src/**`\n\n- `docs/**`\n", "5:3"),
        ("Scope: `src/**` `!src/keys/**`\n\n", "3:1"),
        ("> Scope: `src/**`\n\n", "3:1"),
        ("Scopes: `src/**`\n\n", "3:1"),
        ("Scope (backend): `src/**`\n\n", "3:1"),
        ("**Scope** `src/**`\n\n", "3:1"),
        ("Scope - src/**\n\n", "3:1"),
        ("<b>Scope:</b> `src/**`\n\n", "3:1"),
        ("`Scope: src/**`\n\n", "3:1"),
        ("The whole backend scope: `src/**`\n\n", "3:1"),
        ("Scope: [src](src/**)\n\n", "3:1"),
        ("Scope: `src/**`, `GET /health returns 200`\n\n", "3:1"),
        ("- it starts\nScope: `src/**`\n", "4:1"),
        ("- it starts\n\n  Scope: `src/**`\n", "5:1"),
        ("- it starts\n  - Scope: `src/**`\n", "4:1"),
        ("Scope:\n- `src/**`\n\n- `GET/health`\n", "6:3"),
        ("Backend scope: `src/**`\n\n", "3:1"),
        ("- Backend scope: `src/**`\n", "3:3"),
        ("What it may do.\nScope: `src/**`\n\n", "4:1"),
    ] {
        let reading = Task.read(&format!("{backend}{scope}- it works\n"), &sides(&["backend"]));
        let told: Vec<String> =
            reading.diagnostics.iter().map(|d| format!("{}:{} {}", d.place.line, d.place.column, d.code)).collect();
        assert_eq!(told, [format!("{at} TG0235")], "{scope}");
    }
    // A row that is all code is a row, and so is one about scopes.
    for row in [
        "`make test`",
        "The scope: it is checked",
        "Scope: a token of the wrong scope is refused `cmd: true`",
        "Scope::new works",
        "Default scopes: `read`, `write`",
        "Variable scope: `a.b`",
        "Out of scope: `web/**`",
        "`GET /users` returns 200",
    ] {
        for before in ["Scope: `src/**`\n\n", "Scope:\n- `src/**`\n- `docs/`\n\n"] {
            let rows = Task.read(&format!("{backend}{before}- {row}\n- b\n"), &sides(&["backend"]));
            assert_eq!((rows.diagnostics.len(), rows.plan.criteria.len()), (0, 2), "{row}: {:?}", rows.diagnostics);
        }
    }
}

#[test]
fn a_scope_is_written_in_three_ways() {
    for scope in
        ["Scope: src/**, docs/*.md\n\n", "- Scope: `src/**` `docs/*.md`\n", "**Scope:**\n- `src/**`\n- `docs/*.md`\n"]
    {
        let text = format!("## Definition of Done\n### Backend\n{scope}- it works\n");
        let reading = Task.read(&text, &sides(&["backend"]));
        assert_eq!(reading.diagnostics, [], "{scope}");
        assert_eq!(reading.plan.units[0].scope, ["src/**".into(), "docs/*.md".into()] as [Name; 2], "{scope}");
        assert_eq!(reading.plan.criteria.len(), 1, "{scope}");
    }
}

#[test]
fn a_sub_heading_names_one_part() {
    for two in ["Backend & Frontend", "Frontend/Backend", "Backend and tester scope", "Backend, Frontend"] {
        let text = format!("## Definition of Done\n\n### {two}\n- a works\n");
        let said = Task.read(&text, &sides(&["backend", "frontend"])).diagnostics;
        assert!(matches!(&said[..], [one] if one.code == Code::TASK_HEADING), "{two}: {said:?}");
    }
    for one in ["Backend (and Frontend later)", "Backend – the API", "Backend and nothing else"] {
        let text = format!("## Definition of Done\n\n### {one}\n- a works\n");
        assert_eq!(Task.read(&text, &sides(&["backend"])).diagnostics, [], "{one}");
    }
}

#[test]
fn what_looks_like_a_row_and_is_none_is_said() {
    for hidden in ["```\n- b works\n```", "~~~text\nfirst\n  1. b works\n~~~", "> - b works", "| row |\n|---|\n| b |"] {
        let text = format!("## Definition of Done\n\n- a works\n\n{hidden}\n");
        let reading = Task.read(&text, &sides(&["backend"]));
        let said: Vec<(Code, Severity)> =
            reading.diagnostics.iter().map(|found| (found.code, found.severity)).collect();
        assert_eq!(said, [(Code::TASK_ROW, Severity::Warning)], "{hidden}");
        assert!(reading.diagnostics[0].place.line >= 5, "{hidden}");
    }
    for hidden in ["-\u{a0}b works", "\u{200b}- b works", "\u{ad}* b works", "+\u{2009}b works", "\u{feff}- b works"] {
        for gap in ["", "\n"] {
            let text = format!("## Definition of Done\n\n- a works\n{gap}{hidden}\n");
            let reading = Task.read(&text, &sides(&["backend"]));
            let said: Vec<_> = reading.diagnostics.iter().map(|found| (found.code, found.severity)).collect();
            assert_eq!(said, [(Code::TASK_ROW, Severity::Error)], "{hidden:?}");
        }
    }
    for hidden in [
        "- b works `\u{200b}cmd: false`",
        "- b works `c\u{ad}md: false`",
        "Sc\u{200b}ope: `src/**`",
        "\u{1f}- b works",
        "\u{8}- b works",
        "- \u{200b}",
        "1.\u{a0}b works",
        "### Te\u{2060}ster scope\n- b works",
        "- b works\u{2028}- c works",
    ] {
        let text = format!("## Definition of Done\n\n### Backend\n- a works\n\n{hidden}\n");
        let reading = Task.read(&text, &sides(&["backend"]));
        let is_row = |found: &Diagnostic| found.code == Code::TASK_ROW && found.severity == Severity::Error;
        assert!(reading.diagnostics.iter().any(is_row), "{hidden:?}: {:?}", reading.diagnostics);
    }
    for dash in ["−", "‐", "‑", "－"] {
        let text = format!("## Definition of Done\n\n- a works\n\n{dash} b works\n");
        assert_eq!(Task.read(&text, &sides(&["backend"])).diagnostics.len(), 1, "{dash}");
    }
    let text = "## Definition of Done\n\n- a works\n\n\u{200b}### Tester scope\n- b works\n";
    let reading = Task.read(text, &sides(&["backend"]));
    assert!(reading.diagnostics.iter().any(|found| found.code == Code::TASK_HEADING), "{:?}", reading.diagnostics);
    for plain in ["Some words - with a dash.", "```\ncode\n```", "<!-- - later -->", "2.5 times as fast"] {
        let text = format!("## Definition of Done\n\n- a works\n\n{plain}\n");
        assert_eq!(Task.read(&text, &sides(&["backend"])).diagnostics, [], "{plain}");
    }
}

/// Rows that nobody would read, or that would be counted for somebody else, are never passed over in silence.
#[test]
fn no_row_and_no_command_is_lost() {
    let done = "## Definition of Done\n- a\n";
    for (lost, expected) in [
        (format!("# T\n### Definition of Done\n- z\n{done}"), "E 2:1 TG0205"),
        (format!("# Definition of Done\n- z\n{done}"), "E 1:1 TG0205"),
        (format!("###Definition of Done\n- z\n{done}"), "E 1:1 TG0205"),
        (format!("**Definition of Done:**\n- z\n{done}"), "E 1:1 TG0205"),
        (format!("{done}\n## Definition of Done (frontend)\n- z\n"), "E 4:1 TG0205"),
        (format!("## ✅ Definition of Done for the rest\n- z\n{done}"), "E 1:1 TG0205"),
        (format!("# T\nfirst `cmd: make`\n\n{done}"), "E 2:1 TG0233"),
        (format!("{done}## Notes\n- z `cmd: make`\n"), "E 4:1 TG0233"),
        (format!("{done}\n```\n- z `cmd: make`\n```\n"), "E 5:1 TG0233"),
        (format!("{done}\n| z | `cmd: make` |\n|---|---|\n"), "E 4:1 TG0233"),
        (format!("{done}\n> - z `cmd: make`\n"), "E 4:1 TG0233"),
        (format!("{done}\n**Tester scope**\n- z\n"), "E 4:1 TG0231"),
        (format!("{done}\n__Tester scope (later)__:\n- z\n"), "E 4:1 TG0231"),
        (format!("{done}\nTester scope:\n- z\n"), "E 4:1 TG0231"),
        (format!("{done}\n###Tester scope\n- z\n"), "E 4:1 TG0231"),
        (format!("{done}###Tester scope\n- z\n"), "E 3:1 TG0231"),
        (format!("{done}**Tester scope**\n- z\n"), "E 3:1 TG0231"),
        (format!("{done}\n###Testing\n- z\n"), "E 4:1 TG0231"),
        (format!("{done}\n<h3>Tester scope</h3>\n\n- z\n"), "E 4:1 TG0231"),
        (format!("{done}- Tester scope\n  - z\n"), "E 3:1 TG0231"),
        (format!("{done}- **Tester scope:**\n  - z\n"), "E 3:1 TG0231"),
        (format!("{done}\n– z\n– y\n"), "W 4:1 TG0234"),
        (format!("{done}\n• z\n"), "W 4:1 TG0234"),
        (format!("{done}• z\n"), "W 3:1 TG0234"),
        (format!("{done}\na) z\nb) y\n"), "W 4:1 TG0234"),
        (format!("{done}## Tester scope\n- z\n"), "E 3:1 TG0231"),
        (format!("## Tester\u{a0}scope:\n- z\n{done}"), "E 1:1 TG0231"),
        (format!("{done}## Backend\n- z\n"), "E 3:1 TG0231"),
        (format!("{done}## Notes\n## Backend (developer scope)\n- z\n"), "E 4:1 TG0231"),
        (format!("## DoD\n- z\n{done}"), "E 1:1 TG0205"),
        (format!("{done}## Notes\n### DoD: the rest\n- z\n"), "E 4:1 TG0205"),
        (format!("**DoD:**\n- z\n{done}"), "E 1:1 TG0205"),
        (format!("## Definition\u{a0}of Done\u{200b}\n- z\n{done}"), "E 3:1 TG0205"),
        (format!("{done}\n<ul><li>z</li></ul>\n"), "E 4:1 TG0234"),
        (format!("{done}\n<ul>\n  <LI class=x>z\n</ul>\n"), "E 5:1 TG0234"),
        (format!("{done}\n<div>\n- z\n</div>\n"), "E 5:1 TG0234"),
        (format!("{done}\n<!-- later\n- z\n"), "E 5:1 TG0234"),
    ] {
        let said = shown(&lost, &Context::default());
        let said: Vec<&str> = said.lines().filter(|line| line.starts_with(['E', 'W'])).collect();
        assert_eq!(said, [expected], "{lost}");
    }
    for fine in [
        format!("# Definition of Done of carts\n{done}"),
        format!("# T\n```\n- z `cmd: make`\n```\n<!-- `cmd: make` -->\n{done}"),
        format!("{done}  #12 and\n  ```\n  # build\n  make\n  ```\n"),
        format!("{done}\nSee f(a) and a (b) c.\n"),
        format!("{done}\n#12 is closed by it. Backend: untouched.\n"),
        format!("{done}\n**Shared words** are – as ever – fine\n"),
        format!("{done}- Backend answers\n"),
        format!("{done}## Backend notes\n- z\n"),
        format!("{done}## Notes\n- z\n## Backend\n- z\n"),
        format!("## Backend\n- z\n{done}"),
        format!("{done}## Tester scope\nas ever\n"),
        format!("# DoD\n{done}"),
        format!("{done}## DoD notes\n- z\n## DoD-1 in detail\n- z\n"),
        format!("{done}\n<details><summary>why</summary>\nwords\n</details>\n"),
    ] {
        assert_eq!(Task.read(&fine, &Context::default()).diagnostics, [], "{fine}");
    }
}

fn row_text() -> impl Strategy<Value = String> {
    let odd = select(vec!["##", "`q`", "a:b", "-", "**b**", "<x>", "cmd:", "1."]);
    let word = prop_oneof![3 => "[a-zä]{1,6}", 1 => odd.prop_map(str::to_owned)];
    ("it [a-z]{1,4}", vec(word, 0..5)).prop_map(|(start, words)| [vec![start], words].concat().join(" "))
}

fn document() -> impl Strategy<Value = Document> {
    let command = option::of("[a-z]{1,5}( [a-z./-]{1,6}){0,2}");
    let rows = move |part: Option<Part>, least: usize| {
        vec((row_text(), command.clone()), least..4).prop_map(move |rows| {
            rows.into_iter()
                .map(|(text, command)| Row { text, part, repeat: command.as_ref().map(|_| 7), command })
                .collect::<Vec<_>>()
        })
    };
    let parted = vec(select(Part::ALL.to_vec()).prop_flat_map(move |part| rows(Some(part), 1)), 0..4);
    let bare = vec(row_text(), 1..3).prop_map(|rows| {
        rows.into_iter().map(|text| Row { text, part: None, command: None, repeat: None }).collect::<Vec<_>>()
    });
    let scopes =
        btree_map(select(vec![Part::Backend, Part::Frontend]), vec("[a-z*]{1,4}/[a-z*][a-z*.]{0,4}", 1..3), 0..3);
    (bare, parted, scopes)
        .prop_map(|(bare, parted, scopes)| Document { rows: [bare, parted.concat()].concat(), scopes })
}

proptest! {
    #[test]
    fn reading_gives_back_what_was_written(document in document()) {
        let value = serde_json::to_value(&document).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let text = Task.render(&value).map_err(TestCaseError::fail)?;
        let mut sink = Sink::default();
        prop_assert_eq!(parse(&Source::new(&text), &mut sink).0, document);
    }

    #[test]
    fn no_text_is_too_odd(text in "[\\PC\n]{0,200}", rows in "[-#`\\n :a-z*>\\[\\]]{0,80}") {
        Task.read(&text, &sides(&["backend"]));
        Task.read(&format!("## Definition of Done\n{rows}"), &sides(&["backend"]));
    }
}

#[test]
fn a_fence_that_never_ends_loses_no_rows_in_silence() {
    let text = "## Definition of Done\n### Backend\n- a\n\n```\nx\n### Frontend\n- b\n";
    check(text, &Context::default(), &["DoD-1 dod run a", "E 5:1 TG0234", "W 8:1 TG0234"]);
    check(&format!("{text}```\n"), &Context::default(), &["DoD-1 dod run a", "W 8:1 TG0234"]);
}
