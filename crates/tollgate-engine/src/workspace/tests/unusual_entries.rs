//! What a worker can leave that a tree cannot hold, or that git would pass over without a word.

use super::*;

/// A fixture whose base has a submodule at `sub`, left empty as a checkout without it is.
fn with_submodule() -> Fixture {
    let root = repository("submodule", &[("a", "1")]);
    let commit = git(&root, &["rev-parse", "HEAD"]);
    git(&root, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    git(&root, &["commit", "-q", "-m", "submodule"]);
    std::fs::create_dir(root.join("sub")).unwrap();
    fixture_of(root)
}

#[test]
fn a_submodule_that_becomes_a_file_or_a_link_or_goes_is_measured_or_named() {
    let fixture = with_submodule();
    let path = fixture.tree().path.join("sub");
    std::fs::remove_dir(&path).unwrap();
    let gone = fixture.measure();
    assert_eq!((shown(&gone.changes), gone.nested.len()), (vec!["Deleted 160000 sub".to_owned()], 0));
    assert!(gone.entries.iter().all(|entry| &*entry.path != "sub"), "{gone:?}");
    // Again, and with another change, now that the tree that was measured has no submodule.
    assert_eq!(fixture.measure(), gone);
    write(&fixture.tree().path, "b", "1");
    assert_eq!(shown(&fixture.measure().changes), ["Created 100644 b", "Deleted 160000 sub"]);
    std::fs::remove_file(fixture.tree().path.join("b")).unwrap();
    std::fs::create_dir(&path).unwrap();
    let back = fixture.measure();
    assert_eq!((shown(&back.changes), &back.tree), (vec![], &fixture.workspace.base().tree), "an empty folder");
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, "a file now").unwrap();
    let measured = fixture.measure();
    assert_eq!((shown(&measured.changes), measured.nested.len()), (vec!["Modified 100644 sub".to_owned()], 0));
    std::fs::remove_file(&path).unwrap();
    symlink("/etc", &path).unwrap();
    let measured = fixture.measure();
    assert_eq!(measured.misplaced(), ["sub".into()], "{measured:?}");
    std::fs::remove_file(&path).unwrap();
    write(&path, "file", "1");
    let measured = fixture.measure();
    assert_eq!((shown(&measured.changes), measured.misplaced()), (vec![], vec!["sub".into()]));
}

/// The same, where `.gitmodules` names it.
fn with_named_submodule() -> Fixture {
    let named = "[submodule \"s\"]\n\tpath = sub\n\turl = ../s\n";
    let root = repository("named", &[("a", "1"), (".gitmodules", named)]);
    let commit = git(&root, &["rev-parse", "HEAD"]);
    git(&root, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    git(&root, &["commit", "-q", "-m", "submodule"]);
    std::fs::create_dir(root.join("sub")).unwrap();
    fixture_of(root)
}

/// Whatever a worker does to it is the change; who tidies up empty folders, or takes out what was put there, removes nothing.
#[test]
fn a_submodule_that_is_named_goes_or_becomes_something_else_in_many_ways() {
    let gone = &["Modified 100644 .gitmodules", "Deleted 160000 sub"][..];
    for (acts, changes, misplaced) in [
        ("git rm -q sub", gone, None),
        ("git rm -q sub; git commit -qm less", gone, None),
        ("git config -f .gitmodules --remove-section submodule.s; rmdir sub", gone, None),
        ("git -C sub init -q; rm -r sub", &[], None),
        ("rmdir sub; mkdir sub; git status > ../status", &[], None),
        ("rmdir sub; echo x > sub; echo sub > .gitignore", &["Created 100644 .gitignore", "Modified 100644 sub"], None),
        ("rmdir sub; ln -s a sub", &["Modified 120000 sub"], None),
        ("git -C sub init -q", &[], Some("sub")),
    ] {
        let fixture = with_named_submodule();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-ec", acts]).current_dir(fixture.tree().path).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "T").env(format!("GIT_{who}_EMAIL"), "t@example.org");
        }
        assert!(shell.status().unwrap().success(), "{acts}");
        let measured = fixture.measure();
        assert_eq!(shown(&measured.changes), changes, "{acts}");
        assert_eq!(measured.misplaced(), misplaced.map(Name::from).into_iter().collect::<Vec<_>>(), "{acts}");
    }
}

