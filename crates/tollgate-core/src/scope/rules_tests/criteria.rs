//! The three criteria: a change in scope, one outside of it, and what is measured.

use super::*;
use crate::scope::incidental::{Criteria, Met};

/// The change of `src/cart.ts` in scope, that of another file, and what comes of the other.
pub fn measured(cart: &'static str, other: Made) -> (Class, Criteria) {
    let rules = rules(&["src/cart.{ts,rs,py,kt}", "cart/cart.go", "Cargo.toml"], &[]);
    let path = other.path;
    // Its own kind of file imports it.
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let listed = match extension {
        "rs" => "src/cart.rs",
        "py" => "src/cart.py",
        "kt" => "src/cart.kt",
        "go" => "cart/cart.go",
        _ => "src/cart.ts",
    };
    let made = [made(listed, cart), other];
    let changes = changes(&made);
    let sorted = rules.sort(&changes);
    let found = sorted.into_iter().find(|one| &*one.change.path == path).unwrap();
    (found.class, found.criteria.unwrap())
}

fn short(criteria: &Criteria) -> String {
    let sign = |met| match met {
        Met::Yes => '+',
        Met::No => '-',
        Met::Unknown => '?',
    };
    criteria.all().into_iter().map(|(_, criterion)| sign(criterion.met)).collect()
}

/// `+`, `-`, `?` for minimal, required, unaltered.
pub fn check(cart: &'static str, other: Made, expected: &str, class: Class) {
    let path = other.path;
    let (found, criteria) = measured(cart, other);
    assert_eq!((short(&criteria).as_str(), found), (expected, class), "{path}: {criteria:#?}");
}

const ADDS_TOTAL: &str =
    "+export function total(items: Item[]): number {\n+  return items.reduce((sum, item) => sum + item.price, 0);\n+}";
const RENAMES: &str = "-export function total(items: Item[]) {\n+export function grandTotal(items: Item[]) {";

#[test]
fn an_import_or_re_export_of_a_new_name_is_incidental() {
    check(
        ADDS_TOTAL,
        made("src/index.ts", "-export { cart } from './cart';\n+export { cart, total } from './cart';"),
        "+++",
        Class::Incidental,
    );
    check(ADDS_TOTAL, made("src/page.ts", "+import { total } from './cart';"), "+++", Class::Incidental);
    check(
        ADDS_TOTAL,
        made("src/page.ts", " import {\n   cart,\n+  total,\n } from './cart';"),
        "+++",
        Class::Incidental,
    );
    check("+pub fn total() {}", made("src/lib.rs", "+pub use cart::total;"), "+++", Class::Incidental);
    check("+def total(): pass", made("src/app.py", "+from cart import total"), "+++", Class::Incidental);
}

#[test]
fn an_import_of_something_else_is_not_required() {
    check(ADDS_TOTAL, made("src/page.ts", "+import { debounce } from './timing';"), "+-+", Class::OutOfScope);
    check(ADDS_TOTAL, made("src/page.ts", "+import './polyfill';"), "+-?", Class::OutOfScope);
    check(
        ADDS_TOTAL,
        made("src/page.ts", "+import { total } from './cart';\n+import { debounce } from './timing';"),
        "+?+",
        Class::Judge,
    );
}

const ADDS_SUM: &str = "+export function sum(a, b) {\n+  return a + b;\n+}";

