use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use tollgate_core::Name;
use tollgate_core::diagnostic::Place;
use tollgate_core::protocol::model::Area;
use tollgate_core::scope::{self, Parts};

mod left_over;
mod odd;
mod seen;

use super::*;
use crate::testing::{Folder, folder, git, repository, write};

const RUN: &str = "run_0000000a";

fn run() -> RunId {
    RUN.parse().unwrap()
}

fn by() -> Signature {
    Signature { name: "Ada".into(), email: "ada@example.org".into(), at_s: 1_700_000_000 }
}

fn open(root: &Path, state: &Path) -> Result<Repository, WorkspaceError> {
    Repository::open(root, &state.join("scratch"))
}

struct Fixture {
    root: Folder,
    state: Folder,
    workspace: Workspace,
}

impl Fixture {
    fn tree(&self) -> WorkTree {
        self.workspace.work_tree(None, &self.workspace.base().tree).unwrap()
    }

    fn measure(&self) -> Measured {
        self.workspace.measure(&self.tree(), &self.workspace.base().tree).unwrap()
    }

    /// The tree after these files were written into a fresh work tree of this unit.
    fn written(&self, unit: &str, files: &[(&str, &str)]) -> ObjectId {
        let tree = self.workspace.work_tree(Some(unit), &self.workspace.base().tree).unwrap();
        files.iter().for_each(|(path, text)| write(&tree.path, path, text));
        self.workspace.measure(&tree, &self.workspace.base().tree).unwrap().tree
    }
}

fn fixture_of(root: Folder) -> Fixture {
    let state = folder("state");
    let repository = open(&root, &state).unwrap();
    let workspace = Workspace::create(&state, run(), repository, Dirty::Refuse, &by()).unwrap();
    Fixture { root, state, workspace }
}

/// What the journal would say of a workspace, with this repository.
fn origin<'a>(workspace: &'a Workspace, repository: &'a str) -> Origin<'a> {
    Origin { repository, commit: workspace.base.commit.as_str(), tree: workspace.base.tree.as_str() }
}

fn reopen(state: &Path, workspace: &Workspace) -> Result<Workspace, WorkspaceError> {
    let repository = workspace.top().display().to_string();
    Workspace::open(state, run(), &origin(workspace, &repository))
}

fn fixture(files: &[(&str, &str)]) -> Fixture {
    fixture_of(repository("repository", files))
}

fn shown(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| format!("{:?} {} {}", change.kind, change.mode, change.path)).collect()
}

fn all_refs(root: &Path) -> String {
    git(root, &["for-each-ref", "--format=%(refname)"])
}

#[test]
fn what_is_no_repository_to_start_from_is_refused() {
    let state = folder("state");
    let plain = folder("plain");
    // Not inside any repository, whatever lies above the build folder.
    std::fs::write(plain.join(".git"), "gitdir: /nonexistent").unwrap();
    assert_eq!(open(&plain, &state).unwrap_err().code().as_str(), "TG0501");
    assert_eq!(open(&plain.join("absent"), &state).unwrap_err().code().as_str(), "TG0501");
    let unborn = folder("unborn");
    git(&unborn, &["init", "-q"]);
    assert_eq!(open(&unborn, &state).unwrap_err().code().as_str(), "TG0502");
    let bare = folder("bare");
    git(&bare, &["init", "-q", "--bare"]);
    assert_eq!(open(&bare, &state).unwrap_err().code().as_str(), "TG0503");
    assert!(!state.join("scratch").exists() || std::fs::read_dir(state.join("scratch")).unwrap().next().is_none());
}

