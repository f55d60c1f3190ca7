//! The two lines between which an agent is asked to print its report.
//!
//! A marker is a line of its own. A brief names both inside a sentence, so that an echo of the brief holds no marker.

use std::ops::Range;

use super::candidates::CANDIDATES_MAX;
use super::speech::{Said, Speech};
use super::text_layers::Layers;
use crate::text::lines;
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, RunId};
use tollgate_core::run_secret::RunSecret;

const BEGIN: &str = "TOLLGATE-REPORT-BEGIN";
const END: &str = "TOLLGATE-REPORT-END";
/// How many hexadecimal digits a nonce has.
const NONCE_DIGITS: usize = 16;

/// The marker lines of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Markers {
    begin: String,
    end: String,
}

impl Markers {
    /// The markers of an attempt under a lease. They follow from the run's secret, so that whoever drives the run can work them out
    /// again, and nobody else can: no worker knows those of the next attempt.
    pub fn of_attempt(secret: &RunSecret, run: RunId, attempt: AttemptId, token: u64) -> Self {
        let nonce = secret.hmac(format!("report markers/{run}/{attempt}/{token}").as_bytes());
        Self::written(&attempt.to_string(), &nonce.to_string()[..NONCE_DIGITS])
    }

    /// The markers of an attempt with a nonce made from a seed that nobody can guess.
    pub fn new(attempt: AttemptId, seed: &[u8]) -> Self {
        let digest = Digest::of(seed).to_string();
        Self::written(&attempt.to_string(), &digest[..NONCE_DIGITS])
    }

    fn written(attempt: &str, nonce: &str) -> Self {
        Self { begin: format!("{BEGIN} {attempt} {nonce}"), end: format!("{END} {attempt} {nonce}") }
    }

    /// The markers that a brief asks for; the last ones, where it names several.
    pub fn named_in(brief: &str) -> Option<Self> {
        let rest = brief.rsplit_once(BEGIN)?.1;
        let mut words = rest.split_whitespace();
        let (attempt, nonce) = (words.next()?, words.next()?);
        let digits: String = nonce.chars().take_while(char::is_ascii_hexdigit).collect();
        let is_id = attempt.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (is_id && digits.len() == NONCE_DIGITS).then(|| Self::written(attempt, &digits))
    }

    /// The range of a text between the markers, where nothing but white space is outside of them.
    pub(super) fn inside(&self, text: &str) -> Option<Range<usize>> {
        let start = text.len() - text.trim_start().len() + self.begin.len();
        let end = text.trim_end().strip_suffix(&*self.end)?.len();
        let is_line = text.get(start..end)?.starts_with(['\n', '\r']) && text[..end].ends_with('\n');
        (text.trim_start().starts_with(&*self.begin) && is_line).then_some(start..end)
    }

    /// The line before the report.
    pub fn begin(&self) -> &str {
        &self.begin
    }

    /// The line after the report.
    pub fn end(&self) -> &str {
        &self.end
    }

    /// The sentence of a brief that asks for them.
    pub fn request(&self) -> String {
        let Self { begin, end } = self;
        format!(
            "Print the report between two marker lines: a line that is exactly `{begin}` before it, and a line that is exactly `{end}` \
             after it. Only what is between the last such pair counts as the report."
        )
    }
}

/// A report between markers.
#[derive(Debug)]
pub struct Marked {
    pub layer: usize,
    pub range: Range<usize>,
    /// Whether its end marker is missing, or its begin marker.
    pub cut: bool,
    /// The item of the speech that it ends in, and where the text after the end marker begins.
    pub said: usize,
    pub after: usize,
}

/// A place in what was said: the item, and the byte in its layer.
type At = (usize, usize);

/// Where a pair begins, and where it ends: at the end marker and after it. None: it does not.
type Pair = (At, Option<(At, usize)>);

/// What is marked in a speech, in its order; of very many, the last ones. Of what a program printed, the last one before those comes
/// first that says something else: many copies do not hide what they contradict.
pub fn find(speech: &mut Speech<'_>, markers: &Markers, printed: bool) -> Vec<Marked> {
    let mut before = pairs(speech, markers, printed);
    let last = before.split_off(before.len().saturating_sub(CANDIDATES_MAX));
    let mut found: Vec<Marked> = last.into_iter().map(|pair| marked(speech, pair)).collect();
    let before: Vec<Marked> = before.into_iter().rev().filter(|_| printed).map(|pair| marked(speech, pair)).collect();
    let text = |one: &Marked| &speech.layers.text(one.layer)[one.range.clone()];
    let counts = found.last().map(text).unwrap_or_default();
    let other = before.into_iter().find(|one| !one.cut && difference(text(one), counts).is_some());
    found.splice(0..0, other);
    found
}

/// What two reports say from the first word on in which they differ, to the end of that line; nothing where one has ended.
pub fn difference<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    let (mut one, mut other) = (one.trim().lines(), other.trim().lines());
    let mut lines = std::iter::from_fn(|| match (one.next(), other.next()) {
        (None, None) => None,
        (line, beside) => Some((line.unwrap_or_default(), beside.unwrap_or_default())),
    });
    let (line, beside) = lines.find(|(line, beside)| line != beside)?;
    let same = line.char_indices().zip(beside.chars()).take_while(|((_, own), other)| own == other);
    let word = same.filter(|((_, own), _)| own.is_whitespace()).last().map_or(0, |((at, own), _)| at + own.len_utf8());
    Some((&line[word..], &beside[word..]))
}

