//! `scope check` and git: renames, deletes, modes, links, submodules, odd names, the checkout, and what a repository configures.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::scope::{BODY, CHECK, TASK, TOTAL, check, classes, path, world};
use crate::world::World;

#[test]
fn the_checkout_counts_with_what_is_staged_unstaged_and_untracked() {
    let world = world();
    world.write(".gitignore", "*.log\n");
    world.commit("Ignore logs");
    world.git(&["branch", "-f", "main"]);
    world.write("src/cart.js", TOTAL);
    world.write("src/auth.js", "staged();\n");
    world.git(&["add", "src/auth.js"]);
    std::fs::remove_file(world.path("work/README.md")).unwrap();
    world.write("new/deep/file.js", "x();\n");
    world.write("noise.log", "x\n");
    let index = std::fs::read(world.path("work/.git/index")).unwrap();
    let (found, exit) = check(&world, "--worktree");
    assert_eq!((exit, &found["head"]), (1, &Value::Null));
    let expected =
        ["primary src/cart.js", "out_of_scope README.md", "out_of_scope new/deep/file.js", "out_of_scope src/auth.js"];
    assert_eq!(classes(&found), expected);
    assert_eq!(
        (&path(&found, "README.md")["change"], &path(&found, "new/deep/file.js")["change"]),
        (&"deleted".into(), &"added".into())
    );
    assert_eq!(std::fs::read(world.path("work/.git/index")).unwrap(), index);
    assert_eq!(std::fs::read_dir(world.path("state/scratch")).unwrap().count(), 0);
    // What is not committed is no part of the branch.
    let (found, exit) = check(&world, "");
    assert_eq!((exit, classes(&found)), (0, vec![]));
}

#[test]
fn nothing_hides_from_the_check_behind_the_index() {
    let world = world();
    let login = "login();\n";
    world.write("src/auth.js", "staged();\n");
    world.git(&["add", "src/auth.js"]);
    world.write("src/auth.js", login);
    let (found, exit) = check(&world, "--worktree");
    assert!(exit == 3 && found.to_string().contains("TG0519"), "{found}");
    assert!(found.to_string().contains("src/auth.js is staged otherwise than the checkout has it"), "{found}");
    world.git(&["add", "src/auth.js"]);
    for [hide, show] in [["--assume-unchanged", "--no-assume-unchanged"], ["--skip-worktree", "--no-skip-worktree"]] {
        world.write("src/auth.js", "changed();\n");
        world.git(&["update-index", hide, "src/auth.js"]);
        let (found, exit) = check(&world, "--worktree");
        assert_eq!((exit, classes(&found)), (1, vec!["out_of_scope src/auth.js".to_owned()]), "{hide}");
        world.git(&["update-index", show, "src/auth.js"]);
        world.write("src/auth.js", login);
    }
    // What a sparse checkout leaves out is not gone.
    world.git(&["update-index", "--skip-worktree", "src/auth.js"]);
    std::fs::remove_file(world.path("work/src/auth.js")).unwrap();
    let (found, exit) = check(&world, "--worktree");
    assert_eq!((exit, classes(&found)), (0, vec![]));
}

/// A branch with the total, and a base that went on with a file after it left; the base is checked out.
fn others_went_on(file: &str) -> World {
    let world = world();
    world.write("src/cart.js", TOTAL);
    world.commit("Total");
    world.git(&["checkout", "-q", "main"]);
    world.write(file, "theirs();\n");
    world.commit("Others went on");
    world
}

#[test]
fn the_change_begins_where_the_branch_left_the_base() {
    let world = others_went_on("src/other.js");
    let (found, exit) = check(&world, "--head work");
    assert_eq!((exit, classes(&found)), (0, vec!["primary src/cart.js".to_owned()]));
    let left = world.git(&["merge-base", "main", "work"]);
    assert_eq!(found["base"], left.trim());
}

