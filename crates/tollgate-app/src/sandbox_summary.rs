//! What the sandbox did not do for a run, in one sentence.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::format::list;
use tollgate_core::id::{AttemptId, RoleId};
use tollgate_core::run::event::Work;
use tollgate_core::run::sandbox_record::{AgentFolders, HeldTree, Network, Sandbox, SandboxRecord, Tracing};
use tollgate_core::run::{Event, Recorded};

/// What is open without private mounts.
const MOUNTS: &str = "workers and commands can reach sockets of other programs and change modes, owners and times of your files, and commands the tree that they check";
/// What is open without the sixth version of Landlock.
const ABSTRACT: &str = "workers can reach sockets without a path: this kernel is older than Linux 6.12";

/// What nobody may do where nobody answers whose memory it is.
const REFUSED: &str = "debuggers and leak checkers are refused, as no process here can answer whose memory they look into; `tracing = \"open\"` lets them";
/// What a configuration opened.
const TRACED: &str = "what a worker or command runs can reach into it, by `tracing = \"open\"`";

/// What commands could change of a tree with very many files.
const IN_PART: &str = "the tree has more than 50000 files, so commands are kept from changing its tests, protected paths, lock files and \
                       what they name, and may change the rest";

/// What tells the work under test that it is being checked.
const SHOWN: &str = "commands see `TOLLGATE_ATTEMPT`, by which their processes are found again, so that the work can tell that it is being \
                     checked";

/// A role's worker, or the commands that check (no role), and what holds it.
pub type Held = (Option<RoleId>, SandboxRecord);

/// The sentence for what the journal of a run records.
pub fn recorded(events: &[Recorded]) -> Option<String> {
    let mut roles: BTreeMap<AttemptId, &RoleId> = BTreeMap::new();
    let mut programs: Vec<Held> = Vec::new();
    for recorded in events {
        let (role, leash) = match &recorded.event {
            Event::AttemptStarted(started) => {
                if let Work::Dispatch { role, .. } = &started.work {
                    roles.insert(started.attempt, role);
                }
                continue;
            }
            Event::AttemptReported(reported) => (roles.get(&reported.attempt), reported.leash.as_deref()),
            Event::AttemptParked(parked) => (roles.get(&parked.attempt), parked.leash.as_deref()),
            Event::CommandsRan(ran) => (None, ran.leash.as_ref()),
            Event::LandChecked(checked) => (None, checked.leash.as_ref()),
            _ => continue,
        };
        let role = role.map(|role| (*role).clone());
        programs.extend(leash.map(|leash| (role, leash.clone())));
    }
    sentence(&programs)
}

/// Says which parts are missing, and what that lets programs do; nothing where all of it is on.
pub fn sentence(programs: &[Held]) -> Option<String> {
    let parts = [
        off(programs),
        incomplete(programs),
        old(programs),
        traced(programs),
        in_part(programs),
        shown(programs),
        agents(programs),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("sandbox: {}", parts.join("; ")))
}

/// Says which folders of `PATH` no program of a run sees.
pub fn hidden_path(folders: &[PathBuf]) -> Option<String> {
    let names: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "PATH leads into your checkout ({}), which a run does not see; have `[worktree] setup` install in the work tree what the work needs",
            list(&names)
        )
    })
}

fn off(programs: &[Held]) -> Option<String> {
    let is_off = |(_, leash): &&Held| leash.sandbox == Sandbox::Off;
    let mut names: Vec<&str> =
        programs.iter().filter(is_off).map(|(role, _)| role.as_deref().unwrap_or("commands")).collect();
    names.sort_unstable();
    names.dedup();
    match (names.is_empty(), programs.iter().all(|held| is_off(&held))) {
        (true, _) => None,
        (false, true) => Some("off, so workers and commands can do everything that you can".to_owned()),
        (false, false) => Some(format!("off for {}, which can do everything that you can", list(&names))),
    }
}

/// What a kernel does not hold that has all that is asked for. A network of its own has sockets of its own.
fn old(programs: &[Held]) -> Option<String> {
    programs.iter().any(|(_, leash)| leash.reaches_abstract_sockets()).then(|| ABSTRACT.to_owned())
}

/// Whose agent could write its own folders.
fn agents(programs: &[Held]) -> Option<String> {
    let open =
        programs.iter().filter(|(_, leash)| leash.agent_folders == AgentFolders::Open && leash.sandbox != Sandbox::Off);
    let mut roles: Vec<&str> = open.filter_map(|(role, _)| role.as_deref()).collect();
    roles.sort_unstable();
    roles.dedup();
    (!roles.is_empty()).then(|| {
        format!(
            "agent's folder not held for {}: settings and hooks that it writes there stay, for your next session, too",
            list(&roles)
        )
    })
}

fn in_part(programs: &[Held]) -> Option<String> {
    programs.iter().any(|(_, leash)| leash.tree == HeldTree::Part).then(|| IN_PART.to_owned())
}

fn shown(programs: &[Held]) -> Option<String> {
    programs.iter().any(|(_, leash)| leash.shows_attempt).then(|| SHOWN.to_owned())
}

/// How far processes are kept from each other, where that is more or less than by default.
fn traced(programs: &[Held]) -> Option<String> {
    let any = |tracing| programs.iter().any(|(_, leash)| leash.tracing == Some(tracing) && leash.missing.is_empty());
    match (any(Tracing::Refused), any(Tracing::Open)) {
        (true, _) => Some(REFUSED.to_owned()),
        (false, true) => Some(TRACED.to_owned()),
        (false, false) => None,
    }
}

