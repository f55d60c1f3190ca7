//! The three criteria: a change in scope, one outside of it, and what is measured.

use super::*;
use crate::scope::incidental::{Criteria, Met};

/// The change of the file `cart` in scope that has the language of the other file, and what comes of the other.
fn measured(cart: &str, other: Made) -> (Class, Criteria) {
    let rules = rules(&["src/cart.*", "src/shop/Cart.java"], &[]);
    let path = other.path;
    let listed = match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "rs" => "src/cart.rs",
        "py" => "src/cart.py",
        "go" => "src/cart.go",
        "cs" => "src/cart.cs",
        "java" => "src/shop/Cart.java",
        _ => "src/cart.ts",
    };
    let made = [made(listed, cart), other];
    let changes = changes(&made);
    let found = rules.sort(&changes).into_iter().find(|one| &*one.change.path == path).unwrap();
    (found.class, found.criteria.unwrap())
}

/// `+`, `-`, `?` for minimal, required, unaltered.
fn short(criteria: &Criteria) -> String {
    let sign = |met| match met {
        Met::Yes => '+',
        Met::No => '-',
        Met::Unknown => '?',
    };
    criteria.all().into_iter().map(|(_, criterion)| sign(criterion.met)).collect()
}

fn check(cart: &str, other: Made, expected: &str, class: Class) {
    let shown = format!("{other:?}");
    let (found, criteria) = measured(cart, other);
    assert_eq!((short(&criteria).as_str(), found), (expected, class), "{shown}: {criteria:#?}");
}

const ADDS: &str = "+export function total(items: Item[]): number {\n+  return sum(items);\n+}";
const RENAMES: &str = "-export function total(items) {\n+export function grandTotal(items) {\n }";

#[test]
fn an_import_of_what_the_change_in_scope_brings_is_incidental() {
    for (cart, path, diff) in [
        (ADDS, "src/page.ts", "+import { total } from './cart';\n f();"),
        (ADDS, "src/page.ts", " import {\n   cart,\n+  total,\n } from './cart';\n f();"),
        (ADDS, "src/page.ts", "-import { cart } from './cart'\n+import {\n+  cart,\n+  total,\n+} from './cart'\n f()"),
        (ADDS, "src/index.ts", "-export { cart } from './cart';\n+export { cart, total } from './cart';"),
        ("+pub fn total() {}", "src/lib.rs", " mod cart;\n+pub use self::cart::total;\n fn f() {}"),
        ("+pub fn total() {}", "src/page.rs", "-use crate::cart::{sum};\n+use crate::cart::{sum, total};"),
        ("+def total():\n+    pass", "src/page.py", " import os\n+from .cart import total\n f()"),
        ("+public class Cart {}", "src/Page.java", " package page;\n+import shop.Cart;\n class Page {}"),
        ("-export function total() {}\n+x", "src/page.ts", "-import { total } from './cart';\n f();"),
    ] {
        let cart = if path.ends_with("java") { made("src/shop/Cart.java", cart).new_file() } else { made("", cart) };
        let listed = cart.path;
        if listed.is_empty() {
            let text: String = cart.lines.iter().map(|(sign, line)| format!("{}{line}\n", sign_of(*sign))).collect();
            check(&text, made(path, diff), "+++", Class::Incidental);
        } else {
            let all = [cart, made(path, diff)];
            assert_eq!(class_of(&rules(&[listed], &[]), &all, path), Class::Incidental, "{diff}");
        }
    }
}

fn sign_of(sign: Sign) -> char {
    match sign {
        Sign::Kept => ' ',
        Sign::Removed => '-',
        Sign::Added => '+',
    }
}

