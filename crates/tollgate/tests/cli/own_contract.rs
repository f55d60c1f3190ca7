//! A repository's own contract serves wherever one that is built in does, and a run keeps the one that it started with.

use crate::play::{Play, TASK};

/// A contract of a repository, which the tests of the language read too.
pub const CONTRACT: &str = include_str!("../../../../docs/contracts/examples/my.verdict.yaml");

const PROTOCOL: &str = "\
protocol: own
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
  judge: {contract: my.verdict, verdicts: [accept, reject], writes: none, sees: {only: [change]}}
gates:
  judged: {holds: {judged: judge}, bound_to: [code], mandatory: {run: true}}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, inconclusive: hold, malformed: {to: again, limit: 2, then: hold}}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: go-on}}
    - {id: go-on, ask: {class: choice, question: Is it to be judged?, options: {\"yes\": Judge it, \"no\": Leave it}}, on: {\"yes\": look, \"no\": dropped, cancelled: hold}}
    - {id: look, dispatch: judge, ensures: [judged], on: {accept: done, reject: hold}}
";

/// The first report of the judge breaks a rule; the second is written by the definition that the run is pinned to.
const SCRIPT: &str = r#"script: 1
roles:
  maker: [{write: {a.txt: "a\n"}, report: {status: complete, abstract: {outcome: made, next_phase: n/a}, files_created: [a.txt]}}]
  judge:
    - {iteration: 1, text: '{"verdict": "fail", "findings": []}'}
    - {report: {verdict: pass, findings: []}}
"#;

fn play() -> Play {
    let play = Play::new(TASK, SCRIPT);
    play.world.write(".tollgate/contracts/my.verdict.yaml", CONTRACT);
    play.world.write(".tollgate/protocols/own.yaml", PROTOCOL);
    play.world.commit("A protocol and a contract of our own");
    play
}

fn run(play: &mut Play) -> crate::play::Said {
    let said = play.tollgate(&["run", "own", "--script", "../script.yaml", "--no-wait"]);
    play.named_by(&said);
    said
}

#[test]
fn a_run_reads_reports_by_the_contract_that_it_started_with() {
    let mut play = play();
    assert!(play.world.run("trust", "").status.success());
    play.tollgate(&["protocol", "check", "own"]).exits(0);
    run(&mut play).exits(4);

    // By the one that lies there now, nothing of what the judge says is right.
    let other = CONTRACT.replace("[pass, fail]", "[good, bad]").replace("pass", "good").replace("fail", "bad");
    play.world.write(".tollgate/contracts/my.verdict.yaml", other);
    play.world.commit("Other words");
    assert!(play.world.run("trust", "").status.success());

    play.decide(&["dec_1", "yes"]).exits(0);
    assert_eq!(play.file("a.txt").as_deref(), Some("a\n"));
    play.tollgate(&["verify", "RUN"]).exits(0);

    // On another machine there is the export and nothing else.
    play.tollgate(&["export", "RUN", "-o", "../a.tar"]).exits(0);
    let bundle = std::fs::read(play.world.path("a.tar")).unwrap();
    let bundle = String::from_utf8_lossy(&bundle);
    assert!(bundle.contains("definition:my.verdict"), "the contract is pinned by the first event");
    assert!(bundle.contains(CONTRACT), "and lies in the bundle as it was");
    assert!(bundle.contains("(rule `fail-says-why`)"), "the first report was refused by its rule");
    play.world.git(&["rm", "-rq", ".tollgate"]);
    play.world.set("TOLLGATE_STATE", "/nonexistent/state");
    play.tollgate(&["verify", "../a.tar"]).exits(0);
}

#[test]
fn a_contract_acts_once_it_is_trusted_and_a_name_that_no_contract_has_is_an_error() {
    let mut play = play();
    let said = play.tollgate(&["protocol", "check", "./.tollgate/protocols/own.yaml"]);
    said.exits(1).says(".tollgate/contracts/my.verdict.yaml is not trusted");
    assert!(play.world.run("trust", "").status.success());
    play.world.git(&["rm", "-q", ".tollgate/contracts/my.verdict.yaml"]);
    play.world.commit("Without it");
    assert!(play.world.run("trust", "").status.success());
    run(&mut play).exits(1).says("my.verdict");
}