#[test]
fn renames_deletes_modes_links_and_binary_files_have_a_class() {
    let world = world();
    world.write("tools/run.sh", "echo run\n".repeat(9));
    world.write("lib/old.js", "one();\ntwo();\nthree();\nfour();\n");
    world.write("lib/gone.js", "gone();\n");
    world.write("logo.png", b"\x89PNG\0\0one");
    world.write("plain", "a file\n");
    std::os::unix::fs::symlink("lib/old.js", world.path("work/link")).unwrap();
    world.commit("More");
    world.git(&["branch", "-f", "main"]);
    world.write("src/cart.js", TOTAL);
    world.git(&["mv", "lib/old.js", "lib/new.js"]);
    std::fs::remove_file(world.path("work/lib/gone.js")).unwrap();
    std::fs::set_permissions(world.path("work/tools/run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    world.write("logo.png", b"\x89PNG\0\0two");
    world.write("fresh.png", b"\0new");
    for (target, link) in [("lib/new.js", "link"), ("README.md", "plain"), ("/etc/passwd", "outside")] {
        let _ = std::fs::remove_file(world.path("work").join(link));
        std::os::unix::fs::symlink(target, world.path("work").join(link)).unwrap();
    }
    for more in ["--worktree", "--head work"] {
        let (found, exit) = check(&world, more);
        assert_eq!(exit, 1, "{more}");
        let said = |name: &str| {
            (path(&found, name)["change"].as_str().unwrap(), path(&found, name)["class"].as_str().unwrap())
        };
        assert_eq!(said("src/cart.js"), ("modified", "primary"));
        assert_eq!(said("lib/old.js"), ("moved_away", "incidental?"));
        assert_eq!(said("lib/new.js"), ("moved_here", "incidental?"));
        assert_eq!(path(&found, "lib/new.js")["other"], "lib/old.js");
        assert_eq!(said("lib/gone.js"), ("deleted", "out_of_scope"));
        assert_eq!(said("tools/run.sh"), ("mode", "incidental?"));
        assert_eq!(said("logo.png"), ("modified", "incidental?"));
        assert_eq!(path(&found, "logo.png")["added"], Value::Null);
        assert_eq!(said("fresh.png"), ("added", "out_of_scope"));
        assert_eq!(said("link"), ("modified", "incidental?"));
        assert_eq!(said("plain"), ("replaced", "out_of_scope"));
        assert_eq!(said("outside"), ("added", "out_of_scope"));
        world.git(&["add", "-A"]);
        world.git(&["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "All of it"]);
    }
}

#[test]
fn submodules_count_by_the_commit_they_stand_at() {
    let world = world();
    let inner = |line: &str| {
        world.git(&[
            "-C",
            "vendor/lib",
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            line,
        ]);
    };
    std::fs::create_dir_all(world.path("work/vendor/lib")).unwrap();
    world.git(&["init", "-q", "vendor/lib"]);
    inner("one");
    world.commit("With a submodule");
    world.git(&["branch", "-f", "main"]);
    assert_eq!(check(&world, "--worktree").1, 0);
    inner("two");
    world.write("src/cart.js", TOTAL);
    let (found, exit) = check(&world, "--worktree");
    assert_eq!(
        (exit, classes(&found)),
        (4, vec!["primary src/cart.js".to_owned(), "incidental? vendor/lib".to_owned()])
    );
    world.commit("Moved");
    assert_eq!(check(&world, "").0["paths"], found["paths"]);
    // One that is new, one that is gone, and one that nobody can name.
    std::fs::create_dir_all(world.path("work/vendor/new")).unwrap();
    world.git(&["init", "-q", "vendor/new"]);
    let (refusal, exit) = check(&world, "--worktree");
    assert_eq!((&refusal["error"]["code"], exit), (&"TG0506".into(), 3));
    world.git(&[
        "-C",
        "vendor/new",
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
    ]);
    std::fs::remove_dir_all(world.path("work/vendor/lib")).unwrap();
    let (found, _) = check(&world, "--worktree");
    assert_eq!(classes(&found)[1..], ["out_of_scope vendor/lib", "out_of_scope vendor/new"]);
}

#[test]
fn odd_names_are_shown_and_not_obeyed() {
    let mut world = world();
    let odd: [&[u8]; 6] =
        [b"two words.js", b"say \"hi\".js", b"line\nbreak.js", b"caf\xe9.js", b"esc\x1b[31m.js", b"back\\slash.js"];
    for name in odd {
        std::fs::write(world.path("work/src").join(std::ffi::OsStr::from_bytes(name)), "x();\n").unwrap();
    }
    let listed = "- src/cart.js\n- `src/two words.js`\n- `src/say \"hi\".js`\n- `\"src/line\\012break.js\"`\n- \"src/caf\\351.js\"\n";
    std::fs::write(world.path("task.md"), TASK.replace("- src/cart.js\n", listed)).unwrap();
    let (found, exit) = check(&world, "--worktree");
    assert_eq!(exit, 1);
    assert_eq!(
        classes(&found),
        [
            "primary \"src/caf\\351.js\"",
            "primary \"src/line\\012break.js\"",
            "primary src/say \"hi\".js",
            "primary src/two words.js",
            "out_of_scope \"src/back\\\\slash.js\"",
            "out_of_scope \"src/esc\\033[31m.js\"",
        ]
    );
    world.type_in(&format!("{CHECK} --worktree"));
    assert!(!world.transcript.contains('\u{1b}'));
}

#[test]
fn line_ends_of_another_system_are_layout() {
    let world = world();
    world.write("src/cart.js", TOTAL);
    world.write("src/page.js", "import { sum } from './cart';\r\n\r\nshow(sum(items));\r\n");
    std::fs::write(world.path("task.md"), TASK.replace('\n', "\r\n")).unwrap();
    let (found, exit) = check(&world, "--worktree");
    assert_eq!((exit, &path(&found, "src/page.js")["class"]), (4, &"incidental?".into()));
    assert_eq!(path(&found, "src/page.js")["criteria"]["unaltered"]["met"], true);
    assert_eq!(path(&found, "src/page.js")["criteria"]["required"]["met"], Value::Null);
}

#[test]
fn nothing_that_the_repository_configures_has_a_say() {
    let world = world();
    world.write(".gitattributes", "*.js diff=evil -diff filter=evil\n*.js diff=evil\n");
    world.commit("Attributes");
    world.git(&["branch", "-f", "main"]);
    for (name, value) in [
        ("diff.evil.textconv", "touch ../ran; cat"),
        ("diff.evil.command", "touch ../ran; true"),
        ("diff.external", "touch ../ran; true"),
        ("diff.noprefix", "true"),
        ("diff.renames", "false"),
        ("diff.ignoreSubmodules", "all"),
        ("core.quotePath", "true"),
        ("color.ui", "always"),
    ] {
        world.git(&["config", name, value]);
    }
    world.write("src/cart.js", TOTAL);
    world.write("src/index.js", "export { sum, total } from './cart';\n");
    world.git(&["mv", "README.md", "READ.md"]);
    for more in ["--worktree", ""] {
        let (found, exit) = check(&world, more);
        assert_eq!(exit, 4);
        assert_eq!(
            classes(&found),
            ["primary src/cart.js", "incidental src/index.js", "incidental? READ.md", "incidental? README.md"]
        );
        world.git(&["add", "-A"]);
        world.git(&["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "All"]);
    }
    assert!(!world.path("ran").exists());
}

#[test]
fn a_revision_that_is_not_there_is_refused() {
    let mut world = world();
    world.type_in("scope check --task ../task.md --base nowhere");
    world.type_in("scope check --task ../task.md --base --output=x --worktree");
    world.type_in(&format!("{CHECK} --head main:src/cart.js"));
    world.git(&["checkout", "-q", "--orphan", "alone"]);
    world.commit("Unrelated");
    world.type_in(CHECK);
    world.type_in(&format!("{CHECK} --worktree --head work"));
    world.git(&["checkout", "-q", "--orphan", "unborn"]);
    world.type_in(&format!("{CHECK} --worktree"));
    insta::assert_snapshot!(world.transcript);
    assert!(!world.path("work/x").exists());
}

#[test]
fn what_cannot_be_measured_is_refused_without_a_word_of_runs() {
    let world = world();
    world.git(&["init", "-q", "vendor/x"]);
    let (found, exit) = check(&world, "--worktree");
    assert_eq!((exit, &found["error"]["code"]), (3, &"TG0506".into()), "{found}");
    assert!(!found.to_string().contains("RUN"), "{found}");
}

#[test]
fn a_merge_that_is_not_settled_is_refused() {
    let world = others_went_on("src/cart.js");
    let merge = world.git_output(&["-c", "user.name=A", "-c", "user.email=a@b", "merge", "work"]);
    assert!(!merge.status.success());
    let (found, exit) = check(&world, "--worktree");
    assert_eq!((&found["error"]["code"], exit), (&"TG0519".into(), 3));
}

#[test]
fn hundreds_of_files_take_few_calls_of_git() {
    let world = world();
    let count = 300;
    for number in 0..count {
        world.write(&format!("many/f{number}.js"), format!("f({number});\n"));
    }
    world.commit("Many");
    world.git(&["branch", "-f", "main"]);
    for number in 0..count {
        world.write(&format!("many/f{number}.js"), format!("f({number});\ng({number});\n"));
    }
    world.write("src/cart.js", TOTAL);
    // Every call of git is counted.
    let real =
        String::from_utf8(std::process::Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout)
            .unwrap();
    world.agent(
        "git",
        &format!("#!/bin/sh\necho call >> {}\nexec {} \"$@\"\n", world.path("calls").display(), real.trim()),
    );
    let (found, exit) = check(&world, "--worktree");
    assert_eq!((exit, found["paths"].as_array().unwrap().len()), (4, count + 1));
    let calls = std::fs::read_to_string(world.path("calls")).unwrap().lines().count();
    assert!(calls < 40, "{calls}");
}

#[test]
fn what_the_check_itself_is_given_does_not_count_until_git_knows_it() {
    let mut world = world();
    world.write("src/cart.js", TOTAL);
    world.write("task.md", TASK);
    world.write("notes/body.md", BODY);
    let check = "scope check --task task.md --base main --worktree --pr-body notes/body.md";
    let (found, exit) = world.json(&format!("{check} --json"));
    assert_eq!((exit, classes(&found[0])), (0, vec!["primary src/cart.js".to_owned()]));
    assert_eq!(found[0]["left_out"], serde_json::json!(["task.md", "notes/body.md"]));
    world.type_in(check);
    world.git(&["add", "task.md"]);
    let (found, exit) = world.json(&format!("{check} --json"));
    assert_eq!(
        (exit, classes(&found[0])),
        (1, vec!["primary src/cart.js".to_owned(), "out_of_scope task.md".to_owned()])
    );
    world.set("TOLLGATE_STATE", "state-here").type_in(check);
    insta::assert_snapshot!(world.transcript);
}
