use proptest::prelude::*;

use super::*;

fn secrets(values: &[(&str, &str)]) -> Arc<Secrets> {
    Arc::new(Secrets::new(values.iter().map(|(name, value)| (Name::from(*name), (*value).to_owned()))).unwrap())
}

fn streamed(secrets: &Arc<Secrets>, text: &[u8], cuts: &[usize]) -> Vec<u8> {
    let (mut redactor, mut out, mut from) = (Redactor::new(secrets.clone()), Vec::new(), 0);
    for cut in cuts.iter().map(|cut| cut % (text.len() + 1)).collect::<std::collections::BTreeSet<_>>() {
        redactor.push(&text[from..cut], &mut |piece| out.extend_from_slice(piece));
        from = cut;
    }
    redactor.push(&text[from..], &mut |piece| out.extend_from_slice(piece));
    redactor.end(&mut |piece| out.extend_from_slice(piece));
    out
}

fn scrubbed(secrets: &Secrets, text: &str) -> String {
    String::from_utf8(secrets.scrub(text.as_bytes()).into_owned()).unwrap()
}

#[test]
fn a_value_is_found_in_every_way_it_is_written() {
    let value = "pä/ss\"w\\ord=1";
    let secrets = secrets(&[("DB", value)]);
    for text in [
        value.to_owned(),
        serde_json::to_string(value).unwrap(),
        serde_json::to_string(&serde_json::to_string(value).unwrap()).unwrap(),
        r#"p\u00e4/ss\"w\\ord=1"#.to_owned(),
        r#"pä\/ss\"w\\ord=1"#.to_owned(),
        "p%C3%A4%2Fss%22w%5Cord%3D1".to_owned(),
        "p%c3%a4%2fss%22w%5cord%3d1".to_owned(),
    ] {
        let said = scrubbed(&secrets, &format!("<{text}>"));
        assert!(said.contains("[redacted DB]") && !said.contains("ord"), "{text}: {said}");
    }
    // In base64, wherever it stands in its group: `printf 'xpä/ss"w\ord=1' | base64`.
    for text in ["cMOkL3NzIndcb3JkPTE=", "eHDDpC9zcyJ3XG9yZD0x", "eHhww6Qvc3Mid1xvcmQ9MQ=="] {
        assert!(scrubbed(&secrets, text).contains("[redacted DB]"), "{text}");
    }
    // As URLs write that: `printf 'a?b>c~d?e>f~' | base64 | tr +/ -_`.
    let secrets = self::secrets(&[("DB", "a?b>c~d?e>f~")]);
    for text in ["YT9iPmN+ZD9lPmZ+", "YT9iPmN-ZD9lPmZ-"] {
        assert_eq!(scrubbed(&secrets, text), "[redacted DB]");
    }
}

#[test]
fn tokens_are_known_by_their_shape() {
    let secrets = secrets(&[]);
    let long = "abcdefghijABCDEFGHIJ0123456789abcdefghij";
    for (text, left) in [
        (format!("key=sk-ant-api03-{long}, ok"), "key=[redacted Anthropic key], ok"),
        (format!("ghp_{long}"), "[redacted GitHub token]"),
        (format!("nota_ghp_{long}!"), ""),
        ("AKIAIOSFODNN7EXAMPLE.".to_owned(), "[redacted AWS key]."),
        ("AKIA in a sentence".to_owned(), ""),
        ("sk-learn is a library".to_owned(), ""),
        (
            format!("{{\"k\":\"-----BEGIN PRIVATE KEY-----\\n{long}\\n-----END\"}}"),
            "{\"k\":\"[redacted private key]-----END\"}",
        ),
        (format!("{{\"k\":\"-----BEGIN PRIVATE KEY-----\\n{long}\\\"\"}}"), "{\"k\":\"[redacted private key]\\\"\"}"),
    ] {
        let expected = if left.is_empty() { text.clone() } else { left.to_owned() };
        assert_eq!(scrubbed(&secrets, &text), expected);
    }
    assert_eq!(secrets.found_in(format!("+ t = ghp_{long}").as_bytes()).as_deref(), Some("GitHub token"));
    assert_eq!(secrets.found_in(b"+ nothing"), None);
    // An escape before it is no word that it belongs to, wherever a stream is cut.
    for before in ["\\n", "\\\\n", "\\x1b", "\\u000a", "%0A", "\u{1b}[31m", "\\033[1;31m"] {
        let expected = format!("a{before}[redacted GitHub token]!");
        assert_eq!(scrubbed(&secrets, &format!("a{before}ghp_{long}!")), expected);
    }
    let wide: Vec<u8> = format!("t = ghp_{long}\n").bytes().flat_map(|byte| [byte, 0]).collect();
    assert_eq!(secrets.found_in(&wide).as_deref(), Some("GitHub token"), "two bytes to a letter");
}

