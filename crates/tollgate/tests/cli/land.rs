//! Landing a run that succeeded: where its tree goes, and what is asked when that place has moved.

use std::path::Path;
use std::process::Stdio;

use tollgate_core::report::Judgement;
use tollgate_core::run::Event;
use tollgate_core::run::sandbox_record::Network;

use crate::play::{COVERED, IDLE, Play, Said, TASK, TESTED, at, else_, script};

pub const WORDS: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];
const LAND: [&str; 2] = ["land", "RUN"];

/// A run that succeeded; its first row has this command.
pub fn landed_with(command: &str) -> Play {
    let task = TASK.replace("greet.sh greets", &format!("greet.sh greets `cmd: {command}`"));
    let mut play = Play::new(&task, &script(&[]));
    play.start(&WORDS).exits(0);
    play
}

pub fn succeeded() -> Play {
    landed_with("test \"$(sh greet.sh)\" = Hello")
}

pub fn land(play: &Play, words: &[&str]) -> Said {
    play.tollgate(&[&LAND[..], words].concat())
}

fn checked(play: &Play) -> usize {
    play.count(|event| matches!(event, Event::LandChecked(_)))
}

pub fn landed(play: &Play) -> usize {
    play.count(|event| matches!(event, Event::RunLanded(_)))
}

pub fn head(play: &Play, of: &str) -> String {
    play.world.git(&["rev-parse", of]).trim().to_owned()
}

/// The checkout is as its branch says, with nothing beside it.
#[track_caller]
pub fn is_clean(play: &Play) {
    assert_eq!(play.world.git(&["status", "--porcelain", "--ignored"]), "");
    play.world.git(&["fsck", "--connectivity-only", "--no-dangling"]);
    for left in ["index.lock", "index.tollgate"] {
        assert!(!play.world.path("work/.git").join(left).exists(), "{left}");
    }
    assert_eq!(std::fs::read_dir(play.world.path("state/scratch")).into_iter().flatten().count(), 0);
}

#[test]
fn a_merge_moves_the_branch_and_its_checkout_to_exactly_the_tree_that_was_checked() {
    let play = succeeded();
    let branch = head(&play, &format!("tollgate/{}", play.run));
    land(&play, &["--as", "merge"]).exits(0).says("landed: ");
    assert_eq!(head(&play, "HEAD"), branch);
    assert_eq!(play.world.git(&["symbolic-ref", "HEAD"]), "refs/heads/main\n");
    assert_eq!(std::fs::read_to_string(play.world.path("work/greet.sh")).unwrap(), "echo Hello\n");
    is_clean(&play);
    assert_eq!((checked(&play), landed(&play)), (0, 1), "it is the same tree: nothing is run again");
    // Asked again it changes nothing, here and in the journal.
    let events = play.events().len();
    land(&play, &["--as", "merge"]).exits(0).says("already landed: ");
    assert_eq!((head(&play, "HEAD"), play.events().len()), (branch, events));
    // Something else is made or refused: nobody goes on with what is not there.
    for (words, hint) in [(["branch", "--to", "other"], "git branch other"), (["patch", "-o", "../p"], "tollgate diff")]
    {
        land(&play, &[&["--as"], &words[..]].concat()).exits(1).says("TG0530").says("holds it already").says(hint);
    }
    play.holds_but_for_the_head();
}

