//! The change, measured: whatever a worker does to its tree, its git folder and what it judges is found, and is in the journal.

use tollgate_core::report::Health;
use tollgate_core::run::Event;
use tollgate_core::run::event::{AttemptReported, LandOutcome, LandingEnded};

use crate::play::{Play, TASK};

pub const PROTOCOL: &str = "\
protocol: alone
version: 1
areas: {code: [\"src/**\", \"tests/**\", \"README.md\", \".gitignore\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
  judge: {contract: wr.gate_verdict, writes: none, sees: {only: [change]}, verdicts: [accept, reject]}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: look}}
    - {id: look, dispatch: judge, on: {accept: done, reject: hold}}
";

pub const REPORT: &str = "## Status\ncomplete\n\n## Abstract\noutcome: made\nverdict: n/a\nfiles: 0 created, 0 modified, 0 deleted\nnext_phase: n/a\nopen_questions: 0\n";
const VERDICT: &str = r#"{"kind":"wr.gate_verdict","version":1,"verdict":"approved","confidence":"high","rationale":"Every item of the list is shown by a test."}"#;

/// A world whose maker and judge do these things and report well.
pub fn play(maker: &str, judge: &str) -> Play {
    naming(REPORT, maker, judge)
}

/// The same with a report that names what was changed.
pub fn naming(report: &str, maker: &str, judge: &str) -> Play {
    let play = Play::new(TASK, "");
    let git = "git() { command git -c user.name=a -c user.email=a@b \"$@\"; }";
    std::fs::write(play.world.path("alone.yaml"), PROTOCOL).unwrap();
    play.world.agent("maker", &format!("#!/bin/sh\nset -e\n{git}\n{maker}\ncat <<'EOF'\n{report}EOF\n"));
    play.world.agent("judge", &format!("#!/bin/sh\nset -e\n{git}\n{judge}\ncat <<'EOF'\n{VERDICT}\nEOF\n"));
    play
}

/// What became of the attempts, in order.
pub fn reports(play: &mut Play, words: &[&str]) -> Vec<AttemptReported> {
    let start = ["run", "../alone.yaml", "--worker", "maker=command:maker", "--worker", "judge=command:judge"];
    let said = play.tollgate(&[&start[..], words].concat());
    play.named_by(&said);
    assert!(!play.run.is_empty(), "{}", said.err);
    play.tollgate(&["verify", "RUN"]).exits(0);
    let reported = |event: tollgate_core::run::Recorded| match event.event {
        Event::AttemptReported(reported) => Some(reported),
        _ => None,
    };
    let all: Vec<AttemptReported> = play.events().into_iter().filter_map(reported).collect();
    assert!(!all.is_empty(), "{}", said.err);
    all
}

fn made(acts: &str) -> AttemptReported {
    reports(&mut play(acts, "true"), &[]).remove(0)
}

/// The person's own configuration protects these paths.
fn protect(play: &Play, pattern: &str) {
    let folder = play.world.path("home/.config/tollgate");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), format!("protected = [\"{pattern}\"]\n")).unwrap();
}

pub fn changed(reported: &AttemptReported) -> Vec<String> {
    reported.changed.iter().map(|change| format!("{:?} {}", change.kind, change.path)).collect()
}

#[test]
fn a_forbidden_file_is_found_also_where_it_was_committed_or_hidden_from_git() {
    let acts = "echo x | tee committed dropped skipped > excluded; git add -A; git commit -qm mine\n\
        git rm -q --cached dropped excluded; git commit -qm less; git update-index --skip-worktree skipped\n\
        echo excluded > .git/info/exclude; echo x > hidden; git config core.excludesFile .git/x; echo hidden > .git/x";
    let reported = made(acts);
    assert_eq!((reported.health, reported.content.is_none()), (Health::Failed, true));
    assert!(reported.reason.contains("committed"), "{}", reported.reason);
    let forbidden = ["committed", "dropped", "excluded", "hidden", "skipped"];
    assert_eq!(changed(&reported), forbidden.map(|path| format!("Created {path}")));
}

#[test]
fn a_write_to_an_ignored_path_is_noticed_and_counts_for_nothing() {
    // What a build leaves is no reason to miss the rest.
    let build =
        "mkdir -p target/deep sub/target; for n in $(seq 40); do echo x > target/deep/$n; done; echo x > sub/target/x";
    let acts = "mkdir -p out/deep; echo x > out/deep/x; echo y > old.log; touch -d 2001-01-01 old.log";
    let mut play = play(&format!("{build}; {acts}"), "true");
    play.world.write(".gitignore", "out/\n*.log\ntarget/\n");
    play.world.commit("Ignore");
    let all = reports(&mut play, &[]);
    assert_eq!((all[0].health, changed(&all[0])), (Health::Ok, Vec::new()));
    let told = ["old.log", "out/deep/x", "sub/target/", "target/"].map(|path| format!("ignored: {path}"));
    assert_eq!(all[0].noticed, told);
    assert_eq!(all[1].noticed, Vec::<String>::new());
    let shown = play.tollgate(&["show", "RUN"]).exits(0);
    assert!(shown.out.contains("also noticed: ignored: old.log, ignored:"), "{}", shown.out);
}

