//! What the lines of a lock file say: whence something is fetched, and by which hash it is known.
//!
//! The formats have much in common: an entry has a name, a version, a source and a hash. What is read here holds for all of
//! them; where an entry cannot be told, what changes in it is for a person.

use std::collections::{BTreeMap, BTreeSet};

use super::aliased::{in_line, other_package, versioned};
use super::change::{Hunk, Sign};
use super::incidental::quoted;
use super::named::file_name;

/// Lock files in which each line is an entry.
const LINES_ARE_ENTRIES: &[&str] =
    &["go.sum", "go.work.sum", "mix.lock", "bun.lock", "Gemfile.lock", "MODULE.bazel.lock"];
/// Keys of a hash.
const HASHES: &[&str] =
    &["integrity", "checksum", "hash", "narHash", "contentHash", "shasum", "sha1", "sha256", "sha512", "md5"];
/// Keys of a hash of the manifest: it changes whenever that does.
const OF_MANIFEST: &[&str] = &["content-hash", "content_hash", "originHash", "PODFILE CHECKSUM"];
/// Keys of a commit: beside a version it is what a hash is, alone it is the version.
const COMMITS: &[&str] = &["rev", "revision", "reference", "commit"];
/// Keys of a place that is no address.
const PLACES: &[&str] = &["git", "remote", "owner", "repo", "path", "directory", "editable", "link", "location"];
/// What begins a place that is no address.
const PLACE_MARKS: &[&str] =
    &["git+", "file:", "link:", "portal:", "patch:", "github:", "gitlab:", "bitbucket:", "gist:", "git@"];
/// Hosts on which everybody has repositories.
const FORGES: &[&str] = &["github.com", "githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org"];
/// Keys of what is only shown to people.
const SHOWN: &[&str] =
    &["funding", "homepage", "support", "authors", "deprecated", "description", "license", "notification-url"];
/// Keys of a part of an entry that is no entry of its own.
const PARTS: &[&str] = &["source", "dist", "state", "description", "resolution"];

/// Why a person has to look at the change of a lock file; none when it is as the tool writes it.
pub fn open(path: &str, hunks: &[Hunk<'_>]) -> Option<String> {
    let all = || hunks.iter().flat_map(|hunk| &hunk.lines).map(|(sign, line)| (*sign, line.as_ref()));
    not_a_lock(all().collect())
        .or_else(|| escaped(all()))
        .or_else(|| source(hunks))
        .or_else(|| hash(path, hunks))
        .or_else(|| aliased(path, hunks))
}

/// A package that an added line puts in the place of another.
fn aliased(path: &str, hunks: &[Hunk<'_>]) -> Option<String> {
    let mut added = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|(sign, _)| *sign == Sign::Added);
    let other = added.find_map(|(_, line)| {
        let (key, value) = key_value(line.trim().trim_start_matches("%{")).filter(|_| !line.ends_with(':'))?;
        in_line(path, key.trim_matches('\''), &parts(value))
    })?;
    Some(format!("the package {} is fetched under another name", quoted(other)))
}

/// Nothing is left of it, or nothing that is like what it was.
fn not_a_lock(lines: Vec<(Sign, &str)>) -> Option<String> {
    // A line without what its words are.
    let shape = |line: &str| {
        let mut shape: Vec<char> =
            line.chars().map(|c| if c.is_alphanumeric() || "._-+/@:~^*#".contains(c) { 'w' } else { c }).collect();
        shape.dedup();
        shape
    };
    let of = |wanted| -> BTreeSet<Vec<char>> {
        let side = lines.iter().filter(|(sign, line)| *sign == wanted && !line.trim().is_empty());
        side.map(|(_, line)| shape(line)).collect()
    };
    let (kept, before, now) = (of(Sign::Kept), of(Sign::Removed), of(Sign::Added));
    let other = kept.is_empty() && !before.is_empty() && before.is_disjoint(&now);
    other.then(|| "no line is like one that was there before".to_owned())
}

/// What is written with escapes cannot be read from the line.
fn escaped<'l>(mut lines: impl Iterator<Item = (Sign, &'l str)>) -> Option<String> {
    let is_escaped = |line: &str| {
        let after = line.match_indices('\\').filter_map(|(at, _)| line[at + 1..].chars().next());
        after.into_iter().any(|next| !matches!(next, '"' | '\\' | 'n'))
    };
    let (_, line) = lines.find(|(sign, line)| *sign == Sign::Added && is_escaped(line))?;
    Some(format!("this line is written with escapes: {}", quoted(line.trim())))
}