#[test]
fn a_branch_is_made_and_nothing_else_is_touched() {
    let play = succeeded();
    let branch = head(&play, &format!("tollgate/{}", play.run));
    let before = head(&play, "main");
    let (result, code) = play.world.json(&format!("land {} --as branch --to topic/greet --json", play.run));
    assert_eq!((code, result.len()), (0, 1));
    assert_eq!(result[0]["status"], "landed");
    assert_eq!((result[0]["branch"].as_str(), result[0]["onto"].as_str()), (Some("topic/greet"), Some("main")));
    assert_eq!((head(&play, "topic/greet"), head(&play, "main")), (branch.clone(), before));
    assert_eq!(result[0]["commit"].as_str(), Some(&*branch));
    is_clean(&play);
    land(&play, &["--as", "branch", "--to", "topic/greet"]).exits(0).says("already landed: ");
    // Names that are taken, and names that git cannot keep.
    land(&play, &["--as", "branch", "--to", "main"]).exits(1).says("TG0530").says("is there already");
    land(&play, &["--as", "branch", "--to", "topic"]).exits(1).says("TG0530").says("in the way");
    land(&play, &["--as", "branch", "--to", "main/x"]).exits(1).says("TG0530").says("in the way");
    land(&play, &["--as", "branch", "--to", "a..b"]).exits(1).says("TG0530").says("cannot be the name");
    land(&play, &["--as", "branch", "--to", "HEAD"]).exits(1).says("TG0530").says("cannot be the name");
    land(&play, &["--as", "merge", "--onto", "nowhere"]).exits(1).says("TG0530").says("no branch `nowhere`");
    land(&play, &["--as", "merge", "--to", "x"]).exits(2).says("--as branch");
    assert_eq!(landed(&play), 1);
    // Without a name it is the run's own branch, which holds the tree already.
    land(&play, &["--as", "branch"]).exits(0);
    assert_eq!(head(&play, &format!("tollgate/{}", play.run)), branch);
}

#[test]
fn a_patch_applies_where_the_branch_is_now_and_writes_over_nothing() {
    let play = succeeded();
    let printed = land(&play, &["--as", "patch"]).exits(0);
    assert!(printed.out.starts_with("diff --git a/greet.sh b/greet.sh\n"), "{}", printed.out);
    play.world.write("other.txt", "somebody else\n");
    play.world.commit("Something else");
    std::fs::write(play.world.path("mine.txt"), "mine\n").unwrap();
    let events = play.events().len();
    land(&play, &["--as", "patch", "-o", "../mine.txt"]).exits(1).says("TG0607").says("already there");
    land(&play, &["--as", "patch", "-o", "../home"]).exits(1).says("TG0607");
    let mine = std::fs::read_to_string(play.world.path("mine.txt")).unwrap();
    assert_eq!((&*mine, play.events().len()), ("mine\n", events));
    land(&play, &["--as", "patch", "-o", "../change.patch"]).exits(0).says("git apply ../change.patch");
    land(&play, &["--as", "patch", "-o", "../change.patch"]).exits(0).says("already landed");
    assert_eq!(play.world.git(&["status", "--porcelain"]), "", "nothing is applied");
    play.world.git(&["apply", "--index", "../change.patch"]);
    assert_eq!(play.world.git(&["diff", "--cached", "--name-only"]), "greet.sh\ntests/greet.test.sh\n");
    assert_eq!((landed(&play), checked(&play)), (2, 1), "the second one fits another commit");
}

#[test]
fn where_the_base_has_moved_the_commands_run_again_on_the_merged_tree() {
    let play = succeeded();
    play.world.write("other.txt", "somebody else\n");
    play.world.commit("Something else");
    let moved = head(&play, "HEAD");
    land(&play, &["--as", "merge"]).exits(0).says("on the merged tree: DoD-1 passed").says("merged with what changed");
    let parents = format!("{moved} {}\n", head(&play, &format!("tollgate/{}", play.run)));
    assert_eq!(play.world.git(&["log", "-1", "--format=%P"]), parents);
    assert_eq!(
        play.world.git(&["ls-files"]),
        "README.md\ngreet.sh\nother.txt\nsrc/main.rs\ntests/greet.test.sh\ntests/smoke.rs\n"
    );
    is_clean(&play);
    let asked = play.count(|event| matches!(event, Event::DecisionAsked(_)));
    assert_eq!((checked(&play), asked), (1, 1), "the reviews stand; only the sign-off was ever asked");
    let held = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::LandChecked(checked) => checked.leash,
        _ => None,
    });
    let held = held.unwrap();
    assert!(!crate::leash::holds() || held.holds() && held.network == Network::Denied, "{held:?}");
    play.holds_but_for_the_head();
}