#[test]
fn a_dirty_checkout_is_refused_or_taken_along_without_being_touched() {
    let root = repository("dirty", &[("a", "1\n"), ("b", "1\n"), (".gitignore", "*.log\n")]);
    let state = folder("state");
    write(&root, "ignored.log", "x");
    assert_eq!(open(&root, &state).unwrap().dirty, Vec::<Name>::new());
    write(&root, "a", "2\n");
    git(&root, &["add", "a"]);
    write(&root, "a", "3\n");
    std::fs::remove_file(root.join("b")).unwrap();
    write(&root, "new/c", "1\n");
    let index = std::fs::read(root.join(".git/index")).unwrap();
    let found = open(&root.join("new"), &state).unwrap();
    assert_eq!(found.top, root.canonicalize().unwrap());
    let mut dirty = found.dirty.clone();
    dirty.sort();
    assert_eq!(dirty, ["a", "b", "new/c"].map(Name::from));
    let error = Workspace::create(&state, run(), found, Dirty::Refuse, &by()).unwrap_err();
    assert!(error.code().as_str() == "TG0504" && error.to_string().contains("new/c"), "{error}");

    let found = open(&root, &state).unwrap();
    let head = found.head.clone();
    let workspace = Workspace::create(&state, run(), found, Dirty::Include, &by()).unwrap();
    assert_ne!(workspace.base().commit, head);
    assert_eq!(std::fs::read(root.join(".git/index")).unwrap(), index);
    let listed = git(&root, &["ls-tree", "-r", "--name-only", &format!("refs/tollgate/{RUN}/base")]);
    assert_eq!(listed, ".gitignore\na\nnew/c");
    assert_eq!(git(&root, &["show", &format!("refs/tollgate/{RUN}/base:a")]), "3");
    assert_eq!(git(&root, &["rev-parse", &format!("refs/tollgate/{RUN}/base^")]), head.as_str());
}

#[test]
fn creating_again_answers_the_same_and_pins_the_base_once() {
    let Fixture { root, state, workspace } = fixture(&[("a", "1")]);
    write(&root, "a", "changed meanwhile");
    let again = Workspace::create(&state, run(), open(&root, &state).unwrap(), Dirty::Refuse, &by()).unwrap();
    assert_eq!(again.base(), workspace.base());
    assert_eq!(reopen(&state, &workspace).unwrap().base(), workspace.base());
    assert_eq!(all_refs(&root), format!("refs/heads/main\nrefs/tollgate/{RUN}/base"));
    let other = Workspace::open(&state, "run_0000000b".parse().unwrap(), &origin(&workspace, "")).unwrap_err();
    assert_eq!(other.code().as_str(), "TG0509");
}

#[test]
fn a_work_tree_can_use_git_and_is_left_as_it_is() {
    let fixture = fixture(&[("a", "1"), ("dir/b", "2")]);
    let tree = fixture.tree();
    assert_eq!(git(&tree.path, &["status", "--porcelain"]), "");
    assert_eq!(git(&tree.path, &["rev-parse", "HEAD"]), fixture.workspace.base().commit.as_str());
    write(&tree.path, "a", "work");
    assert_eq!(fixture.tree(), tree);
    assert_eq!(std::fs::read_to_string(tree.path.join("a")).unwrap(), "work");
    assert_eq!(git(&fixture.root, &["status", "--porcelain"]), "");
    // A unit whose name is a path stays inside.
    let odd = fixture.workspace.work_tree(Some("../../x/@run"), &fixture.workspace.base().tree).unwrap();
    assert_eq!(odd.path.parent(), tree.path.parent());
    assert_ne!(odd.path, tree.path);
}

#[test]
fn a_tree_that_was_half_made_is_made_again() {
    let fixture = fixture(&[("a", "1")]);
    let path = fixture.workspace.locate(None).path;
    let half = path.with_file_name("@run@new");
    write(&half, "a", "half");
    write(&half, "junk", "half");
    assert_eq!(fixture.measure().changes, []);
    assert!(!half.exists());
    write(&half, "junk", "half");
    let copies = fixture.workspace.run_folder().join("copies/1-1");
    write(&copies, "stale", "");
    fixture.workspace.sweep().unwrap();
    assert!(!half.exists() && !copies.exists() && path.exists());
}

