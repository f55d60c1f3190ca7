//! Landing on a branch that does not hold what the run started from: asked, and only the run's own change lands.

use crate::land::{WORDS, head, is_clean, land, landed, succeeded};
use crate::play::{Play, TASK, script};

/// What the run changed itself.
const OWN: &str = "greet.sh\ntests/greet.test.sh\n";

fn changed(play: &Play, range: &str) -> String {
    play.world.git(&["diff", "--name-only", range])
}

#[test]
fn a_branch_behind_the_base_gets_the_runs_own_change_and_nothing_else() {
    let mut play = Play::new(TASK, &script(&[]));
    play.world.git(&["branch", "release"]);
    play.world.write("unreleased.txt", "not yet\n");
    play.world.commit("Not released yet");
    play.start(&WORDS).exits(0);
    let before = head(&play, "release");
    let said = land(&play, &["--as", "merge", "--onto", "release"]).exits(4);
    insta::assert_snapshot!(play.world.filtered(&play.told(&said)));
    assert_eq!(head(&play, "release"), before, "nothing moves before it is answered");
    play.decide(&["dec_2", "land"]).exits(0).says("landed on release");
    assert_eq!(play.world.git(&["log", "--format=%s", "release"]), "Greet people\nStart\n");
    assert_eq!(changed(&play, &format!("{before}..release")), OWN);
    land(&play, &["--as", "merge", "--onto", "release"]).exits(0).says("already landed: ");
    // A patch and a branch of its own hold no more than that.
    play.world.git(&["branch", "older", &before]);
    land(&play, &["--as", "patch", "--onto", "older", "-o", "../own.patch"]).exits(4).says("unreleased.txt");
    play.decide(&["dec_3", "land"]).exits(0).says("git apply");
    let patch = std::fs::read_to_string(play.world.path("own.patch")).unwrap();
    let files: Vec<&str> = patch.lines().filter(|line| line.starts_with("diff ")).collect();
    assert_eq!(files, ["diff --git a/greet.sh b/greet.sh", "diff --git a/tests/greet.test.sh b/tests/greet.test.sh"]);
    land(&play, &["--as", "branch", "--onto", "older", "--to", "topic"]).exits(4).says("1 commit (");
    play.decide(&["dec_4", "land"]).exits(0);
    assert_eq!(play.world.git(&["log", "--format=%s", "topic"]), "Greet people\nStart\n");
    assert_eq!((changed(&play, "older..topic"), landed(&play)), (OWN.to_owned(), 3));
    // A branch that parted before the base gets no more, and what does not fit there is picked by hand and not merged.
    for (branch, file) in [("parted", "mended.txt"), ("unfit", "greet.sh")] {
        play.world.git(&["checkout", "-q", "-b", branch, &before]);
        play.world.write(file, "echo Moin\n");
        play.world.commit("Fix the release");
        play.world.git(&["checkout", "-q", "main"]);
    }
    land(&play, &["--as", "merge", "--onto", "parted"]).exits(4).says("which changed unreleased.txt");
    play.decide(&["dec_5", "land"]).exits(0);
    assert_eq!(play.world.git(&["log", "--format=%s", "parted"]), "Greet people\nFix the release\nStart\n");
    assert_eq!(changed(&play, "parted^..parted"), OWN);
    let said = land(&play, &["--as", "merge", "--onto", "unfit"]).exits(1).says("TG0342");
    said.says(&format!("git switch unfit && git cherry-pick tollgate/{}", play.run)).silent_on("git merge");
    // The last commit is taken back in the checkout that the run started from: the run's own branch keeps what was checked.
    play.world.git(&["reset", "-q", "--hard", "HEAD^"]);
    land(&play, &["--as", "merge"]).exits(4).says("Not released yet");
    let own = format!("tollgate/{}", play.run);
    let kept = head(&play, &own);
    land(&play, &["--as", "branch"]).exits(1).says("TG0530").says("--to NAME");
    play.decide(&["dec_6", "land"]).exits(0);
    assert_eq!((changed(&play, "HEAD^..HEAD"), head(&play, &own)), (OWN.to_owned(), kept));
    is_clean(&play);
    play.tollgate(&["verify", "--all"]).exits(0);
}

/// A run that started with changes that were not committed: where they were committed since they are there, and else they are asked about.
#[test]
fn changes_that_were_not_committed_do_not_come_along() {
    let mut play = Play::new(TASK, &script(&[]));
    play.world.write("README.md", "# A secret\n");
    play.world.write("wip.txt", "half done\n");
    play.start(&[&WORDS[..], &["--include-dirty"]].concat()).exits(0);
    land(&play, &["--as", "merge"]).exits(1).says("TG0504");
    let asked = "changes that were not committed when it started, in README.md, wip.txt";
    land(&play, &["--as", "patch"]).exits(4).says(asked);
    play.world.git(&["checkout", "-q", "-b", "since"]);
    play.world.commit("What I was at");
    play.world.git(&["checkout", "-q", "-b", "otherwise"]);
    play.world.write("wip.txt", "done\n");
    play.world.commit("The rest of it");
    play.world.git(&["checkout", "-q", "main"]);
    land(&play, &["--as", "merge"]).exits(4).says(asked);
    play.decide(&["dec_3", "land"]).exits(0);
    assert_eq!(play.world.git(&["log", "--format=%s"]), "Greet people\nStart\n");
    assert_eq!(changed(&play, "HEAD^..HEAD"), OWN);
    is_clean(&play);
    land(&play, &["--as", "merge", "--onto", "since"]).exits(0);
    assert_eq!(play.world.git(&["log", "--format=%s", "since"]), "Greet people\nWhat I was at\nStart\n");
    assert_eq!(changed(&play, "since^..since"), OWN);
    land(&play, &["--as", "merge", "--onto", "otherwise"]).exits(4).says("in wip.txt").silent_on("README.md");
    play.decide(&["dec_4", "land"]).exits(0);
    assert_eq!(changed(&play, "otherwise^..otherwise"), OWN);
    play.tollgate(&["verify", "--all"]).exits(0);
}

/// The commit of another run is somebody's work like any other, though Tollgate made it.
#[test]
fn the_work_of_another_run_does_not_come_along() {
    let first = succeeded();
    first.world.git(&["checkout", "-q", &format!("tollgate/{}", first.run)]);
    let second = r#"write: {more.sh: "echo More\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [more.sh], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
    let tested = r#"report: {status: complete, abstract: {outcome: tested, next_phase: n/a}, dod_coverage: [{mark: "✓", row: "DoD-2: a test"}]}"#;
    let roles = script(&[("developer", &[crate::play::else_(second)]), ("tester", &[crate::play::else_(tested)])]);
    std::fs::write(first.world.path("script.yaml"), roles).unwrap();
    let mut play = first;
    play.run.clear();
    play.start(&WORDS).exits(0);
    play.world.git(&["checkout", "-q", "main"]);
    land(&play, &["--as", "merge"]).exits(4).says("1 commit (").says("greet.sh");
    play.decide(&["dec_2", "land"]).exits(0);
    assert_eq!(changed(&play, "HEAD^..HEAD"), "more.sh\n");
}
