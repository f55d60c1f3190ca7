//! Line endings, encodings and `$Id$`: a tree is written as `git checkout` writes it, and taken in as `git add` takes it in.

use super::super::stat_cache::{recall, remember};
use super::*;

/// A repository with an attribute of every kind, with files that were normalised and files that never were.
fn mixed() -> Folder {
    let root = repository("mixed", &[]);
    let attributes = "*.bat eol=crlf\n*.txt text\n*.auto text=auto eol=crlf\n*.id ident\n*.u text working-tree-encoding=UTF-16LE-BOM\n\
                      *.l1 working-tree-encoding=ISO-8859-1\n*.bin binary eol=crlf\n*.old crlf eol=crlf\n*.png filter=planted\n";
    let blobs: [(&str, &[u8]); 14] = [
        (".gitattributes", attributes.as_bytes()),
        ("run.bat", b"one\ntwo\n"),
        ("deep/run.bat", b"one\ntwo\n"),
        ("a.txt", b"one\ntwo\n"),
        ("crlf.txt", b"never\r\nnormalised\r\n"),
        ("lf.auto", b"one\ntwo\n"),
        ("crlf.auto", b"never\r\nnormalised\r\n"),
        ("x.id", b"$Id$ and $Id: old $\n"),
        ("x.u", "h\u{e9}\n".as_bytes()),
        ("bad.u", b"\xff\xfe no UTF-8\n"),
        ("x.l1", "h\u{e9}\n".as_bytes()),
        ("x.bin", b"one\n\0two\n"),
        ("x.old", b"one\n"),
        ("x.png", b"one\n"),
    ];
    for (path, bytes) in blobs {
        let file = root.join("blob");
        std::fs::write(&file, bytes).unwrap();
        let id = git(&root, &["hash-object", "-w", "--no-filters", "blob"]);
        std::fs::remove_file(&file).unwrap();
        git(&root, &["update-index", "--add", "--cacheinfo", &format!("100644,{id},{path}")]);
    }
    symlink("run.bat", root.join("link.bat")).unwrap();
    git(&root, &["add", "link.bat"]);
    let commit = git(&root, &["rev-parse", "HEAD"]);
    git(&root, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub.bat")]);
    git(&root, &["commit", "-q", "-m", "second"]);
    git(&root, &["reset", "-q", "--hard"]);
    root
}

/// A run in a repository whose checkout may look changed to git, as files that were never normalised do.
fn started(root: Folder) -> Fixture {
    let state = folder("state");
    let mut repository = open(&root, &state).unwrap();
    repository.dirty.clear();
    let workspace = Workspace::create(&state, run(), repository, Dirty::Refuse, &by()).unwrap();
    Fixture { root, state, workspace }
}

/// Every file of a folder, without its git folder.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            match entry.file_type().unwrap() {
                _ if name == Path::new(".git") => {}
                kind if kind.is_dir() => open.push(path),
                kind if kind.is_symlink() => {
                    drop(found.insert(name, path.read_link().unwrap().into_os_string().into_encoded_bytes()));
                }
                _ => drop(found.insert(name, std::fs::read(&path).unwrap())),
            }
        }
    }
    found
}

fn blob(fixture: &Fixture, tree: &ObjectId, path: &str) -> Vec<u8> {
    fixture.workspace.file(tree, path).unwrap().unwrap()
}

/// Measures as a whole, without anything that was known before.
fn anew(fixture: &Fixture, base: &ObjectId) -> Measured {
    remember(&fixture.tree().path, None);
    std::fs::remove_file(fixture.workspace.folder.index("@run")).ok();
    fixture.workspace.measure(&fixture.tree(), base).unwrap()
}