#[test]
fn committed_staged_and_untracked_all_count_and_ignored_does_not() {
    let fixture = fixture(&[("gone", "1"), ("kept", "1"), ("run.sh", "1"), (".gitignore", "*.log\nout/\n")]);
    let path = fixture.tree().path;
    write(&path, "committed", "1");
    git(&path, &["add", "."]);
    git(&path, &["commit", "-q", "-m", "mine"]);
    write(&path, "staged", "1");
    git(&path, &["add", "staged"]);
    write(&path, "loose", "1");
    write(&path, "x.log", "1");
    write(&path, "out/big", "1");
    std::fs::remove_file(path.join("gone")).unwrap();
    std::fs::set_permissions(path.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    let measured = fixture.measure();
    let expected = [
        "Created 100644 committed",
        "Deleted 100644 gone",
        "Created 100644 loose",
        "Modified 100755 run.sh",
        "Created 100644 staged",
    ];
    assert_eq!(shown(&measured.changes), expected);
    assert_eq!(measured.ignored, ["out/", "x.log"].map(Name::from));
    assert_eq!(fixture.measure(), measured, "measuring twice is measuring once");
    // What was measured before does not matter: a file that is ignored now is not in the tree.
    write(&path, ".gitignore", "*.log\nout/\nloose\n");
    let later = fixture.measure();
    assert!(!later.changes.iter().any(|change| &*change.path == "loose"));
    // Nor does the worker's git folder, or a broken private index.
    std::fs::remove_dir_all(path.join(".git")).unwrap();
    std::fs::write(fixture.workspace.folder.index("@run"), "broken").unwrap();
    assert_eq!(fixture.measure(), later);
}

#[test]
fn a_change_that_keeps_size_and_time_is_seen() {
    let fixture = fixture(&[("a", "one")]);
    let path = fixture.tree().path.join("a");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, "two").unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(shown(&fixture.measure().changes), ["Modified 100644 a"]);
}

#[test]
fn nothing_a_worker_wrote_is_started() {
    let fixture = fixture(&[("a", "1")]);
    let path = fixture.tree().path;
    let ran = fixture.state.join("ran");
    let touch = format!("touch {}", ran.display());
    for (key, value) in [
        ("filter.evil.clean", &*touch),
        ("filter.evil.smudge", &touch),
        ("filter.evil.required", "true"),
        ("core.fsmonitor", &touch),
        ("diff.evil.command", &touch),
        ("merge.evil.driver", &touch),
    ] {
        git(&path, &["config", key, value]);
    }
    write(&path, ".gitattributes", "* filter=evil diff=evil merge=evil\n");
    write(&path, ".git/hooks/post-index-change", &format!("#!/bin/sh\n{touch}\n"));
    std::fs::set_permissions(path.join(".git/hooks/post-index-change"), PermissionsExt::from_mode(0o755)).unwrap();
    write(&path, "a", "2");
    let measured = fixture.measure();
    assert_eq!(shown(&measured.changes), ["Created 100644 .gitattributes", "Modified 100644 a"]);
    let copy = fixture.workspace.copy(&measured.tree).unwrap();
    assert_eq!(std::fs::read_to_string(copy.path().join("a")).unwrap(), "2");
    let other = fixture.written("other", &[("a", "3")]);
    fixture.workspace.land("u", &fixture.workspace.base().tree, &other, &measured.tree).unwrap();
    fixture.workspace.diff(&other, &measured.tree, None, 1000).unwrap();
    fixture.workspace.publish(&measured.tree, "m", &by()).unwrap();
    assert!(!ran.exists());
}

#[test]
fn bytes_are_kept_whatever_the_attributes_say() {
    let fixture = fixture(&[(".gitattributes", "* text eol=crlf ident\n"), ("a", "one\r\n$Id$\r\n")]);
    let measured = fixture.measure();
    assert_eq!(measured.changes, []);
    let path = fixture.tree().path;
    write(&path, "a", "one\n$Id: x$\r\n");
    let measured = fixture.measure();
    let copy = fixture.workspace.copy(&measured.tree).unwrap();
    assert_eq!(std::fs::read_to_string(copy.path().join("a")).unwrap(), "one\n$Id: x$\r\n");
}

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
    assert_eq!(old, Old::Aside);
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
    std::fs::remove_dir_all(path.join("dir")).unwrap();
    symlink("/etc", path.join("dir")).unwrap();
    let measured = fixture.measure();
    let expected = ["absolute", "chained", "climbs", "dir", "fine", "loop"];
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
    assert_eq!(measured.special, ["a"].map(Name::from));
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
    huge.set_len(measure::FILE_BYTES_MAX + 1).unwrap();
    let measure = || fixture.workspace.measure(&fixture.tree(), &fixture.workspace.base().tree).unwrap_err();
    assert!(measure().code().as_str() == "TG0507" && measure().to_string().contains("huge"), "{}", measure());
    // Many that are just small enough are too much together.
    for number in 0..=measure::TOTAL_BYTES_MAX / measure::FILE_BYTES_MAX {
        let name = if number == 0 { "huge".to_owned() } else { format!("large-{number}") };
        let file = std::fs::File::create(fixture.tree().path.join(name)).unwrap();
        file.set_len(measure::FILE_BYTES_MAX).unwrap();
    }
    assert!(measure().code().as_str() == "TG0507" && measure().to_string().contains("together"), "{}", measure());
}

