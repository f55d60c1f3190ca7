//! Where the end of a line of a script may end a statement: there it is no white space.

/// Words of a script behind which nothing may stand on another line, or it is something else: `async` alone is a name.
const BINDS: &[&str] = &[
    "abstract",
    "accessor",
    "async",
    "declare",
    "get",
    "interface",
    "module",
    "namespace",
    "override",
    "private",
    "protected",
    "public",
    "readonly",
    "set",
    "static",
    "type",
];
/// Words behind which a statement goes on in any case.
const GOES_ON_BEHIND: &[&str] = &[
    "as",
    "await",
    "case",
    "class",
    "const",
    "default",
    "delete",
    "else",
    "export",
    "extends",
    "from",
    "function",
    "implements",
    "import",
    "in",
    "instanceof",
    "is",
    "keyof",
    "let",
    "new",
    "of",
    "satisfies",
    "typeof",
    "var",
    "void",
];
/// Words that go on with what stands before them.
const GOES_ON_WITH: &[&str] = &["extends", "from", "implements", "in", "instanceof", "of"];

/// Whether a statement may end between two lines that would be one without a break.
pub(super) fn may_end(line: &str, next: &str) -> bool {
    let (line, next) = (line.trim_end(), next.trim_start());
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let last = line.rsplit(|c| !is_of_word(c)).next().unwrap_or_default();
    let first = next.split(|c| !is_of_word(c)).next().unwrap_or_default();
    // `q++` is not `++r`.
    let counts = ["++", "--"].iter().any(|sign| line.ends_with(sign) || next.starts_with(sign));
    let goes_on = GOES_ON_BEHIND.contains(&last) || GOES_ON_WITH.contains(&first);
    counts || BINDS.contains(&last) || !(last.is_empty() || first.is_empty() || goes_on)
}