/// A link in the place of the folder above it takes it away with everything else.
#[test]
fn a_submodule_goes_with_the_folder_that_it_lies_in() {
    let root = repository("deep", &[("src/a", "1"), ("tests/b", "1")]);
    let commit = git(&root, &["rev-parse", "HEAD"]);
    git(&root, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},src/sub")]);
    git(&root, &["commit", "-q", "-m", "submodule"]);
    std::fs::create_dir(root.join("src/sub")).unwrap();
    let fixture = fixture_of(root);
    let path = fixture.tree().path;
    std::fs::remove_dir_all(path.join("src")).unwrap();
    symlink("tests", path.join("src")).unwrap();
    std::fs::create_dir(path.join("tests/sub")).unwrap();
    let mut changes = shown(&fixture.measure().changes);
    changes.sort();
    assert_eq!(changes, ["Created 120000 src", "Deleted 100644 src/a", "Deleted 160000 src/sub"]);
}

/// What one attempt removed another may bring back; an empty folder that goes is no removal.
#[test]
fn a_submodule_that_is_named_and_has_its_folder_again_is_back() {
    let fixture = with_named_submodule();
    let (tree, base) = (fixture.tree(), fixture.workspace.base().tree.clone());
    let named = std::fs::read_to_string(tree.path.join(".gitmodules")).unwrap();
    std::fs::remove_dir(tree.path.join("sub")).unwrap();
    let tidied = fixture.measure();
    assert_eq!((shown(&tidied.changes), tidied.misplaced()), (vec![], vec![]));
    std::fs::remove_file(tree.path.join(".gitmodules")).unwrap();
    let gone = fixture.measure();
    assert_eq!(shown(&gone.changes), ["Deleted 100644 .gitmodules", "Deleted 160000 sub"]);
    let next = |tree: &WorkTree| fixture.workspace.measure(tree, &gone.tree).unwrap();
    assert_eq!(shown(&next(&tree).changes), [""; 0]);
    std::fs::create_dir(tree.path.join("sub")).unwrap();
    assert_eq!(shown(&next(&tree).changes), [""; 0], "an empty folder alone");
    write(&tree.path, ".gitmodules", &named);
    let back = next(&tree);
    assert_eq!(shown(&back.changes), ["Created 100644 .gitmodules", "Created 160000 sub"]);
    assert_eq!(back.tree, base);
}

