//! Lock files: what a tool writes from a manifest is told from what it would not.

use super::*;
use crate::scope::incidental::Met;

/// What becomes of a lock file whose manifest changes in scope.
fn locked(lock: Made) -> (Class, String) {
    let manifest = match lock.path {
        "Cargo.lock" => "Cargo.toml",
        "go.sum" => "go.mod",
        "poetry.lock" | "uv.lock" | "pdm.lock" => "pyproject.toml",
        "Pipfile.lock" => "Pipfile",
        "Gemfile.lock" => "Gemfile",
        "pubspec.lock" => "pubspec.yaml",
        "flake.lock" => "flake.nix",
        "composer.lock" => "composer.json",
        "packages.lock.json" => "a.csproj",
        ".terraform.lock.hcl" => "main.tf",
        "Package.resolved" => "Package.swift",
        "mix.lock" => "mix.exs",
        _ => "package.json",
    };
    let path = lock.path;
    let made = [made(manifest, EDIT), lock];
    let (rules, changes) = (rules(&[manifest], &[]), changes(&made));
    let found = rules.sort(&changes).into_iter().find(|one| &*one.change.path == path).unwrap();
    let criteria = found.criteria.unwrap();
    assert_eq!((criteria.minimal.met, criteria.required.met), (Met::Yes, Met::Yes), "{path}");
    (found.class, criteria.unaltered.measured)
}

const CARGO: &str = r#" [[package]]
 name = "itoa"
 version = "1.0.9"
 source = "registry+https://github.com/rust-lang/crates.io-index"
 checksum = "af150ab688ff2122fcef229be89cb50dd66af9e01a4ff320cc137eecc9bacc38"
"#;

fn written(path: &'static str, diff: &'static str) {
    let (class, measured) = locked(made(path, diff));
    assert_eq!(class, Class::Incidental, "{path}: {measured}\n{diff}");
}

