//! A login that its agent replaces by another file: attempts share a copy of it, and a login that was renewed is handed back.
//!
//! The copy lies in a folder that every attempt may write, beside what it was made from. The person's file counts: where both changed,
//! the person's stays, and the copy is made again. A login that lost something (an agent empties it when a renewal is refused) is not handed
//! back.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::ReplacedLogin;
use crate::sandbox::own_place;
use crate::workspace::{remove_tree, safe_name};

/// A login is a few kilobytes.
const BYTES_MAX: u64 = 1024 * 1024;
/// A lock of an agent that is older belongs to nobody any more.
const STALE: Duration = Duration::from_secs(15);
/// How long another driver is waited for.
const HOLD_LIMIT: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(5);
/// What the copy was last the same as.
const KNOWN: &str = "known";
/// Where the person's lies.
const OWN: &str = "own";

/// The login that the attempts of an agent share.
#[derive(Debug, Clone)]
pub struct SharedLogin {
    login: &'static ReplacedLogin,
    /// The person's.
    own: PathBuf,
    folder: PathBuf,
    /// Where it lies in the layer of this attempt, for a program that does not know the variable.
    in_layer: Option<PathBuf>,
    /// The person's as the attempt began.
    began: Option<Vec<u8>>,
}

/// Who holds the copy still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// Nobody: an attempt begins. A copy that lost something is made again.
    Start,
    /// An attempt works or has ended.
    Later,
}

impl SharedLogin {
    /// The login that the person has; none where there is none to share. The copy lies in the state directory. `layer` is where a place of
    /// the agent is written to.
    pub fn find(
        login: &'static ReplacedLogin,
        state: &Path,
        layer: impl Fn(&Path) -> Option<PathBuf>,
    ) -> io::Result<Option<Self>> {
        let Some(place) = login.places.iter().find_map(|place| own_place(place)).filter(|place| place.is_dir()) else {
            return Ok(None);
        };
        let place = place.canonicalize()?;
        let own = place.join(login.file);
        let folder = state.join("logins").join(safe_name(&own.to_string_lossy()));
        let in_layer = layer(&place).map(|upper| upper.join(login.file));
        let mut shared = Self { login, own, folder, in_layer, began: None };
        shared.begin()?;
        Ok(Some(shared))
    }

    /// Hands back every login of a state directory that was renewed when nobody was there to do it.
    pub fn settle_all(state: &Path) -> io::Result<()> {
        let kinds = super::ADAPTERS.iter().filter_map(|adapter| adapter.login.as_ref()?.replaced.as_ref());
        let kinds: Vec<&'static ReplacedLogin> = kinds.collect();
        for entry in std::fs::read_dir(state.join("logins")).into_iter().flatten().flatten() {
            let Some(own) = read(&entry.path().join(OWN))? else { continue };
            let own = PathBuf::from(OsString::from_vec(own));
            let Some(login) = kinds.iter().find(|login| own.file_name() == Some(login.file.as_ref())) else { continue };
            let shared = Self { login, own, folder: entry.path(), in_layer: None, began: None };
            let _held = shared.hold()?.ok_or(io::ErrorKind::ResourceBusy)?;
            shared.clear_others()?;
            shared.put_right(Moment::Start)?;
        }
        Ok(())
    }

    fn begin(&mut self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(self.shared())?;
        let _held = self.hold()?.ok_or(io::ErrorKind::ResourceBusy)?;
        self.put(Some(self.own.as_os_str().as_bytes()), &self.folder.join(OWN))?;
        // What it was when somebody last looked: an attempt that was cut off began with that.
        self.began = read(&self.folder.join(KNOWN))?;
        self.take_from_layer()?;
        self.clear_others()?;
        self.put_right(Moment::Start)?;
        self.began = self.own()?;
        Ok(())
    }

    /// The folder that the attempts share.
    pub fn shared(&self) -> PathBuf {
        self.folder.join("shared")
    }

    /// Makes the copy and the person's login the same, as often as somebody likes while an attempt works.
    pub fn share(&self) -> io::Result<()> {
        self.hold()?.map_or(Ok(()), |_held| self.put_right(Moment::Later))
    }

    /// The same for the last time.
    pub fn end(&self) -> io::Result<()> {
        let _held = self.hold()?.ok_or(io::ErrorKind::ResourceBusy)?;
        self.take_from_layer()?;
        self.clear_others()?;
        self.put_right(Moment::Later)
    }

