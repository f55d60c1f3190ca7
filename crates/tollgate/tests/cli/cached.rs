//! Caches beside the tree (`XDG_CACHE_HOME`): what the work under test leaves there is nobody's evidence.

use crate::leash::holds;
use crate::play::{Play, TASK};

/// A check that fails, a repair, and the check again; then two who judge.
const PROTOCOL: &str = "\
protocol: twice
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
  mender: {contract: status-block, writes: [code], sees: full}
  reader: {contract: status-block, writes: none, sees: full}
gates:
  green: {holds: {command: ci, repeat: 3}, bound_to: [tree], mandatory: {run: true}}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: look}}
    - {id: look, check: [green], on: {pass: read, fail: mend, stale: hold, unobservable: hold}}
    - {id: mend, dispatch: mender, on: {ok: relook}}
    - {id: relook, check: [green], on: {pass: read, fail: hold, stale: hold, unobservable: hold}}
    - {id: read, dispatch: reader, on: {ok: reread}}
    - {id: reread, dispatch: reader, on: {ok: done}}
";

/// A role that writes these files.
fn writes(role: &str, files: &[(&str, &str)]) -> String {
    let (what, kind) =
        (serde_json::json!(files.iter().copied().collect::<std::collections::BTreeMap<_, _>>()), "files_modified");
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let made =
        serde_json::json!({"status": "complete", "abstract": {"outcome": "made", "next_phase": "n/a"}, kind: names});
    format!("  {role}: [{{write: {what}, report: {made}}}]\n")
}

/// A run in a repository with these files, whose roles write those, under this configuration.
fn play(files: &[(&str, &str)], made: &[(&str, &str)], mended: &[(&str, &str)], config: &str) -> Play {
    let idle = "  reader: [{report: {status: complete, abstract: {outcome: read, next_phase: n/a}}}]\n";
    let script = format!("script: 1\nroles:\n{}{}{idle}", writes("maker", made), writes("mender", mended));
    let play = Play::new(TASK, &script);
    std::fs::write(play.world.path("twice.yaml"), PROTOCOL).unwrap();
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    for (name, text) in files {
        play.world.write(name, text);
    }
    play.world.commit("What is to be checked");
    play
}

fn run(play: &mut Play, more: &[&str]) -> crate::play::Said {
    let said = play.tollgate(&[&["run", "../twice.yaml", "--script", "../script.yaml", "--no-wait"], more].concat());
    play.named_by(&said);
    said
}

/// A tool that does not run again what passed, as `go test` does.
const REMEMBERS: &str = r#"[commands]
ci = ["sh", "-c", '''ok="$XDG_CACHE_HOME/ok-$(cat a.txt test.sh | cksum | tr -d " ")"; test -e "$ok" || { sh test.sh && touch "$ok"; }''']
"#;
const TEST: &str = "grep -q right a.txt\n";

#[test]
fn a_check_finds_nothing_that_the_code_of_an_earlier_tree_left() {
    if !holds() {
        return;
    }
    // Run as a check, it leaves word that the test which is put back after it has passed.
    let forges =
        "touch \"$XDG_CACHE_HOME/ok-$( (cat a.txt; echo 'grep -q right a.txt') | cksum | tr -d ' ')\"; exit 1\n";
    let made = [("a.txt", "wrong\n"), ("test.sh", forges)];
    let mut play = play(&[("a.txt", "right\n"), ("test.sh", TEST)], &made, &[("test.sh", TEST)], REMEMBERS);
    run(&mut play, &[]).exits(1).says("ci failed").silent_on("ci passed");
    play.holds_but_for_the_head();
}

#[test]
fn a_repetition_finds_nothing_that_the_one_before_left() {
    if !holds() {
        return;
    }
    let config =
        "[commands]\nci = [\"sh\", \"-c\", 'test ! -e \"$XDG_CACHE_HOME/ok\" && touch \"$XDG_CACHE_HOME/ok\"']\n";
    let made = [("a.txt", "right\n")];
    let mut play = play(&[("a.txt", "left\n")], &made, &made, config);
    // Neither does one who judges, who runs what it judges.
    let report = "## Status\\ncomplete\\n\\n## Abstract\\noutcome: read\\nverdict: n/a\\nfiles: 0 created, 0 modified, 0 deleted\\nnext_phase: n/a\\nopen_questions: 0\\n";
    let reader = format!(
        "#!/bin/sh\ntest ! -e \"$XDG_CACHE_HOME/ok\" || exit 9\ntouch \"$XDG_CACHE_HOME/ok\" && printf '{report}'\n"
    );
    play.world.agent("reader", &reader);
    run(&mut play, &["--worker", "reader=command:reader"]).exits(0).says("ci passed");
    assert_eq!(play.dispatched("reader"), 2);
    play.holds_but_for_the_head();
}

#[test]
fn a_setup_finds_what_it_left_on_the_content_that_the_run_began_with_and_nothing_since() {
    if !holds() {
        return;
    }
    let prepares = "mkdir -p deps\nhere=\"$XDG_CACHE_HOME/dep\"\ntest -e \"$here\" || echo genuine > \"$here\"\ncp \"$here\" deps/dep\n";
    let spoils = format!("{prepares}echo spoilt > \"$here\"; echo spoilt > deps/dep\n");
    // A command has what the setup left, too, and what it makes of that is its own.
    let config = "[commands]\nci = [\"sh\", \"-c\", 'grep -q genuine deps/dep && grep -q genuine \"$XDG_CACHE_HOME/dep\" && echo spoilt > \"$XDG_CACHE_HOME/dep\"']\n\
                  [worktree]\nsetup = [\"sh\", \"prep.sh\"]\nlocks = [\"x.lock\"]\n";
    let files = [("prep.sh", prepares), ("x.lock", "1\n"), (".gitignore", "/deps/\n")];
    for (caches, lock) in [("caches = [\"deps\"]\n", "3\n"), ("caches = [\"deps\"]\n", "2\n"), ("", "2\n")] {
        let (made, mended) = ([("prep.sh", &*spoils), ("x.lock", "2\n")], [("prep.sh", prepares), ("x.lock", lock)]);
        let mended = if lock == "2\n" { &mended[..1] } else { &mended[..] };
        let mut play = play(&files, &made, mended, &format!("{config}{caches}"));
        let mut said = run(&mut play, &[]);
        if !caches.is_empty() {
            // What the work's own setup leaves in caches is used by a person's word alone.
            said = play.decide(&["dec_1", "allow"]);
        }
        said.exits(0).says("ci failed").says("ci passed");
        play.holds_but_for_the_head();
    }
}
