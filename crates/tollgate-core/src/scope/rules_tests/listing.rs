//! What an item of In Scope lists, and what it leaves to a person: words around a path may mean less than the path does.

use super::*;

/// Classes of three files in `src`, as a task with these items has them, and its warnings.
fn listed(items: &[&str]) -> (String, Vec<String>) {
    let (task, warnings) = TaskScope::read(&task(items, &[])).unwrap_or_else(|wrong| panic!("{items:?}: {wrong:?}"));
    let rules = Rules { task, ..Rules::default() };
    // By its lines alone, none of them follows from another.
    let made = ["src/app.js", "src/auth.js", "src/cart.js"].map(|path| made(path, "-a(1);\n+b(2);"));
    let found = rules.sort(&changes(&made)).iter().map(shown_short).collect::<Vec<_>>();
    (found.join(", "), warnings.into_iter().map(|one| one.message).collect())
}

fn shown_short(one: &Sorted<'_>) -> String {
    format!("{} {}", one.class.words(), one.change.path.trim_start_matches("src/"))
}

/// The items whose classes are others than these, or that have more or fewer warnings.
fn odd(items: &[&str], wanted: &str, warnings: usize) -> Vec<(String, String, Vec<String>)> {
    let read = items.iter().map(|item| (item.to_string(), listed(&[item])));
    let others = read.filter(|(_, (found, said))| found != wanted || said.len() != warnings);
    others.map(|(item, (found, said))| (item, found, said)).collect()
}

const NOBODY_KNOWS: &str = "incidental? app.js, incidental? auth.js, incidental? cart.js";
const EVERYTHING: &str = "primary app.js, primary auth.js, primary cart.js";
const CART_ALONE: &str = "primary cart.js, out of scope app.js, out of scope auth.js";

#[test]
fn words_that_may_mean_a_part_of_a_folder_leave_it_to_a_person() {
    let items = [
        "src/ (tests only)",
        "src/ — update the tests",
        "src/ — create one file",
        "src/ (frontend)",
        "src/ (new files only)",
        "src/ (new files)",
        "src/ (tests)",
        "src/, tests only",
        "src/ (type annotations only)",
        "src/ - documentation comments only",
        "`src/` – cart only",
        "`src/` (types only)",
        "src (tests only)",
        "src/** (tests only)",
        "`src/*.js` save for auth.js",
        "`src/*.js` unless auth.js",
        "`src/*.js` !auth.js",
        "`src/*.js` -auth.js",
        "src/*.js (as far as the total needs it)",
        "src/ where the total is used",
        "src/ (the files that need it)",
        "src/\n  - tests only",
        "src\n  - tests only",
        "src/ (the cart module, tests only)",
        "src/ (the cart module; nur Tests)",
        "src/ (limited to the cart)",
        "Tests in `src/`",
        "src tests only",
        "Tests only: `src/`",
        "Just tests: `src/`",
        "Modify `src/` (tests only)",
        "Modify `src/` (tests only) and `lib/`",
        "Modify `lib/` and `src/`, tests only",
        "src/ (add cart-only lines)",
        "src/ (code that belongs to the cart)",
        "New files in `src/`",
        "Only the cart in `src/`",
        "**src/** (tests only)",
        "src/ (like src/auth.js)",
    ];
    let odd = odd(&items, NOBODY_KNOWS, 1);
    assert!(odd.is_empty(), "{odd:#?}");
}