#[test]
fn what_is_done_to_git_itself_is_noticed() {
    let acts = "git branch other; git tag v1; git config user.name Eve; echo x > README.md; git stash -q\n\
        mkdir -p .git/hooks .git/modules/sub; echo true > .git/hooks/pre-commit; echo x > .git/modules/sub/HEAD\n\
        git checkout -q --detach; git commit -q --allow-empty -m own";
    let reported = made(acts);
    assert_eq!(
        (reported.health, changed(&reported)),
        (Health::Ok, Vec::new()),
        "a writer may use git: {}",
        reported.reason
    );
    let told = ["HEAD", "branch other", "config", "hook pre-commit", "stash", "submodule sub", "tag v1"];
    assert_eq!(reported.noticed, told.map(|what| format!("git: {what}")));
}

#[test]
fn a_link_out_of_the_tree_and_a_repository_in_it_fail_the_attempt() {
    let reported =
        made("ln -s /etc src/out; mkdir src/inner; git -C src/inner init -q; echo x > src/inner/x; mkfifo src/pipe");
    assert_eq!(reported.health, Health::Failed);
    assert_eq!(
        reported.reason,
        "the work tree contains entries git cannot store: `src/inner/` is a repository of its own; \
         the link `src/out` leads out of the tree; `src/pipe` is neither a file nor a folder nor a link"
    );
}

#[test]
fn a_second_edit_of_what_was_changed_already_is_a_change() {
    let report = REPORT.replace("0 modified", "1 modified") + "\n## Files Modified\n- README.md\n";
    let mut play = naming(&report, "echo again >> README.md", "true");
    play.world.write("README.md", "# A project\nby hand\n");
    play.world.write("new.txt", "new\n");
    let before = play.world.git(&["status", "--porcelain"]);
    let all = reports(&mut play, &["--include-dirty"]);
    assert_eq!(changed(&all[0]), ["Modified README.md"]);
    assert_eq!(play.file("README.md").as_deref(), Some("# A project\nby hand\nagain\n"));
    assert_eq!(play.file("new.txt").as_deref(), Some("new\n"));
    assert_eq!(std::fs::read_to_string(play.world.path("work/README.md")).unwrap(), "# A project\nby hand\n");
    assert_eq!(play.world.git(&["status", "--porcelain"]), before);
}

#[test]
fn what_is_protected_is_added_to_and_not_weakened() {
    let weakened = [
        ("cut", "sed -i '$d' tests/cut.rs", "a line is gone"),
        ("deleted", "rm tests/deleted.rs", "4 lines are gone"),
        ("moved", "mv tests/moved.rs tests/elsewhere.rs", "4 lines are gone"),
        ("program", "chmod +x tests/program.rs", "it is gone, or is no longer the plain file"),
        ("skipped", "sed -i 's/fn one/#[ignore]\\nfn one/' tests/skipped.rs", "a test is skipped (`#[ignore]`)"),
    ];
    let weakens = weakened.map(|(_, acts, _)| acts).join("; ");
    let adds = "printf '#[test]\\nfn three() {}\\n' >> tests/cut.rs; echo x > tests/new.rs; echo x >> README.md";
    for (acts, is_weaker) in [(&*weakens, true), (adds, false)] {
        let mut play = play(acts, "true");
        for (name, ..) in weakened {
            play.world.write(&format!("tests/{name}.rs"), "#[test]\nfn one() {}\n#[test]\nfn two() {}\n");
        }
        play.world.commit("Guard");
        protect(&play, "tests/**");
        let reported = reports(&mut play, &[]).remove(0);
        let reason = &reported.reason;
        assert_eq!(
            (reported.code.as_deref() == Some("protected"), reported.content.is_none()),
            (is_weaker, is_weaker),
            "{reason}"
        );
        for (name, _, why) in weakened.iter().filter(|_| is_weaker) {
            assert!(reason.contains(&format!("tests/{name}.rs: {why}")), "{name}: {reason}");
        }
    }
}

