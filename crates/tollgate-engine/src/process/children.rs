//! The children of this process: those it started, and orphans that came back to it.
//!
//! A process that forks twice and clears its environment is in nobody's tree. A driver adopts such orphans: they become its
//! children, and as it knows which children it started itself, it knows these.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpid};

use super::table::{ProcessId, Stat, own_pid};

static FAMILY: Mutex<Children> = Mutex::new(Children { adopts: false, started: BTreeMap::new() });

struct Children {
    adopts: bool,
    /// The children that this process started and has not reaped.
    started: BTreeMap<ProcessId, Role>,
}

/// What a child that was started is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A tool of the engine.
    Tool,
    /// An attempt under way: an orphan may come from it.
    Attempt,
    /// An attempt whose processes are being ended.
    Ending,
}

fn family() -> MutexGuard<'static, Children> {
    FAMILY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process the parent of every orphan below it; they are ended with the attempt they come from.
///
/// Nothing is adopted when children are there already that were not started here: they, and what they leave, are not ours.
pub fn adopt_orphans() {
    let mut family = family();
    let own = own_pid();
    let strange = Stat::all().iter().any(|stat| stat.parent == own && !family.started.contains_key(&stat.id()));
    if !family.adopts && !strange {
        family.adopts = set_child_subreaper(Some(getpid())).is_ok();
    }
}

/// Starts a program and remembers it as ours, before anybody can take it for an orphan.
pub(super) fn spawn(command: &mut Command, attempt: bool) -> io::Result<(Child, ProcessId)> {
    let mut family = family();
    let child = command.spawn()?;
    let id = ProcessId::of(child.id());
    family.started.insert(id, if attempt { Role::Attempt } else { Role::Tool });
    Ok((child, id))
}

/// The processes of an attempt are about to be ended: it can have no more orphans of its own.
pub(super) fn ends(id: ProcessId) {
    if let Some(child) = family().started.get_mut(&id) {
        *child = Role::Ending;
    }
}

/// A child was reaped.
pub(super) fn ended(id: ProcessId) {
    family().started.remove(&id);
}

/// The orphans in a table that no attempt under way can have left. Those that are dead are reaped, and told once.
pub(super) fn orphans(table: &[Stat]) -> BTreeSet<ProcessId> {
    let family = family();
    if !family.adopts {
        return BTreeSet::new();
    }
    let own = own_pid();
    let adopted = |stat: &&Stat| stat.parent == own && !family.started.contains_key(&stat.id());
    let orphans: Vec<&Stat> = table.iter().filter(adopted).collect();
    for stat in orphans.iter().filter(|stat| stat.dead) {
        let pid = i32::try_from(stat.pid).ok().and_then(Pid::from_raw);
        waitpid(pid, WaitOptions::NOHANG).ok();
    }
    let may_be_of_another = |stat: &Stat| {
        let mut others = family.started.iter().filter(|(_, child)| **child == Role::Attempt);
        others.any(|(other, _)| other.start <= stat.start)
    };
    orphans.into_iter().filter(|stat| !may_be_of_another(stat)).map(Stat::id).collect()
}