#[test]
fn what_a_tool_writes_is_incidental() {
    let cargo = |rest: &str| -> &'static str { format!("{CARGO} \n{rest}").leak() };
    for (path, diff) in [
        // cargo add
        (
            "Cargo.lock",
            cargo(
                r#" [[package]]
+name = "ryu"
+version = "1.0.15"
+source = "registry+https://github.com/rust-lang/crates.io-index"
+checksum = "1ad4cc8da4ef723ed60bced201181d83791ad433213d8c24efffda1eec85d741"
+
+[[package]]
 name = "shop"
 version = "0.1.0"
 dependencies = [
  "itoa",
+ "ryu",
 ]"#,
            ),
        ),
        // cargo update -p
        (
            "Cargo.lock",
            r#" [[package]]
 name = "itoa"
-version = "1.0.9"
+version = "1.0.10"
 source = "registry+https://github.com/rust-lang/crates.io-index"
-checksum = "af150ab688ff2122fcef229be89cb50dd66af9e01a4ff320cc137eecc9bacc38"
+checksum = "b1a46d1a171d865aa5f83f92695765caa047a9b4cbae2cbf37dbd613a793fd4c""#,
        ),
        // npm install
        (
            "package-lock.json",
            r#"   "packages": {
     "": {
       "name": "shop",
       "version": "1.0.0",
       "dependencies": {
+        "express": "^4.18.2",
         "left-pad": "^1.3.0"
       }
     },
+    "node_modules/express": {
+      "version": "4.18.2",
+      "resolved": "https://registry.npmjs.org/express/-/express-4.18.2.tgz",
+      "integrity": "sha512-5/PsL6iGPdfQ/lKM1UuielYgv3BUoJfz1aUwU9vHZ+J7gyvwdQXFEBIEIaxeGf0GIcreATNyBExtalisDbuMqQ==",
+      "deprecated": "Don't use it, see https://v8.dev/blog",
+      "license": "MIT",
+      "funding": {
+        "type": "opencollective",
+        "url": "https://opencollective.com/express"
+      },
+      "engines": {
+        "node": ">= 0.10.0"
+      }
+    },
+    "node_modules/@babel/core": {
+      "version": "7.0.0",
+      "resolved": "https://registry.npmjs.org/@babel/core/-/core-7.0.0.tgz",
+      "integrity": "sha512-aaa"
+    },
     "node_modules/left-pad": {
-      "version": "1.2.0",
-      "resolved": "https://registry.npmjs.org/left-pad/-/left-pad-1.2.0.tgz",
-      "integrity": "sha512-OQk="
+      "version": "1.3.0",
+      "resolved": "https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz",
+      "integrity": "sha512-XI5="
     }"#,
        ),
        // go get
        (
            "go.sum",
            " github.com/davecgh/go-spew v1.1.1 h1:vj9j/u1bqnvCEfJOwUhtlOARqs3+rkHYY13jYWTU97c=\n\
             -github.com/pkg/errors v0.9.0 h1:J8lpUdobwIeCI7OiSxHqEwJUKvJwicL5+3v1oe2Yb4k=\n\
             -github.com/pkg/errors v0.9.0/go.mod h1:bwawxfHBFNV+L2hUp1rHADufV3IMtnDRdf1r5NINEl0=\n\
             +github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=\n\
             +github.com/pkg/errors v0.9.1/go.mod h1:bwawxfHBFNV+L2hUp1rHADufV3IMtnDRdf1r5NINEl0=\n\
             +gopkg.in/yaml.v3 v3.0.1 h1:fxVm/GzAzEWqLHuvctI91KS9hhNmmWOoWu0XTYJS7CA=",
        ),
        // yarn upgrade, and another that wants the same
        (
            "yarn.lock",
            r##" ansi@^1.0.0:
   version "1.0.0"
   resolved "https://registry.yarnpkg.com/ansi/-/ansi-1.0.0.tgz#679591c564c3bffaae8454cf0b3df370c3d6911c"
   integrity sha512-aaa
 
-left@^1.0.0:
-  version "1.0.0"
-  resolved "https://registry.yarnpkg.com/left/-/left-1.0.0.tgz#779591c564c3bffaae8454cf0b3df370c3d6911c"
-  integrity sha512-bbb
+left@^1.1.0:
+  version "1.1.0"
+  resolved "https://registry.yarnpkg.com/left/-/left-1.1.0.tgz#879591c564c3bffaae8454cf0b3df370c3d6911c"
+  integrity sha512-ccc
 
-right@^2.0.0:
+right@^2.0.0, right@^2.0.1:
   version "2.0.1"
   resolved "https://registry.yarnpkg.com/right/-/right-2.0.1.tgz#979591c564c3bffaae8454cf0b3df370c3d6911c"
   integrity sha512-ddd"##,
        ),
    ] {
        written(path, diff);
    }
}

