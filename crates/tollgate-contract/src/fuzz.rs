//! Whatever an agent prints, every contract answers it: no text breaks reading, mending, writing or finding, what is told has a place in
//! the text, and what is mended or written stays as it is.
//!
//! A case is a document that some contract shows, changed a few times; its number is all that it depends on.
//! `PROPTEST_CASES=200000 cargo test --release -p tollgate-contract fuzz` looks at many.

pub mod change;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use self::change::{Dice, changed};
use crate::cases::dialect;
use crate::defined::definition::{Form, samples};
use crate::extract::{Read, Transcript, extract};
use crate::fix::fix;
use crate::recognition::recognise;
use crate::{Context, proptest_cases, reask, registry};
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::report::{CriterionRow, Health, Part};

/// A document that is changed, and for whom it is read.
struct Seed {
    id: &'static str,
    text: String,
    context: Context,
}

/// What every contract shows: its examples and those of its rules, and its template.
fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for id in registry::all() {
        let mut add = |text: String, role: Option<tollgate_core::Name>| {
            let part = role.as_deref().and_then(Part::parse);
            let row =
                |group: &str| CriterionRow { id: "DoD-1".into(), group: Some(group.into()), ..CriterionRow::default() };
            let criteria = part.map(|part| vec![row(if part == Part::Tester { "tester" } else { "dod" })]);
            all.push(Seed { id, text, context: Context { role, part, criteria, ..Context::default() } });
        };
        match registry::defined(id) {
            Some(own) => {
                for sample in samples(&own.definition) {
                    add(own.write(&sample.document).expect(id), sample.by);
                }
                add(crate::defined::guide::template(&own.definition), None);
            }
            None => {
                let bare = id.split('@').next().expect(id);
                let page = format!("{}/../../docs/contracts/examples/{bare}.md", env!("CARGO_MANIFEST_DIR"));
                let text = std::fs::read_to_string(&page).expect(&page);
                for role in [None, Some("reviewer"), Some("checker"), Some("tester")] {
                    add(text.clone(), role.map(Into::into));
                }
            }
        }
    }
    all
}

/// Everything that is told stands in the text: on one of its lines, not behind the end of it.
fn stand_in(diagnostics: &[Diagnostic], text: &str) {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<usize> = text.split(['\n', '\r']).map(|line| line.chars().count()).collect();
    for one in diagnostics {
        assert!(
            !one.message.contains('\u{1b}') && one.hint.is_some(),
            "it can be printed, and says what to do: {one:?}"
        );
        for place in [Some(one.place), one.other].into_iter().flatten() {
            let (line, column) = (place.line as usize, place.column as usize);
            let width = line.checked_sub(1).map_or(0, |at| lines.get(at).copied().unwrap_or_default());
            let stands = line <= lines.len().max(1) && (line == 0 || (1..=width + 1).contains(&column));
            assert!(stands, "{place:?} is not in the text: {one:?}");
        }
    }
}

fn errors(read: &Read) -> usize {
    read.diagnostics().iter().filter(|one| one.severity == Severity::Error).count()
}

/// What must hold for a text, whatever it is.
fn holds(seed: &Seed, text: &str) {
    let (dialect, context) = (dialect(seed.id), &seed.context);
    let read = dialect.read(text, context);
    stand_in(read.diagnostics(), text);
    assert_eq!(
        reask::reask(read.diagnostics()).is_some(),
        read.is_refused(),
        "a refused report gets a message that says what to fix"
    );

    let mended = fix(dialect, text, context);
    stand_in(mended.read.diagnostics(), &mended.text);
    let again = fix(dialect, &mended.text, context);
    assert!(again.mended.is_empty() && again.text == mended.text, "fixed again: {:?}\n{}", again.mended, again.text);
    assert!(read.is_refused() || errors(&mended.read) == 0, "mending broke it: {:?}", mended.read.diagnostics());
    if let (Read::Report(before), Read::Report(after)) = (&read, &mended.read) {
        assert_eq!(read.is_refused(), before.report.health == Health::Malformed, "what is refused is malformed");
        assert!(read.is_refused() || before.report == after.report, "mending gave it another meaning");
    }

    let found = extract(dialect, &Transcript::Plain(text), context);
    stand_in(found.read.diagnostics(), text);
    assert!(found.found.is_some() || found.read.is_refused(), "nothing was found and nothing is wrong");
    let shown = Context { prompt: Some(text.to_owned()), unit: Some("x".into()), ..context.clone() };
    let echo = extract(dialect, &Transcript::Plain(text), &shown);
    stand_in(echo.read.diagnostics(), text);
    assert!(
        echo.found.is_some() || echo.read.is_refused(),
        "nothing was found in what was shown, and nothing is wrong"
    );
    recognise("report", text, registry::all_defined());

    let own = registry::defined(seed.id);
    own.into_iter().for_each(|own| written_again(own, text, context));
    let is_lines = own.is_some_and(|own| own.definition.forms[0] == Form::JsonLines);
    if let Some(document) = serde_json::from_str(text).ok().filter(|_| !is_lines) {
        let rendered = dialect.format().render(&document);
        assert!(read.is_refused() || rendered.is_ok(), "a good document cannot be written: {rendered:?}");
    }
}

/// A good document says the same when it is written down and read again.
fn written_again(own: &crate::defined::Defined, text: &str, context: &Context) {
    let judged = own.judge(text, context);
    stand_in(&judged.diagnostics, text);
    let Some(root) = judged.root.filter(|_| judged.diagnostics.is_empty()) else { return };
    let once = match own.write(&root) {
        Ok(once) => once,
        // Markdown is read more kindly than it is written: what would be read as something else is refused, never written.
        Err(_) if own.definition.forms[0] == Form::Markdown => return,
        Err(why) => panic!("a good document cannot be written: {why}"),
    };
    let again = own.judge(&once, context);
    assert!(again.diagnostics.is_empty(), "written, it is refused: {:?}\n{once}", again.diagnostics);
    let twice = own.write(&again.root.expect("a document")).expect("it was written before");
    assert_eq!(once, twice, "written again, it is another");
}

#[test]
fn no_change_of_a_document_breaks_a_contract() {
    let seeds = seeds();
    let texts: Vec<&str> = seeds.iter().map(|seed| &*seed.text).collect();
    let mut broken = BTreeMap::new();
    for case in 0..u64::from(proptest_cases::few(200).cases) {
        let mut dice = Dice::new(case);
        let seed = dice.pick(&seeds);
        let text = changed(&seed.text, &texts, &mut dice);
        if let Err(why) = catch_unwind(AssertUnwindSafe(|| holds(seed, &text))) {
            let why = why.downcast_ref::<String>().map_or("it panics", |why| why);
            // What breaks many cases in one way is shown once.
            let kind: String = why.chars().take(40).collect();
            let shown = || format!("case {case}, {} by {:?}: {why}\n{text:?}\n{text}", seed.id, seed.context.role);
            broken.entry((seed.id, kind)).or_insert_with(shown);
        }
    }
    assert!(broken.is_empty(), "{}", broken.into_values().take(20).collect::<Vec<_>>().join("\n\n"));
}
