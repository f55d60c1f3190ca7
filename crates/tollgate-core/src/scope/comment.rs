//! Comments: words for people, or something that a tool heeds.

use crate::contract::text::is_hidden;

/// Words that tools look for, and words with which people speak to them.
const WORDS: &[&str] = &[
    "autopep8",
    "bandit",
    "biome",
    "c8",
    "checkov",
    "checkstyle",
    "clang",
    "codeql",
    "coding",
    "cov",
    "coverage",
    "cython",
    "deno",
    "detekt",
    "distutils",
    "doctest",
    "emacs",
    "enable",
    "encoding",
    "endregion",
    "exported",
    "fallthrough",
    "fileencoding",
    "fmt",
    "gitleaks",
    "global",
    "globals",
    "isort",
    "istanbul",
    "jest",
    "jscpd",
    "jshint",
    "jsx",
    "lgtm",
    "mypy",
    "noinspection",
    "nopmd",
    "noqa",
    "nosec",
    "nosemgrep",
    "nosonar",
    "phpcs",
    "phpstan",
    "pragma",
    "prettier",
    "psalm",
    "pyre",
    "pyright",
    "pytype",
    "region",
    "resharper",
    "rubocop",
    "ruff",
    "rustfmt",
    "semgrep",
    "shellcheck",
    "skipcq",
    "snyk",
    "sonar",
    "sourcemappingurl",
    "stryker",
    "tfsec",
    "trivy",
    "v8",
    "vim",
    "vitest",
    "yapf",
];

/// What comments for tools begin with.
const BEGINNINGS: &[&str] = &[
    "!",
    "$",
    "%%",
    "+",
    "<amd-",
    "<reference",
    "=",
    "BSUB",
    "CHECK",
    "COMMAND",
    "Code generated",
    "Databricks notebook",
    "Deprecated:",
    "MAGIC",
    "PBS",
    "RUN:",
    "SBATCH",
    "^",
    "cargo-deps:",
    "compile-flags:",
    "fall through",
    "falls through",
    "type:",
    "webpack",
    "~",
];
/// What comments begin with that are code for a tool, up to their end.
const CODE: &[&str] = &["/*:", "/*-{"];

/// Whether a line begins a comment that is code for a tool, over however many lines it goes.
pub fn begins_code(line: &str) -> bool {
    CODE.iter().any(|begin| line.trim_start().starts_with(begin))
}

/// Whether a comment may be for a tool, or be more than it looks like: all but plain words for people.
pub fn steers_a_tool(comment: &str) -> bool {
    let bare = comment.trim_start();
    let said = match bare.chars().next() {
        Some(mark @ ('#' | '-')) => bare.trim_start_matches([mark, ' ', '\t']),
        _ => bare.trim_start_matches(['/', '*', ' ', '\t']),
    };
    // A line ends for some readers where it does not for others, and some read signs that are spelt.
    let odd = |c: char| (is_hidden(c) && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}' | '@' | '\\');
    let is_word = |word: &str| {
        let word = word.to_ascii_lowercase();
        WORDS.contains(&word.as_str())
            || ["ignore", "disable", "lint", "suppress"].iter().any(|part| word.contains(part))
    };
    // What stands right behind the mark is no word of a sentence: `//export Total`.
    let bound = bare.strip_prefix("//").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    bound
        || bare.starts_with("#!")
        || bare.starts_with("//!#")
        || begins_code(bare)
        || BEGINNINGS.iter().any(|begin| said.starts_with(begin))
        || said.contains(odd)
        || addresses(said)
        || said.split(|c: char| !c.is_alphanumeric()).any(is_word)
}

/// Whether a sign binds words together as people do not: `go:embed`, `codeql[js]`, `#__PURE__`; an address does.
fn addresses(said: &str) -> bool {
    let pairs = said.char_indices().zip(said.chars().skip(1));
    let before = |at: usize| said[..at].ends_with(char::is_alphanumeric);
    pairs.into_iter().any(|((at, sign), next)| match sign {
        ':' => before(at) && !next.is_whitespace() && !said[at..].starts_with("://"),
        '[' => before(at),
        '#' => next.is_alphabetic() || next == '_',
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_for_people_and_nothing_else_is() {
        for plain in [
            "// the order is checked first",
            "# Note: in cents (see #12)",
            "/* it's done, as in https://a.example/b */",
            "///  A total, rounded half up.",
            " * a line of a longer one",
            "-- by name",
            "// größer als 0 — immer",
            "/// <summary>A total.</summary>",
            "// check the type of it: a number",
            "// NOTE: run it twice",
            "// - a line of a list",
            "#: in cents",
            "// command line flags",
        ] {
            assert!(!steers_a_tool(plain), "{plain}");
        }
        for odd in [
            "// eslint-disable-next-line",
            "// @ts-ignore",
            "# noqa: F401",
            "//go:embed a.txt",
            "// +build linux",
            "#!/bin/sh",
            "// nosemgrep",
            "// codeql[js/x]",
            "/* #__PURE__ */",
            "/* v8 ignore next */",
            "// gitleaks:allow",
            "/* @vite-ignore */",
            "# vim: set fileencoding=utf-7 :",
            "// a\rf()",
            "// a\u{2028}f()",
            "// \\u000a f();",
            "// a \u{202e}b",
            "// c8 ignore next",
            "# type: ignore",
            "/* turbopackIgnore: true */",
            "/* global x */",
            "/// <reference types=\"node\" />",
            "/// <amd-module name=\"x\" />",
            "// Code generated by stringer. DO NOT EDIT.",
            "# type: (int) -> str",
            "// $ExpectType number",
            "//    ^? number",
            "// CHECK: ret",
            "// RUN: %clang %s",
            "# cython: boundscheck=False",
            "# distutils: language = c++",
            "# autopep8: off",
            "# doctest: +SKIP",
            "# skipcq: PY-1",
            "/* jshint esversion: 6 */",
            "// falls through",
            "//export Total",
            "// Deprecated: use Sum.",
            "# Databricks notebook source",
            "# MAGIC %pip install one",
            "-- MAGIC drop table t",
            "# COMMAND ----------",
            "#SBATCH --partition=gpu",
            "#PBS -l nodes=1",
            "#BSUB -q long",
            "// cargo-deps: one=\"1\"",
            "/*:: type X = number; */",
            "/*: string */",
            "/*-{ return 1; }-*/",
            "/* webpackMode: \"lazy\" */",
            "// compile-flags: -O",
            "//~ ERROR mismatched",
            "# %% [markdown]",
        ] {
            assert!(steers_a_tool(odd), "{odd}");
        }
    }
}
