//! The sections a status block may have.

use crate::contract::markdown::heading_words;

/// Words that a heading may be dressed with and that change nothing about what it announces.
const DRESS: [&str; 34] = [
    "a",
    "additional",
    "all",
    "and",
    "blocking",
    "by",
    "for",
    "found",
    "further",
    "human",
    "i",
    "identified",
    "left",
    "list",
    "more",
    "my",
    "new",
    "of",
    "on",
    "open",
    "other",
    "outstanding",
    "pending",
    "remaining",
    "review",
    "some",
    "still",
    "team",
    "the",
    "to",
    "unanswered",
    "unresolved",
    "user",
    "you",
];

/// Other words for sections that route: a heading has one of the first list, one of the second where that is not empty, and nothing else but dress.
const ALIKE: [(&[&str], &[&str], Heading); 5] = [
    (&["question", "questions"], &[], Heading::OpenQuestions),
    (&["gap", "gaps"], &[], Heading::Gaps),
    (&["row", "rows"], &["failed", "failing", "missing", "unmet", "unverified", "not"], Heading::Gaps),
    (&["finding", "findings", "issue", "issues", "problem", "problems", "defect", "defects"], &[], Heading::Findings),
    (
        &["change", "changes"],
        &["required", "requested", "request", "requests", "needed", "necessary", "mandatory"],
        Heading::ChangeRequests,
    ),
];

/// A section of a status block, in the order in which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heading {
    /// How the run went, in one word.
    Status,
    /// Why it is not complete.
    StatusReason,
    /// The index of the rest.
    Abstract,
    /// Which round it is.
    Iteration,
    /// Paths created.
    FilesCreated,
    /// Paths modified.
    FilesModified,
    /// Paths deleted.
    FilesDeleted,
    /// What the tools printed.
    QualityGates,
    /// Each row of the Definition of Done with a mark.
    Coverage,
    /// A DoD checker's verdict.
    Verdict,
    /// The rows it verified.
    VerifiedRows,
    /// The rows that do not hold.
    Gaps,
    /// What it read to say so.
    ReadingScope,
    /// What a reviewer found.
    Findings,
    /// The same under its other name.
    ChangeRequests,
    /// Whether a review was a full or a fast one.
    ReReviewMode,
    /// The findings a repair addressed.
    AddressedFindings,
    /// What was decided on the way.
    KeyDecisions,
    /// What the next agent should know.
    NextAgent,
    /// What a tester learned.
    LessonsLearned,
    /// What a person must answer.
    OpenQuestions,
}

/// So many bytes of a line may be the name of a section and the signs around it.
const NAME_BYTES: usize = 64;

impl Heading {
    /// Every section, in order.
    pub const ALL: [Self; 21] = [
        Self::Status,
        Self::StatusReason,
        Self::Abstract,
        Self::Iteration,
        Self::FilesCreated,
        Self::FilesModified,
        Self::FilesDeleted,
        Self::QualityGates,
        Self::Coverage,
        Self::Verdict,
        Self::VerifiedRows,
        Self::Gaps,
        Self::ReadingScope,
        Self::Findings,
        Self::ChangeRequests,
        Self::ReReviewMode,
        Self::AddressedFindings,
        Self::KeyDecisions,
        Self::NextAgent,
        Self::LessonsLearned,
        Self::OpenQuestions,
    ];

