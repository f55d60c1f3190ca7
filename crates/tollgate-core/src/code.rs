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
    YAML_SYNTAX = "TG0100",
    YAML_REFUSED = "TG0101",
    YAML_DUPLICATE = "TG0102",
    YAML_UNKNOWN_KEY = "TG0103",
    YAML_MISSING_KEY = "TG0104",
    YAML_VALUE = "TG0105",
    NAME_TAKEN = "TG0106",
    PROTOCOL_TOO_LARGE = "TG0107",
    NOT_ROUTED = "TG0110",
    NOT_AN_OUTCOME = "TG0111",
    ORIGIN_LACKS = "TG0112",
    CONTRACT_UNKNOWN = "TG0113",
    VERDICT_UNKNOWN = "TG0114",
    NAME_UNKNOWN = "TG0120",
    FLOW_CIRCLE = "TG0121",
    NOT_REACHED = "TG0122",
    NO_END = "TG0123",
    NEVER_DONE = "TG0124",
    RAISE_UNCAUGHT = "TG0125",
    UNUSED = "TG0126",
    NO_GIVER = "TG0127",
    NO_EFFECT = "TG0128",
    NOT_YET = "TG0129",
    NOT_BOUNDED = "TG0130",
    LIMIT_INCOMPLETE = "TG0131",
    LIMIT_LARGE = "TG0132",
    NOT_GATED = "TG0140",
    NOT_LANDED = "TG0141",
    NOT_ESTABLISHED = "TG0142",
    GUARDS_NOTHING = "TG0143",
    CANNOT_ENSURE = "TG0144",
    DEFAULT_FORBIDDEN = "TG0145",
    NOT_ASSIGNED = "TG0150",
    VALUE_UNKNOWN = "TG0151",
    READ_TOO_EARLY = "TG0152",
    CANNOT_GIVE = "TG0153",
    CLAIM_SHOWN = "TG0160",
    SESSION_SHARED = "TG0161",
    JUDGES_ITSELF = "TG0162",
    TREE_SHARED = "TG0163",

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
    VERDICT_WORD = "TG0212",
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
    LIST_STRAY = "TG0224",
    SECTION_MISPLACED = "TG0225",
    TASK_NO_ROWS = "TG0230",
    TASK_HEADING = "TG0231",
    TASK_SIDE = "TG0232",
    TASK_COMMAND = "TG0233",
    TASK_ROW = "TG0234",
    TASK_SCOPE = "TG0235",
    JSON_SYNTAX = "TG0240",
    KEY_TWICE = "TG0241",
    FIELD_MISSING = "TG0242",
    FIELD_UNKNOWN = "TG0243",
    FIELD_KIND = "TG0244",
    FIELD_WORD = "TG0245",
    FIELD_LENGTH = "TG0246",
    FIELD_FORM = "TG0247",
    ITEM_TWICE = "TG0248",
    RULE_BROKEN = "TG0249",
    TEXT_AROUND = "TG0250",
    CONTRACT_NAME = "TG0252",
    RULE_IDLE = "TG0253",
    NOT_MAPPED = "TG0254",
    CONTRACT_EXAMPLE = "TG0255",
    SECOND_DOCUMENT = "TG0256",
    CALL_FAILED = "TG0257",
    TEXT_AFTER = "TG0258",
    REPORTS_DIFFER = "TG0259",

    // 03: runs
    RUN_CLOSED = "TG0301",
    STALE_TOKEN = "TG0302",
    NO_DECISION = "TG0303",
    ALREADY_ANSWERED = "TG0304",
    NOT_OFFERED = "TG0305",
    ANSWER_CARRIES = "TG0306",
    ANSWER_FALLS_SHORT = "TG0307",
    NOTHING_TO_RETRY = "TG0308",
    NOT_A_PERSON = "TG0309",
    NOT_THE_DRIVER = "TG0310",
    BAD_INPUT = "TG0311",
    BAD_ARTIFACT = "TG0312",
    UNSUPPORTED = "TG0313",
    SCOPES_OVERLAP = "TG0314",
    BAD_ADVANCE_ANSWER = "TG0315",
    INVARIANT_BROKEN = "TG0316",
    NO_RUN = "TG0317",
    NEWER_EVENT = "TG0318",
    DAMAGED_EVENT = "TG0319",
    NO_PROTOCOL_OBJECT = "TG0320",
    BROKEN_HISTORY = "TG0321",
    FENCED_DRIVER = "TG0322",
    RUN_BUSY = "TG0323",
    OBJECT_DAMAGED = "TG0324",
    SNAPSHOT_DIFFERS = "TG0325",
    HEAD_DIFFERS = "TG0326",
    RUN_HELD = "TG0327",
    SUMMARY_DIFFERS = "TG0328",
    NO_ATTEMPT = "TG0329",
    NOT_A_DISPATCH = "TG0330",
    SHOWN_OBJECT_MISSING = "TG0331",
    SHOWN_SECTION_MISSING = "TG0332",
    BRIEF_INVALID = "TG0333",
    BRIEF_NAME_UNKNOWN = "TG0334",
    BRIEF_TOO_LARGE = "TG0335",
    BAD_SCOPE = "TG0336",
    QUESTION_CHANGED = "TG0337",
    NOT_SUCCEEDED = "TG0340",
    LANDING_UNDER_WAY = "TG0341",
    LAND_CONFLICT = "TG0342",
    OTHER_WORK = "TG0343",
    NOT_IN_PROTOCOL = "TG0344",
    EMPTY_CHANGE = "TG0345",

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
    RUN_ROW_DAMAGED = "TG0425",
    HEAD_UNRECORDED = "TG0426",
    EPOCH_BEHIND = "TG0427",
    NOTHING_TO_REPAIR = "TG0428",
    NOTHING_LEFT = "TG0429",
    BUNDLE_INVALID = "TG0430",
    BUNDLE_NEWER = "TG0431",

    // 05: work trees and workers
    NOT_A_REPOSITORY = "TG0501",
    NO_COMMIT = "TG0502",
    BARE_REPOSITORY = "TG0503",
    DIRTY_CHECKOUT = "TG0504",
    GIT_FAILED = "TG0505",
    UNMEASURABLE = "TG0506",
    TREE_TOO_LARGE = "TG0507",
    REF_MOVED = "TG0508",
    WORKSPACE_LOST = "TG0509",
    WORKER_NOT_FOUND = "TG0510",
    WORKER_COMMAND = "TG0511",
    REPORT_REFUSED = "TG0512",
    SCRIPT_INVALID = "TG0513",
    SCRIPT_NO_ENTRY = "TG0514",
    WORKER_START = "TG0515",
    BELOW_A_WORKER = "TG0516",
    WORK_HELD = "TG0517",
    REF_IN_THE_WAY = "TG0518",
    CHECKOUT_NOT_TAKEN = "TG0519",
    NO_REVISION = "TG0520",
    WORK_NOT_SHOWN = "TG0522",
    NO_COMMON_COMMIT = "TG0521",
    FILES_ABSENT = "TG0523",
    RUN_COMMIT_MISSING = "TG0524",
    LAND_TARGET = "TG0530",
    SANDBOX_MISSING = "TG0540",
    SETTINGS_UNREADABLE = "TG0542",
    NOT_REDACTED = "TG0543",
    NOT_READY = "TG0544",
    GIT_REPLACED = "TG0545",
    PROGRAM_COVERED = "TG0546",

    // 06: command line and configuration
    INTERNAL = "TG0600",
    USAGE = "TG0601",
    NO_CODE = "TG0602",
    NO_REPOSITORY = "TG0603",
    CONFIG = "TG0604",
    CONFIG_NAME = "TG0605",
    FILE = "TG0606",
    EXISTS = "TG0607",
    NO_PROTOCOL = "TG0608",
    NO_CONTRACT = "TG0609",
    GIT = "TG0610",
    NOTHING_TO_TRUST = "TG0611",
    WORKER_UNKNOWN = "TG0612",
    STATE = "TG0613",
    FOLDER = "TG0615",
    UNTRUSTED = "TG0616",
    SCHEMAS = "TG0617",
    PROTOCOL_SHADOWED = "TG0618",
    NO_OBJECT = "TG0620",
    NO_REPORT_FILE = "TG0621",
    NOTHING_OUT_OF_SCOPE = "TG0630",
}
