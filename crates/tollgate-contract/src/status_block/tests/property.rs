//! What is written is checked by reading it, and hostile texts end.

use super::*;
use crate::markdown::BYTES_MAX;
use crate::proptest_cases;

#[test]
fn words_that_cannot_be_written_are_refused_by_name() {
    let render = |field: &str, value: serde_json::Value| {
        let mut document = serde_json::json!({"status": "complete", "abstract": {"outcome": "x"}});
        document[field] = value;
        StatusBlock.render(&document)
    };
    assert!(render("key_decisions", "a\n## Status\nfailed".into()).is_err());
    assert_eq!(
        render("key_decisions", "a\n## B".into()),
        Err("`key_decisions` would not be read back as it is".to_owned())
    );
    assert!(render("open_questions", serde_json::json!(["none"])).is_err());
    assert!(render("mood", "good".into()).is_err_and(|error| error.contains("mood")));
}

/// Work is counted by what comes out: twice the text gives at most twice the sections, and never more complaints than
/// the bound. That it ends at all at the size limit is the rest of the proof: quadratic time would not.
#[test]
fn hostile_texts_end_and_stay_bounded() {
    let units = [
        "## Status\n",
        "- \r",
        "a\r",
        "x\n\n<!-- -->\n\n",
        "## Status\ncomplete\n",
        "- ",
        "- \n",
        "> ",
        "```\n",
        "## x\n",
        "## Open Questions\n",
        "[",
        "*a_",
        "`",
        "<!--\n",
        "- ✓ DoD-1\n",
        "DoD-1,",
        "\n",
        "&",
        "![](",
        "\t",
        "<a ",
        "1. x\n",
        "[a]: b\n",
        "  - x\n",
        "x: ",
        "— ",
        "***",
        "\\",
        "~~~\n~~~~\n",
        "> - 1. > - x\n",
        "<?",
        "<![CDATA[",
        "a\n=\n",
        "[a][",
        "_ _ *",
    ];
    let context = Context { prompt: Some(EXAMPLE.repeat(80)), ..with_rows(Part::Tester, &[("tester", "a")]) };
    let at = |unit: &str, bytes: usize| {
        let mut text = complete("n/a", "## DoD coverage\n- ✓ DoD-1\n");
        text.push_str(&unit.repeat((bytes - text.len()) / unit.len()));
        let reading = read(&text, &context);
        assert!(reading.diagnostics.len() <= 100, "{unit:?}");
        reading.present.len()
            + reading.report.criteria.len()
            + reading.sections.values().map(String::len).sum::<usize>()
    };
    for unit in units {
        let size = proptest_cases::size(BYTES_MAX / 64, BYTES_MAX / 8);
        let (half, whole) = (at(unit, size / 2), at(unit, size));
        assert!(whole <= 2 * half + 512, "{unit:?}: {half} then {whole}");
    }
    for unit in ["## Status\n", "- \r"] {
        at(unit, proptest_cases::size(BYTES_MAX / 8, BYTES_MAX));
    }
    let deep = format!("{}\n{}", "- ".repeat(30), "\n".repeat(proptest_cases::size(BYTES_MAX / 16, BYTES_MAX / 2)));
    read(&deep, &context);
}
