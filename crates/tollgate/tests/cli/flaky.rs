//! Commands that are run more than once: what passes and fails on the same content shows nothing, and says so everywhere.

use tollgate_core::report::Judgement;
use tollgate_core::run::Event;
use tollgate_core::run::event::CommandResult;

use crate::play::{Play, Said, script};

const WORDS: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

/// Fails every second time. What it counts by lies where nobody but a command without a sandbox can write.
const EVERY_SECOND: &str =
    r#"n=$(cat "$HOME/n" || echo 0); echo $((n+1)) > "$HOME/n"; echo "run $n"; exit $((n % 2 * 3))"#;

fn task(row: &str) -> String {
    format!(
        "# Greet\n\n## Definition of Done\n\n### Backend\n- greet.sh greets {row}\n\n### Tester scope\n- it is tested\n"
    )
}

fn start(row: &str) -> (Play, Said) {
    let mut play = Play::new(&task(row), &script(&[]));
    play.world.set("TOLLGATE_SANDBOX", "off");
    let said = play.start(&WORDS);
    (play, said)
}

/// What came of all commands, in order.
fn results(play: &Play) -> Vec<CommandResult> {
    let ran = |event| match event {
        Event::CommandsRan(ran) => ran.results,
        _ => Vec::new(),
    };
    play.events().into_iter().flat_map(|recorded| ran(recorded.event)).collect()
}

fn exits(result: &CommandResult) -> Vec<Option<i32>> {
    result.runs.iter().map(|once| once.exit).collect()
}

#[test]
fn a_command_that_fails_every_second_time_is_flaky_and_never_passes() {
    let (play, said) = start(&format!("`cmd: {EVERY_SECOND}` `repeat: 5`"));
    let said = said.exits(4).says("DoD-1 is flaky: 2 of 5 runs failed");
    // Nothing changes, so nothing is run again, and the row stays as it is until a person is asked.
    let result = &results(&play)[0];
    assert_eq!(exits(result), [Some(0), Some(3), Some(0), Some(3), Some(0)]);
    assert_eq!((result.result, result.output), (Judgement::Fail, result.runs[1].output), "the first that failed");
    assert_eq!((play.dispatched("reviewer"), play.changed_branch()), (0, false));
    insta::assert_snapshot!("question", play.told(&said));
    // Whoever mends it is told what it is.
    let brief = play.brief("developer", 2);
    assert!(brief.contains("was flaky (2 of 5 runs on the same content failed)"), "{brief}");
    assert!(brief.contains("5 times"), "{brief}");
    let finding = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::FindingOpened(opened) => Some(opened.about.what),
        _ => None,
    });
    assert!(finding.unwrap().starts_with("the command of DoD-1 is flaky: 2 of 5 runs failed: n=$(cat"));
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("its command is flaky"), "{shown}");
    assert!(shown.contains("DoD-1 is flaky (2 of 5 runs failed)"), "a gate says why: {shown}");
    let matrix = play.tollgate(&["show", "RUN", "--evidence"]).exits(0).out;
    assert!(matrix.contains("flaky") && matrix.contains("exit codes 0 3 0 3 0"), "{matrix}");
    // What each run printed is kept.
    let object = result.runs[3].output.unwrap().to_string();
    assert_eq!(play.tollgate(&["evidence", &object]).exits(0).out, "run 3\n");
    play.decide(&["dec_2", "accept"]).exits(0).says("waived DoD-1");
    play.holds();
}

/// On a copy of its own each time. What cannot be run once is not tried again, and never passes.
#[test]
fn a_command_that_always_ends_the_same_is_not_flaky() {
    let rows = [
        "`cmd: test ! -e litter && touch litter` `repeat: 4`",
        "`cmd: exit 7` `repeat: 3`",
        "`cmd: no-such-program --check` `repeat: 50`",
    ];
    let (play, said) = start(&rows.join("\n- greet.sh greets "));
    said.exits(4).says("DoD-1 passed").says("DoD-2 failed").says("DoD-3 cannot be observed").silent_on("flaky");
    let results = results(&play);
    assert_eq!(exits(&results[0]), [Some(0); 4]);
    assert_eq!(exits(&results[1]), [Some(7); 3]);
    assert_eq!(results[1].note, "each of 3 runs failed; it exited with 7");
    assert_eq!((results[2].result, results[2].runs.len()), (Judgement::Unobservable, 1));
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("its command passes 4 times"), "{shown}");
    play.holds();
}

