//! `scope check`, on real repositories.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::world::World;

const TASK: &str = "## Objective

The cart shows a total.

## Spec Reference

- Spec: `docs/specs/cart.md`
- Section(s): Totals

## Scope

### In Scope

Files/modules this task may touch:

- src/cart.js

### Out of Scope

Files/modules explicitly excluded:

- src/auth.js (owned by #12)

## Acceptance Criteria

- [ ] The page shows the total.

## Context

Prices are in cents.

## Constraints

No new dependency.
";
const CART: &str = "export function sum(items) {\n  return items.length;\n}\n";
const TOTAL: &str = "export function sum(items) {\n  return items.length;\n}\n\nexport function total(items) {\n  return sum(items);\n}\n";

/// A repository with a base, on a branch of its own; the task lies outside of it.
fn world() -> World {
    let world = World::new();
    world.git(&["init", "-q", "-b", "main"]);
    world.write("src/cart.js", CART);
    world.write("src/index.js", "export { sum } from './cart';\n");
    world.write("src/page.js", "import { sum } from './cart';\n\nshow(sum(items));\n");
    world.write("src/auth.js", "login();\n");
    world.write("README.md", "# Cart\n");
    world.commit("Start");
    world.git(&["checkout", "-q", "-b", "work"]);
    std::fs::write(world.path("task.md"), TASK).unwrap();
    world
}

const CHECK: &str = "scope check --task ../task.md --base main";

/// The check as data, and its exit code.
fn check(world: &World, more: &str) -> (Value, i32) {
    let (mut documents, exit) = world.json(&format!("{CHECK} --json {more}"));
    assert_eq!(documents.len(), 1);
    (documents.remove(0), exit)
}

/// `class path`, in the order of the check.
fn classes(found: &Value) -> Vec<String> {
    let paths = found["paths"].as_array().unwrap_or_else(|| panic!("{found}"));
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    paths.iter().map(|path| format!("{} {}", word(&path["class"]), word(&path["path"]))).collect()
}

fn path<'v>(found: &'v Value, name: &str) -> &'v Value {
    let paths = found["paths"].as_array().unwrap();
    paths.iter().find(|path| path["path"] == name).unwrap_or_else(|| panic!("no {name} in {found}"))
}

