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

    // 03: runs

    // 04: journal
    APPEND_CONFLICT = "TG0400",
    APPEND_FENCED = "TG0401",
    APPEND_REFUSED = "TG0402",
    LEASE_HELD = "TG0403",
    LEASE_GONE = "TG0404",
    STORE_FAILED = "TG0410",
    STORE_FULL = "TG0411",
    STORE_READ_ONLY = "TG0412",
    STORE_LOCKED = "TG0413",
    STORE_CORRUPT = "TG0414",
    STORE_NEWER = "TG0415",
    STORE_FOREIGN = "TG0416",
    STORE_LOST = "TG0417",
    CHAIN_BROKEN = "TG0420",
    CHAIN_HEAD = "TG0421",
    TAIL_LOST = "TG0422",
    OBJECT_MISSING = "TG0423",
    OBJECT_CHANGED = "TG0424",
    BUNDLE_INVALID = "TG0430",
    BUNDLE_NEWER = "TG0431",

    // 05: work trees and workers

    // 06: command line and configuration
    INTERNAL = "TG0600",
}