fn incomplete(programs: &[Held]) -> Option<String> {
    let partial: Vec<&Held> = programs.iter().filter(|(_, leash)| !leash.missing.is_empty()).collect();
    let mut missing: Vec<&str> = Vec::new();
    for (_, leash) in &partial {
        // What is missing for commands includes what is missing for workers.
        if !missing.iter().any(|known| known.contains(&leash.missing)) {
            missing.retain(|known| !leash.missing.contains(known));
            missing.push(&leash.missing);
        }
    }
    if missing.is_empty() {
        return None;
    }
    let any = |lets: fn(&Held) -> bool| partial.iter().any(|held| lets(held));
    let all = [
        (
            any(|(_, leash)| leash.landlock.is_none()),
            "workers and commands can read and change every file that you can",
        ),
        (any(|(_, leash)| !leash.processes), "processes of workers and commands can outlive them"),
        (any(|held| !held.1.processes || lacks_mounts(held)), MOUNTS),
        (any(|held| is_command(held) && held.1.network == Network::Open), "commands can reach the network"),
        (
            any(|held| is_command(held) && held.1.network == Network::NoTcp),
            "commands can reach the network without TCP",
        ),
    ];
    let lets: Vec<&str> = all.into_iter().filter(|(holds, _)| *holds).map(|(_, what)| what).collect();
    Some(format!("incomplete ({}), so {}; `tollgate doctor` says more", missing.join("; "), list(&lets)))
}

fn is_command((role, _): &Held) -> bool {
    role.is_none()
}

/// Whether private mounts are what is missing: everything else that was asked for is on.
fn lacks_mounts(held: &Held) -> bool {
    let (_, leash) = held;
    let network = if is_command(held) { Network::Denied } else { Network::Open };
    leash.holds() && leash.network == network && !leash.missing.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leash(processes: bool, landlock: Option<u32>, network: Network, missing: &str) -> SandboxRecord {
        SandboxRecord { processes, landlock, network, missing: missing.to_owned(), ..SandboxRecord::default() }
    }

    fn said(programs: &[(Option<&str>, SandboxRecord)]) -> Option<String> {
        let held: Vec<Held> = programs.iter().map(|(role, leash)| (role.map(RoleId::from), leash.clone())).collect();
        sentence(&held)
    }

    #[test]
    fn each_missing_part_is_named_with_what_it_allows() {
        let whole = (Some("developer"), leash(true, Some(7), Network::Open, ""));
        assert_eq!(said(&[whole.clone(), (None, leash(true, Some(7), Network::Denied, ""))]), None);
        let files = "workers and commands can read and change every file that you can";
        let (processes, modes) = ("processes of workers and commands can outlive", "reach sockets of other programs");
        for (role, leash, allowed) in [
            (Some("developer"), leash(true, None, Network::Open, "no Landlock: old"), vec![files]),
            (Some("developer"), leash(false, Some(7), Network::Open, "no pid namespace: no"), vec![processes, modes]),
            (Some("developer"), leash(false, None, Network::Open, "nothing"), vec![files, processes, modes]),
            (Some("developer"), leash(true, Some(7), Network::Open, "no private mounts: no"), vec![modes]),
            (None, leash(true, Some(7), Network::Denied, "no private mounts: no"), vec![modes]),
            (None, leash(true, Some(7), Network::NoTcp, "no network namespace: no"), vec!["network without TCP"]),
            (
                None,
                leash(true, Some(3), Network::Open, "no network namespace: no"),
                vec!["commands can reach the network;"],
            ),
        ] {
            let missing = leash.missing.clone();
            let text = said(&[whole.clone(), (role, leash)]).unwrap();
            assert!(text.starts_with(&format!("sandbox: incomplete ({missing}), so ")), "{text}");
            for known in [files, processes, modes, "network without TCP", "commands can reach the network;"] {
                assert_eq!(text.contains(known), allowed.contains(&known), "{known}: {text}");
            }
        }
    }

    #[test]
    fn sockets_without_a_path_are_named_where_the_kernel_does_not_hold_them() {
        let worker = |landlock| (Some("developer"), leash(true, landlock, Network::Open, ""));
        assert_eq!(said(&[worker(Some(6)), (None, leash(true, Some(5), Network::Denied, ""))]), None);
        assert_eq!(said(&[worker(Some(5))]), Some(format!("sandbox: {ABSTRACT}")));
    }

    #[test]
    fn a_part_that_several_programs_miss_is_named_once() {
        let worker = leash(true, None, Network::Open, "no Landlock: old");
        let command = leash(true, None, Network::Open, "no Landlock: old; no network namespace: no");
        let expected = said(&[(None, command.clone())]);
        assert!(expected.is_some());
        assert_eq!(said(&[(Some("developer"), worker.clone()), (None, command.clone())]), expected);
        assert_eq!(said(&[(None, command), (Some("developer"), worker)]), expected);
    }

    #[test]
    fn who_runs_without_a_sandbox_is_named_unless_everybody_does() {
        let off = SandboxRecord { sandbox: Sandbox::Off, ..SandboxRecord::default() };
        let all = said(&[(Some("developer"), off.clone()), (None, off.clone())]);
        assert_eq!(all.as_deref(), Some("sandbox: off, so workers and commands can do everything that you can"));
        let whole = leash(true, Some(7), Network::Open, "");
        let some = said(&[(Some("reviewer"), whole), (Some("developer"), off.clone()), (Some("developer"), off)]);
        assert_eq!(some.as_deref(), Some("sandbox: off for developer, which can do everything that you can"));
    }
}
