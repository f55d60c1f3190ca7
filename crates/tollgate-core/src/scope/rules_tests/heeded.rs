//! Comments that a tool reads together, and files of tests that are no fixtures.

use super::criteria::{check, measured};
use super::*;
use crate::scope::incidental::Met;

#[test]
fn what_an_example_of_go_prints_is_compared() {
    let cart = " package cart\n-func Total() int {\n+func Grand() int {\n \treturn 1\n }";
    let head = " package app\n import \"example.com/cart\"\n";
    let call = "-\tfmt.Println(cart.Total())\n+\tfmt.Println(cart.Grand())\n";
    for (path, diff, class) in [
        ("app/example_test.go", "-\t// Output: 1\n+\t// Output: 2\n }", Class::Judge),
        ("app/example_test.go", " \t// Output:\n-\t// 1\n+\t// 2\n }", Class::Judge),
        ("app/example_test.go", "-\t// Unordered output: 1\n }", Class::Judge),
        ("app/example_test.go", "-\t// Output:\n+\t// Prints:\n \t// 1\n }", Class::Judge),
        ("app/example_test.go", "-\t/* Output: 1 */\n }", Class::Judge),
        ("app/example_test.go", "-\t// Output: 1\n+\t// Output : 1\n }", Class::Judge),
        ("app/example_test.go", "-\t//go:noinline\n+\t// go:noinline\n }", Class::Judge),
        ("app/example.go", "-\t// go:noinline\n+\t//go:noinline\n }", Class::Judge),
        ("app/example.go", "-\t//go:noinline\n+\t\t//go:noinline\n }", Class::Incidental),
        ("app/example_test.go", " }\n", Class::Incidental),
        ("app/example.go", "-\t// It prints 1.\n+\t// It prints 2.\n }", Class::Incidental),
    ] {
        let diff = format!("{head} func ExampleTotal() {{\n{call}{diff}").leak();
        let (found, criteria) = measured(cart, made(path, diff));
        assert_eq!(found, class, "{diff}\n{criteria:#?}");
    }
    // Git says what the lines are in.
    let within = format!("{head}@@ func ExampleTotal() {{\n{call} \t// 1\n-\t// 2\n+\t// 3\n \t// 4\n").leak();
    assert_eq!(measured(cart, made("app/example_test.go", within)).0, Class::Judge);
    let other = format!("{head} func TestTotal(t *testing.T) {{\n{call}-\t// one\n+\t// two\n }}").leak();
    assert_eq!(measured(cart, made("app/total_test.go", other)).0, Class::Incidental);
}

#[test]
fn the_comment_above_the_import_of_c_is_code() {
    let cart = " package cart\n-func Total() int {\n+func Grand() int {\n \treturn 1\n }";
    let call = " \n-var X = Total()\n+var X = Grand()";
    let many = format!(" /*\n-int f();\n+int g();\n{} */\n", " int h();\n".repeat(12));
    for (diff, class) in [
        (" // int h();\n-// int f() { return 1; }\n+// int f() { return 2; }\n import \"C\"\n", Class::Judge),
        (" /*\n-int f() { call(1); }\n+int f() { call(2); }\n */\n import \"C\"\n", Class::Judge),
        (" /*\n+int f();\n */\n import \"C\"\n", Class::Judge),
        (" // int f();\n+\n import \"C\"\n", Class::Judge),
        (" // int f();\n-\n import \"C\"\n", Class::Judge),
        (" /*\n #include <a.h>\n */\n+\n import \"C\"\n", Class::Judge),
        (" import (\n \t\"fmt\"\n )\n // int f();\n+\n // int g();\n import \"C\"\n", Class::Judge),
        (" // int f();\n+// int g();\n import (\n \t\"C\"\n )\n", Class::Judge),
        (" import (\n \t\"fmt\"\n \t// int f();\n+\t// int g();\n \t\"C\"\n )\n", Class::Judge),
        (" // int f();\n import \"C\"\n \n+// the total\n", Class::Incidental),
        ("+\n // int f();\n import \"C\"\n", Class::Incidental),
        ("-// the cart\n+// a cart\n import \"fmt\"\n", Class::Incidental),
    ] {
        let diff = format!(" package cart\n \n{diff}{call}").leak();
        let (found, criteria) = measured(cart, made("cart/use.go", diff));
        assert_eq!(found, class, "{diff}\n{criteria:#?}");
    }
    let cut = format!("{call}\n@@ x\n{many}").leak();
    assert_eq!(measured(cart, made("cart/use.go", cut.trim_end_matches(" */\n"))).0, Class::Judge);
}