#[test]
fn files_that_are_named_behind_a_folder_are_meant_of_it() {
    let items = [
        "src\n  - cart.js\n  - app.js",
        "src\n  - `cart.js`\n  - `src/app.js`",
        "src:\n  - cart.js: the total\n  - app.js",
        "src/\n  - cart.js\n  - app.js",
        "src/ (cart.js, app.js)",
        "src/: `cart.js`, `app.js`",
        "src/ — cart.js and app.js",
        "src/ (`src/cart.js`, `src/app.js`)",
        "src/ (just cart.js and app.js)",
        "src/ (i.e. cart.js, app.js)",
        "`src/` (top-level only: cart.js, app.js)",
        "src/** (cart.js & app.js only)",
        "src/ (update cart.js, app.js)",
    ];
    let odd = odd(&items, "primary app.js, primary cart.js, incidental? auth.js", 0);
    assert!(odd.is_empty(), "{odd:#?}");
    assert_eq!(listed(&["Only `src/cart.js` in `src/`"]).0, CART_ALONE);
}

#[test]
fn a_folder_with_a_plain_description_is_listed() {
    let items = [
        "src/",
        "src",
        "`src`",
        "src/**",
        "src/*.js",
        "src/** (the cart module)",
        "src/ — the cart module",
        "src/ (owned by us)",
        "src/ (owned by #12)",
        "src/ (see #12)",
        "src/ (see docs/specs/cart.md)",
        "src/ (new)",
        "src/ (new folder)",
        "src/ (does not exist yet)",
        "src/ — the only place of totals",
        "src/ only",
        "src/ (all files)",
        "src/ (everything in it)",
        "src/ (recursively)",
        "src/: add the parser",
        "src/ — add `parse()` and its tests",
        "src/ (renaming `total`)",
        "src/ and its tests",
        "src/ (including cart.js)",
        "src/ (the module that holds the totals)",
        "src/ — holds the totals",
        "src/ — cart totals",
        "src/: business logic",
        "src/ - error handling",
        "src/\n  - add the parser\n  - rename the total",
        "src\n  - add the parser",
        "Everything in `src/`",
        "Create `src/`",
        "Add the totals to `src/`",
        "Totals: `src/`",
        "The folder `src/`",
        "src/ (create)",
        "src/ (may change)",
        "src/ — adds the total",
        "src/ + tests",
        "src/ (tests included)",
        "All of `src/`",
        "Files under `src/`",
        "Changes to `src/`",
        "**src/** (the cart module)",
        "__src/__ — the cart module",
    ];
    let odd = odd(&items, EVERYTHING, 0);
    assert!(odd.is_empty(), "{odd:#?}");
}

#[test]
fn words_that_expect_no_change_refuse_one() {
    for item in [
        "src/auth.js (no change needed)",
        "src/auth.js (no changes needed)",
        "src/auth.js (no changes expected)",
        "src/auth.js - no changes required",
        "src/auth.js (should not need changes)",
        "src/auth.js (needs no changes)",
        "src/auth.js (doesn't need to change)",
        "`src/auth.js` (consumer; no change expected)",
        "src/auth.js: no change planned here",
        "src/auth.js (unchanged)",
        "src/auth.js (read only)",
        "src/auth.js (for reference)",
        "src/auth.js (do not touch)",
        "❌ `src/auth.js`",
        "`src/auth.js` ❌",
        "🚫 src/auth.js",
        "Out: `src/auth.js`",
    ] {
        let (found, warnings) = listed(&["src/cart.js", item]);
        let wanted = "primary cart.js, incidental? auth.js, out of scope app.js";
        assert_eq!((&*found, warnings.len()), (wanted, 1), "{item}: {warnings:?}");
    }
}