#[test]
fn the_executable_bit_is_content_and_other_bits_are_not() {
    let fixture = fixture(&[("a", "1"), ("b", "1")]);
    let path = fixture.tree().path;
    std::fs::set_permissions(path.join("a"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(path.join("b"), PermissionsExt::from_mode(0o600)).unwrap();
    let measured = fixture.measure();
    assert_eq!(shown(&measured.changes), ["Modified 100755 a"]);
    let copy = fixture.workspace.copy(&measured.tree).unwrap();
    assert_eq!(copy.path().join("a").metadata().unwrap().permissions().mode() & 0o111, 0o111);
}

#[test]
fn a_rename_that_changes_case_alone_is_two_changes() {
    let fixture = fixture(&[("Readme", "1"), ("Dir/a", "1")]);
    let path = fixture.tree().path;
    std::fs::rename(path.join("Readme"), path.join("README")).unwrap();
    std::fs::rename(path.join("Dir"), path.join("dir")).unwrap();
    let expected = ["Deleted 100644 Dir/a", "Created 100644 README", "Deleted 100644 Readme", "Created 100644 dir/a"];
    assert_eq!(shown(&fixture.measure().changes), expected);
}

#[test]
fn a_git_folder_among_tracked_files_hides_none_of_them() {
    let fixture = fixture(&[("src/a", "1"), ("src/deep/b", "1")]);
    let path = fixture.tree().path;
    git(&path.join("src"), &["init", "-q"]);
    write(&path, "src/a", "2");
    write(&path, "src/new", "1");
    write(&path, "src/deep/new", "1");
    let told = |measured: &Measured| {
        let all = ["Modified 100644 src/a", "Created 100644 src/deep/new", "Created 100644 src/new"];
        shown(&measured.changes) == all || !measured.nested.is_empty()
    };
    let measured = fixture.measure();
    assert!(told(&measured), "{measured:?}");
    git(&path.join("src"), &["add", "."]);
    git(&path.join("src"), &["commit", "-q", "-m", "x"]);
    let measured = fixture.measure();
    assert!(told(&measured), "{measured:?}");
    // One that leads elsewhere.
    std::fs::remove_dir_all(path.join("src/.git")).unwrap();
    std::fs::write(path.join("src/.git"), "gitdir: /nonexistent\n").unwrap();
    std::fs::create_dir(path.join("linked")).unwrap();
    std::fs::write(path.join("linked/.git"), format!("gitdir: {}\n", fixture.root.join(".git").display())).unwrap();
    write(&path, "linked/hidden", "1");
    let measured = fixture.measure();
    assert!(told(&measured), "{measured:?}");
    let paths: Vec<&str> = measured.changes.iter().map(|change| &*change.path).collect();
    assert!(measured.nested.contains(&"linked/".into()) || paths.contains(&"linked/hidden"), "{measured:?}");
}

#[test]
fn the_git_folder_of_the_tree_itself_may_be_gone_or_anything() {
    let fixture = fixture(&[("a", "1")]);
    let path = fixture.tree().path;
    write(&path, "a", "2");
    std::fs::remove_dir_all(path.join(".git")).unwrap();
    assert_eq!(shown(&fixture.measure().changes), ["Modified 100644 a"]);
    std::fs::write(path.join(".git"), "gitdir: /nonexistent\n").unwrap();
    assert_eq!(shown(&fixture.measure().changes), ["Modified 100644 a"]);
    std::fs::remove_file(path.join(".git")).unwrap();
    symlink("/nonexistent", path.join(".git")).unwrap();
    assert_eq!(shown(&fixture.measure().changes), ["Modified 100644 a"]);
}

#[test]
fn folders_that_cannot_be_entered_are_measured_whole_or_refused() {
    let fixture = fixture(&[("dir/a", "1"), ("dir/b", "1"), ("c", "1")]);
    for mode in [0o000, 0o444, 0o111] {
        let path = fixture.tree().path;
        write(&path, "dir/a", "2");
        write(&path, "dir/new", "1");
        std::fs::set_permissions(path.join("dir"), PermissionsExt::from_mode(mode)).unwrap();
        // Root enters all the same; anybody else is told that it cannot be measured, never that nothing changed.
        let refused = match fixture.workspace.measure(&fixture.tree(), &fixture.workspace.base().tree) {
            Ok(measured) => {
                assert_eq!(shown(&measured.changes), ["Modified 100644 dir/a", "Created 100644 dir/new"]);
                false
            }
            Err(error) => error.code().as_str() == "TG0506",
        };
        assert_eq!(refused, !rustix::process::geteuid().is_root());
        let (tree, old) = fixture.workspace.reset_tree(None, &fixture.workspace.base().tree, &|_| false).unwrap();
        assert_eq!(std::fs::read_to_string(tree.path.join("dir/a")).unwrap(), "1");
        assert_eq!(old == PreviousContent::Aside, refused, "what cannot be kept lies aside");
        assert_eq!(tree.path.with_file_name("@run@old-1").exists(), refused);
    }
}

/// Whatever else a tree holds, and however it was looked at before.
#[test]
fn no_file_of_a_tree_that_a_worker_left_keeps_a_set_id_bit() {
    let fixture = fixture(&[("a", "1"), (".gitignore", "out/\n*.log\n")]);
    let (tree, base) = (fixture.tree(), fixture.workspace.base().tree.clone());
    let files = ["a", "new", "out/x", "out/deep/x", "x.log", ".git/x"];
    let set = |paths: &[&str]| {
        for path in paths {
            write(&tree.path, path, "2");
            std::fs::set_permissions(tree.path.join(path), PermissionsExt::from_mode(0o6755)).unwrap();
        }
    };
    let left = |paths: &[&str]| {
        let mode = |path: &&str| tree.path.join(path).metadata().unwrap().permissions().mode() & 0o7777;
        paths.iter().map(|path| (path.to_string(), mode(path))).filter(|(_, mode)| *mode != 0o755).collect::<Vec<_>>()
    };
    // The first look sees all files, the second one passes over what is ignored.
    for _ in 0..2 {
        set(&files);
        let found = fixture.workspace.measure_left(&tree, &base).unwrap();
        assert_eq!(shown(&found.changes), ["Modified 100755 a", "Created 100755 new"]);
        assert_eq!(left(&files), []);
    }
    // With a repository of its own in it, a tree is looked at in another way; where it cannot be measured, it is not left so either.
    let nested = [&files[..], &["sub/.git/x", "sub/y"]].concat();
    git(&tree.path, &["init", "-q", "sub"]);
    set(&nested);
    assert_eq!(fixture.workspace.measure_left(&tree, &base).unwrap().nested, ["sub/".into()]);
    assert_eq!(left(&nested), []);
    std::fs::remove_dir_all(tree.path.join("sub")).unwrap();
    set(&files);
    let huge = std::fs::File::create(tree.path.join("huge")).unwrap();
    huge.set_len(measurement::FILE_BYTES_MAX + 1).unwrap();
    fixture.workspace.measure_left(&tree, &base).unwrap_err();
    assert_eq!(left(&files), []);
}
