//! One shape for everything that is wrong with an input: what, where, why, what to do next, with a code.

use serde::{Deserialize, Serialize};

use crate::code::Code;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The input is good; this is worth knowing.
    Warning,
    /// The input is refused.
    Error,
}

/// A place in a text, counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Place {
    /// The line, from 1; 0 where there is no place (a whole file, a thing that is absent).
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Place {
    /// Where a text begins: the place of what the whole of it lacks.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// One thing that is wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Which rule was broken; `tollgate explain CODE` has the page.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where; and the second place when two places contradict each other.
    #[serde(flatten)]
    pub place: Place,
    /// The other place of a contradiction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Place>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The rule of a contract that does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<crate::Name>,
    /// The one way to fix it, where there is only one.
    #[serde(skip)]
    pub fix: Option<Box<Fix>>,
}

/// The one way to fix what is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// What stands there is written so.
    Word { said: String, with: String },
    /// The same, further on in the line.
    InLine { said: String, with: String },
    /// The quotes around it are taken away.
    Bare { said: String },
    /// Quotes are put around it.
    Quoted { said: String },
    /// The heading there has so many signs.
    Level(usize),
    /// The sections that begin at these places stand in this order; the last in the text ends before the other place.
    Order(Vec<Place>, Option<Place>),
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            place,
            other: None,
            hint: None,
            rule: None,
            fix: None,
        }
    }

    /// A warning at a place.
    pub fn warning(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, place, message) }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the one way to fix it.
    #[must_use]
    pub fn fix(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix.map(Box::new);
        self
    }

    /// Adds the second place of a contradiction.
    #[must_use]
    pub fn other(mut self, place: Place) -> Self {
        self.other = Some(place);
        self
    }
}
