//! Landing a unit on the run, and publishing the branch of a run that succeeded.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_core::Name;
use tollgate_core::id::{AttemptId, UnitId};
use tollgate_core::protocol::Outcome;
use tollgate_core::run::decide::Landing as Landed;
use tollgate_core::run::event::{LandOutcome, Work};
use tollgate_core::run::gate;
use tollgate_core::run::waiver::{Waiver, waivers};
use tollgate_core::run::{Event, Run};
use tollgate_core::scope::{self, Content};
use tollgate_core::text::plain_line;
use tollgate_store::{Point, reach};

use super::{Failure, LocalExecutor, all_landed, content_of, scope_policy, tree_id};
use crate::session;
use crate::workspace::{MergeOutcome, ObjectId, Signature};

/// How much of a waived row or finding the message of a commit shows.
const TRAILER_CHARS_MAX: usize = 200;
/// How many paths a landing names.
pub const LANDED_PATHS_MAX: usize = 10_000;

impl LocalExecutor {
    /// Puts a unit's change on the run's tree, if it stays within its scope and fits.
    pub(super) fn land(&self, run: &Run, id: AttemptId) -> Result<Landed, Failure> {
        let lease = run.attempts.get(&id).ok_or_else(|| Failure::Other("the lease is gone".to_owned()))?;
        let Work::Land { unit, base, onto } = &lease.work else {
            return Err(Failure::Other("this is no landing".to_owned()));
        };
        reach(Point::BeforeLand);
        let workspace = self.workspace(run)?;
        let _held = self.touch(run, lease.epoch)?;
        let (base, onto, theirs) = (tree_id(base)?, tree_id(onto)?, tree_id(&lease.tree)?);
        let changed: Vec<Name> = workspace.changes(&base, &theirs)?.into_iter().map(|change| change.path).collect();
        let known = run.unit(unit);
        let allowed = known.map(|unit| unit.scope.clone()).unwrap_or_default();
        let collided = known.and_then(|unit| unit.tree.as_ref()).and_then(|own| own.collision.as_ref());
        let collided = collided.map(|collision| collision.paths.as_slice()).unwrap_or_default();
        let classified = scope::classify(changed, &allowed);
        let landing = |outcome, paths: Vec<Name>| Landed {
            outcome,
            content: None,
            collided: None,
            measured: Vec::new(),
            paths: paths.into_iter().take(LANDED_PATHS_MAX).collect(),
            by_policy: Vec::new(),
            why: String::new(),
        };
        let (by_policy, outside) =
            scope_policy::by_policy(&workspace, run, unit, [&base, &theirs], classified.outside)?;
        if !outside.is_empty() {
            return Ok(landing(LandOutcome::OutOfScope, outside));
        }
        let outdated = gate::outdated(run, unit, &content_of(&workspace, run, &theirs)?);
        let again = |tree: &Name| Ok(content_of(&workspace, run, &tree_id(tree)?)?);
        let measured: Vec<Content> = outdated.iter().map(again).collect::<Result<_, Failure>>()?;
        let landing = |outcome, paths| Landed { measured, ..landing(outcome, paths) };
        let given = if collided.is_empty() { None } else { self.given_back(run, unit)? };
        let landed = workspace.land_whole(unit, [&base, &onto, &theirs], collided, given.as_ref())?;
        reach(Point::AfterLand);
        Ok(match landed {
            MergeOutcome::Landed { tree } => Landed {
                content: Some(content_of(&workspace, run, &tree)?),
                by_policy: by_policy.iter().take(LANDED_PATHS_MAX).cloned().collect(),
                ..landing(LandOutcome::Landed, [classified.inside, by_policy].concat())
            },
            MergeOutcome::Conflict { paths, how, marked } => Landed {
                collided: Some(content_of(&workspace, run, &marked)?),
                why: how,
                ..landing(LandOutcome::Conflict, paths)
            },
        })
    }

