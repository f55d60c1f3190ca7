//! Cleaning up: what is landed goes, what is nowhere else is set aside, and what is open is left alone.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::play::{BLOCKED, Play, TASK, at, else_, script};
use crate::wire::{conforms, lines};

const WORDS: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

/// What `gc` says of each thing, by what happens to it.
struct Cleaned(Value);

impl Cleaned {
    fn of(play: &Play, words: &str) -> Self {
        let (result, code) = play.world.json(&format!("gc --json {words}"));
        assert_eq!((code, result.len()), (0, 1));
        Self(result.into_iter().next().unwrap())
    }

    /// The things with this fate, `thing place`.
    fn with(&self, fate: &str) -> Vec<String> {
        let items = self.0["items"].as_array().unwrap().iter().filter(|item| item["fate"] == fate);
        items.map(|item| format!("{} {}", item["thing"].as_str().unwrap(), item["place"].as_str().unwrap())).collect()
    }

    fn why(&self, place: &str) -> String {
        let item =
            self.0["items"].as_array().unwrap().iter().find(|item| item["place"].as_str().unwrap().contains(place));
        item.unwrap_or_else(|| panic!("{place} is not in {}", self.0))["why"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn does_nothing(&self) {
        assert_eq!((self.with("removed"), self.with("quarantined")), (Vec::new(), Vec::new()));
    }
}

fn trees(play: &Play) -> PathBuf {
    play.world.path(&format!("state/trees/{}", play.run))
}

fn is_there(play: &Play, path: &str) -> bool {
    play.world.path(&path.replace("RUN", &play.run)).exists()
}

fn refs(play: &Play) -> String {
    play.world.git(&["for-each-ref", "--format=%(refname)", "refs/tollgate"])
}

/// Everything proves, and what people read of the run is still there.
#[track_caller]
fn all_holds(play: &Play) {
    play.tollgate(&["verify", "--all"]).exits(0);
    assert!(play.tollgate(&["show", "RUN"]).exits(0).out.contains("Greet people"));
    play.tollgate(&["logs", "RUN"]).exits(0);
    assert!(is_there(play, "state/runs/RUN/bundles") && is_there(play, "state/runs/RUN/logs"));
}

/// A run that was cancelled while its developer's work lay in its tree, and nowhere else.
fn cancelled() -> Play {
    let mut play = Play::new(TASK, &script(&[("dod-checker", &[else_(BLOCKED)])]));
    play.start(&WORDS).exits(4);
    assert!(is_there(&play, "state/trees/RUN/backend/greet.sh"));
    play.tollgate(&["cancel", "RUN"]).exits(0);
    play
}

#[test]
fn what_is_on_a_branch_goes_and_the_run_still_proves() {
    let (play, said) = Play::standard(&[]);
    said.exits(0);
    let before = play.tollgate(&["diff", "RUN"]).exits(0).out;
    let dry = Cleaned::of(&play, "--dry-run");
    assert_eq!(dry.0["dry_run"], true);
    assert!(dry.with("removed").len() >= 3, "{}", dry.0);
    assert!(trees(&play).join("@run").exists() && is_there(&play, "state/runs/RUN/git"), "a look changes nothing");
    let done = Cleaned::of(&play, "");
    assert_eq!(done.with("removed"), dry.with("removed"));
    assert_eq!(done.with("quarantined"), Vec::<String>::new());
    assert!(done.why("trees/").contains("on the branch"), "{}", done.0);
    assert!(!trees(&play).exists() && !is_there(&play, "state/runs/RUN/git"));
    assert_eq!(refs(&play), "");
    Cleaned::of(&play, "").does_nothing();
    all_holds(&play);
    // What is left of the run is enough to look at it, to land it, and to be cleaned up again.
    assert_eq!(play.tollgate(&["diff", "RUN"]).exits(0).out, before);
    play.tollgate(&["land", "RUN", "--as", "merge"]).exits(0);
    play.tollgate(&["resume", "RUN"]).exits(0);
    Cleaned::of(&play, "");
    Cleaned::of(&play, "").does_nothing();
    play.tollgate(&["verify", "--all"]).exits(0);
}

#[test]
fn what_did_not_land_is_set_aside_and_comes_back() {
    let play = cancelled();
    // What is set aside now is not what was set aside before.
    let done = Cleaned::of(&play, "--expire 0");
    assert_eq!(done.with("quarantined").len(), 1, "{}", done.0);
    assert!(done.why("quarantine").contains("work that did not land"), "{}", done.0);
    assert!(!is_there(&play, "state/trees/RUN/backend"));
    let aside = format!("state/quarantine/{}/backend/greet.sh", play.run);
    assert_eq!(std::fs::read_to_string(play.world.path(&aside)).unwrap(), "echo Hello\n");
    // It borrows: what it needs stays.
    assert!(is_there(&play, "state/runs/RUN/git") && !refs(&play).is_empty());
    Cleaned::of(&play, "").does_nothing();
    all_holds(&play);
    play.tollgate(&["gc", "--restore", "RUN"]).exits(0);
    let back = trees(&play).join("backend");
    assert_eq!(std::fs::read_to_string(back.join("greet.sh")).unwrap(), "echo Hello\n");
    let status =
        std::process::Command::new("git").arg("-C").arg(&back).args(["status", "--porcelain"]).output().unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    play.tollgate(&["gc", "--restore", "RUN"]).exits(0).says("nothing of");
    // Set aside again, it goes only when a person says so, and not before its time.
    assert_eq!(Cleaned::of(&play, "").with("quarantined").len(), 1);
    Cleaned::of(&play, "--expire").does_nothing();
    assert!(play.world.path(&aside).exists());
    let gone = Cleaned::of(&play, "--expire 0");
    assert!(gone.with("removed")[0].starts_with("quarantined "), "{}", gone.0);
    assert!(!play.world.path(&aside).exists());
    // With it goes what it borrowed from.
    assert_eq!((refs(&play), is_there(&play, "state/runs/RUN/git")), (String::new(), false));
    Cleaned::of(&play, "").does_nothing();
    all_holds(&play);
}

/// The journal says what a run has, whatever somebody did in its folder meanwhile.
#[test]
fn what_no_folder_holds_any_more_is_made_again_and_set_aside() {
    let takes: [(&str, usize); 3] =
        [("rm -rf backend", 1), ("cd backend && rm greet.sh", 1), ("cd backend && git add -A && git stash", 2)];
    for (line, quarantined) in takes {
        let play = cancelled();
        let done = std::process::Command::new("sh").args(["-c", line]).current_dir(trees(&play)).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        let dry = Cleaned::of(&play, "--dry-run");
        assert_eq!(dry.with("quarantined").len(), quarantined, "{line}: {}", dry.0);
        let done = Cleaned::of(&play, "");
        assert_eq!(done.with("quarantined").len(), quarantined, "{line}: {}", done.0);
        Cleaned::of(&play, "").does_nothing();
        play.tollgate(&["gc", "--restore", "RUN"]);
        let back = std::fs::read_dir(trees(&play)).unwrap().map(|entry| entry.unwrap().path().join("greet.sh"));
        let quarantine = std::fs::read_dir(play.world.path(&format!("state/quarantine/{}", play.run)));
        let aside = quarantine.into_iter().flatten().map(|entry| entry.unwrap().path().join("greet.sh"));
        let held: Vec<String> = back.chain(aside).filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        assert!(held.contains(&"echo Hello\n".to_owned()), "{line}: {held:?}");
        all_holds(&play);
    }
}

#[test]
fn a_branch_that_somebody_took_away_holds_nothing() {
    let (play, said) = Play::standard(&[]);
    said.exits(0);
    play.world.git(&["update-ref", "-d", &format!("refs/heads/tollgate/{}", play.run)]);
    let done = Cleaned::of(&play, "");
    let aside = done.with("quarantined");
    assert!(aside.iter().any(|item| item.contains("@run")), "{}", done.0);
    assert!(is_there(&play, "state/runs/RUN/git"));
    let file = play.world.path(&format!("state/quarantine/{}/@run/greet.sh", play.run));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "echo Hello\n");
    Cleaned::of(&play, "").does_nothing();
    play.tollgate(&["verify", "--all"]).exits(0);
}

#[test]
fn an_open_run_is_left_alone_and_one_that_is_driven_as_well() {
    let mut play = Play::new(TASK, &script(&[("developer", &[at(1, "misbehave: hang")])]));
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    let mut child = play.program(&[&words[..], &WORDS[..]].concat());
    play.find_run(&mut child);
    // A worker is recorded once it runs, in a tree that is whole by then.
    let recorded = |play: &Play| std::fs::read_dir(play.world.path("state/workers")).into_iter().flatten().count() > 1;
    play.until("the developer is at work", |play| recorded(play).then_some(()));
    let before: Vec<_> = std::fs::read_dir(trees(&play)).unwrap().map(|entry| entry.unwrap().path()).collect();
    let done = Cleaned::of(&play, "");
    done.does_nothing();
    assert_eq!(done.why(&play.run), "it is open");
    assert!(recorded(&play), "the worker is at work");
    child.kill().unwrap();
    child.wait().unwrap();
    // Nobody drives it now, and it is open all the same.
    Cleaned::of(&play, "").does_nothing();
    let after: Vec<_> = std::fs::read_dir(trees(&play)).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(before, after);
    play.tollgate(&["cancel", "RUN"]).exits(0);
    play.tollgate(&["verify", "--all"]).exits(0);
}

/// Killed anywhere, and again, nothing is lost, and the next one ends it.
#[test]
fn killed_in_the_middle_nothing_is_lost() {
    for (play, points) in
        [(Play::standard(&[]).0, ["gc-moved:1", "gc-moved:2"]), (cancelled(), ["gc-noted", "gc-aside"])]
    {
        for point in points {
            let mut command = play.world.program(&["gc"]);
            let killed = command.stdin(Stdio::null()).env("TOLLGATE_FAIL_AT", point).output().unwrap();
            assert_eq!(killed.status.code(), None, "{point}: {}", String::from_utf8_lossy(&killed.stderr));
        }
        let done = Cleaned::of(&play, "");
        Cleaned::of(&play, "").does_nothing();
        assert_eq!(std::fs::read_dir(play.world.path("state/scratch")).unwrap().count(), 0, "{}", done.0);
        if points[0].starts_with("gc-moved") {
            assert!(!trees(&play).exists(), "{}", done.0);
        } else {
            let aside = format!("state/quarantine/{}/backend/greet.sh", play.run);
            assert_eq!(std::fs::read_to_string(play.world.path(&aside)).unwrap(), "echo Hello\n");
        }
        all_holds(&play);
    }
}

#[test]
fn what_is_nobodys_or_no_commit_can_hold_is_set_aside() {
    let long = TASK.replacen("\n## ", &format!("\n{}\n## ", "A long description. ".repeat(4_000)), 1);
    let mut play = Play::new(&long, &script(&[]));
    play.start(&WORDS).exits(0);
    std::os::unix::fs::symlink("/etc/passwd", trees(&play).join("@run/out")).unwrap();
    for folder in ["state/trees/run_00000000/backend", "state/runs/run_00000000/git", "state/scratch/left-1"] {
        std::fs::create_dir_all(play.world.path(folder)).unwrap();
        std::fs::write(play.world.path(folder).join("file"), "x").unwrap();
    }
    // Objects that no run names go after a day; that of the task is as old.
    let age = |path: &Path, days: u64| {
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 86_400 + 60);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    };
    let objects = play.world.path("state/objects");
    let all = || {
        let groups = std::fs::read_dir(&objects).unwrap().map(|group| group.unwrap().path());
        groups.flat_map(|group| std::fs::read_dir(group).unwrap()).map(|file| file.unwrap().path()).collect::<Vec<_>>()
    };
    let of_the_task = all();
    assert_eq!(of_the_task.len(), 1);
    age(&of_the_task[0], 2);
    let [old, young] = [("ab", 1), ("cd", 0)].map(|(digits, days)| {
        let path = objects.join(digits).join(digits.repeat(32));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, digits).unwrap();
        age(&path, days);
        path
    });
    let done = Cleaned::of(&play, "");
    assert_eq!(done.with("quarantined").len(), 4, "{}", done.0);
    assert!(done.with("quarantined").iter().any(|item| item.contains("@run")), "{}", done.0);
    assert!(done.why("@run").contains("no commit can hold"), "{}", done.0);
    assert!(!play.world.path("state/scratch/left-1").exists());
    let aside = play.world.path("state/quarantine/trees-of-no-run/run_00000000/backend/file");
    assert_eq!(std::fs::read_to_string(aside).unwrap(), "x");
    assert!(!old.exists() && young.exists() && of_the_task[0].exists());
    Cleaned::of(&play, "").does_nothing();
    play.tollgate(&["verify", "--all"]).exits(0);
}

