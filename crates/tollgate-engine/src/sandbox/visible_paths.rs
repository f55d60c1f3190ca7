//! Which folders a program may see: the system, its tools, and nothing else of the person's home.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::process;

/// Nobody's to read as a whole: temporary files of others, devices, and the homes of others.
const HIDDEN: [&str; 6] = ["/tmp", "/var/tmp", "/dev", "/run/user", "/home", "/root"];
/// Where the system says which home folder an account has.
const ACCOUNTS: &str = "/etc/passwd";
/// The most programs of a home folder that lie in it without a folder of their own.
const PROGRAMS_MAX: usize = 256;
/// Devices that everybody needs.
pub(super) const DEVICES: [&str; 8] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];
/// Where tool chains and their settings lie in a home folder. None of them is a place for keys.
const TOOLS: [&str; 25] = [
    ".asdf",
    ".bun/bin",
    ".bun/install",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".config/git/ignore",
    ".config/mise",
    ".deno/bin",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "go",
];
/// What programs are made of, in the folder of an installation.
const PARTS: [&str; 6] = ["bin", "lib", "lib64", "libexec", "share", "node_modules"];
/// Variables that name the folder of a tool chain.
const TOOL_VARIABLES: [&str; 5] = ["RUSTUP_HOME", "JAVA_HOME", "GOROOT", "GOPATH", "NVM_DIR"];

/// The home folder; none where it cannot be told from the rest of the system.
fn home() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    home.canonicalize().ok().filter(|home| home.parent().is_some())
}

/// The home folders of the person: the one that is named, and the one that the system has for the account. Looked up once: neither is
/// another while a process lives.
fn homes() -> &'static [PathBuf] {
    static HOMES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    HOMES.get_or_init(|| {
        let text = std::fs::read_to_string(ACCOUNTS).unwrap_or_default();
        let uid = rustix::process::getuid().as_raw().to_string();
        // `NAME:PASSWORD:UID:GID:WORDS:HOME:SHELL`
        let account = |line: &str| {
            let fields: Vec<&str> = line.split(':').collect();
            fields.get(5).filter(|_| fields.get(2) == Some(&uid.as_str())).map(PathBuf::from)
        };
        let own = text.lines().filter_map(account).filter_map(|home| home.canonicalize().ok());
        let mut all: Vec<PathBuf> = home().into_iter().chain(own.filter(|home| home.parent().is_some())).collect();
        all.sort();
        all.dedup();
        all
    })
}

/// A place below each of the home folders.
pub(super) fn in_homes(place: &str) -> impl Iterator<Item = PathBuf> {
    homes().iter().map(move |home| home.join(place))
}

/// Whether a folder is a home folder, or holds one.
fn holds_home(folder: &Path) -> bool {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    homes().iter().any(|home| home.starts_with(&real))
}

/// A place below the home folder.
pub(super) fn in_home(place: &str) -> Option<PathBuf> {
    Some(home()?.join(place))
}

/// A place that a program has to itself: below the home folder, or after a `$` the one that a variable names.
pub(super) fn own(place: &str) -> Option<PathBuf> {
    match place.strip_prefix('$') {
        Some(variable) => std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute()),
        None => in_home(place),
    }
}

/// Where the person configures Tollgate, whichever home folder counts.
pub(super) fn configured() -> Vec<PathBuf> {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.map(|base| base.join("tollgate")).into_iter().chain(in_homes(".config/tollgate")).collect()
}

/// What is not to be seen: the rest of the system is, but for these and what else is `unseen`.
pub(super) fn hidden(state: &Path, unseen: &[PathBuf]) -> Vec<PathBuf> {
    let fixed = HIDDEN.iter().map(PathBuf::from).chain(homes().iter().cloned()).chain([state.to_owned()]);
    let all = fixed.chain(unseen.iter().cloned()).filter_map(|path| path.canonicalize().ok());
    // Whoever hides everything starts nothing.
    all.filter(|path| path.parent().is_some()).collect()
}

/// What a program and the tools of this machine need to be read; tools that lie in what is `unseen` are not for it, but its own
/// installation is.
pub(super) fn tools(program: &Path, unseen: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = TOOLS.iter().flat_map(|place| in_homes(place)).collect();
    let named = TOOL_VARIABLES.iter().filter_map(std::env::var_os).map(PathBuf::from);
    found.extend(named.filter(|folder| !holds_home(folder)));
    if let Some(cargo) = std::env::var_os("CARGO_HOME").map(PathBuf::from) {
        found.extend(["bin", "config.toml", "git", "registry"].map(|place| cargo.join(place)));
    }
    found.extend(search_path(unseen).iter().flat_map(|bin| installed(bin)));
    let unseen = &real(unseen);
    let seen = |path: &Path| path.canonicalize().is_ok_and(|path| !lies_in(&path, unseen));
    found.retain(|path| seen(path));
    // This program is one file, and needs nothing of the folder that it lies in.
    found.extend(process::own_place().map(Path::to_owned));
    // Where the program is named, and where it lies.
    found.push(program.to_owned());
    if let Ok(real) = program.canonicalize()
        && !process::is_own(program)
    {
        let folder = real.parent().filter(|folder| !lies_in(folder, unseen) || is_installation(folder));
        let whole = folder.map(installed).unwrap_or_default();
        let is_too_much = |path: &PathBuf| unseen.iter().any(|place| place.starts_with(path));
        found.extend(if whole.is_empty() || whole.iter().any(is_too_much) { vec![real] } else { whole });
    }
    found.retain(|path| path.is_absolute() && path.parent().is_some());
    found
}

fn real(places: &[PathBuf]) -> Vec<PathBuf> {
    places.iter().filter_map(|place| place.canonicalize().ok()).collect()
}