#[test]
fn a_path_that_an_item_only_points_at_is_not_listed() {
    let wanted = "primary cart.js, incidental? auth.js, out of scope app.js";
    for item in [
        "Create `src/cart.js` modelled on `src/auth.js`",
        "Create `src/cart.js` similar to `src/auth.js`",
        "Add `src/cart.js`, based on `src/auth.js`",
        "Create `src/cart.js` following `src/auth.js`",
        "Modify `src/cart.js` to call `src/auth.js`",
        "Modify `src/cart.js` so that it uses `src/auth.js`",
        "Add `src/cart.js` (same pattern as `src/auth.js`)",
        "New file `src/cart.js`, see `src/auth.js` for an example",
        "Extend `src/cart.js` with the interface defined in `src/auth.js`",
        "Modify `src/cart.js` (imports from `src/auth.js`)",
        "Wire `src/cart.js` into the existing `src/auth.js` API",
        "Cart: `src/cart.js` — uses `src/auth.js`",
        "`src/cart.js`: add the total, `src/auth.js`: show it",
        "`src/cart.js` / `src/auth.js`",
        "`src/cart.js` or `src/auth.js`",
        "src/cart.js | src/auth.js",
    ] {
        let (found, warnings) = listed(&[item]);
        let said = "` names `src/auth.js`, and does not say that it is changed: a person has to say what is meant";
        assert_eq!((&*found, warnings.len()), (wanted, 1), "{item}");
        assert!(warnings[0].ends_with(said), "{}", warnings[0]);
        // Another item that lists it says what is meant.
        for other in ["src/auth.js", "src/"] {
            let (found, warnings) = listed(&[item, other]);
            assert!(found.contains("primary auth.js") && warnings.is_empty(), "{item}, {other}: {warnings:?}");
        }
    }
    for item in [
        "Tests for `src/auth.js`",
        "Imports `src/auth.js`",
        "Follow the pattern of `src/auth.js`",
        "Call the helper in `src/auth.js`",
        "Mirror `src/auth.js`",
        "Reuse `src/auth.js`",
        "Refer to `src/auth.js`",
        "Same style as `src/auth.js`",
        "As in `src/auth.js`, validate",
        "Create a page like `src/auth.js`",
        "Example: `src/auth.js`",
        "Compatible with `src/auth.js`",
    ] {
        let (found, warnings) = listed(&["src/cart.js", item]);
        assert_eq!((&*found, warnings.len()), (wanted, 1), "{item}: {warnings:?}");
    }
    // The test beside it may be what is meant.
    let (beside, _) = TaskScope::read(&task(&["src/cart.js", "Add tests for `src/auth.js`"], &[])).unwrap();
    let rules = Rules { task: beside, ..Rules::default() };
    for path in ["src/auth.test.js", "src/test_auth.js"] {
        let made = [made(path, "+test('a', () => {\n+});").new_file()];
        assert_eq!(class_of(&rules, &made, path), Class::Judge, "{path}");
    }
    for item in [
        "Create `src/auth.js` and `src/cart.js`",
        "Create `src/auth.js`, `src/cart.js`",
        "Create `src/auth.js` (new), `src/cart.js` (new)",
        "Create `src/auth.js` and update `src/cart.js`",
        "Create `src/auth.js` and add the total to `src/cart.js`",
        "Modify `src/auth.js`. Add `src/cart.js`.",
        "Move `total()` from `src/auth.js` to `src/cart.js`",
        "Rename `src/auth.js` to `src/cart.js`",
        "Add the total in `src/auth.js` and in `src/cart.js`",
        "Files: `src/auth.js`, `src/cart.js` — the total",
        "Update `src/auth.js` as well as `src/cart.js`",
        "Update `src/auth.js` and its caller `src/cart.js`",
        "The pages (`src/auth.js`, `src/cart.js`)",
        "src/auth.js; src/cart.js",
        "src/auth.js + src/cart.js",
        "`src/auth.js` (new), `src/cart.js` (modified)",
        "src/auth.js (new), src/cart.js (modified)",
        "Login: `src/auth.js`; total: `src/cart.js`",
        "**Create**: `src/auth.js`, **Modify**: `src/cart.js`",
        "Login (`src/auth.js`) and total (`src/cart.js`)",
        "Both `src/auth.js` and `src/cart.js`",
        "The modules `src/auth.js` and `src/cart.js`",
        "Add `total()` to `src/auth.js` and call it from `src/cart.js`",
        "Add `total()` to `src/auth.js` and show it in `src/cart.js`",
        "Files: `src/auth.js` — the login, `src/cart.js` — the total",
        "src/auth.js; src/cart.js (the total)",
        "`src/auth.js`; `src/cart.js`",
    ] {
        let (found, warnings) = listed(&[item]);
        let wanted = "primary auth.js, primary cart.js, out of scope app.js";
        assert_eq!((&*found, warnings), (wanted, vec![]), "{item}");
    }
}

