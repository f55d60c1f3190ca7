//! What a worker did is found by measuring, whatever held it and whatever its report says.

use super::stage::{Stage, report, says};

fn acting(role: &str, acts: &str) -> Stage {
    Stage::new(role, &format!("{acts}\n{}", says(&report(role, "PASS"))))
}

const COMMIT: &str = "git -c user.name=a -c user.email=a@b commit -q";

/// What an implementer does, the parts of the guard that say so, and the words.
const VIOLATIONS: [(&str, &[&str], &[&str]); 3] = [
    (
        "echo x > tests/smoke.rs; echo ignored.txt > .git/info/exclude; echo x > ignored.txt; git branch other; \
         git config core.hooksPath /tmp; echo x > .git/hooks/post-commit; chmod +x README.md; echo x > '<x y>'; \
         rm src/main.rs; ln -s /etc/passwd src/main.rs",
        &["README.md", "ignored.txt", "./<x y>"],
        &[
            "changed forbidden surface: tests/smoke.rs",
            ".git/refs/heads/other",
            ".git/config",
            ".git/hooks/post-commit",
            "src/main.rs is a link that leads out",
        ],
    ),
    ("echo x > README.md; echo x > src/main.rs; git add -A", &["README.md"], &[".git/index: something was staged"]),
    (
        "echo x > tests/added.rs; echo x > src/main.rs; git add -A; COMMIT -m x; mv README.md src/new.rs",
        &["README.md"],
        &["changed forbidden surface: tests/added.rs", ".git/refs/heads/main"],
    ),
];

#[test]
fn a_violation_is_found_and_blocks_although_the_report_passes() {
    for (acts, surfaces, roles) in VIOLATIONS {
        let stage = acting("implementer", &acts.replace("COMMIT", COMMIT)).unheld();
        let found = stage.delegate();
        found.is("BLOCKED", Some("report_validation_failed"), 1);
        for (part, said) in [("guard.allowed_surface_violations", surfaces), ("guard.role_violations", roles)] {
            let list = found.list(part);
            let missing = said.iter().find(|said| !list.iter().any(|one| one.contains(**said)));
            assert_eq!(missing, None, "{acts}: {:#}", found.report);
        }
        found.says("cargo test: 3 passed").says("no sandbox kept the worker");
    }
}

#[test]
fn the_sandbox_keeps_a_worker_to_its_surfaces() {
    let acts = "echo x > src/main.rs || exit 9\necho x > src/new.rs || exit 9\n\
        for file in tests/smoke.rs tests/added.rs README.md added.md .git/config .git/hooks/x src/other.rs ../out; do (echo x > $file); done 2>/dev/null\n\
        rm -rf tests README.md 2>/dev/null; git add -A 2>/dev/null; true";
    let stage = acting("implementer", acts);
    let done = stage.delegate();
    // Beside a file that is to be made others can be made: they are found.
    done.is("BLOCKED", Some("report_validation_failed"), 1);
    assert_eq!(done.list("guard.allowed_surface_violations"), ["src/other.rs"]);
    assert_eq!(done.list("guard.role_violations"), [""; 0]);
    assert_eq!(done.list("changed_surfaces"), ["src/main.rs", "src/new.rs", "src/other.rs"]);
    assert!(!stage.world.path("out").exists());
    // Where all of them are there, nothing else can be made either.
    let stage = acting("implementer", acts).dossier("allowed_surfaces", serde_json::json!(["src/main.rs"]));
    stage.acts(&format!(
        "echo x > src/main.rs\n(echo x > src/other.rs) 2>/dev/null\n{}",
        says(&report("implementer", "PASS"))
    ));
    let done = stage.delegate();
    done.is("PASS", None, 0);
    assert_eq!(done.list("changed_surfaces"), ["src/main.rs"]);
    assert!(done.report["adapter"]["leash"]["landlock"].as_u64().unwrap() >= 3);
}

#[test]
fn what_lies_beside_a_file_that_is_to_be_made_stays_as_it_is() {
    let acts = "echo x > NEW.md || exit 9\n(echo x > README.md; echo x > src/main.rs; echo x > .git/HEAD; rm README.md) 2>/dev/null; true";
    let stage = acting("implementer", acts).dossier("allowed_surfaces", serde_json::json!(["NEW.md"]));
    let done = stage.delegate();
    done.is("PASS", None, 0);
    assert_eq!(done.list("changed_surfaces"), ["NEW.md"]);
    assert_eq!(std::fs::read_to_string(stage.work("README.md")).unwrap(), "# A project\n");
}

