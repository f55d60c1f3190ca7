//! Texts that were made to cost more than their size, for each form: what a reader with a slow spot would choke on.

use tollgate_core::contract::definition::Form;

/// A way to hurt a reader: its name, and a text of about so many bytes.
pub struct Attack {
    pub name: &'static str,
    pub make: fn(usize) -> String,
}

/// What is tried on a form.
pub fn attacks(form: Form) -> &'static [Attack] {
    match form {
        Form::Json => JSON,
        Form::JsonLines => LINES,
        Form::Yaml => YAML,
        Form::Markdown => MARKDOWN,
    }
}

/// A piece again and again, up to a size; `{}` in it is a number of its own.
fn many(piece: &str, bytes: usize) -> String {
    let count = bytes / (piece.len() + if piece.contains("{}") { 4 } else { 0 });
    (0..count).map(|at| piece.replace("{}", &at.to_string())).collect()
}

fn around(before: &str, piece: &str, after: &str, bytes: usize) -> String {
    format!("{before}{}{after}", many(piece, bytes))
}

/// Issues in a chain, the last of them first: every step leads to what was not seen yet.
fn chain(bytes: usize) -> String {
    let count = bytes / 24;
    let blocks = |at: usize| format!("\"{at}\":[{}],", at - 1);
    let keys: String = (2..count).rev().map(blocks).collect();
    format!(r#"{{"created":[],"closed":[],"updated":[],"blocking":{{{keys}"1":[]}}}}"#)
}

/// Tasks in a chain, each with a list of what it needs.
fn tasks(bytes: usize) -> String {
    let count = bytes / 120;
    let task =
        |at: usize| format!("  - id: T-{at}\n    title: One\n    status: planned\n    depends_on: [T-{}]\n", at + 1);
    format!("session: 2026-01-31_x\ntasks:\n{}", (1..count).map(task).collect::<String>())
}

const JSON: &[Attack] = &[
    Attack { name: "nesting", make: |n| many("[", n) },
    Attack { name: "nested-maps", make: |n| many("{\"a\":", n) },
    Attack { name: "fields", make: |n| around("{", "\"field{}\":0,", "\"z\":0}", n) },
    Attack { name: "late-duplicates", make: |n| around("{", "\"field{}\":0,", "\"z\":0,\"z\":1}", n) },
    Attack { name: "long-list", make: |n| around("{\"created\":[", "{},", "0]}", n) },
    Attack { name: "same-items", make: |n| around("{\"created\":[", "7,", "7]}", n) },
    Attack { name: "chain", make: chain },
    Attack { name: "huge-text", make: |n| around("{\"a\":\"", "x", "\"}", n) },
    Attack { name: "escapes", make: |n| around("{\"a\":\"", "\\ud83d\\ude00", "\"}", n) },
    Attack { name: "cut-off", make: |n| around("{\"a\":\"", "x\\n", "", n) },
    Attack { name: "white-space", make: |n| around("{", " \n", "}", n) },
    Attack { name: "numbers", make: |n| around("[", "1e5,", "1]", n) },
];

const LINES: &[Attack] = &[
    Attack { name: "lines", make: |n| many("{\"a\": {}}\n", n) },
    Attack { name: "empty-lines", make: |n| many("\n", n) },
    Attack { name: "huge-line", make: |n| around("{\"a\":\"", "x", "\"}\n", n) },
    Attack { name: "broken-lines", make: |n| many("{\"a\": \n", n) },
];

const YAML: &[Attack] = &[
    Attack { name: "keys", make: |n| many("key{}: 1\n", n) },
    Attack { name: "late-duplicates", make: |n| around("", "key{}: 1\n", "z: 1\nz: 2\n", n) },
    Attack { name: "list", make: |n| around("a:\n", "  - x{}\n", "", n) },
    Attack { name: "flow", make: |n| many("[", n) },
    Attack { name: "dashes", make: |n| many("- ", n) },
    Attack { name: "bomb", make: |n| around("a: &a [x]\n", "b{}: [*a, *a, *a, *a]\n", "", n) },
    Attack { name: "huge-line", make: |n| around("a: \"", "x", "\"\n", n) },
    Attack { name: "plain-line", make: |n| around("a: ", "x y ", "\n", n) },
    Attack { name: "comments", make: |n| around("", "# x\n", "a: 1\n", n) },
    Attack { name: "block", make: |n| around("a: |\n", "  x y z\n", "", n) },
    Attack { name: "chain", make: tasks },
];

const MARKDOWN: &[Attack] = &[
    Attack { name: "headings", make: |n| many("## Heading {}\n", n) },
    Attack { name: "same-headings", make: |n| many("## Status\ncomplete\n", n) },
    Attack { name: "deep-headings", make: |n| many("#### Definition of Done {}\n- a\n", n) },
    Attack { name: "labels", make: |n| around("## Blocker: x\n", "**Type:** x\n", "", n) },
    Attack { name: "labels-in-a-line", make: |n| around("## Blocker: x\n", "**Type:** x ", "\n", n) },
    Attack {
        name: "labels-behind-spaces",
        make: |n| format!("## Blocker: x\nx\n{}{}\n", " ".repeat(n / 2), many("**Type:** x ", n / 2)),
    },
    Attack { name: "fences", make: |n| many("```\nx\n```\n", n) },
    Attack { name: "open-fences", make: |n| many("~~~{}\n", n) },
    Attack { name: "items", make: |n| around("## Definition of Done\n", "- a row {}\n", "", n) },
    Attack { name: "nested-items", make: |n| many("- a\n  - b\n    - c\n      - d\n", n) },
    Attack { name: "quotes", make: |n| many("> > > x\n", n) },
    Attack { name: "comments", make: |n| many("<!-- x -->\n\n", n) },
    Attack { name: "open-comments", make: |n| many("<!-- x\n", n) },
    Attack { name: "html", make: |n| many("<h2>Status</h2>\n", n) },
    Attack { name: "emphasis", make: |n| many("*a **b ", n) },
    Attack { name: "brackets", make: |n| many("[a](", n) },
    Attack { name: "backquotes", make: |n| many("`a ``b ", n) },
    Attack { name: "huge-line", make: |n| many("x ", n) },
    Attack { name: "white-space", make: |n| many(" \t", n) },
    Attack { name: "returns", make: |n| many("x\r", n) },
    Attack {
        name: "options",
        make: |n| {
            let options = many("- **Option {}** — x\n", n / 2);
            let words = many("word ", n / 2);
            format!("## Blocker: x\n\n### Options\n{options}\n### Recommendation\n{words}\n")
        },
    },
];
