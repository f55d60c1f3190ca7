//! What a worker was denied, as far as it is told: the kernel tells only the program that tried, which mostly says so.

use std::path::Path;

use tollgate_core::run::SandboxRecord;

/// How a program says that it was denied something; the first letter may be small.
const SAYS: [&[u8]; 6] =
    [b"ermission denied", b"peration not permitted", b"ead-only file system", b"EACCES", b"EPERM", b"EROFS"];
/// How many are named, and how many bytes of what is said of each.
const SHOWN_MAX: usize = 10;
const BYTES_MAX: usize = 160;

/// What the output of a worker that was held says that it was denied; what was not held was denied nothing by us.
pub(crate) fn reported(log: &Path, leash: &SandboxRecord) -> Vec<String> {
    let held = leash.landlock.is_some();
    // A log is bounded, and for people: one that cannot be read tells nothing.
    let bytes = if held { std::fs::read(log).unwrap_or_default() } else { Vec::new() };
    let mut found: Vec<usize> = Vec::new();
    for says in SAYS {
        found.extend(memchr::memmem::find_iter(&bytes, says).take(SHOWN_MAX));
    }
    found.sort_unstable();
    let mut named: Vec<String> = Vec::new();
    for at in found {
        let said = format!("denied: {}", said(&bytes, at));
        if !named.contains(&said) && named.len() < SHOWN_MAX {
            named.push(said);
        }
    }
    named
}

/// The words that belong to what is said at a place: its line, or its text in JSON; some programs name the path before, some behind it.
fn said(text: &[u8], at: usize) -> String {
    let line = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
    let (from, to) = (line.max(at.saturating_sub(BYTES_MAX)), end.min(at + BYTES_MAX));
    let (mut before, mut behind) = (&text[from..at], &text[at..to]);
    if text[line] == b'{' {
        let quote = memchr::memrchr(b'"', before).map_or(0, |end| end + 1);
        before = &before[quote.max(memchr::memmem::rfind(before, b"\\n").map_or(0, |end| end + 2))..];
        let quote = memchr::memchr(b'"', behind).unwrap_or(behind.len());
        behind = &behind[..quote.min(memchr::memmem::find(behind, b"\\n").unwrap_or(behind.len()))];
    }
    let words = String::from_utf8_lossy(&[before, behind].concat()).replace(char::is_control, "");
    words.trim().trim_end_matches('\\').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, write};

    fn of(log: &str, landlock: Option<u32>) -> Vec<String> {
        let folder = folder("denied");
        write(&folder, "log", log);
        reported(&folder.join("log"), &SandboxRecord { landlock, ..SandboxRecord::default() })
    }

    #[test]
    fn what_a_program_says_of_it_is_named_once() {
        let log = "begins\nsh: 1: cannot create /etc/x: Permission denied\nsh: 1: cannot create /etc/x: Permission denied\n\
                   {\"output\":\"first\\ntouch: cannot touch '/opt/y': Permission denied\\n\"}\nError: EACCES: open '/z'\nOSError: [Errno 30] Read-only file system: '/w'\n{\"said\":\"EROFS: open /v\",\"exit\":1}\n\"it\": Permission denied\nends\n";
        let named = [
            "denied: sh: 1: cannot create /etc/x: Permission denied",
            "denied: touch: cannot touch '/opt/y': Permission denied",
            "denied: Error: EACCES: open '/z'",
            "denied: OSError: [Errno 30] Read-only file system: '/w'",
            "denied: EROFS: open /v",
            "denied: \"it\": Permission denied",
        ];
        assert_eq!(of(log, Some(3)), named);
        assert_eq!(of(log, None), Vec::<String>::new(), "nothing held it");
        assert_eq!(of("all is well\n", Some(3)), Vec::<String>::new());
    }

    #[test]
    fn no_output_names_too_much() {
        let flood: String = (0..1000).map(|at| format!("{}{at}: Permission denied\n", "x".repeat(1000))).collect();
        let named = of(&flood, Some(3));
        assert!(named.len() == SHOWN_MAX && named.iter().all(|said| said.len() < 2 * BYTES_MAX), "{named:?}");
    }
}