#[test]
fn an_import_that_is_not_sure_to_follow_is_for_a_person() {
    for (path, diff) in [
        // It leads elsewhere, or the text does not say where.
        ("src/page.ts", "+import { total } from 'cart';"),
        ("src/page.ts", "+import { total } from './other';"),
        ("src/page.ts", "+import { other } from './cart';"),
        ("src/page.ts", "+import { total } from './cart';\n+import { debounce } from './timing';"),
        ("src/page.ts", "-import { total } from './cart';\n f();"),
        // It gives a name another meaning.
        ("src/page.ts", "+import { total as sum } from './cart';"),
        ("src/page.ts", "+import * as total from './cart';"),
        ("src/page.ts", "+import { total } from './cart';\n show(total);"),
        ("src/page.ts", "-import { total } from './math';\n+import { total } from './cart';\n show(total);"),
        ("src/index.ts", "-import { total } from './cart';\n+export { total } from './cart';"),
        ("src/index.ts", "+export * from './cart';"),
        // Something else changes with it.
        ("src/page.ts", "+import { total } from './cart';\n-f(a + +b);\n+f(a ++b);"),
        ("src/page.ts", "+import { total } from './cart'; steal();"),
        ("src/page.ts", "+import { total } from './cart';\n f();\n+g();"),
        ("src/page.ts", "+import { total } from './cart';\n+// @ts-nocheck\n f();"),
        ("src/page.ts", "+import { total } from './cart';\n+/*\n check();\n+*/\n f();"),
        ("src/page.ts", "-import './a';\n import './b';\n+import './a';\n+import { total } from './cart';"),
        ("src/page.ts", "+import { total } from './cart';\n const q = `\n-a\n+b\n `;"),
        // It is not in its place.
        ("src/page.ts", " check();\n+import { total } from './cart';\n f();"),
        ("src/page.ts", " // @ts-ignore\n+import { total } from './cart';\n import bad from 'bad';"),
        ("src/page.go", " package page\n+import \"example.com/src\"\n"),
        ("src/page.cs", "+using Shop.Cart;\n class Page {}"),
    ] {
        let (class, criteria) = measured(ADDS, made(path, diff));
        assert_eq!(class, Class::Judge, "{diff}: {criteria:#?}");
    }
}

#[test]
fn an_import_of_the_same_name_from_elsewhere_may_alter_the_file() {
    for (old, new) in [("math", "cart"), ("math", "other")] {
        let diff = format!("-import {{ total }} from './{old}';\n+import {{ total }} from './{new}';\n show(total);");
        check(ADDS, made("src/page.ts", &diff), "+??", Class::Judge);
    }
}

#[test]
fn the_import_of_a_file_that_moves_follows_it() {
    let rules = rules(&["src/cart.ts", "src/basket.ts"], &[]);
    let moved = [
        made("src/cart.ts", "").to("src/basket.ts"),
        made("src/basket.ts", "").from("src/cart.ts"),
        made("src/page.ts", "-import { x } from './cart';\n+import { x } from './basket';\n show(x);"),
    ];
    assert_eq!(class_of(&rules, &moved, "src/page.ts"), Class::Incidental);
    let parts = [
        made("src/cart.ts", "-export function total() {\n-}"),
        made("src/basket.ts", "+export function total() {\n+}"),
        made("src/page.ts", "-import { total } from './cart';\n+import { total } from './basket';\n show(total);"),
    ];
    assert_eq!(class_of(&rules, &parts, "src/page.ts"), Class::Incidental);
}

/// A page that imports from the cart what these lines rename.
fn page(diff: &str) -> Made {
    made(
        "src/page.ts",
        &format!("-import {{ total }} from './cart';\n+import {{ grandTotal }} from './cart';\n\n{diff}"),
    )
}

#[test]
fn a_whole_word_that_is_renamed_in_scope_is_incidental_however_often() {
    let use_ = "-  show(total(a));\n+  show(grandTotal(a));\n kept\n";
    check(RENAMES, page(use_), "+++", Class::Incidental);
    check(RENAMES, page(&use_.repeat(100)), "+++", Class::Incidental);
    let rust = "-use crate::cart::total;\n+use crate::cart::grand;\n fn f() {\n-    total(1)\n+    grand(1)\n }";
    check("-pub fn total() {}\n+pub fn grand() {}", made("src/page.rs", rust), "+++", Class::Incidental);
    let python = "-from .cart import total\n+from .cart import grand\n \n-x = total(1)\n+x = grand(1)";
    check("-def total(): pass\n+def grand(): pass", made("src/page.py", python), "+++", Class::Incidental);
}

