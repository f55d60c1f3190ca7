//! Tests of reading and merging.

use std::path::Path;

use super::*;
use crate::environment::environment;
use crate::failure::Kind;

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
    assert_eq!(layer.workers["a"], Worker::plain(Adapter::Command, vec!["prog".into(), String::new()]));
    assert_eq!(layer.roles["developer"], Choice::Named("a".into()));
    assert_eq!(layer.areas["build-plan"]["tests"], ["spec/**"]);
    assert_eq!(layer.commands["lint"], ["make", "lint"]);
    assert_eq!(read(""), Ok(Layer::default()));
}

#[test]
fn an_agent_is_its_adapter_and_what_is_said_of_it() {
    let layer = read("[worker.a]\nadapter='claude'\nmodel='m'\nminutes=0x1e\nenv=['A','B_*']\nargs=['-x','']\n[worker.b]\nadapter='codex'\ncommand=['/opt/codex']\n").unwrap();
    let (a, b) = (&layer.workers["a"], &layer.workers["b"]);
    assert_eq!((a.adapter.word(), &a.command[..], a.agent.minutes), ("claude", &["claude".to_owned()][..], Some(30)));
    assert_eq!((a.agent.model.as_deref(), a.agent.args.len(), a.agent.env.len()), (Some("m"), 2, 2));
    assert_eq!((b.adapter.word(), &b.command[..]), ("codex", &["/opt/codex".to_owned()][..]));
    let stored = serde_json::to_string(a).unwrap();
    assert_eq!(serde_json::from_str::<Worker>(&stored).unwrap(), *a, "{stored}");
    assert_eq!(
        breaches(
            "[worker.a]\nadapter='claude'\ncommand=['a','b']\n[worker.b]\nadapter='codex'\nminutes=0\nenv=['A-B']\n[worker.c]\nadapter='command'\ncommand=['x']\nmodel='m'\n[worker.d]\nadapter='claud'\n"
        ),
        [
            "1:9 TG0604: the `command` of an agent is its program alone; write its arguments as `args = [\"…\"]`",
            "6:9 TG0604: this is no number of minutes; write a whole number from 1 to 10080",
            "7:5 TG0604: `A-B` is no name of a variable; write it like `\"MY_KEY\"` or `\"MY_*\"`",
            "8:9 TG0604: `model`, `minutes`, `idle_time`, `args` and `pool` work only with agent adapters; leave them out, or name the adapter of an agent",
            "13:9 TG0604: there is no adapter `claud`; did you mean `claude`?",
        ]
    );
}

