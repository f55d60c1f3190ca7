//! What the name of a file and the folders above it say of it.

/// Lock files, each with the names of its manifests; `*.tf` is any name that ends so.
const LOCKS: &[(&str, &[&str])] = &[
    ("Cargo.lock", &["Cargo.toml"]),
    ("package-lock.json", &["package.json"]),
    ("npm-shrinkwrap.json", &["package.json"]),
    ("yarn.lock", &["package.json"]),
    ("pnpm-lock.yaml", &["package.json", "pnpm-workspace.yaml"]),
    ("bun.lock", &["package.json"]),
    ("poetry.lock", &["pyproject.toml"]),
    ("uv.lock", &["pyproject.toml"]),
    ("Pipfile.lock", &["Pipfile"]),
    ("Gemfile.lock", &["Gemfile"]),
    ("composer.lock", &["composer.json"]),
    ("go.sum", &["go.mod"]),
    ("flake.lock", &["flake.nix"]),
    ("mix.lock", &["mix.exs"]),
    ("pubspec.lock", &["pubspec.yaml"]),
    ("Podfile.lock", &["Podfile"]),
    ("deno.lock", &["deno.json", "deno.jsonc"]),
    ("pdm.lock", &["pyproject.toml"]),
    ("packages.lock.json", &["*.csproj", "*.fsproj", "*.vbproj"]),
    (".terraform.lock.hcl", &["*.tf"]),
    ("gradle.lockfile", &["build.gradle", "build.gradle.kts"]),
    ("Package.resolved", &["Package.swift"]),
    ("go.work.sum", &["go.work"]),
    ("MODULE.bazel.lock", &["MODULE.bazel"]),
];
/// Folders that hold nothing but what tests compare with.
const FIXTURE_FOLDERS: &[&str] = &["__snapshots__", "__fixtures__", "testdata"];
/// Folders that do so among tests; elsewhere a program may load what lies in them.
const FIXTURES_OF_TESTS: &[&str] = &["snapshots", "fixtures", "golden", "goldens"];
/// What tests compare with, by its extension: what is known by none of these may be a test itself, as a script of commands is.
const FIXTURES: &[&str] = &[
    "adoc",
    "ambr",
    "approved",
    "css",
    "csv",
    "err",
    "expected",
    "golden",
    "graphql",
    "htm",
    "html",
    "in",
    "ini",
    "input",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "log",
    "markdown",
    "md",
    "ndjson",
    "out",
    "output",
    "properties",
    "rst",
    "snap",
    "stderr",
    "stdout",
    "svg",
    "toml",
    "tsv",
    "txt",
    "xml",
    "yaml",
    "yml",
];
const TEST_FOLDERS: &[&str] = &["test", "tests", "__tests__", "spec", "specs", "e2e", "cypress", "integration"];
/// What a `.txt` begins with that people write for people.
const TEXTS: &[&str] = &[
    "readme",
    "license",
    "licence",
    "copying",
    "copyright",
    "notice",
    "authors",
    "contributors",
    "contributing",
    "changelog",
    "changes",
    "history",
    "todo",
    "notes",
    "install",
    "news",
    "thanks",
    "credits",
];
/// What a `.txt` begins with that a tool reads, wherever it lies.
const TOOL_TEXTS: &[&str] = &["cmakelists", "requirements", "constraints"];

/// The name of a file without its folders.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name of a file without folders and without what follows its first dot.
pub fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.split('.').find(|part| !part.is_empty()).unwrap_or(name)
}

/// The manifests that a lock file is written from; none for other files.
pub fn manifests(path: &str) -> Option<&'static [&'static str]> {
    LOCKS.iter().find(|(lock, _)| *lock == file_name(path)).map(|(_, manifests)| *manifests)
}

/// Whether the name of a file is one that [`manifests`] gives.
pub fn is_manifest(path: &str, manifest: &str) -> bool {
    let name = file_name(path);
    manifest.strip_prefix('*').map_or(name == manifest, |end| name.ends_with(end))
}

/// Whether a file lies where tests have what they compare with.
pub fn is_in_fixtures(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let any = |names: &[&str]| folder.split('/').any(|part| names.contains(&part));
    let extension = file_name(path).rsplit_once('.').map_or("", |(_, extension)| extension);
    // Go runs those as tests.
    let is_script = extension == "txt" && folder.split('/').any(|part| part.starts_with("script"));
    (any(FIXTURE_FOLDERS) || (any(FIXTURES_OF_TESTS) && any(TEST_FOLDERS)))
        && FIXTURES.contains(&extension)
        && !is_script
}

/// Whether a `.txt` is text for people: many are lists that a tool reads.
pub fn is_text_for_people(path: &str) -> bool {
    let name = file_name(path).to_lowercase();
    let begins = |names: &[&str]| {
        let rest = names.iter().find_map(|begin| name.strip_prefix(begin));
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let in_docs = path.split('/').rev().skip(1).any(|part| matches!(part, "doc" | "docs"));
    begins(TEXTS) || (in_docs && !begins(TOOL_TEXTS))
}
