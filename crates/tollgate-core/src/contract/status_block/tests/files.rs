//! Entries that name files.

use super::super::files::{Named, named};
use super::*;

/// A line that names several files counts for each of them, and claims them.
#[test]
fn every_file_of_a_line_counts() {
    let read_with = |count: usize, line: &str| {
        let files = format!("{count} created, 0 modified, 0 deleted");
        let files = report("complete", "", "n/a", &files, "0", &format!("## Files Created\n- {line}\n"));
        read(&files, &role("developer"))
    };
    for (line, expected) in [
        ("`src/a.rs`, `src/b.rs`", &["src/a.rs", "src/b.rs"][..]),
        ("`a.rs` and `b.rs` — both are new", &["a.rs", "b.rs"]),
        ("src/a.rs, src/b.rs, and src/c.rs", &["src/a.rs", "src/b.rs", "src/c.rs"]),
        ("src/a.rs, src/b.rs (tests)", &["src/a.rs", "src/b.rs"]),
        ("`src/a.rs` + `src/b.rs`: moved", &["src/a.rs", "src/b.rs"]),
        ("`Makefile`, `Dockerfile`", &["Makefile", "Dockerfile"]),
        ("`Makefile`, `gradlew` and `LICENSE` — new", &["Makefile", "gradlew", "LICENSE"]),
        ("`src/a.rs`, `Makefile`", &["src/a.rs", "Makefile"]),
        // What stands behind the first is a word about it.
        ("`Makefile`, `all()`", &["Makefile"]),
        ("`Makefile`, `none`", &["Makefile"]),
        ("Makefile, Dockerfile", &["Makefile", "Dockerfile"]),
        ("src/a.rs, new", &["src/a.rs"]),
        ("src/a.rs, n/a", &["src/a.rs"]),
        ("`src/a.rs` — `src/b.rs`", &["src/a.rs"]),
        ("`src/a.rs`, `total` alone", &["src/a.rs"]),
        ("`src/a.rs`, `total`", &["src/a.rs"]),
        ("`src/a, b.rs`", &["src/a, b.rs"]),
        ("src/a,b.rs", &["src/a,b.rs"]),
        // Each has its own remark.
        ("`src/a.rs` (new), `src/b.rs` (new, with tests)", &["src/a.rs", "src/b.rs"]),
        ("`src/a.rs` (new); `src/b.rs`.", &["src/a.rs", "src/b.rs"]),
        ("`src/a.rs` (was `src/b.rs`)", &["src/a.rs"]),
        // Words stand before the name, or signs around it.
        ("Added `src/a.rs`", &["src/a.rs"]),
        ("Added `src/a.rs` and `src/b.rs`.", &["src/a.rs", "src/b.rs"]),
        ("**New:** `src/a.rs` — the parser", &["src/a.rs"]),
        ("Parser and renderer: `src/a.rs`, `src/b.rs`", &["src/a.rs", "src/b.rs"]),
        ("`parse()` in `src/a.rs`", &["src/a.rs"]),
        ("[src/a.rs](src/a.rs)", &["src/a.rs"]),
        ("[`src/a.rs`](src/a.rs) — the parser", &["src/a.rs"]),
        ("**src/a.rs** — the parser", &["src/a.rs"]),
        ("**`src/a.rs`**: the parser", &["src/a.rs"]),
        ("[x] src/a.rs", &["src/a.rs"]),
        ("✅ src/a.rs", &["src/a.rs"]),
        ("➕ `src/a.rs`", &["src/a.rs"]),
        ("\"src/a.rs\"", &["src/a.rs"]),
        ("src/a.rs.", &["src/a.rs"]),
        ("\"src/\\303\\244.rs\" — new", &["\"src/\\303\\244.rs\""]),
        ("New parser (src/a.rs)", &["src/a.rs"]),
        ("Added src/a.rs, src/b.rs", &["src/a.rs", "src/b.rs"]),
        ("Added Cargo.toml", &["Cargo.toml"]),
        ("New Makefile", &["Makefile"]),
        ("New\u{a0}file\u{a0}`src/a.rs`", &["src/a.rs"]),
        ("[a.rs](src/a.rs) and [b.rs](./src/b.rs#L1-L20)", &["src/a.rs", "src/b.rs"]),
        ("[Cart module](src/cart.rs)", &["src/cart.rs"]),
        ("[src/a.rs](https://example.com/src/a.rs)", &["src/a.rs"]),
        ("`Cargo.toml`/`Cargo.lock` — bump", &["Cargo.toml", "Cargo.lock"]),
        ("`src/a.rs`, plus `src/b.rs`", &["src/a.rs", "src/b.rs"]),
        ("`src/a.rs` as well as `src/b.rs`", &["src/a.rs", "src/b.rs"]),
        ("`src/a.rs:42`", &["src/a.rs"]),
        ("src/a.rs:1-40 — the head", &["src/a.rs"]),
        ("*src/a.rs*", &["src/a.rs"]),
        ("***`src/a.rs`*** — new", &["src/a.rs"]),
        ("<code>src/a.rs</code>", &["src/a.rs"]),
        ("`CartTotal` component (`src/CartTotal.tsx`)", &["src/CartTotal.tsx"]),
        ("Added `GET /cart` handler in `src/cart.rs`", &["src/cart.rs"]),
        ("Next.js page: src/app/page.tsx", &["src/app/page.tsx"]),
        ("CI/CD pipeline: `.github/workflows/ci.yml`", &[".github/workflows/ci.yml"]),
        ("__init__.py", &["__init__.py"]),
        ("src/__tests__/a.test.js", &["src/__tests__/a.test.js"]),
        ("Backend:\n  - `src/a.rs`\n  - src/b.rs — new", &["src/a.rs", "src/b.rs"]),
        ("**Tests**\n  - `tests/a.rs`", &["tests/a.rs"]),
        ("`src/a.rs` <!-- `src/z.rs` -->", &["src/a.rs"]),
        ("`src/a.rs` — now calls\n  `src/b.rs` instead", &["src/a.rs"]),
        // These name files, too.
        ("gradlew", &["gradlew"]),
        ("gradlew — the wrapper", &["gradlew"]),
        ("`gradlew`: the wrapper", &["gradlew"]),
        (".gitignore", &[".gitignore"]),
        ("app/(shop)/page.tsx", &["app/(shop)/page.tsx"]),
        ("README: how to start", &["README"]),
    ] {
        let listed = expected.len();
        let reading = read_with(listed, line);
        assert_eq!(shown(&reading), "ok none", "{line}");
        let created: Vec<&str> = reading.report.claims.created.iter().map(|path| &**path).collect();
        assert_eq!(created, expected, "{line}");
        for wrong in [listed - 1, listed + 1] {
            assert_eq!(shown(&read_with(wrong, line)), "malformed none\nE 8:1/12:1 TG0211", "{line}");
        }
    }
}

