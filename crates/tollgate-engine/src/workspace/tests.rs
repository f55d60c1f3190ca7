use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use tollgate_core::Name;
use tollgate_core::diagnostic::Place;
use tollgate_core::scope::Area;
use tollgate_core::scope::{self, Parts};

mod content;
mod conversions;
mod delivery;
mod locked_base;
mod stat_cache;
mod unfinished_starts;
mod unusual_entries;

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
    let Base { commit, tree } = &workspace.base;
    let checkout = workspace.checkout.as_ref();
    Origin { repository, commit: commit.as_str(), tree: tree.as_str(), checkout }
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
fn resetting_keeps_the_old_content_under_a_ref() {
    let fixture = fixture(&[("a", "1")]);
    let next = fixture.written("other", &[("b", "landed")]);
    write(&fixture.tree().path, "a", "mine");
    let old = fixture.measure().tree;
    let (tree, kept) = fixture.workspace.reset_tree(None, &next, &|_| false).unwrap();
    let PreviousContent::Kept(kept) = kept else { panic!("{kept:?}") };
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
    assert_eq!((old, refs()), (PreviousContent::Recorded, before));
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
fn a_shown_work_tree_holds_what_the_question_is_about_and_is_then_left_to_the_person() {
    let fixture = fixture(&[("a", "1")]);
    let (workspace, base) = (&fixture.workspace, fixture.workspace.base().tree.clone());
    let newer = fixture.written("newer", &[("a", "2")]);
    let lost = fixture.written("lost", &[("a", "given back")]);
    let read = |tree: &WorkTree| std::fs::read_to_string(tree.path.join("a")).unwrap();
    let names = |tree: &ObjectId| *tree != lost;
    let known = |start| TreeRecord { start, is_leased: &|token| token < 9, names: &names };
    let first = workspace.tree_to_edit(Some("u"), known(&base)).unwrap();
    write(&first.path, "a", "by hand");
    assert_eq!(read(&workspace.tree_to_edit(Some("u"), known(&base)).unwrap()), "by hand");
    // The run went on: what was changed of something older is not put away by a look; an answer does not take it, and it is kept.
    assert_eq!(read(&workspace.tree_to_edit(Some("u"), known(&newer)).unwrap()), "by hand");
    let answer = || workspace.returned_tree(Some("u"), known(&newer)).map(|tree| read(&tree));
    assert!(matches!(answer(), Err(WorkspaceError::NotShown { .. })));
    let kept = || git(&workspace.run_folder().join("git"), &["for-each-ref", "--format=%(refname)", "refs/kept"]);
    assert_eq!(kept().matches("refs/kept/u/").count(), 1);
    write(&first.path, "a", "by hand again");
    assert_eq!(answer().unwrap(), "by hand again");
    // A worker was sent there, and a question is asked: what it left is kept aside.
    workspace.set_custody(&first, &Custody::Sent(7)).unwrap();
    assert_eq!(
        read(&workspace.tree_to_edit(Some("u"), known(&newer)).unwrap()),
        "by hand again",
        "it works there still"
    );
    assert!(matches!(answer(), Err(WorkspaceError::WorkedIn(_))));
    workspace.worker_left(&first, 6).unwrap();
    assert!(matches!(answer(), Err(WorkspaceError::WorkedIn(_))), "somebody else came back");
    workspace.worker_left(&first, 7).unwrap();
    assert_eq!(read(&workspace.tree_to_edit(Some("u"), known(&newer)).unwrap()), "2");
    assert_eq!(kept().matches("refs/kept/u/").count(), 2);
    // What a person changed of what it left, and the run took, is the person's before it was shown.
    workspace.set_custody(&first, &Custody::Left(newer.clone())).unwrap();
    write(&first.path, "a", "by hand, unseen");
    assert_eq!(read(&workspace.tree_to_edit(Some("u"), known(&newer)).unwrap()), "by hand, unseen");
    // An answer is written down, and a worker sent there in the same moment: it stays the worker's.
    let taken = || {
        let (held, tree) =
            (workspace.lock_clean().unwrap(), workspace.returned_tree(Some("u"), known(&newer)).unwrap());
        ReturnedTree { tree, shown: newer.clone(), given: base.clone(), held }
    };
    let answered = taken();
    workspace.set_custody(&first, &Custody::Sent(8)).unwrap();
    workspace.accept_returned(answered).unwrap();
    assert!(matches!(answer(), Err(WorkspaceError::WorkedIn(_))));
    // A worker that the journal does not know is none, and an answer that it does not know is a change.
    workspace.set_custody(&first, &Custody::Sent(9)).unwrap();
    assert_eq!(read(&workspace.tree_to_edit(Some("u"), known(&newer)).unwrap()), "2");
    write(&first.path, "a", "given back");
    workspace.set_custody(&first, &Custody::Shown(lost.clone())).unwrap();
    assert_eq!(read(&workspace.tree_to_edit(Some("u"), known(&newer)).unwrap()), "given back");
    assert!(matches!(answer(), Err(WorkspaceError::NotShown { .. })));
    write(&first.path, "a", "by hand, unseen");
    // A git that was killed left its lock.
    std::fs::write(workspace.folder.index("u").with_extension("u.lock"), "").unwrap();
    assert_eq!(answer().unwrap(), "by hand, unseen");
}

#[test]
fn areas_are_digested_whole_and_by_scope() {
    let fixture = fixture(&[("src/a", "1"), ("tests/t", "1")]);
    let area =
        |name: &str, pattern: &str| Area { name: name.into(), patterns: vec![pattern.into()], place: Place::default() };
    let areas = vec![area("tests", "tests/**"), area("code", "**")];
    let scopes = BTreeMap::from([("u".into(), vec![Name::from("src/")])]);
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
