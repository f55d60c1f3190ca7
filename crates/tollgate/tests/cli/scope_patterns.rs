//! `scope check` and what people write as paths: what can hold nothing is refused or said, and protects or excludes nothing in silence.

use crate::scope::{TASK, TOTAL, check, classes, path, world};
use crate::world::World;

/// A change of three files, and the task with other items.
fn changed() -> World {
    let world = world();
    world.write("src/cart.js", TOTAL);
    world.write("src/auth.js", "login();\nlogout();\n");
    world.write("src/pages/[id]/p.js", "show();\n");
    world.commit("Work");
    world
}

fn task(world: &World, listed: &str, excluded: &str) {
    let text = TASK.replace("- src/cart.js\n", &format!("- {listed}\n"));
    let text = text.replace("- src/auth.js (owned by #12)\n", &format!("- {excluded}\n"));
    std::fs::write(world.path("task.md"), text).unwrap();
}

#[test]
fn who_protects_a_folder_or_a_name_with_brackets_protects_what_is_there() {
    let world = changed();
    task(&world, "`**`", "README.md");
    for (pattern, protected) in [
        ("src", 3),
        ("./src/", 3),
        ("././src/auth.js", 1),
        ("{src,lib}", 3),
        ("src/pages/[id]", 1),
        ("src/pages/[id]/p.js", 1),
        ("src/*.js", 2),
        ("[!x]rc/**", 3),
    ] {
        let (found, exit) = check(&world, &format!("--protected {pattern}"));
        let held = classes(&found).iter().filter(|class| class.starts_with("protected ")).count();
        assert_eq!((exit, held), (1, protected), "{pattern}");
        assert_eq!(found["diagnostics"], serde_json::json!([]), "{pattern}");
    }
}

#[test]
fn a_protection_that_can_hold_nothing_is_refused_and_one_that_holds_nothing_is_said() {
    let world = changed();
    task(&world, "`**`", "README.md");
    for pattern in
        [".", "./", "src//auth.js", "src/./auth.js", r"src\auth.js", "!src/**", "./!src/**", "/src", "src/..", "{src"]
    {
        let (found, exit) = check(&world, &format!("--protected {pattern}"));
        assert_eq!((exit, &found["error"]["code"]), (2, &"TG0601".into()), "{pattern}");
    }
    for pattern in ["SRC/auth.js", "src/oauth.js", "src/auth.js/**", "src/auth.js\u{301}"] {
        let (found, exit) = check(&world, &format!("--protected {pattern} --protected docs/none"));
        assert_eq!(exit, 0, "{pattern}");
        let said = found["diagnostics"].as_array().unwrap();
        assert_eq!(said.len(), 2, "{pattern}: {said:?}");
        assert_eq!((&said[0]["code"], &said[0]["severity"]), (&"TG0601".into(), &"warning".into()));
    }
    // What is there and did not change is protected all the same.
    let (found, _) = check(&world, "--protected README.md");
    assert_eq!(found["diagnostics"], serde_json::json!([]));
}

#[test]
fn an_item_that_can_hold_nothing_is_no_exclusion_in_silence() {
    let world = changed();
    for item in [
        ".",
        "./",
        "src//auth.js",
        "src/./auth.js",
        r"src\auth.js",
        r"`src\auth.js`",
        r"C:\src\auth.js",
        "src/../src/auth.js",
        "src/auth.js,src/cart.js",
        "The login (see https://example.com/login)",
        "https://example.com/a",
    ] {
        task(&world, "src/", item);
        let (found, exit) = check(&world, "");
        assert_eq!((exit, &found["error"]["code"]), (1, &"TG0235".into()), "{item}");
    }
    for (item, excluded) in [
        ("src/auth.js", 1),
        ("././src/auth.js", 1),
        ("src/{auth,cart}.js", 2),
        ("src/pages/[id]/", 1),
        ("src/pages/[id]/*.js", 1),
    ] {
        task(&world, "src/", item);
        let (found, exit) = check(&world, "");
        let out = classes(&found).iter().filter(|class| class.starts_with("out_of_scope ")).count();
        assert_eq!((exit, out), (1, excluded), "{item}");
    }
}

/// A path is meant as it is written: one that no file has excludes nothing.
#[test]
fn an_exclusion_that_no_file_has_is_named() {
    let world = world();
    world.write("src/cart.js", TOTAL);
    world.write("src/auth.js", "import { total } from './cart';\nlogin();\n");
    world.commit("Work");
    let warned = |found: &serde_json::Value| -> Vec<String> {
        let said = found["diagnostics"].as_array().unwrap().iter();
        said.map(|one| format!("{} {}", one["line"], one["message"].as_str().unwrap())).collect()
    };
    for named in ["auth.js", "src/auth", "SRC/AUTH.JS", "src/*.ts"] {
        task(&world, "src/cart.js", &format!("{named} (owned by #12)"));
        let (found, exit) = check(&world, "");
        assert_eq!((exit, &path(&found, "src/auth.js")["class"]), (0, &"incidental".into()), "{named}: {found}");
        assert_eq!(warned(&found), [format!("22 `{named}` excludes nothing: no file has this path")]);
    }
    for (item, code) in [("src/auth.js", 1), ("README.md", 0), ("src/page.js (see src/auth.js)", 0)] {
        task(&world, "src/cart.js", item);
        let (found, exit) = check(&world, "");
        assert_eq!((exit, warned(&found)), (code, vec![]), "{item}");
    }
}

#[test]
fn an_exception_is_taken_out_of_what_is_listed() {
    let world = changed();
    task(&world, "src/ (everything)\n  - except: src/auth.js (owned by #12)", "docs/\n- README.md");
    let (found, exit) = check(&world, "");
    assert_eq!(exit, 1);
    assert_eq!(classes(&found), ["primary src/cart.js", "primary src/pages/[id]/p.js", "out_of_scope src/auth.js"]);
}

#[test]
fn a_pattern_with_many_alternatives_costs_no_time() {
    let world = changed();
    let (braces, stars) = ("{s,s*,*}".repeat(60), "**/*a".repeat(200));
    for pattern in [format!("{braces}zz"), format!("{stars}zz")] {
        task(&world, &format!("`src/{pattern}`"), "docs/");
        assert_eq!(check(&world, &format!("--protected {pattern}")).1, 1);
    }
}
