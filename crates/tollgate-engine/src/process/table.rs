//! The process table: who descends from whom, who carries a marker, and how to end them all.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::time::{Duration, Instant};

use super::children;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

/// The variable that marks every process of an attempt: `run_…/att_…/TOKEN`.
pub const MARKER: &str = "TOLLGATE_ATTEMPT";
const ENVIRON_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// `PF_KTHREAD` among the flags of a process.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// A tree that forks while it is killed is looked at this often.
const KILL_ROUNDS: u32 = 200;
const POLL_MS: u64 = 5;
/// A process that is just becoming another program is looked at this often.
const EXEC_ROUNDS: u32 = 1_000;

/// A process, told apart from a later one with the same number by when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId {
    /// Its number.
    pub pid: u32,
    /// When it started, in ticks since the machine did; 0 when it is gone.
    pub start: u64,
}

/// The number of this process in the table: in a pid namespace that sees the table of another, it is not what the system says.
pub(super) fn own_pid() -> u32 {
    let named = std::fs::read_link("/proc/self").ok().and_then(|link| link.to_str()?.parse().ok());
    named.unwrap_or_else(std::process::id)
}

impl ProcessId {
    /// The process that has this number now.
    pub fn of(pid: u32) -> Self {
        Self { pid, start: Stat::read(pid).map_or(0, |stat| stat.start) }
    }

    /// This process.
    pub fn own() -> Self {
        Self::of(own_pid())
    }

    /// Whether it still runs (a process that only waits to be reaped does not).
    pub fn is_alive(self) -> bool {
        Stat::read(self.pid).is_some_and(|stat| stat.start == self.start && !stat.dead)
    }

    /// Its ancestors, nearest first, without itself.
    pub fn ancestors(self) -> Vec<Self> {
        let mut found = Vec::new();
        let mut next = Stat::read(self.pid).map(|stat| stat.parent);
        while let Some(stat) = next.filter(|pid| *pid > 0).and_then(Stat::read) {
            found.push(stat.id());
            next = Some(stat.parent);
        }
        found
    }

    fn signal(self, signal: Signal) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return };
        // The handle keeps naming this process; the number alone might name another by now.
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.is_alive() {
            pidfd_send_signal(handle, signal).ok();
        }
    }
}

/// What `/proc/PID/stat` says.
pub(super) struct Stat {
    pub pid: u32,
    pub parent: u32,
    group: u32,
    session: u32,
    pub start: u64,
    /// It has ended and waits to be reaped.
    pub dead: bool,
    /// Where its environment begins and ends; zeros while it becomes another program.
    environ: (u64, u64),
    kernel: bool,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything; the fields after the last one are numbers.
        let text = String::from_utf8_lossy(&text);
        let (_, after) = text.trim_ascii_end().rsplit_once(") ")?;
        let fields: Vec<&str> = after.split(' ').collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
        let small = |at: usize| number(at).and_then(|number| u32::try_from(number).ok());
        Some(Self {
            pid,
            parent: small(1)?,
            group: small(2)?,
            session: small(3)?,
            start: number(19)?,
            dead: matches!(fields.first(), Some(&"Z" | &"X")),
            environ: (number(47)?, number(48)?),
            kernel: number(6)? & KERNEL_THREAD != 0,
        })
    }

    pub fn id(&self) -> ProcessId {
        ProcessId { pid: self.pid, start: self.start }
    }

    /// Every process there is.
    pub fn all() -> Vec<Self> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(Self::read).collect()
    }
}

/// Every process there is, but the dead.
fn all() -> Vec<Stat> {
    Stat::all().into_iter().filter(|stat| !stat.dead).collect()
}

/// The marker in a process's environment; none when it has none or may not be looked at.
pub(super) fn marker_of(pid: u32) -> Option<String> {
    marker_in(&Stat::read(pid)?)
}

fn marker_in(stat: &Stat) -> Option<String> {
    // While a process becomes another program its environment is gone, or goes in the middle of a reading.
    let again = || {
        std::thread::sleep(Duration::from_millis(1));
        Stat::read(stat.pid).map_or(Some(Vec::new()), |stat| environ_of(&stat))
    };
    let environ = environ_of(stat).or_else(|| (0..EXEC_ROUNDS).find_map(|_| again()))?;
    let value =
        environ.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// A process's environment, empty when it has none or may not be looked at; nothing when it was not read whole.
fn environ_of(stat: &Stat) -> Option<Vec<u8>> {
    if stat.dead || stat.kernel {
        return Some(Vec::new());
    }
    let Ok(file) = std::fs::File::open(format!("/proc/{}/environ", stat.pid)) else { return Some(Vec::new()) };
    let size = stat.environ.1.checked_sub(stat.environ.0)?.min(ENVIRON_BYTES_MAX);
    let mut environ = Vec::new();
    file.take(size).read_to_end(&mut environ).ok()?;
    // What was read is of the program that was there before and after: another one's may be longer.
    let same = Stat::read(stat.pid).is_some_and(|after| after.environ == stat.environ);
    (same && stat.environ.1 > 0 && environ.len() as u64 == size).then_some(environ)
}

/// The markers of a run that living processes carry, each once; of processes that this one may have started.
pub fn markers(run: &str) -> BTreeSet<String> {
    let since = ProcessId::own().start;
    let belongs = |marker: &String| marker.strip_prefix(run).is_some_and(|rest| rest.starts_with('/'));
    all().iter().filter(|stat| stat.start >= since).filter_map(marker_in).filter(belongs).collect()
}

/// The leaders of a process's group and session.
pub(super) fn leaders_of(pid: u32) -> [u32; 2] {
    Stat::read(pid).map_or([0; 2], |stat| [stat.group, stat.session])
}

/// Finds the processes whose marker is `marker` or starts with it and a `/`; this process is never among them.
pub fn find_by_marker(marker: &str) -> Vec<ProcessId> {
    marked(&all(), marker, 0).map(Stat::id).collect()
}

/// The processes with this marker. Environments are slow to read, so none is read of a process that started before `since`.
fn marked<'t>(table: &'t [Stat], marker: &str, since: u64) -> impl Iterator<Item = &'t Stat> {
    let own = own_pid();
    let belongs =
        move |found: &str| found.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let possible = table.iter().filter(move |stat| stat.pid != own && stat.start >= since);
    possible.filter(move |stat| marker_in(stat).is_some_and(|found| belongs(&found)))
}

