//! Lines that look like comments, layout or fields, and are not: what is open around them says so.

use super::criteria::measured;
use super::*;

const ADDS_TOTAL: &str = "+export function total(items: Item[]): number {\n+  return sum(items);\n+}";
const USES_TAX: &str = "-  return price;\n+  return price + item.tax;";

/// With an import that the change in scope needs, so that nothing but the other lines decides.
fn beside_an_import(path: &'static str, import: &str, diff: &str) -> Class {
    let whole = format!("+{import}\n{diff}");
    measured(ADDS_TOTAL, made(path, Box::leak(whole.into_boxed_str()))).0
}

#[test]
fn a_comment_that_takes_lines_away_or_lets_them_run_is_none() {
    let ts = |diff: &str| beside_an_import("src/page.ts", "import { total } from './cart';", diff);
    for plain in [
        "+// the order is checked first\n verify(order);",
        "+/* the order is checked first */\n verify(order);",
        "+/* the order\n+ * is checked first */\n verify(order);",
        " /*\n+ * the order is checked first\n  */\n verify(order);",
        "-/* a\n+/* b\n  */\n verify(order);",
    ] {
        assert_eq!(ts(plain), Class::Incidental, "{plain}");
    }
    for odd in [
        "+/* the order is checked first\n verify(order);\n /* then it is saved */\n save();",
        " /* then it is saved */\n save();\n+/* and nothing else\n run();",
        " /* debug:\n+ * only */\n login('admin');\n+/*\n */",
        "-/* off\n login('admin');\n  */",
        "-// checked first\n-verify(order);\n+// checked first verify(order);",
        "+// checked \\\n verify(order);",
        " /*::\n-type Order = number;\n+type Order = string;\n */\n verify(order);",
        " /*-{\n-  one();\n+  two();\n }-*/\n verify(order);",
    ] {
        assert_ne!(ts(odd), Class::Incidental, "{odd}");
    }
    let py = |diff: &str| beside_an_import("src/page.py", "from .cart import total", diff);
    assert_eq!(py(" a = \"\"\"x\"\"\"\n+# a word\n f()"), Class::Incidental);
    assert_ne!(py("+/* a\n f()\n+*/"), Class::Incidental, "no comment in this language");
}

#[test]
fn what_stands_in_a_string_over_several_lines_is_a_value() {
    for (path, import, diff) in [
        (
            "src/page.ts",
            "import { total } from './cart';",
            " const policy = `\n   default-src 'self'\n+  // https://a.example\n `;",
        ),
        ("src/page.ts", "import { total } from './cart';", " const text = `\n+\n   a\n `;"),
        ("src/page.ts", "import { total } from './cart';", " const text = `\n-  a\n+    a\n `;"),
        ("src/page.py", "from .cart import total", " q = \"\"\"\n select a\n+# x\n \"\"\""),
        ("src/page.rs", "use crate::cart::total;", " let q = \"a\n+// b\n \";"),
    ] {
        assert_eq!(beside_an_import(path, import, " f();"), Class::Incidental, "{import}");
        assert_ne!(beside_an_import(path, import, diff), Class::Incidental, "{diff}");
    }
}