#[test]
fn a_change_in_scope_passes_with_its_test_and_what_follows_from_it() {
    let mut world = world();
    world.write("src/cart.js", TOTAL);
    world.write("src/cart.test.js", "it('adds', () => {});\n");
    world.write("src/index.js", "export { sum, total } from './cart';\n");
    world.commit("Total");
    let (found, exit) = check(&world, "");
    assert_eq!(exit, 0);
    assert_eq!(classes(&found), ["primary src/cart.js", "co_located_test src/cart.test.js", "incidental src/index.js"]);
    assert_eq!(
        (&found["result"], &found["role"], &found["drafts"]),
        (&"in_scope".into(), &"implementor".into(), &serde_json::json!([]))
    );
    for name in ["minimal", "required", "unaltered"] {
        assert_eq!(path(&found, "src/index.js")["criteria"][name]["met"], true, "{name}");
    }
    world.type_in(CHECK);
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn what_a_person_must_judge_is_shown_with_what_was_measured() {
    let mut world = world();
    world.write("src/cart.js", CART.replace("(items) {", "(items, tax) {"));
    world.write("src/page.js", "import { sum } from './cart';\n\nshow(sum(items, rate(7)));\n");
    world.commit("Tax");
    let (found, exit) = check(&world, "");
    assert_eq!((exit, &found["result"]), (4, &"judge".into()));
    let page = path(&found, "src/page.js");
    assert_eq!((&page["class"], page["judge"].as_array().unwrap().len()), (&"incidental?".into(), 2));
    assert_eq!((&page["added"], &page["removed"]), (&1.into(), &1.into()));
    world.type_in(CHECK);
    world.type_in(&format!("{CHECK} --draft blocker"));
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn an_import_is_judged_by_where_it_leads_and_what_it_binds() {
    for (page, code) in [
        ("import { sum, total } from './cart';\n\nshow(sum(items));\n", 0),
        ("import { total as sum } from './cart';\n\nshow(sum(items));\n", 4),
        ("import { total } from 'evil-pkg';\nimport { sum } from './cart';\n\nshow(sum(items));\n", 4),
        ("import total, * as y from 'http://evil/x.js';\nimport { sum } from './cart';\n\nshow(sum(items));\n", 1),
    ] {
        let world = world();
        world.write("src/cart.js", TOTAL);
        world.write("src/page.js", page);
        world.commit("Import");
        let (found, exit) = check(&world, "");
        assert_eq!(exit, code, "{page}: {found}");
    }
}

/// What an import binds may be used anywhere in the file.
#[test]
fn a_name_that_is_used_far_from_its_import_is_seen() {
    let far = format!("import {{ sum }} from './cart';\n{}show(sum(items));\n", "step();\n".repeat(40));
    let world = world();
    world.git(&["checkout", "-q", "main"]);
    world.write("src/page.js", &far);
    world.commit("A long page");
    world.git(&["checkout", "-q", "-B", "work"]);
    world.write("src/cart.js", TOTAL);
    world.write("src/page.js", far.replace("{ sum }", "{ total as sum }"));
    world.commit("Another sum");
    let (found, exit) = check(&world, "");
    assert_eq!(exit, 4, "{found}");
}

#[test]
fn out_of_scope_is_refused_and_says_what_to_post() {
    let mut world = world();
    world.write("src/cart.js", TOTAL);
    world.write("src/auth.js", "login();\nlogout();\n");
    world.write("README.md", "# Cart\n\nIt has a total.\n");
    world.write("src/page.js", "import { sum } from './cart';\n\nif (sum(items)) show(sum(items));\n");
    world.write("src/helper.js", "export function help() {}\n");
    world.commit("Too much");
    let (found, exit) = check(&world, "");
    assert_eq!((exit, &found["result"]), (1, &"out_of_scope".into()));
    let drafts: Vec<_> = found["drafts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|draft| (draft["contract"].as_str().unwrap(), draft["type"].as_str().unwrap()))
        .collect();
    assert_eq!(drafts, [("decree.blocker", "technical-constraint"), ("decree.escalation", "scope-conflict")]);
    world.type_in(CHECK);
    for draft in ["blocker", "escalation"] {
        world.type_in(&format!("{CHECK} --draft {draft}"));
        let written = world.run(&format!("{CHECK} --draft {draft}"), "");
        assert_eq!(written.status.code(), Some(1));
        std::fs::write(world.path("draft.md"), &written.stdout).unwrap();
        let checked = world.run(&format!("contract check --contract decree.{draft} ../draft.md"), "");
        assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stdout));
    }
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_reviewer_is_warned_and_rejects_nothing() {
    let mut world = world();
    world.write("src/cart.js", TOTAL);
    world.write("src/auth.js", "logout();\n");
    world.write("src/page.js", "show(sum(items, 1));\n");
    world.commit("Too much");
    let (found, exit) = check(&world, "--as reviewer");
    assert_eq!((exit, &found["result"], &found["drafts"]), (0, &"out_of_scope".into(), &serde_json::json!([])));
    assert_eq!(found["warnings"].as_array().unwrap().len(), 2);
    world.type_in(&format!("{CHECK} --as reviewer"));
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_protected_path_is_protected_also_when_it_is_listed() {
    let world = world();
    world.write("src/cart.js", TOTAL);
    world.write("tests/guard/a.js", "// new\n");
    world.commit("Guard");
    let (found, exit) = check(&world, "--protected src/** --protected tests/guard/");
    assert_eq!(exit, 1);
    assert_eq!(classes(&found), ["protected src/cart.js", "protected tests/guard/a.js"]);
    assert!(path(&found, "src/cart.js")["reason"].as_str().unwrap().contains("`src/**` is protected"));
    let (found, exit) = check(&world, "--protected ../x");
    assert_eq!((&found["error"]["code"], exit), (&"TG0601".into(), 2));
}

const BODY: &str = "Adds the total.\r\n\r\n## Scope correction\r\n- **Listed:** `src/cart.js`\r\n- **Actual:** `src/checkout/cart.js`\r\n- **Reason:** the code is there\r\n";

#[test]
fn a_documented_correction_is_honoured() {
    let mut world = world();
    world.write("src/checkout/cart.js", TOTAL);
    world.commit("Elsewhere");
    assert_eq!(check(&world, "").1, 1);
    std::fs::write(world.path("body.md"), BODY).unwrap();
    let (found, exit) = check(&world, "--pr-body ../body.md");
    assert_eq!((exit, classes(&found)), (0, vec!["primary src/checkout/cart.js".to_owned()]));
    assert_eq!((&found["corrections"][0]["holds"], &found["corrections"][0]["line"]), (&true.into(), &4.into()));
    world.type_in(&format!("{CHECK} --pr-body ../body.md"));
    std::fs::write(world.path("body.md"), BODY.replace("- **Reason:** the code is there\r\n", "")).unwrap();
    world.type_in(&format!("{CHECK} --pr-body ../body.md"));
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_correction_beside_a_change_of_the_listed_file_is_for_a_person() {
    let mut world = world();
    world.write("src/cart.js", TOTAL);
    world.write("src/checkout/cart.js", TOTAL);
    world.commit("Both");
    std::fs::write(world.path("body.md"), BODY).unwrap();
    let (found, exit) = check(&world, "--pr-body ../body.md");
    assert_eq!(
        (exit, classes(&found)),
        (4, vec!["primary src/cart.js".to_owned(), "incidental? src/checkout/cart.js".to_owned()])
    );
    assert_eq!(path(&found, "src/checkout/cart.js")["judge"].as_array().unwrap().len(), 1);
    world.type_in(&format!("{CHECK} --pr-body ../body.md"));
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn an_item_that_names_no_path_explains_what_is_out_of_scope() {
    let mut world = world();
    world.write("src/cart.js", TOTAL);
    world.commit("Total");
    std::fs::write(world.path("task.md"), TASK.replace("- src/cart.js", "- src/cart.js:12")).unwrap();
    let (found, exit) = check(&world, "");
    assert_eq!((exit, &found["diagnostics"][0]["code"]), (1, &"TG0235".into()));
    world.type_in(CHECK);
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_correction_to_an_excluded_file_is_a_gap_in_the_task() {
    let mut world = world();
    world.write("src/auth.js", "logout();\n");
    world.commit("Excluded");
    std::fs::write(world.path("body.md"), BODY.replace("src/checkout/cart.js", "src/auth.js")).unwrap();
    let (found, exit) = check(&world, "--pr-body ../body.md");
    assert_eq!((exit, &found["drafts"][0]["type"]), (1, &"spec-gap".into()));
    world.type_in(&format!("{CHECK} --pr-body ../body.md"));
    world.type_in(&format!("{CHECK} --pr-body ../body.md --draft blocker"));
    insta::assert_snapshot!(world.transcript);
}

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

#[test]
fn the_change_begins_where_the_branch_left_the_base() {
    let world = world();
    world.write("src/cart.js", TOTAL);
    world.commit("Total");
    world.git(&["checkout", "-q", "main"]);
    world.write("src/other.js", "theirs();\n");
    world.commit("Others went on");
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
        assert_eq!(said("link"), ("modified", "out_of_scope"));
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
    assert_eq!((exit, &path(&found, "src/page.js")["class"]), (1, &"out_of_scope".into()));
    assert_eq!(path(&found, "src/page.js")["criteria"]["unaltered"]["met"], true);
    assert_eq!(path(&found, "src/page.js")["criteria"]["required"]["met"], false);
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
fn a_task_that_is_none_is_refused_with_its_place() {
    let mut world = world();
    std::fs::write(
        world.path("task.md"),
        TASK.replace("- src/cart.js", "- /src/cart.js").replace("## Context\n", "## Contexts\n"),
    )
    .unwrap();
    world.type_in(CHECK);
    std::fs::write(world.path("task.md"), TASK.replace("- src/cart.js", "- ../cart.js\n- src/auth.js")).unwrap();
    world.type_in(CHECK);
    world.type_in("scope check --task ../absent.md --base main");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_merge_that_is_not_settled_is_refused() {
    let world = world();
    world.write("src/cart.js", TOTAL);
    world.commit("Ours");
    world.git(&["checkout", "-q", "main"]);
    world.write("src/cart.js", "theirs();\n");
    world.commit("Theirs");
    let merge = world.git_output(&["-c", "user.name=A", "-c", "user.email=a@b", "merge", "work"]);
    assert!(!merge.status.success());
    let (found, exit) = check(&world, "--worktree");
    assert_eq!((&found["error"]["code"], exit), (&"TG0519".into(), 3));
}

#[test]
fn thousands_of_files_take_two_calls_of_git() {
    let world = world();
    let count = 3_000;
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
    assert_eq!((exit, found["paths"].as_array().unwrap().len()), (1, count + 1));
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

#[test]
fn a_correction_names_one_file_and_a_file_is_no_folder() {
    for actual in ["lib/**", ".", "./", "lib/{a,b}.js", "../x.js"] {
        let world = world();
        world.write("lib/cart.js", TOTAL);
        world.commit("Elsewhere");
        let body = format!(
            "## Scope correction\n\n- **Listed:** `src/cart.js`\n- **Actual:** `{actual}`\n- **Reason:** It moved.\n"
        );
        std::fs::write(world.path("body.md"), body).unwrap();
        let (found, exit) = check(&world, "--pr-body ../body.md");
        assert_eq!((exit, &found["corrections"][0]["holds"]), (1, &false.into()), "{actual}: {found}");
    }
    let world = world();
    std::fs::remove_file(world.path("work/src/cart.js")).unwrap();
    world.write("src/cart.js/evil.js", "steal();\n");
    world.commit("A folder of that name");
    let (found, exit) = check(&world, "");
    assert_eq!(exit, 1, "{found}");
    assert_eq!(path(&found, "src/cart.js/evil.js")["class"], "out_of_scope");
}