#[test]
fn a_forbidden_surface_inside_of_an_allowed_one_is_kept() {
    let stage = acting("implementer", "echo x > src/deep/a.rs; (echo x > src/auth/key.rs) 2>/dev/null; true")
        .dossier("allowed_surfaces", serde_json::json!(["src"]))
        .dossier("forbidden_surfaces", serde_json::json!(["src/auth"]));
    stage.world.write("src/auth/key.rs", "secret\n");
    stage.world.write("src/deep/a.rs", "a\n");
    stage.world.commit("More");
    let done = stage.delegate();
    done.is("PASS", None, 0);
    assert_eq!(done.list("changed_surfaces"), ["src/deep/a.rs"]);
    assert_eq!(std::fs::read_to_string(stage.work("src/auth/key.rs")).unwrap(), "secret\n");
}

/// A path has many spellings: each means the same to the sandbox, to what is measured and to whoever wrote it.
#[test]
fn a_surface_is_what_it_means_however_it_is_written() {
    let acts = "echo x > src/main.rs || exit 9";
    let (held, free) = (acting("implementer", acts), acting("implementer", acts).unheld());
    for spelled in ["src/./main.rs", ".//src/", "src/../src", "WORK/src", "`src/`", "src/{main,other}.rs,docs"] {
        let spelled = |stage: &Stage| spelled.replace("WORK/", &stage.work("").display().to_string());
        free.delegate_with(&["--forbidden-surfaces", &spelled(&free)])
            .is("BLOCKED", Some("report_validation_failed"), 1)
            .says("changed forbidden surface: src/main.rs");
        let done = held.delegate_with(&["--allowed-surfaces", &spelled(&held)]);
        done.is("PASS", None, 0);
        assert_eq!(done.list("changed_surfaces"), ["src/main.rs"], "{}", spelled(&held));
        for stage in [&held, &free] {
            stage.world.git(&["checkout", "-q", "."]);
        }
    }
    // What git keeps is nobody's to be allowed; to forbid it is no mistake.
    held.acts("echo x > .git/hooks/post-commit; touch started");
    for allowed in [".git", "./.git/hooks", "src/../.git/config", "vendor/.git"] {
        let done = held.delegate_with(&["--allowed-surfaces", &format!("src/main.rs,{allowed}")]);
        done.is("BLOCKED", Some("invalid_dossier"), 1).says("what git keeps");
    }
    // What is nowhere in the folder allows and forbids nothing: it is not what was meant.
    for list in ["--allowed-surfaces", "--forbidden-surfaces"] {
        for outside in ["/etc/passwd", "src/../../out", "/"] {
            held.delegate_with(&[list, outside]).is("BLOCKED", Some("invalid_dossier"), 1);
        }
    }
    assert!(!held.work("started").exists());
    held.acts(&says(&report("implementer", "PASS")));
    held.delegate_with(&["--forbidden-surfaces", ".git"]).is("PASS", None, 0);
}

#[test]
fn a_verifier_that_changes_something_is_blocked() {
    for file in ["src/main.rs", "README.md"] {
        let found = acting("verifier", &format!("echo x > {file}")).unheld().delegate();
        found.is("BLOCKED", Some("report_validation_failed"), 1).says(&format!("verifier changed {file}"));
        assert_eq!(found.list("changed_surfaces"), [""; 0]);
    }
    // A second edit of a file that was changed before is one too.
    let stage = acting("verifier", "echo again >> src/main.rs").unheld();
    stage.world.write("src/main.rs", "changed by hand\n");
    stage.delegate().is("BLOCKED", Some("report_validation_failed"), 1).says("verifier changed src/main.rs");
    // Looking is none, also with a git that refreshes its index, and a file that is written as it was.
    let stage = acting(
        "verifier",
        "touch README.md; git status >/dev/null; cp src/main.rs /tmp/x.$$; cat /tmp/x.$$ > src/main.rs; rm /tmp/x.$$",
    )
    .unheld();
    stage.delegate().is("PASS", None, 0).says("does not judge the rows AC-1");
}

