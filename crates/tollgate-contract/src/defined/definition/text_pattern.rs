//! Forms of texts: words with holes, `T-{number}` or `{date}_{slug}`, matched in one pass without looking back.

use std::fmt;

use tollgate_core::Name;

/// One form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Like {
    parts: Vec<Part>,
    written: Name,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Words(Words),
    Hole(Hole),
}

/// Words as they are written, and what stands between their dashes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Words {
    written: Name,
    between: Vec<Name>,
}

impl From<&str> for Words {
    fn from(written: &str) -> Self {
        Self { written: written.into(), between: written.split('—').map(Name::from).collect() }
    }
}

/// What a hole takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hole {
    /// Digits, the first of them not 0.
    Count,
    /// Digits.
    Number,
    /// Small letters, digits, `_`, `-`.
    Id,
    /// Small letters, digits, `-`.
    Slug,
    /// Anything without white space.
    Word,
    /// A day as ISO 8601 writes it.
    Date,
    /// A moment as ISO 8601 writes it, with or without an offset.
    Time,
    /// Anything but white space.
    Text,
}

const HOLES: [(&str, Hole, &str, &str); 8] = [
    ("count", Hole::Count, "[1-9][0-9]*", "7"),
    ("number", Hole::Number, "[0-9]+", "001"),
    ("id", Hole::Id, "[a-z0-9_-]+", "some-id"),
    ("slug", Hole::Slug, "[a-z0-9]+(-[a-z0-9]+)*", "some-words"),
    ("word", Hole::Word, "\\S+", "word"),
    ("date", Hole::Date, "[0-9]{4}-[0-9]{2}-[0-9]{2}", "2026-01-31"),
    (
        "time",
        Hole::Time,
        "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?",
        "2026-01-31T12:00:00Z",
    ),
    ("text", Hole::Text, "[\\s\\S]*\\S[\\s\\S]*", "some text"),
];

impl Like {
    /// Reads a form; what is wrong with it otherwise.
    pub fn parse(written: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                parts.push(Part::Words(before.into()));
            }
            let Some((name, next)) = after.split_once('}') else { return Err("a `{` is not closed".to_owned()) };
            let Some((_, hole, ..)) = HOLES.iter().find(|(word, ..)| *word == name) else {
                let known: Vec<&str> = HOLES.iter().map(|(word, ..)| *word).collect();
                return Err(format!("there is no hole `{{{name}}}`; there are {}", known.join(", ")));
            };
            if matches!(parts.last(), Some(Part::Hole(_))) {
                return Err("two holes stand side by side; put a word between them".to_owned());
            }
            parts.push(Part::Hole(*hole));
            rest = next;
        }
        if !rest.is_empty() {
            parts.push(Part::Words(rest.into()));
        }
        Ok(Self { parts, written: written.into() })
    }

    /// Whether a text has the form.
    pub fn matches(&self, text: &str) -> bool {
        let mut rest = text;
        let mut parts = self.parts.iter();
        while let Some(part) = parts.next() {
            match part {
                Part::Words(words) => match words.begin(rest) {
                    Some(after) => rest = after,
                    None => return false,
                },
                // A hole goes up to the words behind it.
                Part::Hole(hole) => {
                    let (taken, after) = match parts.next() {
                        Some(Part::Words(words)) => match words.find_in(rest) {
                            Some(found) => found,
                            None => return false,
                        },
                        Some(Part::Hole(_)) | None => (rest, ""),
                    };
                    if !hole.takes(taken) {
                        return false;
                    }
                    rest = after;
                }
            }
        }
        rest.is_empty()
    }

    /// How many characters a text of this form has at least.
    pub fn least(&self) -> usize {
        let part = |part: &Part| match part {
            Part::Words(words) => words.written.chars().count(),
            Part::Hole(Hole::Date) => "0000-00-00".len(),
            Part::Hole(Hole::Time) => "0000-00-00T00:00".len(),
            Part::Hole(_) => 1,
        };
        self.parts.iter().map(part).sum()
    }

    /// A text of this form.
    pub fn sample(&self) -> String {
        let hole = |hole: &Hole| HOLES.iter().find(|(_, known, ..)| known == hole).map_or("", |(.., sample)| *sample);
        self.parts
            .iter()
            .map(|part| match part {
                Part::Words(words) => &*words.written,
                Part::Hole(of) => hole(of),
            })
            .collect()
    }

    /// The same as a regular expression for JSON Schema, without its ends.
    pub fn pattern(&self) -> String {
        let hole =
            |hole: &Hole| HOLES.iter().find(|(_, known, ..)| known == hole).map_or("", |(_, _, regex, _)| *regex);
        let mut pattern = String::new();
        for part in &self.parts {
            match part {
                Part::Hole(of) => pattern.push_str(hole(of)),
                Part::Words(words) => {
                    for c in words.written.chars() {
                        match c {
                            '—' => pattern.push_str("(—|–|--?)"),
                            c if c.is_ascii_punctuation()
                                && !matches!(c, '-' | '_' | '#' | ':' | '/' | ',' | '"' | '\'' | '`') =>
                            {
                                pattern.push('\\');
                                pattern.push(c);
                            }
                            c => pattern.push(c),
                        }
                    }
                }
            }
        }
        pattern
    }
}