#[test]
fn resetting_keeps_the_old_content_under_a_ref() {
    let fixture = fixture(&[("a", "1")]);
    let next = fixture.written("other", &[("b", "landed")]);
    write(&fixture.tree().path, "a", "mine");
    let old = fixture.measure().tree;
    let (tree, kept) = fixture.workspace.reset_tree(None, &next, &|_| false).unwrap();
    let Old::Kept(kept) = kept else { panic!("{kept:?}") };
    let private = fixture.workspace.git.clone();
    assert_eq!(private.id(&["rev-parse", &format!("{kept}^{{tree}}")]).unwrap(), old);
    assert_eq!(private.run(&["for-each-ref", "refs/kept"]).unwrap().iter().filter(|byte| **byte == b'\n').count(), 1);
    assert_eq!(std::fs::read_to_string(tree.path.join("a")).unwrap(), "1");
    assert_eq!(fixture.workspace.measure(&tree, &next).unwrap().changes, []);
    assert!(!tree.path.with_file_name("@run@old-1").exists());
    // Again: the content is the same, and so is what is kept.
    let (_, kept) = fixture.workspace.reset_tree(None, &next, &|_| false).unwrap();
    let (_, again) = fixture.workspace.reset_tree(None, &next, &|_| false).unwrap();
    assert_eq!(kept, again);
    // What the journal names needs no ref.
    let refs = || private.run(&["for-each-ref", "refs/kept"]).unwrap();
    let before = refs();
    write(&tree.path, "a", "landed since");
    let held = fixture.workspace.measure(&tree, &next).unwrap().tree;
    let (_, old) = fixture.workspace.reset_tree(None, &next, &|tree| *tree == held).unwrap();
    assert_eq!((old, refs()), (Old::Recorded, before));
}

#[test]
fn copies_go_when_they_are_dropped() {
    let fixture = fixture(&[("a", "1")]);
    let next = fixture.written("u", &[("b", "2")]);
    let (one, two) = (fixture.workspace.copy(&next).unwrap(), fixture.workspace.copy(&next).unwrap());
    assert_ne!(one.path(), two.path());
    assert_eq!(git(one.path(), &["status", "--porcelain"]), "");
    assert_eq!(git(one.path(), &["diff", "--name-only", "HEAD~1"]), "b");
    let path = one.path().to_owned();
    drop(one);
    assert!(!path.exists() && two.path().join("b").exists());
}

#[test]
fn changes_that_fit_land_and_others_conflict() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let fixture = fixture(&[("a", lines)]);
    let base = fixture.workspace.base().tree.clone();
    let ours = fixture.written("ours", &[("a", &lines.replace('1', "one"))]);
    let theirs = fixture.written("theirs", &[("a", &lines.replace('9', "nine")), ("new", "x")]);
    let clash = fixture.written("clash", &[("a", &lines.replace('1', "eins"))]);
    let land = |theirs: &ObjectId| fixture.workspace.land("theirs", &base, &ours, theirs).unwrap();
    let Landing::Landed { tree } = land(&theirs) else { panic!("a conflict") };
    let text = fixture.workspace.file(&tree, "a").unwrap().unwrap();
    assert_eq!(text, lines.replace('1', "one").replace('9', "nine").into_bytes());
    assert_eq!(land(&theirs), Landing::Landed { tree: tree.clone() });
    assert_eq!(land(&base), Landing::Landed { tree: ours.clone() });
    assert_eq!(
        fixture.workspace.land("theirs", &base, &tree, &theirs).unwrap(),
        Landing::Landed { tree },
        "landed already"
    );
    let Landing::Conflict { paths, how, marked } = land(&clash) else { panic!("no conflict") };
    assert_eq!((paths, &*how), (vec!["a".into()], "CONFLICT (content): Merge conflict in a"));
    let text = String::from_utf8(fixture.workspace.file(&marked, "a").unwrap().unwrap()).unwrap();
    assert!(text.starts_with("<<<<<<< side/landed\none\n=======\neins\n>>>>>>> side/unit-theirs\n"), "{text}");
    assert_eq!(fixture.workspace.file(&base, "absent").unwrap(), None);
}

