//! Repositories inside of what may be written, and what a configuration makes a part of git there.

use super::moved::{NESTED, SUBMODULE, acting, shell};
use super::stage::{report, says};
use crate::leash::holds;

const DIRTY: &str =
    "cd p/m && echo 1 > l && git add -A && git commit -qm l && cd ../.. && git commit -qam l && echo precious >> p/m/l";

/// What is not committed in a submodule, or in a repository that nobody tracks, is somebody's work as any other.
#[test]
fn what_is_not_committed_in_a_repository_inside_of_a_surface_is_not_written_over() {
    let submodule = format!("{SUBMODULE} && {DIRTY}");
    let new = format!("{SUBMODULE} && echo precious > p/m/l");
    let nested = format!("({NESTED}) && echo precious > v/sub/a");
    let unborn = "git init -q v/sub && echo v >> .git/info/exclude && echo precious > v/sub/a";
    let flag = |flag: &str| format!("git update-index --{flag} src/main.rs && echo precious >> src/main.rs");
    let (skipped, assumed) = (flag("skip-worktree"), flag("assume-unchanged"));
    let flagged = format!("{submodule} && git -C p/m update-index --skip-worktree l");
    let lost = format!("{SUBMODULE} && echo precious > p/m/l && rm -rf .git/modules");
    for (before, surfaces, file, named) in [
        (&*submodule, &["p/m", "p", "p/m/l", "p/**/l"][..], "p/m/l", "p/m/l"),
        (&flagged, &["p/m"], "p/m/l", "p/m/l"),
        (&skipped, &["src"], "src/main.rs", "src/main.rs"),
        (&assumed, &["src"], "src/main.rs", "src/main.rs"),
        (&new, &["p/m"], "p/m/l", "p/m/l"),
        (&nested, &["v"], "v/sub/a", "v/sub/a"),
        (unborn, &["v"], "v/sub/a", "v/sub: everything: there is no commit yet"),
        (&lost, &["p"], "p/m/l", "p/m: unknown, because its git folder is missing"),
    ] {
        let mut stage = acting(&format!("echo OVER > {file}"), before, surfaces[0]);
        for allowed in surfaces {
            stage.allows(allowed).delegate().is("BLOCKED", Some("dirty_workspace"), 1).says(named);
            assert!(std::fs::read_to_string(stage.work(file)).unwrap().ends_with("precious\n"), "{allowed}");
        }
        let done = stage.delegate_with(&["--allow-dirty"]);
        done.is("PASS", None, 0).says(&format!("not committed before, and no part of what was measured: {named}"));
    }
    // Git may be told not to look at what is as it was, or left out.
    let same =
        "git update-index --assume-unchanged src/main.rs && git update-index --skip-worktree README.md && rm README.md";
    acting("echo x > src/main.rs", same, "src").delegate().is("PASS", None, 0);
    // What nobody writes may be as it is, and whoever judges may be shown anything.
    acting("echo x > src/main.rs", &submodule, "src").delegate().is("PASS", None, 0);
    let mut judges = acting("true", &submodule, "p");
    judges.role = "verifier".to_owned();
    judges.acts(&says(&report("verifier", "PASS")));
    let found = judges.dossier("worker_role", "verifier".into()).delegate();
    assert_ne!(found.report["reason"], "dirty_workspace", "{:#}", found.report);
}

/// Which repository it is stands in a file or a link, and that may lead over a link that lies in a surface.
#[test]
fn a_link_on_the_way_to_the_git_folder_is_held() {
    if !holds() {
        return;
    }
    let before =
        "mkdir -p v/real/r && printf 'v\\nw\\n' > .git/info/exclude && ln -s real v/l && mv .git v/real/r/g && ";
    for points in ["ln -s v/l/r/g .git", "echo 'gitdir: v/l/r/g' > .git", "ln -s v/l/r/g w && ln -s w .git"] {
        let acts = "(rm -f v/l; mkdir -p v/evil/r; ln -sfn evil v/l; mv v/l v/k) 2>/dev/null; rm -rf v/evil; echo x > v/a || exit 9";
        let stage = acting(acts, &format!("{before}{points}"), "v");
        let done = stage.delegate();
        done.is("PASS", None, 0);
        assert_eq!(done.list("changed_surfaces"), ["v/a"], "{points}");
        assert_eq!(std::fs::read_link(stage.work("v/l")).unwrap(), std::path::Path::new("real"), "{points}");
    }
}

