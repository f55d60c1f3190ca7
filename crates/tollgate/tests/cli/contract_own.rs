//! `contract` with a repository's own contracts: what they are called, what is wrong with them, and their documents.

use crate::own_contract::CONTRACT as OWN;
use crate::world::World;

#[test]
fn a_repository_brings_its_own_contracts() {
    let mut world = World::with_repository();
    world.write(".tollgate/contracts/my.verdict.yaml", OWN);
    world.write("good.json", r#"{"verdict": "fail", "findings": ["No test."]}"#);
    world.write("bad.json", r#"{"verdict": "fail", "findings": []}"#);
    world.commit("A contract of our own");
    world.type_in("contract check --contract my.verdict good.json").type_in("trust");
    world.type_in("contract check --contract my.verdict good.json bad.json").type_in("contract check good.json");
    world.type_in("contract show my.verdict --example");
    let broken = OWN
        .replace("must: {has: findings}", "must: {has: finding}")
        .replace("    - {when: {verdict: fail}, health: ok, verdict: reject}\n", "");
    world.write(".tollgate/contracts/my.verdict.yaml", broken);
    world.commit("A mistake");
    world.type_in("trust").type_in("contract check --contract my.verdict good.json");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_contract_that_is_there_and_does_not_act_says_what_to_do() {
    let world = World::with_repository();
    world.write(".tollgate/contracts/my.note.yaml", "contract: my.note\n");
    let says = |words: &[&str]| {
        let output = world.run("contract show my.note", "");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    says(&[".tollgate/contracts/my.note.yaml is not in the last commit", "git commit", "tollgate trust"]);
    world.commit("A contract");
    says(&[".tollgate/contracts/my.note.yaml is not trusted", "tollgate trust"]);
    // The same where the folder is trusted and the file came later.
    world.write(".tollgate/contracts/my.note.yaml", NOTE);
    world.commit("A whole one");
    assert!(world.run("trust", "").status.success());
    world.write(".tollgate/contracts/my.other.yaml", NOTE.replace("my.note", "my.other"));
    let output = world.run("contract show my.other@1", "");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(".tollgate/contracts/my.other.yaml is not in the last commit"), "{said}");
}

const NOTE: &str = "contract: my.note
version: 1
purpose: A note.
form: json
fields:
  text: {text: {}, doc: What it says.}
example: {text: A note.}
";

#[test]
fn documents_of_a_repositorys_own_contracts_stand_alone_too() {
    let world = World::with_repository();
    let note = NOTE
        .replace("form: json", "form: markdown\nheading: \"## Note\"")
        .replace("{text: {}, ", "{text: {}, section: Text, ");
    world.write(".tollgate/contracts/my.note.yaml", &note);
    world
        .write(".tollgate/contracts/my.other.yaml", note.replace("my.note", "my.other").replace("## Note", "## Other"));
    world.commit("Two contracts");
    assert!(world.run("trust", "").status.success());
    let example = |contract: &str| {
        String::from_utf8(world.run(&format!("contract show {contract} --example"), "").stdout).unwrap()
    };
    world.write("both.md", format!("{}\n{}", example("my.note"), example("my.other")));
    let (lines, exit) = world.json("contract check --json --contract my.note both.md");
    assert_eq!((exit, &lines[0]["diagnostics"][0]["code"]), (1, &"TG0256".into()), "{lines:?}");
}

/// What an agent printed is looked through, mended and written in a contract of one's own as in a built-in one.
#[test]
fn documents_of_an_own_contract_are_found_mended_and_rendered() {
    let world = World::with_repository();
    world.write(".tollgate/contracts/my.verdict.yaml", OWN);
    world.commit("A contract of our own");
    assert!(world.run("trust", "").status.success());
    let json = |command: &str, exit: i32| {
        let (lines, exited) = world.json(command);
        assert_eq!(exited, exit, "{command}: {lines:?}");
        lines.into_iter().next().expect(command)
    };
    let printed = "I looked at it.\n\n```json\n{\"verdict\": \"pass\", \"findings\": []}\n```\n\nOn second thought:\n\n\
                   {\"verdict\": \"fail\", \"findings\": [\"No test.\"]}\n";
    world.write("printed.txt", printed);
    let found = json("contract extract --json --contract my.verdict printed.txt", 0);
    assert_eq!((&found["valid"], &found["report"]["verdict"]), (&true.into(), &"reject".into()), "{found}");
    assert_eq!(found["report"]["findings"][0]["what"], "No test.", "{found}");
    world.write("printed.txt", printed.replace("[\"No test.\"]", "[]"));
    let broken = json("contract extract --json --contract my.verdict printed.txt", 1);
    assert_eq!(broken["diagnostics"][1]["rule"], "fail-says-why", "{broken}");

    world.write("verdict.json", "Here: {\"Verdict\": \"FAIL\", \"findings\": [\"No test.\"],}\n");
    json("contract fix --json --contract my.verdict verdict.json", 0);
    let mended = std::fs::read_to_string(world.path("work/verdict.json")).unwrap();
    assert_eq!(mended, "{\"verdict\": \"fail\", \"findings\": [\"No test.\"]}\n");
    let rendered = world.run("contract render my.verdict --from verdict.json", "");
    assert!(
        rendered.status.success() && String::from_utf8_lossy(&rendered.stdout).contains("\"fail\""),
        "{rendered:?}"
    );
}