#[test]
fn a_file_that_still_holds_the_marks_of_a_collision_does_not_land() {
    let fixture = fixture(&[("a", "1\n"), ("b", "1\n")]);
    let base = fixture.workspace.base().tree.clone();
    let ours = fixture.written("ours", &[("a", "one\n"), ("b", "")]);
    let theirs = fixture.written("theirs", &[("a", "eins\n"), ("b", "zwei\n")]);
    let Landing::Conflict { paths, marked, .. } = fixture.workspace.land("u", &base, &ours, &theirs).unwrap() else {
        panic!("no conflict")
    };
    assert_eq!(paths, ["a", "b"].map(Name::from));
    let again = |theirs: &ObjectId, collided: &[&str]| {
        let collided: Vec<Name> = collided.iter().map(|path| Name::from(*path)).collect();
        fixture.workspace.land_whole("u", [&ours, &ours, theirs], &collided, None).unwrap()
    };
    let Landing::Conflict { paths, how, marked: same } = again(&marked, &["a", "b"]) else { panic!("it lands") };
    assert_eq!((paths.len(), same), (2, marked.clone()));
    assert!(how.starts_with("a still holds the marks of the collision\nb "), "{how}");
    // Marks that somebody writes about elsewhere are nobody's business.
    assert_eq!(again(&marked, &["absent"]), Landing::Landed { tree: marked.clone() });
    let mended = fixture.written("mended", &[("a", "one and eins\n"), ("b", "<<<<<<< HEAD\n")]);
    assert_eq!(again(&mended, &["a", "b"]), Landing::Landed { tree: mended.clone() });
}

#[test]
fn a_shown_work_tree_holds_what_the_question_is_about_and_is_then_left_to_the_person() {
    let fixture = fixture(&[("a", "1")]);
    let (workspace, base) = (&fixture.workspace, fixture.workspace.base().tree.clone());
    let newer = fixture.written("newer", &[("a", "2")]);
    let lost = fixture.written("lost", &[("a", "given back")]);
    let read = |tree: &WorkTree| std::fs::read_to_string(tree.path.join("a")).unwrap();
    let names = |tree: &ObjectId| *tree != lost;
    let known = |start| TreeRecord { start, is_leased: &|token| token < 9, names: &names };
    let first = workspace.shown_tree(Some("u"), known(&base)).unwrap();
    write(&first.path, "a", "by hand");
    assert_eq!(read(&workspace.shown_tree(Some("u"), known(&base)).unwrap()), "by hand");
    // The run went on: what was changed of something older is not put away by a look; an answer does not take it, and it is kept.
    assert_eq!(read(&workspace.shown_tree(Some("u"), known(&newer)).unwrap()), "by hand");
    let answer = || workspace.given_tree(Some("u"), known(&newer)).map(|tree| read(&tree));
    assert!(matches!(answer(), Err(WorkspaceError::NotShown { .. })));
    let kept = || git(&workspace.run_folder().join("git"), &["for-each-ref", "--format=%(refname)", "refs/kept"]);
    assert_eq!(kept().matches("refs/kept/u/").count(), 1);
    write(&first.path, "a", "by hand again");
    assert_eq!(answer().unwrap(), "by hand again");
    // A worker was sent there, and a question is asked: what it left is kept aside.
    workspace.hand_over(&first, &Hands::Sent(7)).unwrap();
    assert_eq!(read(&workspace.shown_tree(Some("u"), known(&newer)).unwrap()), "by hand again", "it works there still");
    assert!(matches!(answer(), Err(WorkspaceError::WorkedIn(_))));
    workspace.comes_back(&first, 6).unwrap();
    assert!(matches!(answer(), Err(WorkspaceError::WorkedIn(_))), "somebody else came back");
    workspace.comes_back(&first, 7).unwrap();
    assert_eq!(read(&workspace.shown_tree(Some("u"), known(&newer)).unwrap()), "2");
    assert_eq!(kept().matches("refs/kept/u/").count(), 2);
    // What a person changed of what it left, and the run took, is the person's before it was shown.
    workspace.hand_over(&first, &Hands::Left(newer.clone())).unwrap();
    write(&first.path, "a", "by hand, unseen");
    assert_eq!(read(&workspace.shown_tree(Some("u"), known(&newer)).unwrap()), "by hand, unseen");
    // An answer is written down, and a worker sent there in the same moment: it stays the worker's.
    let taken = || {
        let (held, tree) = (workspace.hold_clean().unwrap(), workspace.given_tree(Some("u"), known(&newer)).unwrap());
        Taken { tree, shown: newer.clone(), given: base.clone(), held }
    };
    let answered = taken();
    workspace.hand_over(&first, &Hands::Sent(8)).unwrap();
    workspace.take_over(answered).unwrap();
    assert!(matches!(answer(), Err(WorkspaceError::WorkedIn(_))));
    // A worker that the journal does not know is none, and an answer that it does not know is a change.
    workspace.hand_over(&first, &Hands::Sent(9)).unwrap();
    assert_eq!(read(&workspace.shown_tree(Some("u"), known(&newer)).unwrap()), "2");
    write(&first.path, "a", "given back");
    workspace.hand_over(&first, &Hands::Shown(lost.clone())).unwrap();
    assert_eq!(read(&workspace.shown_tree(Some("u"), known(&newer)).unwrap()), "given back");
    assert!(matches!(answer(), Err(WorkspaceError::NotShown { .. })));
    write(&first.path, "a", "by hand, unseen");
    // A git that was killed left its lock.
    std::fs::write(workspace.folder.index("u").with_extension("u.lock"), "").unwrap();
    assert_eq!(answer().unwrap(), "by hand, unseen");
}

