//! How many cases a property test has: few while working, as many as `PROPTEST_CASES` asks for when there is time.

use proptest::prelude::ProptestConfig;

/// As many as there are when nobody asks for a number.
const UNASKED: u32 = 256;

/// A number of cases, unless another one is asked for.
pub fn few(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    if asked.cases == UNASKED { ProptestConfig { cases, ..asked } } else { asked }
}