#[test]
fn which_variables_are_secrets() {
    let variables = [
        ("GITHUB_TOKEN", "abcdefgh12"),
        ("Stripe_Key", "12345678zz"),
        ("KEYBOARD", "qwertz-layout"),
        ("PASSWORD", "short"),
        ("DATABASE_URL", "postgres://ann:hunter2hunter2@db/x"),
        ("HOME", "/home/someone"),
    ];
    let secrets = Secrets::of_variables(variables, &|_| false).unwrap();
    let said = scrubbed(&secrets, "abcdefgh12 12345678zz qwertz-layout short hunter2hunter2 /home/someone");
    let expected =
        "[redacted GITHUB_TOKEN] [redacted Stripe_Key] qwertz-layout short [redacted DATABASE_URL] /home/someone";
    assert_eq!(said, expected);
}

#[test]
fn lines_are_given_out_as_they_come() {
    let secrets = secrets(&[("T", "a-long-secret-value")]);
    let (mut redactor, mut out) = (Redactor::new(secrets), Vec::new());
    redactor.push(b"first line\nsecond a-long-sec", &mut |piece| out.extend_from_slice(piece));
    assert!(out.starts_with(b"first line\n") && !out.ends_with(b"a-long-sec"));
    redactor.push(b"ret-value end\n", &mut |piece| out.extend_from_slice(piece));
    assert_eq!(String::from_utf8(out).unwrap(), "first line\nsecond [redacted T] end\n");
}

#[test]
fn json_stays_json_behind_a_backslash() {
    let secrets = secrets(&[("N", "nabcdefgh"), ("B", "abcdefgh\\")]);
    for text in [r#""\nabcdefgh""#, r#""\\nabcdefgh""#, r#""abcdefgh\\""#, r#""abcdefgh\"""#, r#""\\\nabcdefgh\"""#] {
        let said = scrubbed(&secrets, text);
        assert!(serde_json::from_str::<String>(text).is_ok());
        assert!(serde_json::from_str::<String>(&said).is_ok(), "{text} became {said}");
    }
}

proptest! {
    /// However a stream is cut, it says what the whole says; no value is left; JSON stays JSON.
    #[test]
    fn a_stream_is_its_text(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("s3cr3t-\"value\\1".to_owned()),
                Just("s3cr3t-\"value\\12".to_owned()),
                Just("ghp_abcdefghijABCDEFGHIJ0123456789abcdefghij".to_owned()),
                Just("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END".to_owned()),
                "[a-z\\\\\"\n ]{0,12}",
            ],
            0..12,
        ),
        cuts in proptest::collection::vec(any::<usize>(), 0..20),
        as_json in any::<bool>(),
    ) {
        let secrets = secrets(&[("A", "s3cr3t-\"value\\1"), ("B", "s3cr3t-\"value\\12")]);
        let text = if as_json { serde_json::to_string(&parts).unwrap() } else { parts.concat() };
        let whole = secrets.scrub(text.as_bytes()).into_owned();
        let pieces = streamed(&secrets, text.as_bytes(), &cuts);
        prop_assert_eq!(String::from_utf8_lossy(&pieces), String::from_utf8_lossy(&whole));
        let said = String::from_utf8(whole).unwrap();
        prop_assert!(!said.contains("s3cr3t-") , "{}", said);
        if as_json {
            let read: Result<Vec<String>, _> = serde_json::from_str(&said);
            prop_assert!(read.is_ok(), "{}", said);
        }
    }
}

#[test]
fn what_was_handed_over_by_name_is_a_secret_unless_it_is_a_word() {
    let variables =
        [("REGISTRY", "0a1b2c3d4e5f6a7b8c9d"), ("NODE_ENV", "production-like"), ("PLACE", "/srv/data/1/2/3/4")];
    let scrub = |handed: bool| {
        let text = "0a1b2c3d4e5f6a7b8c9d production-like /srv/data/1/2/3/4";
        scrubbed(&Secrets::of_variables(variables, &|_| handed).unwrap(), text)
    };
    assert_eq!(scrub(true), "[redacted REGISTRY] production-like /srv/data/1/2/3/4");
    assert_eq!(scrub(false), "0a1b2c3d4e5f6a7b8c9d production-like /srv/data/1/2/3/4");
}

#[test]
fn more_secrets_than_can_be_looked_for_are_refused_and_none_is_passed_over() {
    let many = |count: usize| Secrets::new((0..count).map(|n| ("KEY".into(), format!("value-{n:06}"))));
    assert_eq!(scrubbed(&many(VALUES_MAX).unwrap(), "value-000999"), "[redacted KEY]");
    assert_eq!(many(VALUES_MAX + 1).unwrap_err(), Unsearchable::TooMany(VALUES_MAX + 1));
}
