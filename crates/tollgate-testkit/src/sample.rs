//! How much of a long test is played: a sample before a merge, everything with `cargo xtask test --full`.

/// Whether there is time: `cargo xtask test --full`.
#[allow(clippy::disallowed_methods, reason = "how long a test may take is asked of whoever starts it")]
pub fn full() -> bool {
    std::env::var_os("TOLLGATE_TEST_FULL").is_some()
}

/// Some of many cases, evenly over all of them; all of them when there is time.
pub fn some_of<T>(cases: impl IntoIterator<Item = T>, few: usize) -> Vec<T> {
    let cases: Vec<T> = cases.into_iter().collect();
    let step = if full() { 1 } else { cases.len().div_ceil(few).max(1) };
    cases.into_iter().step_by(step).collect()
}