/// A source of an added line that no other line has.
fn source(hunks: &[Hunk<'_>]) -> Option<String> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut added: Vec<String> = Vec::new();
    for hunk in hunks {
        for side in [Sign::Removed, Sign::Added] {
            let mut shown = Shown::default();
            for (sign, line) in hunk.lines.iter().filter(|(sign, _)| *sign == side || *sign == Sign::Kept) {
                let is_shown = shown.holds(line);
                match sign {
                    Sign::Added if is_shown => {}
                    Sign::Added => added.extend(sources(line)),
                    // What people are shown makes no host known.
                    Sign::Removed | Sign::Kept if is_shown => {}
                    Sign::Removed | Sign::Kept => known.extend(sources(line)),
                }
            }
        }
    }
    let new = added.into_iter().find(|source| !known.contains(source))?;
    let host = new.strip_prefix("https://").unwrap_or(&new);
    Some(format!("it fetches from {}, which it did not before", quoted(host)))
}

/// Whether lines are only shown to people.
#[derive(Debug, Default)]
struct Shown {
    /// How many brackets are open in what is shown.
    depth: usize,
}

impl Shown {
    fn holds(&mut self, line: &str) -> bool {
        let bare = line.trim();
        let (opens, closes) = brackets(bare);
        if self.depth > 0 {
            self.depth = (self.depth + opens).saturating_sub(closes);
            return true;
        }
        let Some((key, value)) = key_value(bare).filter(|(key, _)| SHOWN.contains(key)) else { return false };
        if matches!(value, "{" | "[") && bare.starts_with('"') {
            self.depth = 1;
            return true;
        }
        // One value and nothing behind it, so that no other key stands on the line.
        let value = value.strip_suffix(',').unwrap_or(value);
        let inner = |quote: char| Some((value.strip_prefix(quote)?.strip_suffix(quote)?, quote));
        match inner('"').or_else(|| inner('\'')) {
            Some((inner, quote)) => !inner.replace("\\\"", "").contains(quote),
            // YAML writes text without quotes; a key in quotes, or one before `=`, has none so.
            None => bare[key.len()..].starts_with(": ") && !value.starts_with(['{', '[', '"', '\'']),
        }
    }
}

/// How many brackets a line opens and closes outside of quotes.
fn brackets(line: &str) -> (usize, usize) {
    let (mut opens, mut closes, mut quote, mut escape) = (0, 0, false, false);
    for c in line.chars() {
        match c {
            _ if escape => escape = false,
            '\\' => escape = true,
            '"' => quote = !quote,
            '{' | '[' if !quote => opens += 1,
            '}' | ']' if !quote => closes += 1,
            _ => {}
        }
    }
    (opens, closes)
}

/// The key that a line begins with, and what stands behind it: `"key": value`, `key: value`, `key = value`, `key value`.
fn key_value(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_at(line.find([' ', ':', '='])?),
    };
    let rest = rest.trim_start();
    Some((key, rest.strip_prefix([':', '=']).unwrap_or(rest).trim()))
}

/// The words of a line, without quotes, brackets, commas and the signs between a key and its value.
fn parts(line: &str) -> Vec<&str> {
    let words = line.split(|c: char| c.is_whitespace() || "\"'`,;{}[]()<>".contains(c));
    words.filter(|word| !matches!(*word, "" | ":" | "=")).collect()
}

/// A word as a key: without what parts it from its value.
fn as_key(word: &str) -> &str {
    word.trim_start_matches(':').trim_end_matches([':', '='])
}

/// Whence a line fetches: hosts, and whole addresses where one host has the things of many.
fn sources(line: &str) -> Vec<String> {
    let words = parts(line);
    let mut found = Vec::new();
    let mut key = "";
    for word in words {
        // What stands behind is the commit.
        let whole = word.split(['#', '?']).next().unwrap_or(word);
        let lower = whole.to_lowercase();
        let mark = PLACE_MARKS.iter().find_map(|mark| {
            let begins = |at: usize| lower[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric());
            let (at, _) = lower.match_indices(mark).find(|(at, _)| begins(*at) && lower.len() > at + mark.len())?;
            Some(lower[at..].to_owned())
        });
        // A path, as that of a member of a workspace, or the host of a provider.
        let is_path = key == "resolved" && !lower.contains(':') && lower.contains('/');
        if key == "provider" {
            found.push(format!("https://{}", lower.split('/').next().unwrap_or(&lower)));
        } else if PLACES.contains(&key) || is_path {
            found.push(format!("{key} {whole}"));
        } else if let Some(place) = mark {
            found.push(place);
        } else if let Some(address) = address(&lower) {
            found.push(address);
        }
        key = as_key(word);
    }
    found
}