#[test]
fn the_template_is_valid_as_it_is_and_with_its_examples_switched_on() {
    assert_eq!(read(TEMPLATE), Ok(Layer::default()));
    let example = |line: &str| line.starts_with("# [") || line.starts_with("# ") && line.contains(" = ");
    let lines = TEMPLATE.lines().map(|line| if example(line) { &line[2..] } else { line });
    let layer = read(&lines.collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!((layer.workers.len(), layer.roles.len(), layer.areas.len(), layer.commands.len()), (2, 3, 1, 1));
    assert_eq!((layer.sandbox, layer.env.len(), layer.reads.len()), (Some(Sandbox::Require), 1, 1));
}

#[test]
fn every_breach_has_its_place_and_a_way_on() {
    assert_eq!(
        breaches(
            "[rols]\n[worker.a]\nadapter = 'comand'\ncommand = 'prog'\nmodle = 1\n[roles]\n'ä' = 3\n[commands]\nlint = []\n"
        ),
        [
            "1:2 TG0605: there is no key `rols`; did you mean `roles`?",
            "3:11 TG0604: there is no adapter `comand`; did you mean `command`?",
            "4:11 TG0604: this is a text, not a list of texts; write program and arguments as `[\"…\", \"…\"]`",
            "5:1 TG0605: there is no key `worker.NAME.modle`; did you mean `model`?",
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
    let many: String = (0..30_000).map(|i| format!("k{i} = 1\n")).collect();
    assert_eq!(read(&many).unwrap_err().len(), 20);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "([a-z\\[\\]{}=.,'\"# ä\n]|worker|roles|adapter){0,80}") {
        let _ = read(&text);
    }
}

#[test]
fn workers_are_given_on_the_command_line() {
    let inline = |adapter, words: &[&str]| {
        Choice::Inline(Worker::plain(adapter, words.iter().map(|word| (*word).to_owned()).collect()))
    };
    assert_eq!(assignment("developer=codex").unwrap(), ("developer".into(), Choice::Named("codex".into())));
    assert_eq!(assignment("d=command:a 'b c' d=e").unwrap().1, inline(Adapter::Command, &["a", "b c", "d=e"]));
    assert_eq!(assignment("d=script:x y.yaml").unwrap().1, inline(Adapter::Script, &["x y.yaml"]));
    assert_eq!(assignment("codex").unwrap(), (ALL_OTHERS.into(), Choice::Named("codex".into())));
    let all = (ALL_OTHERS.to_owned(), inline(Adapter::Command, &["a", "--b=c"]));
    assert_eq!(assignment("command:a --b=c").unwrap(), all);
    for bad in ["", "=x", "command:", "claude:x", "d=", "d=command:", "d=command:'x", "d=claude:x", "d=script:"] {
        assert_eq!(assignment(bad).unwrap_err().kind(), Kind::Usage, "{bad}");
    }
}

#[test]
fn the_environment_names_roles_in_capitals() {
    let environment =
        environment(&[("TOLLGATE_WORKER_DOD_CHECKER", "command:check"), ("TOLLGATE_WORKER_X", "")], Path::new("/"));
    let layer = of_environment(&environment).unwrap();
    assert_eq!(layer.roles.keys().collect::<Vec<_>>(), ["dod-checker"]);
}

fn build_plan() -> Protocol {
    tollgate_core::protocol::read(include_str!("../../../../protocols/build-plan.yaml")).0.unwrap()
}

fn config(layers: &[(Origin, &str)]) -> Config {
    let mut config = Config::default();
    layers.iter().for_each(|(origin, text)| config.push(*origin, read(text).unwrap()));
    config
}

const USER: &str = "[worker.a]\nadapter='command'\ncommand=['mine']\n[roles]\ndeveloper='a'\nreviewer='a'\nelsewhere='a'\n[commands]\nlint=['x']\n";
const REPOSITORY: &str = "[worker.a]\nadapter='command'\ncommand=['ours']\n[roles]\nreviewer='a'\n[areas.build-plan]\ntests=['spec/**']\n[areas.other]\nx=['y']\n";

#[test]
fn the_stronger_source_wins_value_by_value() {
    let mut config = config(&[(Origin::User, USER), (Origin::Repository, REPOSITORY)]);
    let (role, choice) = assignment("developer=command:now").unwrap();
    config.push(Origin::Flag, Layer { roles: [(role, choice)].into(), ..Layer::default() });
    let force = config.in_force(&build_plan()).unwrap();
    let assigned = |role: &str| (force.roles[role].worker.command[0].as_str(), force.roles[role].from);
    assert_eq!(assigned("developer"), ("now", Origin::Flag));
    assert_eq!(assigned("reviewer"), ("ours", Origin::Repository));
    assert_eq!(
        force.roles.keys().collect::<Vec<_>>(),
        ["developer", "reviewer"],
        "a file may name roles of other protocols"
    );
    assert_eq!(force.areas["tests"], Setting { value: vec!["spec/**".into()], from: Origin::Repository });
    assert_eq!(force.areas.len(), 1);
    assert_eq!(force.commands["lint"].from, Origin::User);
    let stored = serde_json::to_string(&force).unwrap();
    assert_eq!(serde_json::from_str::<InForce>(&stored).unwrap(), force, "the journal gives back what it was given");
}

#[test]
fn what_does_not_exist_is_refused_by_name() {
    let refusal = |config: &Config| {
        let wire = config.in_force(&build_plan()).unwrap_err().wire();
        format!("{} {}; {}", wire.code, wire.message, wire.hints.join(", "))
    };
    let areas = config(&[(Origin::User, "[areas.build-plan]\ntest=['x']")]);
    assert_eq!(refusal(&areas), "TG0605 protocol `build-plan` has no area `test`; did you mean `tests`?");
    let worker = config(&[(Origin::User, USER), (Origin::Repository, "[roles]\ntester='b'")]);
    assert_eq!(
        refusal(&worker),
        "TG0612 role `tester` has the worker `b`, which is not defined; add `[worker.b]` to the user's or the repository's config.toml; `tollgate doctor` lists what is known"
    );
    let mut flag = Config::default();
    let (role, choice) = assignment("devloper=command:x").unwrap();
    flag.push(Origin::Flag, Layer { roles: [(role, choice)].into(), ..Layer::default() });
    assert_eq!(refusal(&flag), "TG0605 protocol `build-plan` has no role `devloper`; did you mean `developer`?");
}