#[test]
fn publishing_is_idempotent_and_overwrites_nothing_of_others() {
    let fixture = fixture(&[("a", "1")]);
    let tree = fixture.written("u", &[("a", "2")]);
    let branch = format!("tollgate/{RUN}");
    let one = fixture.workspace.publish(&tree, "The work", &by()).unwrap();
    assert_eq!(fixture.workspace.publish(&tree, "The work", &by()).unwrap(), one);
    assert_eq!(git(&fixture.root, &["rev-parse", &branch]), one.as_str());
    assert_eq!(git(&fixture.root, &["show", &format!("{branch}:a")]), "2");
    assert_eq!(git(&fixture.root, &["log", "-1", "--format=%an %at %s", &branch]), "Ada 1700000000 The work");
    git(&fixture.root, &["fsck", "--strict", "--no-dangling"]);
    assert_eq!(git(&fixture.root, &["status", "--porcelain"]), "");
    // More work, also after a crash between the branch and the note of it.
    let more = fixture.written("v", &[("a", "3")]);
    fixture.workspace.git.run(&["update-ref", "-d", "refs/published"]).unwrap();
    let two = fixture.workspace.publish(&more, "The work", &by()).unwrap();
    assert_eq!(git(&fixture.root, &["rev-parse", &branch]), two.as_str());
    // Somebody else's commit stays.
    git(&fixture.root, &["update-ref", &format!("refs/heads/{branch}"), "HEAD"]);
    let error = fixture.workspace.publish(&more, "The work", &by()).unwrap_err();
    assert_eq!(error.code().as_str(), "TG0508");
}

#[test]
fn areas_are_digested_whole_and_by_scope() {
    let fixture = fixture(&[("src/a", "1"), ("tests/t", "1")]);
    let area =
        |name: &str, pattern: &str| Area { name: name.into(), patterns: vec![pattern.into()], place: Place::default() };
    let areas = vec![area("tests", "tests/**"), area("code", "**")];
    let scopes = BTreeMap::from([(Name::from("u"), vec![Name::from("src/")])]);
    let parts = Parts { areas, scopes, ..Parts::default() };
    let content = || {
        let tree = fixture.measure().tree;
        scope::content(tree.name(), &fixture.workspace.entries(&tree).unwrap(), &parts)
    };
    let before = content();
    write(&fixture.tree().path, "tests/t", "2");
    let after = content();
    assert_eq!(after.areas["code"], before.areas["code"]);
    assert_ne!(after.areas["tests"], before.areas["tests"]);
    assert_eq!(after.scoped, before.scoped);
    assert_ne!(after.tree, before.tree);
}

