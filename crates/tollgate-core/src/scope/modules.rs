//! Where an import leads: the paths that its module can stand for, as far as the text says.

use super::named::file_name;
use crate::Name;

const SCRIPTS: &[&str] = &["ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"];

/// How a language writes its imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Script,
    Python,
    Rust,
    /// Java and Kotlin.
    Jvm,
    Go,
}

/// The dialect of a file; none where nobody knows how its imports lead to files.
pub fn dialect(path: &str) -> Option<Dialect> {
    match extension(path) {
        "py" => Some(Dialect::Python),
        "rs" => Some(Dialect::Rust),
        "java" | "kt" | "kts" => Some(Dialect::Jvm),
        "go" => Some(Dialect::Go),
        script if SCRIPTS.contains(&script) => Some(Dialect::Script),
        _ => None,
    }
}

fn extension(path: &str) -> &str {
    file_name(path).rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Where a module may be.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// It is one of these files.
    pub files: Vec<String>,
    /// It is what the files of one of these folders make together.
    pub folders: Vec<String>,
}

/// Where a module, as the file at `path` writes it, may be; `name` may be a module within it.
pub fn places(dialect: Dialect, path: &str, module: &str, name: &str) -> Places {
    let mut places = Places::default();
    match dialect {
        Dialect::Script => places.files = script(folder(path), module),
        Dialect::Python => places.files = python(path, module, name),
        Dialect::Rust => places.files = rust(path, module, name),
        Dialect::Jvm => {
            let package = module.replace('.', "/");
            for root in roots(path) {
                let of = |root: &str| join(root, &package);
                let main = root.replace("/test/", "/main/").replace("/androidTest/", "/main/");
                for folder in [of(&root), of(&main)].into_iter().flatten() {
                    places.files.extend(["java", "kt"].map(|extension| format!("{folder}/{name}.{extension}")));
                    places.folders.push(folder);
                }
            }
        }
        // Only its `go.mod` says.
        Dialect::Go => {}
    }
    places
}

/// A module of Go: the folder of its `go.mod`, with a slash behind it unless it is the top, and the path that it names.
pub type GoModule = (Name, Name);

/// The module that a `go.mod` at a path names.
pub fn go_module(path: &str, text: &str) -> Option<GoModule> {
    let named = text.lines().find_map(|line| line.trim().strip_prefix("module ")).map(str::trim)?;
    let named = named.split([' ', '\t']).next().unwrap_or_default().trim_matches('"');
    (!named.is_empty()).then(|| (Name::from(&path[..path.len() - file_name(path).len()]), Name::from(named)))
}

/// The folder that an import of Go leads to, in the module that names most of it.
pub fn go_folder(modules: &[GoModule], import: &str) -> Option<String> {
    let inside = |(folder, own): &GoModule| {
        let rest = import.strip_prefix(&**own)?;
        let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
        Some((own.len(), format!("{folder}{rest}")))
    };
    let found = modules.iter().filter_map(inside).max_by_key(|(length, _)| *length);
    found.map(|(_, folder)| folder.trim_end_matches('/').to_owned())
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folder of a file and those above it, up to the top of the repository; each ends with `/`, but the top.
fn roots(path: &str) -> Vec<String> {
    let above = path.rmatch_indices('/').map(|(end, _)| path[..=end].to_owned());
    above.take(32).chain([String::new()]).collect()
}

/// A path from a folder; none where it leads out of the repository.
fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn script(folder: &str, module: &str) -> Vec<String> {
    let relative = module.starts_with("./") || module.starts_with("../") || module == "." || module == "..";
    let path = if relative { join(folder, module) } else { join("", module).filter(|path| path == module) };
    let Some(path) = path else { return Vec::new() };
    // `./cart.js` may be written as `cart.ts`.
    let bare = path.rsplit_once('.').filter(|(_, extension)| SCRIPTS.contains(extension)).map(|(bare, _)| bare);
    let bare = bare.unwrap_or(&path);
    let with = |extension: &&str| [format!("{bare}.{extension}"), format!("{path}/index.{extension}")];
    SCRIPTS.iter().flat_map(with).chain([path.clone()]).collect()
}

fn python(path: &str, module: &str, name: &str) -> Vec<String> {
    let dots = module.len() - module.trim_start_matches('.').len();
    let inside = module[dots..].replace('.', "/");
    let bases = match dots {
        // A module without a package is the language's own or one of the top, not the file beside.
        0 if !inside.contains('/') => vec!["src/".to_owned(), String::new()],
        0 => roots(path).into_iter().flat_map(|root| [format!("{root}src/"), root]).collect(),
        dots => join(folder(path), &"../".repeat(dots - 1)).map(|base| vec![format!("{base}/")]).unwrap_or_default(),
    };
    let files = |base: String| {
        let module = join(&base, &inside)?;
        let within = join(&module, name)?;
        Some(
            [&module, &within]
                .into_iter()
                .flat_map(|at| [format!("{at}.py"), format!("{at}/__init__.py")])
                .collect::<Vec<_>>(),
        )
    };
    bases.into_iter().filter_map(files).flatten().collect()
}

fn rust(path: &str, module: &str, name: &str) -> Vec<String> {
    // What a file holds lies in its folder, or in one of its name.
    let stem = file_name(path).trim_end_matches(".rs");
    let own = match stem {
        "mod" | "lib" | "main" => folder(path).to_owned(),
        stem => join(folder(path), stem).unwrap_or_default(),
    };
    let root = match path.rfind("/src/") {
        Some(at) => Some(path[..at + 4].to_owned()),
        None => path.starts_with("src/").then(|| "src".to_owned()),
    };
    let mut parts = module.split("::").filter(|part| !part.is_empty()).peekable();
    let mut base = match parts.peek() {
        Some(&"crate") => parts.next().and(root),
        Some(&"self") => parts.next().and(Some(own)),
        _ => Some(own),
    };
    while parts.next_if_eq(&"super").is_some() {
        base = base.and_then(|base| join(&base, ".."));
    }
    let rest: Vec<&str> = parts.collect();
    let Some(module) = base.and_then(|base| join(&base, &rest.join("/"))) else { return Vec::new() };
    let within = join(&module, name).unwrap_or_default();
    let tops = if rest.is_empty() { vec![format!("{module}/lib.rs"), format!("{module}/main.rs")] } else { Vec::new() };
    let files = [module, within].into_iter().flat_map(|at| [format!("{at}.rs"), format!("{at}/mod.rs")]);
    files.chain(tops).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_of_go_leads_where_its_module_says() {
        let shop = go_module("go.mod", "// a shop\nmodule example.com/shop // ours\n\ngo 1.24\n").unwrap();
        let tool = go_module("tools/gen/go.mod", "module \"example.com/shop/gen\"\n").unwrap();
        assert_eq!(
            (&*shop.0, &*shop.1, &*tool.0, &*tool.1),
            ("", "example.com/shop", "tools/gen/", "example.com/shop/gen")
        );
        for (import, folder) in [
            ("example.com/shop", Some("")),
            ("example.com/shop/cart", Some("cart")),
            ("example.com/shop/gen/x", Some("tools/gen/x")),
            ("example.com/shopping/cart", None),
            ("github.com/x/cart", None),
            ("crypto/rand", None),
        ] {
            assert_eq!(go_folder(&[shop.clone(), tool.clone()], import).as_deref(), folder, "{import}");
        }
        assert_eq!(go_module("go.mod", "go 1.24\n"), None);
    }
}
