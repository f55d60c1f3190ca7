//! Who holds a lease: a process on a host, distinguished from a later one with the same number.
#![expect(clippy::disallowed_methods, reason = "this module owns the name of the machine")]

use crate::process::ProcessId;

/// The name under which this process holds leases.
pub fn this_process() -> String {
    let id = ProcessId::own();
    format!("{} pid {} start {}", host(), id.pid, id.start)
}

/// A holder as a person would find it: its process, and the host where that is another one.
pub fn display(holder: &str) -> String {
    match holder.split(' ').collect::<Vec<_>>().as_slice() {
        [there, "pid", pid, "start", _] if *there == host() => format!("process {pid}"),
        [there, "pid", pid, "start", _] => format!("process {pid} on {there}"),
        _ => holder.to_owned(),
    }
}

/// Whether a holder is certainly gone: a process of this host that no longer runs. Of other hosts nothing is known.
pub fn is_dead(holder: &str) -> bool {
    let words: Vec<&str> = holder.split(' ').collect();
    let [there, "pid", pid, "start", start] = words.as_slice() else { return false };
    let (Ok(pid), Ok(start)) = (pid.parse(), start.parse()) else { return false };
    *there == host() && !ProcessId { pid, start }.is_alive()
}

/// This machine since it was started: after a reboot every process of before is gone.
fn host() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().replace(' ', "-");
    // The boot id tells one start of a machine from another, and two containers with one host name apart.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{name}/{}", boot.trim().split('-').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_living_holder_is_not_dead_and_a_gone_one_is() {
        assert!(!is_dead(&this_process()));
        assert!(is_dead(&format!("{} pid 1 start 0", host())));
        assert!(!is_dead("elsewhere/1 pid 1 start 0"), "nothing is known of other hosts");
        assert!(!is_dead("nonsense"));
    }

    #[test]
    fn a_holder_is_shown_as_its_process() {
        assert_eq!(display(&this_process()), format!("process {}", std::process::id()));
        assert_eq!(display("elsewhere/1 pid 7 start 0"), "process 7 on elsewhere/1");
        assert_eq!(display("nonsense"), "nonsense");
    }
}