/// Whether a tool lies in one of these places, and so is part of the work, not of this machine. A home folder in such a place, or one that
/// is such a place, is hidden as every home folder is, and the tool chains in it are those of the machine.
fn lies_in(path: &Path, places: &[PathBuf]) -> bool {
    let is_of_machine = |place: &PathBuf| homes().iter().any(|home| home.starts_with(place) && path.starts_with(home));
    places.iter().any(|place| path.starts_with(place) && !is_of_machine(place))
}

/// The folders in which programs are looked for: those of `PATH` that are absolute, without those in what is `unseen`.
pub(crate) fn search_path(unseen: &[PathBuf]) -> Vec<PathBuf> {
    let into = search_path_into(unseen);
    process::search_path().into_iter().filter(|folder| !into.contains(folder)).collect()
}

/// The folders of `PATH` that lead into what is `unseen`.
pub fn search_path_into(unseen: &[PathBuf]) -> Vec<PathBuf> {
    let unseen = real(unseen);
    let leads = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| lies_in(&folder, &unseen));
    process::search_path().into_iter().filter(leads).collect()
}

/// Whether a folder of programs is part of an installation by its name.
fn is_installation(bin: &Path) -> bool {
    bin.ends_with("bin") || bin.iter().any(|name| name == "node_modules")
}

/// The folders of an installation, by that of its programs: what stands before `bin` or `node_modules`, where that is a folder
/// of its own.
fn installed(bin: &Path) -> Vec<PathBuf> {
    let mut whole = bin.to_owned();
    if let Some(at) = bin.iter().position(|name| name == "node_modules") {
        whole = bin.iter().take(at + 1).collect();
    } else if bin.file_name().is_some_and(|name| name == "bin")
        && let Some(parent) = bin.parent()
    {
        parent.clone_into(&mut whole);
    }
    // A home folder, or one that holds everything, is no installation; `.local` and `.cargo` hold more than programs.
    let name = whole.file_name().unwrap_or_default();
    let shared = whole.components().count() <= 2 || name == ".local" || name == ".cargo";
    if holds_home(bin) && bin.components().count() > 1 {
        return programs(bin);
    }
    let homes = homes();
    let homely = homes.iter().any(|home| home.starts_with(&whole));
    // A tool that installs itself into a hidden folder of the home keeps its keys and settings there, too.
    let own = homes.iter().any(|home| whole.parent() == Some(home)) && name.as_encoded_bytes().starts_with(b".");
    match (shared || homely, own && whole != bin) {
        (true, _) => vec![bin.to_owned()],
        (false, true) => PARTS.iter().map(|part| whole.join(part)).filter(|part| part.exists()).collect(),
        (false, false) => vec![whole],
    }
}

/// The programs that lie in a home folder itself, and nothing beside them.
fn programs(folder: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs =
        |path: &PathBuf| path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(runs).take(PROGRAMS_MAX).collect()
}

/// A folder as the largest folders and files that hold nothing hidden.
pub(super) fn carve(root: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let (mut open, mut whole) = (vec![root.to_owned()], Vec::new());
    while let Some(path) = open.pop() {
        if hidden.contains(&path) {
            continue;
        }
        if !hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            whole.push(path);
            continue;
        }
        // What a link leads to is met at its own place.
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let own = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        open.extend(own.map(|entry| entry.path()));
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, write};

    #[test]
    fn a_folder_is_carved_around_what_is_hidden() {
        let root = folder("carve").canonicalize().unwrap();
        for file in ["a/one", "b/secret/deep", "b/other", "c"] {
            write(&root, file, "");
        }
        std::os::unix::fs::symlink(root.join("b/secret"), root.join("link")).unwrap();
        let names = |hidden: &[&str]| {
            let hidden: Vec<PathBuf> = hidden.iter().map(|path| root.join(path)).collect();
            let mut found = carve(&root, &hidden);
            found.sort();
            found.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), [""]);
        assert_eq!(names(&["b/secret"]), ["a", "b/other", "c"], "no link leads back in");
        assert_eq!(names(&["b", "b/secret"]), ["a", "c"]);
        assert_eq!(names(&["nowhere"]), ["a", "b", "c"]);
    }

    #[test]
    fn an_installation_is_never_everything() {
        for (bin, whole) in [
            ("/opt/node/bin", "/opt/node"),
            ("/opt/x/node_modules/a/node_modules/b/bin", "/opt/x/node_modules"),
            ("/usr/bin", "/usr/bin"),
            ("/bin", "/bin"),
            ("/home/ada/.local/bin", "/home/ada/.local/bin"),
            ("/home/ada/.cargo/bin", "/home/ada/.cargo/bin"),
            ("/home/ada/.nvm/versions/node/v24/bin", "/home/ada/.nvm/versions/node/v24"),
        ] {
            assert_eq!(installed(Path::new(bin)), [Path::new(whole)], "{bin}");
        }
        let home = home().unwrap();
        let tool = home.join(".cargo/bin");
        assert!(!lies_in(&tool, std::slice::from_ref(&home)), "a checkout that is a home folder");
        let around = home.parent().filter(|around| around.parent().is_some()).map(Path::to_owned);
        assert!(!lies_in(&tool, &around.into_iter().collect::<Vec<_>>()), "a home folder in a checkout");
        assert!(lies_in(Path::new("/usr/bin"), &["/usr".into()]) && !lies_in(Path::new("/bin"), &["/usr".into()]));
        assert_eq!(installed(&home.join("bin")), [home.join("bin")]);
        assert!(!installed(&home).contains(&home) && holds_home(&home) && !holds_home(&home.join("bin")));
    }
}
