//! Which files a file is the test of, by its name: a test lies in the folder of what it tests and has its name.

use super::languages::{file_name, folder, sources};

/// What the name of a test ends with, after the name of what it tests.
const AFTER: [&str; 12] =
    [".test", ".tests", ".spec", "_test", "_tests", "_spec", "-test", "-spec", "Test", "Tests", "Spec", ".Tests"];
/// What it begins with.
const BEFORE: [&str; 3] = ["test_", "test-", "Test"];

/// The files that a path may be the test of. Only source has tests: configuration and data are none, whatever their names.
pub fn tested_files(path: &str) -> Vec<String> {
    let name = file_name(path);
    let Some((stem, _)) = name.rsplit_once('.') else { return Vec::new() };
    let after = AFTER.iter().filter_map(|end| stem.strip_suffix(end));
    let before = BEFORE.iter().filter_map(|start| stem.strip_prefix(start));
    // `webpack.config.test.js` and `.eslintrc.test.js` configure a tool.
    let configures = |base: &&str| base.is_empty() || base.starts_with('.') || base.ends_with(".config");
    let bases: Vec<&str> = after.chain(before).filter(|base| !configures(base)).collect();
    // `cart.integration.test.ts` is a test of `cart.ts` too.
    let shorter = bases.iter().filter_map(|base| base.rsplit_once('.')).map(|(base, _)| base);
    let named = |base: &str| {
        sources(path).iter().map(|extension| format!("{}{base}.{extension}", folder(path))).collect::<Vec<_>>()
    };
    bases.iter().copied().chain(shorter).flat_map(named).filter(|source| source != path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_lies_beside_what_it_tests_and_has_its_name() {
        for (test, source) in [
            ("src/cart.test.ts", "src/cart.ts"),
            ("src/cart.spec.tsx", "src/cart.ts"),
            ("src/cart.integration.test.ts", "src/cart.ts"),
            ("src/cart_test.go", "src/cart.go"),
            ("src/test_cart.py", "src/cart.py"),
            ("src/cart_test.py", "src/cart.py"),
            ("src/CartTest.java", "src/Cart.java"),
            ("src/Cart.Tests.cs", "src/Cart.cs"),
            ("cart_tests.rs", "cart.rs"),
            ("cart_test.cc", "cart.h"),
            ("cart_spec.rb", "cart.rb"),
        ] {
            assert!(tested_files(test).iter().any(|found| found == source), "{test}");
        }
        for path in [
            "src/cart.ts",
            "src/testing.ts",
            "src/cart.test.json",
            "application-test.yml",
            "requirements-test.txt",
            "tsconfig.spec.json",
            "schema_test.sql",
            "webpack.config.test.js",
            ".eslintrc.test.js",
            "test",
        ] {
            assert_eq!(tested_files(path), [""; 0], "{path}");
        }
    }
}