#[test]
fn a_judge_that_changed_what_it_judges_has_not_judged() {
    for (acts, named) in [
        (
            "git checkout -q -b other; git tag judged; git config core.hooksPath x",
            "git: HEAD, git: branch other, git: config, git: tag judged",
        ),
        (
            "echo x >> README.md; echo x > new; git add new; git commit -qm mine; rm -r src; ln -s /etc out",
            "README.md, new, out, src/main.rs, out",
        ),
    ] {
        let judged = reports(&mut play("echo x >> README.md", acts), &[]).remove(1);
        assert_eq!((judged.health, judged.code.as_deref()), (Health::Failed, Some("scope")), "{acts}");
        assert_eq!(judged.reason, format!("it judges, and changed what it judges: {named}"), "{acts}");
    }
}

#[test]
fn caches_and_scratch_of_a_judge_never_count() {
    let acts = "mkdir -p src/__pycache__ node_modules/x target/debug out; echo x | tee src/__pycache__/x node_modules/x/y target/debug/z out/o >/dev/null\n\
        echo x > \"$TMPDIR/x\"; mkdir -p \"${XDG_CACHE_HOME:-$TMPDIR}\"; echo x > \"${XDG_CACHE_HOME:-$TMPDIR}/y\"; git status >/dev/null";
    let mut play = play("echo x >> README.md", acts);
    play.world.write(".gitignore", "out/\n");
    play.world.commit("Ignore");
    let all = reports(&mut play, &[]);
    assert_eq!(all[1].health, Health::Ok, "{}", all[1].reason);
    assert_eq!(all[1].noticed, ["ignored: out/o"]);
}

/// The work of a unit with the scope `src/**`, under a scope policy.
fn scoped(policy: &str, trees: &str, acts: &str, modified: &[&str]) -> (Play, AttemptReported) {
    let protocol = PROTOCOL
        .replace("sees: full}", &format!("sees: full, scope: {policy}}}"))
        .replace("\"README.md\"", "\"README.md\", index.js")
        .replace("    - {id: make, dispatch: maker, on: {ok: look}}\n", &format!("    - {{id: parts, each: {{over: [part], flow: part, at_once: 1, trees: {trees}, makes: produced}}, on: {{all: look, some: hold, none: hold}}}}\n"))
        .replace("inconclusive: hold}", "inconclusive: hold, conflict: hold, out_of_scope: hold, refused: hold}");
    let part =
        "  part:\n    - {id: make, dispatch: maker, on: {ok: join}}\n    - {id: join, land: run, on: {landed: done}}\n";
    let named: String = modified.iter().map(|path| format!("- {path}\n")).collect();
    let count = format!("{} modified", modified.len());
    let report = REPORT.replace("0 modified", &count) + "\n## Files Modified\n" + &named;
    let mut play = naming(&report, acts, "true");
    play.world.write("src/cart.js", "export function sum(items) {\n  return items.length;\n}\n");
    play.world.write("index.js", "export { sum } from './src/cart';\n");
    play.world.commit("Cart");
    std::fs::write(play.world.path("alone.yaml"), protocol + part).unwrap();
    let reported = reports(&mut play, &["--scope", "part=src/**"]).remove(0);
    (play, reported)
}

/// What came of the landing of a unit with a tree of its own.
fn landed(policy: &str, acts: &str, modified: &[&str]) -> LandingEnded {
    let (play, reported) = scoped(policy, "own", acts, modified);
    assert_eq!(reported.health, Health::Ok, "{}", reported.reason);
    let mut ended = play.events().into_iter().filter_map(|event| match event.event {
        Event::LandingEnded(ended) => Some(ended),
        _ => None,
    });
    ended.next().unwrap()
}

/// The policy that holds for an attempt holds for a landing: what it lets through is named, and a person is asked about the rest.
#[test]
fn a_landing_is_held_to_the_scope_policy_of_the_role_that_wrote() {
    let total = "printf 'export function total(items) {\\n  return sum(items);\\n}\\n' >> src/cart.js";
    let export = format!("{total}; sed -i 's/sum/sum, total/' index.js");
    let more = format!("{export}; echo 'start();' >> index.js");
    let both = ["index.js", "src/cart.js"];
    for (policy, acts, lands) in [
        ("strict", &export, false),
        ("incidental", &export, true),
        ("incidental", &more, false),
        ("advisory", &more, true),
    ] {
        let ended = landed(policy, acts, &both);
        let by_policy: Vec<&str> = ended.by_policy.iter().map(|path| &**path).collect();
        if lands {
            assert_eq!((ended.outcome, by_policy), (LandOutcome::Landed, vec!["index.js"]), "{policy}");
        } else {
            assert_eq!((ended.outcome, ended.paths), (LandOutcome::OutOfScope, vec!["index.js".into()]), "{policy}");
            assert!(by_policy.is_empty(), "{policy}");
        }
    }
}

