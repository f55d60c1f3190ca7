//! What a start or a driver leaves that was cut off, and who may touch what.

use std::time::Duration;

use super::*;

fn refs_of_ours(root: &Path) -> String {
    git(root, &["for-each-ref", "--format=%(refname)", "refs/tollgate"])
}

/// Sweeps until nothing is left in the scratch folder: another test of this process may just start a program, which has a
/// copy of every lock for a moment.
fn sweep_all(state: &Path, opened: bool) {
    for _ in 0..500 {
        sweep_starts(state, &|_| Some(opened));
        if std::fs::read_dir(state.join("scratch")).unwrap().count() == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the scratch folder is not empty");
}

fn leave_start(state: &Path, root: &Path) -> Claim {
    let claim = claim_start(state, run()).unwrap();
    let found = Repository::open(root, claim.path()).unwrap();
    Workspace::create(state, run(), found, Dirty::Refuse, &by()).unwrap();
    claim
}

#[test]
fn a_start_that_was_cut_off_is_undone_by_the_next_and_a_living_one_is_not() {
    let (root, state) = (repository("cut-off", &[("a", "1")]), folder("state"));
    let claim = leave_start(&state, &root);
    sweep_starts(&state, &|_| Some(false));
    assert!(refs_of_ours(&root).contains("base") && git_path(&state, run()).exists(), "somebody is at it");
    // Its process dies: the lock goes, the folder stays.
    claim.leave();
    sweep_starts(&state, &|_| None);
    assert!(git_path(&state, run()).exists(), "nothing is removed while the journal cannot be asked");
    sweep_all(&state, false);
    assert_eq!(refs_of_ours(&root), "");
    assert!(!state.join("runs").join(RUN).exists());
}

#[test]
fn a_start_that_came_to_a_run_keeps_everything_but_its_claim() {
    let (root, state) = (repository("started", &[("a", "1")]), folder("state"));
    leave_start(&state, &root).leave();
    sweep_all(&state, true);
    assert!(refs_of_ours(&root).contains("base") && git_path(&state, run()).exists());
}

#[test]
fn work_is_never_undone_whatever_the_journal_says() {
    let (root, state) = (repository("worked", &[("a", "1")]), folder("state"));
    leave_start(&state, &root).leave();
    write(&state, &format!("trees/{RUN}/@run/a"), "work");
    sweep_all(&state, false);
    assert!(refs_of_ours(&root).contains("base") && git_path(&state, run()).exists());
}

#[test]
fn a_start_whose_repository_is_gone_is_undone_all_the_same() {
    let (root, state) = (repository("gone", &[("a", "1")]), folder("state"));
    leave_start(&state, &root).leave();
    std::fs::remove_dir_all(&*root).unwrap();
    sweep_all(&state, false);
    assert!(!state.join("runs").join(RUN).exists());
}

#[test]
fn the_pin_goes_when_nothing_needs_it() {
    let Fixture { root, state, workspace } = fixture(&[("a", "1")]);
    let tree = workspace.work_tree(None, &workspace.base().tree).unwrap();
    write(&tree.path, "a", "2");
    workspace.release(false).unwrap();
    assert!(refs_of_ours(&root).contains("base"), "a tree holds work that has not landed");
    let PreviousContent::Kept(kept) = workspace.keep(&tree, &|_| false).unwrap() else { panic!("it is kept") };
    workspace.release(true).unwrap();
    assert!(refs_of_ours(&root).contains("base"), "{kept} needs what it borrows");
    workspace.git.run(&["update-ref", "-d", &format!("refs/kept/@run/{kept}")]).unwrap();
    workspace.release(true).unwrap();
    assert_eq!(refs_of_ours(&root), "");
    workspace.release(true).unwrap();
    drop(state);
}

#[test]
fn a_pin_that_somebody_moved_is_left_alone() {
    let Fixture { root, state: _state, workspace } = fixture(&[("a", "1")]);
    git(&root, &["commit", "-q", "--allow-empty", "-m", "second"]);
    git(&root, &["update-ref", &format!("refs/tollgate/{RUN}/base"), "HEAD"]);
    workspace.release(false).unwrap();
    assert!(refs_of_ours(&root).contains("base"));
}

#[test]
fn a_snapshot_of_a_dirty_checkout_needs_no_object_that_can_be_cleaned_away() {
    let (root, state) = (repository("pruned", &[("a", "1\n")]), folder("state"));
    // The user's repository knows the content already, but no ref leads to it.
    write(&root, "a", "dirty\n");
    write(&root, "dir/b", "new\n");
    for file in ["a", "dir/b"] {
        git(&root, &["hash-object", "-w", file]);
    }
    let found = open(&root, &state).unwrap();
    let folder = GitFolder::create(
        &git_path(&state, run()),
        &found.head,
        &[&found.shared.objects],
        &found.shared,
        Kind::Private,
    );
    let folder = folder.unwrap();
    let private = engine_git(folder.path(), run()).unwrap();
    let base = found.snapshot(&private, &folder, &by()).unwrap();
    git(&root, &["gc", "-q", "--prune=now"]);
    let blobs = private.list(&base.tree).unwrap();
    assert_eq!(blobs.len(), 2);
    for entry in blobs {
        assert!(private.run(&["cat-file", "-e", &entry.blob]).is_ok(), "{} is gone", entry.path);
    }
    let workspace = Workspace::create(&state, run(), found, Dirty::Include, &by()).unwrap();
    git(&root, &["gc", "-q", "--prune=now"]);
    assert_eq!(git(&root, &["show", &format!("refs/tollgate/{RUN}/base:dir/b")]), "new");
    assert!(!refs_of_ours(&root).contains("handed"));
    assert_eq!(
        std::fs::read_to_string(workspace.copy(&workspace.base().tree).unwrap().path().join("a")).unwrap(),
        "dirty\n"
    );
}

#[test]
fn staged_content_that_is_cleaned_away_meanwhile_is_read_from_the_file() {
    let (root, state) = (repository("staged", &[("a", "1\n")]), folder("state"));
    write(&root, "a", "staged\n");
    git(&root, &["add", "a"]);
    let found = open(&root, &state).unwrap();
    let blob = git(&root, &["hash-object", "a"]);
    std::fs::remove_file(root.join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let workspace = Workspace::create(&state, run(), found, Dirty::Include, &by()).unwrap();
    assert_eq!(workspace.file(&workspace.base().tree, "a").unwrap().unwrap(), b"staged\n");
}

#[test]
fn one_executor_at_a_time_touches_the_work_and_the_other_hears_who() {
    let state = folder("held");
    let (shared, other) = (WorkLocks::default(), WorkLocks::default());
    let first = shared.lock(&state, run()).unwrap();
    let second = shared.lock(&state, run()).unwrap();
    drop(first);
    let briefly = || Workspace::lock_within(&state, run(), Duration::from_millis(50));
    assert!(briefly().is_err(), "a thread of the holder still has it");
    drop(second);
    let other = other.lock(&state, run()).unwrap();
    let error = briefly().unwrap_err();
    assert_eq!(error.code().as_str(), "TG0517");
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    drop(other);
    Workspace::lock(&state, run()).unwrap();
}
