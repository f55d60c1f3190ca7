//! What stands against a landing is refused before anything is written down, and one that did not land says so.

use tollgate_core::run::Event;

use crate::land::{WORDS, head, is_clean, land, landed, landed_with, succeeded};
use crate::measured::{REPORT, naming, reports};
use crate::play::{IDLE, Play, TASK, at, else_, script};

/// Refused with these words, and neither the checkout nor the journal knows of it.
#[track_caller]
fn is_refused(play: &Play, words: &[&str], says: &[&str]) {
    let before = (head(play, "HEAD"), play.world.git(&["ls-files", "-v"]), play.events().len());
    let said = land(play, words).exits(1).says("TG0530");
    says.iter().fold(said, |said, text| said.says(text));
    assert_eq!((head(play, "HEAD"), play.world.git(&["ls-files", "-v"]), play.events().len()), before);
}

/// A run that changes a file that is there, and makes one: nothing of a checkout that its owner arranged otherwise is written over.
#[test]
fn a_checkout_that_its_owner_arranged_otherwise_is_left_alone() {
    let built = r##"write: {README.md: "# Another\n", greet.sh: "echo Hello\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [greet.sh], files_modified: [README.md], dod_coverage: [{mark: "✓", row: DoD-1}]}"##;
    let mut play = Play::new(TASK, &script(&[("developer", &[at(1, built), else_(IDLE)])]));
    play.start(&WORDS).exits(0);
    for (flag, back) in [("--skip-worktree", "--no-skip-worktree"), ("--assume-unchanged", "--no-assume-unchanged")] {
        play.world.git(&["update-index", flag, "README.md"]);
        play.world.write("README.md", "mine\n");
        is_refused(&play, &["--as", "merge"], &["would change: README.md", back]);
        assert_eq!(std::fs::read_to_string(play.world.path("work/README.md")).unwrap(), "mine\n");
        play.world.git(&["update-index", back, "README.md"]);
        play.world.git(&["checkout", "-q", "README.md"]);
    }
    play.world.git(&["sparse-checkout", "set", "--no-cone", "/src/"]);
    is_refused(&play, &["--as", "merge"], &["is a sparse checkout", "--as branch --to NAME"]);
    land(&play, &["--as", "branch", "--to", "topic"]).exits(0);
    play.world.git(&["sparse-checkout", "disable"]);
    play.world.write(".git/index.lock", "");
    is_refused(&play, &["--as", "merge"], &["index.lock is there", "remove the file"]);
    std::fs::remove_file(play.world.path("work/.git/index.lock")).unwrap();
    // Nothing lands while its owner is in the middle of something.
    play.world.git(&["checkout", "-q", "-b", "other"]);
    play.world.write("src/main.rs", "fn main() { other() }\n");
    play.world.commit("Otherwise");
    play.world.git(&["checkout", "-q", "main"]);
    play.world.write("src/main.rs", "fn main() { mine() }\n");
    play.world.commit("Mine");
    let by = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.editor=true"];
    for (begin, what) in [("merge", "a merge"), ("cherry-pick", "a cherry-pick"), ("rebase", "a rebase")] {
        assert!(!play.world.git_output(&[&by[..], &[begin, "other"]].concat()).status.success());
        for how in ["merge", "branch", "patch"] {
            is_refused(&play, &["--as", how, "--onto", "main"], &[what, "under way", "git status"]);
        }
        play.world.git(&[begin, "--abort"]);
    }
    // What a landing does not touch may be hidden from git.
    play.world.git(&["update-index", "--skip-worktree", "src/main.rs"]);
    play.world.git(&["update-index", "--assume-unchanged", "tests/smoke.rs"]);
    land(&play, &["--as", "merge"]).exits(0);
    assert_eq!(std::fs::read_to_string(play.world.path("work/README.md")).unwrap(), "# Another\n");
    is_clean(&play);
}

