//! The words of a checklist, and what each may do in a line.

use crate::contract::denied::{key, key_of};

/// What a word may do in a line.
pub type May = u32;
/// Deny what follows.
pub const NEGATES: May = 1 << 0;
/// Say that there is none of what follows.
pub const NO: May = 1 << 1;
/// Count things, one or more of them; a number does, too.
pub const COUNT: May = 1 << 2;
/// Stand between the others and say nothing here.
pub const FILLS: May = 1 << 3;
/// Be what a checklist speaks of.
pub const NOUN: May = 1 << 4;
/// Say of such things that they do not hold.
pub const BAD: May = 1 << 5;
/// Say that they do now.
pub const SETTLED: May = 1 << 6;
/// Say so of what the clause speaks of, and not of something else.
pub const PASSES: May = 1 << 7;
/// Say that it was so before, or would be.
pub const BEFORE: May = 1 << 8;
/// Begin words that say which thing is meant.
pub const RELATES: May = 1 << 9;
/// Be about the rest of them.
pub const OTHERS: May = 1 << 10;
/// Be about all of them.
pub const ALL: May = 1 << 11;
/// Take some out of all.
pub const EXCEPTS: May = 1 << 12;
/// Say why something may be outside of a scope.
pub const ALLOWED: May = 1 << 13;
/// Claim that a line holds.
pub const CLAIM: May = 1 << 14;
/// Claim it of what is compared with something.
pub const FITS: May = 1 << 15;
/// Claim it of what a checklist speaks of; of other things it may be evidence.
pub const HOLDS: May = 1 << 16;
/// Claim it of a scope.
pub const SCOPED: May = 1 << 17;
/// Be what a change is compared with.
pub const SPEC: May = 1 << 18;
/// Deny by itself what a line claims.
pub const UNLIKE: May = 1 << 19;
/// Deny it of a scope.
pub const OUT: May = 1 << 20;
/// Part what is said into clauses.
pub const PARTS: May = 1 << 21;
/// Take something out where a denial follows.
pub const BUT: May = 1 << 22;
/// Stand behind what is counted.
pub const BEHIND: May = 1 << 23;

