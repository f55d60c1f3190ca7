//! Files that somebody wrote as a report, read as `contract check` reads them.

use super::taken_back::report;
use super::*;

fn handed_in(id: &str, text: &str) -> Read {
    dialect(id).read_handed_in(text, &Context::default())
}

/// What makes a report of a transcript malformed makes a file so, with one error and its place.
#[test]
fn a_file_that_contradicts_itself_is_refused() {
    let review = report("decree.reviewer-result", "#34", "#35");
    let work = report("decree.implementor-result", "#34", "#35");
    let approval = report("decree.review-approval", "None", "None.");
    let done = |said: &str| work.replacen("### What Was Done\n", &format!("### What Was Done\n\n{said}\n"), 1);
    for (id, text) in [
        ("decree.reviewer-result", format!("{review}\nOutcome: needs-changes\n")),
        ("decree.reviewer-result", format!("{review}\n- **Outcome:** needs-changes\n")),
        ("decree.reviewer-result", format!("{review}\n```\n**Outcome:** needs-changes\n```\n")),
        ("decree.implementor-result", done("Outcome: blocked")),
        ("decree.implementor-result", done("**Outcome:** blocked")),
        ("decree.review-approval", format!("# Draft\n\n{approval}")),
        ("decree.review-approval", format!("Previous review:\n\n{approval}")),
        ("decree.review-approval", format!("# Example\n\n{approval}")),
        (
            "decree.review-approval",
            format!("{}\n**Review: Needs Changes**\n", approval.replace("None.", "One nit stays.")),
        ),
    ] {
        assert!(!dialect(id).read(&text, &Context::default()).is_refused(), "{text}");
        let read = handed_in(id, &text);
        let errors: Vec<&Diagnostic> =
            read.diagnostics().iter().filter(|one| one.severity == Severity::Error).collect();
        assert!(errors.len() == 1 && errors[0].place.line > 0, "{text}\n{errors:#?}");
        let Read::Report(reading) = &read else { panic!("a report") };
        assert_eq!((reading.report.health, reading.report.verdict), (Health::Malformed, Verdict::None), "{text}");
        assert_eq!(reading.report.reason, errors[0].message);
    }
}

/// What every contract shows as its example, and honest files, stay what they are.
#[test]
fn an_honest_file_stays_valid() {
    let review = report("decree.reviewer-result", "#34", "#35");
    for own in registry::all_defined() {
        let example = crate::contract::guide::example(&own.definition);
        let id = &own.definition.id;
        assert_eq!(handed_in(id, &example), dialect(id).read(&example, &Context::default()), "{id}");
    }
    let refused = review.replace("approved", "needs-changes");
    for text in [
        review.clone(),
        format!("# Review of #35\n\n{review}"),
        format!("{review}\nPrevious outcome: needs-changes\n"),
        format!("{review}\nThe outcome of round 1 was needs-changes; all of it is mended.\n"),
        format!("# Draft\n\n{refused}"),
    ] {
        let read = handed_in("decree.reviewer-result", &text);
        assert!(!read.is_refused(), "{text}\n{:#?}", read.diagnostics());
    }
}
