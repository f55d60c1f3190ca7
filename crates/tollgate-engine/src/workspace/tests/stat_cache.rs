//! A work tree that was measured before gives the same answer as one that was not, whatever happened in between.

use std::time::Duration;

use super::super::stat_cache::{FileStats, Moment, recall, remember};
use super::*;
use crate::testing::full;

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const FILES: [&str; 12] = [
    "a",
    "b.sh",
    "dir/a",
    "dir/b",
    "dir/deep/a",
    "dir.x",
    "out/log",
    "out/kept",
    "new",
    "new/a",
    ".gitignore",
    "dir/.gitignore",
];
/// What else there is where git converts files.
const CONVERTED: [&str; 5] = ["dir/.gitattributes", "a", "dir/a", "dir/b", "new"];
const ODD: [&str; 5] = ["tab\there", "ü", "back\\slash", ".github/x", "dir/.gitkeep"];

/// Something that a worker may do to a work tree.
fn disturb(root: &Path, dice: &mut Dice, converts: bool) -> String {
    let name = match dice.below(8) {
        0 => dice.one_of(&ODD),
        1..=3 if converts => dice.one_of(&CONVERTED),
        _ => dice.one_of(&FILES),
    };
    let path = root.join(name);
    let clear = |path: &Path| {
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            std::fs::remove_dir_all(path).ok()
        } else {
            std::fs::remove_file(path).ok()
        }
    };
    let text = match dice.below(2) {
        0 if converts => dice.one_of(&["one\r\n", "* text\n", "* eol=crlf\n", "a text=auto\nb ident\n", "$Id: x $\n"]),
        _ => dice.one_of(&["one\n", "two\n", "", "out/\n", "*.x\n"]),
    };
    let what = dice.below(9);
    match what {
        0..=3 => {
            // A file in place of a folder above, or a folder in place of the file.
            for above in path.ancestors().skip(1).take_while(|above| *above != root) {
                if above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
                    clear(above);
                }
            }
            clear(&path).filter(|()| what == 0);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).ok();
        }
        4 => drop(clear(&path)),
        5 => drop(std::fs::set_permissions(&path, PermissionsExt::from_mode([0o644, 0o755, 0o700][dice.below(3)]))),
        6 => {
            clear(&path);
            symlink(dice.one_of(&["a", "../..", "dir", "/etc"]), &path).ok();
        }
        7 => drop(std::fs::rename(&path, root.join(dice.one_of(&FILES)))),
        _ => {
            // Another text of the same length, and the time of the last one.
            let before = std::fs::metadata(&path).and_then(|meta| meta.modified());
            if let (Ok(before), Ok(text)) = (before, std::fs::read(&path)) {
                std::fs::write(&path, text.iter().map(|byte| byte ^ 1).collect::<Vec<u8>>()).unwrap();
                std::fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
            }
        }
    }
    format!("{what} {name}")
}

#[test]
fn what_was_seen_before_changes_no_measurement() {
    for (seed, converts) in [(0, false), (1, false), (2, false), (3, false), (4, true), (5, true)] {
        let mut dice = Dice(seed);
        let fixture = fixture(&[
            ("a", "1"),
            ("b.sh", "1"),
            ("dir/a", "1"),
            ("dir/b", "1"),
            ("dir/deep/a", "1"),
            ("dir.x", "1"),
            (".gitignore", "out/*\n!out/kept\n"),
            if converts { (".gitattributes", "* text ident\n") } else { ("plain", "") },
        ]);
        let (workspace, tree) = (&fixture.workspace, fixture.tree());
        let mut base = workspace.base().tree.clone();
        let mut done = Vec::new();
        for _ in 0..if full() { 40 } else { 12 } {
            for _ in 0..=dice.below(3) {
                done.push(disturb(&tree.path, &mut dice, converts));
            }
            if dice.below(2) == 0 {
                // By then what was written is older than the look.
                std::thread::sleep(Duration::from_millis(12));
            }
            let with = workspace.measure(&tree, &base);
            let known = recall(&tree.path);
            remember(&tree.path, None);
            let without = workspace.measure(&tree, &base);
            match (with, without) {
                (Ok(with), Ok(without)) => {
                    assert_eq!(with, without, "seed {seed}: {done:?}");
                    if dice.below(4) == 0 {
                        base = with.tree;
                    }
                }
                (with, without) => {
                    assert!(with.is_err() && without.is_err(), "seed {seed}: {done:?}: {with:?}, {without:?}")
                }
            }
            // What is remembered is the older look, every other time.
            if let Some(known) = known.filter(|_| dice.below(2) == 0) {
                remember(&tree.path, std::sync::Arc::into_inner(known));
            }
        }
    }
}

/// Git tells times apart by seconds.
#[test]
fn another_text_of_the_same_length_and_time_is_measured() {
    for odd in ["plain", "b\\c"] {
        let fixture = fixture(&[("a", "one"), (odd, "1")]);
        let (workspace, tree) = (&fixture.workspace, fixture.tree());
        let base = workspace.base().tree.clone();
        let path = tree.path.join("a");
        let put = |text: &str| {
            // As `cp -p` and `tar` leave it.
            let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
            std::fs::write(&path, text).unwrap();
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        };
        let mut last = base;
        for text in ["two", "six", "ten", "one", "two"] {
            put(text);
            let found = workspace.measure(&tree, &last).unwrap();
            assert_eq!(shown(&found.changes), ["Modified 100644 a"], "{odd}: {text}");
            last = found.tree;
            // As before every attempt: the index knows the file as it is now.
            assert!(workspace.holds(&tree, &last));
        }
    }
}

/// The one case that it is there for is measured by it, and without git's looking at every file.
#[test]
fn a_small_change_is_measured_by_what_was_seen() {
    let fixture = fixture(&[("a", "1"), ("b", "1"), ("dir/c", "1"), (".gitignore", "out/\n")]);
    let (workspace, tree) = (&fixture.workspace, fixture.tree());
    let base = workspace.base().tree.clone();
    let quick = || {
        std::thread::sleep(Duration::from_millis(12));
        let seen = recall(&tree.path).expect("it was measured");
        let look = FileStats::at(&tree.path, Moment::now(workspace.folder.path()).unwrap(), &seen.skipped()).unwrap();
        workspace.measure_since(&tree, &base, &seen, &look).unwrap()
    };
    std::thread::sleep(Duration::from_millis(12));
    workspace.measure(&tree, &base).unwrap();
    assert_eq!(quick().unwrap().tree, base);
    write(&tree.path, "a", "2");
    write(&tree.path, "dir/new", "x");
    std::fs::remove_file(tree.path.join("b")).unwrap();
    let found = quick().unwrap();
    assert_eq!(shown(&found.changes), ["Modified 100644 a", "Deleted 100644 b", "Created 100644 dir/new"]);
    // What it does not tell for sure is left to git.
    write(&tree.path, "out/log", "x");
    assert!(quick().is_none(), "what is ignored");
    assert_eq!(workspace.measure(&tree, &base).unwrap().ignored, ["out/".into()]);
    write(&tree.path, "out/log", "y");
    assert_eq!(quick().unwrap().tree, found.tree);
    write(&tree.path, ".gitignore", "");
    assert!(quick().is_none(), "what says what is ignored");
    workspace.measure(&tree, &base).unwrap();
    std::fs::create_dir_all(tree.path.join("dir/.git")).unwrap();
    assert!(
        FileStats::at(&tree.path, Moment::now(workspace.folder.path()).unwrap(), &[]).is_none(),
        "another repository"
    );
}