#[test]
fn how_often_must_be_a_number_that_makes_sense_and_stand_behind_a_command() {
    let rows = [
        "`cmd: true` `repeat: 1`",
        "`cmd: true` `repeat: 0`",
        "`cmd: true` `repeat: 101`",
        "`cmd: true` `repeat: often`",
        "`cmd: true` `repeat: 5`.",
        "`repeat: 5` `cmd: true`",
        "`repeat: 5`",
    ];
    let (play, said) = start(&rows.join("\n- greet.sh greets "));
    let said = said.exits(1);
    assert_eq!(said.err.matches("TG0233]").count(), rows.len(), "{}", said.err);
    for line in (6..).take(rows.len()) {
        assert!(said.err.contains(&format!("../task.md:{line}:3")), "{line}: {}", said.err);
    }
    assert_eq!(play.run, "", "there is no run");
}

const PROTOCOL: &str = "\
protocol: twice
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
gates:
  green: {holds: {command: ci, repeat: 4}, bound_to: [tree], mandatory: {run: true}}
asks:
  red: {ask: {class: choice, question: It is not green., from: ledger, options: {again: Look again, abort: Give up}}, on: {again: origin, abort: dropped, cancelled: hold}}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: look}}
    - {id: look, check: [green], on: {pass: done, fail: red, stale: hold, unobservable: red}}
";

const MADE: &str = r#"script: 1
roles:
  maker: [{write: {a.txt: "a\n"}, report: {status: complete, abstract: {outcome: made, next_phase: n/a}, files_created: [a.txt]}}]
"#;

/// A run under a gate that names a configured command.
fn configured(command: &str) -> (Play, Said) {
    let mut play = Play::new(crate::play::TASK, MADE);
    play.world.set("TOLLGATE_SANDBOX", "off");
    std::fs::write(play.world.path("twice.yaml"), PROTOCOL).unwrap();
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    let config = format!("[commands]\nci = [\"sh\", \"-c\", '{command}']\n");
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    let said = play.tollgate(&["run", "../twice.yaml", "--script", "../script.yaml", "--no-wait"]);
    play.named_by(&said);
    (play, said)
}

#[test]
fn a_gate_says_how_often_a_configured_command_must_pass() {
    let (play, said) = configured("exit 0");
    said.exits(0).says("ci passed");
    assert_eq!(exits(&results(&play)[0]), [Some(0); 4]);
    play.holds();
    // Also where the run lands on a base that has moved.
    play.world.write("other.txt", "somebody else\n");
    play.world.commit("Something else");
    play.tollgate(&["land", "RUN", "--as", "merge"]).exits(0).says("on the merged tree: ci passed");
    let again = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::LandChecked(checked) => Some(checked.results),
        _ => None,
    });
    assert_eq!(exits(&again.unwrap()[0]), [Some(0); 4]);

    let (play, said) = configured(EVERY_SECOND);
    said.exits(4).says("ci is flaky: 2 of 4 runs failed").says("the command `ci` fails (flaky: 2 of 4 runs failed");
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("command `ci` is flaky: 2 of 4 runs failed"), "{shown}");
    let matrix = play.tollgate(&["show", "RUN", "--evidence"]).exits(0).out;
    assert!(matrix.contains("\nci   command (att_2)  flaky   tree    fresh "), "{matrix}");
    // A person sends it on: it is run again, as often.
    play.decide(&["dec_1", "again"]).exits(4).says("ci is flaky: 2 of 4 runs failed");
    assert_eq!(results(&play).len(), 2);
    play.holds();
}