/// What each word may do, in the order of the words.
pub const WORDS: [(&str, May); 299] = [
    ("a", FILLS),
    ("acceptable", HOLDS),
    ("acceptance", FILLS),
    ("added", SETTLED),
    ("addressed", SETTLED | HOLDS),
    ("all", FILLS | ALL),
    ("allowed", ALLOWED),
    ("alone", BEFORE),
    ("also", FILLS),
    ("although", PARTS),
    ("always", FILLS),
    ("an", FILLS),
    ("and", PARTS),
    ("answered", SETTLED | HOLDS),
    ("any", FILLS),
    ("anymore", BEFORE),
    ("apart", EXCEPTS),
    ("are", FILLS),
    ("aren't", NEGATES),
    ("aside", EXCEPTS),
    ("at", FILLS | BEHIND),
    ("be", FILLS),
    ("been", FILLS),
    ("before", BEFORE),
    ("being", FILLS),
    ("besides", EXCEPTS),
    ("both", COUNT | FILLS),
    ("broken", BAD),
    ("but", PARTS | BUT),
    ("by", BEHIND),
    ("can", FILLS),
    ("can't", NEGATES),
    ("cannot", NEGATES),
    ("case", NOUN),
    ("cases", NOUN),
    ("caught", SETTLED),
    ("change", NOUN),
    ("changed", FILLS),
    ("changes", NOUN),
    ("check", NOUN),
    ("checked", HOLDS),
    ("checks", NOUN),
    ("clean", HOLDS),
    ("closed", SETTLED | HOLDS),
    ("co-located", ALLOWED),
    ("code", NOUN),
    ("colocated", ALLOWED),
    ("comment", NOUN),
    ("comments", NOUN),
    ("completely", FILLS),
    ("compliant", CLAIM),
    ("complies", CLAIM),
    ("comply", CLAIM),
    ("condition", NOUN),
    ("conditions", NOUN),
    ("confirmed", HOLDS),
    ("conform", FITS),
    ("conformant", FITS),
    ("conforms", FITS),
    ("consistent", CLAIM),
    ("constraint", NOUN),
    ("constraints", NOUN),
    ("contradicts", UNLIKE),
    ("convention", SPEC),
    ("conventions", SPEC),
    ("conversation", NOUN),
    ("conversations", NOUN),
    ("correction", ALLOWED),
    ("could", FILLS),
    ("couldn't", NEGATES),
    ("counted", SETTLED),
    ("covered", SETTLED | HOLDS),
    ("criteria", NOUN | SPEC),
    ("criterion", NOUN | SPEC),
    ("currently", FILLS),
    ("design", SPEC),
    ("deviates", UNLIKE),
    ("did", FILLS),
    ("didn't", NEGATES),
    ("discussion", NOUN),
    ("discussions", NOUN),
    ("dismissed", SETTLED),
    ("diverges", UNLIKE),
    ("do", FILLS),
    ("documented", ALLOWED),
    ("does", FILLS),
    ("doesn't", NEGATES),
    ("don't", NEGATES),
    ("done", SETTLED | HOLDS),
    ("each", FILLS | ALL),
    ("earlier", BEFORE),
    ("eight", COUNT),
    ("entirely", FILLS),
    ("every", FILLS | ALL),
    ("everything", FILLS | ALL),
    ("exactly", FILLS),
    ("except", EXCEPTS),
    ("excepting", EXCEPTS),
    ("exception", EXCEPTS),
    ("excluding", EXCEPTS),
    ("expected", BEFORE),
    ("fail", BAD),
    ("failed", BAD),
    ("failing", BAD),
    ("fails", BAD),
    ("failure", BAD),
    ("failures", BAD),
    ("few", COUNT),
    ("file", NOUN),
    ("files", NOUN),
    ("finding", NOUN),
    ("findings", NOUN),
    ("first", BEFORE),
    ("five", COUNT),
    ("fixed", SETTLED),
    ("follow", HOLDS),
    ("followed", HOLDS),
    ("follows", HOLDS),
    ("for", BEHIND),
    ("formerly", BEFORE),
    ("found", FILLS),
    ("four", COUNT),
    ("from", BEHIND),
    ("fulfilled", CLAIM),
    ("fully", FILLS),
    ("generated", ALLOWED),
    ("green", PASSES),
    ("had", FILLS),
    ("hadn't", NEGATES),
    ("handled", SETTLED),
    ("has", FILLS),
    ("hasn't", NEGATES),
    ("have", FILLS),
    ("haven't", NEGATES),
    ("hold", HOLDS),
    ("holds", HOLDS),
    ("honored", CLAIM),
    ("honoured", CLAIM),
    ("however", PARTS),
    ("if", BEFORE),
    ("implementation", NOUN),
    ("implemented", HOLDS),
    ("in", FILLS | BEHIND),
    ("incidental", ALLOWED),
    ("incomplete", BAD),
    ("inconsistent", UNLIKE),
    ("initially", BEFORE),
    ("inside", SCOPED),
    ("is", FILLS),
    ("isn't", NEGATES),
    ("issue", NOUN),
    ("issues", NOUN),
    ("it", SPEC),
    ("item", NOUN),
    ("items", NOUN),
    ("kept", HOLDS),
    ("least", FILLS),
    ("leaves", FILLS),
    ("leaving", FILLS),
    ("left", FILLS | BAD),
    ("lockfile", ALLOWED),
    ("longer", BEFORE),
    ("many", COUNT),
    ("match", FITS),
    ("matched", FITS),
    ("matches", FITS),
    ("matching", FITS),
    ("meet", HOLDS),
    ("meets", HOLDS),
    ("mended", SETTLED),
    ("met", PASSES | CLAIM),
    ("minus", EXCEPTS),
    ("mismatch", UNLIKE),
    ("mismatches", UNLIKE),
    ("missing", BAD),
    ("modified", FILLS),
    ("multiple", COUNT),
    ("neither", NO),
    ("never", NEGATES),
    ("nine", COUNT),
    ("no", NO),
    ("nobody", NO),
    ("noncompliant", UNLIKE),
    ("none", NO),
    ("nor", NEGATES),
    ("not", NEGATES),
    ("nothing", NO),
    ("now", FILLS),
    ("of", FILLS | BEHIND),
    ("on", BEHIND),
    ("one", COUNT),
    ("open", BAD),
    ("originally", BEFORE),
    ("other", FILLS | OTHERS),
    ("others", OTHERS),
    ("out", OUT),
    ("outside", OUT),
    ("outstanding", BAD),
    ("pass", PASSES | HOLDS),
    ("passed", PASSES | HOLDS),
    ("passes", PASSES | HOLDS),
    ("passing", PASSES),
    ("pending", BAD),
    ("permitted", ALLOWED),
    ("point", NOUN),
    ("points", NOUN),
    ("previously", BEFORE),
    ("project", SPEC),
    ("proven", HOLDS),
    ("question", NOUN),
    ("questions", NOUN),
    ("readable", HOLDS),
    ("refused", SETTLED),
    ("rejected", SETTLED),
    ("remain", FILLS | BAD),
    ("remaining", FILLS | BAD | OTHERS),
    ("remains", FILLS | BAD),
    ("remark", NOUN),
    ("remarks", NOUN),
    ("removed", SETTLED),
    ("reported", SETTLED),
    ("requirement", NOUN | SPEC),
    ("requirements", NOUN | SPEC),
    ("resolved", SETTLED | HOLDS),
    ("respected", CLAIM),
    ("rest", OTHERS),
    ("row", NOUN),
    ("rows", NOUN),
    ("rule", NOUN),
    ("rules", NOUN | SPEC),
    ("satisfied", PASSES | CLAIM),
    ("scope", SCOPED),
    ("section", SPEC),
    ("settled", SETTLED | HOLDS),
    ("seven", COUNT),
    ("several", COUNT),
    ("shown", SETTLED),
    ("shows", FILLS),
    ("six", COUNT),
    ("some", COUNT),
    ("spec", NOUN | SPEC),
    ("specification", NOUN | SPEC),
    ("standard", SPEC),
    ("standards", NOUN | SPEC),
    ("still", FILLS),
    ("style", SPEC),
    ("task", FILLS),
    ("template", SPEC),
    ("ten", COUNT),
    ("test", NOUN),
    ("tested", HOLDS),
    ("tests", NOUN),
    ("that", RELATES),
    ("the", FILLS),
    ("them", FILLS),
    ("there", FILLS),
    ("these", FILLS),
    ("those", FILLS),
    ("though", PARTS),
    ("thread", NOUN),
    ("threads", NOUN),
    ("three", COUNT),
    ("two", COUNT),
    ("unaddressed", BAD),
    ("unanswered", BAD),
    ("unchanged", BEFORE),
    ("unless", BEFORE),
    ("unmet", BAD | UNLIKE),
    ("unresolved", BAD),
    ("unsatisfied", BAD | UNLIKE),
    ("unsettled", BAD),
    ("untested", BAD),
    ("untouched", BEFORE),
    ("unverified", BAD),
    ("verified", PASSES | CLAIM),
    ("violated", BAD | UNLIKE),
    ("violates", UNLIKE),
    ("violation", BAD),
    ("violations", BAD),
    ("was", FILLS),
    ("wasn't", NEGATES),
    ("were", FILLS),
    ("weren't", NEGATES),
    ("when", BEFORE),
    ("whenever", BEFORE),
    ("where", BEFORE),
    ("whereas", PARTS),
    ("which", RELATES),
    ("while", PARTS),
    ("who", RELATES),
    ("whose", RELATES),
    ("with", FILLS),
    ("within", SCOPED),
    ("without", NO | BEFORE),
    ("won't", NEGATES),
    ("work", HOLDS),
    ("works", HOLDS),
    ("yet", FILLS),
    ("zero", NO),
];

const KEYS: [(u128, May); WORDS.len()] = {
    let mut keys = [(0, 0); WORDS.len()];
    let mut at = 0;
    while at < WORDS.len() {
        keys[at] = (key_of(WORDS[at].0), WORDS[at].1);
        at += 1;
    }
    keys
};

/// What a word or a number may do; nothing where it is not known.
pub fn may(word: &str) -> May {
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return if word.bytes().all(|byte| byte == b'0') { NO } else { COUNT };
    }
    let Some(key) = key(word) else { return 0 };
    let found = KEYS.binary_search_by_key(&key, |(known, _)| *known);
    found.ok().and_then(|at| KEYS.get(at)).map_or(0, |(_, may)| *may)
}
