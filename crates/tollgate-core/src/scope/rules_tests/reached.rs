//! A renamed word is what is renamed in scope only where the file gets it from there.

use super::criteria::measured;
use super::*;
use crate::scope::incidental::Met;

const TS: &str = "-export function isAdmin(row) {\n+export function isUser(row) {\n   return row[0];\n }";
const PY: &str = "-def is_admin(row):\n+def is_user(row):\n     return row[0]";
const RS: &str = "-pub fn is_admin(row: u8) -> bool {\n+pub fn is_user(row: u8) -> bool {\n     row > 0\n }";
const GO: &str = " package cart\n-func IsAdmin(row int) bool {\n+func IsUser(row int) bool {\n \treturn row > 0\n }";
const KT: &str = "-class Admin {\n+class User {\n }";

fn renames(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "py" => PY,
        "rs" => RS,
        "go" => GO,
        "kt" => KT,
        _ => TS,
    }
}

#[test]
fn what_the_file_gets_from_the_one_that_renames_it_follows() {
    for (path, diff) in [
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-if (isAdmin(u)) {\n+if (isUser(u)) {",
        ),
        ("src/page.ts", " import * as cart from './cart';\n kept\n-if (!cart.isAdmin(u)) {\n+if (!cart.isUser(u)) {"),
        (
            "src/page.js",
            " const cart = require('./cart');\n kept\n-  x = cart.isAdmin(u) ? 1 : 2;\n+  x = cart.isUser(u) ? 1 : 2;",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-  all(rows.map(isAdmin), x);\n+  all(rows.map(isUser), x);",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-  isAdmin(\n+  isUser(\n     u,\n   );",
        ),
        (
            "src/page.py",
            "-from src.cart import is_admin\n+from src.cart import is_user\n kept\n-    if x and not is_admin(u):\n+    if x and not is_user(u):",
        ),
        ("src/page.py", " from src import cart\n kept\n-    if cart.is_admin(u):\n+    if cart.is_user(u):"),
        (
            "src/page.py",
            " from src import cart\n def f(u):\n     \"\"\"A page.\n \n     Of a cart.\n     \"\"\"\n-    if cart.is_admin(u):\n+    if cart.is_user(u):",
        ),
        ("src/page.py", " from . import cart\n kept\n-    if cart.is_admin(u):\n+    if cart.is_user(u):"),
        (
            "app/page.py",
            " import src.cart\n import src.auth\n kept\n-    src.cart.is_admin(u)\n+    src.cart.is_user(u)",
        ),
        ("app/page.py", " import src.cart as c\n kept\n-    c.is_admin(u)\n+    c.is_user(u)"),
        (
            "src/page.rs",
            "-use crate::cart::is_admin;\n+use crate::cart::is_user;\n kept\n-    if is_admin(u) {\n+    if is_user(u) {",
        ),
        ("src/page.rs", " use crate::cart;\n kept\n-    if cart::is_admin(u) {\n+    if cart::is_user(u) {"),
        ("src/page.rs", " use crate::cart::{self, Cart};\n kept\n-    cart::is_admin(u);\n+    cart::is_user(u);"),
        ("src/page.rs", " kept\n-    let x = crate::cart::is_admin(u);\n+    let x = crate::cart::is_user(u);"),
        ("src/main.rs", " mod cart;\n kept\n-    cart::is_admin(u);\n+    cart::is_user(u);"),
        (
            "page/page.go",
            " package page\n import \"example.com/cart\"\n kept\n-\tif cart.IsAdmin(u) {\n+\tif cart.IsUser(u) {",
        ),
        ("cart/page.go", " package cart\n kept\n-\tif IsAdmin(u) {\n+\tif IsUser(u) {"),
        ("src/page.kt", " package src\n kept\n-    val a = Admin()\n+    val a = User()"),
        ("app/page.kt", "-import src.Admin\n+import src.User\n kept\n-    val a = f(Admin())\n+    val a = f(User())"),
    ] {
        let (class, criteria) = measured(renames(path), made(path, diff));
        assert_eq!(class, Class::Incidental, "{path}: {diff}\n{criteria:#?}");
    }
}

#[test]
fn another_thing_of_the_same_name_is_for_a_person() {
    for (path, diff) in [
        // From another module, or from nowhere that is seen.
        ("src/page.ts", " import * as auth from './auth';\n-  if (auth.isAdmin(u)) {\n+  if (auth.isUser(u)) {"),
        ("src/page.ts", " import { Base } from './base';\n-    if (this.isAdmin(u)) {\n+    if (this.isUser(u)) {"),
        ("src/page.ts", " import * as cart from './cart';\n-  f(x).isAdmin(u);\n+  f(x).isUser(u);"),
        ("src/page.ts", " import * as cart from './cart';\n-  auth.cart.isAdmin(u);\n+  auth.cart.isUser(u);"),
        ("src/page.ts", " import * as cart from './cart';\n   auth.\n-    isAdmin(u);\n+    isUser(u);"),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n   auth.\n-    isAdmin(u);\n+    isUser(u);",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-  auth./**/isAdmin(u);\n+  auth./**/isUser(u);",
        ),
        (
            "src/page.ts",
            " import * as cart from './cart';\n function f(cart) {\n-  cart.isAdmin(u);\n+  cart.isUser(u);",
        ),
        ("src/page.ts", " import { cart } from './cart';\n-  cart.isAdmin(u);\n+  cart.isUser(u);"),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './auth';\n kept\n-  isAdmin(u);\n+  isUser(u);",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './auth';\n+import { isUser } from './cart';\n kept\n-  isAdmin(u);\n+  isUser(u);",
        ),
        ("src/page.ts", " export { isAdmin as x } from './cart';\n-  isAdmin(u);\n+  isUser(u);"),
        ("src/page.ts", "-  grant(isAdmin(u));\n+  grant(isUser(u));"),
        ("src/page.py", " from src import auth\n-    if auth.is_admin(u):\n+    if auth.is_user(u):"),
        ("src/page.py", " from auth import *\n-    grant(is_admin(u))\n+    grant(is_user(u))"),
        (
            "src/page.py",
            "-from src.cart import is_admin\n+from src.cart import is_user\n from auth import *\n-    is_admin(u)\n+    is_user(u)",
        ),
        ("src/page.py", "-    grant(is_admin(u))\n+    grant(is_user(u))"),
        ("src/page.py", "-        grant(self.is_admin(u))\n+        grant(self.is_user(u))"),
        (
            "src/page.py",
            " import src.cart\n import src.auth\n kept\n-    src.auth.is_admin(u)\n+    src.auth.is_user(u)",
        ),
        ("src/page.rs", " use crate::auth;\n-    if auth::is_admin(u) {\n+    if auth::is_user(u) {"),
        ("src/page.rs", " use crate::auth::*;\n-    is_admin(u);\n+    is_user(u);"),
        ("src/page.rs", "-    auth::is_admin(u);\n+    auth::is_user(u);"),
        ("src/page.rs", " use crate::cart;\n-    cart.is_admin(u);\n+    cart.is_user(u);"),
        ("src/page.rs", " use crate::cart;\n-    is_admin!(u);\n+    is_user!(u);"),
        ("page/page.go", " package page\n import \"x/auth\"\n-\tif auth.IsAdmin(u) {\n+\tif auth.IsUser(u) {"),
        ("cart/page.go", " package cart\n import \"x/auth\"\n-\tauth.IsAdmin(u)\n+\tauth.IsUser(u)"),
        ("cart/page_test.go", " package cart_test\n-\tIsAdmin(u)\n+\tIsUser(u)"),
        ("page/page.go", " package page\n-\tIsAdmin(u)\n+\tIsUser(u)"),
        ("app/page.kt", " package app\n-    val a = Admin()\n+    val a = User()"),
        ("src/page.cs", "-    IsAdmin(isAdmin(u));\n+    IsAdmin(isUser(u));"),
        ("src/page.c", "-    isAdmin(u);\n+    isUser(u);"),
        // Its own.
        ("src/api.ts", "-export function isAdmin(x) {\n+export function isUser(x) {"),
        ("src/api.py", "-def is_admin(x):\n+def is_user(x):"),
        (
            "src/api.py",
            "-def grant(u, is_admin):\n-    return store(u, is_admin)\n+def grant(u, is_user):\n+    return store(u, is_user)",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-  isAdmin(u) {\n+  isUser(u) {",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-  isAdmin(\n+  isUser(\n     u,\n   ) {",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-  isAdmin(u): boolean;\n+  isUser(u): boolean;",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-  async isAdmin(u) {\n+  async isUser(u) {",
        ),
        (
            "src/page.py",
            "-from src.cart import is_admin\n+from src.cart import is_user\n kept\n-def f(u, is_admin):\n+def f(u, is_user):",
        ),
        (
            "src/page.py",
            "-from src.cart import is_admin\n+from src.cart import is_user\n def f(\n-    u, is_admin\n+    u, is_user\n ):",
        ),
        (
            "src/page.py",
            "-from src.cart import is_admin\n+from src.cart import is_user\n kept\n-    a, is_admin = f()\n+    a, is_user = f()",
        ),
        (
            "src/page.py",
            "-from src.cart import is_admin\n+from src.cart import is_user\n kept\n-    for is_admin in f():\n+    for is_user in f():",
        ),
        (
            "src/page.py",
            "-from src.cart import is_admin\n+from src.cart import is_user\n kept\n-with f() as is_admin:\n+with f() as is_user:",
        ),
        // In a string over several lines.
        (
            "src/page.py",
            "-from src.cart import is_admin\n+from src.cart import is_user\n SQL = \"\"\"\n-  f(is_admin(x))\n+  f(is_user(x))\n \"\"\"",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n const text = `\n-  f(isAdmin(x))\n+  f(isUser(x))\n `;",
        ),
        (
            "src/page.ts",
            "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-  x = /^(isAdmin|b)$/;\n+  x = /^(isUser|b)$/;",
        ),
    ] {
        let (class, criteria) = measured(renames(path), made(path, diff));
        assert_eq!((class, criteria.unaltered.met), (Class::Judge, Met::Unknown), "{path}: {diff}\n{criteria:#?}");
    }
    let auth = " import * as auth from './auth';\n-  if (auth.isAdmin(u)) {\n+  if (auth.isUser(u)) {";
    let (_, criteria) = measured(TS, made("src/page.ts", auth));
    let said = "nothing here says that `isAdmin` is that of src/cart.ts";
    assert_eq!([&*criteria.required.measured, &*criteria.unaltered.measured], [said, said]);
}

/// Only what others can have from the file under that name alone is renamed for them.
#[test]
fn the_file_in_scope_must_rename_what_others_get_from_it() {
    let page = || {
        let uses = "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n-  isAdmin(u);\n+  isUser(u);";
        made("src/page.ts", uses)
    };
    assert_eq!(measured(TS, page()).0, Class::Incidental);
    for cart in [
        " export class Cart {\n-  isAdmin(row) {\n+  isUser(row) {\n     return 1;\n   }\n }",
        " export class Cart {\n-isAdmin(row) {\n+isUser(row) {\n     return 1;\n }\n }",
        " export * from './auth';\n kept\n-function isAdmin(row) {\n+function isUser(row) {",
        " export { isAdmin, isUser } from './auth';\n kept\n-function isAdmin(row) {\n+function isUser(row) {",
        " namespace x {\n   export function isUser(row) {\n   }\n }\n-export function isAdmin(row) {\n+export function isUser(row) {",
    ] {
        let (class, criteria) = measured(cart, page());
        assert_eq!(class, Class::Judge, "{cart}\n{criteria:#?}");
    }
}

#[test]
fn a_file_that_is_renamed_in_scope_is_followed() {
    let rules = rules(&["src/cart.py", "src/basket.py"], &[]);
    let moved = || [made("src/cart.py", "").to("src/basket.py"), made("src/basket.py", "").from("src/cart.py")];
    for (diff, class) in [
        (
            "-from src import cart\n+from src import basket\n kept\n-    cart.total(a)\n+    basket.total(a)",
            Class::Incidental,
        ),
        (
            "-from lib import cart\n+from lib import basket\n kept\n-    cart.total(a)\n+    basket.total(a)",
            Class::Judge,
        ),
        ("-    cart.total(a)\n+    basket.total(a)", Class::Judge),
    ] {
        let made: Vec<Made> = moved().into_iter().chain([made("src/page.py", diff)]).collect();
        assert_eq!(class_of(&rules, &made, "src/page.py"), class, "{diff}");
    }
}

/// Types stand where other names do, and comments stand anywhere.
#[test]
fn a_renamed_type_and_a_comment_beside_a_renamed_call_follow() {
    let py = "-class Cart:\n+class Basket:\n     pass";
    let go = " package cart\n-type Cart struct {\n+type Basket struct {\n }";
    let import = "-from src.cart import Cart\n+from src.cart import Basket\n kept\n";
    let package = " package page\n import \"example.com/cart\"\n kept\n";
    for (cart, path, head, diff, class) in [
        (
            go,
            "page/page.go",
            package,
            "-func f(c *cart.Cart) error {\n+func f(c *cart.Basket) error {",
            Class::Incidental,
        ),
        (go, "page/page.go", package, "-\tvar c cart.Cart\n+\tvar c cart.Basket", Class::Incidental),
        (go, "page/page.go", package, "-\tc := cart.Cart{}\n+\tc := cart.Basket{}", Class::Incidental),
        (go, "page/page.go", package, "-\tc := auth.Cart{}\n+\tc := auth.Basket{}", Class::Judge),
        (go, "page/page.go", package, "-\tc.Cart = 1\n+\tc.Basket = 1", Class::Judge),
        (go, "page/page.go", package, "-\tf(x.cart.Cart)\n+\tf(x.cart.Basket)", Class::Judge),
        (go, "page/page.go", package, "-\tf(T{Cart: 1})\n+\tf(T{Basket: 1})", Class::Judge),
        (go, "page/page.go", package, " \tcart := f()\n-\tf(cart.Cart)\n+\tf(cart.Basket)", Class::Judge),
        // A field without a name is called as its type is.
        (go, "page/page.go", package, " type A struct {\n-\t*cart.Cart\n+\t*cart.Basket\n }", Class::Judge),
        (go, "page/page.go", package, " type A struct {\n-\tcart.Cart // all\n+\tcart.Basket // all\n }", Class::Judge),
        (
            go,
            "page/page.go",
            package,
            " type A struct {\n-\tcart.Cart `json:\"a\"`\n+\tcart.Basket `json:\"a\"`\n }",
            Class::Judge,
        ),
        (go, "page/page.go", package, "-type A struct { cart.Cart }\n+type A struct { cart.Basket }", Class::Judge),
        (go, "page/page.go", package, " type A struct {\n-\tc *cart.Cart\n+\tc *cart.Basket\n }", Class::Incidental),
        (go, "page/page.go", package, " \tf(\n-\t\tcart.Cart{},\n+\t\tcart.Basket{},\n \t)", Class::Incidental),
        (py, "src/page.py", import, "-class X(Cart):\n+class X(Basket):", Class::Incidental),
        (py, "src/page.py", import, "-class X(Other, Cart):\n+class X(Other, Basket):", Class::Incidental),
        (
            py,
            "src/page.py",
            import,
            "-def f(c: list[Cart]) -> dict[str, Cart]:\n+def f(c: list[Basket]) -> dict[str, Basket]:",
            Class::Incidental,
        ),
        (py, "src/page.py", import, "-def f(c, Cart):\n+def f(c, Basket):", Class::Judge),
        (py, "src/page.py", import, "-    [a, Cart] = f()\n+    [a, Basket] = f()", Class::Judge),
        (py, "src/page.py", import, "-class Cart(Other):\n+class Basket(Other):", Class::Judge),
        (py, "src/page.py", import, "-X = Cart(1)\n+# In cents.\n+X = Basket(1)", Class::Incidental),
        (py, "src/page.py", import, "-# In cents.\n-X = Cart(1)\n+X = Basket(1)\n+\n+# Rounded.", Class::Incidental),
        (py, "src/page.py", import, "-X = Cart(1)\n+# noqa: F401\n+X = Basket(1)", Class::Judge),
        (py, "src/page.py", import, "-X = Cart(1)\n+# In cents.\n+X = Basket(2)", Class::Judge),
    ] {
        let diff = format!("{head}{diff}").leak();
        let (found, criteria) = measured(cart, made(path, diff));
        assert_eq!(found, class, "{diff}\n{criteria:#?}");
    }
}

/// A longer name makes a formatter wrap what it stands in.
#[test]
fn a_renamed_call_that_is_wrapped_otherwise_follows() {
    let ts = "-import { isAdmin } from './cart';\n+import { isUser } from './cart';\n kept\n";
    let py = "-from src.cart import is_admin\n+from src.cart import is_user\n kept\n";
    for (path, head, diff, follows) in [
        ("src/page.ts", ts, "-const a = isAdmin(b, c);\n+const a = isUser(\n+  b,\n+  c\n+);", true),
        ("src/page.ts", ts, "-const a = isAdmin(b, c);\n+const a = isUser(\n+  b,\n+  c,\n+);", true),
        ("src/page.ts", ts, "-const a = isAdmin(b, c);\n+const a =\n+  isUser(b, c);", true),
        (
            "src/page.ts",
            ts,
            "-const a = [isAdmin(b), isAdmin(c)];\n+const a = [\n+  isUser(b),\n+  isUser(c),\n+];",
            true,
        ),
        ("src/page.ts", ts, "-const a = isAdmin(\n-  b,\n-);\n+const a = isUser(b);", true),
        ("src/page.py", py, "-Y = is_admin(a)\n+Y = is_user(\n+    a\n+)", true),
        ("src/page.py", py, "-Y = is_admin(a, b)\n+Y = is_user(\n+    a,\n+    b,\n+)", true),
        (
            "src/page.rs",
            "-use crate::cart::is_admin;\n+use crate::cart::is_user;\n kept\n",
            "-    let a = is_admin(b);\n+    let a = is_user(\n+        b,\n+    );",
            true,
        ),
        // Another value, another thing, another end.
        ("src/page.ts", ts, "-const a = isAdmin('b  c');\n+const a = isUser('b c');", false),
        ("src/page.ts", ts, "-const a = isAdmin('b  c', d);\n+const a = isUser(\n+  'b c',\n+  d,\n+);", false),
        ("src/page.ts", ts, "-const a = isAdmin(b, c);\n+const a = isUser(\n+  b,\n+  d,\n+);", false),
        ("src/page.ts", ts, "-const a = isAdmin(b, c);\n+const a = isUser(\n+  b,\n+  c,\n+  d,\n+);", false),
        ("src/page.ts", ts, "-const a = auth.isAdmin(b);\n+const a = auth.isUser(\n+  b,\n+);", false),
        ("src/page.ts", ts, "-  isAdmin(b) {\n+  isUser(\n+    b,\n+  ) {", false),
        ("src/page.ts", ts, "-  yield isAdmin(b);\n+  yield\n+  isUser(b);", false),
        ("src/page.ts", ts, "-  get isAdmin(b) {\n+  get\n+  isUser(b) {", false),
        ("src/page.ts", ts, "-const a = [isAdmin];\n+const a = [\n+  isUser,\n+  ,\n+];", false),
        ("src/page.ts", ts, "-f('isAdmin', b);\n+f(\n+  'isUser',\n+  b,\n+);", false),
        ("src/page.py", py, "-Y = (is_admin)\n+Y = (\n+    is_user,\n+)", false),
        ("src/page.py", py, "-Y = x[is_admin]\n+Y = x[\n+    is_user,\n+]", false),
        ("src/page.py", py, "-    Y = x in (is_admin)\n+    Y = x in (\n+        is_user,\n+    )", false),
        ("src/page.py", py, "-Y = is_admin(a)\n+Y = (\n+    is_user(a)\n+)", false),
        ("src/page.py", py, "-Y = is_admin(a)\n+Y = is_user(\n+    a  # noqa\n+)", false),
        ("src/page.py", py, "-    Y = is_admin(a)\n+Y = is_user(\n+    a\n+)", false),
        ("src/page.py", py, "-Y = 1; is_admin(a)\n+Y = 1;\n+is_user(a)", false),
    ] {
        let diff = format!("{head}{diff}").leak();
        let (found, criteria) = measured(renames(path), made(path, diff));
        assert_eq!(found == Class::Incidental, follows, "{diff}\n{criteria:#?}");
    }
}
