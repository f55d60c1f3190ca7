//! What code under test can tell of being checked: nothing by its variables, by the first process, or by where it is.

use tollgate_core::report::Judgement;

use crate::held_tree::{first, play_without};
use crate::leash::holds;
use crate::out_of_sight::note;

/// What a row finds of these signs, as a line of its output.
const SIGNS: &str = "env | grep TOLLGATE_ && echo variable
grep -lz TOLLGATE_ /proc/[0-9]*/environ 2>/dev/null && echo environment
cat /proc/[0-9]*/task/*/comm | grep -i -e tollgate -e leash -e tracing && echo name
test \"$(cat /proc/1/comm)\" = init || echo first
tr '\\0' ' ' < /proc/1/cmdline | grep -qx 'init ' || echo arguments
";

fn signs(without: &str) -> (Judgement, String, String) {
    let play =
        play_without(without, "", &[("src/lib", "lib\n")], SIGNS, "test -z \"$(sh greet.sh 2>&1 | tee /dev/stderr)\"");
    let said = play.tollgate(&["show", "RUN"]).out;
    (first(&play).0, note(&play), said)
}

#[test]
fn a_command_finds_no_variable_of_ours_and_an_init() {
    if !holds() {
        return;
    }
    let (result, why, said) = signs("");
    assert_eq!(result, Judgement::Pass, "{why}\n{said}");
    assert!(!said.contains("TOLLGATE_ATTEMPT"), "{said}");
    // Where nothing else ends what outlives it, its processes are known by a variable, and the run says so.
    for without in ["processes,network", "mark"] {
        let (result, _, said) = signs(without);
        assert_eq!(result, Judgement::Fail, "{without}");
        assert!(said.contains("commands see `TOLLGATE_ATTEMPT`"), "{without}: {said}");
    }
}