#[test]
fn an_import_must_lead_to_a_file_in_scope() {
    for (path, line) in [
        ("src/page.ts", "+import { sum } from './cart';"),
        ("src/page.ts", "+import { sum } from './cart.js';"),
        ("src/deep/page.tsx", "+import { sum } from '../cart';"),
        ("src/page.ts", "+import sum from './cart';"),
        ("web/page.ts", "+import type { sum } from 'src/cart';"),
        ("src/page.js", "+const { sum } = require('./cart');"),
        ("src/page.js", "+const sum = require('./cart');"),
        ("src/page.ts", "+export { sum } from './cart';"),
        ("src/page.py", "+from cart import sum"),
        ("src/page.py", "+from .cart import sum"),
        ("src/page.py", " from .cart import (\n+    sum,\n )"),
        ("tests/page.py", "+from src.cart import sum"),
        ("src/page.rs", "+use crate::cart::sum;"),
        ("src/page.rs", "+use super::cart::{sum};"),
        ("src/lib.rs", "+pub use self::cart::sum;"),
    ] {
        check(ADDS_SUM, made(path, line), "+++", Class::Incidental);
    }
    for (path, line) in [
        ("src/page.ts", "+import { sum } from 'evil-pkg';"),
        ("src/page.ts", "+import { sum } from './evil';"),
        ("src/page.ts", "+import { sum } from '../cart';"),
        ("src/page.ts", "+import { sum } from '../../../src/cart';"),
        ("lib/page.ts", "+import { sum } from './cart';"),
        ("src/page.ts", "+import { sum, other } from './cart';"),
        ("src/page.py", "+from evil.cart import sum"),
        ("src/page.rs", "+use evil::cart::sum;"),
        // Nothing says that it has to go.
        ("src/page.ts", "-import { sum } from './cart';"),
    ] {
        check(ADDS_SUM, made(path, line), "+?+", Class::Judge);
    }
    for (path, line) in [
        ("src/page.ts", "+export { sum };"),
        ("src/page.go", "+import _ \"sum\""),
        ("src/page.c", "+#include \"sum.h\""),
        ("src/page.py", "+from sum import *"),
    ] {
        check(ADDS_SUM, made(path, line), "+??", Class::Judge);
    }
    check(ADDS_SUM, made("src/page.ts", "+import sum, * as y from 'http://evil/sum.js';"), "+-?", Class::OutOfScope);
}

#[test]
fn an_import_that_gives_a_name_another_meaning_is_for_a_person() {
    for (path, line) in [
        ("src/page.ts", "-import { total } from './cart';\n+import { sum as total } from './cart';"),
        ("src/page.ts", "-import { total } from './cart';\n+import total from './cart';"),
        ("src/page.ts", " import {\n-  total,\n+  sum as total,\n } from './cart';"),
        ("src/page.ts", "-import { sum } from './math';\n+import { sum } from './cart';"),
        ("src/page.ts", "+import { sum as add } from './cart';"),
        ("src/page.ts", "+import * as sum from './cart';"),
        ("src/index.ts", "+export * from './cart';"),
        ("src/index.ts", "-export { total } from './cart';\n+export { sum as total } from './cart';"),
        ("src/page.js", "+const { sum: open } = require('./cart');"),
        ("src/page.py", "+from cart import sum as open\n kept\n print(open('x'))"),
        ("src/page.py", "+from cart import sum\n print(sum([1]))"),
        ("src/page.py", "+import cart as sum"),
        ("src/page.rs", "+use crate::cart::*;"),
        ("src/page.rs", "+use crate::cart::sum as add;"),
        ("src/page.kt", "+import cart.sum as add"),
    ] {
        let (class, criteria) = measured(ADDS_SUM, made(path, line));
        assert!(class > Class::Incidental && criteria.unaltered.met == Met::Unknown, "{line}: {criteria:#?}");
    }
    // A member of that name is another thing.
    check(
        ADDS_SUM,
        made("src/page.ts", "+import { sum } from './cart';\n show(cart.sum, 'sum');"),
        "+++",
        Class::Incidental,
    );
    // The old name for what is called otherwise in scope now keeps everything as it was.
    let alias = "-import { total } from './cart';\n+import { grandTotal as total } from './cart';\n show(total(a));";
    check(RENAMES, made("src/page.ts", alias), "+++", Class::Incidental);
    let follows = "-import { total } from './cart';\n+import { grandTotal } from './cart';";
    check(RENAMES, made("src/page.ts", follows), "+++", Class::Incidental);
}

#[test]
fn the_import_of_a_new_file_is_incidental_where_it_leads_there() {
    let rules = rules(&["shop/cart/sum.go", "app/src/main/kotlin/shop/Sum.kt", "src/sum.rs", "src/sum.py"], &[]);
    for (listed, path, line, class) in [
        ("shop/cart/sum.go", "shop/page.go", "+import \"example.com/me/shop/cart\"", Class::Incidental),
        (
            "shop/cart/sum.go",
            "shop/page.go",
            " import (\n \t\"fmt\"\n+\t\"example.com/me/shop/cart\"\n )",
            Class::Incidental,
        ),
        ("shop/cart/sum.go", "shop/page.go", "+import \"example.com/cart\"", Class::OutOfScope),
        ("shop/cart/sum.go", "shop/page.go", "+import _ \"example.com/me/shop/cart\"", Class::Judge),
        ("shop/cart/sum.go", "shop/page.go", "+import c \"example.com/me/shop/cart\"", Class::Judge),
        ("app/src/main/kotlin/shop/Sum.kt", "app/src/main/kotlin/Page.kt", "+import shop.Sum", Class::Incidental),
        ("app/src/main/kotlin/shop/Sum.kt", "app/src/main/kotlin/Page.kt", "+import evil.Sum", Class::Judge),
        ("src/sum.rs", "src/lib.rs", "+pub mod sum;", Class::Incidental),
        ("src/sum.rs", "lib/lib.rs", "+pub mod sum;", Class::Judge),
        ("src/sum.py", "src/page.py", "+from . import sum", Class::Incidental),
        ("src/sum.py", "src/page.py", "+import sum", Class::Incidental),
    ] {
        let all = [made(listed, "+x = 1").new_file(), made(path, line)];
        assert_eq!(class_of(&rules, &all, path), class, "{path}: {line}");
    }
}

