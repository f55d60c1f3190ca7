//! Every code that Tollgate can answer with, and the page that explains it.
//!
//! Adding a code: a line here and a page `docs/codes/TGnnnn.md`; without the page it does not compile.
//! Ranges: 01 protocols · 02 contracts · 03 runs · 04 journal · 05 work trees and workers · 06 command line and configuration.

use std::fmt;

use serde::{Serialize, Serializer};

/// A code such as `TG0142`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    /// The code as it is printed.
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// Finds a code by what a person typed: `TG0142`, `tg142`, `142`.
    pub fn find(text: &str) -> Option<Self> {
        let digits = text.trim_start_matches(['T', 't']).trim_start_matches(['G', 'g']);
        let number: u32 = digits.parse().ok()?;
        let wanted = format!("TG{number:04}");
        PAGES.iter().map(|(code, _)| *code).find(|code| code.0 == wanted)
    }

    /// The page that explains it.
    pub fn page(self) -> &'static str {
        PAGES.iter().find(|(code, _)| *code == self).map_or("", |(_, page)| page)
    }

    /// Every code there is.
    pub fn all() -> impl Iterator<Item = Self> {
        PAGES.iter().map(|(code, _)| *code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

macro_rules! codes {
    ($($name:ident = $code:literal,)*) => {
        impl Code {
            $(#[doc = concat!("`", $code, "`: docs/codes/", $code, ".md")]
            pub const $name: Code = Code($code);)*
        }
        const PAGES: &[(Code, &str)] = &[
            $((Code($code), include_str!(concat!("../../../docs/codes/", $code, ".md"))),)*
        ];
    };
}

codes! {
    // 01: protocols

    // 02: contracts
    TEXT_REFUSED = "TG0200",
    REPORT_ABSENT = "TG0201",
    STATUS_UNKNOWN = "TG0202",
    STATUS_REASON = "TG0203",
    SECTION_MISSING = "TG0204",
    SECTION_TWICE = "TG0205",
    SECTION_UNKNOWN = "TG0206",
    SECTION_ORDER = "TG0207",
    REPORT_CUT_OFF = "TG0208",
    REPORT_DRAFT = "TG0209",
    ABSTRACT_FIELD = "TG0210",
    ABSTRACT_COUNT = "TG0211",
    VERDICT_UNKNOWN = "TG0212",
    VERDICT_CONTRADICTS = "TG0213",
    VERDICT_NOT_ALLOWED = "TG0214",
    NEXT_PHASE = "TG0215",
    QUESTION_MISSING = "TG0216",
    REJECTS_NOTHING = "TG0217",
    FINDING_UNREADABLE = "TG0218",
    ROW_UNKNOWN = "TG0219",
    ROW_TWICE = "TG0220",
    ROW_LEFT_OUT = "TG0221",
    ENTRY_UNREADABLE = "TG0222",
    APPROVED_WITH_FINDINGS = "TG0223",
    TASK_NO_ROWS = "TG0230",
    TASK_HEADING = "TG0231",
    TASK_SIDE = "TG0232",
    TASK_COMMAND = "TG0233",
    TASK_ROW = "TG0234",
    TASK_SCOPE = "TG0235",

    // 03: runs

    // 04: journal

    // 05: work trees and workers

    // 06: command line and configuration
    INTERNAL = "TG0600",
}