/// What the dossier allows is for those who write: a verifier is kept from that, too, and what it was denied is said.
#[test]
fn a_verifier_cannot_write_the_allowed_surfaces() {
    let acts = "for file in src/main.rs src/new.rs src README.md; do echo x > $file; rm -rf $file; done; echo x > \"$TMPDIR/x\" || exit 9";
    let stage =
        acting("verifier", acts).dossier("allowed_surfaces", serde_json::json!(["src/main.rs", "src/new.rs", "src"]));
    let done = stage.delegate();
    done.is("PASS", None, 0);
    assert_eq!((done.list("guard.role_violations"), done.list("changed_surfaces")), (vec![], vec![]));
    let warnings = done.list("guard.warnings");
    assert!(warnings.iter().any(|said| said.starts_with("denied: ") && said.contains("src/main.rs")), "{warnings:?}");
    assert!(std::fs::read_to_string(stage.work("src/main.rs")).unwrap().contains("fn main"));
    let held = acting("verifier", "chmod 777 src/main.rs || true").delegate();
    held.is("PASS", None, 0);
    // Where nothing holds it is found.
    let mut stage = acting("verifier", "chmod 777 src/main.rs");
    stage.world.set("TOLLGATE_SANDBOX", "off");
    let found = stage.delegate();
    found.is("BLOCKED", Some("report_validation_failed"), 1).says("verifier changed src/main.rs");
    // The same, as somebody who may.
    let stage = acting("implementer", "echo x > src/main.rs || exit 9");
    stage.delegate().is("PASS", None, 0);
}

/// A report names a file that changed, and not its mode. What had the bit before and nobody wrote is the person's.
#[test]
fn a_set_user_id_bit_that_a_worker_set_does_not_stay() {
    use std::os::unix::fs::PermissionsExt;
    let stage =
        acting("implementer", "echo x > src/new.rs; chmod 6755 src/main.rs src/new.rs; test -u src/new.rs || exit 9");
    let own = stage.work("tests/smoke.rs");
    std::fs::set_permissions(&own, PermissionsExt::from_mode(0o4644)).unwrap();
    let done = stage.delegate();
    done.is("PASS", None, 0);
    assert_eq!(done.list("changed_surfaces"), ["src/main.rs", "src/new.rs"]);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    let found = [mode(&stage.work("src/main.rs")), mode(&stage.work("src/new.rs")), mode(&own)];
    assert_eq!(found, [0o755, 0o755, 0o4644]);
}

/// What the worker does with a git folder behind a surface, however the way there is called.
#[test]
fn a_surface_that_leads_to_what_git_keeps_is_refused() {
    let mut stage = acting("implementer", "find .git/objects -type f -delete; echo x > .git/hooks/post-commit");
    for (link, target) in [("src/c", "../.git/config"), ("src/d", "../.git"), ("src/e", "d")] {
        std::os::unix::fs::symlink(target, stage.work(link)).unwrap();
    }
    stage.world.commit("Links");
    for allowed in ["src/c", "src/d", "src/d/hooks", "src/d/hooks/new", "src/d/*", "src/e/objects"] {
        stage.allows(allowed).delegate().is("BLOCKED", Some("invalid_dossier"), 1).says("leads to what git keeps");
        assert!(!stage.work(".git/hooks/post-commit").exists(), "{allowed}");
    }
    stage.world.git(&["fsck"]);
    // Nor is the folder in which git keeps the repository, whatever it is called.
    for (moved, surface, refused) in
        [("store/r", "store/r/hooks", true), ("gitreal", "gitreal", true), ("store/r", "store", false)]
    {
        let acts = format!("(echo x >> {moved}/config; echo x > {moved}/hooks/x; rm -rf {moved}) 2>/dev/null; true");
        let stage = acting("implementer", &acts).dossier("allowed_surfaces", serde_json::json!([surface]));
        let (git, store) = (stage.work(".git"), stage.work(moved));
        std::fs::create_dir_all(store.parent().unwrap()).unwrap();
        std::fs::rename(&git, &store).unwrap();
        match moved {
            "gitreal" => std::os::unix::fs::symlink(moved, &git).unwrap(),
            _ => std::fs::write(&git, format!("gitdir: {moved}\n")).unwrap(),
        }
        std::fs::write(store.join("info/exclude"), "store\ngitreal\n").unwrap();
        let before = std::fs::read_to_string(store.join("config")).unwrap();
        let done = stage.delegate();
        match refused {
            true => done.is("BLOCKED", Some("invalid_dossier"), 1).says("leads to what git keeps"),
            false => done.is("PASS", None, 0),
        };
        assert_eq!(std::fs::read_to_string(store.join("config")).unwrap(), before);
        assert!(!store.join("hooks/x").exists());
        // Where nothing holds the worker, it is measured.
        if !refused {
            stage.unheld().delegate().is("BLOCKED", Some("report_validation_failed"), 1).says("what git keeps");
        }
    }
}

