//! Dying on demand, for the crash campaign: `TOLLGATE_FAIL_AT=POINT[:NTH][:stop]`, and leases, waits for another's work and
//! snapshots that come sooner (`TOLLGATE_LEASE_MS`, `TOLLGATE_HOLD_MS`, `TOLLGATE_SNAPSHOT_EVERY`).
//!
//! Only debug builds have this module. Workers do not inherit the variables.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Signal, getpid, kill_process};
use tollgate_app::environment::Environment;
use tollgate_engine::driver::lease_for;
use tollgate_engine::session::snapshot_every;
use tollgate_engine::workspace::hold_for;
use tollgate_store::faults::{Point, arm as arm_points};

/// Has this process killed, or stopped, when it reaches the named point for the nth time.
pub fn arm(environment: &Environment) {
    if let Some(ms) = environment.get("TOLLGATE_LEASE_MS").and_then(|text| text.parse().ok()) {
        lease_for(ms);
    }
    if let Some(ms) = environment.get("TOLLGATE_HOLD_MS").and_then(|text| text.parse().ok()) {
        hold_for(ms);
    }
    if let Some(events) = environment.get("TOLLGATE_SNAPSHOT_EVERY").and_then(|text| text.parse().ok()) {
        snapshot_every(events);
    }
    let Some(text) = environment.get("TOLLGATE_FAIL_AT") else { return };
    let mut words = text.split(':');
    let name = words.next().unwrap_or_default();
    let Some(wanted) = Point::ALL.iter().copied().find(|point| point.name() == name) else { return };
    let (mut nth, mut signal) = (1, Signal::KILL);
    for word in words {
        match word.parse() {
            Ok(number) => nth = number,
            Err(_) => signal = Signal::STOP,
        }
    }
    let left = AtomicU32::new(nth);
    arm_points(Box::new(move |point| {
        if point == wanted && left.fetch_sub(1, Ordering::SeqCst) == 1 {
            kill_process(getpid(), signal).ok();
        }
    }));
}