    /// The person's login; a link to it is the person's, too.
    fn own(&self) -> io::Result<Option<Vec<u8>>> {
        read(&self.own_file())
    }

    fn own_file(&self) -> PathBuf {
        self.own.canonicalize().unwrap_or_else(|_| self.own.clone())
    }

    /// Takes away what is neither the login nor the lock: the folder is no way from one attempt to another.
    fn clear_others(&self) -> io::Result<()> {
        let shared = self.shared();
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o700))?;
        for entry in std::fs::read_dir(&shared)?.flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            let kind = entry.file_type()?;
            let is_login = name == self.login.file && kind.is_file();
            let is_lock = name == self.login.lock && kind.is_dir() && !is_stale(&path);
            if is_login || is_lock {
                continue;
            }
            // Another attempt may be the one that replaces the login right now.
            let is_draft = name.as_bytes().starts_with(self.login.file.as_bytes()) && !is_stale(&path);
            if kind.is_dir() {
                remove_tree(&path).map_err(io::Error::other)?;
            } else if !is_draft || !kind.is_file() {
                std::fs::remove_file(&path).or_else(absent)?;
            }
        }
        Ok(())
    }

    /// Hands back a login that was renewed inside of the layer, once nobody works there; in the layer it does not stay.
    fn take_from_layer(&self) -> io::Result<()> {
        let Some(file) = &self.in_layer else { return Ok(()) };
        // A worker may have closed the folder.
        let open = std::fs::Permissions::from_mode(0o700);
        file.parent().and_then(|upper| std::fs::set_permissions(upper, open).ok());
        let Some(renewed) = read(file)? else { return Ok(()) };
        let own = self.own()?;
        if own.is_some() && own == self.began && own.as_deref() != Some(&*renewed) && keeps(own.as_deref(), &renewed) {
            let Some(_lock) = AgentLock::take(&self.own.with_file_name(self.login.lock)) else { return Ok(()) };
            self.put(Some(&renewed), &self.own_file())?;
        }
        std::fs::remove_file(file).or_else(absent)
    }

    /// Makes both the same, as far as nobody is changing them right now.
    fn put_right(&self, moment: Moment) -> io::Result<()> {
        let (copy, known) = (self.shared().join(self.login.file), self.folder.join(KNOWN));
        let (own, shared, last) = (self.own()?, read(&copy)?, read(&known)?);
        if own == shared {
            return if own == last { Ok(()) } else { self.put(own.as_deref(), &known) };
        }
        // An agent that is refused because somebody else has renewed empties what it has.
        let is_as_before = own.is_some() && (own == last || is_emptied(last.as_deref(), own.as_deref()));
        let renewed = shared.as_deref().filter(|_| is_as_before && shared != last);
        match renewed.filter(|renewed| keeps(last.as_deref(), renewed)) {
            Some(renewed) => {
                let Some(_lock) = AgentLock::take(&self.own.with_file_name(self.login.lock)) else { return Ok(()) };
                // The person's agent may have been about to.
                if self.own()? == own {
                    self.put(Some(renewed), &self.own_file())?;
                    self.put(Some(renewed), &known)?;
                }
                Ok(())
            }
            None if own != last || moment == Moment::Start => {
                self.put(own.as_deref(), &copy)?;
                self.put(own.as_deref(), &known)
            }
            None => Ok(()),
        }
    }

    /// Keeps other drivers from both; none while one of them does what is to be done.
    fn hold(&self) -> io::Result<Option<File>> {
        let file = File::create(self.folder.join("lock"))?;
        let until = Instant::now() + HOLD_LIMIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(file)),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() > until => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
            }
        }
    }

    /// Puts a file in its place whole, or takes it away; in the place of a link, whatever it leads to.
    fn put(&self, bytes: Option<&[u8]>, path: &Path) -> io::Result<()> {
        let Some(bytes) = bytes else {
            return std::fs::remove_file(path).or_else(absent);
        };
        // In the folder of the file that it replaces, or where no worker can be before it.
        let in_shared = path.starts_with(self.shared());
        let folder = if in_shared { &*self.folder } else { path.parent().unwrap_or(path) };
        let new = folder.join(format!("{}.tollgate-{}", self.login.file, std::process::id()));
        std::fs::remove_file(&new).ok();
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(&new, path)
        });
        if made.is_err() {
            std::fs::remove_file(&new).ok();
        }
        made
    }
}

