//! What each contract's words mean, by the pair of health and verdict.

use super::*;

/// Protocols route by these: a code that is renamed leaves a route that nothing takes.
#[test]
fn each_family_declares_its_codes() {
    let families = [
        ("team.", "needs_input: information decision outgrown missing-context"),
        ("supervisor.", "failed: adapter scope dirty auth"),
        (
            "decree.",
            "needs_input: spec-ambiguity spec-contradiction spec-gap external-dependency technical-constraint debugging-limit
             failed: validation",
        ),
        ("wr.", ""),
    ];
    for (family, expected) in families {
        let of_family = registry::all_defined().filter(|own| own.definition.id.starts_with(family));
        let reports = of_family.filter_map(|own| registry::report_dialect(&own.definition.id));
        let codes = reports.flat_map(|report| report.declaration().codes);
        let declared: std::collections::BTreeSet<String> = codes
            .flat_map(|(health, codes)| codes.into_iter().map(move |code| format!("{} {code}", health.word())))
            .collect();
        let lines = expected.lines().filter_map(|line| line.trim().split_once(": "));
        let expected =
            lines.flat_map(|(health, codes)| codes.split(' ').map(move |code| format!("{health} {code}"))).collect();
        assert_eq!(declared, expected, "{family}");
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