#[test]
fn an_entry_of_an_object_is_no_field_of_the_type_around_it() {
    for (path, diff) in [
        ("src/client.ts", " export class Client { static defaults = {\n   agent: strict,\n+  tax: any,\n }; }"),
        ("src/client.ts", " export class Client {\n   static defaults = {\n   agent: strict,\n+  tax: any,\n   };\n }"),
        ("src/client.ts", " interface Item {} const o = {\n   agent: strict,\n+  tax: any,\n };"),
        ("src/client.ts", " interface Item { a: A } const o: Item = {\n   agent: strict,\n+  tax: any,\n };"),
        ("src/client.ts", " type Item = Other; const o = {\n   agent: strict,\n+  tax: any,\n };"),
        ("src/client.py", " class Client:\n     defaults = dict(\n     a=1,\n+    tax: any,\n     )"),
        ("src/client.ts", "@@ export interface Item {\n   price: number;\n }\n const o = {\n+  tax: any,\n };"),
    ] {
        assert_ne!(measured(USES_TAX, made(path, diff)).0, Class::Incidental, "{diff}");
    }
    for (path, diff) in [
        ("src/item.ts", " export class Item { // what is sold\n   price: number;\n+  tax: number;\n }"),
        ("src/item.ts", " interface Cart {\n   item: {\n     price: number;\n+    tax: number;\n   };\n }"),
        (
            "item.go",
            " type Item struct {\n-\tID string `json:\"id\"`\n+\tID  string `json:\"id\"`\n+\ttax string `json:\"tax\"`\n }",
        ),
        ("src/item.ts", " class Item {\n   all() { return [1]; }\n   price: number;\n+  tax: number;\n }"),
    ] {
        assert_eq!(measured(USES_TAX, made(path, diff)).0, Class::Incidental, "{diff}");
    }
}

#[test]
fn an_import_stands_among_others_or_at_the_start() {
    for (path, diff) in [
        ("src/page.ts", " import { cart } from './cart';\n+import { total } from './cart';\n f();"),
        ("src/page.ts", " // a licence\n+import { total } from './cart';\n f();"),
        ("src/page.ts", " 'use strict';\n+import { total } from './cart';\n f();"),
        ("src/page.rs", " #![forbid(unsafe_code)]\n+use crate::cart::total;\n fn f() {}"),
        ("src/page.rs", " mod a;\n+use crate::cart::total;\n \n #[cfg(test)]\n mod b;"),
        (
            "src/page.rs",
            " use crate::{\n-    cart::{add, Error},\n+    cart::{add, total, Error},\n     models::Kind,\n };",
        ),
        ("src/index.ts", " export { x } from './x';\n+export { default as total } from './cart';"),
        ("src/page.py", " from .cart import cart\n \n+from .cart import total\n f()"),
        ("src/page.py", " from __future__ import annotations\n+from .cart import total"),
        ("src/page.py", " \"\"\"Pages.\"\"\"\n+from .cart import total\n f()"),
    ] {
        assert_eq!(measured(ADDS_TOTAL, made(path, diff)).0, Class::Incidental, "{diff}");
    }
    for (path, diff) in [
        ("src/page.rs", " use a::b;\n \n #[cfg(debug_assertions)]\n+use crate::cart::total;\n pub fn backdoor() {}"),
        ("src/page.rs", " #[cfg(test)]\n+use crate::cart::total;\n pub mod testing;"),
        ("src/page.js", " if (user.admin)\n+  var { total } = require('./cart');\n   wipe();"),
        ("src/page.js", "+const { total } = require('./cart');\n 'use strict';\n f();"),
        ("src/page.js", "+const { total } = require('./cart');\n #!/usr/bin/env node\n f();"),
        ("src/page.py", "+from .cart import total\n \"\"\"Pages.\"\"\"\n x = __doc__"),
        ("src/page.py", "+from .cart import total\n from __future__ import annotations\n f()"),
        ("src/page.ts", " // @ts-ignore\n+import { total } from './cart';\n const a = f();"),
        ("src/page.ts", "+import { total } from './cart';\n // @ts-nocheck\n const a = f();"),
        ("src/page.py", "+from .cart import total\n #!/usr/bin/env python3\n f()"),
        ("src/page.py", " q = \"\"\"\n+from .cart import total\n \"\"\""),
    ] {
        assert_ne!(measured(ADDS_TOTAL, made(path, diff)).0, Class::Incidental, "{diff}");
    }
    let types = "+if TYPE_CHECKING:\n+    from .cart import total";
    assert_eq!(measured(ADDS_TOTAL, made("src/page.py", types)).0, Class::Judge);
    for more in [
        "+mod total;\n-mod cart;\n+pub mod cart;",
        "+use cart::total;\n-mod cart;\n+pub(crate) mod cart;",
        "-pub(crate) use crate::cart::add;\n+pub use crate::cart::{add, total};",
    ] {
        assert_ne!(measured(ADDS_TOTAL, made("src/lib.rs", more)).0, Class::Incidental, "more than was asked for");
    }
}

