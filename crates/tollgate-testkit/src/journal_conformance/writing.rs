//! What an append does, and what it refuses.

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_store::chain::verify_run;
use tollgate_store::journal::{APPEND_BYTES_MAX, APPEND_EVENTS_MAX, SMALL_OBJECT_BYTES, SUMMARY_BYTES_MAX};
use tollgate_store::shared::{AMOUNTS_MAX, NOTE_BYTES_MAX};
use tollgate_store::{Append, AppendError, Filter, Object, SummaryText};

use super::shared::says;
use super::{Store, append, event, object, run};

/// Rows come back byte for byte, chained, numbered, in one order over all runs.
pub fn an_append_is_loaded_as_it_was_written(store: &dyn Store) {
    let (writer, reader) = (store.connect(None), store.connect(None));
    let odd = r#"  {"seq":1 , "run":"run_00000001","ü":"\n","z":[1,2]}"#.as_bytes().to_vec();
    let first = writer.append(Append { events: vec![odd.clone()], ..append(run(1), 0, 1) }).unwrap();
    let other = writer.append(append(run(2), 0, 1)).unwrap();
    let second = writer.append(append(run(1), 1, 3)).unwrap();
    assert!(first.place < other.place && other.place < second.place);
    assert_eq!(second.seq, 4);

    let rows = reader.load(run(1), 0, 100).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].bytes, odd);
    assert_eq!((rows[0].first, rows[0].last, rows[0].place), (1, 1, first.place));
    assert_eq!(rows[0].head, Digest::default().chain(&odd));
    let events: Vec<_> = rows[1].events().collect();
    assert_eq!(events, [event(run(1), 2, "x"), event(run(1), 3, "x"), event(run(1), 4, "x")]);
    assert_eq!(rows[1].head, rows[0].head.chain(&rows[1].bytes));
    assert_eq!(rows[1].head, second.head);

    let head = reader.head(run(1)).unwrap().unwrap();
    assert_eq!((head.seq, head.place, head.head), (4, second.place, second.head));
    assert_eq!(reader.head(run(9)).unwrap(), None);
    assert_eq!(reader.place().unwrap(), second.place);
    assert_eq!(verify_run(&*reader, run(1)).unwrap().head, second.head);
}

/// The loser of a race gets the version to load from, and nothing of its append is visible.
pub fn a_writer_that_has_not_seen_everything_is_refused_and_leaves_nothing(store: &dyn Store) {
    let (fast, slow) = (store.connect(None), store.connect(None));
    fast.append(append(run(1), 0, 2)).unwrap();
    let small = object(10, 7);
    let summary = SummaryText { status: "stolen".into(), ..SummaryText::default() };
    for (expected, actual) in [(0, 2), (1, 2), (3, 2)] {
        let late = Append {
            objects: vec![small.clone()],
            summary: summary.clone(),
            snapshot: Some(b"late".to_vec()),
            ..append(run(1), expected, 1)
        };
        let refused = slow.append(late).unwrap_err();
        assert_eq!(refused.code(), Code::APPEND_CONFLICT);
        assert!(
            matches!(refused, AppendError::Conflict { actual: a, expected: e, .. } if (a, e) == (actual, expected))
        );
    }
    let refused = slow.append(append(run(2), 5, 1)).unwrap_err();
    assert!(matches!(refused, AppendError::Conflict { actual: 0, .. }));
    assert_eq!(slow.object(small.digest()).unwrap(), None);
    assert_eq!(slow.snapshot(run(1)).unwrap(), None);
    assert_eq!(slow.load(run(1), 0, 10).unwrap().len(), 1);
    let listed = slow.list(&Filter::default()).unwrap().runs;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].text.status, "open");
}

/// Bad appends are refused one by one, and the run is as it was.
pub fn what_breaks_the_form_is_refused(store: &dyn Store) {
    let journal = store.connect(None);
    let good = append(run(1), 0, 1);
    let with = |events: Vec<Vec<u8>>| Append { events, ..good.clone() };
    let huge = event(run(1), 1, &"x".repeat(APPEND_BYTES_MAX));
    let body = SummaryText { body: vec![0; SUMMARY_BYTES_MAX + 1], ..SummaryText::default() };
    let late = SummaryText { at_ms: u64::MAX, ..SummaryText::default() };
    let bad = [
        ("no events", with(vec![])),
        ("too many events", append(run(1), 0, APPEND_EVENTS_MAX as u64 + 1)),
        ("too many bytes", with(vec![huge])),
        ("a newline", with(vec![b"{\"run\":\"run_00000001\",\n\"seq\":1}".to_vec()])),
        ("no JSON", with(vec![b"{\"run\":\"run_00000001\",\"seq\":1".to_vec()])),
        ("no run", with(vec![b"{\"seq\":1}".to_vec()])),
        ("another run", with(vec![event(run(2), 1, "x")])),
        ("another number", with(vec![event(run(1), 2, "x")])),
        ("the same number twice", with(vec![event(run(1), 1, "x"), event(run(1), 1, "x")])),
        ("a summary too large", Append { summary: body, ..good.clone() }),
        ("a time beyond all clocks", Append { summary: late, ..good.clone() }),
        ("an amount beyond all counters", Append { says: says(&[u64::MAX], ""), ..good.clone() }),
        ("too many amounts", Append { says: says(&[1; AMOUNTS_MAX + 1], ""), ..good.clone() }),
        ("a note too large", Append { says: says(&[], &"x".repeat(NOTE_BYTES_MAX + 1)), ..good.clone() }),
        ("a version beyond all counters", Append { expected: u64::MAX, ..good.clone() }),
    ];
    for (what, append) in bad {
        let refused = journal.append(append).expect_err(what);
        assert_eq!(refused.code(), Code::APPEND_REFUSED, "{what}: {refused}");
    }
    assert_eq!(journal.place().unwrap(), 0);
    journal.append(good).unwrap();
}

/// Objects come back whatever their size, also when they are stored twice.
pub fn objects_of_both_sizes_read_back(store: &dyn Store) {
    let journal = store.connect(None);
    let sizes = [0, 1, SMALL_OBJECT_BYTES, SMALL_OBJECT_BYTES + 1, 1 << 20];
    let objects: Vec<Object> = sizes.iter().zip(1..).map(|(size, n)| object(*size, n)).collect();
    journal.append(Append { objects: objects.clone(), ..append(run(1), 0, 1) }).unwrap();
    journal.append(Append { objects: objects.clone(), ..append(run(2), 0, 1) }).unwrap();
    for object in objects {
        let found = store.connect(None).object(object.digest()).unwrap();
        assert_eq!(found.as_deref(), Some(&object.bytes()[..]));
    }
    assert_eq!(journal.object(Digest::of(b"never stored")).unwrap(), None);
}