/// The scheme and the host of an address; with its repository where the host has those of everybody.
fn address(word: &str) -> Option<String> {
    let at = word
        .find("://")
        .or_else(|| word.find("http:")?.checked_add(4))
        .or_else(|| word.find("https:")?.checked_add(5))?;
    let (before, rest) = word.split_at(at);
    let scheme = before.rsplit(|c: char| !c.is_alphanumeric() && c != '+').next().unwrap_or(before);
    let rest = rest.trim_start_matches([':', '/', '\\']);
    if rest.is_empty() {
        return None;
    }
    let is_repository = scheme.contains('+') || !matches!(scheme, "http" | "https") || rest.ends_with(".git");
    let mut steps = rest.split(['/', '\\']);
    let host = steps.next().unwrap_or(rest);
    // A name and a password before the host are none.
    let host = host.rsplit('@').next().unwrap_or(host);
    let is_forge =
        FORGES.iter().any(|forge| host.strip_suffix(forge).is_some_and(|sub| sub.is_empty() || sub.ends_with('.')));
    Some(match (is_repository, is_forge) {
        (true, _) => format!("{scheme}://{rest}"),
        // `owner/name/archive`, `repos/owner/name`.
        (false, true) => {
            let place: Vec<&str> = [host].into_iter().chain(steps.take(3)).collect();
            format!("{scheme}://{}", place.join("/"))
        }
        (false, false) => format!("{scheme}://{host}"),
    })
}

/// One entry on one side of the change.
#[derive(Debug, Default)]
struct Entry {
    /// What it begins with, and the name that it says.
    name: String,
    names: usize,
    versions: BTreeSet<String>,
    hashes: BTreeSet<String>,
    commits: BTreeSet<String>,
    /// What is fetched for it.
    fetched: Option<String>,
    /// Whether what is fetched is new, or its beginning is seen: otherwise its name is not known.
    seen: bool,
    /// Whether one of its lines changed.
    changed: bool,
}

impl Entry {
    /// Its version; none when it does not say one, or two.
    fn version(&self) -> Option<&str> {
        let own = if self.versions.is_empty() { &self.commits } else { &self.versions };
        match own.len() {
            _ if self.names > 1 => None,
            // `left@1.0.0:` and `/left/1.0.0:` say it themselves.
            0 => {
                let mut pairs = self.name.chars().zip(self.name.chars().skip(1));
                pairs.any(|(sign, digit)| matches!(sign, '@' | '/') && digit.is_ascii_digit()).then_some(&*self.name)
            }
            1 => own.first().map(String::as_str),
            _ => None,
        }
    }

    /// What it is known by: hashes, and commits beside a version.
    fn known_by(&self) -> BTreeSet<&str> {
        let commits = self.commits.iter().filter(|_| !self.versions.is_empty());
        self.hashes.iter().chain(commits).map(String::as_str).collect()
    }
}

