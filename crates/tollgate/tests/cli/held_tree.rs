//! The tree that a command checks stays as it is while the command runs: nobody rewrites the check from inside of it.

use tollgate_core::report::Judgement;
use tollgate_core::run::Event;
use tollgate_core::run::sandbox_record::HeldTree;

use crate::leash::{WORDS, configured, holds};
use crate::out_of_sight::note;
use crate::play::{IDLE, Play, at, else_, script};
use crate::rows::task;

/// A run whose work is this `greet.sh`, in a repository that has these files, and whose row has this command.
fn play(config: &str, files: &[(&str, &str)], greet: &str, row: &str) -> Play {
    play_without("", config, files, greet, row)
}

/// The same on a machine that lacks a part of the sandbox.
pub fn play_without(part: &str, config: &str, files: &[(&str, &str)], greet: &str, row: &str) -> Play {
    let built = format!(
        "write: {{greet.sh: {}}}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, \
         files_created: [greet.sh], dod_coverage: [{{mark: \"✓\", row: DoD-1}}]}}",
        serde_json::to_string(greet).unwrap()
    );
    let mut play = configured(&task(row), &script(&[("developer", &[at(1, &built), else_(IDLE)])]), config);
    play.world.set("TOLLGATE_SANDBOX_WITHOUT", part);
    for (path, text) in files {
        play.world.write(path, text);
    }
    play.world.commit("What is there");
    let said = play.start(&[&WORDS[..], &["--no-wait"]].concat());
    play.named_by(&said);
    play
}

/// What came of the first command.
pub fn first(play: &Play) -> (Judgement, Vec<String>, HeldTree) {
    let ran = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::CommandsRan(ran) => Some(ran),
        _ => None,
    });
    let ran = ran.expect("commands ran");
    let result = &ran.results[0];
    let changes = result.changes.iter().map(ToString::to_string).collect();
    (result.result, changes, ran.leash.map(|leash| leash.tree).unwrap_or_default())
}

#[test]
fn code_under_test_does_not_rewrite_the_check() {
    if !holds() {
        return;
    }
    let check = "sh greet.sh\necho checking\nexit 7\n# a comment that is long enough for the shell to read again\n";
    for (how, greet) in [
        ("over the script that runs", "printf 'exit 0\\n%0200d' 0 > check/run.sh\n"),
        ("a file in its place", "echo 'exit 0' > new.sh && mv -f new.sh check/run.sh\n"),
        ("removed and written", "rm -f check/run.sh; echo 'exit 0' > check/run.sh\n"),
        ("a folder in its place", "mv check away && mkdir check && echo 'exit 0' > check/run.sh\n"),
        ("a link in its place", "echo 'exit 0' > new.sh; ln -sf ../new.sh check/run.sh\n"),
        ("its mode", "chmod 777 check/run.sh && echo 'exit 0' > check/run.sh\n"),
    ] {
        // In place first, then once more: what the shell has read already counts, what it starts anew does not.
        let (files, row) = ([("check/run.sh", check)], "sh check/run.sh || sh check/run.sh");
        let open = play_without("mounts", "", &files, greet, row);
        assert_eq!(
            (first(&open).0, first(&open).2),
            (Judgement::Pass, HeldTree::None),
            "{how}: it works where nothing holds"
        );
        let (result, changes, held) = first(&play("", &files, greet, row));
        assert_ne!(result, Judgement::Pass, "{how}");
        assert_eq!(held, HeldTree::Whole, "{how}");
        assert!(result == Judgement::Fail || changes == ["check/run.sh"], "{how}: {result:?} {changes:?}");
    }
}

