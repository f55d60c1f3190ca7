//! Landlock: what a program may touch of the file system, and where namespaces are missing, of the network.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use tollgate_core::run::sandbox_record::Network;

use super::visible_paths::{DEVICES, carve};
use super::{LANDLOCK_MIN, Policy};
use crate::process;

/// The newest version whose rights are handled; on an older kernel those that it knows.
const KNOWN: ABI = ABI::V7;

/// Holds this process and all that it starts to the policy, but for folders that are its `own`; answers the version that does.
pub(super) fn hold(policy: &Policy, own: &[&Path]) -> Result<u32, String> {
    let status = restrict(policy, own).map_err(|error| format!("Landlock: {error}"))?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, LandlockStatus::NotImplemented) => {
            Err("this kernel was built without Landlock".to_owned())
        }
        (RulesetStatus::NotEnforced, _) => Err("Landlock is not switched on (`lsm=` of the kernel)".to_owned()),
        (_, LandlockStatus::Available { effective_abi, .. }) if effective_abi as u32 >= LANDLOCK_MIN => {
            Ok(effective_abi as u32)
        }
        _ => Err(format!("the kernel's Landlock is older than version {LANDLOCK_MIN}")),
    }
}

fn restrict(policy: &Policy, own: &[&Path]) -> Result<landlock::RestrictionStatus, RulesetError> {
    let all = AccessFs::from_all(KNOWN);
    let read = AccessFs::from_read(KNOWN);
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?;
    ruleset = ruleset.scope(Scope::from_all(KNOWN))?;
    if policy.network == Network::NoTcp {
        ruleset = ruleset.handle_access(AccessNet::from_all(KNOWN))?;
    }
    let devices: BitFlags<AccessFs> = AccessFs::WriteFile | AccessFs::IoctlDev | read;
    let created = ruleset
        .create()?
        .add_rules(path_beneath_rules(carve(Path::new("/"), &policy.hidden), read))?
        .add_rules(path_beneath_rules(granted(&policy.reads, &policy.hidden), read))?
        // This program, also where another file lies in its place by now.
        .add_rules(path_beneath_rules(process::own_program(), read))?
        .add_rules(path_beneath_rules(granted(&policy.writes, &policy.hidden), all))?
        // What is hidden in these is covered, and what is granted there has mounts of its own.
        .add_rules(path_beneath_rules(own, all))?
        .add_rules(path_beneath_rules(DEVICES, devices))?;
    created.restrict_self()
}

/// What is granted below a path that may itself be hidden: nothing that is hidden deeper.
fn granted(paths: &[PathBuf], hidden: &[PathBuf]) -> Vec<PathBuf> {
    let real = paths.iter().filter_map(|path| path.canonicalize().ok());
    let without = |path: PathBuf| {
        let deeper: Vec<PathBuf> = hidden.iter().filter(|hidden| **hidden != path).cloned().collect();
        carve(&path, &deeper)
    };
    real.flat_map(without).collect()
}