#[test]
fn a_word_that_may_be_something_else_is_for_a_person() {
    for other in [
        page("-response.total = 3;\n+response.grandTotal = 3;"),
        page("-send({ total: 1 });\n+send({ grandTotal: 1 });"),
        page("-send({ total });\n+send({ grandTotal });"),
        page("-  show(total(a));\n+  show(subtotal(a));"),
        // Not every one of them, or the file had the new name already.
        page("-  show(total(a));\n+  show(grandTotal(a));\n total(b);"),
        page(" grandTotal(b);\n-  show(total(a));\n+  show(grandTotal(a));"),
        page("-  show(total(a));\n+  show(\n+    grandTotal(a));"),
        page("-  show(total(a));\n+  show(grandTotal(a));\n show(`${total(b)}`);"),
        page("-  show(total(a) + +b);\n+  show(grandTotal(a) ++b);"),
        // Nothing says that it comes from the cart.
        made("src/page.ts", "-show(total(a));\n+show(grandTotal(a));"),
        made(
            "src/page.ts",
            "-import { total } from './x';\n+import { grandTotal } from './x';\n-total();\n+grandTotal();",
        ),
        made(
            "src/page.tsx",
            "-import { total } from './cart';\n+import { grandTotal } from './cart';\n-<b>total</b>\n+<b>grandTotal</b>",
        ),
        made("conf/policy.yaml", "-default: total\n+default: grandTotal"),
    ] {
        let shown = format!("{other:?}");
        let (class, criteria) = measured(RENAMES, other);
        assert_eq!(class, Class::Judge, "{shown}: {criteria:#?}");
    }
    check(RENAMES, page("-  send(\"total\");\n+  send(\"grandTotal\");"), "+?-", Class::OutOfScope);
}

const USES_TAX: &str = "-  return price;\n+  return price + item.tax;";

#[test]
fn a_field_of_a_type_that_the_change_in_scope_uses_now_is_incidental() {
    for (path, diff) in [
        ("src/item.ts", " export interface Item {\n   price: number;\n+  tax: number;\n }"),
        ("src/item.ts", " export type Item = {\n   price: number,\n+  tax?: Tax[],\n };"),
        ("src/item.ts", " export type Item = {\n-  price: number\n+  price: number,\n+  tax: number\n };"),
        ("src/item.ts", " class Item extends Base {\n   price: number;\n+  private tax: number;\n }"),
        (
            "src/item.rs",
            " #[derive(Debug, Clone)]\n pub struct Item {\n     price: u64,\n+    pub tax: Option<u64>,\n }",
        ),
        ("src/item.go", " package item\n \n type Item struct {\n \tprice int\n+\ttax *big.Int\n }"),
        ("src/Item.java", " public class Item {\n     private int price;\n+    private List<Tax> tax;\n }"),
        ("src/Item.cs", " namespace Shop;\n public class Item\n {\n     int price;\n+    public int tax;\n }"),
    ] {
        check(USES_TAX, made(path, diff), "+++", Class::Incidental);
    }
    let (class, criteria) = measured(USES_TAX, made("src/item.ts", " interface Item {\n+  colour: string;\n }"));
    assert_eq!((class, criteria.required.met), (Class::Judge, Met::Unknown));
}

#[test]
fn what_only_looks_like_a_field_is_none() {
    for (path, diff) in [
        ("src/item.ts", " const item = {\n   price: 1,\n+  tax: any,\n };"),
        ("src/item.ts", " class Item { static defaults = {\n   a: b,\n+  tax: any,\n }; }"),
        ("src/item.ts", " class Item {\n   f() {\n+    tax: number;\n   }\n }"),
        ("src/item.ts", " interface Item {\n+  tax: number = 7;\n }"),
        ("src/item.ts", " interface Item {\n+  tax(): number;\n }"),
        ("src/item.ts", " interface Item {\n-  price: number;\n+  price: string;\n+  tax: number;\n }"),
        ("src/item.ts", " enum Item {\n   price,\n+  tax,\n }"),
        ("src/item.ts", " const item = {\n   type: {\n+    tax: any,\n   },\n };"),
        ("src/item.ts", " let type = {\n   price: any,\n+  tax: any,\n };"),
        ("src/item.rs", " struct Item {\n     #[serde(skip)]\n+    tax: u64,\n     price: u64,\n }"),
        ("src/item.rs", " #[repr(C)]\n struct Item {\n+    tax: u64,\n     price: u64,\n }"),
        ("src/item.rs", " #[derive(PartialOrd)]\n struct Item {\n+    tax: u64,\n     price: u64,\n }"),
        ("src/item.go", " type Item struct {\n \tprice int\n+\ttax int `gorm:\"x\"`\n }"),
        ("src/Item.java", " class Item {\n     @Id\n+    int tax;\n     int price;\n }"),
        ("src/Item.java", " class Item {\n     int price;\n+    int tax = rate();\n }"),
        ("src/Item.java", " class Item {\n   int price() {\n+    return tax;\n   }\n }"),
        ("src/item.py", " class Item:\n     price: int\n+    tax: int"),
    ] {
        assert_ne!(measured(USES_TAX, made(path, diff)).0, Class::Incidental, "{diff}");
    }
}