#[test]
fn a_repository_in_an_allowed_surface_stays_as_it_is() {
    let acts =
        "find sub/.git/objects -type f -delete 2>/dev/null; (echo x > sub/.git/hooks/x) 2>/dev/null; echo x > sub/a";
    let stage = |acts| {
        let stage = acting("implementer", acts).dossier("allowed_surfaces", serde_json::json!(["sub"]));
        std::fs::write(stage.work(".git/info/exclude"), "sub\n").unwrap();
        stage.world.write("sub/a", "a\n");
        for words in
            [&["init", "-q"][..], &["add", "-A"], &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]]
        {
            stage.world.git(&[&["-C", "sub"], words].concat());
        }
        stage
    };
    let held = stage(acts);
    let done = held.delegate();
    done.is("PASS", None, 0);
    assert_eq!(done.list("changed_surfaces"), ["sub/a"]);
    held.world.git(&["-C", "sub", "fsck"]);
    let lost = stage("find sub/.git/objects -type f -delete; echo x > sub/a").unheld().delegate();
    lost.is("BLOCKED", Some("report_validation_failed"), 1).says("sub/.git/objects/");
    // More of them is no harm, and nobody's change.
    stage("echo y | git -C sub hash-object -w --stdin >/dev/null; echo x > sub/a")
        .unheld()
        .delegate()
        .is("PASS", None, 0);
}

#[test]
fn what_no_commit_can_hold_is_found_in_a_surface() {
    for (acts, said) in [
        ("ln -s ../.git src/d", "src/d is a link that leads out of the folder, or to what git keeps"),
        ("mkfifo src/d", "src/d is neither a file nor a folder nor a link"),
    ] {
        let stage = acting("implementer", acts).dossier("allowed_surfaces", serde_json::json!(["src"]));
        stage.delegate().is("BLOCKED", Some("report_validation_failed"), 1).says(said);
    }
}

const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

#[test]
fn a_token_in_what_it_wrote_blocks_whatever_the_report_says() {
    let leak = format!("echo 'let key = \"{TOKEN}\";' >> src/main.rs");
    let found = acting("implementer", &leak).delegate();
    found.is("BLOCKED", Some("report_validation_failed"), 1);
    assert_eq!(found.list("guard.role_violations"), ["src/main.rs got what looks like a secret: GitHub token"]);
    assert!(!found.report.to_string().contains(TOKEN), "{:#}", found.report);
    // In the name of a file.
    let found = acting("implementer", &format!("echo x > src/{TOKEN}")).delegate();
    found.is("BLOCKED", Some("report_validation_failed"), 1).says("in its name");
    assert!(!found.report.to_string().contains(TOKEN), "{:#}", found.report);
    // A key over several lines, in a file that is new, and in one that git ignores.
    let key = "printf '%s\\n' '-----BEGIN PRIVATE KEY-----' MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj MSTYyq > src/new.rs";
    acting("implementer", key)
        .delegate()
        .is("BLOCKED", Some("report_validation_failed"), 1)
        .says("src/new.rs got what looks");
    // What was there before is nobody's change, also where its file is another; one more is.
    let stage = acting("implementer", "echo '// more' >> src/main.rs");
    stage.world.write("src/main.rs", format!("{TOKEN}\nfn main() {{}}\n"));
    stage.world.commit("An old one");
    stage.delegate().is("PASS", None, 0);
    let stage = acting("implementer", &leak);
    stage.world.write("src/main.rs", format!("{TOKEN}\nfn main() {{}}\n"));
    stage.world.commit("An old one");
    stage.delegate().is("BLOCKED", Some("report_validation_failed"), 1).says("got what looks like a secret");
    // Where a repository keeps examples of them, its configuration says so; patterns count from its root.
    for (examples, folder, code) in [("src/**", ".", 0), ("main.rs", ".", 1), ("src/**", "src", 0)] {
        let place = if folder == "." { "src/main.rs" } else { "main.rs" };
        let stage = acting("implementer", &leak.replace("src/main.rs", place))
            .dossier("allowed_surfaces", serde_json::json!([place]))
            .with(&["--cwd", folder]);
        let config = stage.world.path("home/.config/tollgate");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("config.toml"), format!("example_secrets = [\"{examples}\"]\n")).unwrap();
        assert_eq!(stage.delegate().code, code, "{examples} {folder}");
    }
}