#[test]
fn a_tree_and_a_copy_hold_what_a_checkout_writes() {
    for setting in ["core.autocrlf=false", "core.autocrlf=true", "core.autocrlf=input", "core.eol=crlf"] {
        let root = mixed();
        let (name, value) = setting.split_once('=').unwrap();
        git(&root, &["config", name, value]);
        std::fs::create_dir_all(root.join(".git/info")).unwrap();
        std::fs::write(root.join(".git/info/attributes"), "deep/*.bat -text\n").unwrap();
        git(&root, &["read-tree", "--empty"]);
        git(&root, &["reset", "-q", "--hard"]);
        let fixture = started(root);
        let base = fixture.workspace.base().tree.clone();
        let expected = files(&fixture.root);
        assert_eq!(files(&fixture.tree().path), expected, "{setting}");
        let copy = fixture.workspace.copy_to_measure(&base).unwrap();
        assert_eq!(files(copy.path()), expected, "{setting}");
        assert_eq!(fixture.measure().tree, base, "{setting}");
        assert_eq!(anew(&fixture, &base).tree, base, "{setting}");
        let measured = fixture.workspace.measure_copy(&copy, &base).unwrap();
        assert_eq!((measured.tree, measured.changes), (base, Vec::new()), "{setting}");
    }
}

#[test]
fn what_a_change_says_of_line_endings_holds_in_the_next_copy() {
    let fixture = fixture(&[("a.txt", "one\n")]);
    write(&fixture.tree().path, ".gitattributes", "*.txt text eol=crlf\n");
    let measured = fixture.measure();
    assert_eq!(shown(&measured.changes), ["Created 100644 .gitattributes"]);
    let copy = fixture.workspace.copy(&measured.tree).unwrap();
    assert_eq!(std::fs::read(copy.path().join("a.txt")).unwrap(), b"one\r\n");
    // The tree itself holds what was written there.
    assert_eq!(std::fs::read(fixture.tree().path.join("a.txt")).unwrap(), b"one\n");
}

#[test]
fn what_is_changed_is_taken_in_as_git_add_takes_it() {
    let fixture = started(mixed());
    let (tree, base) = (fixture.tree(), fixture.workspace.base().tree.clone());
    std::fs::write(tree.path.join("run.bat"), "one\r\nthree\r\n").unwrap();
    std::fs::write(tree.path.join("x.u"), b"\xff\xfeo\0\xe9\0\n\0").unwrap();
    std::fs::write(tree.path.join("x.id"), "$Id: mine $ changed\n").unwrap();
    std::fs::write(tree.path.join("new.txt"), "new\r\n").unwrap();
    // Git leaves a file alone that has carriage returns in its index, where it guesses what is text.
    std::fs::write(tree.path.join("crlf.auto"), "still\r\nnot normalised\r\n").unwrap();
    std::fs::write(tree.path.join("crlf.txt"), "now\r\nnormalised\r\n").unwrap();
    let measured = fixture.measure();
    let expected: [(&str, &[u8]); 6] = [
        ("crlf.auto", b"still\r\nnot normalised\r\n"),
        ("crlf.txt", b"now\nnormalised\n"),
        ("new.txt", b"new\n"),
        ("run.bat", b"one\nthree\n"),
        ("x.id", b"$Id$ changed\n"),
        ("x.u", "o\u{e9}\n".as_bytes()),
    ];
    let paths: Vec<&str> = measured.changes.iter().map(|change| &*change.path).collect();
    assert_eq!(paths, expected.map(|(path, _)| path));
    for (path, bytes) in expected {
        assert_eq!(blob(&fixture, &measured.tree, path), bytes, "{path}");
    }
    let again = anew(&fixture, &base);
    assert_eq!((again.tree, again.changes), (measured.tree.clone(), measured.changes.clone()));
    // The same as the worker's own git has it.
    git(&tree.path, &["add", "-A"]);
    let own = git(&tree.path, &["diff", "--cached", "--name-only"]);
    assert_eq!(own.lines().filter(|path| *path != "bad.u").collect::<Vec<_>>(), paths);
    for (path, bytes) in expected {
        let staged = git(&tree.path, &["rev-parse", &format!(":{path}")]);
        assert_eq!(fixture.workspace.git.run(&["cat-file", "blob", &staged]).unwrap(), bytes, "{path}");
    }
}

