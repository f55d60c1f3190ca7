//! The programming languages that the scope rules can read: one row each.
//!
//! A row says by which signs a text is split into tokens and which words begin an import, a function, a branch, a
//! type or a test. A file of another language is not read: a person judges its changes.

/// How a string begins and ends.
#[derive(Debug)]
pub struct Quote {
    pub open: &'static str,
    pub close: &'static str,
    /// A backslash takes the next character as it is.
    pub escapes: bool,
    /// It may go on in the next line.
    pub multiline: bool,
}

/// What an import looks like; any other shape is for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportForm {
    /// `import { a, b } from './module'`
    Braces,
    /// `from .module import a, b`
    From,
    /// `use crate::module::{a, b};` and `mod a;`
    Colons,
    /// `import package.Name;`
    Dots,
    /// The text does not say which file an import leads to.
    Unresolved,
}

/// How a type declares a field without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldForm {
    /// `name: Type,`
    Colon,
    /// `Type name;`
    TypeFirst,
    /// `name Type`, a line each
    NameFirst,
    /// A field looks like a statement.
    Unknown,
}

/// One language.
#[derive(Debug)]
pub struct Language {
    pub extensions: &'static [&'static str],
    pub line_comment: &'static str,
    pub block_comment: Option<(&'static str, &'static str)>,
    /// The longest opening sign first.
    pub quotes: &'static [Quote],
    /// `r#"…"#` is a string, and `'a` may be a lifetime.
    pub is_rust: bool,
    /// `/…/` may be a pattern, and `${…}` in a string is code.
    pub is_script: bool,
    /// Indentation has a meaning.
    pub indents: bool,
    /// A statement ends at a `;` only.
    pub semicolons: bool,
    /// `name(…) {` and `=>` begin functions.
    pub methods: bool,
    pub import_form: ImportForm,
    pub import_words: &'static [&'static str],
    pub function_words: &'static [&'static str],
    pub type_words: &'static [&'static str],
    /// Words before the name of a constant, a variable or a module.
    pub value_words: &'static [&'static str],
    pub control_words: &'static [&'static str],
    /// What a line of a test case begins with.
    pub test_signs: &'static [&'static str],
    pub field_form: FieldForm,
    /// Lock files, each with its manifest; `*` matches any name.
    pub locks: &'static [(&'static str, &'static str)],
}

const fn line(open: &'static str) -> Quote {
    Quote { open, close: open, escapes: true, multiline: false }
}

const fn block(open: &'static str) -> Quote {
    Quote { open, close: open, escapes: true, multiline: true }
}

const C_COMMENT: Option<(&str, &str)> = Some(("/*", "*/"));

const NONE: Language = Language {
    extensions: &[],
    line_comment: "//",
    block_comment: C_COMMENT,
    quotes: &[],
    is_rust: false,
    is_script: false,
    indents: false,
    semicolons: true,
    methods: false,
    import_form: ImportForm::Unresolved,
    import_words: &["import"],
    function_words: &[],
    type_words: &[],
    value_words: &[],
    control_words: &[],
    test_signs: &[],
    field_form: FieldForm::Unknown,
    locks: &[],
};

const RUST: Language = Language {
    extensions: &["rs"],
    quotes: &[block("\"")],
    is_rust: true,
    import_form: ImportForm::Colons,
    import_words: &["use", "mod"],
    function_words: &["fn"],
    type_words: &["struct", "enum", "trait", "type", "union"],
    value_words: &["const", "static", "mod"],
    control_words: &["if", "else", "match", "for", "while", "loop", "return", "break", "continue", "await"],
    test_signs: &["#[test]", "#[tokio::test", "#[rstest"],
    field_form: FieldForm::Colon,
    locks: &[("Cargo.lock", "Cargo.toml")],
    ..NONE
};

const SCRIPT: Language = Language {
    extensions: &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"],
    quotes: &[line("\""), line("'"), block("`")],
    is_script: true,
    semicolons: false,
    methods: true,
    import_form: ImportForm::Braces,
    import_words: &["import", "export"],
    function_words: &["function"],
    type_words: &["interface", "type", "class", "enum"],
    value_words: &["const", "let", "var"],
    control_words: &[
        "if", "else", "switch", "case", "for", "while", "do", "return", "break", "continue", "throw", "try", "catch",
        "finally", "await", "yield",
    ],
    test_signs: &["it(", "test(", "it.", "test.", "describe("],
    field_form: FieldForm::Colon,
    locks: &[
        ("package-lock.json", "package.json"),
        ("npm-shrinkwrap.json", "package.json"),
        ("yarn.lock", "package.json"),
        ("pnpm-lock.yaml", "package.json"),
        ("bun.lock", "package.json"),
    ],
    ..NONE
};

