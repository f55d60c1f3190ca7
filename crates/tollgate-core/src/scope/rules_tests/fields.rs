//! Fields of a shared type, as languages write them.

use super::criteria::{check, measured};
use super::*;

#[test]
fn a_field_of_a_shared_type_that_the_change_uses_is_incidental() {
    let uses = "-  return price;\n+  return price + item.tax;";
    check(
        uses,
        made("src/types.ts", "@@ export interface Item {\n   price: number;\n+  tax: number;"),
        "+++",
        Class::Incidental,
    );
    check(
        uses,
        made("src/types.rs", " pub struct Item {\n     price: u64,\n+    pub tax: u64,\n }"),
        "+++",
        Class::Incidental,
    );
    check(uses, made("src/types.ts", "@@ export interface Item {\n+  colour: string;"), "+-+", Class::OutOfScope);
    for (path, diff) in [
        ("item.go", "@@ type Item struct {\n \tprice int\n+\ttax int"),
        ("item.go", " type Item struct {\n \tprice int\n+\ttax   *big.Int `json:\"tax\"`\n }"),
        ("item.go", " type Item struct {\n \tprice int\n+\ttax int `json:\"tax,omitempty\" yaml:\"tax\"`\n }"),
        ("item.py", " @dataclass\n class Item:\n     price: int\n+    tax: int"),
        ("Item.java", " public class Item {\n     private int price;\n+    private List<Tax> tax;\n }"),
        ("Item.cs", " public class Item {\n     int price;\n+    internal readonly int tax;\n }"),
        ("Item.cs", " public class Item\n {\n     int price;\n+    public int tax;\n }"),
        (
            "Item.cs",
            " namespace Shop\n {\n   class Item\n   {\n     int price;\n+    public int tax { get; set; }\n   }\n }",
        ),
        ("Item.cs", " class Item {\n     int price;\n+    public int tax {get; private set;}\n }"),
        ("Item.cs", " class Item {\n     int price;\n+    public int tax; // in cents\n }"),
        ("item.go", " type Item struct {\n \tprice int\n+\ttax int // in cents\n }"),
        ("item.ts", " class Item {\n   price: number;\n+  tax: number; // in cents\n }"),
        ("Item.java", " class Item {\n     @Id private int price;\n+    private int tax;\n }"),
        ("item.py", " class Item:\n     price: int\n+    tax: int  # in cents"),
        ("Item.java", "@@ public class Item\n {\n     int price;\n+    int tax;\n }"),
        ("item.kt", " data class Item(\n     val price: Int,\n+    val tax: Int,\n )"),
        ("item.ts", " class Item {\n   price: number;\n+  private tax: number;\n }"),
        ("item.ts", " class Item {\n   price: number;\n+  private tax!: number;\n }"),
    ] {
        check(uses, made(path, diff), "+++", Class::Incidental);
    }
    for (path, diff) in [
        ("item.go", " type Item struct {\n \tprice int\n+\ttax func() int\n }"),
        // A tag that says more than the name of its field.
        ("item.go", " type Item struct {\n \tprice int\n+\ttax int `json:\"price\"`\n }"),
        ("item.go", " type Item struct {\n \tprice int\n+\ttax int `json:\"-\"`\n }"),
        ("item.go", " type Item struct {\n \tprice int\n+\ttax int `json:\"tax,string\"`\n }"),
        ("item.go", " type Item struct {\n \tprice int\n+\ttax int `json:\"tax\" gorm:\"default:7\"`\n }"),
        ("item.go", " type Item struct {\n \tprice int\n+\ttax int `json:\"tax\" validate:\"tax\"`\n }"),
        ("item.go", " type Item struct {\n \tprice int\n+\ttax int `json:\"tax\"yaml`\n }"),
        ("item.py", " class Item:\n     price: int\n+    tax: int = 7"),
        ("item.py", " class Item:\n     def all(self):\n+        return self.tax"),
        ("Item.java", " public class Item {\n     int price;\n+    int tax = rate();\n }"),
        ("Item.java", " public class Item {\n     int price() {\n+        return tax;\n     }"),
        ("Item.cs", " public class Item\n {\n     int Price()\n     {\n+        int tax;\n     }"),
        ("Item.cs", " public class Item {\n     int price;\n+    public int tax { get; set; } = 7;\n }"),
        ("Item.cs", " public class Item {\n     int price;\n+    public int tax { get => rate(); }\n }"),
        ("Item.java", " class Item {\n   {\n+    int tax;\n   }\n }"),
        ("Item.cs", " public class Item {\n     int price;\n+    [Key] public int tax;\n }"),
        ("Item.cs", " public class Item {\n     int price;\n+    public override int tax { get; set; }\n }"),
        ("Item.cs", " public class Item {\n     int price;\n+    public required int tax;\n }"),
        // Between an annotation and what it is about.
        ("Item.java", " class Item {\n     @Column(\"a\")\n+    int tax;\n     int price;\n }"),
        ("Item.cs", " class Item {\n     [JsonIgnore]\n+    int tax;\n     int price;\n }"),
        ("item.rs", " struct Item {\n     #[serde(skip)]\n+    tax: u64,\n     price: u64,\n }"),
        ("Item.java", " class Item {\n     @Column(\n       name = \"a\"\n     )\n+    int tax;\n     int price;\n }"),
        ("Item.cs", " class Item {\n     [Key] // of it\n+    int tax;\n     int price;\n }"),
        ("item.py", " class Item:\n     price: int\n+    tax: int  # type: ignore"),
        ("item.ts", " class Item {\n   price: number;\n+  override tax: number;\n }"),
        // What stands behind it has another number then.
        ("Kind.java", " public enum Kind {\n     price,\n+    tax,\n     total\n }"),
        ("kind.ts", "@@ export enum Kind {\n   price,\n+  tax"),
    ] {
        assert_ne!(measured(uses, made(path, diff)).0, Class::Incidental, "{diff}");
    }
    // The field before it gets a comma, and nothing else.
    let comma = "@@ export type Item = {\n-  price: number\n+  price: number,\n+  tax: number";
    check(uses, made("src/types.ts", comma), "+++", Class::Incidental);
    let retyped = "@@ export type Item = {\n-  price: number\n+  price: string,\n+  tax: number";
    check(uses, made("src/types.ts", retyped), "+??", Class::Judge);
    // In an object it is a value, not a field.
    check(uses, made("src/types.ts", "@@ const defaults = {\n+  tax: 7,"), "+??", Class::Judge);
}

