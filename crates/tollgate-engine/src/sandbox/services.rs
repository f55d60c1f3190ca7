//! Services that do things for whoever asks: start a program, sign with a key. Landlock has nothing to say about who connects to a socket,
//! so the sockets are covered by mounts, where there is a namespace for them.

use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount, mount_bind};

use super::places::in_homes;

/// Where services of the system and of the session listen: service managers, message buses, container engines.
const PLACES: [&str; 12] = [
    "/run/user",
    "/run/dbus",
    "/run/systemd/private",
    "/run/docker.sock",
    "/run/docker",
    "/run/podman",
    "/run/containerd",
    "/run/crio",
    "/run/libvirt",
    "/run/snapd.socket",
    "/var/lib/incus/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
];
/// The same in a home folder, with agents that hold keys. Nothing of them can be read either.
const IN_HOME: [&str; 6] = [".docker", ".colima", ".lima", ".rd", ".gnupg", ".ssh"];
/// Variables that name such a socket.
const VARIABLES: [&str; 4] = ["SSH_AUTH_SOCK", "DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS"];

/// The places that are there, but for those in which something is granted: who names one in a configuration wants it.
pub(super) fn to_cover<'a>(granted: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let named = VARIABLES.iter().filter_map(|name| std::env::var(name).ok()).filter_map(|value| socket(&value));
    let fixed = PLACES.iter().map(PathBuf::from).chain(IN_HOME.iter().flat_map(|place| in_homes(place)));
    let mut all: Vec<PathBuf> = fixed.chain(named).filter_map(|path| path.canonicalize().ok()).collect();
    let granted: Vec<PathBuf> = granted.filter_map(|path| path.canonicalize().ok()).collect();
    all.retain(|place| place.parent().is_some() && !granted.iter().any(|path| path.starts_with(place)));
    all.sort();
    // What lies in one of them is covered with it.
    all.dedup_by(|next, before| next.starts_with(before));
    all
}

/// The path in `/path`, `unix:///path` and `unix:path=/path,guid=…`.
fn socket(value: &str) -> Option<PathBuf> {
    let value = value.strip_prefix("unix:").unwrap_or(value);
    let value = value.strip_prefix("path=").or_else(|| value.strip_prefix("//")).unwrap_or(value);
    let path = Path::new(value.split([',', ';']).next()?);
    path.is_absolute().then(|| path.to_owned())
}

/// Covers folders by empty ones, and sockets by a device that nobody listens at. What cannot be covered stays.
pub(super) fn cover(places: &[PathBuf]) {
    for place in places {
        if place.is_dir() {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            mount("tmpfs", place.as_path(), "tmpfs", flags, c"mode=0555,size=4k").ok();
        } else {
            mount_bind("/dev/null", place.as_path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_named_in_several_ways() {
        for value in
            ["/run/x.sock", "unix:///run/x.sock", "unix:path=/run/x.sock,guid=1", "unix:path=/run/x.sock;unix:path=/y"]
        {
            assert_eq!(socket(value).as_deref(), Some(Path::new("/run/x.sock")), "{value}");
        }
        for value in ["", "tcp://localhost:2375", "unix:abstract=/tmp/dbus", "relative"] {
            assert_eq!(socket(value), None, "{value}");
        }
    }

    #[test]
    fn what_is_granted_is_not_covered() {
        let folder = crate::testing::folder("services").canonicalize().unwrap();
        let home = in_homes("").next().unwrap();
        let all = to_cover([folder].iter());
        assert!(all.iter().all(|place| place.exists() && *place != home), "{all:?}");
        let Some(first) = all.first() else { return };
        assert!(!to_cover([first.clone()].iter()).contains(first));
    }
}
