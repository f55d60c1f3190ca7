//! A run that ends with its report: closed, exit code 0, and no success of work of its own.

use crate::given::HOLDS;
use crate::play::Play;

const READING: &str = r#"protocol: reading
version: 1
areas: {code: ["**"]}
roles:
  reader: {contract: status-block, writes: none, sees: full}
"#;
const FLOWS: &str = r#"flows:
  main:
    - {id: read, dispatch: reader, on: {ok: reported}}
"#;

#[test]
fn a_run_that_only_reports_is_no_success_and_hands_nothing_over() {
    let script = "script: 1\nroles:\n  reader: [{report: {status: complete, abstract: {outcome: it is read, next_phase: n/a}}}]\n";
    let mut play = Play::new("# T\n", script);
    std::fs::write(play.world.path("own.yaml"), format!("{READING}{HOLDS}{FLOWS}")).unwrap();
    let said = play.tollgate(&["run", "../own.yaml", "--script", "../script.yaml", "--no-wait"]);
    play.named_by(&said);
    said.exits(0).says(&format!("{} reported: `read` ends it with a report", play.run)).silent_on("succeeded");
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("✓ reported") && !shown.contains("succeeded"), "{shown}");
    let listed = play.tollgate(&["ls", "--status", "reported", "--json"]).exits(0).out;
    assert!(listed.contains(r#""status":"reported""#), "{listed}");
    play.tollgate(&["land", "RUN", "--as", "merge"]).exits(1).says("TG0340").says("it ended as reported");
    assert!(play.world.git(&["branch", "--list", "tollgate/*"]).is_empty());
    play.tollgate(&["verify", "RUN"]).exits(0);
}
