//! The checkout that a run starts from, seen as its owner's git sees it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::play::{Play, Said, TASK, script};

const WORDS: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

fn play(settings: &[&str]) -> Play {
    let play = Play::new(TASK, &script(&[]));
    for setting in settings {
        let (name, value) = setting.split_once('=').unwrap();
        play.world.git(&["config", name, value]);
    }
    play
}

/// What a run needs to start; it waits for its sign-off.
const INPUTS: [&str; 2] = ["--input", "complexity=standard"];

/// A file of the commit that the run starts from.
fn base(play: &Play, path: &str) -> String {
    play.world.git(&["show", &format!("refs/tollgate/{}/base:{path}", play.run)])
}

/// Makes a file look changed to everybody who goes by its time.
fn touch(path: &Path) {
    let text = std::fs::read(path).unwrap();
    std::fs::write(path, text).unwrap();
    let later = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
}

#[test]
fn what_its_owners_git_calls_clean_is_clean() {
    let mut play = play(&["core.autocrlf=true", "core.fileMode=false"]);
    play.world.write("dos.txt", "one\r\ntwo\r\n");
    play.world.write("tool.sh", "true\n");
    play.world.commit("Lines as another system ends them");
    touch(&play.world.path("work/dos.txt"));
    std::fs::set_permissions(play.world.path("work/tool.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    play.start(&INPUTS).exits(4);
    assert_eq!(base(&play, "dos.txt"), "one\ntwo\n");
}

#[test]
fn what_is_taken_along_is_what_its_owners_git_would_commit() {
    let mut play = play(&["core.autocrlf=input"]);
    play.world.write("dos.txt", "one\r\ntwo\r\n");
    play.start(&INPUTS).exits(3).says("TG0504").says("dos.txt");
    play.start(&[&INPUTS[..], &["--include-dirty"]].concat()).exits(4);
    assert_eq!(base(&play, "dos.txt"), "one\ntwo\n");
    assert_eq!(std::fs::read(play.world.path("work/dos.txt")).unwrap(), b"one\r\ntwo\r\n");
}

#[test]
fn a_configuration_that_is_edited_and_not_committed_is_ignored_with_a_warning() {
    let mut play = play(&[]);
    play.world.write(".tollgate/config.toml", "[areas.build-plan]\ntests = [\"spec/**\"]\n");
    let said = "warning: .tollgate/config.toml is not committed yet, so it is ignored";
    play.start(&[&INPUTS[..], &["--include-dirty"]].concat()).exits(4).says(said).says("then `tollgate trust`");
}

#[test]
fn a_file_that_a_filter_writes_is_not_taken_along() {
    let ran = |play: &Play| play.world.path("ran").exists();
    let mut play = play(&[]);
    let program = format!("touch {}; sed s/big/pointer/", play.world.path("ran").display());
    play.world.write(".gitattributes", "*.bin filter=large\n");
    play.world.write("logo.bin", "pointer\n");
    play.world.commit("A large file");
    play.world.git(&["config", "filter.large.clean", &program]);
    play.world.git(&["config", "filter.large.required", "true"]);
    play.world.write("logo.bin", "big\n");
    play.world.write("note.txt", "mine\n");
    let with = [&INPUTS[..], &["--include-dirty"]].concat();
    play.start(&with).exits(3).says("TG0519").says("logo.bin is written by the filter `large`");
    assert!(play.run.is_empty() && !ran(&play), "no filter is started");
    // A filter that nobody has configured writes nothing.
    play.world.git(&["config", "--remove-section", "filter.large"]);
    play.start(&with).exits(4);
    assert_eq!([base(&play, "logo.bin"), base(&play, "note.txt")], ["big\n", "mine\n"]);
}

#[test]
fn looking_for_edits_of_the_configuration_starts_no_filter() {
    let mut play = play(&[]);
    let ran = play.world.path("ran");
    play.world.write(".gitattributes", "*.bin filter=planted\n");
    play.world.write(".tollgate/logo.bin", "one\n");
    play.world.commit("A filtered file");
    play.world.git(&["config", "filter.planted.clean", &format!("touch {}; cat", ran.display())]);
    play.world.git(&["config", "filter.planted.required", "true"]);
    // Git compares a file whose time is another with its content.
    touch(&play.world.path("work/.tollgate/logo.bin"));
    play.start(&INPUTS).exits(4);
    assert!(!ran.exists());
}

#[test]
fn the_middle_of_a_merge_is_not_taken_along() {
    let mut play = play(&[]);
    play.world.write("both.txt", "base\n");
    play.world.commit("Base");
    play.world.git(&["checkout", "-q", "-b", "other"]);
    play.world.write("both.txt", "theirs\n");
    play.world.commit("Theirs");
    play.world.git(&["checkout", "-q", "main"]);
    play.world.write("both.txt", "ours\n");
    play.world.commit("Ours");
    let merge = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "merge", "-q", "other"];
    assert!(!play.world.git_output(&merge).status.success());
    let with = [&INPUTS[..], &["--include-dirty"]].concat();
    play.start(&with).exits(3).says("TG0519").says("both.txt is in the middle of a merge");
    assert!(play.run.is_empty());
}

/// What is in another repository is in no commit of this one: the run would start without it.
#[test]
fn a_repository_inside_the_checkout_is_not_dropped_without_a_word() {
    let mut play = play(&[]);
    play.world.git(&["init", "-q", "inner"]);
    play.world.write("inner/f", "mine\n");
    play.world.write("note.txt", "mine\n");
    let with = [&INPUTS[..], &["--include-dirty"]].concat();
    let told = play.start(&with).exits(3).says("TG0519").says("inner/ is a repository of its own");
    told.says("move a repository out or ignore it");
    play.start(&INPUTS).exits(3).says("TG0504").says("inner/").silent_on("--include-dirty");
    assert!(play.run.is_empty());
    std::fs::write(play.world.path("work/.git/info/exclude"), "inner/\n").unwrap();
    play.start(&with).exits(4);
    assert_eq!(base(&play, "note.txt"), "mine\n");
}

/// What a monorepo is usually worked on in: no file is there that nobody looked at.
#[test]
fn a_partial_clone_that_lacks_files_is_refused_at_the_start_with_what_brings_them() {
    let play = play(&["uploadpack.allowFilter=true"]);
    play.world.write("web/index.html", "<p>\n");
    play.world.commit("A page");
    let (whole, part) = (play.world.path("work"), play.world.path("part"));
    let from = format!("file://{}", whole.display());
    let part = part.to_str().unwrap();
    play.world.git(&["clone", "-q", "--no-local", "--no-checkout", "--filter=blob:none", &from, part]);
    play.world.git(&["-C", part, "sparse-checkout", "set", "--no-cone", "/src"]);
    play.world.git(&["-C", part, "checkout", "-q", "main"]);
    let type_in = |words: &[&str]| {
        let mut command = play.world.program(words);
        command.current_dir(part).stdin(std::process::Stdio::null());
        Said::of(command.output().unwrap())
    };
    let run = [&["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"], &WORDS[..]].concat();
    let hint = "git fetch --refetch --no-filter";
    type_in(&run).exits(3).says("TG0523").says("web/index.html").says(hint);
    let doctor = type_in(&["doctor"]);
    assert!(doctor.out.contains("TG0523") && doctor.out.contains(hint), "{}", doctor.out);
    // What it says to do is enough, and leaves the checkout as it is.
    play.world.git(&["-C", part, "fetch", "-q", "--refetch", "--no-filter"]);
    type_in(&run).exits(0);
    assert!(!Path::new(part).join("web").exists());
}
