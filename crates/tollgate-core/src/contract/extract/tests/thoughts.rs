//! What models print as their thoughts is no report.

use super::*;

fn thought(tag: &str, text: &str) -> String {
    format!("<{tag}>\nShould I say this?\n\n{text}\n\nOr not.\n</{tag}>\n")
}

#[test]
fn what_stands_in_thoughts_is_no_report() {
    let [good, bad] = ["approved", "rejected"].map(|word| verdict(word, WHY));
    let fenced = format!("```json\n{good}\n```");
    for tag in ["think", "thinking", "reasoning", "reflection", "scratchpad", "THINK"] {
        for draft in [&good, &fenced] {
            let id = "wr.gate_verdict";
            let result = |text: &str| shown(&found(id, text, &Context::default()));
            let thought = thought(tag, draft);
            assert_eq!(
                result(&format!("{thought}\nI need more information.\n")).split(' ').take(2).collect::<Vec<_>>(),
                ["malformed", "none"]
            );
            let said = format!("{{\"type\":\"result\",\"result\":{}}}\n", quoted(&format!("{thought}\nI am unsure.")));
            assert!(result(&said).starts_with("malformed none TG0201"), "{}", result(&said));
            assert!(result(&format!("{bad}\n\n{thought}\nDone.\n")).starts_with("ok reject @1:1"), "{thought}");
            assert!(result(&format!("{thought}\n{bad}\n")).starts_with("ok reject"), "{thought}");
            let taken = format!("{good}\n\n{thought}\nverdict: rejected\n");
            assert!(result(&taken).starts_with("malformed none"), "{taken}\n{}", result(&taken));
            let unread = format!("{good}\n\n{}\n\n{thought}\n", bad.replace('"', "'"));
            assert!(result(&unread).starts_with("malformed none"), "{unread}\n{}", result(&unread));
        }
    }
    let block = include_str!("../../../../../../docs/contracts/examples/status-block.md").replace("two", "three");
    let text = format!("{}\nI could not look.\n", thought("think", &block));
    assert!(shown(&found("status-block", &text, &Context::default())).starts_with("malformed none"), "{text}");
    let text = format!("{}\n{block}", thought("think", &block.replace("REQUEST_CHANGES", "n/a")));
    let counts = shown(&found("status-block", &text, &Context::default()));
    let alone = shown(&found("status-block", &block, &Context::default()));
    assert!(alone.starts_with("ok reject") && counts.starts_with("ok reject"), "{alone}\n{counts}");
}

/// The tag that begins thoughts may stand in what the model was given, and the one that ends them may be lost.
#[test]
fn thoughts_with_one_tag_are_doubted() {
    let [good, bad] = ["approved", "rejected"].map(|word| verdict(word, WHY));
    let id = "wr.gate_verdict";
    for (text, expected) in [
        (format!("Maybe {good}\n</think>\n\nI am unsure.\n"), "malformed none TG0201@1:7"),
        (format!("Maybe {good}\n</think>\n\n{bad}\n"), "ok reject @4:1"),
        (format!("<think>\nMaybe {good}\n"), "malformed none TG0201@2:7"),
        (format!("{bad}\n\n<think>\n{good}\n"), "malformed none @4:1 earlier@1:1 valid before@1:1 TG0201@4:1"),
        (format!("{good}\n\n<think>\n{good}\n"), "ok accept @1:1"),
        (verdict("approved", "It closes <think> and </think> now."), "ok accept @1:1"),
        (format!("It reads `<think>` as text.\n\n{good}\n"), "ok accept @3:1"),
    ] {
        check(id, &text, expected);
    }
}
