//! How the time grows with the text: sizes that double, in turns, so that what else the machine does falls on all of them.
//!
//! What costs more than its size does so at every doubling, and ever more: `n + n²` has 2.5, then 2.9, then 3.3. A step that memory makes (a
//! cache that is full) is passed once. So the smaller of two doublings in a row counts.

use rustix::time::{ClockId, clock_gettime};

/// How long one batch takes at least.
const BATCH_S: f64 = 0.001;

/// How many sizes are measured, each twice the one before.
const SIZES: usize = 3;
/// How often all sizes are read before a figure near the limit is believed.
const AGAIN: usize = 4;
/// Above this it is measured again.
const NEAR: f64 = 2.1;

/// How the time of one kind of text grows.
#[derive(Debug)]
pub struct Growth {
    /// How many times longer each size takes than the one before, for twice the bytes.
    doublings: [f64; SIZES - 1],
}

impl Growth {
    /// What is left of the growth when steps are passed.
    pub fn steady(&self) -> f64 {
        self.doublings.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// The sizes up to one.
pub fn sizes(most: usize) -> [usize; SIZES] {
    std::array::from_fn(|at| most >> (SIZES - 1 - at))
}

/// Reads texts of growing size in turns; of each, the quickest reading counts. What comes near the limit is measured again: a
/// neighbour on the machine passes, a square stays.
pub fn measure(read: &dyn Fn(&str), texts: &[String; SIZES], rounds: usize) -> Growth {
    let batches: [usize; SIZES] = std::array::from_fn(|at| batch(&mut || read(&texts[at])));
    let mut quickest = [f64::INFINITY; SIZES];
    let mut growth = Growth { doublings: [f64::INFINITY; SIZES - 1] };
    for _ in 0..=AGAIN {
        for _ in 0..rounds {
            for (at, text) in texts.iter().enumerate() {
                quickest[at] = quickest[at].min(timed(&mut || read(text), batches[at]));
            }
        }
        // Numbers grow by a digit on the way: the larger text is not always exactly twice the smaller one.
        let per_byte = |at: usize| quickest[at] / texts[at].len() as f64;
        growth.doublings = std::array::from_fn(|at| 2.0 * per_byte(at + 1) / per_byte(at));
        if growth.steady() <= NEAR {
            break;
        }
    }
    growth
}

/// How long one call keeps the processor busy.
fn timed(call: &mut dyn FnMut(), times: usize) -> f64 {
    let busy = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let start = busy();
    (0..times).for_each(|_| call());
    (busy() - start) / times as f64
}

/// How many calls make a batch.
fn batch(call: &mut dyn FnMut()) -> usize {
    let mut times = 1;
    while timed(call, times) * (times as f64) < BATCH_S {
        times *= 2;
    }
    times
}