/// A page that has from the cart what these lines rename.
fn imports(old: &str, new: &str, diff: &str) -> Made {
    let import = |name| format!("import {{ {name} }} from './cart';\n import * as cart from './cart';");
    let lines = format!("-import {{ {old} }} from './cart';\n+{}\n kept\n{diff}", import(new));
    made("src/page.ts", lines.leak())
}

#[test]
fn what_follows_a_rename_is_incidental_however_often() {
    let uses = "-  const sum = total(cart.items);\n+  const sum = grandTotal(cart.items);\n kept\n-  show(total(rest));\n+  show(grandTotal(rest));";
    check(RENAMES, imports("total", "grandTotal", uses), "+++", Class::Incidental);
    let many = "-  show(total(a));\n+  show(grandTotal(a));\n kept\n".repeat(100);
    check(RENAMES, imports("total", "grandTotal", &many), "+++", Class::Incidental);
    // Inside a string a word may be data.
    check(RENAMES, made("src/page.ts", "-  send(\"total\");\n+  send(\"grandTotal\");"), "++?", Class::Judge);
    // Another word in its place is no rename.
    check(RENAMES, made("src/page.ts", "-  show(total(a));\n+  show(subtotal(a));"), "+??", Class::Judge);
}

#[test]
fn a_renamed_word_that_may_be_a_value_is_for_a_person() {
    const DENY: &str = "-export const deny = 1;\n+export const allow = 1;";
    for (path, diff) in [
        ("conf/policy.yaml", "-default: deny\n+default: allow"),
        ("Dockerfile", "-FROM deny\n+FROM allow"),
        ("run.sh", "-iptables -P INPUT deny\n+iptables -P INPUT allow"),
        ("db.sql", "-GRANT deny ON x\n+GRANT allow ON x"),
        ("src/page.tsx", "-  <b>deny</b>\n+  <b>allow</b>"),
        ("src/page.ts", "-  use(policy.deny);\n+  use(policy.allow);"),
    ] {
        let (class, criteria) = measured(DENY, made(path, diff));
        assert_eq!((class, criteria.unaltered.met), (Class::Judge, Met::Unknown), "{path}: {criteria:#?}");
    }
    check(DENY, imports("deny", "allow", "-  use(deny);\n+  use(allow);"), "+++", Class::Incidental);
    // A function is the same one behind the module that it comes from.
    check(
        RENAMES,
        imports("total", "grandTotal", "-  show(cart.total(a));\n+  show(cart.grandTotal(a));"),
        "+++",
        Class::Incidental,
    );
}

#[test]
fn the_list_that_names_a_path_more_closely_counts() {
    for (listed, excluded, path, class) in [
        ("src/", "src/migrations/**", "src/migrations/1.sql", Class::OutOfScope),
        ("src/api/**", "src/", "src/api/a.ts", Class::Primary),
        ("src/**/*.ts", "src/", "src/api/a.ts", Class::OutOfScope),
        ("src/**", "src/legacy/", "src/legacy/a.ts", Class::OutOfScope),
        ("**/*.ts", "src/legacy/", "src/a.ts", Class::Primary),
        ("src/legacy/a.ts", "src/legacy/**", "src/legacy/a.ts", Class::Primary),
    ] {
        let rules = rules(&[listed], &[excluded]);
        let made = [made(path.to_owned().leak(), "+x")];
        let changes = changes(&made);
        assert_eq!(rules.sort(&changes)[0].class, class, "{path}: {listed} without {excluded}");
    }
}

