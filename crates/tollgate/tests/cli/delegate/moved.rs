//! What is held inside of a surface cannot be put elsewhere with the folder it lies in, and what took its place is told.

use std::process::Command;

use super::stage::{Stage, report, says};
use crate::leash::holds;

/// A repository below the one that is worked in, which does not track it.
pub(super) const NESTED: &str = "mkdir -p v/sub && echo v >> .git/info/exclude && cd v/sub && git init -q && echo 1 > a && git add -A && git commit -qm x";
/// One that it does.
pub(super) const SUBMODULE: &str = "git init -q ../o && git -C ../o commit -q --allow-empty -m x && \
    git -c protocol.file.allow=always submodule -q add ../o p/m && git commit -qm s";
/// The repository itself, kept in a folder of the checkout.
const STORE: &str = "mkdir -p store/x && echo store >> .git/info/exclude && mv .git store/x/r && ";
const KEEP: &str =
    "mkdir -p src/deep/keep && echo mine > src/deep/keep/s && ln -s deep/keep src/l && git add -A && git commit -qm k";
/// What a worker does to have its own in the place of a folder.
const MOVE: &str = "mv WAY WAY.old; mkdir -p WAY; cp -r WAY.old/. WAY";

pub(super) fn shell(stage: &Stage, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(stage.work("")).env("GIT_CONFIG_GLOBAL", "/dev/null");
    for (who, what) in [("NAME", "a"), ("EMAIL", "a@b")] {
        command.env(format!("GIT_AUTHOR_{who}"), what).env(format!("GIT_COMMITTER_{who}"), what);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(super) fn acting(acts: &str, before: &str, allowed: &str) -> Stage {
    let stage = Stage::new("implementer", &format!("{acts}\n{}", says(&report("implementer", "PASS"))))
        .dossier("allowed_surfaces", serde_json::json!([allowed]));
    shell(&stage, before);
    stage
}

/// What was there, the surface, the folder on the way, what the worker does in its place, what it may do, and where it leaves nothing.
#[test]
fn what_is_held_is_not_moved_away_with_the_folder_around_it() {
    if !holds() {
        return;
    }
    let file = |text: &str| format!("{STORE} {text}");
    let link = format!("({NESTED}) && mv v/sub/.git v/r && ln -s ../r v/sub/.git");
    for (before, allowed, way, plants, honest, planted) in [
        (NESTED, "v", "v/sub", "", "v/sub/a", "v/sub/.git/hooks/x"),
        (SUBMODULE, "p", "p/m", "rm -f p/m/.git;", "p/m/a", "p/m/.git/hooks/x"),
        (&file("echo 'gitdir: store/x/r' > .git"), "store", "store/x", "", "store/x/b", "store/x/r/hooks/x"),
        (&file("ln -s store/x/r .git"), "store", "store/x", "", "store/x/b", "store/x/r/hooks/x"),
        (&link, "v", "v/sub", "rm -f v/sub/.git;", "v/sub/a", "v/sub/.git/hooks/x"),
    ] {
        let moves = MOVE.replace("WAY", way);
        let hook = format!("mkdir -p {planted}; rmdir {planted}; echo x > {planted}");
        let acts = format!(
            "({moves}; {plants} {hook}) 2>/dev/null; echo x > {honest} || exit 9; mkdir {way}/made && echo x > {way}/made/b && rm -r {way}/made || exit 9"
        );
        let stage = acting(&acts, before, allowed);
        let done = stage.delegate();
        done.is("PASS", None, 0);
        assert_eq!(done.list("changed_surfaces"), [honest], "{planted}");
        assert!(!stage.work(planted).exists(), "{planted}");
    }
    let link = "rm src/l; mkdir -p src/l";
    for (forbidden, takes) in [
        ("src/deep/keep/s", MOVE.replace("WAY", "src/deep").as_str()),
        ("src/deep/keep/s", &MOVE.replace("WAY", "src/deep/keep")),
        ("src/l/s", link),
        ("src/l", "rm src/l || exit 0"),
    ] {
        let acts = format!("({takes}; echo x > src/l/s) 2>/dev/null; echo x > src/main.rs || exit 9");
        let stage = acting(&acts, KEEP, "src").dossier("forbidden_surfaces", serde_json::json!([forbidden]));
        let done = stage.delegate();
        done.is("PASS", None, 0);
        assert_eq!(done.list("changed_surfaces"), ["src/main.rs"], "{forbidden}");
    }
}

/// Nothing is put back: the report says what a person has to, and where.
#[test]
fn what_is_to_be_put_right_by_hand_is_named() {
    let plant = "mv p/m p/old; git init -q p/m; echo x > p/m/.git/hooks/post-commit";
    for (acts, before, allowed, next) in [
        (plant, SUBMODULE, "p", "p/m/.git"),
        ("git init -q src/n", "true", "src", "remove src/n/.git"),
        ("git init -q --bare src/b", "true", "src", "remove src/b"),
        ("rm v/sub/.git -rf; echo x > v/sub/a", NESTED, "v", "put back v/sub/.git"),
        ("echo x > .git/hooks/post-commit", "true", "src", "undo what changed in .git"),
    ] {
        let found = acting(acts, before, allowed).unheld().delegate();
        found.is("BLOCKED", Some("report_validation_failed"), 1).says("what git keeps");
        let told = found.report["next_action"].as_str().unwrap();
        assert!(told.contains(next) && told.contains("before you use git"), "{acts}: {told}");
    }
}
