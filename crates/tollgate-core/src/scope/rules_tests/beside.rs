//! What lies beside a file in scope: its tests, and new files that only name what it holds.

use super::criteria::check;
use super::*;

#[test]
fn only_source_of_a_program_is_a_test_by_its_name() {
    for (listed, path) in [
        ("src/application.yml", "src/application-test.yml"),
        ("src/application.properties", "src/application-test.properties"),
        ("requirements.txt", "requirements-test.txt"),
        ("requirements.txt", "test-requirements.txt"),
        (".github/workflows/deploy.yml", ".github/workflows/deploy_test.yml"),
        (".github/workflows/build.yml", ".github/workflows/test_build.yml"),
        ("docker-compose.yml", "docker-compose.test.yml"),
        ("tsconfig.json", "tsconfig.spec.json"),
        ("infra/main.tf", "infra/main_test.tf"),
        ("schema.sql", "test_schema.sql"),
        ("db/seed.sql", "db/seed.test.sql"),
        ("data/users.csv", "data/users_test.csv"),
        ("openapi.yaml", "openapi.spec.yaml"),
        ("api/cart.proto", "api/cart_test.proto"),
        ("page.html", "page.test.html"),
        ("run.unknown", "run_test.unknown"),
        ("webpack.config.js", "webpack.config.test.js"),
        (".eslintrc.js", ".eslintrc.test.js"),
    ] {
        let rules = rules(&[listed], &[]);
        let all = || [made(listed, EDIT), made(path, "+evil==1")];
        let [_, test] = all();
        for test in [test, made(path, "+a").new_file(), made(path, "-a").modes(Mode::File, Mode::Absent)] {
            let [listed, _] = all();
            let found = class_of(&rules, &[listed, test], path);
            assert!(found > Class::Incidental, "{path}: {found:?}");
        }
    }
}

#[test]
fn a_test_says_of_which_kind_it_is() {
    let listed = ["cart.ts", "Cart.cs", "cart.go", "cart.cpp", "cart.ps1", "cart.R", "src/Cart.java", "run.sh"];
    let rules = rules(&listed, &[]);
    for path in [
        "cart.integration.test.ts",
        "cart.unit.test.ts",
        "cart.cy.ts",
        "cart.e2e-spec.ts",
        "cart.test-d.ts",
        "Cart.Tests.cs",
        "cart_internal_test.go",
        "cart_unittest.cc",
        "cart.Tests.ps1",
        "test-cart.R",
        "src/CartIntegrationTest.java",
        "test_run.sh",
    ] {
        assert_eq!(class_of(&rules, &[made(path, EDIT)], path), Class::Test, "{path}");
    }
    for path in
        ["cart.integration.ts", "cart_internal.go", "cart.unit.ts", "cart.e2e-spec.json", "other_internal_test.go"]
    {
        assert!(class_of(&rules, &[made(path, EDIT)], path) > Class::Incidental, "{path}");
    }
}

#[test]
fn what_a_framework_finds_by_its_place_gathers_nothing() {
    use crate::scope::beside::gathers;
    for path in ["src/cart/index.ts", "src/__init__.py", "index.js"] {
        assert!(gathers(path), "{path}");
    }
    for path in ["src/pages/index.ts", "app/routes/admin/index.ts", "tests/__init__.py", "shop/migrations/__init__.py"]
    {
        assert!(!gathers(path), "{path}");
    }
}

const ADDS_TOTAL: &str = "+export function total() {\n+}";

/// That a file is there may do something, whatever it holds: a route, a migration, a hook of a test runner.
#[test]
fn a_new_file_of_imports_is_for_a_person_unless_it_gathers_what_lies_beside_it() {
    let py = "+def total():\n+    pass";
    for (cart, path, line) in [
        (ADDS_TOTAL, "app/api/cart/route.ts", "+export { total } from '../../../src/cart';"),
        (ADDS_TOTAL, "middleware.ts", "+export { total } from './src/cart';"),
        (ADDS_TOTAL, "src/page.ts", "+import { total } from './cart';"),
        (ADDS_TOTAL, "pages/index.ts", "+export { total } from '../src/cart';"),
        (ADDS_TOTAL, "src/index.ts", "+import { total } from './cart';"),
        (py, "shop/migrations/0002_drop.py", "+from src.cart import total"),
        (py, "tests/conftest.py", "+from src.cart import total"),
        (py, "tests/__init__.py", "+from src.cart import total"),
        (py, "sitecustomize.py", "+from src.cart import total"),
    ] {
        check(cart, made(path, line).new_file(), "++?", Class::Judge);
    }
    let moved = made("app/route.ts", "-import { a } from '../lib/cart';\n+import { total } from '../src/cart';");
    let (class, criteria) = super::criteria::measured(ADDS_TOTAL, moved.from("lib/page.ts"));
    assert_eq!(class, Class::Judge, "{criteria:#?}");
    for (cart, path, line) in [
        (ADDS_TOTAL, "src/index.ts", "+export { total } from './cart';"),
        (ADDS_TOTAL, "index.ts", "+export { total } from './src/cart';"),
        (py, "src/__init__.py", "+from .cart import total"),
        (py, "src/__init__.py", "+from src.cart import total"),
        ("+pub fn total() {}", "src/mod.rs", "+pub use self::cart::total;"),
    ] {
        check(cart, made(path, line).new_file(), "+++", Class::Incidental);
    }
}

/// What belongs to a test alone stands in a file of its own in Rust.
#[test]
fn a_module_of_tests_is_declared_as_any_other() {
    let rules = rules(&["src/cart/tests.rs"], &[]);
    for (line, declares) in [
        (" fn total() {\n }\n+\n+#[cfg(test)]\n+mod tests;", true),
        (" fn total() {\n }\n \n+mod tests;", true),
        (" use crate::a;\n+#[cfg(test)]\n+mod tests;\n fn total() {\n }", true),
        (" fn total() {\n }\n+#[cfg(unix)]\n+mod tests;", false),
        (" mod x {\n fn total() {\n }\n+    mod tests;\n }", false),
        (" #[inline]\n+mod tests;\n fn total() {\n }", false),
        // It takes away what stays.
        (" fn total() {\n }\n+#[cfg(test)]\n fn sum() {\n }", false),
    ] {
        let all = [made("src/cart/tests.rs", "+#[test]\n+fn total_is_zero() {}").new_file(), made("src/cart.rs", line)];
        let found = class_of(&rules, &all, "src/cart.rs");
        assert_eq!(found == Class::Incidental, declares, "{line}: {found:?}");
    }
}
