//! Landing in a run, and publishing what came of it.

use super::*;

#[test]
fn changes_that_fit_land_and_others_conflict() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let fixture = fixture(&[("a", lines)]);
    let base = fixture.workspace.base().tree.clone();
    let ours = fixture.written("ours", &[("a", &lines.replace('1', "one"))]);
    let theirs = fixture.written("theirs", &[("a", &lines.replace('9', "nine")), ("new", "x")]);
    let clash = fixture.written("clash", &[("a", &lines.replace('1', "eins"))]);
    let land = |theirs: &ObjectId| fixture.workspace.land("theirs", &base, &ours, theirs).unwrap();
    let MergeOutcome::Landed { tree } = land(&theirs) else { panic!("a conflict") };
    let text = fixture.workspace.file(&tree, "a").unwrap().unwrap();
    assert_eq!(text, lines.replace('1', "one").replace('9', "nine").into_bytes());
    assert_eq!(land(&theirs), MergeOutcome::Landed { tree: tree.clone() });
    assert_eq!(land(&base), MergeOutcome::Landed { tree: ours.clone() });
    assert_eq!(
        fixture.workspace.land("theirs", &base, &tree, &theirs).unwrap(),
        MergeOutcome::Landed { tree },
        "landed already"
    );
    let MergeOutcome::Conflict { paths, how, marked } = land(&clash) else { panic!("no conflict") };
    assert_eq!((paths, &*how), (vec!["a".into()], "CONFLICT (content): Merge conflict in a"));
    let text = String::from_utf8(fixture.workspace.file(&marked, "a").unwrap().unwrap()).unwrap();
    assert!(text.starts_with("<<<<<<< side/landed\none\n=======\neins\n>>>>>>> side/unit-theirs\n"), "{text}");
    assert_eq!(fixture.workspace.file(&base, "absent").unwrap(), None);
}

/// What changed is counted from the tree that is given, not from the commit that the run started on.
#[test]
fn a_change_lands_from_the_tree_it_was_made_on() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let fixture = fixture(&[("a", lines)]);
    let landed = fixture.written("landed", &[("a", &lines.replace('1', "one"))]);
    let ours = fixture.written("ours", &[("a", &lines.replace('1', "uno"))]);
    let theirs = fixture.written("theirs", &[("a", &lines.replace('1', "one").replace('9', "nine"))]);
    let landing = fixture.workspace.land("theirs", &landed, &ours, &theirs).unwrap();
    let MergeOutcome::Landed { tree } = landing else { panic!("a conflict: {landing:?}") };
    let text = fixture.workspace.file(&tree, "a").unwrap().unwrap();
    assert_eq!(text, lines.replace('1', "uno").replace('9', "nine").into_bytes());
}

#[test]
fn a_file_that_still_holds_the_marks_of_a_collision_does_not_land() {
    let fixture = fixture(&[("a", "1\n"), ("b", "1\n"), ("c", "1\0")]);
    let base = fixture.workspace.base().tree.clone();
    let ours = fixture.written("ours", &[("a", "one\n"), ("b", ""), ("c", "one\0")]);
    let theirs = fixture.written("theirs", &[("a", "eins\n"), ("b", "zwei\n"), ("c", "eins\0")]);
    let MergeOutcome::Conflict { paths, marked, .. } = fixture.workspace.land("u", &base, &ours, &theirs).unwrap()
    else {
        panic!("no conflict")
    };
    assert_eq!(paths, ["a", "b", "c"].map(Name::from));
    let again = |theirs: &ObjectId, collided: &[&str]| {
        let collided: Vec<Name> = collided.iter().map(|path| Name::from(*path)).collect();
        fixture.workspace.land_whole("u", [&ours, &ours, theirs], &collided, Some(&marked)).unwrap()
    };
    let MergeOutcome::Conflict { paths, how, marked: same } = again(&marked, &["a", "b", "c"]) else {
        panic!("it lands")
    };
    assert_eq!((paths.len(), same), (3, marked.clone()));
    assert!(how.starts_with("a still holds the marks of the collision\nb "), "{how}");
    assert!(how.contains("\nc is as the collision left it, which git cannot mark"), "{how}");
    // Marks that somebody writes about elsewhere are nobody's business.
    assert_eq!(again(&marked, &[]), MergeOutcome::Landed { tree: marked.clone() });
    let mended = fixture.written("mended", &[("a", "one and eins\n"), ("b", "<<<<<<< HEAD\n"), ("c", "both\0")]);
    assert_eq!(again(&mended, &["a", "b", "c"]), MergeOutcome::Landed { tree: mended.clone() });
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