/// What a landing checked again last: exit codes of each run, by command.
fn runs(play: &Play) -> Vec<(Judgement, Vec<Option<i32>>)> {
    let checked = play.events().into_iter().rev().find_map(|recorded| match recorded.event {
        Event::LandChecked(checked) => Some(checked.results),
        _ => None,
    });
    let each = checked.unwrap_or_default().into_iter();
    each.map(|result| (result.result, result.runs.iter().map(|once| once.exit).collect())).collect()
}

/// Fails every second time where `flaky` is there, and never where it is not.
const SHAKY: &str = "if test -e flaky; then n=$(cat \"$HOME/n\" 2>/dev/null || echo 0); echo $((n+1)) > \"$HOME/n\"; exit $((n % 2)); fi";

#[test]
fn a_command_is_repeated_on_the_merged_tree_as_often_as_its_row_says() {
    let rows = ["test -e greet.sh", SHAKY, "checker --all"];
    let rows = rows.map(|command| format!("greet.sh greets `cmd: {command}` `repeat: 3`")).join("\n- ");
    let covered = COVERED.replace("[\"DoD-1: greet.sh is there\"]", "[DoD-1, DoD-2, DoD-3]");
    let tested = TESTED.replace("DoD-2", "DoD-4");
    let roles = [("dod-checker", &[else_(&covered)][..]), ("tester", &[else_(&tested)])];
    let mut play = Play::new(&TASK.replace("greet.sh greets", &rows), &script(&roles));
    play.world.set("TOLLGATE_SANDBOX", "off");
    play.world.agent("checker", "#!/bin/sh\nexit 0\n");
    play.start(&WORDS).exits(0);
    play.world.write("flaky", "somebody else\n");
    play.world.commit("Something else");
    let before = head(&play, "HEAD");
    // One that cannot be run there is not tried again, and is no pass either.
    std::fs::remove_file(play.world.path("bin/checker")).unwrap();
    let passed = (Judgement::Pass, vec![Some(0); 3]);
    let flaky = (Judgement::Fail, vec![Some(0), Some(1), Some(0)]);
    for (words, decision) in [
        (&["--as", "merge"][..], "dec_2"),
        (&["--as", "branch", "--to", "topic"], "dec_3"),
        (&["--as", "patch"], "dec_4"),
    ] {
        // What is not sure there shows nothing: a person decides.
        land(&play, words).exits(4).says("flaky: 1 of 3 runs failed");
        assert_eq!(runs(&play), [passed.clone(), flaky.clone(), (Judgement::Unobservable, vec![Some(127)])]);
        play.decide(&[decision, "leave"]).exits(0);
        std::fs::remove_file(play.world.path("home/n")).unwrap();
    }
    assert_eq!((landed(&play), head(&play, "HEAD")), (0, before));
    play.tollgate(&["verify", "--all"]).exits(0);
}