#[test]
fn a_scope_is_held_as_the_protocol_says() {
    let both = ["README.md", "src/main.rs"];
    for (policy, is_held) in [("strict", true), ("advisory", false)] {
        let (_, reported) = scoped(policy, "shared", "echo x >> README.md; echo >> src/main.rs", &both);
        assert_eq!(changed(&reported), both.map(|path| format!("Modified {path}")), "{policy}");
        assert_eq!((reported.health == Health::Failed, reported.content.is_none()), (is_held, is_held), "{policy}");
        if is_held {
            assert_eq!(reported.code.as_deref(), Some("scope"));
            assert_eq!(reported.reason, "it changed what it may not write: README.md");
        } else {
            assert_eq!(reported.noticed, ["scope: README.md"]);
        }
    }
}

/// What the change in scope cannot do without is let through by `incidental`, and named; the same file with more in it is not.
#[test]
fn what_is_incidental_is_measured_and_not_taken_on_a_word() {
    let total = "printf 'export function total(items) {\\n  return sum(items);\\n}\\n' >> src/cart.js";
    let export = "sed -i 's/sum/sum, total/' index.js";
    let both = ["index.js", "src/cart.js"];
    let (_, reported) = scoped("incidental", "shared", &format!("{total}; {export}"), &both);
    assert_eq!((reported.health, reported.content.is_some()), (Health::Ok, true), "{}", reported.reason);
    assert_eq!(
        (changed(&reported), reported.noticed),
        (both.map(|path| format!("Modified {path}")).to_vec(), vec!["scope: index.js".to_owned()])
    );
    let (_, reported) =
        scoped("incidental", "shared", &format!("{total}; {export}; echo 'start();' >> index.js"), &both);
    assert_eq!((reported.health, reported.code.as_deref()), (Health::Failed, Some("scope")));
    let held = "it changed files that are neither in its scope nor incidental: index.js (";
    assert!(reported.reason.starts_with(held) && reported.content.is_none(), "{}", reported.reason);
}

/// What tools fill is named by folders; a file that the tree has, or that is guarded, is no cache wherever it lies.
#[test]
fn a_judge_changes_nothing_of_the_tree_or_guarded_below_a_folder_for_caches() {
    let acts = "echo x >> target/kept; rm target/gone; mkdir target/guard; echo x | tee target/guard/new > target/new";
    let mut play = play("echo x >> README.md", acts);
    play.world.write("target/kept", "kept\n");
    play.world.write("target/gone", "kept\n");
    play.world.commit("Kept");
    protect(&play, "target/guard/**");
    let judged = reports(&mut play, &[]).remove(1);
    let named = "target/gone, target/guard/new, target/kept";
    assert_eq!(judged.reason, format!("it judges, and changed what it judges: {named}"));
}

/// However large a change is, it is looked through to its end, and so is each of its files.
#[test]
fn what_is_looked_for_in_a_change_is_found_at_the_end_of_a_large_one() {
    let large = "head -c 68000000 /dev/zero | tr '\\0' 'a' | fold -w 90 > src/large; echo >> src/large";
    let token = format!("ghp_{}", "a1B2".repeat(10));
    let reported = made(&format!("{large}; echo '{token}' | tee -a src/large > src/later"));
    assert_eq!(reported.code.as_deref(), Some("secret"), "{}", reported.reason);
    let named = ["in src/large", "in src/later"].map(|file| reported.reason.contains(file));
    assert_eq!(named, [true, true], "{}", reported.reason);
}

/// A zero makes git call a file binary and show no lines of it; attributes can say so of any file.
#[test]
fn a_secret_is_found_also_in_a_file_whose_lines_git_does_not_show() {
    let token = format!("ghp_{}", "a1B2".repeat(10));
    let binary = format!(
        "printf 'key={token}\\n\\000' > src/a; printf '\\000{token}' > src/b; printf '\\000AKIA%s\\000' IOSFODNN7EXAMPLQ > src/c\n\
         printf '%s\\\\n{token}' x > src/d; printf 'key = {token}\\n' | sed 's/./&\\x00/g' > src/e"
    );
    // What was there before is not added by a change beside it; a second one is.
    let hidden = format!(
        "mkdir src/hidden; echo '* -diff' > src/hidden/.gitattributes; echo '{token}' > src/hidden/x; printf x >> src/old\n\
         printf '\\n%s1' $(tr -d '\\0' < src/older) >> src/older"
    );
    for (acts, named) in [(binary, &["a", "b", "c", "d", "e"][..]), (hidden, &["hidden/x", "older"])] {
        let mut play = play(&acts, "true");
        play.world.write("src/old", format!("\0{token}\0"));
        play.world.write("src/older", format!("\0{token}\0"));
        play.world.commit("Old tokens");
        let reported = reports(&mut play, &[]).remove(0);
        assert_eq!(
            (reported.code.as_deref(), reported.content.is_none()),
            (Some("secret"), true),
            "{}",
            reported.reason
        );
        let mut found: Vec<&str> = reported.reason.split(", ").filter_map(|one| one.split(" in src/").nth(1)).collect();
        found.sort_unstable();
        assert_eq!(found, named, "{}", reported.reason);
    }
}

