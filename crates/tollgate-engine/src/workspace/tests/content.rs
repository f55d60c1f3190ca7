//! What is in the files: bytes, links, names and sizes are kept as they are, or refused.

use super::*;

#[test]
fn repositories_inside_are_named_and_left_out() {
    let fixture = fixture(&[("a", "1")]);
    let path = fixture.tree().path;
    for name in ["born", "unborn"] {
        std::fs::create_dir(path.join(name)).unwrap();
        git(&path.join(name), &["init", "-q"]);
        write(&path.join(name), "hidden", "1");
    }
    git(&path.join("born"), &["add", "."]);
    git(&path.join("born"), &["commit", "-q", "-m", "x"]);
    let measured = fixture.measure();
    assert_eq!(measured.changes, []);
    assert_eq!(measured.nested, ["born/", "unborn/"].map(Name::from));
    // What cannot be kept under a ref is not deleted.
    let (tree, old) = fixture.workspace.reset_tree(None, &fixture.workspace.base().tree, &|_| false).unwrap();
    assert_eq!(old, PreviousContent::Aside);
    assert!(!tree.path.join("born").exists());
    assert!(tree.path.with_file_name("@run@old-1").join("born/hidden").exists());
}

#[test]
fn links_are_stored_and_those_that_lead_outside_are_named() {
    let fixture = fixture(&[("dir/a", "1"), ("b", "1")]);
    let path = fixture.tree().path;
    symlink("/etc/passwd", path.join("absolute")).unwrap();
    symlink("../../x", path.join("climbs")).unwrap();
    symlink("dir/a", path.join("fine")).unwrap();
    symlink("..", path.join("dir/up")).unwrap();
    symlink("dir/up/..", path.join("chained")).unwrap();
    symlink("loop", path.join("loop")).unwrap();
    symlink(".git", path.join("git")).unwrap();
    std::fs::remove_dir_all(path.join("dir")).unwrap();
    symlink("/etc", path.join("dir")).unwrap();
    let measured = fixture.measure();
    let expected = ["absolute", "chained", "climbs", "dir", "fine", "git", "loop"];
    assert_eq!(measured.escaping, expected.map(Name::from));
    assert!(shown(&measured.changes).contains(&"Deleted 100644 dir/a".to_owned()));
    assert!(shown(&measured.changes).contains(&"Created 120000 dir".to_owned()));
    let copy = fixture.workspace.copy(&measured.tree).unwrap();
    assert_eq!(copy.path().join("absolute").read_link().unwrap(), Path::new("/etc/passwd"));
}

#[test]
fn links_inside_do_not_escape() {
    let fixture = fixture(&[("dir/a", "1")]);
    let path = fixture.tree().path;
    symlink("..", path.join("dir/up")).unwrap();
    symlink("dir/up/dir/a", path.join("fine")).unwrap();
    assert_eq!(fixture.measure().escaping, Vec::<Name>::new());
    symlink("dir/up/..", path.join("chained")).unwrap();
    symlink("/etc", path.join("odd\n")).unwrap();
    assert_eq!(fixture.measure().escaping, ["\"odd\\012\"", "chained"].map(Name::from));
}

#[test]
fn pipes_and_sockets_are_no_files() {
    let fixture = fixture(&[("a", "1"), ("b", "1")]);
    let path = fixture.tree().path;
    let _socket = std::os::unix::net::UnixListener::bind(path.join("sock")).ok();
    std::fs::remove_file(path.join("a")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, path.join("a"), rustix::fs::Mode::RUSR).unwrap();
    std::fs::remove_file(path.join("b")).unwrap();
    std::fs::create_dir(path.join("b")).unwrap();
    write(&path, "b/c", "1");
    let measured = fixture.measure();
    assert_eq!(shown(&measured.changes), ["Deleted 100644 a", "Deleted 100644 b", "Created 100644 b/c"]);
    assert_eq!(measured.special.first().map(|name| &**name), Some("a"));
}