#[test]
fn new_functions_control_flow_values_and_tests_are_never_incidental() {
    check(
        ADDS_TOTAL,
        made("src/page.ts", "+function show(cart) {\n+  print(total(cart));\n+}"),
        "-??",
        Class::OutOfScope,
    );
    check(ADDS_TOTAL, made("src/page.ts", "+const show = (cart) => print(total(cart));"), "-??", Class::OutOfScope);
    check(ADDS_TOTAL, made("src/page.ts", "+  if (total(cart) > 0) show(cart);"), "+?-", Class::OutOfScope);
    check(ADDS_TOTAL, made("src/page.ts", "-const LIMIT = 5;\n+const LIMIT = 10;"), "+--", Class::OutOfScope);
    check(ADDS_TOTAL, made("src/page.ts", "-show(total, false);\n+show(total, true);"), "+--", Class::OutOfScope);
    check(
        ADDS_TOTAL,
        made("tests/page.test.ts", "+it('shows the total', () => {\n+  show(total);\n+});"),
        "-??",
        Class::OutOfScope,
    );
    check("+fn total() {}", made("src/a.rs", "+#[test]\n+fn total_works() {\n+}"), "--?", Class::OutOfScope);
}

#[test]
fn a_call_with_another_argument_is_for_a_person() {
    let redefined = "-export function total(items) {\n+export function total(items, tax) {";
    let (class, criteria) =
        measured(redefined, made("src/page.ts", "-show(total(items));\n+show(total(items, rate(7)));"));
    assert_eq!((class, short(&criteria).as_str()), (Class::Judge, "+??"));
    assert_eq!(criteria.required.measured, "it names `total`, which the change in src/cart.ts touches");
    assert_eq!(
        criteria.to_judge(),
        ["Would the change in scope work without it?", "Does the file still do what it did before?"]
    );
}

#[test]
fn layout_and_comments_are_not_required() {
    check(ADDS_TOTAL, made("src/page.ts", "-  show( total );\n+    show(total);"), "+-+", Class::OutOfScope);
    check(ADDS_TOTAL, made("src/page.ts", "-show(a,\n-  b);\n+show(a, b);"), "+-+", Class::OutOfScope);
    check(ADDS_TOTAL, made("src/page.ts", "+// the total"), "+-+", Class::OutOfScope);
    check(ADDS_TOTAL, made("src/page.ts", "-show(total);\r\n+show(total);"), "+-+", Class::OutOfScope);
    // Where white space means something, it is no layout.
    check(ADDS_TOTAL, made("src/page.py", "-  show(total)\n+    show(total)"), "+??", Class::Judge);
    // A comment may steer a tool.
    check(ADDS_TOTAL, made("src/page.ts", "+// eslint-disable-next-line total"), "+-?", Class::OutOfScope);
}

#[test]
fn size_alone_settles_only_the_extremes() {
    let lines = |count: usize| -> &'static str { "+  show(total);\n".repeat(count).leak() };
    check(ADDS_TOTAL, made("src/page.ts", lines(10)), "+??", Class::Judge);
    check(ADDS_TOTAL, made("src/page.ts", lines(11)), "???", Class::Judge);
    check(ADDS_TOTAL, made("src/page.ts", lines(50)), "-??", Class::OutOfScope);
}

#[test]
fn a_lock_file_follows_its_manifest() {
    let lock = || made("Cargo.lock", "+name = \"serde\"\n+version = \"1.0\"");
    let rules = rules(&["Cargo.toml", "src/"], &[]);
    assert_eq!(class_of(&rules, &[made("Cargo.toml", "+serde = \"1\""), lock()], "Cargo.lock"), Class::Incidental);
    assert_eq!(class_of(&rules, &[made("src/a.rs", EDIT), lock()], "Cargo.lock"), Class::OutOfScope);
}

#[test]
fn snapshots_follow_the_test_or_the_names_of_the_change() {
    let rules = rules(&["src/cart.js", "src/cart.test.js"], &[]);
    let cart = || made("src/cart.js", "+function total() {\n+}");
    let class = |snapshot: Made, with: Vec<Made>| {
        let path = snapshot.path;
        let all: Vec<Made> = with.into_iter().chain([snapshot]).collect();
        class_of(&rules, &all, path)
    };
    let own = || made("src/__snapshots__/cart.test.js.snap", "-1\n+2");
    assert_eq!(class(own(), vec![cart(), made("src/cart.test.js", EDIT)]), Class::Incidental);
    assert_eq!(class(own().new_file(), vec![made("src/cart.test.js", EDIT)]), Class::Incidental);
    assert_eq!(class(own(), vec![cart()]), Class::Judge);
    assert_eq!(class(made("test/fixtures/page.json", "+\"total\": 5"), vec![cart()]), Class::Incidental);
    assert_eq!(class(made("test/fixtures/page.json", "+\"total\": 5").new_file(), vec![cart()]), Class::OutOfScope);
}