/// Hooks and configuration that lie in the checkout are git's, wherever that is told.
#[test]
fn what_a_configuration_makes_a_part_of_git_is_held_and_blocks() {
    let commit = "git add -A && git commit -qm h";
    let hooks = format!("mkdir -p k/a && echo x > k/a/x && {commit} && git config core.hooksPath k/a");
    let later = "git config core.hooksPath k/a && mkdir -p k && echo k >> .git/info/exclude";
    let include = format!("mkdir k && touch k/g && {commit} && git config include.path ../k/g");
    let nested =
        format!("({NESTED}) && cd v/sub && mkdir k && touch k/g && {commit} && git config include.path ../k/g");
    for (before, allowed, plants, git) in [
        (&*hooks, "k", "k/a/post-commit", "k/a"),
        (later, "k", "k/a/post-commit", "k/a"),
        (&include, "k", "k/g", "k/g"),
        (&nested, "v", "v/sub/k/g", "v/sub/k/g"),
    ] {
        is_gits(before, allowed, plants, git);
    }
    // A whole checkout is nobody's hooks.
    for odd in [".", "", "src/..", "/dev/null"] {
        let stage = acting("echo x > src/main.rs", "true", "src");
        shell(&stage, &format!("git config core.hooksPath '{odd}'"));
        stage.delegate().is("PASS", None, 0);
    }
}

/// What a worker plants there is found, and where something holds it and it is there it cannot be planted.
#[track_caller]
fn is_gits(before: &str, allowed: &str, plants: &str, git: &str) {
    let acts = format!("(mkdir -p $(dirname {plants}); echo '[core]' > {plants}) 2>/dev/null; echo x > {allowed}/b");
    let found = acting(&acts, before, allowed).unheld().delegate();
    found
        .is("BLOCKED", Some("report_validation_failed"), 1)
        .says(&format!("{plants}: a worker does not change what git keeps"));
    let mut stage = acting(&acts, before, git);
    if stage.work(git).exists() && holds() {
        stage.delegate().is("BLOCKED", Some("invalid_dossier"), 1).says("what git keeps");
        let done = stage.allows(allowed).delegate();
        done.is("PASS", None, 0);
        assert_eq!(done.list("changed_surfaces"), [format!("{allowed}/b")], "{before}");
    }
}

/// Git follows links in its folders, and reads what a configuration names that holds elsewhere or later.
#[test]
fn what_git_reaches_from_its_folders_is_held_and_blocks() {
    let made = "mkdir -p k/a && echo 1 > k/a/x && echo 1 > k/pc && touch k/g && git add -A && git commit -qm k";
    let hook = "ln -s $PWD/k/pc .git/HOOKS/post-commit";
    for (then, plants, git) in [
        (hook.replace("HOOKS", "hooks"), "k/pc", "k/pc"),
        ("rm -rf .git/hooks && ln -s ../k/a .git/hooks".to_owned(), "k/a/post-commit", "k/a"),
        ("cat .git/config > k/g && git commit -qam c && ln -sf ../k/g .git/config".to_owned(), "k/g", "k/g"),
        ("ln -sf ../../k/g .git/info/attributes".to_owned(), "k/g", "k/g"),
        (
            "ln -s ../pc k/a/post-commit && git add -A && git commit -qm l && git config core.hooksPath k/a".to_owned(),
            "k/pc",
            "k/pc",
        ),
        (
            "git config -f .git/more core.hooksPath k/a && git config includeIf.onbranch:foo.path more".to_owned(),
            "k/a/post-commit",
            "k/a",
        ),
        (format!("{SUBMODULE} && git -C p/m config include.path $PWD/k/g"), "k/g", "k/g"),
        (format!("{SUBMODULE} && {}", hook.replace("HOOKS", "modules/p/m/hooks")), "k/pc", "k/pc"),
        (
            "git worktree add -q ../linked && git config extensions.worktreeConfig true && \
             git -C ../linked config --worktree include.path $PWD/k/g"
                .to_owned(),
            "k/g",
            "k/g",
        ),
        ("ln -s $PWD/k/g ../home/.gitconfig".to_owned(), "k/g", "k/g"),
    ] {
        is_gits(&format!("{made} && {then}"), "k", plants, git);
    }
    // Links that lead elsewhere, and round in a circle, hold nothing up.
    let odd = "ln -s ../../nowhere .git/hooks/post-commit && ln -s round .git/info/round";
    acting("echo x > src/main.rs", odd, "src").delegate().is("PASS", None, 0);
}
