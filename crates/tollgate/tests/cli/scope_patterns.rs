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
    ] {
        task(&world, "src/", item);
        let (found, exit) = check(&world, "");
        assert_eq!((exit, &found["error"]["code"]), (1, &"TG0235".into()), "{item}");
    }
    for (item, excluded) in [
        ("src/auth.js", 1),
        ("././src/auth.js", 1),
        ("src/auth.js,src/cart.js", 2),
        ("src/{auth,cart}.js", 2),
        ("src/pages/[id]/", 1),
        ("src/pages/[id]/*.js", 1),
    ] {
        task(&world, "src/", item);
        let (found, exit) = check(&world, "");
        let out = classes(&found).iter().filter(|class| class.starts_with("out_of_scope ")).count();
        assert_eq!((exit, out), (1, excluded), "{item}");
    }
    // Prose and addresses are no paths, and refuse nothing.
    for item in
        ["The login (see https://example.com/login)", "https://example.com/a", "Anything // later", r"The sign `\d`"]
    {
        task(&world, "src/", item);
        assert_eq!(check(&world, "").1, 0, "{item}");
    }
}

/// An item that speaks of a file without its path excludes nothing by itself: it is named, and a person judges what it may mean.
#[test]
fn an_exclusion_without_the_whole_path_is_for_a_person() {
    let world = world();
    world.write("src/cart.js", TOTAL);
    world.write("src/auth.js", "import { total } from './cart';\nlogin();\n");
    world.commit("Work");
    let warned = |found: &serde_json::Value| -> Vec<String> {
        let said = found["diagnostics"].as_array().unwrap().iter();
        said.map(|one| format!("{} {}", one["line"], one["message"].as_str().unwrap())).collect()
    };
    for (item, named) in [
        ("auth.js", "auth.js"),
        ("`auth.js`", "auth.js"),
        ("The auth module (auth.js)", "auth.js"),
        ("src/auth", "src/auth"),
        ("SRC/AUTH.JS", "SRC/AUTH.JS"),
        ("src/page.js and auth.js", "auth.js"),
        ("auth", "auth"),
        ("`auth`", "auth"),
        ("Auth.", "Auth"),
        ("**Auth**", "Auth"),
        ("auth (owned by #12)", "auth"),
        ("src/page.js, auth", "auth"),
        ("README.md and auth", "auth"),
    ] {
        for listed in ["src/cart.js", "src/"] {
            task(&world, listed, item);
            let (found, exit) = check(&world, "");
            assert_eq!((exit, &path(&found, "src/auth.js")["class"]), (4, &"incidental?".into()), "{item}: {found}");
            assert_eq!(warned(&found), [format!("22 `{named}` excludes nothing: no file has such a path")], "{item}");
        }
    }
    task(&world, "src/cart.js", "[auth](src/auth.js)");
    assert_eq!(check(&world, "").1, 4);
    task(&world, "src/", "migrations, auth");
    let (found, exit) = check(&world, "");
    assert_eq!((exit, warned(&found).len()), (4, 2), "{found}");
    for (item, exit) in [("<code>src/auth.js</code>", 1), ("README.md", 0), ("CI/CD pipeline", 0), ("src/page", 0)] {
        task(&world, "src/cart.js", item);
        assert_eq!(check(&world, "").1, exit, "{item}");
    }
    for item in ["src/auth.js.", "N/A", "None", "The login, e.g. src/auth.js", "Auth: src/auth.js", "Everything"] {
        task(&world, "src/cart.js", item);
        assert_eq!(warned(&check(&world, "").0), [""; 0], "{item}");
    }
    // What In Scope names itself is meant, and a file that breaks a criterion is out of scope all the same.
    task(&world, "src/cart.js\n- src/auth.js", "auth.js");
    assert_eq!(check(&world, "").1, 0);
    world.write("src/auth.js", "if (late()) logout();\nlogin();\n");
    world.commit("More");
    task(&world, "src/cart.js", "auth.js");
    assert_eq!(check(&world, "").1, 1);
}

#[test]
fn an_item_that_means_something_else_is_told() {
    let world = changed();
    for item in ["!src/auth.js", "~/src/cart.js", "C:/src/cart.js", "file:///src/cart.js"] {
        task(&world, item, "docs/");
        let (found, exit) = check(&world, "");
        assert_eq!((exit, found["diagnostics"][0]["code"].as_str()), (1, Some("TG0235")), "{item}: {found}");
        assert_eq!(path(&found, "src/cart.js")["class"], "out_of_scope", "{item}");
    }
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
