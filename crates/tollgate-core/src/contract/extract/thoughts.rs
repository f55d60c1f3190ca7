//! What a model prints as its thoughts, between tags: nothing in it is said, and no report.

use std::collections::BTreeMap;
use std::ops::Range;

use super::candidates::{Candidates, Form, State};
use super::looks::{Heads, Looks};
use super::tail::Behind;
use crate::contract::markdown::{Fence, marked};

/// The tags around thoughts.
const TAGS: [&str; 5] = ["think", "thinking", "reasoning", "reflection", "scratchpad"];

/// Where thoughts stand in a text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Thoughts {
    closed: Vec<Range<usize>>,
    /// Where some begin that never end: what is said behind them is not known.
    open: Option<usize>,
}

impl Thoughts {
    /// Those of a text, by tags in none of some ranges, which are in order.
    fn find(text: &str, not_in: &[Range<usize>]) -> Self {
        let (mut found, mut open): (_, Option<(usize, &str)>) = (Self::default(), None);
        for at in memchr::memchr_iter(b'<', text.as_bytes()) {
            let Some((name, opens, end)) = tag(&text[at..]) else { continue };
            let known = not_in.partition_point(|range| range.end <= at);
            if not_in.get(known).is_some_and(|range| range.contains(&at)) {
                continue;
            }
            let begins = || matches!(text[..at].trim_end_matches([' ', '\t']).as_bytes(), [] | [.., b'\n' | b'\r']);
            let ends =
                || matches!(text[at + end..].trim_start_matches([' ', '\t']).as_bytes(), [] | [b'\n' | b'\r', ..]);
            match open {
                None if opens && begins() => open = Some((at, name)),
                // The tag before them stood in what the model was given.
                None if !opens && begins() && ends() => {
                    found.closed.push(found.closed.last().map_or(0, |last| last.end)..at + end);
                }
                Some((from, known)) if !opens && known == name => {
                    found.closed.push(from..at + end);
                    open = None;
                }
                _ => {}
            }
        }
        found.open = open.map(|(at, _)| at).filter(|at| !is_code(text, *at));
        found
    }

    fn holding(&self, at: usize) -> Option<&Range<usize>> {
        self.closed.get(self.closed.partition_point(|range| range.end <= at)).filter(|range| range.contains(&at))
    }
}

/// The tag around thoughts that a text begins with: its name, whether it opens them, and where it ends.
fn tag(text: &str) -> Option<(&'static str, bool, usize)> {
    let inside = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    let end = inside.bytes().take(16).position(|byte| byte == b'>')?;
    let name = TAGS.iter().find(|name| name.eq_ignore_ascii_case(&inside[..end]))?;
    Some((name, !text.starts_with("</"), text.len() - inside.len() + end + 1))
}

fn is_code(text: &str, at: usize) -> bool {
    let (mut fence, mut is) = (Fence::default(), false);
    marked(&text[..at]).for_each(|(_, line)| is = fence.is_code(line));
    is
}

impl Candidates<'_> {
    /// Leaves out what stands in thoughts. Behind some that never end, a document is doubted.
    pub fn leave_out_thoughts(&mut self, looks: &Looks) {
        // A document that has no heading of its own is the whole text, thoughts and all.
        if matches!(looks.markdown, Some(Heads::Sections(_))) {
            return;
        }
        let mut known: BTreeMap<usize, Thoughts> = BTreeMap::new();
        let (mut left_out, mut kept): (Vec<usize>, Vec<(usize, Behind)>) = Default::default();
        for at in 0..self.candidates.len() {
            let one = &self.candidates[at];
            let thoughts = known.entry(one.layer).or_insert_with(|| {
                let same = self.candidates.iter().filter(|other| other.layer == one.layer && other.form == Form::Json);
                let objects: Vec<Range<usize>> = same.map(|other| other.range.clone()).collect();
                Thoughts::find(self.layers.text(one.layer), &objects)
            });
            if let Some(thought) = thoughts.holding(one.range.start) {
                let rest = thought.end.min(one.range.end)..one.range.end;
                kept.push((self.unseen + at, Behind::Plain(one.layer, rest)));
                left_out.push(self.unseen + at);
            } else if thoughts.open.is_some_and(|open| open < one.range.start) && one.state == State::Whole {
                self.candidates[at].state = State::Thought;
            } else {
                continue;
            }
            let one = &self.candidates[at];
            self.thought = Some((one.layer, one.range.start));
        }
        if left_out.is_empty() {
            return;
        }
        let (mut at, unseen) = (0, self.unseen);
        self.candidates.retain(|_| {
            at += 1;
            left_out.binary_search(&(unseen + at - 1)).is_err()
        });
        for (count, behind) in kept {
            let place = self.behind.partition_point(|(before, _)| *before <= count);
            self.behind.insert(place, (count, behind));
        }
        for (count, _) in &mut self.behind {
            *count -= left_out.partition_point(|gone| *gone < *count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_stand_between_their_tags() {
        for (text, closed, open) in [
            ("<think>\na\n</think>\nb", vec!["<think>\na\n</think>"], None),
            ("<Thinking>a</thinking>b <reflection>c</reflection>", vec!["<Thinking>a</thinking>"], None),
            ("a\n</think>\nb", vec!["a\n</think>"], None),
            ("a\n<think>\nb", vec![], Some(2)),
            ("<think>a</think>\n<think>b", vec!["<think>a</think>"], Some(17)),
            ("It reads `<think>` and </think>, too.", vec![], None),
            ("```\n<think>\n```\nb", vec![], None),
            ("<think>a <reasoning>b</reasoning></think>", vec!["<think>a <reasoning>b</reasoning></think>"], None),
            ("<thinker>a</thinker>", vec![], None),
        ] {
            let found = Thoughts::find(text, &[]);
            let said: Vec<&str> = found.closed.iter().map(|range| &text[range.clone()]).collect();
            assert_eq!((said, found.open), (closed, open), "{text}");
        }
        assert_eq!(Thoughts::find("<think>", std::slice::from_ref(&(0..7))), Thoughts::default());
    }
}