#[test]
fn a_file_that_is_as_it_was_written_is_unchanged_whatever_git_makes_of_it() {
    for attributes in ["* text=auto\n", "* text\n", "* text eol=crlf\n", ""] {
        let root = repository("never", &[("a.txt", "one\r\n"), ("b.txt", "one\n"), ("c", "x")]);
        if !attributes.is_empty() {
            write(&root, ".gitattributes", attributes);
            git(&root, &["add", ".gitattributes"]);
            git(&root, &["commit", "-q", "-m", "second"]);
        }
        let fixture = started(root);
        let (tree, base) = (fixture.tree(), fixture.workspace.base().tree.clone());
        assert_eq!(fixture.measure().tree, base, "{attributes}");
        assert_eq!(anew(&fixture, &base).tree, base, "{attributes}");
        write(&tree.path, ".gitattributes", "* text\n# changed\n");
        write(&tree.path, "c", "y");
        for measured in [fixture.measure(), anew(&fixture, &base)] {
            let paths: Vec<&str> = measured.changes.iter().map(|change| &*change.path).collect();
            assert_eq!(paths, [".gitattributes", "c"], "{attributes}");
        }
        // Whatever it is compared with: what a unit starts from is not what the run started from.
        let other = fixture.written("other", &[("a.txt", "other\n")]);
        let found = anew(&fixture, &other);
        assert_eq!(blob(&fixture, &found.tree, "a.txt"), b"one\r\n", "{attributes}");
        assert_eq!(found.tree, fixture.measure().tree, "{attributes}");
    }
}

#[test]
fn a_mode_is_changed_without_the_content() {
    let fixture = started(mixed());
    let (tree, base) = (fixture.tree(), fixture.workspace.base().tree.clone());
    for path in ["crlf.txt", "run.bat", "x.u"] {
        std::fs::set_permissions(tree.path.join(path), PermissionsExt::from_mode(0o755)).unwrap();
    }
    std::fs::write(tree.path.join("x.u"), b"\xff\xfeo\0\n\0").unwrap();
    for measured in [fixture.measure(), anew(&fixture, &base)] {
        let expected = ["Modified 100755 crlf.txt", "Modified 100755 run.bat", "Modified 100755 x.u"];
        assert_eq!(shown(&measured.changes), expected);
        assert_eq!(blob(&fixture, &measured.tree, "crlf.txt"), b"never\r\nnormalised\r\n");
        assert_eq!(blob(&fixture, &measured.tree, "run.bat"), b"one\ntwo\n");
        assert_eq!(blob(&fixture, &measured.tree, "x.u"), b"o\n");
    }
}

#[test]
fn a_tree_that_started_from_another_commit_is_measured_by_what_was_written_there() {
    let fixture = fixture(&[("a.txt", "one\n"), ("b", "x")]);
    // Nobody normalises it here.
    let start = fixture.written("first", &[("a.txt", "two\r\n")]);
    let tree = fixture.workspace.work_tree(Some("second"), &start).unwrap();
    write(&tree.path, ".gitattributes", "* text\n");
    let found = fixture.workspace.measure(&tree, &start).unwrap();
    assert_eq!(shown(&found.changes), ["Created 100644 .gitattributes"]);
    assert_eq!(fixture.workspace.measure(&tree, &fixture.workspace.base().tree).unwrap().tree, found.tree);
    let kept = fixture.workspace.keep(&tree, &|tree| *tree == found.tree).unwrap();
    assert_eq!(kept, PreviousContent::Recorded);
    // One that cannot be kept goes aside with what is known of it.
    std::fs::create_dir(tree.path.join("own")).unwrap();
    git(&tree.path.join("own"), &["init", "-q"]);
    let (_, old) = fixture.workspace.reset_tree(Some("second"), &fixture.workspace.base().tree, &|_| false).unwrap();
    assert_eq!(old, PreviousContent::Aside);
    assert_eq!(fixture.workspace.measure_named("second@old-1").unwrap().tree, found.tree);
    // What takes its place starts from something else.
    write(&tree.path, ".gitattributes", "* text\n");
    let found = fixture.workspace.measure(&tree, &fixture.workspace.base().tree).unwrap();
    assert_eq!(shown(&found.changes), ["Created 100644 .gitattributes"]);
}