#[test]
fn a_lock_file_follows_the_manifest_beside_it() {
    let rules = rules(&["Cargo.toml", "web/package.json", "crates/a/Cargo.toml", "src/"], &[]);
    let class = |lock: &'static str, with: &'static str| {
        class_of(&rules, &[made(with, EDIT), made(lock, "+a\n".repeat(99).as_str())], lock)
    };
    assert_eq!(class("Cargo.lock", "Cargo.toml"), Class::Incidental);
    assert_eq!(class("web/yarn.lock", "web/package.json"), Class::Incidental);
    for (lock, with) in
        [("Cargo.lock", "src/a.rs"), ("Cargo.lock", "crates/a/Cargo.toml"), ("yarn.lock", "web/package.json")]
    {
        assert_eq!(class(lock, with), Class::Judge, "{lock}");
    }
    let gone = [made("Cargo.toml", EDIT), made("Cargo.lock", "-a").modes(Mode::File, Mode::Absent)];
    assert_eq!(class_of(&rules, &gone, "Cargo.lock"), Class::OutOfScope);
    let unread = [made("Cargo.toml", EDIT), made("Cargo.lock", "").unread()];
    assert_eq!(class_of(&rules, &unread, "Cargo.lock"), Class::Judge);
}

#[test]
fn a_snapshot_follows_its_test() {
    let rules = rules(&["src/cart.ts", "tests/page.test.ts"], &[]);
    for (snapshot, class) in [
        ("src/__snapshots__/cart.test.ts.snap", Class::Incidental),
        ("src/cart.test.ts.snap", Class::Incidental),
        ("tests/__snapshots__/page.test.ts.snap", Class::Incidental),
        ("src/__snapshots__/other.test.ts.snap", Class::Judge),
        ("lib/__snapshots__/cart.test.ts.snap", Class::Judge),
    ] {
        let tests = || vec![made("src/cart.test.ts", EDIT), made("tests/page.test.ts", EDIT)];
        let with = |snapshot| tests().into_iter().chain([snapshot]).collect::<Vec<_>>();
        assert_eq!(class_of(&rules, &with(made(snapshot, "-1\n+2")), snapshot), class, "{snapshot}");
        let new = class_of(&rules, &with(made(snapshot, "+2").new_file()), snapshot);
        assert_eq!(new == Class::Incidental, class == Class::Incidental, "{snapshot}");
        let gone = class_of(&rules, &with(made(snapshot, "-2").modes(Mode::File, Mode::Absent)), snapshot);
        assert_eq!(gone, Class::OutOfScope, "{snapshot}");
    }
}

