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
    assert!(world.path("state/demo/1/greet").is_dir());
    the_second_story_is_of_two_sides(&world);
}

fn the_second_story_is_of_two_sides(world: &World) {
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
    assert!(world.path("state/demo/2").is_dir());
    let proof = world.run("verify --all", "");
    assert_eq!(proof.status.code(), Some(0), "{}", String::from_utf8_lossy(&proof.stderr));
}