#[test]
fn a_command_that_fails_on_the_merged_tree_is_a_persons_decision() {
    let play = landed_with("test ! -e broken");
    play.world.write("broken", "by somebody else\n");
    play.world.commit("Break it");
    let moved = head(&play, "HEAD");
    let said = land(&play, &["--as", "merge"]).exits(4).says("`DoD-1` fails on the merged tree");
    insta::assert_snapshot!(play.told(&said));
    let (inbox, _) = play.world.json("inbox --json");
    assert_eq!(inbox[0]["decision"]["class"], "waiver");
    assert_eq!(inbox[0]["next"][0], format!("tollgate decide {} dec_2 land", play.run));
    // Whoever asks again is told what is asked already.
    land(&play, &["--as", "merge"]).exits(4);
    assert_eq!((checked(&play), head(&play, "HEAD")), (1, moved.clone()));
    play.decide(&["dec_2", "sideways"]).exits(2).says("TG0305");
    play.decide(&["dec_2", "leave"]).exits(0);
    assert_eq!((landed(&play), head(&play, "HEAD")), (0, moved.clone()));
    // Asked for once more it is another question, and the answer is carried out.
    let (result, code) = play.world.json(&format!("land {} --as merge --json", play.run));
    assert_eq!(
        (code, result[0]["status"].as_str(), result[0]["decision"].as_str()),
        (4, Some("waiting"), Some("dec_3"))
    );
    assert_eq!(result[0]["checks"]["DoD-1"], "fail");
    play.world.json("inbox --json");
    play.tollgate(&["decide", "dec_3", "land"]).exits(0).says("landed on main");
    assert_eq!(head(&play, "HEAD^"), moved);
    let message = play.world.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("\nWaived-by: ada (dec_3): DoD-1: "), "{message}");
    assert_eq!(std::fs::read_to_string(play.world.path("work/greet.sh")).unwrap(), "echo Hello\n");
    is_clean(&play);
    play.decide(&["dec_3", "leave"]).exits(1).says("TG0304");
    play.holds_but_for_the_head();
}

/// Twenty lines; the first or the last may be another.
fn lines(first: &str, last: &str) -> String {
    let middle: Vec<String> = (2..20).map(|line| format!("line {line}")).collect();
    format!("{first}\n{}\n{last}\n", middle.join("\n"))
}

#[test]
fn a_review_does_not_stand_where_the_base_touched_the_same_file() {
    let text = lines("ours", "line 20").replace('\n', "\\n");
    let built = format!(
        r#"write: {{long.txt: "{text}", greet.sh: "echo Hello\n"}}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, files_created: [greet.sh], files_modified: [long.txt], dod_coverage: [{{mark: "✓", row: DoD-1}}]}}"#
    );
    let mut play = Play::new(TASK, &script(&[("developer", &[at(1, &built), else_(IDLE)])]));
    play.world.write("long.txt", lines("line 1", "line 20"));
    play.world.commit("A long file");
    play.start(&WORDS).exits(0);
    play.world.write("long.txt", lines("line 1", "theirs"));
    play.world.commit("Its last line");
    let said = land(&play, &["--as", "branch", "--to", "topic"]).exits(4);
    said.says("what was reviewed changed on `main`, too: long.txt");
    assert!(!play.world.git_output(&["rev-parse", "--verify", "-q", "topic"]).status.success());
    play.decide(&["dec_2", "land"]).exits(0).says("landed on topic");
    assert_eq!(play.world.git(&["show", "topic:long.txt"]), lines("ours", "theirs"));
    is_clean(&play);
    // Elsewhere it is another landing, and the first question is not asked any more.
    play.world.write("more.txt", "x\n");
    play.world.commit("More");
    land(&play, &["--as", "merge"]).exits(4);
    land(&play, &["--as", "patch"]).exits(4).says("dec_4");
    play.decide(&["dec_3", "land"]).exits(1).says("TG0304");
    play.decide(&["dec_4", "leave"]).exits(0);
    play.tollgate(&["verify", "--all"]).exits(0);
}

#[test]
fn only_a_run_that_succeeded_lands() {
    let mut play = Play::new(TASK, &script(&[]));
    play.start(&["--input", "complexity=standard", "--no-wait"]).exits(4);
    land(&play, &["--as", "merge"]).exits(1).says("TG0340").says("dec_1 is not answered").says("DoD-2 is open");
    play.tollgate(&["cancel", "RUN"]).exits(0);
    land(&play, &["--as", "merge"]).exits(1).says("TG0340").says("cancelled by a person");
    play.tollgate(&["land", "nobody", "--as", "merge"]).exits(1).says("TG0317");
    play.holds();
}