#[test]
fn what_other_tools_write_is_incidental() {
    for (path, diff) in [
        (
            "yarn.lock",
            r#"-"left@npm:^1.0.0":
-  version: 1.0.0
-  resolution: "left@npm:1.0.0"
-  checksum: 10c0/aaaa
+"left@npm:^1.1.0":
+  version: 1.1.0
+  resolution: "left@npm:1.1.0"
+  checksum: 10c0/bbbb
   languageName: node
   linkType: hard"#,
        ),
        (
            "pnpm-lock.yaml",
            r#"       left:
-        specifier: ^1.0.0
-        version: 1.0.0
+        specifier: ^1.1.0
+        version: 1.1.0
 
 packages:
 
-  left@1.0.0:
-    resolution: {integrity: sha512-aaa}
+  left@1.1.0:
+    resolution: {integrity: sha512-bbb}
+    deprecated: Please upgrade. See https://v8.dev/blog/math-random for details.
     engines: {node: '>=6'}"#,
        ),
        (
            "poetry.lock",
            r#" [[package]]
 name = "idna"
-version = "3.4"
+version = "3.6"
 description = "Internationalized Domain Names"
 optional = false
 python-versions = ">=3.5"
 files = [
-    {file = "idna-3.4-py3-none-any.whl", hash = "sha256:90b77e79eaa3eba6de819a0c442c0b4ceefc341a7a2ab77d7562bf49f425c5c2"},
-    {file = "idna-3.4.tar.gz", hash = "sha256:814f528e8dead7d329833b91c5faa87d60bf71824cd12a7530b5526063d02cb4"},
+    {file = "idna-3.6-py3-none-any.whl", hash = "sha256:c05567e9c24a6b9faaa835c4821bad0590fbb9d5779e7caa6e1cc4978e7eb24f"},
+    {file = "idna-3.6.tar.gz", hash = "sha256:9ecdbbd083b06798ae1e86adcbfe8ab1479cf864e4ee30fe4e46a003d12491ca"},
 ]
 
 [package.dependencies]
+other = {version = ">=1", markers = "python_version < \"3.8\""}
 
 [metadata]
 lock-version = "2.0"
-content-hash = "814f528e8dead7d329833b91c5faa87d60bf71824cd12a7530b5526063d02cb4"
+content-hash = "914f528e8dead7d329833b91c5faa87d60bf71824cd12a7530b5526063d02cb4""#,
        ),
        (
            "uv.lock",
            r#" [[package]]
 name = "idna"
-version = "3.4"
+version = "3.6"
 source = { registry = "https://pypi.org/simple" }
-sdist = { url = "https://files.pythonhosted.org/packages/8b/e1/idna-3.4.tar.gz", hash = "sha256:aa", size = 183077 }
+sdist = { url = "https://files.pythonhosted.org/packages/bf/3f/idna-3.6.tar.gz", hash = "sha256:bb", size = 175426 }
 wheels = [
-    { url = "https://files.pythonhosted.org/packages/fc/34/idna-3.4-py3-none-any.whl", hash = "sha256:cc", size = 61538 },
+    { url = "https://files.pythonhosted.org/packages/c2/e7/idna-3.6-py3-none-any.whl", hash = "sha256:dd", size = 61567 },
 ]"#,
        ),
        (
            "Gemfile.lock",
            " GEM\n   remote: https://rubygems.org/\n   specs:\n-    rake (13.0.6)\n+    rake (13.1.0)\n \n DEPENDENCIES\n \
             -  rake (~> 13.0.6)\n+  rake\n CHECKSUMS\n-  rake (13.0.6) sha256=aa\n+  rake (13.1.0) sha256=bb",
        ),
        (
            "Pipfile.lock",
            "     \"_meta\": {\n         \"hash\": {\n-            \"sha256\": \"aa\"\n+            \"sha256\": \"bb\"\n         },\n     \"default\": {\n\
             +        \"idna\": {\n+            \"hashes\": [\n+                \"sha256:cc\"\n+            ],\n+            \"version\": \"==3.6\"\n+        }\n     }",
        ),
        (
            "pubspec.lock",
            "   http:\n     dependency: \"direct main\"\n     description:\n       name: http\n-      sha256: \"aa\"\n+      sha256: \"bb\"\n       url: \"https://pub.dev\"\n     source: hosted\n\
             -    version: \"1.1.0\"\n+    version: \"1.2.0\"",
        ),
        (
            "packages.lock.json",
            "       \"Newtonsoft.Json\": {\n         \"type\": \"Direct\",\n-        \"resolved\": \"13.0.1\",\n-        \"contentHash\": \"aa==\"\n\
             +        \"resolved\": \"13.0.2\",\n+        \"contentHash\": \"bb==\"\n       }",
        ),
        (
            ".terraform.lock.hcl",
            " provider \"registry.terraform.io/hashicorp/aws\" {\n-  version = \"5.0.0\"\n+  version = \"5.1.0\"\n   hashes = [\n-    \"h1:aa=\",\n+    \"h1:bb=\",\n   ]\n }\n \
             +\n+provider \"registry.terraform.io/hashicorp/random\" {\n+  version = \"3.0.0\"\n+  hashes = [\n+    \"h1:cc=\",\n+  ]\n+}",
        ),
        (
            "flake.lock",
            "       \"locked\": {\n-        \"lastModified\": 1,\n-        \"narHash\": \"sha256-aa=\",\n+        \"lastModified\": 2,\n+        \"narHash\": \"sha256-bb=\",\n         \"owner\": \"NixOS\",\n         \"repo\": \"nixpkgs\",\n\
             -        \"rev\": \"aa\",\n+        \"rev\": \"bb\",\n         \"type\": \"github\"",
        ),
    ] {
        written(path, diff);
    }
}

