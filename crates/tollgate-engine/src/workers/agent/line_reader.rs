//! Takes an output piece by piece and hands on its lines, each within bounds.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tollgate_core::Name;
use tollgate_core::protocol::model::Budget;

use super::Tally;
use super::tally::is_session;
use crate::process::Output;
use crate::workers::REPORT_BYTES_MAX;

/// The longest line that is read: a report is at most one.
const LINE_BYTES_MAX: usize = 2 * REPORT_BYTES_MAX;
/// The room that is kept for the next line.
const LINE_BYTES_KEPT: usize = 256 * 1024;

/// Listens to an agent.
#[derive(Debug)]
pub(super) struct LineReader {
    state: Mutex<ReaderState>,
    /// Whether it told that it used more than it may.
    over: Arc<AtomicBool>,
    allowed: Budget,
    /// Where its session is noted, once it told it.
    note: Option<PathBuf>,
}

#[derive(Debug)]
struct ReaderState {
    account: Option<Tally>,
    line: Vec<u8>,
    too_long: bool,
    noted: bool,
}

impl LineReader {
    pub(super) fn new(account: Tally, allowed: Budget) -> Self {
        let state = ReaderState { account: Some(account), line: Vec::new(), too_long: false, noted: false };
        Self { state: Mutex::new(state), over: Arc::default(), allowed, note: None }
    }

    /// The same, with the session noted beside a log as soon as it is told: whoever is cut off tells nothing at its end.
    pub(super) fn noting(self, log: &Path) -> Self {
        Self { note: Some(note(log)), ..self }
    }

    /// A flag that is up once it told that it used more than it may.
    pub(super) fn over(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.over)
    }

    /// The account with the last line in it; none when it was taken before.
    pub(super) fn account(&self) -> Option<Tally> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.end_line();
        state.account.take()
    }
}

/// The file beside a log that notes a session. The log itself has what everybody printed, on both outputs.
fn note(log: &Path) -> PathBuf {
    log.with_extension("session")
}

/// The session that an agent told first, and its adapter, by the log of its attempt.
pub fn session_in(log: &Path) -> Option<(Name, Name)> {
    let text = std::fs::read_to_string(note(log)).ok()?;
    let (adapter, session) = text.strip_suffix('\n')?.split_once(' ')?;
    is_session(session).then(|| (adapter.into(), session.into()))
}

impl Output for LineReader {
    fn push(&self, bytes: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, next) = rest.split_at(end + 1);
            match state.line.is_empty() && !state.too_long {
                // A line that came whole is read where it stands.
                true => state.read(line),
                false => {
                    state.keep(line);
                    state.end_line();
                }
            }
            rest = next;
        }
        state.keep(rest);
        if let Some(note) = &self.note
            && !state.noted
            && let Some(text) = state.account.as_ref().and_then(Tally::session)
        {
            // Without it the agent begins anew, should it be cut off.
            std::fs::write(note, text).ok();
            state.noted = true;
        }
        if self.allowed != Budget::default()
            && state.account.as_ref().is_some_and(|account| account.is_over(&self.allowed))
        {
            self.over.store(true, Ordering::SeqCst);
        }
    }
}

impl ReaderState {
    /// Takes a part of a line.
    fn keep(&mut self, part: &[u8]) {
        self.too_long |= self.line.len() + part.len() > LINE_BYTES_MAX;
        if !self.too_long {
            self.line.extend_from_slice(part);
        }
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        match (std::mem::take(&mut self.too_long), &mut self.account) {
            (true, Some(account)) => account.passes_over(&line),
            _ => self.read(&line),
        }
        line.clear();
        line.shrink_to(LINE_BYTES_KEPT);
        self.line = line;
    }

    fn read(&mut self, line: &[u8]) {
        let Some(account) = &mut self.account else { return };
        if line.len() <= LINE_BYTES_MAX {
            account.line(line);
        } else {
            account.passes_over(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::adapter;
    use super::*;

    #[test]
    fn lines_are_whole_whatever_the_pieces_are() {
        let text = "noise {\n{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":3}}";
        for size in [1, 2, 7, 1000] {
            let reader = LineReader::new(Tally::new(adapter("codex").unwrap(), None), Budget::default());
            text.as_bytes().chunks(size).for_each(|piece| reader.push(piece));
            let (told, failure) = reader.account().unwrap().end(true);
            assert_eq!((told.session.as_deref(), told.usage.input_tokens, failure), (Some("t-1"), Some(3), None));
            assert!(reader.account().is_none());
        }
    }

    #[test]
    fn a_line_without_an_end_is_passed_over_and_the_next_is_read() {
        let reader = LineReader::new(Tally::new(adapter("codex").unwrap(), None), Budget::default());
        reader.push(b"{\"type\":\"thread.started\",\"thread_id\":\"lost\",\"x\":\"");
        for _ in 0..=LINE_BYTES_MAX / 65536 {
            reader.push(&[b'x'; 65536]);
        }
        reader.push(b"\"}\n{\"type\":\"thread.started\",\"thread_id\":\"found\"}\n");
        reader.push(b"{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":3}}\n");
        let told = reader.account().unwrap().end(true).0;
        assert_eq!((told.session.as_deref(), told.usage.input_tokens), (Some("found"), None), "it may have said more");
    }
}