#[test]
fn what_was_asked_first_is_done_with_the_answer_or_said_to_have_failed() {
    let play = landed_with("test ! -e broken");
    play.world.write("broken", "by somebody else\n");
    play.world.commit("Break it");
    land(&play, &["--as", "patch", "-o", "../change.patch"]).exits(4);
    play.tollgate(&["decide", "RUN", "dec_2", "land"]).exits(0).says("change.patch");
    play.world.git(&["apply", "--index", "../change.patch"]);
    play.world.git(&["reset", "-q", "--hard"]);
    // Without a file, the command that prints it is named.
    play.world.write("more.txt", "x\n");
    play.world.commit("More");
    land(&play, &["--as", "patch"]).exits(4);
    play.decide(&["dec_3", "land"])
        .exits(0)
        .says(&format!("tollgate land {} --as patch --onto main -o FILE", play.run));
    assert!(land(&play, &["--as", "patch", "--onto", "main"]).exits(0).out.starts_with("diff --git a/greet.sh"));
    // A branch that has moved since the question is not merged into.
    let before = landed(&play);
    land(&play, &["--as", "merge"]).exits(4);
    play.world.write("more.txt", "y\n");
    play.world.commit("Still more");
    let said = play.decide(&["dec_4", "land"]).exits(1).says("TG0530").says("did not land");
    said.says(&format!("tollgate land {} --as merge --onto main", play.run));
    // Who leaves it wants nothing else.
    land(&play, &["--as", "merge"]).exits(4);
    play.decide(&["dec_5", "leave"]).exits(0);
    assert_eq!((landed(&play), play.count(|event| matches!(event, Event::LandLeft(_)))), (before, 2));
}

/// A run that puts something else in the place of a repository that is a submodule, whose history is nowhere else.
fn replacing(acts: &str, counts: &str, lists: &str) -> Play {
    let report = REPORT.replace("0 created, 0 modified, 0 deleted", counts) + lists;
    let mut play = naming(&report, acts, "true");
    play.world.git(&["init", "-q", "src/lib"]);
    play.world.write("src/lib/only", "here\n");
    play.world.git(&["-C", "src/lib", "add", "-A"]);
    let by = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    play.world.git(&[&["-C", "src/lib"], &by[..], &["commit", "-qm", "Only here"]].concat());
    play.world.git(&["add", "src/lib"]);
    play.world.commit("A submodule");
    reports(&mut play, &[]);
    play
}

/// What lies in a submodule is in no commit of the repository around it: nothing is put in its place.
#[test]
fn what_lies_in_a_submodule_is_not_taken_away() {
    for acts in ["rmdir src/lib; echo x > src/lib", "rmdir src/lib; ln -s main.rs src/lib"] {
        let play = replacing(acts, "0 created, 1 modified, 0 deleted", "\n## Files Modified\n- src/lib\n");
        play.world.write("src/lib/only", "PRECIOUS\n");
        for moved in [false, true] {
            if moved {
                play.world.write("more.txt", "x\n");
                play.world.git(&["add", "more.txt"]);
                play.world.commit("More");
            }
            let before = (head(&play, "HEAD"), play.events().len());
            land(&play, &["--as", "merge"]).exits(1).says("TG0504").says("src/lib").says("--as branch");
            assert_eq!((head(&play, "HEAD"), play.events().len()), before, "{acts}");
        }
        assert_eq!(std::fs::read_to_string(play.world.path("work/src/lib/only")).unwrap(), "PRECIOUS\n", "{acts}");
        assert_eq!(play.world.git(&["-C", "src/lib", "log", "--format=%s"]), "Only here\n", "{acts}");
        // A file that somebody put there is not looked at by git either.
        std::fs::rename(play.world.path("work/src/lib"), play.world.path("moved")).unwrap();
        play.world.write("src/lib", "PRECIOUS\n");
        land(&play, &["--as", "merge"]).exits(1).says("TG0504").says("src/lib");
        std::fs::remove_file(play.world.path("work/src/lib")).unwrap();
        std::fs::create_dir(play.world.path("work/src/lib")).unwrap();
        land(&play, &["--as", "merge"]).exits(0);
        is_clean(&play);
    }
    // One that only goes leaves its folder behind.
    let gone = ("0 created, 0 modified, 1 deleted", "\n## Files Deleted\n- src/lib\n");
    let play = replacing("git rm -q --cached src/lib; rmdir src/lib", gone.0, gone.1);
    play.world.write("src/lib/only", "PRECIOUS\n");
    land(&play, &["--as", "merge"]).exits(0);
    assert_eq!(std::fs::read_to_string(play.world.path("work/src/lib/only")).unwrap(), "PRECIOUS\n");
}

