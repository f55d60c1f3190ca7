//! How long the slow tests look: shortly while working, long when `PROPTEST_CASES` or `TOLLGATE_TEST_FULL` ask for it.

use proptest::prelude::ProptestConfig;

/// As many as there are when no number is asked for.
const UNASKED: u32 = 256;

/// A number of cases, unless another one is asked for.
pub fn few(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    if asked.cases == UNASKED { ProptestConfig { cases, ..asked } } else { asked }
}

/// Of two sizes the larger one only in `cargo xtask test --full`.
pub fn size(usual: usize, full: usize) -> usize {
    if std::env::var_os("TOLLGATE_TEST_FULL").is_some() { full } else { usual }
}

/// Of some things every so many, beginning elsewhere each time; in `cargo xtask test --full` all of them.
pub fn some<I: IntoIterator>(all: I, nth: usize, every: usize) -> impl Iterator<Item = I::Item> {
    let every = size(every, 1);
    all.into_iter().skip(nth % every).step_by(every)
}