#[test]
fn a_demonstration_goes_unless_somebody_worked_in_it() {
    let mut play = Play::new(TASK, &script(&[]));
    let told = play.tollgate(&["demo", "--json"]).exits(0).out;
    lines(&told).iter().for_each(|document| conforms("run-detail", document));
    play.run = play.world.json("ls --all --json").0[0]["run"].as_str().unwrap().to_owned();
    let folder = play.world.path("state/demo/1");
    let inside = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let mine = inside.unwrap().join("mine.txt");
    std::fs::write(&mine, "mine\n").unwrap();
    let done = Cleaned::of(&play, "");
    assert!(!folder.exists() && play.world.path("state/quarantine/demo/1").exists(), "{}", done.0);
    Cleaned::of(&play, "").does_nothing();
    play.tollgate(&["verify", "--all"]).exits(0);
    // It comes back with its run.
    play.tollgate(&["gc", "--restore", "RUN"]).exits(0).silent_on("nothing of");
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine\n");
    std::fs::remove_file(mine).unwrap();
    let done = Cleaned::of(&play, "");
    assert!(!folder.exists() && !play.world.path("state/quarantine/demo/1").exists(), "{}", done.0);
}

#[test]
fn what_a_start_left_that_was_cut_off_is_named_before_it_goes() {
    let play = Play::new(TASK, &script(&[]));
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    let mut command = play.world.program(&[&words[..], &WORDS[..]].concat());
    let killed = command.stdin(Stdio::null()).env("TOLLGATE_FAIL_AT", "before-commit:1").output().unwrap();
    assert_eq!(killed.status.code(), None, "{}", String::from_utf8_lossy(&killed.stderr));
    let pin = refs(&play);
    assert!(pin.ends_with("/base\n"), "{pin}");
    let dry = Cleaned::of(&play, "--dry-run");
    assert_eq!(refs(&play), pin, "a look changes nothing");
    assert!(dry.with("removed").iter().any(|item| item.starts_with(&format!("ref {}", pin.trim()))), "{}", dry.0);
    let done = Cleaned::of(&play, "");
    assert_eq!((done.with("removed"), done.with("kept")), (dry.with("removed"), Vec::new()));
    assert_eq!((refs(&play), std::fs::read_dir(play.world.path("state/runs")).unwrap().count()), (String::new(), 0));
    Cleaned::of(&play, "").does_nothing();
}