const PYTHON: Language = Language {
    extensions: &["py", "pyi"],
    line_comment: "#",
    block_comment: None,
    quotes: &[block("\"\"\""), block("'''"), line("\""), line("'")],
    indents: true,
    semicolons: false,
    import_form: ImportForm::From,
    import_words: &["from", "import"],
    function_words: &["def", "lambda"],
    type_words: &["class"],
    control_words: &[
        "if", "elif", "else", "match", "for", "while", "return", "break", "continue", "raise", "try", "except",
        "finally", "with", "await", "yield", "and", "or", "assert",
    ],
    test_signs: &["def test_", "async def test_"],
    locks: &[
        ("poetry.lock", "pyproject.toml"),
        ("uv.lock", "pyproject.toml"),
        ("pdm.lock", "pyproject.toml"),
        ("Pipfile.lock", "Pipfile"),
    ],
    ..NONE
};

const GO: Language = Language {
    extensions: &["go"],
    quotes: &[line("\""), Quote { open: "`", close: "`", escapes: false, multiline: true }, line("'")],
    semicolons: false,
    function_words: &["func"],
    type_words: &["type", "struct", "interface"],
    value_words: &["const", "var"],
    control_words: &[
        "if", "else", "switch", "select", "case", "for", "return", "break", "continue", "goto", "defer", "go",
    ],
    test_signs: &["func Test", "func Benchmark", "func Fuzz", "func Example"],
    field_form: FieldForm::NameFirst,
    locks: &[("go.sum", "go.mod")],
    ..NONE
};

const JAVA: Language = Language {
    extensions: &["java"],
    quotes: &[block("\"\"\""), line("\""), line("'")],
    methods: true,
    import_form: ImportForm::Dots,
    type_words: &["class", "interface", "record", "enum"],
    control_words: &[
        "if", "else", "switch", "case", "for", "while", "do", "return", "break", "continue", "throw", "try", "catch",
        "finally", "yield",
    ],
    test_signs: &["@Test", "@ParameterizedTest", "@RepeatedTest"],
    field_form: FieldForm::TypeFirst,
    locks: &[("gradle.lockfile", "build.gradle"), ("gradle.lockfile", "build.gradle.kts")],
    ..NONE
};

const C_SHARP: Language = Language {
    extensions: &["cs"],
    quotes: &[
        block("\"\"\""),
        Quote { open: "@\"", close: "\"", escapes: false, multiline: true },
        line("\""),
        line("'"),
    ],
    methods: true,
    import_words: &["using"],
    type_words: &["class", "interface", "record", "struct", "enum"],
    control_words: &[
        "if", "else", "switch", "case", "for", "foreach", "while", "do", "return", "break", "continue", "throw", "try",
        "catch", "finally", "await", "yield",
    ],
    test_signs: &["[Fact", "[Theory", "[Test"],
    field_form: FieldForm::TypeFirst,
    locks: &[("packages.lock.json", "*.csproj")],
    ..NONE
};

/// Every language.
pub const LANGUAGES: [Language; 6] = [RUST, SCRIPT, PYTHON, GO, JAVA, C_SHARP];

/// Extensions of other languages, by the language: a test has one of the same row as what it tests.
const OTHER_SOURCES: &[&[&str]] = &[
    &["c", "cc", "cpp", "cxx", "h", "hpp"],
    &["kt", "kts"],
    &["ex", "exs"],
    &["sh", "bash"],
    &["rb"],
    &["php"],
    &["swift"],
    &["scala"],
    &["dart"],
    &["lua"],
];

/// The language of a file, by its extension.
pub fn language(path: &str) -> Option<&'static Language> {
    let extension = extension(path);
    LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
}

/// The extensions that the sources of a file's language may have; none when the file is not known to be source.
pub fn sources(path: &str) -> &'static [&'static str] {
    let extension = extension(path);
    let others = || OTHER_SOURCES.iter().find(|row| row.contains(&extension)).copied();
    language(path).map(|language| language.extensions).or_else(others).unwrap_or_default()
}

/// The manifests of a lock file, by its name; none for other files.
pub fn manifests(lock: &str) -> Vec<&'static str> {
    let locks = LANGUAGES.iter().flat_map(|language| language.locks);
    locks.filter(|(name, _)| *name == lock).map(|(_, manifest)| *manifest).collect()
}

/// The name of a file without its folders.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder of a file with the slash at its end; empty at the top.
pub fn folder(path: &str) -> &str {
    &path[..path.len() - file_name(path).len()]
}

fn extension(path: &str) -> &str {
    file_name(path).rsplit_once('.').map_or("", |(_, extension)| extension)
}
