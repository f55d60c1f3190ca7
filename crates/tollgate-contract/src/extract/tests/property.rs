//! What holds for every contract: the same report, however it is wrapped, and never another one when it is cut.

use super::*;
use crate::cases::context;
use crate::defined::definition::samples;
use crate::defined::guide;
use crate::proptest_cases;

/// Ways to print a report.
fn printed(text: &str) -> Vec<String> {
    vec![
        text.to_owned(),
        format!("I am done.\n\n{text}"),
        format!("\u{1b}[2K\u{1b}[1mdone\u{1b}[0m\n\n{text}"),
        format!("{}\n", quoted(text)),
    ]
}

#[test]
fn every_report_is_found_as_it_is_alone() {
    for own in registry::all_defined() {
        let dialect = dialect(&own.definition.id);
        for (nth, sample) in samples(&own.definition).into_iter().enumerate() {
            let Ok(text) = own.write(&sample.document) else { panic!("{}", own.definition.id) };
            let context = context(&sample);
            let alone = dialect.read_alone(&text, &context);
            let mut all = printed(&text);
            if own.definition.forms[0] != crate::defined::definition::Form::Markdown {
                all.push(format!("See:\n```\n{text}```\n"));
            }
            let said = format!("{}\n{}\n", quoted("I am done."), quoted(&text));
            let plain = proptest_cases::some(&all, nth, 3).map(|text| Transcript::Plain(text));
            for transcript in plain.chain([messages(&said)]) {
                let extraction = extract(dialect, &transcript, &context);
                let what = || format!("{} {}\n{transcript:?}\n{extraction:#?}", own.definition.id, sample.what);
                assert!(extraction.passed.is_empty(), "{}", what());
                match (&extraction.read, &alone) {
                    (Read::Report(one), Read::Report(other)) => assert_eq!(one.report, other.report, "{}", what()),
                    (Read::Document(one), Read::Document(other)) => assert_eq!(one.plan, other.plan, "{}", what()),
                    _ => panic!("{}", what()),
                }
                let codes = |read: &Read| read.diagnostics().iter().map(|one| one.code).collect::<Vec<_>>();
                assert_eq!(codes(&extraction.read), codes(&alone), "{}", what());
            }
        }
    }
}

#[test]
fn an_echo_changes_nothing_wherever_it_stands() {
    for own in registry::all_defined().filter(|own| own.definition.report.is_some()) {
        let Dialect::Report(dialect) = dialect(&own.definition.id) else { panic!("a report") };
        let told = dialect.instructions(&Context::default());
        let text = guide::example(&own.definition);
        let context = Context { prompt: Some(format!("Do it.\n\n{told}")), ..Context::default() };
        let alone = extract(Dialect::Report(dialect), &Transcript::Plain(&text), &context);
        for transcript in
            [format!("Do it.\n\n{told}\n\n# Work\n\n{text}"), format!("{text}\n# Log\n\nDo it.\n\n{told}\n")]
        {
            let extraction = extract(Dialect::Report(dialect), &Transcript::Plain(&transcript), &context);
            // The words around the echo are no part of it.
            if extraction.trailing.is_some()
                && extraction.read.diagnostics().iter().any(|one| one.code == Code::TEXT_AFTER)
            {
                continue;
            }
            let (Read::Report(one), Read::Report(other)) = (&extraction.read, &alone.read) else { panic!("reports") };
            assert_eq!(one.report, other.report, "{}\n{transcript}\n{extraction:#?}", own.definition.id);
        }
    }
}

/// A JSON report has an end: cut before it, nothing else passes for it. A Markdown report has none, but no draft passes for it either.
#[test]
fn a_report_that_is_cut_is_malformed_or_the_same() {
    for own in registry::all_defined().filter(|own| own.definition.report.is_some()) {
        let dialect = dialect(&own.definition.id);
        let last = guide::example(&own.definition);
        let last = last.trim_end();
        let draft = own.write(&samples(&own.definition)[0].document).unwrap_or_default();
        let json = own.definition.forms[0] == crate::defined::definition::Form::Json;
        let head = format!("{draft}\n\nNo, wait.\n\n");
        let every = proptest_cases::size(11, 1);
        for at in (1..last.len()).rev().step_by(every).filter(|at| last.is_char_boundary(*at)) {
            let extraction =
                extract(dialect, &Transcript::Plain(&format!("{head}{}", &last[..at])), &Context::default());
            let what = || format!("{} {at}: {}", own.definition.id, &last[..at]);
            assert!(!json || extraction.read.is_refused(), "{}", what());
            let from = extraction.found.as_ref().map_or(0, |found| found.from.line as usize);
            assert!(from > head.lines().count(), "{}\n{extraction:#?}", what());
        }
    }
}
