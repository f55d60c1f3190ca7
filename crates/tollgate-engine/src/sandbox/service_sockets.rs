//! Services that do things for whoever asks: start a program, sign with a key. Landlock has nothing to say about who connects to a socket,
//! so the sockets are covered by mounts, where there is a namespace for them.

use std::io;
use std::path::{Path, PathBuf};

use super::visible_paths::in_homes;
use super::{hidden_paths, listening_sockets};

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

/// The places that are there, with every socket at which something listens, but for those in which something is `granted` and for
/// sockets in what a configuration has `named`: who names one wants it.
pub(super) fn to_cover<'a>(granted: impl Iterator<Item = &'a PathBuf>, named: &[PathBuf]) -> Vec<PathBuf> {
    let wanted: Vec<PathBuf> = named.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let listening =
        listening_sockets::listening().into_iter().filter(|socket| !wanted.iter().any(|path| socket.starts_with(path)));
    let services = VARIABLES.iter().filter_map(|name| std::env::var(name).ok()).filter_map(|value| socket(&value));
    let fixed = PLACES.iter().map(PathBuf::from).chain(IN_HOME.iter().flat_map(|place| in_homes(place)));
    let mut all: Vec<PathBuf> = fixed.chain(services).filter_map(|path| path.canonicalize().ok()).collect();
    let granted: Vec<PathBuf> = granted.filter_map(|path| path.canonicalize().ok()).collect();
    all.retain(|place| place.parent().is_some() && !granted.iter().any(|path| path.starts_with(place)));
    all.extend(listening);
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

/// Covers those that can still be named: some went with a folder that was hidden, or with their service.
pub(super) fn cover(places: &[PathBuf]) -> io::Result<()> {
    let mut there = places.iter().filter(|place| place.symlink_metadata().is_ok());
    there.try_for_each(|place| hidden_paths::empty(place))
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
        let all = to_cover([folder].iter(), &[]);
        assert!(all.iter().all(|place| place.exists() && *place != home), "{all:?}");
        let Some(first) = all.first() else { return };
        assert!(!to_cover([first.clone()].iter(), std::slice::from_ref(first)).contains(first));
    }
}
