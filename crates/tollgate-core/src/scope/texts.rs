//! The strings of a language that may go on over the end of their line.

/// A string that may go on over the end of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    pub begin: &'static str,
    pub end: &'static str,
    /// Whether a backslash takes the sign behind it for itself.
    pub escapes: bool,
}

pub const fn text(begin: &'static str, end: &'static str, escapes: bool) -> Text {
    Text { begin, end, escapes }
}

const BACKTICKS: &[Text] = &[text("`", "`", true)];
const RAW_BACKTICKS: &[Text] = &[text("`", "`", false)];
const TRIPLE: &[Text] = &[text("\"\"\"", "\"\"\"", true), text("'''", "'''", true)];
/// Without escapes: `"""\"""` is a backslash.
const RAW_TRIPLE: &[Text] = &[text("\"\"\"", "\"\"\"", false)];
const SHARP: &[Text] = &[text("\"\"\"", "\"\"\"", true), text("@\"", "\"", false), text("$@\"", "\"", false)];
const RUST: &[Text] =
    &[text("r##\"", "\"##", false), text("r#\"", "\"#", false), text("r\"", "\"", false), text("\"", "\"", true)];
const C: &[Text] = &[text("R\"(", ")\"", false)];
pub const PLAIN: &[Text] = &[text("\"", "\"", true), text("'", "'", true)];
const LUA: &[Text] = &[text("[[", "]]", false), text("[=[", "]=]", false)];

/// The strings of a language that may go on over the end of their line.
pub fn texts(extension: &str) -> &'static [Text] {
    match extension {
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => BACKTICKS,
        "go" => RAW_BACKTICKS,
        "kt" | "kts" | "scala" => RAW_TRIPLE,
        "py" | "java" | "swift" | "dart" | "ex" | "exs" | "nim" | "toml" => TRIPLE,
        "cs" => SHARP,
        "rs" => RUST,
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" => C,
        "php" | "rb" | "sh" | "bash" | "zsh" | "sql" | "pl" | "r" => PLAIN,
        "lua" => LUA,
        _ => &[],
    }
}