/// An entry that is known by something else than before, although its version is the same, or is not said.
fn hash(path: &str, hunks: &[Hunk<'_>]) -> Option<String> {
    let by_line = LINES_ARE_ENTRIES.contains(&file_name(path));
    let side = |sign| -> Vec<(usize, Entry)> {
        let of = |(at, hunk)| entries(hunk, sign, by_line).into_iter().map(move |entry| (at, entry));
        hunks.iter().enumerate().flat_map(of).collect()
    };
    let (before, now) = (side(Sign::Removed), side(Sign::Added));
    let by_version =
        |entries| merged(entries, |_, entry: &Entry| Some((0, format!("{} {}", entry.name, entry.version()?))));
    // Where one of the two does not say its version, the place has to do.
    let by_place = |entries| merged(entries, |at, entry: &Entry| Some((at, entry.name.clone())));
    let unsaid: BTreeSet<(usize, String)> = before
        .iter()
        .chain(&now)
        .filter(|(_, entry)| entry.changed && entry.version().is_none())
        .map(|(at, entry)| (*at, entry.name.clone()))
        .collect();
    let differs = |(key, was): (&(usize, String), &BTreeSet<String>), now: &BTreeMap<_, BTreeSet<String>>| {
        !was.is_empty() && now.get(key).is_some_and(|is| is != was)
    };
    // What an entry is called may change with who wants it; what is fetched stays the same.
    let by_fetched = |entries| merged(entries, |_, entry: &Entry| Some((0, entry.fetched.clone()?)));
    let (was, is) = (by_fetched(&before), by_fetched(&now));
    if let Some((_, fetched)) = was.iter().find(|one| differs(*one, &is)).map(|(key, _)| key) {
        return Some(format!("{} has another hash", quoted(fetched)));
    }
    let changed = now.iter().filter(|(_, entry)| entry.changed && entry.seen);
    let other = |(_, entry): &(usize, Entry)| other_package(&entry.name, entry.fetched.as_deref()?);
    if let Some(other) = changed.into_iter().find_map(other) {
        return Some(format!("the package {} is fetched under another name", quoted(&other)));
    }
    let (was, is) = (by_version(&before), by_version(&now));
    if let Some((_, name)) = was.iter().find(|one| differs(*one, &is)).map(|(key, _)| key) {
        return Some(format!("{} has another hash, and the same version", quoted(name.trim())));
    }
    let (was, is) = (by_place(&before), by_place(&now));
    let (_, name) = was.iter().find(|one| unsaid.contains(one.0) && differs(*one, &is)).map(|(key, _)| key)?;
    Some(format!("{} has another hash, and no version that changes with it", quoted(name.trim())))
}

type Key = (usize, String);

fn merged(entries: &[(usize, Entry)], key: impl Fn(usize, &Entry) -> Option<Key>) -> BTreeMap<Key, BTreeSet<String>> {
    let mut merged: BTreeMap<Key, BTreeSet<String>> = BTreeMap::new();
    for (at, entry) in entries {
        if let Some(key) = key(*at, entry) {
            merged.entry(key).or_default().extend(entry.known_by().into_iter().map(str::to_owned));
        }
    }
    merged
}

/// The entries of one side of a hunk. What stands before the first beginning is one too.
fn entries(hunk: &Hunk<'_>, side: Sign, by_line: bool) -> Vec<Entry> {
    let mut entries = vec![Entry::default()];
    let mut head = "";
    for (sign, line) in hunk.lines.iter().filter(|(sign, _)| *sign == side || *sign == Sign::Kept) {
        let bare = line.trim();
        let (key, value) = key_value(bare).unwrap_or((bare, ""));
        let begins =
            by_line || bare.is_empty() || (bare.starts_with('[') && bare.ends_with(']')) || bare.ends_with(['{', ':']);
        if begins && !PARTS.contains(&key) {
            let name = if by_line { String::new() } else { bare.to_owned() };
            entries.push(Entry { name, seen: true, ..Entry::default() });
        }
        let Some(entry) = entries.last_mut() else { continue };
        entry.changed |= *sign != Sign::Kept;
        // A hash of the manifest stands alone below this.
        let found = if head == "\"hash\": {" { Vec::new() } else { hashes(bare) };
        head = bare;
        if by_line {
            let rest = found.iter().fold(bare.to_owned(), |rest, hash| rest.replace(hash, ""));
            entry.versions.insert(rest);
        } else {
            let value = parts(value).first().copied().unwrap_or_default();
            match key {
                "name" => {
                    entry.names += 1;
                    entry.name = format!("{} {value}", entry.name);
                }
                "version" => {
                    entry.versions.insert(value.to_owned());
                    // One of another package says which.
                    if versioned(value).is_some() {
                        entry.fetched = Some(value.to_owned());
                    }
                }
                // NuGet's word for it; others say so whence it comes.
                "resolved" if !value.contains(['/', ':']) => _ = entry.versions.insert(value.to_owned()),
                "resolved" | "resolution" if !value.starts_with("integrity") => {
                    entry.fetched = value.split('#').next().map(str::to_owned);
                    entry.seen |= *sign != Sign::Kept;
                }
                _ if COMMITS.contains(&key) => _ = entry.commits.insert(value.to_owned()),
                _ => {}
            }
        }
        entry.hashes.extend(found.into_iter().map(str::to_owned));
    }
    entries
}

/// The hashes of a line.
fn hashes(line: &str) -> Vec<&str> {
    let is_hex = |word: &str| word.len() >= 32 && word.chars().all(|c| c.is_ascii_hexdigit());
    let is_hash = |word: &str| {
        let digits = word.strip_prefix("sha").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        let named = digits.is_some_and(|rest| rest.starts_with(['-', ':', '=']) && rest.len() > 1);
        named || ["h1:", "zh:", "md5:"].iter().any(|begin| word.starts_with(begin)) || is_hex(word)
    };
    let mut found = Vec::new();
    let mut key = "";
    if OF_MANIFEST.iter().any(|key| line.trim_start_matches('"').starts_with(key)) && parts(line).len() <= 3 {
        return found;
    }
    for word in parts(line) {
        let behind = word.rsplit('#').next().unwrap_or(word);
        if COMMITS.contains(&key) {
            // Told by its key.
        } else if (HASHES.contains(&key) && !HASHES.contains(&as_key(word))) || is_hash(word) {
            found.push(word);
        } else if is_hex(behind) {
            found.push(behind);
        }
        key = as_key(word);
    }
    found
}
