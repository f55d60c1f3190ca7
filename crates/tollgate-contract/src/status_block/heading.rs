//! The sections a status block may have.

use tollgate_core::words;

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

words!(Heading {
    Status = "Status",
    StatusReason = "Status reason",
    Abstract = "Abstract",
    Iteration = "Iteration",
    FilesCreated = "Files Created",
    FilesModified = "Files Modified",
    FilesDeleted = "Files Deleted",
    QualityGates = "Quality-Gate Results",
    Coverage = "DoD coverage",
    Verdict = "Verdict",
    VerifiedRows = "Verified rows",
    Gaps = "Gaps",
    ReadingScope = "Reading scope used",
    Findings = "Findings",
    ChangeRequests = "Change requests",
    ReReviewMode = "Re-review mode",
    AddressedFindings = "Addressed findings",
    KeyDecisions = "Key Decisions",
    NextAgent = "For the Next Agent",
    LessonsLearned = "Lessons Learned",
    OpenQuestions = "Open Questions",
});

impl Heading {
    /// The words of its heading.
    pub const fn title(self) -> &'static str {
        self.word()
    }

    /// Whether every report has it, in this order; the others may be anywhere.
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

    /// Whether it holds free text.
    pub const fn is_free(self) -> bool {
        matches!(
            self,
            Self::QualityGates
                | Self::ReadingScope
                | Self::ReReviewMode
                | Self::KeyDecisions
                | Self::NextAgent
                | Self::LessonsLearned
        )
    }

    /// Whether it holds one value, which its heading may carry: `## Verdict: APPROVED`.
    const fn has_one_value(self) -> bool {
        matches!(self, Self::Status | Self::StatusReason | Self::Iteration | Self::Verdict)
    }

    /// The section that a heading names, and where in the heading its value begins, if it has one.
    pub fn find(title: &str) -> Option<(Self, Option<usize>)> {
        let exact = |words: &str| Self::ALL.into_iter().find(|heading| heading.title().eq_ignore_ascii_case(words));
        if let Some(heading) = exact(title.trim_end_matches(':').trim_end()) {
            return Some((heading, None));
        }
        let (name, _) = title.split_once(':')?;
        let heading = exact(name.trim_end()).filter(|heading| heading.has_one_value())?;
        Some((heading, Some(name.len() + 1)))
    }
}
