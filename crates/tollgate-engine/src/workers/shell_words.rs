//! Splits a command into words as a shell would, without a shell: quotes and backslashes, no expansion.

use super::WorkerError;

/// The words of a command; at least one.
pub fn split(text: &str) -> Result<Vec<String>, WorkerError> {
    let wrong = |why| WorkerError::Command { text: text.to_owned(), why };
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            _ if char.is_ascii_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(char) => word.push(char),
                        None => return Err(wrong("a single quote is not closed")),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => match chars.next() {
                            Some(char @ ('"' | '\\' | '$' | '`')) => word.push(char),
                            Some('\n') => {}
                            Some(char) => word.extend(['\\', char]),
                            None => return Err(wrong("a double quote is not closed")),
                        },
                        Some(char) => word.push(char),
                        None => return Err(wrong("a double quote is not closed")),
                    }
                }
            }
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(char) => word.get_or_insert_default().push(char),
                None => return Err(wrong("it ends in a backslash")),
            },
            '\0' => return Err(wrong("it holds a zero byte")),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) { Err(wrong("it names no program")) } else { Ok(words) }
}

/// Writes words so that [`split`] gives them back.
pub fn join(words: &[String]) -> String {
    let plain =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c));
    let quoted =
        words.iter().map(|word| if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would() {
        for (text, words) in [
            ("agent", &["agent"][..]),
            ("  a  b\tc\n", &["a", "b", "c"]),
            (r#"sh -c 'echo "$HOME" | cat'"#, &["sh", "-c", r#"echo "$HOME" | cat"#]),
            (r#"a "b \" \\ \$ \x c" d\ e"#, &["a", r#"b " \ $ \x c"#, "d e"]),
            (r#"a '' "" b"c"'d'"#, &["a", "", "", "bcd"]),
            ("a *.rs $X ~ > f", &["a", "*.rs", "$X", "~", ">", "f"]),
            ("a\\\nb", &["ab"]),
        ] {
            assert_eq!(split(text).unwrap(), words, "{text}");
        }
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        for text in ["", "  ", "a 'b", "a \"b", "a \"b\\", "a\\", "'' b", "a\0b"] {
            assert_eq!(split(text).unwrap_err().code().as_str(), "TG0511", "{text}");
        }
    }
}
