//! What must be true when a history is over, besides the same end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use tollgate_core::digest::Digest;
use tollgate_core::run::{Recorded, Run};
use tollgate_testkit::golden::moments;

use crate::Outcome;
use crate::history::{Played, end_all};
use crate::picture::{Picture, lost_by_instance};
use crate::world::World;

/// How long a process that was killed may take to be gone.
const GONE_LIMIT: Duration = Duration::from_secs(2);

/// What can be wrong with a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// Something is not as in the run that was never killed.
    Lost,
    /// Something happened twice.
    Doubled,
    /// A process is left.
    Orphan,
}

/// Everything that is wrong with a history that is over.
pub fn check(
    world: &World,
    run: &Run,
    events: &[Recorded],
    played: &Played,
    whole: Option<&Picture>,
) -> Outcome<Found> {
    let mut found = Found::default();
    found.orphans(world);
    let mut picture = Picture::of(run, events, &world.root.display().to_string())?;
    picture.parts.insert("work trees".to_owned(), files(&world.path("state/trees").join(run.id.to_string())));
    if let Some(whole) = whole {
        for (more, what) in picture.differs(whole) {
            found.add(if more { Wrong::Doubled } else { Wrong::Lost }, what);
        }
    }
    for (instance, lost) in lost_by_instance(events) {
        if lost > played.kills + played.pauses {
            found.add(Wrong::Doubled, format!("{instance}: {lost} attempts repeated"));
        }
    }
    found.effects(world)?;
    found.kept(world, run, played)?;
    found.left_over(world, run)?;
    let id = run.id.to_string();
    let status = world.start(&["verify".to_owned(), id], None)?.wait()?;
    if !status.success() {
        found.add(Wrong::Lost, format!("`verify` ends with {status}"));
    }
    found.picture = Some(picture);
    found.moments = moments(events);
    Ok(found)
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// What is wrong.
    pub wrong: Vec<(Wrong, String)>,
    /// How the run ended.
    pub picture: Option<Picture>,
    /// What it came to.
    pub moments: BTreeSet<String>,
}

impl Found {
    /// Adds something that is wrong.
    pub fn add(&mut self, wrong: Wrong, what: String) {
        self.wrong.push((wrong, what));
    }

