//! Changes of a text: what a hand, a cut, a mixed-up stream or a careless tool does to it.

/// Numbers that depend on nothing but the number of a case.
pub struct Dice(u64);

impl Dice {
    pub fn new(case: u64) -> Self {
        Self(case)
    }

    /// `SplitMix64`.
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.roll() % end).unwrap_or_default()
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Two places in a text, in their order.
    fn range(&mut self, text: &[u8]) -> (usize, usize) {
        let (a, b) = (self.below(text.len() + 1), self.below(text.len() + 1));
        (a.min(b), a.max(b))
    }
}

/// What means something somewhere, and what nobody expects.
const PIECES: [&str; 52] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "\\",
    "'",
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "18446744073709551616",
    "# ",
    "## ",
    "### ",
    "#### ",
    "- ",
    "* ",
    "1. ",
    "- [ ] ",
    "- [x] ",
    "> ",
    "**",
    "`",
    "```\n",
    "```json\n",
    "~~~\n",
    "<!--",
    "-->",
    "---\n",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "\u{feff}",
    "\u{a0}",
    "\u{200b}",
    "\u{1b}[1m",
    "\0",
    "é",
    "語",
    "👩‍💻",
    "n/a",
    "None",
    "TBD",
    "<text>",
    "&a ",
    "*a",
];

type Change = fn(&mut Vec<u8>, &[&str], &mut Dice);

const CHANGES: [Change; 16] = [
    // A piece is put in, put over something, or something is taken away.
    |text, _, dice| {
        let at = dice.below(text.len() + 1);
        text.splice(at..at, dice.pick(&PIECES).bytes());
    },
    |text, _, dice| {
        let at = dice.below(text.len());
        let end = (at + 1 + dice.below(4)).min(text.len());
        text.splice(at.min(end)..end, dice.pick(&PIECES).bytes());
    },
    |text, _, dice| {
        let at = dice.below(text.len() + 1);
        text.drain(at..(at + 1 + dice.below(8)).min(text.len()).max(at));
    },
    |text, _, dice| {
        let (from, to) = dice.range(text);
        text.drain(from..to);
    },
    // A byte is another one.
    |text, _, dice| {
        let (at, bit) = (dice.below(text.len()), dice.below(8));
        text.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << bit);
    },
    // It is cut off.
    |text, _, dice| text.truncate(dice.below(text.len() + 1)),
    // Lines are taken away, doubled, moved, put in from another document, or pushed to the right.
    |text, _, dice| {
        with_lines(text, |lines| drop(lines.remove(dice.below(lines.len()))));
    },
    |text, _, dice| {
        with_lines(text, |lines| {
            let at = dice.below(lines.len());
            lines.insert(at, lines[at].clone());
        });
    },
    |text, _, dice| {
        with_lines(text, |lines| {
            let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
            lines.swap(a, b);
        });
    },
    |text, others, dice| {
        with_lines(text, |lines| {
            let other: Vec<&str> = dice.pick(others).split_inclusive('\n').collect();
            let (from, count, at) = (dice.below(other.len()), 1 + dice.below(4), dice.below(lines.len() + 1));
            lines.splice(at..at, other.iter().skip(from).take(count).map(|line| line.as_bytes().to_vec()));
        });
    },
    |text, _, dice| {
        with_lines(text, |lines| {
            let (at, count) = (dice.below(lines.len()), 1 + dice.below(4));
            for line in lines.iter_mut().skip(at).take(count) {
                line.splice(0..0, dice.pick(&["  ", "    ", "\t", "> ", "- "]).bytes());
            }
        });
    },
    // A part of another document, or all of it, stands in it.
    |text, others, dice| {
        let other = dice.pick(others).as_bytes();
        let (from, to) = dice.range(other);
        let at = dice.below(text.len() + 1);
        text.splice(at..at, other[from..to].iter().copied());
    },
    |text, others, dice| {
        let other = dice.pick(others).bytes().chain(*b"\n");
        let at = if dice.below(2) == 0 { 0 } else { text.len() };
        text.splice(at..at, other);
    },
    // The whole of it is wrapped, has other line ends, or other letters.
    |text, _, dice| {
        let (before, after) = *dice.pick(&[
            ("Here it is:\n\n", "\n\nThat is all."),
            ("```json\n", "```\n"),
            ("```markdown\n", "```\n"),
            ("# Title\n\n", ""),
            ("---\ntitle: x\n---\n", ""),
            ("\u{feff}", ""),
        ]);
        text.splice(0..0, before.bytes());
        text.extend(after.bytes());
    },
    |text, _, dice| {
        let end = *dice.pick(&["\r\n", "\r", "\n\n", "\u{2028}"]);
        let ended = String::from_utf8_lossy(text).replace('\n', end);
        *text = ended.into_bytes();
    },
    |text, _, dice| {
        let at = dice.below(text.len());
        let to = (at + 1 + dice.below(24)).min(text.len());
        let other = if dice.below(2) == 0 { u8::to_ascii_uppercase } else { u8::to_ascii_lowercase };
        text[at.min(to)..to].iter_mut().for_each(|byte| *byte = other(byte));
    },
];

fn with_lines(text: &mut Vec<u8>, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if !lines.is_empty() {
        change(&mut lines);
        *text = lines.concat();
    }
}

/// A text after one to four changes; bytes that are no text are what a reader shows for them.
pub fn changed(text: &str, others: &[&str], dice: &mut Dice) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=dice.below(4) {
        dice.pick(&CHANGES)(&mut bytes, others, dice);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