#[test]
fn a_new_pipe_is_named_but_where_git_ignores_it() {
    let root = repository("pipes", &[("a", "1"), (".gitignore", "*.ignored\nout/\n"), ("out/kept", "1"), ("sub", "1")]);
    let commit = git(&root, &["rev-parse", "HEAD"]);
    git(&root, &["add", "-f", "out/kept"]);
    git(&root, &["update-index", "--cacheinfo", &format!("160000,{commit},sub")]);
    git(&root, &["commit", "-q", "-m", "second"]);
    std::fs::remove_file(root.join("sub")).unwrap();
    std::fs::create_dir(root.join("sub")).unwrap();
    let fixture = fixture_of(root);
    let path = fixture.tree().path;
    let pipe = |name: &str| {
        std::fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path.join(name), rustix::fs::Mode::RUSR).unwrap();
    };
    // What it left is known, and then there is more.
    assert_eq!(fixture.measure().special, Vec::<Name>::new());
    ["one.ignored", "out/two", ".git/three", "deep/er/one.ignored"].into_iter().for_each(pipe);
    write(&path, "new", "1");
    let measured = fixture.measure();
    assert_eq!((shown(&measured.changes), measured.special), (vec!["Created 100644 new".to_owned()], Vec::new()));
    ["four", "deep/er/*five", "sub/six", "nested/seven"].into_iter().for_each(pipe);
    git(&path.join("nested"), &["init", "-q"]);
    let measured = fixture.measure();
    assert_eq!(measured.special, ["deep/er/*five", "four"].map(Name::from));
    assert_eq!(measured.nested, ["nested/", "sub"].map(Name::from));
    let copy = fixture.workspace.copy_to_measure(&fixture.workspace.base().tree).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, copy.path().join("four"), rustix::fs::Mode::RUSR).unwrap();
    let measured = fixture.workspace.measure_copy(&copy, &fixture.workspace.base().tree).unwrap();
    assert_eq!(measured.special, ["four"].map(Name::from));
}

#[test]
fn odd_names_are_quoted_and_survive() {
    let fixture = fixture(&[("a", "1")]);
    let path = fixture.tree().path;
    for name in [&b"new\nline"[..], b"\xff\xfe", b"-z", b":(glob)*", b" ", b"\"q\""] {
        std::fs::write(path.join(OsStr::from_bytes(name)), "x").unwrap();
    }
    let measured = fixture.measure();
    let names: Vec<&str> = measured.changes.iter().map(|change| &*change.path).collect();
    assert_eq!(names, [" ", "\"\\\"q\\\"\"", "\"\\377\\376\"", "\"new\\012line\"", "-z", ":(glob)*"]);
    let copy = fixture.workspace.copy(&measured.tree).unwrap();
    assert!(copy.path().join("new\nline").exists());
}

#[test]
fn a_name_that_git_refuses_is_an_error() {
    let fixture = fixture(&[("a", "1")]);
    write(&fixture.tree().path, "dir/git~1/config", "x");
    let error = fixture.workspace.measure(&fixture.tree(), &fixture.workspace.base().tree).unwrap_err();
    assert!(error.code().as_str() == "TG0506" && error.to_string().contains("git~1"), "{error}");
}

#[test]
fn a_huge_file_is_refused() {
    let fixture = fixture(&[("a", "1")]);
    let huge = std::fs::File::create(fixture.tree().path.join("huge")).unwrap();
    huge.set_len(measurement::FILE_BYTES_MAX + 1).unwrap();
    let measure = || fixture.workspace.measure(&fixture.tree(), &fixture.workspace.base().tree).unwrap_err();
    assert!(measure().code().as_str() == "TG0507" && measure().to_string().contains("huge"), "{}", measure());
    // Many that are just small enough are too much together.
    for number in 0..=measurement::TOTAL_BYTES_MAX / measurement::FILE_BYTES_MAX {
        let name = if number == 0 { "huge".to_owned() } else { format!("large-{number}") };
        let file = std::fs::File::create(fixture.tree().path.join(name)).unwrap();
        file.set_len(measurement::FILE_BYTES_MAX).unwrap();
    }
    assert!(measure().code().as_str() == "TG0507" && measure().to_string().contains("together"), "{}", measure());
}
