//! An item of a scope list: a path or a glob, then a remark that is never read.
//!
//! A path is written in one of three ways:
//! - in backticks: everything between them is the path (`` `docs/My File.md` (new) ``)
//! - in double quotes, as git writes a name that is not plain text (`"src/caf\351.js"`)
//! - bare, up to the first white space: it has a `/`, a `.` before a letter or digit, or a glob sign (`src/cart.ts`)
//!
//! A list below the item takes paths out of it again, `except: PATH` or `except:` with a list of paths.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::markdown::{Block, BlockKind, blocks, item_text};
use crate::text::{lines_in, quote};
use tollgate_core::path::{quote as in_git_quotes, unquote};
use tollgate_core::scope::pattern_problem;

/// What an item lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub path: String,
    /// Paths that it does not list although `path` holds them.
    pub except: Vec<String>,
}

/// Why a text is no item, and what to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub message: String,
    pub hint: &'static str,
}

const PATH: &str = "begin with a path from the top of the repository: `src/cart.ts`, `src/cart/`, `src/**/*.ts`; put a name without `/` and `.` in backticks";
const WHOLE: &str = "write the path from the top of the repository: `src/cart.ts`, `src/cart/`, `src/**/*.ts`";
const ONE: &str = "write an item for each path; put a name that has a comma in backticks";
const BELOW: &str = "a list below an item may only take paths out of it: `- except: src/cart/generated.ts`";

fn problem(message: String, hint: &'static str) -> Problem {
    Problem { message, hint }
}

/// Reads an item with the list below it.
pub fn read(text: &str) -> Result<Item, Problem> {
    let (head, below) = split(text)?;
    let path = path(head)?;
    let mut except = Vec::new();
    for exception in below {
        let (said, listed) = split(&exception)?;
        let paths = after_except(said).ok_or_else(|| {
            problem(format!("{} below {} is not an `except:`", quote(said.trim_end()), quote(&path)), BELOW)
        })?;
        if paths.trim().is_empty() && listed.is_empty() {
            return Err(problem("`except:` names no path".to_owned(), BELOW));
        }
        if !paths.trim().is_empty() {
            except.push(self::path(paths)?);
        }
        for one in listed {
            let inner = read(&one)?;
            if !inner.except.is_empty() {
                return Err(problem(format!("{} is itself an exception", quote(&inner.path)), BELOW));
            }
            except.push(inner.path);
        }
    }
    Ok(Item { path, except })
}

/// The path that a text begins with.
pub fn path(text: &str) -> Result<String, Problem> {
    let text = text.trim_start();
    let missing = || problem(format!("{} does not begin with a path", quote(text)), PATH);
    let (path, after) = if text.starts_with('`') {
        in_backticks(text).ok_or_else(missing)?
    } else if text.starts_with('"') {
        in_quotes(text).ok_or_else(missing)?
    } else {
        bare(text).ok_or_else(missing)?
    };
    if after.starts_with([',', ';']) {
        return Err(problem(format!("{} has more after its first path", quote(text)), ONE));
    }
    match path_problem(&path) {
        Some(wrong) => Err(problem(format!("the path {} {wrong}", quote(&path)), WHOLE)),
        None => Ok(path),
    }
}

/// An item without the list below it, and the items of that list. Quotes and code are shown, and never read.
fn split(text: &str) -> Result<(&str, Vec<Cow<'_, str>>), Problem> {
    let (mut head, mut below) = (text, Vec::new());
    for Block { kind, range } in blocks(text) {
        match kind {
            BlockKind::Item => {
                head = if below.is_empty() { &text[..range.start] } else { head };
                below.push(item_text(text, &range).0);
            }
            BlockKind::Paragraph | BlockKind::Heading(..) | BlockKind::Underlined(_) | BlockKind::Html => {
                let own = lines_in(text, &range).filter(|(at, _)| *at > 0).map(|(_, line)| line.trim());
                if let Some(line) = own.into_iter().find(|line| after_except(line).is_some()) {
                    return Err(problem(format!("{} is not in a list below its item", quote(line)), BELOW));
                }
            }
            BlockKind::Fence { .. } | BlockKind::Indented | BlockKind::Quote | BlockKind::Comment => {}
        }
    }
    Ok((head, below))
}

