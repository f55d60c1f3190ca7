//! The import statements of a file: which names they bind, and which file each leads to.
//!
//! Only the plain shape of each language is read, and only where the text itself says which file is meant. Every other
//! statement is kept as it is written, for a person.

use std::collections::BTreeSet;
use std::ops::Range;

use super::languages::{ImportForm, Language, file_name, folder, language};
use super::tokens::{Kind, Token};

/// A longer statement is not read: each is looked at from its start.
const STATEMENT_TOKENS_MAX: usize = 1_000;

/// A name that an import binds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binding {
    /// The words before it: `import`, `export`, `pub use`.
    form: String,
    /// The module, part by part: `.`, `..`, `crate`, `self` and `super` are relative.
    module: Vec<String>,
    pub name: String,
}

/// The imports of one side of a file.
#[derive(Debug, Default)]
pub struct Imports {
    pub bindings: BTreeSet<Binding>,
    /// Statements of another shape, as they are written.
    pub others: BTreeSet<String>,
    /// The modules and other statements in the order in which they first come.
    pub order: Vec<String>,
    /// The tokens of each statement, and whether it is among other imports or begins the file.
    pub statements: Vec<(Range<usize>, bool)>,
}

/// Reads the imports at the top level of a file.
pub fn imports(tokens: &[Token<'_>], language: &Language) -> Imports {
    let mut found = Imports::default();
    let (mut at, mut depth, mut end_of_imports) = (0, 0_usize, 0);
    let mut seen = BTreeSet::new();
    while at < tokens.len() {
        let token = &tokens[at];
        let begins_line = at == 0 || tokens[at - 1].line < token.line;
        let end = if depth == 0 && begins_line && token.column == 0 { statement(tokens, at, language) } else { None };
        if let Some(end) = end {
            let code: Vec<&Token<'_>> = tokens[at..end].iter().filter(|token| token.kind != Kind::Comment).collect();
            let key = match bindings(&code, language.import_form).filter(|_| code.len() == end - at) {
                Some(bound) => {
                    let module = bound.first().map(|one| one.module.join(" ")).unwrap_or_default();
                    found.bindings.extend(bound);
                    module
                }
                None => {
                    found.others.insert(joined(&code));
                    joined(&code)
                }
            };
            if seen.insert(key.clone()) {
                found.order.push(key);
            }
            // At the start, a string after it may have to come first: the documentation of a module, `'use strict'`.
            let first = at == 0 && tokens.get(end).is_none_or(|next| next.kind != Kind::Text);
            found.statements.push((at..end, first || (at > 0 && end_of_imports == at)));
            end_of_imports = end;
            at = end;
            continue;
        }
        match token.text {
            "(" | "[" | "{" if token.kind == Kind::Punctuation => depth += 1,
            ")" | "]" | "}" if token.kind == Kind::Punctuation => depth = depth.saturating_sub(1),
            // The declaration of a package comes before imports.
            "package" if begins_line && depth == 0 => {
                end_of_imports = tokens.iter().position(|next| next.line > token.line).unwrap_or(tokens.len());
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Where the import statement ends that begins here.
fn statement(tokens: &[Token<'_>], at: usize, language: &Language) -> Option<usize> {
    let mut word = at;
    if language.import_form == ImportForm::Colons && tokens[at].is("pub") {
        word += 1;
        if tokens.get(word)?.is("(") {
            word += tokens[word..].iter().position(|token| token.is(")"))? + 1;
        }
    }
    let first = tokens.get(word).filter(|token| token.kind == Kind::Word)?;
    if !language.import_words.contains(&first.text) {
        return None;
    }
    let mut depth = 0_usize;
    for (end, token) in tokens.iter().enumerate().skip(at).take(STATEMENT_TOKENS_MAX) {
        match token.text {
            _ if token.kind != Kind::Punctuation => {}
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            ";" if depth == 0 => return is_import(&tokens[at..=end], language).then_some(end + 1),
            _ => {}
        }
        let ends_line = tokens.get(end + 1).is_none_or(|next| next.line > token.line);
        if ends_line && depth == 0 && !language.semicolons {
            return is_import(&tokens[at..=end], language).then_some(end + 1);
        }
    }
    None
}

/// `export` begins other statements too, and so does `mod` with a body.
fn is_import(tokens: &[Token<'_>], language: &Language) -> bool {
    let has = |text: &str| tokens.iter().any(|token| token.is(text));
    match language.import_form {
        ImportForm::Braces if tokens[0].is("export") => has("from") && !has("=") && !has("("),
        ImportForm::Colons => !has("mod") || !has("{"),
        ImportForm::Braces | ImportForm::From | ImportForm::Dots | ImportForm::Unresolved => true,
    }
}

fn joined(tokens: &[&Token<'_>]) -> String {
    tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
}

/// The names that a statement binds; none for another shape.
fn bindings(tokens: &[&Token<'_>], form: ImportForm) -> Option<Vec<Binding>> {
    let tokens = match tokens {
        [all @ .., end] if end.is(";") => all,
        all => all,
    };
    let bind = |before: &[&Token<'_>], module: Vec<String>, names: Vec<String>| {
        let form = joined(before);
        Some(names.into_iter().map(|name| Binding { form: form.clone(), module: module.clone(), name }).collect())
    };
    match form {
        ImportForm::Braces => {
            let [first, names @ .., from, module] = tokens else { return None };
            let typed = usize::from(names.len() > 1 && names[0].is("type"));
            let (form, names) = (&tokens[..=typed], &names[typed..]);
            let path = Some(module.text).filter(|_| module.kind == Kind::Text && from.is("from"))?;
            let path: Vec<String> = path.trim_matches(['"', '\'']).split('/').map(str::to_owned).collect();
            match names {
                [open, names @ .., close] if open.is("{") && close.is("}") => bind(form, path, list(names)?),
                [name] if first.is("import") && name.kind == Kind::Word => {
                    bind(tokens, path, vec![name.text.to_owned()])
                }
                _ => None,
            }
        }
        ImportForm::From => {
            let [from, rest @ ..] = tokens else { return None };
            let at = rest.iter().position(|token| token.is("import")).filter(|_| from.is("from"))?;
            let (dots, module): (Vec<&Token<'_>>, Vec<&Token<'_>>) = rest[..at].iter().partition(|token| token.is("."));
            let relative = rest[..at].iter().take_while(|token| token.is(".")).count();
            let parts = module.iter().map(|token| (token.kind == Kind::Word).then(|| token.text.to_owned()));
            let parts: Vec<String> = parts.collect::<Option<_>>()?;
            (dots.len() == relative + parts.len().saturating_sub(1)).then_some(())?;
            // One dot is the own folder, each more is one above it.
            let above = (0..relative).map(|dot| if dot == 0 { "." } else { ".." }.to_owned());
            let names = match &rest[at + 1..] {
                [open, names @ .., close] if open.is("(") && close.is(")") => names,
                names => names,
            };
            bind(&[], above.chain(parts).collect(), list(names)?)
        }
        ImportForm::Colons => {
            let start = tokens.iter().position(|token| token.is("use") || token.is("mod"))?;
            let rest = &tokens[start + 1..];
            if tokens[start].is("mod") {
                let [name] = rest else { return None };
                return bind(&tokens[..=start], vec!["self".to_owned()], vec![name.text.to_owned()]);
            }
            let (mut path, names) = match rest.iter().position(|token| token.is("{")) {
                None => (segments(rest, ":", 2)?, None),
                Some(at) => {
                    let ([path @ .., one, two], [names @ .., close]) = (&rest[..at], &rest[at + 1..]) else {
                        return None;
                    };
                    let fits = one.is(":") && two.is(":") && close.is("}");
                    (segments(path, ":", 2)?, Some(list(names).filter(|_| fits)?))
                }
            };
            let names = match names {
                Some(names) => names,
                None => vec![path.pop()?],
            };
            bind(&tokens[..=start], path, names)
        }
        ImportForm::Dots => {
            let [_, rest @ ..] = tokens else { return None };
            let mut path = segments(rest, ".", 1)?;
            let name = path.pop()?;
            bind(&[], path, vec![name])
        }
        ImportForm::Unresolved => None,
    }
}

/// Words with commas between them; what is renamed or more than a word is none.
fn list(tokens: &[&Token<'_>]) -> Option<Vec<String>> {
    let tokens = match tokens {
        [all @ .., last] if last.is(",") => all,
        all => all,
    };
    let one = |(at, token): (usize, &&Token<'_>)| match at % 2 {
        0 => (token.kind == Kind::Word && token.text != "default").then(|| Some(token.text.to_owned())),
        _ => token.is(",").then_some(None),
    };
    let all: Vec<Option<String>> = tokens.iter().enumerate().map(one).collect::<Option<_>>()?;
    (tokens.len() % 2 == 1).then(|| all.into_iter().flatten().collect())
}

/// Words with a sign between them, which is written so many times.
fn segments(tokens: &[&Token<'_>], sign: &str, times: usize) -> Option<Vec<String>> {
    let step = times + 1;
    let fits = |(at, token): (usize, &&Token<'_>)| match at % step {
        0 => token.kind == Kind::Word,
        _ => token.is(sign),
    };
    let all = tokens.iter().enumerate().all(fits) && tokens.len() % step == 1;
    all.then(|| tokens.iter().step_by(step).map(|token| token.text.to_owned()).collect())
}

/// The file that an import leads to.
#[derive(Debug)]
pub enum Target {
    /// One of these paths.
    OneOf(Vec<String>),
    /// A path that ends so: where packages begin is not known.
    EndsWith(String),
}

impl Binding {
    /// Which file it leads to: the one that has the name, or the one that is called so. None when the text does not say.
    pub fn target(&self, from: &str) -> Option<Target> {
        let language = language(from)?;
        let name = |base: String| vec![under(&base, &self.name), base];
        let stems = match language.import_form {
            ImportForm::Braces => {
                let base = joined_path(folder(from), &self.module)?;
                // `./cart.js` may be written for `cart.ts`.
                let known = self.module.last().is_some_and(|last| super::languages::language(last).is_some());
                let plain = base.rsplit_once('.').filter(|_| known).map(|(plain, _)| plain.to_owned());
                plain.into_iter().chain([base]).collect()
            }
            ImportForm::From if self.module.first().is_some_and(|part| part.starts_with('.')) => {
                name(joined_path(folder(from), &self.module)?)
            }
            ImportForm::From => name(self.module.join("/")),
            ImportForm::Colons => name(rust_base(from, &self.module)?),
            ImportForm::Dots if self.module.is_empty() => return None,
            ImportForm::Dots => {
                return Some(Target::EndsWith(format!("/{}/{}.java", self.module.join("/"), self.name)));
            }
            ImportForm::Unresolved => return None,
        };
        let files = |stem: &String| {
            let folders = ["index", "__init__", "mod"].map(|own| under(stem, own));
            folders.into_iter().chain([stem.clone()]).collect::<Vec<_>>()
        };
        let paths = stems
            .iter()
            .flat_map(files)
            .flat_map(|stem| language.extensions.iter().map(move |extension| format!("{stem}.{extension}")));
        Some(Target::OneOf(paths.collect()))
    }
}

fn under(base: &str, name: &str) -> String {
    if base.is_empty() { name.to_owned() } else { format!("{base}/{name}") }
}

/// A relative module as a path from the top; none when it is not relative, or leads out.
fn joined_path(folder: &str, module: &[String]) -> Option<String> {
    module.first().filter(|first| matches!(first.as_str(), "." | ".."))?;
    let mut path: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in module {
        match part.as_str() {
            "." | "" => {}
            ".." => _ = path.pop()?,
            part => path.push(part),
        }
    }
    Some(path.join("/"))
}

/// Where a path of Rust leads that begins with `crate`, `self` or `super`.
fn rust_base(from: &str, module: &[String]) -> Option<String> {
    let own = folder(from).trim_end_matches('/');
    let stem = file_name(from).trim_end_matches(".rs");
    let own = if matches!(stem, "mod" | "lib" | "main") { own.to_owned() } else { under(own, stem) };
    let (first, rest) = module.split_first()?;
    let mut base: Vec<&str> = own.split('/').collect();
    match first.as_str() {
        "crate" => base.truncate(base.iter().rposition(|part| *part == "src")? + 1),
        "self" => {}
        "super" => _ = base.pop()?,
        _ => return None,
    }
    for part in rest {
        match part.as_str() {
            "super" => _ = base.pop()?,
            part => base.push(part),
        }
    }
    Some(base.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn leads_to(binding: &Binding, from: &str, to: &str) -> bool {
        match binding.target(from) {
            Some(Target::OneOf(paths)) => paths.iter().any(|path| path == to),
            Some(Target::EndsWith(end)) => to.ends_with(&end),
            None => false,
        }
    }

    fn read(path: &str, text: &str) -> Imports {
        let language = language(path).unwrap();
        imports(&tokens(text, language).unwrap(), language)
    }

    #[test]
    fn the_plain_import_of_each_language_leads_to_its_file() {
        for (from, text, to) in [
            ("src/page.ts", "import { total } from './cart.js'", "src/cart.ts"),
            ("src/page.ts", "import type {\n  total,\n} from '../lib/cart';", "lib/cart.tsx"),
            ("src/page.ts", "import total from './cart';", "src/cart/index.ts"),
            ("src/page.py", "from ..lib.cart import (\n  total,\n)", "lib/cart.py"),
            ("tests/page.py", "from src.cart import total", "src/cart.py"),
            ("src/page.py", "from . import total", "src/total.py"),
            ("src/page.rs", "use crate::cart::total;", "src/cart.rs"),
            ("a/src/page/mod.rs", "pub(crate) use super::cart::{total};", "a/src/cart/mod.rs"),
            ("src/lib.rs", "pub mod total;", "src/total.rs"),
            ("src/page.rs", "mod total;", "src/page/total.rs"),
        ] {
            let found = read(from, text);
            assert_eq!((found.bindings.len(), found.others.len(), found.statements.len()), (1, 0, 1), "{text}");
            let binding = found.bindings.first().unwrap();
            assert_eq!(binding.name, "total");
            assert!(leads_to(binding, from, to), "{text}");
            let elsewhere = format!("other/{to}");
            assert!(!leads_to(binding, from, &elsewhere), "{text}");
        }
    }

    #[test]
    fn an_import_of_another_package_leads_to_no_file() {
        for (from, text, to) in [
            ("src/page.ts", "import { total } from 'http://a/src/cart';", "src/cart.ts"),
            ("src/page.ts", "import { total } from '../../../src/cart';", "src/cart.ts"),
            ("src/page.ts", "import { total } from '../cart';", "src/cart.ts"),
            ("src/page.py", "from cart import total", "src/cart.py"),
            ("src/page.rs", "use evil::cart::total;", "src/cart.rs"),
            ("src/page.rs", "use crate::evil::cart::total;", "src/cart.rs"),
            ("Page.java", "import evil.cart.total;", "shop/cart/total.java"),
        ] {
            let found = read(from, text);
            assert!(!leads_to(found.bindings.first().unwrap(), from, to), "{text}");
        }
    }

    #[test]
    fn an_import_of_another_shape_is_kept_as_it_is_written() {
        for (from, text) in [
            ("a.ts", "import './cart';"),
            ("a.ts", "import { total } from './cart' /* x */;"),
            ("a.ts", "import { total = steal() } from './cart';"),
            ("a.py", "import cart"),
            ("a.py", "from .cart import *"),
            ("a.py", "from .cart import total as sum"),
            ("a.rs", "use crate::cart::*;"),
            ("a.rs", "use crate::cart::total as sum;"),
            ("a.rs", "use crate::{cart::{total}, a};"),
            ("A.java", "import static shop.Cart.total;"),
        ] {
            let found = read(from, text);
            assert_eq!((found.bindings.len(), found.others.len()), (0, 1), "{text}: {found:?}");
        }
        for (from, text) in [
            ("a.ts", "export function total() {}"),
            ("a.ts", "export const from = total;"),
            ("a.ts", "if (x) {\n  import { total } from './cart';\n}"),
            ("a.rs", "mod tests {\n    use super::total;\n}"),
            ("a.py", "if x:\n    from .cart import total"),
        ] {
            assert_eq!(read(from, text).statements, [], "{text}");
        }
    }

    #[test]
    fn an_import_among_others_or_at_the_start_is_in_its_place() {
        let placed = |path, text| read(path, text).statements.into_iter().map(|(_, placed)| placed).collect::<Vec<_>>();
        assert_eq!(placed("a.ts", "import { a } from './a';\nimport { b } from './b';\nf();"), [true, true]);
        assert_eq!(placed("a.ts", "import { a } from './a';\nf();\nimport { b } from './b';"), [true, false]);
        assert_eq!(placed("a.rs", "#[cfg(test)]\nuse crate::a;\nuse crate::b;"), [false, true]);
        assert_eq!(placed("a.py", "from .a import b\n'''What it does.'''"), [false]);
        assert_eq!(placed("A.java", "package shop;\nimport shop.a.B;"), [true]);
    }
}