/// What is staged of a submodule is a change of the checkout, too.
#[test]
fn what_is_staged_of_a_submodule_is_not_taken_away() {
    let play =
        replacing("echo x > src/new.rs", "1 created, 0 modified, 0 deleted", "\n## Files Created\n- src/new.rs\n");
    let committed = head(&play, "HEAD");
    let by = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    play.world.git(&[&["-C", "src/lib"], &by[..], &["commit", "-qm", "Next", "--allow-empty"]].concat());
    for stage in [&["add", "src/lib"][..], &["rm", "-q", "--cached", "src/lib"]] {
        play.world.git(stage);
        let staged = play.world.git(&["ls-files", "-s"]);
        land(&play, &["--as", "merge"]).exits(1).says("TG0504").says("src/lib");
        assert_eq!(
            (play.world.git(&["ls-files", "-s"]), head(&play, "HEAD")),
            (staged, committed.clone()),
            "{stage:?}"
        );
        play.world.git(&["reset", "-q"]);
    }
    // One that stands elsewhere and is not staged stays as it is.
    land(&play, &["--as", "merge"]).exits(0);
    assert_eq!(play.world.git(&["-C", "src/lib", "log", "-1", "--format=%s"]), "Next\n");
}

/// Names that stand for a branch are that branch: a checkout on it is found, moves with it, and the journal names it.
#[test]
fn a_symbolic_branch_is_the_branch_that_it_points_to() {
    let play = succeeded();
    let tree = head(&play, &format!("tollgate/{}", play.run));
    for (name, target) in [("alias", "main"), ("other", "alias"), ("nowhere", "gone"), ("loop", "loop")] {
        play.world.git(&["symbolic-ref", &format!("refs/heads/{name}"), &format!("refs/heads/{target}")]);
    }
    play.world.git(&["update-ref", "refs/remotes/origin/main", "main"]);
    play.world.git(&["symbolic-ref", "refs/heads/remote", "refs/remotes/origin/main"]);
    // It is checked out elsewhere.
    play.world.git(&["branch", "topic"]);
    play.world.git(&["symbolic-ref", "refs/heads/theme", "refs/heads/topic"]);
    play.world.git(&["worktree", "add", "-q", "../beside", "topic"]);
    is_refused(&play, &["--as", "merge", "--onto", "theme"], &["the branch `topic` is checked out in", "beside"]);
    is_refused(&play, &["--as", "merge", "--onto", "remote"], &["`remote` points to refs/remotes/origin/main"]);
    is_refused(&play, &["--as", "merge", "--onto", "nowhere"], &["no branch `gone`"]);
    is_refused(&play, &["--as", "merge", "--onto", "loop"], &["no branch `loop`"]);
    is_refused(&play, &["--as", "branch", "--to", "other"], &["the branch `main` is there already"]);
    for name in ["nowhere", "loop"] {
        play.world.git(&["symbolic-ref", "-d", &format!("refs/heads/{name}")]);
    }
    // Changes of the checkout on it are not written over.
    play.world.write("README.md", "mine\n");
    land(&play, &["--as", "merge", "--onto", "other"]).exits(1).says("TG0504");
    play.world.git(&["checkout", "-q", "README.md"]);
    land(&play, &["--as", "merge", "--onto", "other"]).exits(0).says("is on main as");
    assert_eq!((head(&play, "main"), head(&play, "HEAD")), (tree.clone(), tree));
    is_clean(&play);
    assert_eq!(play.world.git(&["symbolic-ref", "--no-recurse", "refs/heads/other"]), "refs/heads/alias\n");
    let targets = play.events().into_iter().filter_map(|recorded| match recorded.event {
        Event::LandAsked(asked) => Some((asked.target.onto, asked.target.branch)),
        _ => None,
    });
    assert_eq!(targets.collect::<Vec<_>>(), [("main".into(), Some("main".into()))]);
}