fn after_except(text: &str) -> Option<&str> {
    const SIGN: &str = "except:";
    text.get(..SIGN.len()).filter(|sign| sign.eq_ignore_ascii_case(SIGN)).map(|_| &text[SIGN.len()..])
}

fn in_backticks(text: &str) -> Option<(String, &str)> {
    let marks = text.len() - text.trim_start_matches('`').len();
    let (path, after) = text[marks..].split_once(&text[..marks])?;
    Some((path.trim().to_owned(), after))
}

fn in_quotes(text: &str) -> Option<(String, &str)> {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    })?;
    let (path, after) = text.split_at(end.0 + 1);
    Some((in_git_quotes(&unquote(path)).to_string(), after))
}

/// A path without signs around it. What Markdown would show as something else is none.
fn bare(text: &str) -> Option<(String, &str)> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, after) = comma(&text[..end]).map_or(text.split_at(end), |at| text.split_at(at));
    let word = word.strip_suffix(':').unwrap_or(word);
    let sentence = word.strip_suffix('.').filter(|path| path.ends_with(char::is_alphanumeric));
    let word = sentence.unwrap_or(word);
    let dotted = word.match_indices('.').any(|(at, _)| word[at + 1..].starts_with(char::is_alphanumeric));
    let emphasised = word.split('/').any(|segment| segment.contains("**") && segment != "**");
    let marked = emphasised || word.contains(['<', '>', '`']) || word.contains("](");
    let is_path = word.contains(['/', '*']) || dotted || (word.contains('{') && word.contains(','));
    (is_path && !marked).then(|| (word.to_owned(), after))
}

/// Where a comma or semicolon is that belongs to no alternatives in braces.
fn comma(word: &str) -> Option<usize> {
    let mut depth = 0_usize;
    word.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0 && matches!(c, ',' | ';')).then_some(at)
    })
}

/// Why a path cannot be one of the repository.
fn path_problem(path: &str) -> Option<&'static str> {
    let drive = || path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && path[1..].starts_with(':');
    let line = || {
        let number = path.rsplit_once(':')?.1;
        (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '-')).then_some(())
    };
    if path.contains("://") {
        Some("is an address")
    } else if path.starts_with('!') {
        Some("begins with `!`: list what to leave out below the item, with `except:`")
    } else if path.starts_with('~') || drive() {
        Some("is a path of one machine")
    } else if path.contains('\\') && !path.starts_with('"') {
        Some("has a `\\`: use `/` between folders")
    } else if line().is_some() {
        Some("has a line number: a scope holds whole files")
    } else {
        pattern_problem(&literal_brackets(path))
    }
}

/// Whether a path may hold several files by its signs.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?']) || (path.contains('{') && path.contains(','))
}

/// Whether one of these files, in order, is below a path.
pub fn is_folder(path: &str, files: &BTreeSet<&str>) -> bool {
    let inside = format!("{path}/");
    files.range(&*inside..).next().is_some_and(|file| file.starts_with(&inside))
}

