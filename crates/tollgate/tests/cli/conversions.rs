//! Line endings and other conversions of git: work, judges and commands have the files that a checkout has.

use tollgate_core::report::Judgement;
use tollgate_core::run::Event;

use crate::land::{WORDS, is_clean, land};
use crate::measured::{REPORT, naming, reports};
use crate::play::{IDLE, Play, TASK, at, else_, script};

const GREETS: &str = "test \"$(sh greet.sh)\" = Hello";

fn play(command: &str, roles: &[(&str, &[String])]) -> Play {
    let task = TASK.replace("greet.sh greets", &format!("greet.sh greets `cmd: {command}`"));
    Play::new(&task, &script(roles))
}

/// How often the command of the first row passed and failed.
fn results(play: &Play) -> Vec<Judgement> {
    let all = play.events().into_iter().filter_map(|recorded| match recorded.event {
        Event::CommandsRan(ran) => Some(ran.results),
        _ => None,
    });
    all.flatten().map(|result| result.result).collect()
}

#[test]
fn a_check_sees_the_line_endings_that_the_change_asks_for() {
    let built = r#"write: {greet.sh: "echo Hello\n", .gitattributes: "*.sh text eol=crlf\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [greet.sh, .gitattributes], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
    let mut play = play(GREETS, &[("developer", &[at(1, built), else_(IDLE)])]);
    play.start(&WORDS).says("attributes: .gitattributes");
    let results = results(&play);
    assert!(results.contains(&Judgement::Fail) && !results.contains(&Judgement::Pass), "{results:?}");
}

#[test]
fn a_repository_with_its_own_line_endings_is_checked_as_it_is_checked_out_and_lands_clean() {
    let mut play = play("grep -q \"$(printf '\\r')\" run.bat && test \"$(sh greet.sh)\" = Hello", &[]);
    play.world.write(".gitattributes", "*.bat text eol=crlf\n*.test.sh text eol=crlf\n");
    play.world.write("run.bat", "echo one\r\n");
    play.world.commit("A file for another system");
    play.start(&WORDS).exits(0).silent_on("attributes:");
    assert_eq!(results(&play).iter().filter(|result| **result != Judgement::Pass).count(), 0);
    assert!(!play.tollgate(&["diff", "RUN"]).exits(0).out.contains("run.bat"));
    land(&play, &["--as", "merge"]).exits(0);
    is_clean(&play);
    assert_eq!(play.world.git(&["show", "HEAD:tests/greet.test.sh"]), "sh greet.sh\n");
    let read = |path: &str| std::fs::read_to_string(play.world.path("work").join(path)).unwrap();
    assert_eq!((&*read("run.bat"), &*read("tests/greet.test.sh")), ("echo one\r\n", "sh greet.sh\r\n"));
}

#[test]
fn the_settings_of_a_run_are_those_that_it_began_with() {
    let report = REPORT.replace("0 created", "2 created") + "\n## Files Created\n- src/own\n- src/seen\n";
    let mut play =
        naming(&report, "cat -A README.md > src/seen; printf 'own\\r\\n' > src/own", "grep -q '\\^M' src/seen");
    play.world.git(&["config", "core.autocrlf", "true"]);
    std::fs::remove_file(play.world.path("work/README.md")).unwrap();
    play.world.git(&["checkout", "-q", "--", "README.md"]);
    let all = reports(&mut play, &[]);
    let names: Vec<&str> = all[0].changed.iter().map(|change| &*change.path).collect();
    assert_eq!(names, ["src/own", "src/seen"]);
    let Event::RunOpened(opened) = &play.events()[0].event else { panic!("no start") };
    let rules = opened.checkout.as_deref().unwrap();
    assert_eq!(rules.settings, ["core.autocrlf=true".into()]);
    assert_eq!(play.file("src/own").as_deref(), Some("own\n"));
    assert_eq!(play.world.git(&["status", "--porcelain"]), "");
}

#[test]
fn files_that_a_filter_writes_are_named_and_no_filter_is_started() {
    let mut play = play(GREETS, &[]);
    let ran = play.world.path("ran");
    play.world.write(".gitattributes", "*.bin filter=planted\n*.large filter=lfs\n");
    play.world.write("one.bin", "pointer\n");
    play.world.write("two.bin", "pointer\n");
    play.world.write("three.large", "pointer\n");
    play.world.commit("Filtered files");
    let program = format!("touch {}; cat", ran.display());
    for kind in ["clean", "smudge"] {
        play.world.git(&["config", &format!("filter.planted.{kind}"), &program]);
    }
    let named = "not as checked out: 2 files that a filter converts: one.bin, two.bin";
    play.start(&WORDS).exits(0).says(named);
    assert!(play.tollgate(&["show", "RUN"]).exits(0).out.contains("one.bin, two.bin"));
    let (shown, _) = play.world.json(&format!("show {} --json", play.run));
    assert_eq!(shown[0]["not_as_checked_out"]["count"], 2);
    land(&play, &["--as", "merge"]).exits(0).says(named);
    assert!(!ran.exists());
}

/// A filter that the change itself brings writes other bytes into the checkout than were checked.
#[test]
fn a_filter_that_the_change_brings_is_named_and_its_files_are_not_put_into_the_checkout() {
    let built = r#"write: {greet.sh: "echo Hello\n", .gitattributes: "*.sh filter=planted\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [greet.sh, .gitattributes], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
    let mut play = play(GREETS, &[("developer", &[at(1, built), else_(IDLE)])]);
    let ran = play.world.path("ran");
    for kind in ["clean", "smudge"] {
        play.world.git(&["config", &format!("filter.planted.{kind}"), &format!("touch {}; cat", ran.display())]);
    }
    play.start(&WORDS).exits(0).says("attributes: .gitattributes");
    let named = "not as checked out: 2 files that a filter converts: greet.sh, tests/greet.test.sh";
    assert!(play.tollgate(&["show", "RUN"]).exits(0).out.contains("greet.sh, tests/greet.test.sh"));
    land(&play, &["--as", "merge"]).exits(1).says("TG0530").says("written by the filter `planted`");
    assert_eq!(play.world.git(&["status", "--porcelain"]), "", "nothing was put there");
    land(&play, &["--as", "branch", "--to", "theirs"]).exits(0).says(named);
    assert!(!ran.exists());
}