#[test]
fn a_checkout_that_is_changed_or_elsewhere_or_does_not_fit_is_left_alone() {
    let play = succeeded();
    let before = head(&play, "HEAD");
    play.world.write("mine.txt", "not committed\n");
    land(&play, &["--as", "merge"]).exits(1).says("TG0504").says("mine.txt").says("--as branch");
    assert_eq!(head(&play, "HEAD"), before);
    std::fs::remove_file(play.world.path("work/mine.txt")).unwrap();
    // What git ignores is still somebody's.
    play.world.write(".git/info/exclude", "greet.sh\n");
    play.world.write("greet.sh", "mine\n");
    land(&play, &["--as", "merge"]).exits(1).says("TG0530").says("not committed: greet.sh");
    assert_eq!(std::fs::read_to_string(play.world.path("work/greet.sh")).unwrap(), "mine\n");
    std::fs::remove_file(play.world.path("work/greet.sh")).unwrap();
    play.world.write(".git/info/exclude", "");
    play.world.git(&["worktree", "add", "-q", "-b", "other", "../other"]);
    land(&play, &["--as", "merge", "--onto", "other"]).exits(1).says("TG0530").says("checked out in");
    play.world.git(&["worktree", "remove", "../other"]);
    land(&play, &["--as", "merge", "--onto", "other"]).exits(0);
    assert_eq!((head(&play, "HEAD"), head(&play, "other:greet.sh").len()), (before, 40));
    // Changes that do not fit together move nothing.
    play.world.write("greet.sh", "echo Moin\n");
    play.world.commit("Greet otherwise");
    let (moved, events) = (head(&play, "HEAD"), play.events().len());
    for how in ["merge", "branch", "patch"] {
        let said = land(&play, &["--as", how]).exits(1).says("TG0342").says("greet.sh");
        said.says(&format!("git merge tollgate/{}", play.run));
    }
    assert_eq!((head(&play, "HEAD"), play.events().len()), (moved, events));
    is_clean(&play);
    play.world.git(&["checkout", "-q", "--detach"]);
    land(&play, &["--as", "merge"]).exits(1).says("TG0530").says("no branch is checked out");
}

#[test]
fn a_run_whose_journal_or_tree_is_not_whole_does_not_land() {
    let long = TASK.replacen("\n## ", &format!("\n{}\n## ", "A long description. ".repeat(4_000)), 1);
    let mut play = Play::new(&long, &script(&[]));
    play.start(&WORDS).exits(0);
    let before = head(&play, "HEAD");
    let folders = std::fs::read_dir(play.world.path("state/objects")).unwrap().map(|folder| folder.unwrap().path());
    let object = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).next().unwrap().unwrap().path();
    let bytes = std::fs::read(&object).unwrap();
    std::fs::write(&object, "something else").unwrap();
    land(&play, &["--as", "merge"]).exits(1).says("TG0324").says("does not verify").says("tollgate verify");
    assert_eq!(head(&play, "HEAD"), before);
    std::fs::write(&object, bytes).unwrap();
    // Somebody took the branch away, and with it the commit, from everywhere.
    let branch = format!("refs/heads/tollgate/{}", play.run);
    let commit = head(&play, &branch);
    let git = play.world.path(&format!("state/runs/{}/git", play.run));
    let objects = |root: &Path| root.join("objects").join(&commit[..2]).join(&commit[2..]);
    play.world.git(&["update-ref", "-d", &branch]);
    play.world.git(&["-c", "gc.reflogExpire=now", "reflog", "expire", "--expire=now", "--all"]);
    play.world.git(&["gc", "-q", "--prune=now"]);
    std::fs::remove_file(objects(&git)).ok();
    std::fs::remove_file(objects(&play.world.path("work/.git"))).ok();
    land(&play, &["--as", "merge"]).exits(3).says("TG0509");
    is_clean(&play);
}