#[test]
fn a_lock_file_that_fetches_from_elsewhere_is_for_a_person() {
    let npm = |old: &str, new: &str| -> &'static str {
        format!(
            "     \"node_modules/left\": {{\n-      \"version\": \"1.0.0\",\n+      \"version\": \"1.1.0\",\n-      \"resolved\": \"{old}\",\n+      \"resolved\": \"{new}\",\n     }}"
        )
        .leak()
    };
    let old = "https://registry.npmjs.org/left/-/left-1.0.0.tgz";
    let forge = npm("https://codeload.github.com/good/left/tar.gz/1", "https://codeload.github.com/evil/left/tar.gz/2");
    let moved = npm("https://codeload.github.com/good/left/tar.gz/1", "https://codeload.github.com/good/left/tar.gz/2");
    assert_eq!(locked(made("package-lock.json", forge)).0, Class::Judge);
    assert_eq!(locked(made("package-lock.json", moved)).0, Class::Incidental);
    for (new, host) in [
        ("https://evil.example/left/-/left-1.1.0.tgz", "evil.example"),
        ("https://registry.npmjs.org@evil.example/left.tgz", "evil.example"),
        ("HTTPS:evil.example/left.tgz", "evil.example"),
        ("https://registry.npmjs.org.evil.example/left.tgz", "registry.npmjs.org.evil.example"),
        ("http://registry.npmjs.org/left/-/left-1.1.0.tgz", "http://registry.npmjs.org"),
        ("git+ssh://git@evil.example/left.git#aa", "git+ssh://git@evil.example/left.git"),
        ("file:../left.tgz", "file:../left.tgz"),
        ("github:evil/left#aa", "github:evil/left"),
        ("../left", "resolved ../left"),
    ] {
        let (class, measured) = locked(made("package-lock.json", npm(old, new)));
        assert_eq!(
            (class, measured.as_str()),
            (Class::Judge, format!("it fetches from `{host}`, which it did not before").as_str())
        );
    }
    for (path, diff) in [
        ("package-lock.json", npm(old, "https:\\u002f\\u002fevil.example/left.tgz")),
        ("package-lock.json", npm(old, "https://registry.npmjs.org/evil/-/evil-1.1.0.tgz")),
        // What people are shown makes no host known, and hides none.
        (
            "package-lock.json",
            "   \"funding\": {\n     \"url\": \"https://evil.example\"\n   },\n+  \"resolved\": \"https://evil.example/left\",",
        ),
        ("package-lock.json", "+  \"funding\": {\n+    },\n+      \"resolved\": \"https://evil.example/left\","),
        ("package-lock.json", "+  \"license\": \"MIT\", \"resolved\": \"https://evil.example/left\","),
        (
            "Cargo.lock",
            " [[package]]\n name = \"z\"\n version = \"1.0.0\"\n-source = \"registry+https://github.com/rust-lang/crates.io-index\"\n-checksum = \"aa\"\n+source = \"git+https://github.com/evil/z#aa\"",
        ),
        (
            "Cargo.lock",
            " [[package]]\n name = \"z\"\n version = \"1.0.0\"\n-source = \"registry+https://github.com/rust-lang/crates.io-index\"\n+source = \"registry+https://github.com/evil/index\"",
        ),
        (
            "yarn.lock",
            " a@1:\n   resolved \"https://registry.yarnpkg.com/a\"\n \n+\"left@file:./left\":\n+  version \"1.0.0\"",
        ),
        ("pnpm-lock.yaml", "   left:\n-    version: 1.0.0\n+    version: link:../left"),
        (
            "poetry.lock",
            " [[package]]\n name = \"z\"\n+[package.source]\n+type = \"git\"\n+url = \"https://evil.example/z.git\"",
        ),
        (
            "uv.lock",
            " source = { git = \"https://github.com/good/a?rev=1#aa\" }\n \n+[[package]]\n+source = { git = \"https://github.com/evil/z?rev=1#aa\" }",
        ),
        ("Gemfile.lock", " GEM\n   remote: https://rubygems.org/\n+GIT\n+  remote: https://evil.example/z"),
        (
            "flake.lock",
            "       \"locked\": {\n-        \"owner\": \"NixOS\",\n+        \"owner\": \"evil\",\n         \"repo\": \"nixpkgs\",",
        ),
        (
            ".terraform.lock.hcl",
            " provider \"registry.terraform.io/hashicorp/aws\" {\n }\n+provider \"evil.example/hashicorp/aws\" {",
        ),
    ] {
        let (class, measured) = locked(made(path, diff));
        assert_eq!(class, Class::Judge, "{path}: {measured}\n{diff}");
    }
}