/// A plain file as it is; none where there is none. What a worker laid in its place is not followed.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) if file.metadata()?.is_file() => file,
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ELOOP) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= BYTES_MAX))
}

/// Whether a login is what it was, but for texts that are empty now.
fn is_emptied(before: Option<&[u8]>, after: Option<&[u8]>) -> bool {
    let value = |bytes: Option<&[u8]>| serde_json::from_slice::<Value>(bytes?).ok();
    let (Some(before), Some(after)) = (value(before), value(after)) else { return false };
    !has(&before, &after) && names(&before) == names(&after)
}

/// The names in a login, without what they hold.
fn names(value: &Value) -> Vec<&str> {
    let fields = value.as_object().into_iter().flatten();
    fields.flat_map(|(name, value)| [vec![name.as_str()], names(value)].concat()).collect()
}

/// Whether nothing that was there is missing or empty in another login; what is being written is none yet.
fn keeps(before: Option<&[u8]>, after: &[u8]) -> bool {
    let value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    let Some(after) = value(after) else { return false };
    before.and_then(value).is_none_or(|before| has(&before, &after))
}

fn has(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            before.iter().all(|(name, value)| after.get(name).is_some_and(|after| has(value, after)))
        }
        (Value::Object(_), _) => false,
        (Value::String(before), Value::String(after)) => before.is_empty() || !after.is_empty(),
        (Value::String(before), _) => before.is_empty(),
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_), _) => true,
    }
}

/// Whether nobody has touched it for so long that nobody is at it any more.
fn is_stale(path: &Path) -> bool {
    let changed = path.symlink_metadata().and_then(|found| found.modified()).ok();
    changed.and_then(|changed| SystemTime::now().duration_since(changed).ok()).is_some_and(|age| age > STALE)
}