#[test]
fn nothing_that_a_tree_or_the_repository_names_is_started() {
    let built = r#"write: {greet.sh: "echo Hello\n", .gitattributes: "* filter=evil merge=evil diff=evil\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [greet.sh, .gitattributes], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
    let mut play = Play::new(TASK, &script(&[("developer", &[at(1, built), else_(IDLE)])]));
    let mark = play.world.path("ran");
    let program = format!("touch {}; cat", mark.display());
    play.start(&WORDS).exits(0);
    for setting in
        ["filter.evil.clean", "filter.evil.smudge", "merge.evil.driver", "diff.evil.textconv", "diff.evil.command"]
    {
        play.world.git(&["config", setting, &program]);
    }
    for hook in ["post-merge", "post-checkout", "reference-transaction", "post-index-change", "pre-merge-commit"] {
        let path = play.world.path("work/.git/hooks").join(hook);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{program} > /dev/null\n")).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    std::fs::write(play.world.path("work/other.txt"), "x\n").unwrap();
    play.world.git(&["-c", "core.hooksPath=/dev/null", "add", "other.txt"]);
    let commit = ["-c", "core.hooksPath=/dev/null", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    play.world.git(&[&commit[..], &["commit", "-q", "-m", "Something else"]].concat());
    assert!(!mark.exists());
    // What a filter would write is not what was checked: it is not put into the checkout.
    for (how, more, exit) in [("patch", &[][..], 0), ("branch", &["--to", "topic"], 0), ("merge", &[], 1)] {
        land(&play, &[&["--as", how], more].concat()).exits(exit);
        assert!(!mark.exists(), "{how}");
    }
    assert!(!play.world.path("work/greet.sh").exists());
}

/// Killed at one point after the other, by either command, a landing ends as if it had not been.
#[test]
fn a_landing_that_was_cut_off_ends_well() {
    let play = succeeded();
    play.world.write("other.txt", "somebody else\n");
    play.world.write("tests/smoke.rs", "// changed\n");
    play.world.commit("Something else");
    let moved = head(&play, "HEAD");
    let points = ["before-commit:1", "after-commit:1", "command-spawned", "before-commit:2", "land-merged"];
    let points = [&points[..], &["land-begun", "land-files", "land-index", "land-put", "after-commit:1"]].concat();
    for (number, point) in points.into_iter().enumerate() {
        let words: &[&str] =
            if number < 3 || number % 2 == 0 { &["land", &play.run, "--as", "merge"] } else { &["resume", &play.run] };
        let mut command = play.world.program(words);
        let killed = command.stdin(Stdio::null()).env("TOLLGATE_FAIL_AT", point).output().unwrap();
        assert_eq!(killed.status.code(), None, "{point}: {}", String::from_utf8_lossy(&killed.stderr));
    }
    play.tollgate(&["resume", "RUN"]).exits(0);
    land(&play, &["--as", "merge"]).exits(0).says("already landed");
    assert_eq!(head(&play, "HEAD^1"), moved);
    assert_eq!(play.world.git(&["ls-files"]).lines().count(), 6);
    is_clean(&play);
    assert_eq!(landed(&play), 1);
    play.holds_but_for_the_head();
}

/// What its owner did to the checkout after a landing was cut off is not written over.
#[test]
fn what_a_person_changed_after_a_cut_off_landing_is_not_lost() {
    let play = succeeded();
    let mut command = play.world.program(&["land", &play.run, "--as", "merge"]);
    command.stdin(Stdio::null()).env("TOLLGATE_FAIL_AT", "land-files");
    assert_eq!(command.output().unwrap().status.code(), None);
    play.world.write("greet.sh", "my own words\n");
    play.world.write("README.md", "my own words\n");
    land(&play, &["--as", "merge"]).exits(3).says("TG0504").says("README.md, greet.sh").says("tollgate resume");
    assert_eq!(std::fs::read_to_string(play.world.path("work/greet.sh")).unwrap(), "my own words\n");
    play.world.write("greet.sh", "echo Hello\n");
    play.world.write("README.md", "# A project\n");
    play.tollgate(&["resume", "RUN"]).exits(0).says("landed on main");
    is_clean(&play);
}
