//! Times, counts and lists as text.

use tollgate_api::NotAsCheckedOut;
pub use tollgate_core::amount::dollars;

/// How many files that a filter converts are named in a line.
const FILES_SHOWN_MAX: usize = 5;

/// A span of time in plain words: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 days`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{}.{} s", seconds, ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => two(seconds / 60, "min", seconds % 60, "s"),
        3600..172_800 => two(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn two(big: u64, big_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 { format!("{big} {big_unit}") } else { format!("{big} {big_unit} {small} {small_unit}") }
}

/// How long ago something was; a clock that went back is "just now".
pub fn ago(now_ms: u64, then_ms: u64) -> String {
    match now_ms.saturating_sub(then_ms) {
        0..2000 => "just now".into(),
        ms => format!("{} ago", duration(ms)),
    }
}

/// When something will be: `in 3 min 20 s (14:05 UTC)`.
pub fn then(now_ms: u64, at_ms: u64) -> String {
    let minutes = at_ms / 60_000;
    let clock = format!("{:02}:{:02} UTC", minutes / 60 % 24, minutes % 60);
    match at_ms.saturating_sub(now_ms) {
        0 => format!("now ({clock})"),
        ms => format!("in {} ({clock})", duration(ms.div_ceil(1000) * 1000)),
    }
}

/// The same in its largest unit, for lists.
pub fn about(now_ms: u64, then_ms: u64) -> String {
    let ms = now_ms.saturating_sub(then_ms);
    let unit = [(86_400_000, 86_400_000 * 2), (3_600_000, 3_600_000), (60_000, 60_000), (1000, 10_000)];
    let (unit, _) = unit.into_iter().find(|(_, least)| ms >= *least).unwrap_or((1, 0));
    ago(ms / unit * unit, 0)
}

/// Which time it is: `2nd time`.
pub fn nth_time(number: u32) -> String {
    format!("{} time", nth(u64::from(number)))
}

/// `1st`, `2nd`, `3rd`.
pub fn nth(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// "12 345", in groups of three.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(" ")
}

/// A count with its noun: `1 file`, `2 files`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The files that a filter converts, in a line.
pub fn not_as_checked_out(files: &NotAsCheckedOut) -> String {
    let shown: Vec<&str> = files.paths.iter().take(FILES_SHOWN_MAX).map(String::as_str).collect();
    let number = usize::try_from(files.count).unwrap_or(usize::MAX);
    let more = match number.saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("not as checked out: {} that a filter converts: {}{more}", count(number, "file"), shown.join(", "))
}

/// A list in a sentence: `a, b and c`.
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [head @ .., last] => {
            let head: Vec<_> = head.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", head.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_plain_words() {
        let cases = [
            (0, "0.0 s"),
            (450, "0.4 s"),
            (9_999, "9.9 s"),
            (59_999, "59 s"),
            (60_000, "1 min"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
            (400_000_000, "4 days"),
        ];
        for (ms, words) in cases {
            assert_eq!(duration(ms), words);
        }
        assert_eq!(ago(1000, 5000), "just now");
        assert_eq!(ago(65_900, 0), "1 min 5 s ago");
        assert_eq!(then(1_000, 86_400_000 + 3_661_000), "in 25 h 1 min (01:01 UTC)");
        assert_eq!(then(9_000, 8_000), "now (00:00 UTC)");
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
