//! A login that its agent replaces by another file: attempts share a copy of it, and a login that was renewed is handed back.
//!
//! The copy lies in a folder that every attempt may write, beside what it was made from. The person's file counts: where both changed,
//! the person's stays, and the copy is made again. A login that lost something (an agent empties it when a renewal is refused) is not handed
//! back.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::ReplacedLogin;
use crate::sandbox::own_place;
use crate::workspace::safe_name;

/// A login is a few kilobytes.
const BYTES_MAX: u64 = 1024 * 1024;
/// A lock of an agent that is older belongs to nobody any more.
const STALE: Duration = Duration::from_secs(15);
/// How long another driver is waited for.
const HOLD_LIMIT: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(5);
/// What the copy was last the same as.
const KNOWN: &str = "known";

/// The login that the attempts of an agent share.
#[derive(Debug, Clone)]
pub struct SharedLogin {
    login: &'static ReplacedLogin,
    /// The person's.
    own: PathBuf,
    folder: PathBuf,
}

/// Who holds the copy still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// An attempt begins: a copy that lost something is made again.
    Start,
    /// An attempt works or has ended.
    Later,
}

impl SharedLogin {
    /// The login that the person has; none where there is none to share. The copy lies in the state directory.
    pub fn find(login: &'static ReplacedLogin, state: &Path) -> io::Result<Option<Self>> {
        let there = |place: &&str| own_place(place).filter(|folder| folder.is_dir());
        let Some(folder) = login.places.iter().find_map(there) else { return Ok(None) };
        let folder = folder.canonicalize()?;
        let own = folder.join(login.file);
        let folder = state.join("logins").join(safe_name(&own.to_string_lossy()));
        let shared = Self { login, own, folder };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(shared.shared())?;
        shared.sync(Moment::Start)?;
        Ok(Some(shared))
    }

    /// The folder that the attempts share.
    pub fn shared(&self) -> PathBuf {
        self.folder.join("shared")
    }

    /// Makes the copy and the person's login the same, as often as somebody likes while an attempt works.
    pub fn share(&self) -> io::Result<()> {
        self.sync(Moment::Later)
    }

    /// Makes both the same, as far as nobody is changing them right now.
    fn sync(&self, moment: Moment) -> io::Result<()> {
        let Some(_held) = self.hold()? else { return Ok(()) };
        let (copy, known) = (self.shared().join(self.login.file), self.folder.join(KNOWN));
        let (own, shared, last) = (read(&self.own)?, read(&copy)?, read(&known)?);
        if own == shared {
            return if own == last { Ok(()) } else { self.put(own.as_deref(), &known) };
        }
        let renewed = shared.as_deref().filter(|shared| own.is_some() && own == last && keeps(own.as_deref(), shared));
        match renewed {
            Some(renewed) => {
                let Some(_lock) = AgentLock::take(&self.own.with_file_name(self.login.lock)) else { return Ok(()) };
                // The person's agent may have been about to.
                if read(&self.own)? == last {
                    self.put(Some(renewed), &self.own)?;
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
            return std::fs::remove_file(path)
                .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) });
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

/// The lock by which an agent keeps its other processes from the login: a folder.
struct AgentLock(PathBuf);

impl AgentLock {
    fn take(path: &Path) -> Option<Self> {
        match std::fs::create_dir(path) {
            Ok(()) => Some(Self(path.to_owned())),
            Err(_) => {
                let changed = path.metadata().and_then(|lock| lock.modified()).ok()?;
                let age = SystemTime::now().duration_since(changed).ok()?;
                (age > STALE).then(|| Self(path.to_owned()))
            }
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
        let shared = SharedLogin { login: &LOGIN, own: root.join("own/login"), folder: root.join("state") };
        for made in [root.join("own"), shared.shared()] {
            std::fs::create_dir_all(made).unwrap();
        }
        std::fs::write(&shared.own, token("first")).unwrap();
        shared.sync(Moment::Start).unwrap();
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
        ] {
            let (_root, shared) = shared();
            let put = |bytes: Option<&str>, path: &Path| match bytes {
                Some(bytes) => std::fs::write(path, bytes).unwrap(),
                None => std::fs::remove_file(path).unwrap(),
            };
            put(copy, &shared.shared().join("login"));
            put(own, &shared.own);
            shared.share().unwrap();
            assert_eq!(both(&shared)[1], later.unwrap_or_default(), "{copy:?} {own:?}");
            shared.sync(Moment::Start).unwrap();
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
        let (root, shared) = shared();
        let copy = shared.shared().join("login");
        std::fs::write(root.join("elsewhere"), token("planted")).unwrap();
        std::fs::remove_file(&copy).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), &copy).unwrap();
        shared.share().unwrap();
        assert_eq!(std::fs::read_to_string(&shared.own).unwrap(), token("first"));
        shared.sync(Moment::Start).unwrap();
        assert!(copy.symlink_metadata().unwrap().is_file());
        assert_eq!(std::fs::read_to_string(root.join("elsewhere")).unwrap(), token("planted"));
    }
}