#[test]
fn a_field_that_was_there_before_is_not_added() {
    let uses = "-  return price;\n+  return price + item.quantity;";
    for (path, diff) in [
        ("src/types.ts", "@@ export interface Item {\n-  quantity: 1 | 2;\n+  quantity: number;"),
        ("src/types.ts", "@@ export interface Item {\n-  quantity: number;"),
        ("src/types.ts", "@@ export interface Item {\n-  readonly quantity: number;\n+  quantity: number;"),
        ("src/types.ts", "@@ export interface Item {\n-  quantity: number;\n+  quantity?: number;"),
        ("src/types.rs", "@@ pub struct Item {\n-    pub quantity: u64,\n+    quantity: u64,"),
        ("src/types.rs", "@@ pub struct Item {\n-    pub quantity: u64,"),
    ] {
        check(uses, made(path, diff), "+??", Class::Judge);
    }
    // What is used there is the name, not the type; and it was not there before.
    check(uses, made("src/types.ts", "@@ export interface Item {\n+  colour: quantity;"), "+?+", Class::Judge);
    let kept = " function price(quantity) {\n-  return price;\n+  return price + quantity;";
    check(kept, made("src/types.ts", "@@ export interface Item {\n+  quantity: number;"), "+?+", Class::Judge);
}