/// An entry that names no file is told; a word of its sentence is none.
#[test]
fn an_entry_without_a_file_is_told() {
    let apart = "E 13:3 TG0222";
    for (line, expected) in [
        ("`src/a.rs`, `src/b.rs` calls it", apart),
        ("Added `src/a.rs`, `tests/a.rs` and updated `Cargo.toml`", apart),
        ("Renamed `src/a.rs` to `src/b.rs`", apart),
        ("`src/a.rs` → `src/b.rs`", apart),
        ("`src/a.rs` -> `src/b.rs`", apart),
        ("Unit tests for `src/cart.rs`: `tests/cart.rs`", apart),
        ("Endpoint `/api/cart` — `src/cart.rs`", apart),
        ("src/My File.txt", apart),
        ("[a](https://example.com/src/a.rs)", apart),
        ("`src/a.rs` — total\n  - and `src/b.rs` — sum", "E 13:3 TG0224"),
        ("Tests for `src/a.rs` in `tests/a.rs`", apart),
        ("Did not create `src/a.rs`; instead `src/b.rs`", apart),
        ("`src/cart/`\n  - `src/cart/a.rs`", "E 13:3 TG0224"),
        ("`src/a.rs`\n  `src/b.rs`", "E 13:3 TG0224"),
    ] {
        let text = report(
            "complete",
            "",
            "n/a",
            "1 created, 0 modified, 0 deleted",
            "0",
            &format!("## Files Created\n- {line}\n"),
        );
        assert_eq!(shown(&read(&text, &role("developer"))), format!("malformed none\n{expected}"), "{line}");
    }
    for line in ["the parser", "New: the parser", "**New:** the parser", "[ ] src/a.rs", "**The parser** — it reads"]
    {
        let text = report(
            "complete",
            "",
            "n/a",
            "1 created, 0 modified, 0 deleted",
            "0",
            &format!("## Files Created\n- {line}\n"),
        );
        assert!(
            shown(&read(&text, &role("developer"))).contains("E 13:3 TG0222"),
            "{line}: {}",
            shown(&read(&text, &role("developer")))
        );
    }
}

/// What is said of a file stays with it, also what stands before its name.
#[test]
fn a_note_stays_with_its_file() {
    for (line, expected) in [
        ("Added `src/a.rs` for the parser", &[("src/a.rs", "Added for the parser")][..]),
        ("**New:** `src/a.rs` — the parser", &[("src/a.rs", "New the parser")]),
        ("`src/a.rs` (new), `src/b.rs` (tests)", &[("src/a.rs", "(new)"), ("src/b.rs", "(tests)")]),
        ("`src/a.rs` and `src/b.rs` — both", &[("src/a.rs", "both"), ("src/b.rs", "")]),
    ] {
        let Named::Files(files, _) = named(line) else { panic!("{line}") };
        let named: Vec<(String, String)> = files.into_iter().map(|file| (file.path, file.note)).collect();
        let named: Vec<(&str, &str)> = named.iter().map(|(path, note)| (path.as_str(), note.as_str())).collect();
        assert_eq!(named, expected, "{line}");
    }
}

/// A count is mended only where it is sure what the list names.
#[test]
fn a_count_beside_an_unclear_entry_stays() {
    for (line, mended) in [
        ("`src/a.rs` — the parser", true),
        ("`src/a.rs` and its test", false),
        ("`src/a.rs` — x; `src/b.rs` — y", false),
        ("`src/a.rs` (and `tests/a.rs`)", false),
        ("`src/a.rs src/b.rs`", false),
        ("`src/cart/` — both files", false),
        ("src/cart/\n  - a.rs\n  - b.rs", false),
    ] {
        let text = report(
            "complete",
            "",
            "n/a",
            "2 created, 0 modified, 0 deleted",
            "0",
            &format!("## Files Created\n- {line}\n"),
        );
        let reading = check(&text, &role("developer"), "malformed none\nE 8:1/12:1 TG0211");
        assert_eq!(reading.diagnostics[0].mend.is_some(), mended, "{line}");
    }
    let asked = report(
        "blocked",
        "x",
        "n/a",
        "0 created, 0 modified, 0 deleted",
        "2",
        "## Open Questions\nWhich port?\nWhich host?\n",
    );
    let reading = check(&asked, &role("developer"), "malformed none\nE 10:1/12:1 TG0211");
    assert!(reading.diagnostics[0].mend.is_none());
}
