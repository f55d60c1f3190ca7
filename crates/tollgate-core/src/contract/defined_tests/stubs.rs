//! Marks and words that say less than they seem to.

use super::evasions::{broken, errors, rules};
use super::*;

/// What an unchecked box says, a cross says too.
#[test]
fn a_cross_in_the_summary_is_no_approval() {
    let result = registry::defined("decree.reviewer-result").unwrap();
    let with = |summary: &str, outcome: &str| {
        let example = crate::contract::guide::example(&result.definition);
        errors(
            "decree.reviewer-result",
            &example.replace("All four criteria are verified.", summary).replace("approved", outcome),
        )
    };
    for summary in [
        "- ❌ Scope Compliance\n- ✅ Code",
        "- ✅ criterion 1\n- ✗ criterion 2",
        "1. ❌ criterion 1",
        "- **Code Quality:** ❌ names",
        "❌ criterion 2",
        "| criterion | |\n|---|---|\n| 1 | ✅ |\n| 2 | ❌ |",
        "- [x] ❌ criterion 2",
    ] {
        assert_eq!(with(summary, "approved"), ["11 TG0249"], "{summary}");
        assert_eq!(with(summary, "needs-changes"), [""; 0], "{summary}");
    }
    for summary in ["- ✅ criterion 1", "The page shows ❌ for a wrong total.", "Red before:\n\n```\n❌ total\n```"]
    {
        assert_eq!(with(summary, "approved"), [""; 0], "{summary}");
    }
}

/// What is put off is not said, in whatever words.
#[test]
fn a_stub_is_no_spec() {
    for stub in ["TBD", "...", "-", "_To be written_", "- TBD\n- TODO", "…", "???", "To be decided by the team", "None"]
    {
        for (id, section, said) in [
            ("team.spec", "Goals", "The cart shows a total."),
            ("team.spec", "Definition of Done", "All tests pass."),
            ("team.architecture", "Overview", "One page over one service."),
        ] {
            let example = crate::contract::guide::example(&registry::defined(id).unwrap().definition);
            let told = errors(id, &example.replace(said, stub));
            assert!(told.len() == 1 && told[0].ends_with("TG0247"), "{id} {section} {stub}: {told:?}");
        }
    }
    for stub in ["To be determined", "???", "…", "...", "To be written.", "-"] {
        let told = broken("supervisor.dossier", None, |it| it["objective"] = stub.into());
        assert_eq!(told, ["TG0247"], "{stub}");
        let row = serde_json::json!({"id": "AC-1", "requirement": stub});
        let told = broken("supervisor.dossier", None, |it| it["acceptance_matrix"][0] = row.clone());
        assert!(stub == "-" || rules(&told) == ["rows-say-something"], "{stub}: {told:?}");
    }
    let said = broken("supervisor.dossier", None, |it| it["objective"] = "To be compliant with the tax law.".into());
    assert_eq!(said, [""; 0]);
}
