//! Commands of rows: a text that begins with `cmd:`, and one that only looks as if it did.

/// What a text begins with that is a command.
const PREFIX: &str = "cmd:";

/// The command that a text is; none where it is another text.
pub fn command_of(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix(PREFIX).map(str::trim)
}

/// Whether a text is a command or would be taken for one: `cmd` in any case, and a colon or a sign that is not ASCII.
///
/// There are more signs like a colon than a list would name, and none of them follows this word for another reason.
pub fn resembles_command(text: &str) -> bool {
    let mut signs = text.trim_start().chars().map(half_width);
    let has_word = "cmd".chars().all(|c| signs.next().is_some_and(|sign| sign.eq_ignore_ascii_case(&c)));
    match signs.next().filter(|_| has_word) {
        Some(space) if space.is_whitespace() => signs.find(|sign| !sign.is_whitespace()) == Some(':'),
        Some(sign) => sign == ':' || !sign.is_ascii() && !sign.is_alphanumeric(),
        None => false,
    }
}

/// A full-width form as the ASCII character that it is.
fn half_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_command_is_told_from_other_texts() {
        for text in [
            "cmd: make",
            " cmd:",
            "Cmd: make",
            "CMD :make",
            "cmd：make",
            "cmd﹕make",
            "cmd∶ make",
            "cmd꞉make",
            "ｃｍｄ：make",
            "cmd ： a",
        ] {
            assert!(resembles_command(text), "{text}");
        }
        for text in [
            "cmd",
            "cmd/main.go",
            "cmd.exe",
            "cmd-line: x",
            "cmd | x",
            "cmdé:",
            "cmdline：x",
            "cmd 窗口",
            "cmd窗口",
            "command: x",
            "",
        ] {
            assert!(!resembles_command(text), "{text}");
        }
        assert_eq!(
            (command_of(" cmd:  make test "), command_of("cmd："), command_of("Cmd: x")),
            (Some("make test"), None, None)
        );
    }
}