#[test]
fn the_snapshot_of_an_unlisted_test_beside_a_listed_file_follows_it() {
    let rules = rules(&["src/cart.ts"], &[]);
    let test = || made("src/cart.test.ts", EDIT);
    for (snapshot, class) in [
        ("src/__snapshots__/cart.test.ts.snap", Class::Incidental),
        ("src/cart.test.ts.snap", Class::Incidental),
        ("src/__snapshots__/page.test.ts.snap", Class::Judge),
        // That of another folder's test.
        ("lib/__snapshots__/cart.test.ts.snap", Class::Judge),
    ] {
        assert_eq!(class_of(&rules, &[test(), made(snapshot, "-1\n+2")], snapshot), class, "{snapshot}");
    }
}

#[test]
fn text_for_people_is_not_required_unless_the_change_names_it() {
    check(ADDS_TOTAL, made("README.md", "+The total is shown."), "+-+", Class::OutOfScope);
    check("+const page = include('help.md');", made("docs/help.md", "+The total is shown."), "+?+", Class::Judge);
}

#[test]
fn whole_files_come_and_go_out_of_scope() {
    check(ADDS_TOTAL, made("src/new.ts", "+total();").new_file(), "-??", Class::OutOfScope);
    check(ADDS_TOTAL, made("src/old.ts", "-total();").modes(Mode::File, Mode::Absent), "-??", Class::OutOfScope);
    // A file of imports alone is as minimal as they are.
    check(ADDS_TOTAL, made("src/index.ts", "+export { total } from './cart';").new_file(), "+++", Class::Incidental);
    check(ADDS_TOTAL, made("src/__init__.py", "").new_file(), "???", Class::Judge);
}

#[test]
fn what_is_no_text_is_for_a_person() {
    check(ADDS_TOTAL, made("logo.png", "").unread(), "???", Class::Judge);
    check(ADDS_TOTAL, made("logo.png", "").unread().new_file(), "-??", Class::OutOfScope);
    check(ADDS_TOTAL, made("vendor/lib", "-1\n+2").modes(Mode::Submodule, Mode::Submodule), "???", Class::Judge);
    check(ADDS_TOTAL, made("vendor/lib", "+2").modes(Mode::Absent, Mode::Submodule), "-??", Class::OutOfScope);
    check(ADDS_TOTAL, made("bin/run", "").modes(Mode::File, Mode::Program), "+??", Class::Judge);
    check(ADDS_TOTAL, made("now", "-a\n+b").modes(Mode::Link, Mode::Link), "+-?", Class::OutOfScope);
    check(ADDS_TOTAL, made("now", "-a\n+b").modes(Mode::File, Mode::Link), "-??", Class::OutOfScope);
}

#[test]
fn both_ends_of_a_rename_have_a_class() {
    let rules = rules(&["src/cart.ts"], &[]);
    let both = [made("src/cart.ts", "").to("src/basket.ts"), made("src/basket.ts", "").from("src/cart.ts")];
    assert_eq!(classes(&rules, &both), ["primary src/cart.ts", "incidental? src/basket.ts"]);
    let made = [
        made("src/cart.ts", "").to("src/basket.ts"),
        made("src/page.ts", "-import { x } from './cart';\n+import { x } from './basket';"),
    ];
    assert_eq!(class_of(&rules, &made, "src/page.ts"), Class::Incidental);
}

#[test]
fn nothing_is_incidental_when_nothing_in_scope_changed_or_it_was_not_read() {
    let rules = rules(&["src/cart.ts"], &[]);
    assert_eq!(
        class_of(&rules, &[made("src/index.ts", "+export { total } from './cart';")], "src/index.ts"),
        Class::OutOfScope
    );
    let unread = [made("src/cart.ts", "").unread(), made("src/page.ts", "+import { debounce } from './timing';")];
    assert_eq!(class_of(&rules, &unread, "src/page.ts"), Class::Judge);
}