#[test]
fn a_folder_that_is_no_repository_is_measured_the_same() {
    let pass = says(&report("implementer", "PASS"));
    let stage = Stage::without_repository("implementer", &format!("echo x > src/new.rs\n{pass}")).unheld();
    let done = stage.delegate();
    done.is("PASS", None, 0);
    assert_eq!(done.list("changed_surfaces"), ["src/new.rs"]);
    stage.acts(&format!("echo x > anywhere\n{pass}"));
    stage.delegate().is("BLOCKED", Some("report_validation_failed"), 1).says("anywhere");
    let stage =
        Stage::without_repository("verifier", &format!("echo x > anywhere\n{}", says(&report("verifier", "PASS"))));
    stage.delegate().is("PASS", None, 0);
    assert!(!stage.work("anywhere").exists(), "the sandbox does not let it");
}

#[test]
fn a_writer_starts_from_a_clean_checkout() {
    let stage = acting("implementer", "echo '// more' >> src/main.rs");
    stage.world.write("src/main.rs", "fn main() { /* by hand */ }\n");
    stage.world.write("notes.txt", "mine\n");
    let dirty = stage.delegate();
    dirty.is("BLOCKED", Some("dirty_workspace"), 1).says("src/main.rs").says("notes.txt");
    assert_eq!(std::fs::read_to_string(stage.work("src/main.rs")).unwrap(), "fn main() { /* by hand */ }\n");
    let stage = stage.with(&["--allow-dirty"]);
    let done = stage.delegate();
    done.is("PASS", None, 0).says("not committed before");
    assert_eq!(done.list("changed_surfaces"), ["src/main.rs"], "the notes are no part of it");
    // Who judges may be shown work that is not committed.
    let verifier = acting("verifier", "");
    verifier.world.write("src/main.rs", "fn main() { /* by hand */ }\n");
    verifier.delegate().is("PASS", None, 0);
    // The dossier itself may lie in the checkout.
    let stage = acting("implementer", "");
    std::fs::write(stage.work("dossier.json"), super::stage::dossier("implementer").to_string()).unwrap();
    let words = ["--agent", "command", "--adapter-command", "[\"agent\"]", "--role", "implementer", "--unit", "U-1"];
    stage.type_in(&[&words[..], &["--dossier", "dossier.json"]].concat()).is("PASS", None, 0);
}

#[test]
fn the_work_is_done_in_the_folder_that_is_named() {
    let stage = acting("implementer", "[ \"$(pwd)\" = \"$WANTED\" ] || true; echo x > main.rs")
        .dossier("allowed_surfaces", serde_json::json!(["main.rs"]))
        .with(&["--cwd", "src", "--forbidden-surfaces", "other.rs"]);
    let done = stage.delegate();
    done.is("PASS", None, 0);
    assert_eq!(done.list("changed_surfaces"), ["main.rs"]);
    assert_eq!(std::fs::read_to_string(stage.work("src/main.rs")).unwrap(), "x\n");
    // The repository around it is looked at too.
    let stage = acting("implementer", "git branch other").dossier("allowed_surfaces", serde_json::json!(["main.rs"]));
    let stage = stage.with(&["--cwd", "src"]).unheld();
    stage.delegate().is("BLOCKED", Some("report_validation_failed"), 1).says(".git/refs/heads/other");
}

#[test]
fn a_linked_work_tree_is_measured_with_the_git_folder_it_shares() {
    let acts = "git status >/dev/null || exit 9; echo x > src/main.rs";
    let stage = acting("implementer", acts).with(&["--cwd", "../linked"]);
    stage.world.git(&["worktree", "add", "-q", "../linked"]);
    let done = stage.delegate();
    done.is("PASS", None, 0);
    assert_eq!(done.list("changed_surfaces"), ["src/main.rs"]);
    let stage =
        acting("implementer", "git branch other; git stash -q 2>/dev/null; git tag v1").with(&["--cwd", "../linked"]);
    stage.world.git(&["worktree", "add", "-q", "../linked"]);
    let found = stage.unheld().delegate();
    found.is("BLOCKED", Some("report_validation_failed"), 1);
    found.says(".git/common/refs/heads/other").says(".git/common/refs/tags/v1");
}
