//! Where the output of a program goes: bounded, and through one place.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tollgate_core::redact::{Redactor, Secrets};

/// The most bytes of a character behind its first.
const CHAR_REST_MAX: usize = 3;

/// Takes the output of a program, piece by piece.
pub trait Output: Send + Sync {
    /// Takes one piece.
    fn push(&self, bytes: &[u8]);
    /// There is no more.
    fn end(&self) {}
}

/// Keeps the last bytes of an output.
#[derive(Debug)]
pub struct Tail {
    limit: usize,
    kept: Mutex<(VecDeque<u8>, bool)>,
}

impl Tail {
    /// Keeps the last `limit` bytes.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, kept: Mutex::default() })
    }

    /// Takes out what was kept, and whether something before it is missing. It begins with a whole character then.
    pub fn take(&self) -> (Vec<u8>, bool) {
        let mut kept = lock(&self.kept);
        let (mut bytes, cut) = (std::mem::take(&mut kept.0), kept.1);
        if cut {
            let rest = bytes.iter().take(CHAR_REST_MAX).take_while(|byte| **byte & 0xC0 == 0x80).count();
            bytes.drain(..rest);
        }
        (bytes.into(), cut)
    }
}

impl Output for Tail {
    fn push(&self, bytes: &[u8]) {
        let mut kept = lock(&self.kept);
        let fits = &bytes[bytes.len().saturating_sub(self.limit)..];
        let over = (kept.0.len() + fits.len()).saturating_sub(self.limit);
        kept.1 |= over > 0 || fits.len() < bytes.len();
        kept.0.drain(..over);
        kept.0.extend(fits);
    }
}

/// Keeps the first bytes of an output.
#[derive(Debug)]
pub struct Head {
    limit: usize,
    kept: Mutex<(Vec<u8>, bool)>,
}

impl Head {
    /// Keeps the first `limit` bytes.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, kept: Mutex::default() })
    }

    /// Takes out what was kept, and whether something behind it is missing.
    pub fn take(&self) -> (Vec<u8>, bool) {
        std::mem::take(&mut *lock(&self.kept))
    }
}

impl Output for Head {
    fn push(&self, bytes: &[u8]) {
        let mut kept = lock(&self.kept);
        let fits = &bytes[..bytes.len().min(self.limit - kept.0.len())];
        kept.0.extend_from_slice(fits);
        kept.1 |= fits.len() < bytes.len();
    }
}

/// Writes an output to a file up to a limit, then one line that says so. Everything a worker prints passes here.
#[derive(Debug)]
pub struct Log {
    limit: u64,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    file: File,
    bytes: u64,
    cut: bool,
}

impl Log {
    /// Opens the log at `path`, to be written up to `limit` bytes.
    pub fn create(path: &Path, limit: u64) -> io::Result<Arc<Self>> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let written = Mutex::new(Written { file: File::create(path)?, bytes: 0, cut: false });
        Ok(Arc::new(Self { limit, written }))
    }

    /// Whether something was left out.
    pub fn cut(&self) -> bool {
        lock(&self.written).cut
    }
}

impl Output for Log {
    fn push(&self, bytes: &[u8]) {
        let mut written = lock(&self.written);
        if written.cut {
            return;
        }
        let room = usize::try_from(self.limit - written.bytes).unwrap_or(usize::MAX);
        let fits = &bytes[..bytes.len().min(room)];
        // A full disk must not stop the worker; the log is for people and decides nothing.
        written.file.write_all(fits).ok();
        written.bytes += fits.len() as u64;
        if fits.len() < bytes.len() {
            written.cut = true;
            writeln!(written.file, "\n[tollgate: the output was cut off here, after {} bytes]", self.limit).ok();
        }
    }
}

/// Takes secrets out of an output before anybody keeps it. Each stream has one of its own, whoever takes it.
#[expect(missing_debug_implementations, reason = "who takes an output need not be shown")]
pub struct Redacted {
    to: Arc<dyn Output>,
    redactor: Mutex<Redactor>,
}

impl Redacted {
    /// An output that reaches `to` without these secrets.
    pub fn new(secrets: &Arc<Secrets>, to: Arc<dyn Output>) -> Arc<Self> {
        Arc::new(Self { to, redactor: Mutex::new(Redactor::new(Arc::clone(secrets))) })
    }
}

impl Output for Redacted {
    fn push(&self, bytes: &[u8]) {
        lock(&self.redactor).push(bytes, &mut |piece| self.to.push(piece));
    }

    fn end(&self) {
        lock(&self.redactor).end(&mut |piece| self.to.push(piece));
        self.to.end();
    }
}

/// Several takers of one output, in their order.
#[expect(missing_debug_implementations, reason = "who takes an output need not be shown")]
pub struct Tee(pub Vec<Arc<dyn Output>>);

impl Output for Tee {
    fn push(&self, bytes: &[u8]) {
        self.0.iter().for_each(|output| output.push(bytes));
    }

    fn end(&self) {
        self.0.iter().for_each(|output| output.end());
    }
}

/// A lock whose holder panicked still guards bytes that are whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_keeps_the_end_and_says_what_is_missing() {
        let tail = Tail::new(4);
        tail.push(b"ab");
        assert_eq!(tail.take(), (b"ab".to_vec(), false));
        tail.push(b"abc");
        tail.push(b"de");
        assert_eq!(tail.take(), (b"bcde".to_vec(), true));
        let tail = Tail::new(4);
        tail.push(b"0123456789");
        assert_eq!(tail.take(), (b"6789".to_vec(), true));
        // What was cut begins with a whole character; what was not is left as it is.
        for (text, limit, kept) in [("a€b", 3, "b"), ("a€b", 4, "€b"), ("😀b", 4, "b"), ("éé", 3, "é")] {
            let tail = Tail::new(limit);
            tail.push(text.as_bytes());
            assert_eq!(tail.take(), (kept.as_bytes().to_vec(), true), "{text} {limit}");
        }
        let tail = Tail::new(4);
        tail.push(b"\x80\x80ab");
        assert_eq!(tail.take(), (b"\x80\x80ab".to_vec(), false));
    }

    #[test]
    fn what_is_held_back_comes_at_the_end() {
        let secrets = Arc::new(Secrets::new([("KEY".into(), "abcdefgh-12345678".to_owned())]).unwrap());
        let tail = Tail::new(1000);
        let out = Redacted::new(&secrets, tail.clone());
        for piece in ["the key is abcd", "efgh-123", "45678, or abcdefgh", "-1234"] {
            out.push(piece.as_bytes());
        }
        let before = tail.take().0;
        assert!(!before.ends_with(b"-1234"), "it could still become one");
        out.end();
        let whole = [before, tail.take().0].concat();
        assert_eq!(whole, b"the key is [redacted KEY], or abcdefgh-1234", "it was no secret after all");
    }

    #[test]
    fn a_log_is_cut_once_and_says_so() {
        let folder = crate::testing::folder("log");
        let log = Log::create(&folder.join("deep/log"), 5).unwrap();
        log.push(b"abc");
        assert!(!log.cut());
        log.push(b"defg");
        log.push(b"hij");
        let text = std::fs::read_to_string(folder.join("deep/log")).unwrap();
        assert_eq!(text, "abcde\n[tollgate: the output was cut off here, after 5 bytes]\n");
        assert!(log.cut());
    }
}