#[test]
fn a_list_below_words_is_read_as_what_stands_behind_them() {
    let names = "primary cart.js, incidental? auth.js, out of scope app.js";
    for label in [
        "Files to read:",
        "Context:",
        "**Context**:",
        "Existing code to reuse:",
        "Later:",
        "Auth, later:",
        "Change later:",
        "Same style as",
        "Helpers used by the page:",
        "Zum Nachlesen:",
        "Code:\n  - Background:",
    ] {
        for path in ["src/auth.js", "`src/auth.js`", "src/auth.js (the login)"] {
            let (found, warnings) = listed(&["src/cart.js", &format!("{label}\n  - {path}")]);
            assert_eq!((&*found, warnings.len()), (names, 1), "{label}: {path}: {warnings:?}");
        }
    }
    for label in [
        "Backend:",
        "**Backend**",
        "Files",
        "Tests:",
        "Cart:",
        "Cart totals:",
        "The cart page and its tests:",
        "Source files",
        "New files:",
        "Files to change:",
        "Files to be modified",
        "The following files:",
        "Create:",
        "Add the total to the page",
        "Tests for the cart:",
        "Model:",
        "Cart template:",
        "Replace the legacy page as in the spec:",
        "API & types:",
        "Backend:\n  - Services:",
    ] {
        let (found, warnings) = listed(&[&format!("{label}\n  - src/cart.js")]);
        assert_eq!((&*found, warnings), (CART_ALONE, vec![]), "{label}");
    }
}

#[test]
fn a_file_is_listed_in_every_honest_spelling() {
    let items = [
        "src/cart.js: add the parser",
        "`src/cart.js` — add `parse()`",
        "__src/cart.js__",
        "__src/cart.js__ — the total",
        "*src/cart.js*",
        "_src/cart.js_",
        "*`src/cart.js`*",
        "*`src/cart.js`* — the total",
        "**`src/cart.js`**: the total",
        "__`src/cart.js`__",
        "'src/cart.js'",
        "'src/cart.js' (the total)",
        "File: `src/cart.js`",
        "New file `src/cart.js`",
        "New: `src/cart.js`",
        "The cart component (`src/cart.js`)",
        "The cart component `src/cart.js`",
        "Cart total in `src/cart.js`",
        "Refactor the legacy `src/cart.js`",
        "Fix the rounding of `src/cart.js`",
        "Remove the import from `src/cart.js`",
        "**Cart**: `src/cart.js`",
        "Only `src/cart.js`",
        "src/cart.js (tests only)",
        "src/cart.js (see src/auth.js)",
    ];
    let odd = odd(&items, CART_ALONE, 0);
    assert!(odd.is_empty(), "{odd:#?}");
}

#[test]
fn a_task_that_lists_nothing_says_what_to_write() {
    let hints = |items: &[&str]| -> Vec<String> {
        let (_, warnings) = TaskScope::read(&task(items, &[])).unwrap();
        warnings.into_iter().filter_map(|one| one.hint).collect()
    };
    for item in ["src/ (tests only)", "Tests for `src/auth.js`", "src/auth.js (no change needed)", "Modify src/cart.js"]
    {
        let last = hints(&[item]).pop().unwrap_or_default();
        assert!(last.starts_with("nothing is in scope so: begin an item with each path"), "{item}: {last}");
        assert!(hints(&["src/cart.js", item]).iter().all(|hint| !hint.starts_with("nothing")), "{item}");
    }
}