#[test]
fn linked_checkouts_shallow_clones_and_sha256_work() {
    let origin = repository("origin", &[("a", "1")]);
    git(&origin, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let around = folder("around");
    git(&origin, &["worktree", "add", "-q", "-b", "side", &around.join("linked").to_string_lossy()]);
    let url = format!("file://{}", origin.display());
    git(&around, &["clone", "-q", "--depth=1", &url, "shallow"]);
    git(&around, &["init", "-q", "--object-format=sha256", "sha256"]);
    write(&around.join("sha256"), "a", "1");
    git(&around.join("sha256"), &["add", "."]);
    git(&around.join("sha256"), &["commit", "-q", "-m", "first"]);
    for name in ["linked", "shallow", "sha256"] {
        let state = folder(name);
        let found = open(&around.join(name), &state).unwrap();
        let workspace = Workspace::create(&state, run(), found, Dirty::Refuse, &by()).unwrap();
        let tree = workspace.work_tree(None, &workspace.base().tree).unwrap();
        write(&tree.path, "b", "2");
        let measured = workspace.measure(&tree, &workspace.base().tree).unwrap();
        assert_eq!(shown(&measured.changes), ["Created 100644 b"], "{name}");
        let commit = workspace.publish(&measured.tree, "m", &by()).unwrap();
        assert_eq!(git(&around.join(name), &["rev-parse", &format!("tollgate/{RUN}")]), commit.as_str());
    }
}

#[test]
fn a_submodule_is_left_empty_and_files_in_it_are_named() {
    let root = repository("submodule", &[("a", "1")]);
    let commit = git(&root, &["rev-parse", "HEAD"]);
    git(&root, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    git(&root, &["commit", "-q", "-m", "submodule"]);
    std::fs::create_dir(root.join("sub")).unwrap();
    let fixture = fixture_of(root);
    let measured = fixture.measure();
    assert_eq!((measured.changes, measured.nested), (vec![], vec![]));
    write(&fixture.tree().path, "sub/hidden", "1");
    let measured = fixture.measure();
    assert_eq!((measured.changes, measured.nested), (vec![], vec!["sub".into()]));
}

#[test]
fn a_work_tree_that_is_gone_or_a_link_is_refused() {
    let fixture = fixture(&[("a", "1")]);
    let tree = fixture.tree();
    std::fs::remove_dir_all(&tree.path).unwrap();
    let measure = || fixture.workspace.measure(&tree, &fixture.workspace.base().tree).unwrap_err().code();
    assert_eq!(measure().as_str(), "TG0509");
    symlink("/etc", &tree.path).unwrap();
    assert_eq!(measure().as_str(), "TG0509");
}

#[test]
fn a_creation_that_was_cut_off_goes_on() {
    let Fixture { root, state, workspace } = fixture(&[("a", "1")]);
    // After the note, before the pin; and before the note.
    git(&root, &["update-ref", "-d", &format!("refs/tollgate/{RUN}/base")]);
    let again = |dirty| Workspace::create(&state, run(), open(&root, &state).unwrap(), dirty, &by()).unwrap();
    assert_eq!(again(Dirty::Refuse).base(), workspace.base());
    assert!(all_refs(&root).contains("refs/tollgate"));
    std::fs::remove_file(remembered_path(&state, run())).unwrap();
    assert_eq!(again(Dirty::Refuse).base(), workspace.base());
    // A lock that a killed git left is in nobody's way.
    std::fs::write(git_path(&state, run()).join("index.@run.lock"), "").unwrap();
    let reopened = reopen(&state, &workspace).unwrap();
    reopened.sweep().unwrap();
    let tree = reopened.work_tree(None, &reopened.base().tree).unwrap();
    assert_eq!(reopened.measure(&tree, &reopened.base().tree).unwrap().changes, []);
}

#[test]
fn what_is_written_down_beside_a_run_must_agree_with_its_journal() {
    let Fixture { root, state, workspace } = fixture(&[("a", "1")]);
    let other = repository("other", &[("b", "2")]);
    let path = remembered_path(&state, run());
    let text = std::fs::read_to_string(&path).unwrap();
    let names = |from: &str, to: &str| {
        std::fs::write(&path, text.replace(from, to)).unwrap();
        reopen(&state, &workspace)
    };
    let base = workspace.base();
    let second = git(&root, &["commit-tree", "-m", "second", base.tree.as_str()]);
    for (from, to) in [(root.display().to_string(), other.display().to_string()), (base.commit.to_string(), second)] {
        let error = names(&from, &to).unwrap_err();
        assert!(error.code().as_str() == "TG0509" && error.to_string().contains("the journal"), "{error}");
    }
    // The checkout is right and the git folder is not: nothing is written there.
    let forged = names(&root.join(".git").display().to_string(), &other.join(".git").display().to_string()).unwrap();
    let error = forged.publish(&base.tree, "message", &by()).unwrap_err();
    assert!(error.code().as_str() == "TG0509" && all_refs(&other) == "refs/heads/main", "{error}");
    names("", "").unwrap().publish(&base.tree, "message", &by()).unwrap();
}