    /// The words of its heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Status => "Status",
            Self::StatusReason => "Status reason",
            Self::Abstract => "Abstract",
            Self::Iteration => "Iteration",
            Self::FilesCreated => "Files Created",
            Self::FilesModified => "Files Modified",
            Self::FilesDeleted => "Files Deleted",
            Self::QualityGates => "Quality-Gate Results",
            Self::Coverage => "DoD coverage",
            Self::Verdict => "Verdict",
            Self::VerifiedRows => "Verified rows",
            Self::Gaps => "Gaps",
            Self::ReadingScope => "Reading scope used",
            Self::Findings => "Findings",
            Self::ChangeRequests => "Change requests",
            Self::ReReviewMode => "Re-review mode",
            Self::AddressedFindings => "Addressed findings",
            Self::KeyDecisions => "Key Decisions",
            Self::NextAgent => "For the Next Agent",
            Self::LessonsLearned => "Lessons Learned",
            Self::OpenQuestions => "Open Questions",
        }
    }

    /// Whether every role's report has it at a fixed place; the others stand where their role puts them.
    pub const fn in_template(self) -> bool {
        !matches!(
            self,
            Self::FilesDeleted
                | Self::Verdict
                | Self::VerifiedRows
                | Self::Gaps
                | Self::ReadingScope
                | Self::Findings
                | Self::ChangeRequests
                | Self::ReReviewMode
                | Self::AddressedFindings
                | Self::LessonsLearned
        )
    }

    /// Whether it lists things, and holds nothing else.
    pub const fn lists(self) -> bool {
        matches!(
            self,
            Self::FilesCreated
                | Self::FilesModified
                | Self::FilesDeleted
                | Self::Coverage
                | Self::VerifiedRows
                | Self::Gaps
                | Self::Findings
                | Self::ChangeRequests
                | Self::AddressedFindings
                | Self::OpenQuestions
        )
    }

    /// Whether its entries are counted in the Abstract.
    pub const fn is_counted(self) -> bool {
        matches!(self, Self::FilesCreated | Self::FilesModified | Self::FilesDeleted | Self::OpenQuestions)
    }

    /// Whether something may be decided by it.
    pub const fn counts(self) -> bool {
        self.lists() || matches!(self, Self::Status | Self::StatusReason | Self::Abstract | Self::Verdict)
    }

    /// The section that counts which a heading means and does not name: `Gaps (2)`, `**Findings**`, `Open Questions for you`.
    pub fn meant(title: &str) -> Option<Self> {
        let bare = title.trim_start_matches(|c: char| !c.is_alphabetic());
        Self::ALL.into_iter().filter(|heading| heading.counts()).find(|heading| {
            let name = heading.title();
            let Some(rest) = bare.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)) else {
                return false;
            };
            let rest = &bare[rest.len()..];
            // `Findings of last time` is a note; nobody keeps notes under `Gaps found`.
            let telling = matches!(heading, Self::OpenQuestions | Self::Gaps | Self::VerifiedRows | Self::Coverage);
            let word = rest.trim_start().starts_with(char::is_alphabetic);
            if telling { !rest.starts_with(char::is_alphanumeric) } else { !word }
        })
    }

    /// The section that routes which a heading announces in other words: `Questions`, `Remaining gaps`, `Required changes`.
    pub fn alike(title: &str) -> Option<Self> {
        let lower = title.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
        let telling: Vec<&str> =
            words.filter(|word| !DRESS.contains(word) && !word.bytes().all(|byte| byte.is_ascii_digit())).collect();
        let found = ALIKE.into_iter().find(|(names, with, _)| {
            let (named, rest): (Vec<&str>, Vec<&str>) = telling.iter().partition(|word| names.contains(word));
            let told = with.is_empty() || rest.iter().any(|word| with.contains(word));
            named.len() == 1 && told && rest.iter().all(|word| with.contains(word) || *word == "verified")
        });
        found.map(|(_, _, heading)| heading)
    }

    /// The section that a line names as a heading of any level does.
    pub fn named(line: &str) -> Option<Self> {
        line.starts_with('#').then(|| heading_words(line)).flatten().and_then(Self::find).map(|(heading, _)| heading)
    }

    /// The section that counts which a line inside another section announces: as a heading of another level or in HTML,
    /// and where nothing but a list should stand also in bold or before a colon.
    pub fn announced(line: &str, in_list: bool) -> Option<Self> {
        if let Some(words) = heading_words(line) {
            let named = Self::find(words).map(|(heading, _)| heading).filter(|heading| heading.counts());
            return named.or_else(|| Self::meant(words));
        }
        if !in_list {
            return None;
        }
        // A line that goes on for longer than any name is none.
        let begin = &line.as_bytes()[..line.len().min(NAME_BYTES)];
        let head = match memchr::memchr(b':', begin) {
            Some(colon) => &line[..colon],
            None if begin.len() == line.len() => line,
            None => return None,
        };
        let words = head.trim_matches(|c: char| !c.is_alphanumeric() && c != '?');
        let known = |heading: &Self| heading.lists() || *heading == Self::Verdict;
        Self::ALL.into_iter().find(|heading| heading.title().eq_ignore_ascii_case(words)).filter(known)
    }

    /// The section whose heading says `title`, and how many bytes of it are the name: `Verdict: APPROVED` carries its
    /// value with it, and so does `Status complete`.
    pub fn find(title: &str) -> Option<(Self, usize)> {
        let exact = |words: &str| Self::ALL.into_iter().find(|heading| heading.title().eq_ignore_ascii_case(words));
        if let Some(heading) = exact(title.trim_end_matches(':').trim_end()) {
            return Some((heading, title.len()));
        }
        if let Some((name, _)) = title.split_once(':') {
            return exact(name.trim_end()).map(|heading| (heading, name.len() + 1));
        }
        let (name, word) = title.split_once(' ')?;
        let status = name.eq_ignore_ascii_case(Self::Status.title());
        (status && super::document::Status::parse(word.trim()).is_some()).then_some((Self::Status, name.len() + 1))
    }

    /// Whether a heading could be the beginning of this dialect's heading, cut off.
    pub fn is_cut(title: &str) -> bool {
        let lower = title.to_lowercase();
        Self::ALL.iter().any(|heading| heading.title().to_lowercase().starts_with(&lower))
    }
}