#[test]
fn what_was_cut_off_before_it_was_put_in_place_is_made_again() {
    let fixture = started(mixed());
    let base = fixture.workspace.base().tree.clone();
    let other = fixture.written("other", &[("run.bat", "two\r\n")]);
    let expected = files(&fixture.tree().path);
    let tree = fixture.tree();
    // Cut off when it was moved away, after the next one was made.
    let started = std::fs::read(fixture.workspace.record(&tree.path)).unwrap();
    fixture.workspace.reset_tree(None, &other, &|_| true).unwrap();
    std::fs::rename(&tree.path, tree.path.with_file_name("@run@new")).unwrap();
    fixture.workspace.sweep().unwrap();
    let again = reopen(&fixture.state, &fixture.workspace).unwrap();
    let tree = again.work_tree(None, &base).unwrap();
    assert_eq!(files(&tree.path), expected);
    assert_eq!(std::fs::read(again.record(&tree.path)).unwrap(), started);
    assert_eq!(again.measure(&tree, &base).unwrap().tree, base);
    // Cut off before it was moved away: what is known is of the one that is there.
    assert_eq!(again.measure(&tree, &other).unwrap().tree, base);
}

#[test]
fn a_setting_is_the_one_that_the_run_began_with() {
    let root = repository("settings", &[("a.txt", "one\n")]);
    git(&root, &["config", "core.autocrlf", "true"]);
    std::fs::remove_file(root.join("a.txt")).unwrap();
    git(&root, &["reset", "-q", "--hard"]);
    std::fs::create_dir_all(root.join(".git/info")).unwrap();
    write(&root, ".git/info/attributes", "*.lf eol=lf\n");
    let fixture = fixture_of(root);
    git(&fixture.root, &["config", "core.autocrlf", "false"]);
    write(&fixture.root, ".git/info/attributes", "*.txt -text\n");
    let again = reopen(&fixture.state, &fixture.workspace).unwrap();
    let base = again.base().tree.clone();
    let tree = again.work_tree(None, &base).unwrap();
    assert_eq!(std::fs::read(tree.path.join("a.txt")).unwrap(), b"one\r\n");
    write(&tree.path, "b.txt", "two\r\n");
    write(&tree.path, "c.lf", "two\n");
    let found = again.measure(&tree, &base).unwrap();
    assert_eq!(shown(&found.changes), ["Created 100644 b.txt", "Created 100644 c.lf"]);
    assert_eq!(blob(&fixture, &found.tree, "b.txt"), b"two\n");
    let copy = again.copy(&found.tree).unwrap();
    assert_eq!(std::fs::read(copy.path().join("b.txt")).unwrap(), b"two\r\n");
    assert_eq!(std::fs::read(copy.path().join("c.lf")).unwrap(), b"two\n");
    assert_eq!(git(&tree.path, &["status", "--short"]), "?? b.txt\n?? c.lf");
}

#[test]
fn a_run_that_began_without_conversions_goes_on_without_them() {
    let fixture = fixture(&[(".gitattributes", "*.txt text eol=crlf\n"), ("a.txt", "one\n")]);
    let repository = fixture.workspace.top().display().to_string();
    let origin = Origin { checkout: None, ..origin(&fixture.workspace, &repository) };
    let old = Workspace::open(&fixture.state, run(), &origin).unwrap();
    let base = old.base().tree.clone();
    let tree = old.work_tree(None, &base).unwrap();
    assert_eq!(std::fs::read(tree.path.join("a.txt")).unwrap(), b"one\n");
    write(&tree.path, "b.txt", "two\r\n");
    let found = old.measure(&tree, &base).unwrap();
    assert_eq!(blob(&fixture, &found.tree, "b.txt"), b"two\r\n");
}

#[test]
fn no_filter_is_started_and_its_paths_are_named() {
    let root = repository(
        "filter",
        &[(".gitattributes", "*.png filter=planted\n*.large filter=lfs\n"), ("x.png", "one\n"), ("x.large", "1")],
    );
    let mark = root.join("../ran");
    let touch = format!("touch {}; cat", mark.display());
    git(&root, &["config", "filter.planted.smudge", &touch]);
    git(&root, &["config", "filter.planted.clean", &touch]);
    let fixture = fixture_of(root);
    let named = fixture.workspace.not_as_checked_out(&fixture.workspace.base().tree);
    assert_eq!(named.unwrap().paths, ["x.png"].map(Name::from));
    let tree = fixture.tree();
    git(&tree.path, &["config", "filter.planted.clean", &touch]);
    assert_eq!(std::fs::read(tree.path.join("x.png")).unwrap(), b"one\n");
    write(&tree.path, "x.png", "two\r\n");
    write(&tree.path, "y.png", "new\n");
    let measured = fixture.measure();
    assert_eq!(blob(&fixture, &measured.tree, "x.png"), b"two\r\n");
    let copy = fixture.workspace.copy(&measured.tree).unwrap();
    assert_eq!(std::fs::read(copy.path().join("x.png")).unwrap(), b"two\r\n");
    assert!(!mark.exists());
}

