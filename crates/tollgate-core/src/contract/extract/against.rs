//! Reports of other contracts that speak against one: a rejection behind an approval, a blocker behind what is completed. Their headings are read by
//! their words, whatever they are written with and stand in.

use super::candidates::State;
use super::looks::{Heads, Looks};
use super::sample;
use crate::Name;
use crate::contract::definition::{Definition, Heading, Layout};
use crate::contract::markdown::{Fence, heading_words};
use crate::contract::text::{is_title, is_unseen, lines, one_line, says_none};
use crate::report::{Health, Verdict};

/// A report of another contract that says otherwise than one of this.
#[derive(Debug)]
pub struct Against {
    heading: Heading,
    /// The words of its heading.
    words: Vec<String>,
    /// How many of them the heading of this contract begins with too: `Review`.
    shared: usize,
    /// Sections that it has and a report of this contract has not.
    sections: Vec<Name>,
    /// Whether it judges, and rejects; else it says that the work stopped.
    rejects: bool,
}

/// Where a text is looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// Further down in the report: what it says there is its content, unless it is a report of its own.
    Inside,
    Behind,
}

impl Against {
    /// Those of a contract whose reports are found by their headings and say that all is well, or that it is not.
    pub fn all<'d>(own: &Definition, others: impl Iterator<Item = &'d Definition>) -> Vec<Self> {
        let (Some(heading), Some(mapping)) = (&own.heading, &own.report) else { return Vec::new() };
        let accepts = mapping.cases.iter().any(|case| case.verdict == Verdict::Accept);
        let ends_well = mapping.cases.iter().any(|case| case.health == Health::Ok);
        let decides = accepts || (ends_well && mapping.cases.iter().any(|case| case.health != Health::Ok));
        let own_words = words(&heading.words);
        let one = |other: &Definition| {
            let (heading, mapping) = (other.heading.clone()?, other.report.as_ref()?);
            let rejects = accepts && mapping.cases.iter().any(|case| case.verdict == Verdict::Reject);
            let stops = mapping.cases.iter().all(|case| case.health != Health::Ok);
            let words = words(&heading.words);
            let shared = words.iter().zip(&own_words).take_while(|(one, own)| one == own).count();
            let asked = sections(own, false);
            let sections = if shared > 0 { sections(other, true) } else { Vec::new() };
            let sections = sections.into_iter().filter(|name| !asked.contains(name)).collect();
            (rejects || stops).then_some(Self { heading, words, shared, sections, rejects })
        };
        others.filter(|other| decides && other.name != own.name).filter_map(one).collect()
    }

    /// What a title says against a report, if anything.
    fn says(&self, title: &Title<'_>, own: &Heading, stands: Stands) -> Option<State> {
        let said = words(title.words);
        if title.bare {
            return (self.rejects && said == self.words).then_some(State::Against);
        }
        if self.rejects && said.windows(self.words.len()).any(|some| *some == *self.words) {
            return Some(State::Against);
        }
        if stands == Stands::Inside {
            return None;
        }
        let word = &self.words[self.shared..];
        let behind_sign = || title.words.replace(" - ", ":").split(SIGNS).any(|part| words(part).starts_with(word));
        if self.rejects && self.shared > 0 && behind_sign() {
            return Some(State::Against);
        }
        if title.shown || title.bold {
            return None;
        }
        // The title of both, and another word than the one that was said before.
        if self.rejects && self.shared > 0 && said.starts_with(&self.words[..self.shared]) && !own.begins(title.words) {
            return Some(State::Unread);
        }
        let plain: String = title.words.chars().filter(|c| !is_unseen(*c) && !matches!(c, '*' | '_' | '`')).collect();
        let plain = one_line(&plain);
        let stops = !self.rejects
            && title.level <= self.heading.level
            && self.heading.begins(&plain)
            && !self.heading.hole.as_ref().is_some_and(|_| says_none(&plain[self.heading.words.len()..]));
        stops.then_some(State::Against)
    }
}

/// A longer line is no title without a sign of one.
const BARE_BYTES: usize = 80;
/// Signs that a word may stand behind in a title.
const SIGNS: [char; 7] = [':', '：', '—', '–', '|', '(', '/'];