impl fmt::Display for Like {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// The dashes that people and models put for one another.
const DASHES: [&str; 4] = ["—", "–", "--", "-"];

impl Words {
    /// What follows the words at the start of a text; a dash stands for every dash.
    fn begin<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (first, more) = self.between.split_first()?;
        let mut rest = text.strip_prefix(&**first)?;
        for words in more {
            rest = DASHES.iter().find_map(|dash| rest.strip_prefix(dash))?.strip_prefix(&**words)?;
        }
        Some(rest)
    }

    /// What stands before the first place of the words in a text, and what behind it.
    fn find_in<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let [before, _, ..] = self.between.as_slice() else { return text.split_once(&*self.written) };
        // Dashes are few, and what stands before one mostly is not: a space.
        let first = '—'.encode_utf8(&mut [0; 3]).as_bytes()[0];
        memchr::memchr2_iter(b'-', first, text.as_bytes()).find_map(|dash| {
            let (taken, rest) = text.split_at_checked(dash.checked_sub(before.len())?)?;
            Some((taken, self.begin(rest)?))
        })
    }
}

impl Hole {
    fn takes(self, text: &str) -> bool {
        let all = |allowed: fn(u8) -> bool| !text.is_empty() && text.bytes().all(allowed);
        match self {
            Self::Count => all(|b| b.is_ascii_digit()) && !text.starts_with('0'),
            Self::Number => all(|b| b.is_ascii_digit()),
            Self::Id => all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-')),
            Self::Slug => {
                all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                    && !text.starts_with('-')
                    && !text.ends_with('-')
                    && !text.contains("--")
            }
            Self::Word => !text.is_empty() && !text.contains(char::is_whitespace),
            Self::Date => is_date(text),
            Self::Time => is_time(text),
            Self::Text => !text.trim().is_empty(),
        }
    }
}

/// Whether digits and signs stand where a picture (`0000-00-00`) has them.
fn pictured(text: &str, picture: &str) -> bool {
    text.len() == picture.len()
        && text.bytes().zip(picture.bytes()).all(|(b, p)| if p == b'0' { b.is_ascii_digit() } else { b == p })
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or(u32::MAX)
}

fn is_date(text: &str) -> bool {
    if !pictured(text, "0000-00-00") {
        return false;
    }
    let (year, month, day) = (number(&text[..4]), number(&text[5..7]), number(&text[8..]));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', ' ']) else { return false };
    let bare = time.strip_suffix('Z').unwrap_or_else(|| {
        let offset =
            time.rfind(['+', '-']).filter(|at| pictured(&time[at + 1..], "00:00") || pictured(&time[at + 1..], "0000"));
        offset.map_or(time, |at| &time[..at])
    });
    let (clock, fraction) = bare.split_once('.').unwrap_or((bare, "0"));
    let whole = pictured(clock, "00:00:00") || (pictured(clock, "00:00") && !bare.contains('.'));
    is_date(date)
        && whole
        && !fraction.is_empty()
        && fraction.bytes().all(|b| b.is_ascii_digit())
        && number(&clock[..2]) < 24
        && number(&clock[3..5]) < 60
        && clock.get(6..).is_none_or(|seconds| number(seconds) <= 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(form: &str, text: &str) -> bool {
        Like::parse(form).unwrap().matches(text)
    }

    #[test]
    fn holes_take_what_their_name_says() {
        for (form, good, bad) in [
            ("T-{number}", "T-001", "T-"),
            ("T-{number}", "T-1", "T-1a"),
            ("#{count} — {text}", "#7 - a title", "#0 — a title"),
            ("#{count} — {text}", "#7 — a — b", "#7 a title"),
            ("cmd: {text}", "cmd: npm test", "cmd: "),
            ("{date}_{slug}", "2026-02-28_two-words", "2026-02-30_two-words"),
            ("{date}_{slug}", "2028-02-29_x", "2028-02-29_X"),
            ("{time}", "2026-01-02T03:04:05.678Z", "2026-01-02"),
            ("{time}", "2026-01-02T03:04:05+02:00", "2026-01-02T25:04:05Z"),
            ("{time}", "2026-01-02 03:04", "2026-01-02T03:04:61Z"),
            ("{text} -- {text}", "a -- b", "a - b"),
            ("{id}", "a_b-1", "A"),
            ("**{text}** — {text}", "**Option A** – cheap", "Option A — cheap"),
            ("meta", "meta", "metal"),
            ("{word}", "a", "a b"),
            ("{text} — {text}", "eins—zwei é — drei", "é—b"),
            ("{text} — {text}", "a – b", "a- b"),
        ] {
            assert!(like(form, good), "{form} {good}");
            assert!(!like(form, bad), "{form} {bad}");
            let form = Like::parse(form).unwrap();
            assert!(form.matches(&form.sample()), "{form} {}", form.sample());
        }
        for wrong in ["{nope}", "{text", "{text}{id}"] {
            assert!(Like::parse(wrong).is_err(), "{wrong}");
        }
    }
}