/// A note that cannot be written is no note: what it would be about stays where it is, and nothing else waits for it.
#[test]
fn what_no_note_can_name_is_listed_and_not_moved() {
    use std::os::unix::ffi::OsStrExt as _;
    let (play, said) = Play::standard(&[]);
    said.exits(0);
    // Names that say of others that they were never finished, or are kept, say nothing of these.
    let odd = [&b"odd-\xff"[..], b"\xff@new", b"\xff@kept-1"].map(std::ffi::OsStr::from_bytes);
    for folder in odd.map(|name| trees(&play).join(name)).iter().chain([&play.world.path("state/trees/run_00000000")]) {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("file"), "mine\n").unwrap();
    }
    let own = trees(&play).join("@run");
    assert!(own.exists());
    for words in ["--dry-run", "", ""] {
        let done = Cleaned::of(&play, words);
        let kept = done.with("kept").into_iter().filter(|item| item.starts_with("tree ")).count();
        assert_eq!(kept, odd.len(), "{}", done.0);
        assert!(done.why("odd-").contains("its path is no text"), "{}", done.0);
    }
    // The rest went on: what is landed is gone, and the folder of nobody is set aside.
    assert!(!own.exists() && !play.world.path("state/trees/run_00000000").exists());
    for name in odd {
        assert_eq!(std::fs::read_to_string(trees(&play).join(name).join("file")).unwrap(), "mine\n");
    }
    assert!(is_there(&play, "state/runs/RUN/git"), "they may borrow from it");
}