#[test]
fn what_cannot_be_encoded_is_an_error_of_the_measurement() {
    let fixture = fixture(&[(".gitattributes", "*.u working-tree-encoding=UTF-16LE-BOM\n")]);
    write(&fixture.tree().path, "x.u", "no UTF-16 at all\n");
    let error = fixture.workspace.measure(&fixture.tree(), &fixture.workspace.base().tree).unwrap_err();
    assert!(error.code().as_str() == "TG0506" && error.to_string().contains("x.u"), "{error}");
}

#[test]
fn attributes_of_the_repository_that_are_too_large_are_refused() {
    let root = repository("large", &[("a", "1")]);
    std::fs::create_dir_all(root.join(".git/info")).unwrap();
    write(&root, ".git/info/attributes", &"*.x text\n".repeat(10_000));
    let state = folder("state");
    let found = open(&root, &state).unwrap();
    let error = Workspace::create(&state, run(), found, Dirty::Refuse, &by()).unwrap_err();
    assert!(error.code().as_str() == "TG0507" && error.to_string().contains("info/attributes"), "{error}");
}

#[test]
fn a_measurement_of_little_is_that_of_all() {
    let cases: [(&str, &[u8]); 5] = [
        ("a.txt", b"one\r\ntwo\n"),
        ("run.bat", b"three\r\n"),
        ("x.id", b"$Id: new $\n"),
        ("plain", b"$Id: new $\r\n"),
        ("a.txt", b"one\n"),
    ];
    let attributes = "*.txt text\n*.bat eol=crlf\n*.id ident\n";
    let fixture = fixture(&[(".gitattributes", attributes), ("a.txt", "1\n"), ("run.bat", "1\n"), ("x.id", "1\n")]);
    let (tree, base) = (fixture.tree(), fixture.workspace.base().tree.clone());
    for (path, bytes) in cases {
        std::fs::write(tree.path.join(path), bytes).unwrap();
        assert!(recall(&tree.path).is_some(), "{path}");
        let quick = fixture.measure();
        let whole = anew(&fixture, &base);
        assert_eq!((quick.tree, quick.changes), (whole.tree.clone(), whole.changes), "{path}");
        assert_eq!(fixture.measure().tree, whole.tree, "{path}");
    }
}

#[test]
fn a_landing_that_was_cut_off_in_a_converted_file_goes_on() {
    let fixture = fixture(&[(".gitattributes", "*.txt text eol=crlf\n"), ("a.txt", "one\n")]);
    let tree = fixture.written("u", &[("a.txt", "one\r\ntwo\r\n")]);
    let (from, to) = (fixture.workspace.base().commit.clone(), fixture.workspace.publish(&tree, "x", &by()).unwrap());
    let advance = |half: &str| {
        write(&fixture.root, "a.txt", half);
        fixture.workspace.git.run(&["update-ref", "refs/landing", to.as_str()]).unwrap();
        let branch = git(&fixture.root, &["symbolic-ref", "HEAD"]);
        let hand = || fixture.workspace.hand(&to, &branch, std::slice::from_ref(&from));
        super::super::checkout_update::Checkout::of(&fixture.workspace, &from, &to).unwrap().advance(hand)
    };
    let error = advance("one\r\nown\r\n").unwrap_err();
    assert!(matches!(error, WorkspaceError::Halfway { .. }), "{error}");
    advance("one\r\ntw").unwrap();
    assert_eq!(std::fs::read(fixture.root.join("a.txt")).unwrap(), b"one\r\ntwo\r\n");
    assert_eq!(git(&fixture.root, &["status", "--porcelain"]), "");
}
