//! Tests of reading and merging.

use std::path::Path;

use super::*;
use crate::cli::environment::environment;

fn breaches(text: &str) -> Vec<String> {
    let show = |d: &tollgate_core::diagnostic::Diagnostic| {
        format!("{}:{} {}: {}; {}", d.place.line, d.place.column, d.code, d.message, d.hint.as_deref().unwrap_or(""))
    };
    read(text).unwrap_err().iter().map(show).collect()
}

#[test]
fn reads_every_table() {
    let layer = read(
        "worker.a = {adapter = 'command', command = ['prog', '']}\n[roles]\ndeveloper = 'a'\n[areas.build-plan]\ntests = ['spec/**']\n[commands]\nlint = ['make', 'lint']\n",
    )
    .unwrap();
    assert_eq!(layer.workers["a"], Worker { adapter: Adapter::Command, command: vec!["prog".into(), String::new()] });
    assert_eq!(layer.roles["developer"], Choice::Named("a".into()));
    assert_eq!(layer.areas["build-plan"]["tests"], ["spec/**"]);
    assert_eq!(layer.commands["lint"], ["make", "lint"]);
    assert_eq!(read(""), Ok(Layer::default()));
}

#[test]
fn the_template_is_valid_as_it_is_and_with_its_examples_switched_on() {
    assert_eq!(read(TEMPLATE), Ok(Layer::default()));
    let example = |line: &str| line.starts_with("# [") || line.starts_with("# ") && line.contains(" = ");
    let lines = TEMPLATE.lines().map(|line| if example(line) { &line[2..] } else { line });
    let layer = read(&lines.collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!((layer.workers.len(), layer.roles.len(), layer.areas.len(), layer.commands.len()), (1, 2, 1, 1));
}

#[test]
fn every_breach_has_its_place_and_a_way_on() {
    assert_eq!(
        breaches(
            "[rols]\n[worker.a]\nadapter = 'comand'\ncommand = 'prog'\nmodel = 1\n[roles]\n'ä' = 3\n[commands]\nlint = []\n"
        ),
        [
            "1:2 TG0605: there is no key `rols`; did you mean `roles`?",
            "3:11 TG0604: there is no adapter `comand`; did you mean `command`?",
            "4:11 TG0604: this is a text, not a list of texts; write program and arguments as `[\"…\", \"…\"]`",
            "5:1 TG0605: there is no key `worker.NAME.model`; there are adapter and command",
            "7:7 TG0604: this is a number, not a text; write it in quotes",
            "9:8 TG0604: this list must not be empty; write program and arguments as `[\"…\", \"…\"]`",
        ]
    );
    assert_eq!(
        breaches("roles = 3"),
        ["1:9 TG0604: `roles` is a table, not a number; write it as `[roles]` with an entry a line"]
    );
    assert_eq!(breaches("[worker.a]\nadapter='script'\ncommand=['a','b']").len(), 1);
    assert_eq!(
        breaches("[worker.a]\ncommand=['a']"),
        ["1:9 TG0604: this worker has no `adapter`; add `adapter = \"command\"`"]
    );
    assert!(breaches("a = \n")[0].starts_with("1:5 TG0604"), "{:?}", breaches("a = \n"));
}

#[test]
fn hostile_files_are_refused_without_harm() {
    assert!(read(&"[".repeat(100_000)).is_err());
    assert!(read(&format!("a = {}", "[".repeat(100_000))).is_err());
    assert!(read(&format!("{}a = 1", "a.".repeat(100_000))).is_err());
}

#[test]
fn workers_are_given_on_the_command_line() {
    let inline = |adapter, words: &[&str]| {
        Choice::Inline(Worker { adapter, command: words.iter().map(|word| (*word).to_owned()).collect() })
    };
    assert_eq!(assignment("developer=codex").unwrap(), ("developer".into(), Choice::Named("codex".into())));
    assert_eq!(assignment("d=command:a 'b c' d=e").unwrap().1, inline(Adapter::Command, &["a", "b c", "d=e"]));
    assert_eq!(assignment("d=script:x y.yaml").unwrap().1, inline(Adapter::Script, &["x y.yaml"]));
    for bad in ["", "developer", "=x", "d=", "d=command:", "d=command:'x", "d=claude:x", "d=script:"] {
        assert_eq!(assignment(bad).unwrap_err().exit_code(), 2, "{bad}");
    }
}

#[test]
fn the_environment_names_roles_in_capitals() {
    let environment =
        environment(&[("TOLLGATE_WORKER_DOD_CHECKER", "command:check"), ("TOLLGATE_WORKER_X", "")], Path::new("/"));
    let layer = of_environment(&environment).unwrap();
    assert_eq!(layer.roles.keys().collect::<Vec<_>>(), ["dod-checker"]);
}
