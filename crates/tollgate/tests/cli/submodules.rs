//! Submodules: an empty folder in a work tree, what somebody puts there instead, and those that the setup fills.

use tollgate_core::report::Health;

use crate::measured::{PROTOCOL, REPORT, changed, naming, play, reports};

/// A submodule is an empty folder in a work tree. What is there instead is the change, and what no tree can hold is said.
#[test]
fn a_submodule_that_goes_is_a_change_and_one_that_is_filled_fails_the_attempt() {
    let filled = "the work tree contains entries git cannot store: `src/lib` is a submodule, and what lies in its folder is in no commit";
    for (acts, changes, why) in [
        ("git rm -q src/lib", &["Modified .gitmodules", "Deleted src/lib"][..], ""),
        ("echo x > src/lib/file", &[], filled),
    ] {
        let mut play = play(acts, "true");
        let protocol = PROTOCOL.replace("\"README.md\"", "\"README.md\", \".gitmodules\", src");
        std::fs::write(play.world.path("alone.yaml"), protocol).unwrap();
        let head = play.world.git(&["rev-parse", "HEAD"]);
        play.world.write(".gitmodules", "[submodule \"lib\"]\n\tpath = src/lib\n\turl = ../lib\n");
        play.world.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},src/lib", head.trim())]);
        std::fs::create_dir_all(play.world.path("work/src/lib")).unwrap();
        play.world.commit("A submodule");
        let reported = reports(&mut play, &[]).remove(0);
        assert_eq!(changed(&reported), changes, "{acts}: {}", reported.reason);
        if !why.is_empty() {
            assert_eq!((reported.health, &*reported.reason), (Health::Failed, why), "{acts}");
        }
    }
}

/// A setup that fills a submodule (`git submodule update --init`), and caches that name it: the work has it, and it is no change.
#[test]
fn a_submodule_that_is_a_cache_is_filled_by_the_setup_and_counts_for_nobody() {
    let setup = "echo 'gitdir: ../../.git/modules/lib' > src/lib/.git; echo 1 > src/lib/file";
    let report = REPORT.replace("0 modified", "1 modified") + "\n## Files Modified\n- README.md\n";
    for (caches, works) in [("src/lib", true), ("deps", false)] {
        let acts = "grep -q 1 src/lib/file; echo 2 > src/lib/file; echo x >> README.md";
        let mut play = naming(&report, acts, "grep -q 1 src/lib/file");
        let folder = play.world.path("home/.config/tollgate");
        std::fs::create_dir_all(&folder).unwrap();
        let config = format!("[worktree]\nsetup = [\"sh\", \"-c\", \"{setup}\"]\ncaches = [\"{caches}\"]\n");
        std::fs::write(folder.join("config.toml"), config).unwrap();
        let head = play.world.git(&["rev-parse", "HEAD"]);
        play.world.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},src/lib", head.trim())]);
        std::fs::create_dir_all(play.world.path("work/src/lib")).unwrap();
        play.world.commit("A submodule");
        if works {
            let all = reports(&mut play, &[]);
            assert_eq!((all[0].health, changed(&all[0])), (Health::Ok, vec!["Modified README.md".to_owned()]));
            assert_eq!((all.len(), all[1].health), (2, Health::Ok), "{}", all[1].reason);
            let entries = play.world.git(&["ls-tree", "-r", &format!("tollgate/{}", play.run)]);
            assert!(entries.contains(&format!("160000 commit {}\tsrc/lib", head.trim())), "{entries}");
        } else {
            let words = ["run", "../alone.yaml", "--worker", "maker=command:maker", "--worker", "judge=command:judge"];
            play.tollgate(&words).exits(3).says("changed files of the tree: src/lib");
        }
    }
}

/// Whoever removes a submodule that was filled for them removes it, and what is made there for the next ones is no change.
#[test]
fn a_submodule_that_is_a_cache_can_be_removed() {
    let setup = "mkdir -p src/lib; echo 'gitdir: ../../.git/modules/lib' > src/lib/.git; echo 1 > src/lib/file";
    let report = REPORT.replace("0 deleted", "1 deleted") + "\n## Files Deleted\n- src/lib\n";
    for acts in ["rm -rf src/lib", "git rm -qf --cached src/lib; rm -rf src/lib"] {
        let mut play = naming(&report, acts, "test ! -e src/lib || grep -q 1 src/lib/file");
        let folder = play.world.path("home/.config/tollgate");
        std::fs::create_dir_all(&folder).unwrap();
        let config = format!("[worktree]\nsetup = [\"sh\", \"-c\", \"{setup}\"]\ncaches = [\"src/lib\"]\n");
        std::fs::write(folder.join("config.toml"), config).unwrap();
        let head = play.world.git(&["rev-parse", "HEAD"]);
        play.world.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},src/lib", head.trim())]);
        std::fs::create_dir_all(play.world.path("work/src/lib")).unwrap();
        play.world.commit("A submodule");
        let all = reports(&mut play, &[]);
        assert_eq!(
            (all[0].health, &*all[0].reason, changed(&all[0])),
            (Health::Ok, "", vec!["Deleted src/lib".to_owned()])
        );
        assert_eq!((all.len(), all[1].health, &*all[1].reason), (2, Health::Ok, ""));
        let entries = play.world.git(&["ls-tree", "-r", &format!("tollgate/{}", play.run)]);
        assert!(!entries.contains("src/lib"), "{entries}");
    }
}