#[test]
fn a_hash_that_changes_without_its_version_is_for_a_person() {
    for (path, diff) in [
        ("go.sum", "-a.example/a v1.0.0 h1:aaa=\n+a.example/a v1.0.0 h1:bbb=\n a.example/b v1.0.0 h1:ccc="),
        (
            "package-lock.json",
            "     \"node_modules/left\": {\n       \"version\": \"1.0.0\",\n-      \"integrity\": \"sha512-aaa\"\n+      \"integrity\": \"sha512-bbb\"\n     }",
        ),
        // It says two versions.
        (
            "package-lock.json",
            "     \"node_modules/left\": {\n+      \"version\": \"1.1.0\",\n       \"version\": \"1.0.0\",\n-      \"integrity\": \"sha512-aaa\"\n+      \"integrity\": \"sha512-bbb\"\n     }",
        ),
        // It is called otherwise.
        (
            "yarn.lock",
            "-left@^1.0.0:\n+left@^1.0.0, left@^1.0.1:\n   version \"1.0.1\"\n   resolved \"https://registry.yarnpkg.com/left/-/left-1.0.1.tgz\"\n-  integrity sha512-aaa\n+  integrity sha512-bbb",
        ),
        // There is none any more.
        (
            "Cargo.lock",
            " [[package]]\n name = \"z\"\n version = \"1.0.0\"\n source = \"registry+https://x.example/i\"\n-checksum = \"aa\"",
        ),
        (
            "Cargo.lock",
            " [[package]]\n name = \"z\"\n version = \"1.0.0\"\n-checksum = \"aa\"\n+checksum = \"bb\"\n \n [[package]]\n name = \"y\"\n-version = \"1.0.0\"\n+version = \"1.0.1\"\n-checksum = \"cc\"\n+checksum = \"dd\"",
        ),
        (
            "pnpm-lock.yaml",
            "   left@1.0.0:\n-    resolution: {integrity: sha512-aaa}\n+    resolution: {integrity: sha512-bbb}",
        ),
        // One more file that would be taken.
        (
            "poetry.lock",
            " [[package]]\n name = \"idna\"\n version = \"3.4\"\n files = [\n     {file = \"idna-3.4.whl\", hash = \"sha256:aa\"},\n+    {file = \"idna-3.4.tar.gz\", hash = \"sha256:bb\"},\n ]",
        ),
        // Which entry it is cannot be seen.
        (
            "uv.lock",
            "-    { url = \"https://x.example/a\", hash = \"sha256:aa\", size = 1 },\n+    { url = \"https://x.example/a\", hash = \"sha256:bb\", size = 2 },\n ]",
        ),
        (
            "mix.lock",
            "-  \"jason\": {:hex, :jason, \"1.4.0\", \"e855647bc964a44e2f67df589ccf49105ae039d4179db7f6271dfd3843dc27e6\", [:mix]},\n+  \"jason\": {:hex, :jason, \"1.4.0\", \"f855647bc964a44e2f67df589ccf49105ae039d4179db7f6271dfd3843dc27e6\", [:mix]},",
        ),
        // A commit is one where a version stands beside it.
        (
            "Package.resolved",
            "       \"state\" : {\n-        \"revision\" : \"aa\",\n+        \"revision\" : \"bb\",\n         \"version\" : \"1.0.0\"\n       }",
        ),
        (
            "composer.lock",
            "         {\n             \"name\": \"a/a\",\n             \"version\": \"v1.0.0\",\n             \"dist\": {\n-                \"reference\": \"aa\",\n+                \"reference\": \"bb\",\n             },",
        ),
    ] {
        let (class, measured) = locked(made(path, diff));
        assert_eq!(class, Class::Judge, "{path}: {measured}\n{diff}");
        assert!(measured.contains("another hash"), "{path}: {measured}");
    }
}

