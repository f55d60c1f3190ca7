//! A world without files: trees that exist by name, what changed between two of them, and landings.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::{ScopePolicy, Value};
use tollgate_core::report::Judgement;
use tollgate_core::run::decide::Landing;
use tollgate_core::run::event::{ChangeKind, Changed, CommandRef, CommandResult, LandOutcome};
use tollgate_core::run::repetition::Once;
use tollgate_core::run::{self, Run, gate};
use tollgate_core::scope::{self, Content, Entry, Parts};

/// Paths and the content of each, as a number.
pub type Tree = BTreeMap<Name, u64>;

/// What comes of a command whose runs end like this.
pub fn ran(command: CommandRef, runs: &[Judgement]) -> CommandResult {
    let once = |result: &Judgement| {
        let runs = vec![Once { result: *result, exit: None, output: None }];
        CommandResult { runs, result: *result, ..CommandResult::unobserved(command.clone(), "") }
    };
    let all = CommandResult::joined(runs.iter().map(once).collect()).into_iter().next();
    all.unwrap_or_else(|| CommandResult::unobserved(command.clone(), "it was not run"))
}

/// All trees anybody ever wrote.
#[derive(Debug, Clone, Default)]
pub struct World {
    trees: BTreeMap<Name, Tree>,
}

impl World {
    /// Names a tree by its content.
    pub fn put(&mut self, tree: Tree) -> Name {
        let lines: Vec<String> = tree.iter().map(|(path, blob)| format!("{blob} {path}")).collect();
        let name = Name::from(Digest::of(lines.join("\n").as_bytes()).short());
        self.trees.insert(name.clone(), tree);
        name
    }

    /// A tree by name; one nobody wrote is empty.
    pub fn tree(&self, name: &str) -> Tree {
        self.trees.get(name).cloned().unwrap_or_default()
    }

    /// A tree with some paths written over it; none takes a path away.
    pub fn write(&mut self, base: &str, changes: &[(Name, Option<u64>)]) -> Name {
        let mut tree = self.tree(base);
        for (path, blob) in changes {
            match blob {
                Some(blob) => drop(tree.insert(path.clone(), *blob)),
                None => drop(tree.remove(path)),
            }
        }
        self.put(tree)
    }

    /// What evidence binds to in the tree that a run begins with.
    pub fn opening(&self, name: &Name, protocol: &Protocol, id: RunId, inputs: &BTreeMap<Name, Value>) -> Content {
        let documents = run::documents(protocol, id, inputs);
        self.content_of(name, &Parts { areas: protocol.areas.clone(), documents, ..Parts::default() })
    }

    fn content_of(&self, name: &Name, parts: &Parts) -> Content {
        let tree = self.tree(name);
        let entries: Vec<Entry> = tree
            .iter()
            .map(|(path, blob)| Entry { path: path.clone(), mode: "100644".into(), blob: blob.to_string().into() })
            .collect();
        scope::content(name.clone(), &entries, parts)
    }

    /// What evidence binds to in a tree of a run.
    pub fn content(&self, run: &Run, name: &Name) -> Content {
        self.content_of(name, &run.parts())
    }

    /// What is different in another tree.
    pub fn changed(&self, from: &str, to: &str) -> Vec<Changed> {
        let (from, to) = (self.tree(from), self.tree(to));
        let name = |blob: Option<&u64>| blob.map(|blob| Name::from(blob.to_string()));
        let paths: BTreeSet<&Name> = to.keys().chain(from.keys()).collect();
        let change = |path: &&Name| {
            let (was, now) = (from.get(*path), to.get(*path));
            let kind = match (was, now) {
                (was, now) if was == now => return None,
                (None, _) => ChangeKind::Created,
                (_, None) => ChangeKind::Deleted,
                (Some(_), Some(_)) => ChangeKind::Modified,
            };
            Some(Changed { path: (*path).clone(), kind, was: name(was), now: name(now) })
        };
        paths.iter().filter_map(change).collect()
    }

    /// Puts what a unit changed since its base onto its caller's tree, as the engine would.
    pub fn land(&mut self, run: &Run, unit: &str, base: &str, onto: &Name) -> Landing {
        let known = run.unit(unit);
        let own = known.and_then(|unit| unit.tree.as_ref()).map_or_else(|| onto.clone(), |own| own.tree.clone());
        let scope = known.map(|unit| unit.scope.clone()).unwrap_or_default();
        let mine = self.changed(base, &own);
        let paths = |paths: Vec<Name>| (paths, String::new());
        let outdated = gate::outdated(run, &unit.into(), &self.content(run, &own));
        let measured: Vec<Content> = outdated.iter().map(|tree| self.content(run, tree)).collect();
        let landing = |outcome, (paths, why)| Landing {
            outcome,
            content: None,
            collided: None,
            measured: measured.clone(),
            paths,
            by_policy: Vec::new(),
            why,
        };
        let touched: Vec<Name> = mine.iter().map(|change| change.path.clone()).collect();
        let outside = scope::classify(touched.clone(), &scope).outside;
        let (by_policy, outside): (Vec<Name>, Vec<Name>) =
            outside.into_iter().partition(|path| match run.policy_outside(&unit.into(), path) {
                ScopePolicy::Strict => false,
                // In this world a name says what a file is to the others.
                ScopePolicy::Incidental => scope::matches("**/*1.rs", path),
                ScopePolicy::Advisory => true,
            });
        if !outside.is_empty() {
            return landing(LandOutcome::OutOfScope, paths(outside));
        }
        let (before, theirs, ours) = (self.tree(base), self.tree(onto), self.tree(&own));
        let collides = |path: &&Name| theirs.get(*path) != before.get(*path) && theirs.get(*path) != ours.get(*path);
        let collisions: Vec<Name> = touched.iter().filter(collides).cloned().collect();
        let changes: Vec<(Name, Option<u64>)> =
            touched.iter().map(|path| (path.clone(), ours.get(path).copied())).collect();
        let joined = self.write(onto, &changes);
        let content = self.content(run, &joined);
        if collisions.is_empty() {
            Landing { content: Some(content), by_policy, ..landing(LandOutcome::Landed, paths(touched)) }
        } else {
            Landing { collided: Some(content), ..landing(LandOutcome::Conflict, paths(collisions)) }
        }
    }
}
