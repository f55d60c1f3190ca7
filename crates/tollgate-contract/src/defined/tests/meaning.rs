//! What each contract's words mean, by the pair of health and verdict.

use super::*;
use crate::ReportDialect;

/// The codes of a health are those of the file that protocols are checked by before there is code, and no others.
#[test]
fn codes_are_those_that_protocols_know() {
    let (known, problems) =
        tollgate_core::protocol::Dialects::read(include_str!("../../../../tollgate-core/tests/drafts/dialects.yaml"));
    assert!(problems.is_empty(), "{problems:?}");
    for (dialect, contracts) in
        [("team-json", "team."), ("supervisor.worker-report", "supervisor."), ("decree", "decree."), ("handoff", "wr.")]
    {
        let mut codes = std::collections::BTreeSet::new();
        for own in registry::all_defined().filter(|own| own.definition.id.starts_with(contracts)) {
            let declared = registry::report_dialect(&own.definition.id).map(ReportDialect::declaration);
            let declared = declared.into_iter().flat_map(|declared| declared.codes);
            codes.extend(declared.flat_map(|(health, codes)| codes.into_iter().map(move |code| (health, code))));
        }
        let expected = &known.get(dialect).expect(dialect).codes;
        let expected = expected.iter().flat_map(|(health, codes)| codes.iter().map(|code| (*health, code.clone())));
        assert_eq!(codes, expected.collect(), "{dialect}");
    }
    let documents = registry::document_declarations();
    for name in known.document_names() {
        let (expected, declared) = (known.document(name).unwrap(), &documents[name]);
        assert_eq!((&expected.brings, &expected.attrs), (&declared.brings, &declared.attrs), "{name}");
    }
}

#[test]
fn documents_enter_the_ledger() {
    let plan = |contract: &str| {
        let own = registry::defined(contract).expect(contract);
        crate::DocumentDialect::read(own, &text_of(own, &own.definition.example), &Context::default()).plan
    };
    let tasks = plan("team.tasks");
    assert_eq!(tasks.units.iter().map(|unit| &*unit.name).collect::<Vec<_>>(), ["T-001", "T-002"]);
    assert_eq!((&*tasks.units[1].needs[0], &*tasks.units[0].scope[0]), ("T-001", "src/cart.js"));
    assert_eq!(tasks.criteria.len(), 2);
    let acceptance = plan("team.acceptance");
    assert_eq!((&*acceptance.criteria[0].id, &*acceptance.criteria[0].text), ("AC-001", "The cart shows a total."));
}
