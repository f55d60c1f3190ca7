//! States as people see them: a symbol, a word and a colour.

use tollgate_api::{AttemptStatus, DoctorStatus, GateStatus, RunStatus};

use super::text::{Line, Style};

/// A state: a symbol, a word, and a colour that only repeats what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    pub symbol: &'static str,
    pub word: &'static str,
    pub style: Style,
}

impl State {
    const fn new(symbol: &'static str, word: &'static str, style: Style) -> Self {
        Self { symbol, word, style }
    }

    /// Symbol and word.
    pub fn line(self) -> Line {
        Line::new().add(self.style, format!("{} {}", self.symbol, self.word))
    }
}

/// The state of a run.
pub const fn run(status: RunStatus) -> State {
    match status {
        RunStatus::Working => State::new("▶", "working", Style::Accent),
        RunStatus::Interrupted => State::new("‖", "interrupted", Style::Warn),
        RunStatus::Waiting => State::new("?", "waits for you", Style::Warn),
        RunStatus::Sleeping => State::new("z", "sleeps", Style::Faint),
        RunStatus::Halted => State::new("■", "halted", Style::Bad),
        RunStatus::Succeeded => State::new("✓", "succeeded", Style::Good),
        RunStatus::Reported => State::new("✓", "reported", Style::Good),
        RunStatus::Dropped => State::new("✗", "dropped", Style::Bad),
        RunStatus::Cancelled => State::new("✗", "cancelled", Style::Faint),
    }
}

/// The state of an attempt.
pub const fn attempt(status: AttemptStatus) -> State {
    match status {
        AttemptStatus::Working => State::new("▶", "works", Style::Accent),
        AttemptStatus::Reported => State::new("✓", "reported", Style::Good),
        AttemptStatus::Lost => State::new("✗", "lost", Style::Bad),
        AttemptStatus::Unready => State::new("✗", "not started", Style::Bad),
        AttemptStatus::Cancelled => State::new("✗", "cancelled", Style::Faint),
        AttemptStatus::Parked => State::new("z", "parked", Style::Faint),
    }
}

/// The state of a gate.
pub const fn gate(status: GateStatus) -> State {
    match status {
        GateStatus::Holds => State::new("✓", "holds", Style::Good),
        GateStatus::Fails => State::new("✗", "fails", Style::Bad),
        GateStatus::Stale => State::new("~", "stale", Style::Warn),
        GateStatus::Unobservable => State::new("?", "cannot be observed", Style::Warn),
    }
}

/// How a check of the machine came out.
pub const fn doctor(status: DoctorStatus) -> State {
    match status {
        DoctorStatus::Ok => State::new("✓", "ok", Style::Good),
        DoctorStatus::Note => State::new("!", "note", Style::Warn),
        DoctorStatus::Problem => State::new("✗", "problem", Style::Bad),
    }
}
