//! Lock files, fixtures and text: what a tool or a person writes.

use super::criteria::check;
use super::*;

const ADDS_TOTAL: &str = "+export function total() {\n+}";

#[test]
fn only_what_lies_among_tests_is_a_fixture() {
    let adds = || "+\"total\": 2";
    for path in [
        "tests/fixtures/cart.json",
        "e2e/golden/cart.json",
        "cypress/fixtures/cart.json",
        "src/testdata/cart.json",
        "src/__fixtures__/cart.json",
        "src/snapshots/cart__x.snap",
        "tests/golden/out.txt",
    ] {
        check(ADDS_TOTAL, made(path, adds()), "+++", Class::Incidental);
    }
    for path in ["shop/fixtures/initial_data.json", "fixtures/deploy.yaml", "infra/snapshots/disk.json", "golden/x"] {
        check(ADDS_TOTAL, made(path, adds()), "+??", Class::Judge);
    }
}

#[test]
fn a_fixture_shows_the_names_of_the_change_in_scope_in_each_line_that_changes() {
    let fixture = |diff| made("tests/fixtures/cart.json", diff);
    for diff in [
        " {\n-  \"a\": 1\n+  \"a\": 1,\n+  \"total\": 2\n }",
        " {\n+  \"total\": [\n+  ],\n   \"a\": 1\n }",
        "-\"total\": 2,",
    ] {
        check(ADDS_TOTAL, fixture(diff), "+++", Class::Incidental);
    }
    for diff in [
        "-{\"admin\":\"a\"}\n+{\"admin\":\"b\",\"total\":2}",
        "+\"total\": 2,\n kept\n-\"admin\": \"a\"\n+\"admin\": \"b\"",
        "+\"total\": 2,\n+\"privileged\": true",
        "+\"total\": 2,\n-\"checked\": true",
        // Where a line stands may mean something.
        "-a: 1\n+  a: 1\n+total: 2",
    ] {
        check(ADDS_TOTAL, fixture(diff), "++?", Class::Judge);
    }
    let other = made("src/__snapshots__/other.test.ts.snap", "-exports[`a 1`] = `1`;\n+exports[`a 1`] = `total`;");
    check(ADDS_TOTAL, other, "++?", Class::Judge);
    let many = format!("+\"total\": 2,\n{}", "+\"key\": 1,\n".repeat(60)).leak();
    check(ADDS_TOTAL, fixture(many), "-+?", Class::OutOfScope);
    check(ADDS_TOTAL, fixture("+\"total\": 2").modes(Mode::File, Mode::Program), "++?", Class::Judge);
}

/// A list that a tool reads is asked as other configuration is.
#[test]
fn a_txt_is_text_for_people_only_by_its_name() {
    for path in ["README.txt", "license-MIT.txt", "CHANGES.txt", "docs/help.txt", "web/doc/robots.txt"] {
        check(ADDS_TOTAL, made(path, "+the total"), "+-+", Class::OutOfScope);
    }
    for path in ["CMakeLists.txt", "docs/requirements.txt", "docs/requirements-dev.txt", "public/robots.txt", "a.txt"] {
        check(ADDS_TOTAL, made(path, "+  src/total.cpp"), "+??", Class::Judge);
        check(ADDS_TOTAL, made(path, "+# total"), "+-+", Class::OutOfScope);
        check(ADDS_TOTAL, made(path, "+--index-url http://evil"), "+-?", Class::OutOfScope);
    }
    let rules = rules(&["src/total.cpp"], &[]);
    let new = made("src/total.cpp", "+int sum() {").new_file();
    let lists = made("CMakeLists.txt", " add_executable(a\n+  src/total.cpp\n )");
    assert_eq!(class_of(&rules, &[new, lists], "CMakeLists.txt"), Class::Judge);
    check("+import httpx\n+x = httpx.get()", made("requirements.txt", " a==1\n+httpx==2"), "+??", Class::Judge);
}

#[test]
fn a_lock_file_follows_its_own_manifest() {
    let class = |manifest: &'static str, lock: &'static str| {
        let rules = rules(&["src/cart.ts", manifest], &[]);
        let lock_made = made(lock, " kept = 1\n+version = \"2\"");
        class_of(&rules, &[made(manifest, EDIT), made("src/cart.ts", EDIT), lock_made], lock)
    };
    for (manifest, lock) in [
        ("package.json", "package-lock.json"),
        ("packages/a/package.json", "package-lock.json"),
        ("a/package.json", "a/package-lock.json"),
        ("crates/x/Cargo.toml", "Cargo.lock"),
        ("pyproject.toml", "pdm.lock"),
        ("Shop.csproj", "packages.lock.json"),
        ("a/Shop.fsproj", "a/packages.lock.json"),
        ("main.tf", ".terraform.lock.hcl"),
        ("build.gradle", "gradle.lockfile"),
        ("build.gradle.kts", "gradle.lockfile"),
        ("Package.swift", "Package.resolved"),
        ("go.work", "go.work.sum"),
        ("MODULE.bazel", "MODULE.bazel.lock"),
    ] {
        assert_eq!(class(manifest, lock), Class::Incidental, "{manifest} {lock}");
    }
    for (manifest, lock) in [
        ("package.json", "b/package-lock.json"),
        ("a/package.json", "b/package-lock.json"),
        ("a/package.json", "ab/package-lock.json"),
        ("my.package.json", "package-lock.json"),
        ("Shop.csproj.user", "packages.lock.json"),
        ("main.tf.json", ".terraform.lock.hcl"),
        ("pyproject.toml", "Cargo.lock"),
    ] {
        assert_eq!(class(manifest, lock), Class::OutOfScope, "{manifest} {lock}");
    }
}