#[test]
fn an_example_in_the_documentation_of_rust_is_a_test() {
    let code = " /// Words.\n ///\n /// ```\n-/// assert_eq!(f(), 1);\n+/// assert_eq!(f(), 2);\n /// ```\n";
    let cut = " /// let a = 1;\n-/// assert_eq!(f(), 1);\n+/// assert_eq!(f(), 2);\n /// ```\n";
    for (diff, class) in [
        (code.to_owned(), Class::Judge),
        (code.replace("```\n-", "```should_panic\n-"), Class::Judge),
        (code.replace("///", "    ///"), Class::Judge),
        (format!("@@ x\n{cut}"), Class::Judge),
        (" /** ```\n-assert!(a);\n+assert!(b);\n ``` */\n".to_owned(), Class::Judge),
        (" /**\n  * ```\n- * assert!(a);\n+ * assert!(b);\n  * ```\n  */\n".to_owned(), Class::Judge),
        (" /// Words.\n-///\n-/// ```\n-/// assert_eq!(f(), 1);\n-/// ```\n".to_owned(), Class::Judge),
        ("+/// ```\n+/// assert_eq!(f(), 2);\n+/// ```\n".to_owned(), Class::Judge),
        (" /// Words.\n ///\n-///     assert!(a);\n+/// assert!(a);\n".to_owned(), Class::Judge),
        (" /// Words.\n ///\n-///     assert!(a);\n+///     assert!(b);\n".to_owned(), Class::Judge),
        (" /// Words.\n+///\n ///     assert!(a);\n".to_owned(), Class::Judge),
        // What is shown and not run, and words for people.
        (code.replace("```\n-", "```text\n-"), Class::Incidental),
        (code.replace("```\n-", "```json\n-"), Class::Incidental),
        (code.replace("///", "//"), Class::Incidental),
        (" fn g() {}\n-/// A word.\n+/// Words.\n ///\n /// ```\n /// f();\n /// ```\n".to_owned(), Class::Incidental),
        (" /// ```\n /// f();\n /// ```\n-/// A word.\n+/// Words.\n".to_owned(), Class::Incidental),
    ] {
        let diff =
            format!(" mod cart;\n-pub use cart::a;\n+pub use cart::{{a, tax}};\n{diff} pub fn f() -> u8 {{ 1 }}")
                .leak();
        let (found, criteria) = measured("+pub fn tax() {}", made("src/lib.rs", diff));
        assert_eq!(found, class, "{diff}\n{criteria:#?}");
    }
}

#[test]
fn what_a_script_of_python_depends_on_stands_in_comments() {
    let head = " import os\n+from src.cart import total\n";
    for (diff, met) in [
        (
            " # /// script\n-# dependencies = [\"requests\"]\n+# dependencies = [\"requests\", \"evil\"]\n # ///\n",
            Met::Unknown,
        ),
        ("+# /// script\n+# dependencies = [\"evil\"]\n+# ///\n", Met::Unknown),
        (" # /// script\n # dependencies = [\n+#   \"rich\",\n # ]\n # ///\n", Met::Unknown),
        // The marks are too far away to be seen.
        ("@@ x\n # a\n+#   rich\n # b\n", Met::Unknown),
        (" # a\n+# the total\n # b\n", Met::Yes),
    ] {
        let diff = match diff.starts_with("@@") {
            true => format!("{head}{diff}").leak(),
            false => format!("{diff} \n{head}").leak(),
        };
        let (_, criteria) = measured("+def total():\n+    pass", made("run.py", diff));
        assert_eq!(criteria.unaltered.met, met, "{diff}\n{criteria:#?}");
    }
}

#[test]
fn a_script_of_a_test_is_no_fixture() {
    for path in [
        "pkg/testdata/script/total.txtar",
        "pkg/testdata/script/total.txt",
        "pkg/testdata/scripts/a/total.txt",
        "testdata/total.txtar",
        "tests/fixtures/cart.feature",
        "testdata/fuzz/FuzzTotal/771e938e",
    ] {
        check("+export function total() {\n+}", made(path, " exec cart\n+! exec cart total"), "+??", Class::Judge);
    }
    for path in ["testdata/out.txt", "testdata/cart.golden", "src/__snapshots__/cart.ambr", "testdata/script.json"] {
        check("+export function total() {\n+}", made(path, "+total"), "+++", Class::Incidental);
    }
}