/// Whether a line is a marker, of whatever attempt.
pub fn is_marker(line: &str) -> bool {
    matches!(bare(line).split(' ').next(), Some(BEGIN | END))
}

/// A line without what agents put around a marker: bold, code.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '`' | '*'))
}

/// Leaves out of a speech what is between markers: they are those of other attempts, and so is the report.
pub fn leave_out_pairs(speech: &mut Speech<'_>) {
    let mut said = Vec::new();
    for item in std::mem::take(&mut speech.said) {
        let Said::Text { layer, range, own } = item else {
            said.push(item);
            continue;
        };
        let (mut from, mut inside) = (range.start, false);
        for (at, line) in lines(&speech.layers.text(layer)[range.clone()]) {
            let (start, after) = (range.start + at, range.start + at + line.len());
            match bare(line).split(' ').next() {
                Some(BEGIN) if !inside => {
                    said.push(Said::Text { layer, range: from..start, own });
                    inside = true;
                }
                Some(END) if inside => (from, inside) = (after, false),
                _ => {}
            }
        }
        if !inside {
            said.push(Said::Text { layer, range: from..range.end, own });
        }
    }
    speech.said = said;
}

fn pairs(speech: &Speech<'_>, markers: &Markers, printed: bool) -> Vec<Pair> {
    let (mut pairs, mut open): (Vec<Pair>, Option<At>) = (Vec::new(), None);
    for (index, said) in speech.said.iter().enumerate() {
        let (layer, range) = match said {
            Said::Text { layer, range, own: true } => (layer, range),
            // A line that was lost may have held a marker.
            Said::Cut { .. } => {
                let last = open.take().or_else(|| pairs.last().map(|(begin, _)| *begin));
                pairs.extend(last.map(|begin| (begin, None)));
                continue;
            }
            Said::Text { .. } | Said::Object { .. } | Said::Failed { .. } => continue,
        };
        for (at, line) in lines(&speech.layers.text(*layer)[range.clone()]) {
            let word = bare(line);
            let (start, after) = (range.start + at, range.start + at + line.len());
            if word == markers.begin {
                pairs.extend(open.replace((index, after)).map(|begin| (begin, None)));
            } else if word == markers.end {
                match open.take() {
                    Some(begin) => pairs.push((begin, Some(((index, start), after)))),
                    // What came before the end was lost, or somebody else ended what a program had begun.
                    None if printed || pairs.is_empty() => pairs.push(((index, start), None)),
                    None => {}
                }
            }
        }
    }
    pairs.extend(open.map(|begin| (begin, None)));
    pairs
}

fn marked(speech: &mut Speech<'_>, (begin, end): Pair) -> Marked {
    let ((said, until), after) = end.unwrap_or(((begin.0, usize::MAX), usize::MAX));
    let mut parts = Vec::new();
    for (index, item) in speech.said.iter().enumerate().take(said + 1).skip(begin.0) {
        let Said::Text { layer, range, own: true } = item else { continue };
        let from = if index == begin.0 { begin.1 } else { range.start };
        let to = if index == said { until.min(range.end) } else { range.end };
        parts.push((*layer, from..to.max(from)));
    }
    let (layer, range) = match &parts[..] {
        [one] => one.clone(),
        _ => {
            let layer = speech.layers.join(parts);
            (layer, 0..speech.layers.text(layer).len())
        }
    };
    let range = unfenced(&speech.layers, layer, range);
    Marked { layer, range, cut: end.is_none(), said, after }
}

/// What is inside of the one code fence that a text is; the text itself where it is more than that.
fn unfenced(layers: &Layers<'_>, layer: usize, range: Range<usize>) -> Range<usize> {
    let text = &layers.text(layer)[range.clone()];
    match super::blocks::only_fence(text) {
        Some(inside) => range.start + inside.start..range.start + inside.end,
        None => {
            let start = range.start + text.len() - text.trim_start_matches(['\n', '\r']).len();
            start..range.end.max(start)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_names_its_markers_and_holds_none() {
        let (run, attempt) = ("run_7k3m9q2x".parse().unwrap(), AttemptId(3));
        let secret = RunSecret::new([7; 32]);
        let markers = Markers::of_attempt(&secret, run, attempt, 41);
        assert_eq!(markers, Markers::of_attempt(&secret.clone(), run, attempt, 41), "the same brief can be made again");
        for other in [
            Markers::of_attempt(&secret, run, attempt, 42),
            Markers::of_attempt(&secret, run, AttemptId(4), 41),
            Markers::of_attempt(&secret, "run_7k3m9q2y".parse().unwrap(), attempt, 41),
            Markers::of_attempt(&RunSecret::new([8; 32]), run, attempt, 41),
        ] {
            let nonce = |markers: &Markers| markers.begin.rsplit_once(' ').unwrap().1.to_owned();
            assert_ne!(nonce(&markers), nonce(&other));
        }
        let brief = format!("Do it.\n\n{}\n", markers.request());
        assert_eq!(Markers::named_in(&brief), Some(markers.clone()));
        assert!(brief.lines().all(|line| line.trim() != markers.begin && line.trim() != markers.end), "{brief}");
        assert_eq!(Markers::named_in("TOLLGATE-REPORT-BEGIN att_1 xyz"), None);
    }
}
