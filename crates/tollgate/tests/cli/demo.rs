//! `tollgate demo`.

use crate::look::timeless;
use crate::world::World;

/// With the state directory where it lies by default, and any number of events: how many there are at the kill is chance.
fn as_shown(world: &World, said: &str) -> String {
    let said = world.filtered(said).replace("[WORLD]/state", "~/.local/state/tollgate");
    let uncounted = |line: &str| match line.split_once(" events and ") {
        Some((_, objects)) => format!("   [N] events and {objects}\n"),
        None => format!("{}\n", line.trim_end()),
    };
    timeless(said.lines().map(uncounted).collect::<String>().trim())
}

#[test]
fn the_readme_shows_what_the_demonstration_prints() {
    let mut world = World::new();
    world.set("USER", "ada").set("COLUMNS", "100");
    let output = world.run("demo", "");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let readme = include_str!("../../../../README.md");
    let (_, shown) = readme.split_once("```text\n").expect("the README shows the demonstration");
    let (shown, _) = shown.split_once("```").expect("the block ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(as_shown(&world, shown), as_shown(&world, &said), "{said}");
}

#[test]
fn the_second_story_is_of_two_sides() {
    let world = World::new();
    let output = world.run("demo complex", "");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    for text in [
        "1 file outside the scope",
        "collides with what landed before in config/languages.txt",
        "DoD-3 failed",
        "DoD-3 passed",
        "killed",
        "repeated after a crash",
        "succeeded",
        "Two sides worked at once",
    ] {
        assert!(said.contains(text), "`{text}` is not in:\n{said}");
    }
    // Both developers are at work before either of them reports.
    let at = |text: &str| said.find(text).unwrap_or_else(|| panic!("`{text}` is not in:\n{said}"));
    let second = at("frontend  developer works").max(at("backend  developer works"));
    assert!(second < at("developer reports"), "{said}");
    let proof = world.run("verify --all", "");
    assert_eq!(proof.status.code(), Some(0), "{}", String::from_utf8_lossy(&proof.stderr));
}

#[test]
fn the_demonstration_ends_well_twice_and_every_run_proves() {
    let world = World::new();
    for number in 1..=2 {
        let output = world.run("demo", "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        for text in
            ["Which greeting is wanted", "killed", "repeated after a crash", "succeeded", "tollgate verify --all"]
        {
            assert!(said.contains(text), "`{text}` is not in:\n{said}");
        }
        assert!(world.path(&format!("state/demo/{number}/greet")).is_dir());
    }
    let proof = world.run("verify --all", "");
    assert_eq!(proof.status.code(), Some(0), "{}", String::from_utf8_lossy(&proof.stderr));
    let (runs, _) = world.json("ls --json");
    assert_eq!(runs.iter().filter(|run| run["status"] == "succeeded").count(), 2, "{runs:?}");
}