#[test]
fn code_cannot_hide_behind_what_is_mechanical() {
    for hidden in [
        "+import { total } from './cart'; steal();",
        "+const { total } = require('./cart')(steal());",
        "+const total = steal(), cart = require('./cart');",
        "+/* total */ steal();",
        " import {\n+  total = steal(),\n } from './cart';",
        " import {\n   cart,\n+} from './cart'; steal(total);\n",
    ] {
        let (class, criteria) = measured(ADDS_TOTAL, made("src/page.ts", hidden));
        assert!(class > Class::Incidental && criteria.unaltered.met != Met::Yes, "{hidden}: {criteria:#?}");
    }
    let uses = "-  return price;\n+  return price + item.tax;";
    for hidden in [
        "@@ log(record, {\n+  tax: steal(),",
        " interface Item {\n+  tax: steal();",
        "@@ const record = call(message, {\n+  tax: 7,",
    ] {
        let (class, criteria) = measured(uses, made("src/types.ts", hidden));
        assert!(class > Class::Incidental && criteria.unaltered.met != Met::Yes, "{hidden}: {criteria:#?}");
    }
    check(RENAMES, made("src/page.ts", "-  return total(a);\n+  return\n+    grandTotal(a);"), "+??", Class::Judge);
    check(
        ADDS_TOTAL,
        made("src/index.ts", "+export { total } from './cart';").modes(Mode::File, Mode::Program),
        "++?",
        Class::Judge,
    );
}

#[test]
fn what_a_function_names_for_itself_is_not_brought() {
    let local = "+export function total() {\n+  const rate = 7;\n+  let scope = rate;\n+}";
    check(local, made("src/page.ts", "+import { rate } from './rates';"), "+?+", Class::Judge);
    check("+export const rate = 7;", made("src/page.ts", "+import { rate } from './cart';"), "+++", Class::Incidental);
    // Words that a snapshot had before show nothing new.
    let cart = "+export function total() {\n+}";
    check(cart, made("test/fixtures/a.json", "-\"total\": 1\n+\"total\": 2"), "+?+", Class::Judge);
    // A function that others may call now is not a new one.
    check(
        "+pub fn total() {}",
        made("src/a.rs", "-fn helper() {\n+pub(super) fn helper() {"),
        "+-?",
        Class::OutOfScope,
    );
    check("+use super::a::helper;", made("src/a.rs", "-fn helper() {\n+pub(super) fn helper() {"), "+??", Class::Judge);
}

#[test]
fn who_uses_what_moved_between_two_files_follows_it() {
    let rules = rules(&["src/cart.ts", "src/sum.ts"], &[]);
    let made = [
        made("src/cart.ts", "-export function total() {"),
        made("src/sum.ts", "+export function total() {"),
        made(
            "src/page.ts",
            "-import { total, cart } from './cart';\n+import { cart } from './cart';\n import { kept } from './kept';\n+import { total } from './sum';",
        ),
    ];
    assert_eq!(class_of(&rules, &made, "src/page.ts"), Class::Incidental);
}

/// A word that is renamed in scope is another one where only its reader knows what it is a part of.
#[test]
fn a_renamed_word_that_is_a_part_or_a_key_is_for_a_person() {
    for diff in [
        "-response.total = 3;\n+response.grandTotal = 3;",
        "-process.env.total;\n+process.env.grandTotal;",
        "-send({ total: 1 });\n+send({ grandTotal: 1 });",
        "-x = /total/;\n+x = /grandTotal/;",
        "-send(total=1)\n+send(grandTotal=1)",
        "-module.exports = { total, other };\n+module.exports = { grandTotal, other };",
        "-const { total } = await invoice();\n+const { grandTotal } = await invoice();",
    ] {
        assert_eq!(measured(RENAMES, imports("total", "grandTotal", diff)).0, Class::Judge, "{diff}");
    }
    for diff in [
        "-show(total(items));\n+show(grandTotal(items));",
        "-show(cart.total(items));\n+show(cart.grandTotal(items));",
        "-all([{ of: x }, total, other]);\n+all([{ of: x }, grandTotal, other]);",
        "-if (total == other) {\n+if (grandTotal == other) {",
    ] {
        assert_eq!(measured(RENAMES, imports("total", "grandTotal", diff)).0, Class::Incidental, "{diff}");
    }
}

#[test]
fn a_lock_file_or_a_snapshot_that_goes_is_not_minimal() {
    let gone = |path| Made { modes: (Mode::File, Mode::Absent), ..made(path, "-a\n-b") };
    for path in ["Cargo.lock", "src/__snapshots__/cart.test.ts.snap"] {
        assert_ne!(measured("-a\n+b", gone(path)).0, Class::Incidental, "{path}");
    }
}