/// A glob in which brackets and exclamation marks are literal: `pages/[id].tsx`.
pub fn literal_brackets(path: &str) -> String {
    let mut glob = String::with_capacity(path.len());
    for char in path.chars() {
        if matches!(char, '[' | ']' | '!' | '\\') {
            glob.push('\\');
        }
        glob.push(char);
    }
    glob
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_item_begins_with_its_path() {
        for (text, path) in [
            ("src/cart.js", "src/cart.js"),
            ("`src/cart.js`", "src/cart.js"),
            ("`` a`b.ts ``", "a`b.ts"),
            ("`docs/My File.md` (new)", "docs/My File.md"),
            ("`Makefile`", "Makefile"),
            ("src/auth.js (owned by #12)", "src/auth.js"),
            ("src/auth.js: the handler", "src/auth.js"),
            ("src/auth.js.", "src/auth.js"),
            ("src/auth.js — not `src/cart.js`", "src/auth.js"),
            ("src/\nis the folder of everything", "src/"),
            ("README.md", "README.md"),
            (".gitignore", ".gitignore"),
            ("./src/a.ts", "./src/a.ts"),
            ("**", "**"),
            ("**/*.ts", "**/*.ts"),
            ("**/cart/**", "**/cart/**"),
            ("src/{auth,cart}.js", "src/{auth,cart}.js"),
            ("pages/[id].tsx", "pages/[id].tsx"),
            ("app/(shop)/page.tsx", "app/(shop)/page.tsx"),
            ("\"src/caf\\351.js\" (new)", "\"src/caf\\351.js\""),
            ("`\"a\\012b\"`", "\"a\\012b\""),
            ("\"docs/My File.md\"", "docs/My File.md"),
        ] {
            assert_eq!(read(text), Ok(Item { path: path.to_owned(), except: vec![] }), "{text}");
        }
    }

    #[test]
    fn anything_else_is_an_error() {
        for (text, message) in [
            ("nothing but `src/cart.js`", "`nothing but `src/cart.js`` does not begin with a path"),
            ("Modify src/cart.ts", "`Modify src/cart.ts` does not begin with a path"),
            ("Makefile", "`Makefile` does not begin with a path"),
            ("", "`` does not begin with a path"),
            (".", "`.` does not begin with a path"),
            ("`open", "`` `open` does not begin with a path"),
            ("**src/cart.js**", "`**src/cart.js**` does not begin with a path"),
            ("[cart](src/cart.ts)", "`[cart](src/cart.ts)` does not begin with a path"),
            ("<code>src/auth.js</code>", "`<code>src/auth.js</code>` does not begin with a path"),
            ("(new) src/cart.js", "`(new) src/cart.js` does not begin with a path"),
            ("src/a.ts, src/b.ts", "`src/a.ts, src/b.ts` has more after its first path"),
            ("src/a.ts,src/b.ts", "`src/a.ts,src/b.ts` has more after its first path"),
            ("`src/a.ts`, `src/b.ts`", "``src/a.ts`, `src/b.ts`` has more after its first path"),
            ("src/cart.ts:12", "the path `src/cart.ts:12` has a line number: a scope holds whole files"),
            ("`src/cart.ts:12-30`", "the path `src/cart.ts:12-30` has a line number: a scope holds whole files"),
            ("https://example.com/a", "the path `https://example.com/a` is an address"),
            ("~/src/cart.js", "the path `~/src/cart.js` is a path of one machine"),
            ("C:/src/cart.js", "the path `C:/src/cart.js` is a path of one machine"),
            ("`src\\auth.js`", "the path `src\\auth.js` has a `\\`: use `/` between folders"),
        ] {
            let found = read(text).map_err(|problem| problem.message);
            assert_eq!(found, Err(message.replace("`` `open`", "``open`")), "{text}");
        }
        for path in ["/src/cart.js", "../x", "src//a.js", "src/./a.js", "src/..", "!src/a.js", "src/{a"] {
            assert!(read(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_list_below_an_item_takes_paths_out_of_it() {
        for text in [
            "src/\n- except: src/a.ts\n- Except: `src/b.ts` (later)",
            "src/ (all of it)\n- except:\n  - src/a.ts: the page\n  - `src/b.ts`",
            "src/\n\n```\n- src/x.ts\n```\n\n- except: src/a.ts\n  - src/b.ts\n",
        ] {
            let item = read(text).unwrap();
            assert_eq!((item.path.as_str(), item.except), ("src/", vec!["src/a.ts".to_owned(), "src/b.ts".to_owned()]));
        }
        for text in ["src/\n- cart.js", "src/\n- except:", "src/\n- except: the page", "src/\n- tests only"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    const REMARKS: [&str; 8] = [
        "(tests only)",
        "only the total",
        "except `src/b.ts`",
        "not",
        "and `src/b.ts`",
        ", src/b.ts",
        "(do not touch)",
        "# x",
    ];

    proptest! {
        #[test]
        fn a_remark_changes_nothing(
            path in prop::sample::select(vec!["src/a.ts", "src/a.ts:", "`src/a.ts`", "\"src/a.ts\""]),
            known in prop::sample::subsequence(&REMARKS[..], 0..4),
            any in "[^\\n]{0,40}",
        ) {
            let text = format!("{path} {} {any}", known.join(" "));
            prop_assert_eq!(self::path(&text), Ok("src/a.ts".to_owned()));
            prop_assert_eq!(self::path(&format!("{path} {any}")), Ok("src/a.ts".to_owned()));
        }
    }
}