/// The ways by which a git folder, or a file in the tree, has a program started: each leaves a mark with its name.
fn vectors(marks: &str) -> String {
    let settings = [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.alternateRefsCommand",
        "core.askPass",
        "core.gitProxy",
        "credential.helper",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "interactive.diffFilter",
        "merge.evil.driver",
        "pager.diff",
        "remote.origin.uploadpack",
        "sequence.editor",
        "submodule.sub.update",
        "uploadpack.packObjectsHook",
    ];
    let hooks = [
        "applypatch-msg",
        "fsmonitor-watchman",
        "post-applypatch",
        "post-checkout",
        "post-commit",
        "post-index-change",
        "post-merge",
        "post-rewrite",
        "pre-auto-gc",
        "pre-commit",
        "pre-merge-commit",
        "pre-receive",
        "reference-transaction",
        "update",
    ];
    let mut acts = "echo x >> README.md\nmkdir -p .git/hooks .git/info\n".to_owned();
    for setting in settings {
        acts += &format!("command git config {setting} 'touch {marks}/{setting}; cat'\n");
    }
    for hook in hooks {
        acts += &format!(
            "printf '#!/bin/sh\\ntouch {marks}/hook-{hook}\\n' > .git/hooks/{hook}; chmod +x .git/hooks/{hook}\n"
        );
    }
    acts += "command git config commit.gpgSign true; command git config core.untrackedCache true\n\
        echo '* filter=evil diff=evil merge=evil' | tee .git/info/attributes > src/.gitattributes\n";
    // Configurations by other names.
    acts + &format!(
        "printf '[core]\\n\\tfsmonitor = touch {marks}/included\\n' > .git/more; command git config include.path more\n\
         command git config extensions.worktreeConfig true; printf '[core]\\n\\tfsmonitor = touch {marks}/worktree-config\\n' > .git/config.worktree\n"
    )
}

#[test]
fn the_engine_s_git_starts_nothing_that_a_worker_wrote() {
    let marks = std::env::temp_dir().join(format!("tollgate-marks-{}", std::process::id()));
    std::fs::create_dir_all(&marks).unwrap();
    let left = || {
        let all = std::fs::read_dir(&marks).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut all: Vec<String> = all.collect();
        all.sort();
        all
    };
    let report = REPORT.replace("0 created, 0 modified", "1 created, 1 modified");
    let report = report + "\n## Files Created\n- src/.gitattributes\n\n## Files Modified\n- README.md\n";
    let mut play = naming(&report, &vectors(&marks.display().to_string()), "true");
    // A sandbox would hide what is started below it.
    play.world.set("TOLLGATE_SANDBOX", "off");
    let all = reports(&mut play, &[]);
    let told: Vec<&str> = all.iter().map(|reported| reported.reason.as_str()).collect();
    assert_eq!(all.len(), 2, "{told:?}");
    assert_eq!(changed(&all[0]), ["Modified README.md", "Created src/.gitattributes"]);
    for words in [
        &["diff", "RUN"][..],
        &["show", "RUN"],
        &["verify", "RUN"],
        &["land", "RUN", "--as", "branch", "--to", "topic"],
    ] {
        play.tollgate(words).exits(0);
    }
    assert_eq!(left(), Vec::<String>::new());
    // They would have been: with this folder, git starts them.
    let tree = play.world.path(&format!("state/trees/{}/@run", play.run));
    let git = std::process::Command::new("git").args(["add", "-A"]).current_dir(&tree).output().unwrap();
    let started = left();
    assert!(started.iter().any(|mark| mark.starts_with("filter.evil")), "{started:?} {git:?}");
    std::fs::remove_dir_all(&marks).unwrap();
    std::fs::create_dir_all(&marks).unwrap();
    play.tollgate(&["gc"]).exits(0);
    assert_eq!(left(), Vec::<String>::new());
    std::fs::remove_dir_all(&marks).unwrap();
}
