//! `protocol`.

use crate::world::World;

const BUILD_PLAN: &str = include_str!("../../../../protocols/build-plan.yaml");

/// A protocol of one worker and one judge.
const OWN: &str = "protocol: pair
version: 1
areas: {code: [\"**\"]}
roles:
  writer: {contract: status-block, writes: [code], sees: full}
  judge: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [goal, change]}}
gates:
  judged: {holds: {judged: judge}, bound_to: [code], mandatory: {run: true}}
otherwise: {needs_input: hold, failed: hold, exhausted: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - {id: write, dispatch: writer, on: {ok: judge}}
    - {id: judge, dispatch: judge, ensures: [judged], on: {accept: done, reject: {to: write, limit: 3, then: hold}}}
";

#[test]
fn protocols_are_listed() {
    let mut world = World::with_repository();
    world.type_in("protocol list").type_in("protocol list --json");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn the_built_in_protocol_is_proved() {
    let mut world = World::new();
    world.write("build-plan.yaml", BUILD_PLAN);
    world
        .type_in("protocol check build-plan")
        .type_in("protocol check --json ./build-plan.yaml")
        .type_in("protocol check ./absent.yaml");
    insta::assert_snapshot!(world.transcript);
}

/// A way around the work: no list is empty, and a mode without units is one that the gates of units name.
#[test]
fn a_copy_of_build_plan_that_leads_around_its_sides_is_refused() {
    let world = World::new();
    let check = |from: &str, to: &str| {
        assert!(BUILD_PLAN.contains(from), "{from}");
        world.write("own.yaml", BUILD_PLAN.replace(from, to));
        let said = world.run("protocol check ./own.yaml", "");
        (said.status.code(), String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned())
    };
    // As copies of earlier versions say it.
    let (code, said) = check("mandatory: {unit: {complexity: [standard, complex]}", "mandatory: {unit: true");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("TG0140") && said.contains("without entering `sides`"), "{said}");
    assert!(said.contains("mandatory: {unit: {INPUT: [VALUES]}}"), "{said}");
    let (code, said) = check("{over: sides,", "{over: [],");
    assert!(code == Some(1) && said.contains("`over` is an empty list"), "{said}");
    let (code, said) = check("default: [backend]", "default: []");
    assert!(code == Some(1) && said.contains("the default is an empty list"), "{said}");
    assert_eq!(check("protocol: build-plan", "protocol: own").0, Some(0));
}

#[test]
fn a_breach_is_shown_where_it_is() {
    let mut world = World::new();
    world.write("unlimited.yaml", OWN.replace(", limit: 3, then: hold", ""));
    world.write("misspelt.yaml", OWN.replace("dispatch: writer", "dispatch: wrter"));
    world.write("broken.yaml", "protocol: [\n");
    world
        .type_in("protocol check ./unlimited.yaml")
        .type_in("protocol check ./misspelt.yaml")
        .type_in("protocol check ./broken.yaml");
    world.type_in("protocol check --json ./unlimited.yaml").type_in("doctor ./misspelt.yaml");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn contracts_to_come_are_declared_in_a_file() {
    let mut world = World::new();
    world.write("later.yaml", OWN.replace("status-block", "later"));
    world.write(
        "dialects.yaml",
        "later: {verdicts: [accept, reject], healths: [needs_input, failed, exhausted, malformed], sections: {}}\n",
    );
    world.write("bad.yaml", "later: {verdicts: [fine], healths: []}\n");
    world.type_in("protocol check ./later.yaml").type_in("protocol check ./later.yaml --dialects dialects.yaml");
    world.type_in("protocol check ./later.yaml --dialects bad.yaml");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_repository_has_protocols_of_its_own_under_trust() {
    let mut world = World::with_repository();
    world.write(".tollgate/protocols/pair.yaml", OWN);
    world.commit("Add a protocol");
    world.type_in("protocol check pair").type_in("protocol list");
    assert!(world.run("trust", "").status.success());
    world.type_in("protocol check pair").type_in("protocol list").type_in("protocol check par");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_protocol_is_shown_in_every_format() {
    let mut world = World::new();
    world.write("pair.yaml", OWN);
    world.type_in("protocol show ./pair.yaml").type_in("protocol show ./pair.yaml --format mermaid");
    world.type_in("protocol show ./pair.yaml --format dot").type_in("protocol show ./pair.yaml --format yaml");
    world.type_in("protocol show ./pair.yaml --format picture");
    insta::assert_snapshot!(world.transcript);
    let (shown, exit) = world.json("protocol show ./pair.yaml --json");
    assert_eq!((exit, &shown[0]["summary"]["id"]), (0, &"pair".into()));
    let output = world.run("protocol show build-plan", "");
    let table = String::from_utf8_lossy(&output.stdout);
    for stage in ["sign-off", "solo-check", "still-failing", "escalated"] {
        assert!(table.contains(stage), "{stage}: {table}");
    }
}
