//! `scope check`, on real repositories.

use serde_json::Value;

use crate::world::World;

pub const TASK: &str = "## Objective

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
pub const CART: &str = "export function sum(items) {\n  return items.length;\n}\n";
pub const TOTAL: &str = "export function sum(items) {\n  return items.length;\n}\n\nexport function total(items) {\n  return sum(items);\n}\n";

/// A repository with a base, on a branch of its own; the task lies outside of it.
pub fn world() -> World {
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

pub const CHECK: &str = "scope check --task ../task.md --base main";

/// The check as data, and its exit code.
pub fn check(world: &World, more: &str) -> (Value, i32) {
    let (mut documents, exit) = world.json(&format!("{CHECK} --json {more}"));
    assert_eq!(documents.len(), 1);
    (documents.remove(0), exit)
}

/// `class path`, in the order of the check.
pub fn classes(found: &Value) -> Vec<String> {
    let paths = found["paths"].as_array().unwrap_or_else(|| panic!("{found}"));
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    paths.iter().map(|path| format!("{} {}", word(&path["class"]), word(&path["path"]))).collect()
}

pub fn path<'v>(found: &'v Value, name: &str) -> &'v Value {
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
        ("import total, * as y from 'http://evil/x.js';\nimport { sum } from './cart';\n\nshow(sum(items));\n", 4),
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
    // What to post is for whoever made the change.
    let (found, exit) = check(&world, "--as reviewer --draft blocker");
    assert_eq!((exit, &found["error"]["code"]), (2, &"TG0601".into()));
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

pub const BODY: &str = "Adds the total.\r\n\r\n## Scope correction\r\n- **Listed:** `src/cart.js`\r\n- **Actual:** `src/checkout/cart.js`\r\n- **Reason:** the code is there\r\n";

/// The same with a second file that holds the code.
fn world_with_two() -> World {
    let world = world();
    world.git(&["checkout", "-q", "main"]);
    world.write("src/checkout/cart.js", CART);
    world.commit("It is there");
    world.git(&["checkout", "-q", "-B", "work"]);
    world
}

#[test]
fn a_documented_correction_is_honoured() {
    let mut world = world_with_two();
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

/// A correction says where the code is, not where it is to be.
#[test]
fn a_correction_to_a_file_that_the_change_creates_does_not_hold() {
    let world = world();
    world.write("src/checkout/cart.js", TOTAL);
    world.commit("New");
    std::fs::write(world.path("body.md"), BODY).unwrap();
    let (found, exit) = check(&world, "--pr-body ../body.md");
    assert_eq!((exit, &found["corrections"][0]["holds"]), (1, &false.into()));
    // Where the listed one was not there either, the task may name the wrong place for a new file.
    std::fs::write(world.path("task.md"), TASK.replace("- src/cart.js", "- src/sum.js")).unwrap();
    std::fs::write(world.path("body.md"), BODY.replace("src/cart.js", "src/sum.js")).unwrap();
    let (found, exit) = check(&world, "--pr-body ../body.md");
    assert_eq!((exit, classes(&found)), (4, vec!["incidental? src/checkout/cart.js".to_owned()]));
}

#[test]
fn a_correction_beside_a_change_of_the_listed_file_is_for_a_person() {
    let mut world = world_with_two();
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
fn an_item_that_does_not_begin_with_a_path_is_refused_with_its_place() {
    let mut world = world();
    let items = "- src/cart.js:12\n- nothing but `src/cart.js`\n- lib/\n  - cart.js";
    std::fs::write(world.path("task.md"), TASK.replace("- src/cart.js", items)).unwrap();
    let (found, exit) = check(&world, "");
    assert_eq!((exit, &found["error"]["code"]), (1, &"TG0235".into()));
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
fn a_correction_names_one_file_and_a_file_is_no_folder() {
    for actual in ["lib/**", ".", "./", "lib/{a,b}.js", "../x.js", "lib/", "lib/cart.js:12", "the code in lib/cart.js"]
    {
        let world = world();
        world.write("lib/cart.js", TOTAL);
        world.commit("Elsewhere");
        let body = format!(
            "## Scope correction\n\n- **Listed:** `src/cart.js`\n- **Actual:** `{actual}`\n- **Reason:** It moved.\n"
        );
        std::fs::write(world.path("body.md"), body).unwrap();
        let (found, exit) = check(&world, "--pr-body ../body.md");
        assert_eq!(exit, 1, "{actual}: {found}");
        assert_ne!(found["corrections"][0]["holds"], true, "{actual}: {found}");
    }
    let world = world();
    std::fs::remove_file(world.path("work/src/cart.js")).unwrap();
    world.write("src/cart.js/evil.js", "steal();\n");
    world.commit("A folder of that name");
    let (found, exit) = check(&world, "");
    assert_eq!(exit, 1, "{found}");
    assert_eq!(path(&found, "src/cart.js/evil.js")["class"], "out_of_scope");
}