/// The names of the sections that a document must have, or that it is asked for.
fn sections(definition: &Definition, needed: bool) -> Vec<Name> {
    let fields = definition.root.record().map(|record| record.fields.as_slice()).unwrap_or_default();
    let wanted = fields.iter().filter(|field| if needed { !field.optional } else { !field.unasked });
    let names = wanted.filter_map(|field| match &field.layout {
        Layout::Section(names) => Some(names.clone()),
        _ => None,
    });
    names.flatten().collect()
}

/// The words of a title, without case and without the signs between and around them.
fn words(title: &str) -> Vec<String> {
    let seen: String = title.chars().filter(|c| !is_unseen(*c)).flat_map(char::to_lowercase).collect();
    seen.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A line that is written as a title: a heading in any form, or bold words.
struct Title<'t> {
    words: &'t str,
    level: usize,
    /// Whether it stands in code, a quote or a list.
    shown: bool,
    bold: bool,
    /// Whether it is a line like any other, and only has a sign that joins its words.
    bare: bool,
}

impl<'t> Title<'t> {
    /// The title that a line of a text is, in code or not.
    fn of(text: &'t str, at: usize, line: &'t str, code: bool) -> Option<Self> {
        let written = line.trim();
        let bare = written.trim_start_matches(|c: char| u8::try_from(c).is_ok_and(sample::is_sign));
        if bare.starts_with('#') {
            let level = bare.bytes().take_while(|byte| *byte == b'#').count();
            let shown = code || bare.len() < written.len();
            // A comment of a program begins with one sign.
            let words = heading_words(bare)?;
            return (!code || level > 1).then_some(Self { words, level, shown, bold: false, bare: false });
        }
        if code || written.is_empty() {
            return None;
        }
        let bold = written.trim_end_matches(':');
        let title = |words: &'t str, level: usize, bold: bool| Self { words, level, shown: false, bold, bare: false };
        if let Some(inside) = bold.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")) {
            return (!inside.contains("**")).then(|| title(inside, 7, true));
        }
        if let Some(words) = heading_words(written) {
            return Some(title(words, written.as_bytes().get(2).map_or(1, |digit| usize::from(digit - b'0')), false));
        }
        let under = lines(&text[at + line.len()..])
            .map(|(_, line)| line)
            .find(|under| !line.ends_with('\r') || *under != "\n")
            .unwrap_or_default()
            .trim();
        let level = if under.starts_with('=') { 1 } else { 2 };
        let underlined = under.len() > 1 && ['=', '-'].iter().any(|sign| under.chars().all(|c| c == *sign));
        let joined = || written.len() <= BARE_BYTES && written.contains([':', '：']) && !written.starts_with('>');
        match underlined {
            true => Some(title(written, level, false)),
            false => joined().then(|| Self { bare: true, ..title(written, level, true) }),
        }
    }
}

/// Where a title stands in a text that says otherwise than a report before it.
pub fn find(text: &str, looks: &Looks, stands: Stands) -> Option<(usize, State)> {
    let heads = looks.markdown.as_ref().filter(|_| !looks.against.is_empty())?;
    let Heads::Own(own) = heads else { return None };
    let mut fence = Fence::default();
    lines(text).find_map(|(at, line)| {
        let title = Title::of(text, at, line, fence.is_code(line))?;
        let said = looks.against.iter().find_map(|one| one.says(&title, own, stands));
        let said = said.filter(|_| !title.shown || heads.is_enough(sample::bare(&text[at..]).lines()));
        let has = |one: &Against| one.sections.iter().any(|name| is_title(name, title.words));
        let lists = || stands == Stands::Behind && !title.bold && looks.against.iter().any(has) && goes_on(text, at);
        Some((at, said.or_else(|| lists().then_some(State::Against))?))
    })
}

/// Whether something is said below a line.
fn goes_on(text: &str, at: usize) -> bool {
    let below = lines(&text[at..]).skip(1).map(|(_, line)| line.trim_start_matches(['>', ' ', '\t']).trim_end());
    below.into_iter().find(|line| !line.is_empty()).is_some_and(|line| !says_none(line))
}