#[test]
fn a_lock_file_that_is_new_or_none_any_more_is_for_a_person() {
    let json = "-{\n-  \"packages\": {\n-  }\n-}\n";
    for lock in [
        made("package-lock.json", format!("{json}+rm -rf /").leak()),
        made("package-lock.json", json),
        made("Cargo.lock", "+version = 4").new_file(),
        made("Cargo.lock", " version = 4\n+name = \"z\"").from("old/Cargo.lock"),
        made("Cargo.lock", " version = 4\n+name = \"z\"").modes(Mode::File, Mode::Program),
        made("Cargo.lock", "-a\n+b").modes(Mode::Link, Mode::Link),
    ] {
        assert_eq!(locked(lock).0, Class::Judge);
    }
}

#[test]
fn a_package_that_is_fetched_under_another_name_is_for_a_person() {
    for (path, diff) in [
        (
            "yarn.lock",
            " \"x@npm:^1\":\n-  version: 1.0.0\n-  resolution: \"x@npm:1.0.0\"\n-  checksum: 10/aa\n+  version: 1.0.1\n+  resolution: \"evil@npm:1.0.1\"\n+  checksum: 10/bb",
        ),
        (
            "yarn.lock",
            " \"x@npm:^1\":\n-  version: 1.0.0\n-  resolution: \"x@npm:1.0.0\"\n+  version: 1.0.1\n+  resolution: \"@evil/x@npm:1.0.1\"",
        ),
        ("yarn.lock", "   dependencies:\n-    a: \"npm:^1\"\n+    a: \"npm:evil@^1\""),
        ("pnpm-lock.yaml", "       x:\n         specifier: ^1\n-        version: 1.0.0\n+        version: evil@1.0.0"),
        (
            "pnpm-lock.yaml",
            "       x:\n         specifier: ^1\n-        version: 1.0.0\n+        version: '@evil/x@1.0.0(y@2.0.0)'",
        ),
        ("pnpm-lock.yaml", " settings:\n   autoInstallPeers: true\n+\n+overrides:\n+  a: npm:evil@1.0.0"),
        ("pnpm-lock.yaml", "   b@1.0.0:\n     dependencies:\n-      x: 1.0.0\n+      x: evil@1.0.0"),
        (
            "bun.lock",
            "     \"y\": [\"y@1.0.0\"],\n-    \"x\": [\"x@1.0.0\", \"\", {}, \"sha512-aa\"],\n+    \"x\": [\"evil@1.0.1\", \"\", {}, \"sha512-bb\"],",
        ),
        ("bun.lock", "     \"y\": [\"y@1.0.0\"],\n-    \"a/@b/x\": [\"@b/x@1.0.0\"],\n+    \"a/@b/x\": [\"x@1.0.1\"],"),
        (
            "mix.lock",
            "-  \"a\": {:hex, :a, \"1.0.0\", \"aa\", [:mix]},\n+  \"a\": {:hex, :evil, \"1.0.1\", \"bb\", [:mix]},",
        ),
        (
            "package-lock.json",
            "     \"node_modules/x\": {\n-      \"version\": \"1.0.0\",\n-      \"resolved\": \"https://registry.npmjs.org/x/-/x-1.0.0.tgz\"\n+      \"version\": \"1.0.1\",\n+      \"resolved\": \"https://registry.npmjs.org/@evil/x/-/x-1.0.1.tgz\"",
        ),
    ] {
        let (class, measured) = locked(made(path, diff));
        assert_eq!(class, Class::Judge, "{path}: {measured}\n{diff}");
        assert!(measured.ends_with("is fetched under another name"), "{path}: {measured}");
    }
    for (path, diff) in [
        (
            "pnpm-lock.yaml",
            "       x:\n         specifier: ^1\n-        version: 1.0.0(y@2.0.0)\n+        version: 1.0.1(y@2.0.0)(@z/z@1.0.0)",
        ),
        ("pnpm-lock.yaml", "   b@1.0.0:\n     dependencies:\n-      '@c/x': 1.0.0\n+      '@c/x': 1.0.1(y@2.0.0)"),
        (
            "yarn.lock",
            " \"@b/x@npm:^1, @b/x@npm:^1.0.1\":\n-  version: 1.0.0\n-  resolution: \"@b/x@npm:1.0.0\"\n+  version: 1.0.1\n+  resolution: \"@b/x@npm:1.0.1\"\n   dependencies:\n+    y: \"npm:^2\"",
        ),
        (
            "bun.lock",
            "     \"y\": [\"y@1.0.0\"],\n-    \"a/@b/x\": [\"@b/x@1.0.0\"],\n+    \"a/@b/x\": [\"@b/x@1.0.1\", \"\", { \"dependencies\": { \"y\": \"^2\" } }],",
        ),
        ("mix.lock", "   \"b\": {:hex, :b, \"1.0.0\"},\n+  \"a\": {:hex, :a, \"1.0.1\", \"bb\", [:mix]},"),
        (
            "pnpm-lock.yaml",
            "-  x@1.0.0(y@2.0.0): {}\n+  x@1.0.1(y@2.0.0): {}\n \n-  '@c/x@1.0.0(y@2.0.0)':\n+  '@c/x@1.0.1(y@2.0.0)':\n     dependencies:\n       y: 2.0.0",
        ),
        (
            "yarn.lock",
            "+\"x-cjs@npm:x@^1.0.0\", x@^1.0.0:\n+  version \"1.0.1\"\n+  resolved \"https://registry.yarnpkg.com/x/-/x-1.0.1.tgz#aa\"\n \n y@1:\n   resolved \"https://registry.yarnpkg.com/y/-/y-1.0.1.tgz#aa\"",
        ),
        (
            "mix.lock",
            "-%{\"a\": {:hex, :a, \"1.0.0\"},\n+%{\"a\": {:hex, :a, \"1.0.1\"},\n   \"b\": {:hex, :b, \"1.0.0\"}}",
        ),
        // Where an entry begins is out of sight.
        ("yarn.lock", "   resolution: \"x@npm:1.0.0\"\n   dependencies:\n+    y: \"npm:^2\""),
        (
            "package-lock.json",
            "     \"node_modules/@b/x\": {\n-      \"version\": \"1.0.0\",\n-      \"resolved\": \"https://registry.npmjs.org/@b%2fx/-/x-1.0.0.tgz\"\n+      \"version\": \"1.0.1\",\n+      \"resolved\": \"https://registry.npmjs.org/@b%2fx/-/x-1.0.1.tgz\"",
        ),
    ] {
        written(path, diff);
    }
}