#[test]
fn white_space_that_counts_is_no_layout() {
    for (path, diff) in [
        ("src/page.ts", "-if (/^[a-z ]+$/.test(s)) f();\n+if (/^[a-z]+$/.test(s)) f();"),
        ("src/page.ts", "-s.split(/ /);\n+s.split(/  /);"),
        ("src/page.ts", "-x = a++ + b;\n+x = a + ++b;"),
        // Where a line ends, a statement may.
        ("src/page.ts", " class A {\n-  async save() {\n+  async\n+  save() {\n   }\n }"),
        ("src/page.ts", "-const f = async x => g(x);\n+const f = async\n+  x => g(x);"),
        ("src/page.js", "-async function f() {\n+async\n+function f() {\n }"),
        ("src/page.js", " class A {\n-  async [name]() {\n+  async\n+  [name]() {\n   }\n }"),
        ("src/page.ts", " class A {\n-  declare x\n+  declare\n+  x\n }"),
        ("src/page.ts", "-let p = q\n-++r\n+let p = q++\n+r"),
        ("src/page.ts", "-p\n-++\n+p++"),
        ("src/page.js", "-a\n---b;\n+a--\n+b;"),
        ("src/page.tsx", "-<p>Hello, {name}</p>\n+<p>Hello,{name}</p>"),
        ("src/page.tsx", " <p>\n+// shown\n </p>"),
        ("src/page.vue", " <p>\n+/* shown */\n </p>"),
    ] {
        let import = "import { total } from './cart';";
        assert_eq!(beside_an_import(path, import, " f();"), Class::Incidental, "{path}");
        assert_ne!(beside_an_import(path, import, diff), Class::Incidental, "{diff}");
    }
    for diff in [
        "-const value = sum(a, b);\n+const value = sum(\n+  a,\n+  b);",
        "-const value = a + b;\n+const value = a\n+  + b;",
        "-class Page extends View {\n+class Page\n+  extends View {\n }",
        "-const value = a in b;\n+const value =\n+  a in b;",
        "-list.map(f).filter(g);\n+list\n+  .map(f)\n+  .filter(g);",
        "-  const a = b\n-  const c = d\n+    const a = b\n+    const c = d",
    ] {
        assert_eq!(
            beside_an_import("src/page.ts", "import { total } from './cart';", diff),
            Class::Incidental,
            "{diff}"
        );
    }
    let star = " export * from './auth';\n-export { add } from './cart';\n+export { add, total } from './cart';";
    assert_ne!(measured(ADDS_TOTAL, made("src/index.ts", star)).0, Class::Incidental, "it may hide another");
    let own = " import json\n-json.load(1)\n+json.total(1)";
    assert_ne!(measured("-def load():\n+def total():", made("src/a/page.py", own)).0, Class::Incidental);
}

#[test]
fn a_field_that_moves_others_is_for_a_person_where_their_order_counts() {
    for (path, diff) in [
        ("item.py", " class Item(NamedTuple):\n+    tax: int\n     price: int"),
        ("item.kt", " data class Item(\n+    val tax: Int,\n     val price: Int,\n )"),
        ("item.rs", " #[derive(PartialEq, PartialOrd, Ord)]\n struct Item {\n+    tax: u64,\n     price: u64,\n }"),
        ("item.rs", " #[repr(C)]\n // for others\n struct Item {\n+    tax: u64,\n     price: u64,\n }"),
    ] {
        assert_ne!(measured(USES_TAX, made(path, diff)).0, Class::Incidental, "{diff}");
    }
    let plain = " #[derive(Debug)]\n struct Item {\n+    tax: u64,\n     price: u64,\n }";
    assert_eq!(measured(USES_TAX, made("item.rs", plain)).0, Class::Incidental);
}