#[test]
fn new_functions_tests_control_flow_and_changed_literals_are_never_incidental() {
    for (path, diff, expected) in [
        ("src/a.rs", "+fn show() {\n+}", "-??"),
        ("src/a.ts", "+function show(cart) {\n+}", "-??"),
        ("src/a.ts", "+const show = (cart) => print(cart);", "-??"),
        ("src/a.ts", " class A {\n+  show(cart): void {\n+  }\n }", "-??"),
        ("src/a.py", "+def show():\n+    pass", "-??"),
        ("src/a.go", "+func show() {\n+}", "-??"),
        ("src/A.java", " class A {\n+  int show(int a) {\n+  }\n }", "-??"),
        ("src/A.cs", " class A {\n+  int Show() => 1;\n }", "-??"),
        ("src/a.rs", "+#[test]\n+fn works() {\n+}", "-??"),
        ("tests/a.ts", "+it('works', () => {\n+});", "-??"),
        ("tests/a.py", "+def test_works():\n+    pass", "-??"),
        ("tests/a.go", "+func TestWorks(t *testing.T) {\n+}", "-??"),
        ("tests/A.java", " class A {\n+  @Test\n+  public int x;\n }", "-??"),
        ("tests/A.cs", " class A {\n+  [Fact]\n+  public int x;\n }", "-??"),
        ("src/a.rs", "-go();\n+if x { go(); }", "+?-"),
        ("src/a.ts", "-a();\n+a() && b();", "+?-"),
        ("src/a.py", "-    go()\n+    if x: go()", "+?-"),
        ("src/a.go", "-\treturn x\n+\tx()", "+?-"),
        ("src/A.java", "-while (a) {\n+for (a) {", "+?-"),
        ("src/A.cs", "-throw x;\n+x();", "+?-"),
        ("src/a.rs", "-const LIMIT: u8 = 5;\n+const LIMIT: u8 = 6;", "+?-"),
        ("src/a.ts", "-show(a, false);\n+show(a, true);", "+?-"),
        ("src/a.py", "-def f(a=1):\n+def f(a=2):", "+?-"),
        ("src/a.go", "-x := \"a\"\n+x := \"b\"", "+?-"),
        ("src/A.java", "-int a = 1;\n+int a = 2;", "+?-"),
        ("src/A.cs", "-var a = null;\n+var a = \"\";", "+?-"),
    ] {
        check(ADDS, made(path, diff), expected, Class::OutOfScope);
    }
}

#[test]
fn everything_else_is_for_a_person() {
    for other in [
        made("src/page.ts", "-show(total(items));\n+show(total(items, rate));"),
        made("src/page.ts", "+// the total"),
        made("src/page.ts", "-  show( total );\n+    show(total);"),
        made("src/page.py", "-  show(total)\n+    show(total)"),
        made("src/page.ts", "-show(`${total}`);\n+show(`${grand}`);"),
        made("src/page.ts", "-don't\n+dont"),
        made("README.md", "+The total is shown."),
        made("conf.json", "-1\n+2"),
        made("logo.png", "").unread(),
        made("vendor/lib", "-1\n+2").modes(Mode::Submodule, Mode::Submodule),
        made("bin/run", "").modes(Mode::File, Mode::Program),
        made("now.ts", "-a\n+b").modes(Mode::Link, Mode::Link),
        made("src/basket.ts", "").from("src/bag.ts"),
    ] {
        let shown = format!("{other:?}");
        assert_eq!(measured(ADDS, other).0, Class::Judge, "{shown}");
    }
    let (class, criteria) =
        measured(ADDS, made("src/index.ts", "+export { total } from './cart';").modes(Mode::File, Mode::Program));
    assert_eq!((class, short(&criteria).as_str()), (Class::Judge, "++?"));
}

#[test]
fn a_change_of_more_than_ten_lines_is_minimal_only_by_its_kind() {
    let lines = |count: usize| "+  show(total);\n".repeat(count);
    check(ADDS, made("src/page.ts", &lines(10)), "+??", Class::Judge);
    check(ADDS, made("src/page.ts", &lines(11)), "???", Class::Judge);
}

#[test]
fn whole_files_that_come_and_go_are_out_of_scope() {
    for other in [
        made("src/index.ts", "+export { total } from './cart';").new_file(),
        made("src/old.ts", "-total();").modes(Mode::File, Mode::Absent),
        made("logo.png", "").unread().new_file(),
        made("vendor/lib", "+2").modes(Mode::Absent, Mode::Submodule),
        made("now", "-a\n+b").modes(Mode::File, Mode::Link),
    ] {
        let shown = format!("{other:?}");
        assert_eq!(measured(ADDS, other).0, Class::OutOfScope, "{shown}");
    }
}

#[test]
fn nothing_is_incidental_when_nothing_in_scope_changed_or_it_was_not_read() {
    let rules = rules(&["src/cart.ts"], &[]);
    let index = || made("src/index.ts", "+export { total } from './cart';");
    assert_eq!(class_of(&rules, &[index()], "src/index.ts"), Class::OutOfScope);
    assert_eq!(class_of(&rules, &[made("src/cart.ts", "").unread(), index()], "src/index.ts"), Class::Judge);
    // A test in scope brings nothing that others need.
    let test = [
        made("src/cart.test.ts", "+export function total() {\n+}"),
        made("src/index.ts", "+export { total } from './cart.test';"),
    ];
    assert_eq!(class_of(&rules, &test, "src/index.ts"), Class::Judge);
}