#[test]
fn a_command_that_has_to_change_the_tree_cannot_be_observed_unless_it_is_let() {
    if !holds() {
        return;
    }
    let files = [("gen.txt", "old\n"), ("tests/gen.txt", "old\n")];
    let (generate, row) =
        ("for file in gen.txt tests/gen.txt; do echo new > $file; done\n", "sh greet.sh && grep new gen.txt");
    let denied = play("", &files, generate, row);
    let (result, changes, _) = first(&denied);
    assert_eq!((result, changes), (Judgement::Unobservable, vec!["gen.txt".to_owned(), "tests/gen.txt".to_owned()]));
    assert_eq!(note(&denied), "it changes `gen.txt`, `tests/gen.txt`, which are tracked");
    assert_eq!(denied.dispatched("dod-checker"), 0, "a person is asked first");
    let asked = denied.tollgate(&["inbox"]).out;
    assert!(asked.contains("gen.txt") && asked.contains("dec_2 allow") && asked.contains("[checks] writes"), "{asked}");
    // For this run, exactly these paths.
    denied.decide(&["dec_2", "allow"]).exits(0).says("DoD-1 passed");
    assert_eq!(denied.dispatched("developer"), 1, "no attempt failed for it");
    denied.tollgate(&["verify", "RUN"]).exits(0);
    // A pattern lets them be written, but for tests: these are named one by one.
    for (writes, result, changes) in [
        (r#"["**/gen.txt"]"#, Judgement::Unobservable, &["tests/gen.txt"][..]),
        (r#"["gen.txt", "tests/gen.txt"]"#, Judgement::Pass, &[]),
    ] {
        let play = play(&format!("[checks]\nwrites = {writes}\n"), &files, generate, row);
        let (came, changed, _) = first(&play);
        assert_eq!((came, changed), (result, changes.iter().map(ToString::to_string).collect()), "{writes}");
    }
}

#[test]
fn what_git_does_not_track_may_be_written_and_what_is_put_back_was_written() {
    if !holds() {
        return;
    }
    let made = "mkdir -p build src/deep && echo out > build/out && echo new > src/new && echo cache > src/deep/cache\n";
    let play_new =
        play("", &[("src/lib", "lib\n")], made, "sh greet.sh && mv build/out build/moved && test -s src/new");
    assert_eq!(first(&play_new).0, Judgement::Pass, "{}", note(&play_new));
    // Written, and put back as it was.
    let back = "cp src/lib kept && echo x > src/lib && cat kept > src/lib\n";
    let put_back = play("", &[("src/lib", "lib\n")], back, "sh greet.sh");
    assert_eq!((first(&put_back).0, first(&put_back).1), (Judgement::Unobservable, vec!["src/lib".to_owned()]));
    // Generated anew, and the same as before.
    let generated = play("", &[("gen.txt", "made\n")], "echo made > gen.txt\n", "sh greet.sh && git diff --exit-code");
    assert_eq!((first(&generated).0, first(&generated).1), (Judgement::Unobservable, vec!["gen.txt".to_owned()]));
    generated.decide(&["dec_2", "allow"]).exits(0).says("DoD-1 passed");
    // What fails once and wrote nothing is not sure.
    let flaky = play("", &[("src/lib", "lib\n")], "echo hi\n", "test -w src/lib");
    assert_eq!((first(&flaky).0, first(&flaky).1.len()), (Judgement::Fail, 0));
    assert!(note(&flaky).starts_with("flaky: 1 of 2 runs failed"), "{}", note(&flaky));
}

#[test]
fn what_git_believes_of_the_tree_is_held_with_it() {
    if !holds() {
        return;
    }
    let files = [("gen.txt", "old\n")];
    let writes = "[checks]\nwrites = [\"**\"]\n";
    // The index would have git look away.
    let hidden = "echo new > gen.txt; git update-index --assume-unchanged gen.txt\n";
    let lies = play(writes, &files, hidden, "sh greet.sh; git diff --exit-code");
    assert_eq!((first(&lies).0, first(&lies).1), (Judgement::Unobservable, vec![".git".to_owned()]), "{}", note(&lies));
    assert_eq!(note(&lies), "it changes git's own folder (`.git`)");
    let looks =
        "git status --porcelain && git diff --exit-code && git log -1 --format=%H && git describe --always --dirty";
    let honest = play("", &files, "echo hi\n", looks);
    assert_eq!(first(&honest).0, Judgement::Pass, "{}", note(&honest));
    // What a row has to write there is a person's to allow.
    let adds = play("", &files, "echo hi\n", "git add -N . && git diff --exit-code");
    assert_eq!((first(&adds).0, first(&adds).1), (Judgement::Unobservable, vec![".git".to_owned()]), "{}", note(&adds));
    adds.decide(&["dec_2", "allow"]).exits(0).says("DoD-1 passed");
}