    /// Processes that are left; they are ended here.
    pub fn orphans(&mut self, world: &World) {
        let until = Instant::now() + GONE_LIMIT;
        let mut left = world.processes();
        while !left.is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
            left = world.processes();
        }
        for (pid, line) in left {
            self.add(Wrong::Orphan, format!("process {pid} is left: {line}"));
        }
        end_all(world);
    }

    /// No effect happens twice under one token: every worker and command notes the token it was started with.
    fn effects(&mut self, world: &World) -> Outcome {
        let log = std::fs::read_to_string(world.path("log"))?;
        let mut begun: BTreeMap<&str, usize> = BTreeMap::new();
        for token in log.lines().filter_map(|line| line.strip_prefix("begin ")) {
            *begun.entry(token).or_default() += 1;
        }
        for (token, times) in begun.into_iter().filter(|(_, times)| *times > 1) {
            self.add(Wrong::Doubled, format!("{times} processes were started under {token}"));
        }
        Ok(())
    }

    /// What a killed worker left unfinished in a work tree is kept, unless it went on and finished it.
    fn kept(&mut self, world: &World, run: &Run, played: &Played) -> Outcome {
        let log = std::fs::read_to_string(world.path("log"))?;
        let ended: BTreeSet<&str> =
            log.lines().filter_map(|line| line.strip_prefix("end ")?.rsplit('/').next()).collect();
        let git = world.path("state/runs").join(run.id.to_string()).join("git");
        let git = format!("--git-dir={}", git.display());
        let commits = world.git(&[&git, "for-each-ref", "--format=%(objectname)", "refs/kept"])?;
        let mut kept = String::new();
        for commit in commits.lines() {
            kept.push_str(&world.git(&[&git, "ls-tree", "-r", "--name-only", commit])?);
        }
        let unfinished: BTreeSet<&String> = played.unfinished.iter().collect();
        for name in unfinished {
            let token = name.trim_start_matches("wip-");
            let aside = world.path("state/trees").join(run.id.to_string());
            let aside = list(&aside).iter().any(|tree| tree.contains("@old") && world.path(tree).join(name).exists());
            if !ended.contains(token) && !aside && !kept.lines().any(|path| path == name) {
                self.add(Wrong::Lost, format!("the unfinished work of token {token} is nowhere"));
            }
        }
        // What is kept borrows from the user's repository, and nothing else does any more.
        let pins = world.git(&["for-each-ref", "--format=%(refname)", "refs/tollgate"])?;
        if commits.is_empty() && !pins.is_empty() {
            self.add(Wrong::Lost, format!("stray refs: {pins}"));
        }
        Ok(())
    }

    /// Locks, half-made folders, claims and records that nobody owns.
    fn left_over(&mut self, world: &World, run: &Run) -> Outcome {
        let id = run.id.to_string();
        let mut stray: Vec<String> = Vec::new();
        let branch = format!("refs/heads/tollgate/{id}");
        for name in world.git(&["for-each-ref", "--format=%(refname)"])?.lines() {
            if ![&*branch, "refs/heads/main", &*format!("refs/tollgate/{id}/base")].contains(&name) {
                stray.push(name.to_owned());
            }
        }
        stray.extend(list(&world.path("state/runs")).into_iter().filter(|path| !path.ends_with(&id)));
        stray.extend(list(&world.path("state/scratch")));
        stray.extend(list(&world.path("state/runs").join(&id).join("copies")));
        let trees = list(&world.path("state/trees").join(&id));
        stray.extend(trees.into_iter().filter(|path| path.contains("@new") || path.contains("@kept")));
        for folder in [world.path("work/.git"), world.path("state/runs").join(&id).join("git")] {
            locks(&folder, &mut stray);
        }
        for path in list(&world.path("state/workers")) {
            if std::fs::read_to_string(&path).is_ok_and(|marker| marker.starts_with(&id)) {
                stray.push(path);
            }
        }
        if world.git(&["status", "--porcelain", "--ignored"])? != world.status {
            stray.push("changes in the user's checkout".to_owned());
        }
        if let Some(commit) = &run.published {
            let tree = world.git(&["rev-parse", &format!("{branch}^{{tree}}"), &branch])?;
            if !tree.lines().eq([&*run.tree, &**commit]) {
                self.add(Wrong::Lost, format!("the branch holds {tree} instead of {}", run.tree));
            }
        }
        let landed: Vec<&str> = run.landed.iter().map(|landed| &*landed.commit).collect();
        let head = world.git(&["rev-parse", "HEAD"])?;
        match landed.as_slice() {
            [] => {}
            [commit] if head.trim() == *commit => {}
            [_] => self.add(Wrong::Lost, format!("the checkout is at {head} instead of {landed:?}")),
            _ => self.add(Wrong::Doubled, format!("it landed {} times", landed.len())),
        }
        for path in stray {
            self.add(Wrong::Lost, format!("left over: {path}"));
        }
        Ok(())
    }
}

/// Every file of the work trees, with the digest of what it holds; git folders and what lies aside left out.
fn files(trees: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![trees.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let left_out = name == ".git" || folder == trees && name.contains("@old");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.extend((!left_out).then_some(path));
            } else {
                let digest = Digest::of(&std::fs::read(&path).unwrap_or_default());
                found.push(format!("{} {digest}", path.strip_prefix(trees).unwrap_or(&path).display()));
            }
        }
    }
    found.sort();
    found
}

fn list(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path().display().to_string()).collect()
}

fn locks(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            locks(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            found.push(path.display().to_string());
        }
    }
}