/// Ends every process with this marker, and what descends from it; answers how many there were.
pub fn end_all(marker: &str, grace: Duration) -> usize {
    // A child that is born while the table is read may be in no part of it: two looks that find none are enough.
    let found =
        Some(find_by_marker(marker)).filter(|found| !found.is_empty()).unwrap_or_else(|| find_by_marker(marker));
    if found.is_empty() {
        return 0;
    }
    let mut known: BTreeSet<ProcessId> = found.iter().copied().collect();
    end(grace, &found, || {
        let table = all();
        known.extend(marked(&table, marker, 0).map(Stat::id));
        alive_below(table, &mut known)
    });
    found.len()
}

/// Ends a process, its group, its session, its descendants, whatever carries its marker, and the orphans of no other.
pub(super) fn end_tree(root: ProcessId, marker: Option<&str>, grace: Duration) {
    let mut known: BTreeSet<ProcessId> = BTreeSet::from([root]);
    end(grace, &[root], || {
        // All from one reading: who is seen in one and has gone on as its own child in the next would be in neither.
        let mut table = Stat::all();
        let orphans = children::orphans(&table);
        // One that died since the last look may have gone on as its own child, which no look has seen yet.
        table.retain(|stat| !stat.dead || orphans.contains(&stat.id()));
        known.extend(orphans);
        let ours = table.iter().filter(|stat| stat.group == root.pid || stat.session == root.pid);
        known.extend(ours.map(Stat::id));
        if let Some(marker) = marker {
            // Whoever was there before the root was not started by it.
            known.extend(marked(&table, marker, root.start).map(Stat::id));
        }
        alive_below(table, &mut known)
    });
}

/// Those of a table that are known, and what is below them, which is known from then on, wherever it is reparented to.
fn alive_below(mut table: Vec<Stat>, known: &mut BTreeSet<ProcessId>) -> Vec<Stat> {
    let roots: Vec<ProcessId> = known.iter().copied().collect();
    known.extend(descendants(&table, &roots));
    table.retain(|stat| known.contains(&stat.id()));
    table
}

/// The roots that live and everything below them.
fn descendants(table: &[Stat], roots: &[ProcessId]) -> BTreeSet<ProcessId> {
    let mut children: BTreeMap<u32, Vec<&Stat>> = BTreeMap::new();
    for stat in table {
        children.entry(stat.parent).or_default().push(stat);
    }
    let alive: BTreeSet<ProcessId> = table.iter().map(Stat::id).collect();
    let mut found = BTreeSet::new();
    // A root that waits to be reaped has given its children away, but its number is still its own.
    let mut open: Vec<ProcessId> = roots.to_vec();
    while let Some(next) = open.pop() {
        if alive.contains(&next) && !found.insert(next) {
            continue;
        }
        open.extend(
            children.get(&next.pid).into_iter().flatten().map(|stat| stat.id()).filter(|id| !found.contains(id)),
        );
    }
    found
}

/// Asks what `wanted` names to end, and kills what is left after the grace.
fn end(grace: Duration, roots: &[ProcessId], mut wanted: impl FnMut() -> Vec<Stat>) {
    let until = Instant::now() + grace;
    let mut asked = BTreeSet::new();
    // A child that is born while the table is read may be in no part of it: nobody is left when nobody is found twice.
    let mut wanted = || {
        let first = wanted();
        if first.is_empty() { wanted() } else { first }
    };
    loop {
        let left = wanted();
        if left.is_empty() {
            return;
        }
        if Instant::now() >= until {
            break;
        }
        for id in left.iter().map(Stat::id) {
            if asked.insert(id) {
                id.signal(Signal::TERM);
                // A stopped process hears nothing before it goes on.
                id.signal(Signal::CONT);
            }
        }
        std::thread::sleep(Duration::from_millis(POLL_MS));
    }
    let own = leaders_of(own_pid());
    for _ in 0..KILL_ROUNDS {
        let left = wanted();
        if left.is_empty() {
            return;
        }
        // A group at once: one that goes on as its own child, faster than anybody looks, has nobody to go on with. Nobody else
        // can be in a group that a root leads, or in one of another session than this one's.
        let alone = |stat: &&Stat| stat.session != own[1] || roots.iter().any(|root| root.pid == stat.group);
        let groups: BTreeSet<u32> = left.iter().filter(alone).map(|stat| stat.group).collect();
        for group in groups.into_iter().filter(|group| *group != own[0]) {
            if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
                kill_process_group(group, Signal::KILL).ok();
            }
        }
        left.iter().for_each(|stat| stat.id().signal(Signal::KILL));
        std::thread::sleep(Duration::from_millis(POLL_MS));
    }
}