    /// The tree that a unit was given back with its collisions; none once it landed, or a person who was asked about them has
    /// mended it by hand.
    fn given_back(&self, run: &Run, unit: &UnitId) -> Result<Option<ObjectId>, Failure> {
        let events = session::events(&*self.journal, run.id, 0, u64::MAX);
        let (mut landings, mut given) = (BTreeSet::new(), None);
        let (mut came_by, mut about, mut last) = (BTreeMap::new(), BTreeSet::new(), None);
        let conflict = Outcome::Land(LandOutcome::Conflict);
        for recorded in events.map_err(|error| Failure::Other(error.to_string()))? {
            match recorded.event {
                Event::AttemptStarted(started) => {
                    if matches!(&started.work, Work::Land { unit: of, .. } if of == unit) {
                        landings.insert(started.attempt);
                    }
                }
                // What moved nothing leaves what was given back as it is.
                Event::LandingEnded(ended) if landings.contains(&ended.attempt) => {
                    last = Some(ended.outcome);
                    match ended.outcome {
                        LandOutcome::Conflict => given = ended.collided.map(|content| content.tree),
                        LandOutcome::Landed => given = None,
                        LandOutcome::OutOfScope | LandOutcome::Refused => {}
                    }
                }
                Event::FlowMoved(moved) => drop(came_by.insert(moved.instance, moved.outcome)),
                Event::DecisionAsked(asked) => {
                    let by_conflict = came_by.get(&asked.asked.instance).is_some_and(|outcome| *outcome == conflict);
                    // A question can come to the same place by an answer: it is about a collision when the landing was one.
                    if by_conflict && last == Some(LandOutcome::Conflict) {
                        about.insert(asked.decision);
                    }
                }
                Event::TreeChanged(changed)
                    if changed.unit.as_ref() == Some(unit) && about.contains(&changed.decision) =>
                {
                    given = None;
                }
                _ => {}
            }
        }
        given.map(|tree| tree_id(&tree)).transpose()
    }

    /// Commits the closing tree on the run's own branch.
    pub(super) fn publish(&self, run: &Run) -> Result<(Name, Name), Failure> {
        let workspace = self.workspace(run)?;
        let tree = tree_id(&run.tree)?;
        let message = message(run, &run.opened.title, &waivers(run));
        let by = signature(run.closed_ms.unwrap_or(run.opened_ms));
        let _held = self.work.lock(&self.state, run.id)?;
        workspace.keep_manual_edits(&|content| run.contents.contains_key(content.as_str()));
        let commit = workspace.publish(&tree, &message, &by)?;
        // The branch holds the base from now on, and nothing else needs it unless work was kept or left aside.
        workspace.release(all_landed(run))?;
        reach(Point::Unpinned);
        Ok((format!("tollgate/{}", run.id).into(), commit.name()))
    }
}

/// The message of a commit that hands a run over. What people waived is named in it, a trailer each.
pub(super) fn message(run: &Run, title: &str, waived: &[Waiver]) -> String {
    let protocol = &run.opened.protocol;
    let waived: String = waived.iter().map(trailer).collect();
    format!(
        "{}\n\nRun: {}\nProtocol: {} version {}\nTree: {}\n{waived}",
        plain_line(title),
        run.id,
        protocol.name,
        protocol.version,
        run.tree
    )
}

fn trailer(Waiver { what, text, by }: &Waiver) -> String {
    let by = by.as_ref().map_or_else(|| "a person".to_owned(), |(decision, name)| format!("{name} ({decision})"));
    let text = if text.is_empty() { String::new() } else { format!(": {text}") };
    // A trailer is one line.
    let line = plain_line(&format!("{by}: {what}{text}"));
    let short: String = line.chars().take(TRAILER_CHARS_MAX).collect();
    format!("Waived-by: {short}\n")
}

/// A commit that is made again under the same time is the same.
pub(super) fn signature(at_ms: u64) -> Signature {
    Signature { name: "Tollgate".to_owned(), email: "tollgate@localhost".to_owned(), at_s: at_ms / 1000 }
}