fn absent(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// The lock by which an agent keeps its other processes from the login: a folder.
struct AgentLock(PathBuf);

impl AgentLock {
    fn take(path: &Path) -> Option<Self> {
        match std::fs::create_dir(path) {
            Ok(()) => Some(Self(path.to_owned())),
            Err(_) => is_stale(path).then(|| Self(path.to_owned())),
        }
    }
}

impl Drop for AgentLock {
    fn drop(&mut self) {
        std::fs::remove_dir(&self.0).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Folder, folder};

    static LOGIN: ReplacedLogin = ReplacedLogin { variable: "DIR", places: &[], file: "login", lock: "login.lock" };

    fn token(token: &str) -> String {
        format!("{{\"a\":{{\"refresh\":\"{token}\"}}}}")
    }

    /// The person's login and the copy, the same to begin with.
    fn shared() -> (Folder, SharedLogin) {
        let root = folder("login");
        let (own, folder) = (root.join("own/login"), root.join("state"));
        let mut shared =
            SharedLogin { login: &LOGIN, own, folder, in_layer: Some(root.join("upper/login")), began: None };
        for made in ["own", "upper"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        std::fs::write(&shared.own, token("first")).unwrap();
        shared.begin().unwrap();
        (root, shared)
    }

    fn both(shared: &SharedLogin) -> [String; 2] {
        [&shared.own, &shared.shared().join("login")].map(|path| std::fs::read_to_string(path).unwrap_or_default())
    }

    #[test]
    fn a_renewed_login_is_handed_back_and_what_the_person_has_counts() {
        let (first, renewed, blank) = (token("first"), token("renewed"), token(""));
        // What the attempt left, what the person has since, and what both have then: while one works, and as the next begins.
        for (copy, own, later, next) in [
            (Some(&*renewed), Some(&*first), Some(&*renewed), Some(&*renewed)),
            (Some(&*renewed), Some("other"), Some("other"), Some("other")),
            (Some(&*first), Some(&*renewed), Some(&*renewed), Some(&*renewed)),
            (Some(&*renewed), None, None, None),
            // Emptied, half written, or gone: the person's is as it was.
            (Some(&*blank), Some(&*first), Some(&*blank), Some(&*first)),
            (Some("{\"a\""), Some(&*first), Some("{\"a\""), Some(&*first)),
            (Some("{}"), Some(&*first), Some("{}"), Some(&*first)),
            (None, Some(&*first), None, Some(&*first)),
            // The person's agent was refused, because this one has renewed; and one that was logged out.
            (Some(&*renewed), Some(&*blank), Some(&*renewed), Some(&*renewed)),
            (Some(&*renewed), Some("{}"), Some("{}"), Some("{}")),
        ] {
            let (_root, mut shared) = shared();
            let put = |bytes: Option<&str>, path: &Path| match bytes {
                Some(bytes) => std::fs::write(path, bytes).unwrap(),
                None => std::fs::remove_file(path).unwrap(),
            };
            put(copy, &shared.shared().join("login"));
            put(own, &shared.own);
            shared.share().unwrap();
            assert_eq!(both(&shared)[1], later.unwrap_or_default(), "{copy:?} {own:?}");
            shared.begin().unwrap();
            let next = next.unwrap_or_default();
            assert_eq!(both(&shared), [next, next], "{copy:?} {own:?}");
        }
    }

    #[test]
    fn nobody_hands_it_back_while_the_persons_agent_renews_it() {
        let (root, shared) = shared();
        std::fs::write(shared.shared().join("login"), token("renewed")).unwrap();
        let lock = root.join("own/login.lock");
        std::fs::create_dir(&lock).unwrap();
        shared.share().unwrap();
        assert_eq!(both(&shared), [token("first"), token("renewed")]);
        std::fs::remove_dir(&lock).unwrap();
        shared.share().unwrap();
        assert_eq!(both(&shared), [token("renewed"), token("renewed")]);
        assert!(!lock.exists());
    }

    /// What a worker lays in the place of the copy leads nowhere.
    #[test]
    fn a_link_in_the_place_of_the_copy_is_not_followed() {
        let (root, mut shared) = shared();
        let copy = shared.shared().join("login");
        std::fs::write(root.join("elsewhere"), token("planted")).unwrap();
        std::fs::remove_file(&copy).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), &copy).unwrap();
        shared.share().unwrap();
        assert_eq!(std::fs::read_to_string(&shared.own).unwrap(), token("first"));
        shared.begin().unwrap();
        assert!(copy.symlink_metadata().unwrap().is_file());
        assert_eq!(std::fs::read_to_string(root.join("elsewhere")).unwrap(), token("planted"));
    }

    /// The folder is no way to another attempt, and nobody is kept from it.
    #[test]
    fn whatever_a_worker_leaves_in_the_folder_is_gone_with_the_next() {
        let (root, mut shared) = shared();
        let copy = shared.shared().join("login");
        std::fs::remove_file(&copy).unwrap();
        for path in ["login/a/b", "hooks/c", "CLAUDE.md"] {
            crate::testing::write(&shared.shared(), path, "x");
        }
        std::os::unix::fs::symlink(root.join("own"), shared.shared().join("link")).unwrap();
        std::fs::set_permissions(shared.shared(), std::fs::Permissions::from_mode(0o000)).unwrap();
        shared.begin().unwrap();
        assert_eq!(both(&shared), [token("first"), token("first")]);
        assert_eq!(std::fs::read_dir(shared.shared()).unwrap().count(), 1);
        std::fs::write(shared.shared().join("planted"), "x").unwrap();
        shared.end().unwrap();
        assert_eq!(std::fs::read_dir(shared.shared()).unwrap().count(), 1);
    }

    /// A program that does not know the variable renews it in the layer; a link of the person leads to the login.
    #[test]
    fn a_login_that_was_renewed_in_the_layer_is_handed_back_at_the_end() {
        let (root, mut shared) = shared();
        std::fs::rename(&shared.own, root.join("own/work")).unwrap();
        std::os::unix::fs::symlink("work", &shared.own).unwrap();
        let in_layer = root.join("upper/login");
        for (own, at_end) in [("first", "renewed"), ("other", "other")] {
            std::fs::write(root.join("own/work"), token("first")).unwrap();
            shared.begin().unwrap();
            std::fs::write(&in_layer, token("renewed")).unwrap();
            std::fs::write(root.join("own/work"), token(own)).unwrap();
            shared.end().unwrap();
            assert_eq!(both(&shared), [token(at_end), token(at_end)]);
            assert!(!in_layer.exists() && shared.own.is_symlink());
        }
    }
}
