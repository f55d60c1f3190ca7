//! What lists, snapshots and pages show.

use tollgate_store::chain::rows;
use tollgate_store::journal::READ_BYTES;
use tollgate_store::{Append, Filter, LeaseRequest, Summary, SummaryText};

use super::{Store, append, event, run};

/// A list shows what the last append said, and where the run stands.
pub fn a_summary_changes_with_its_append(store: &dyn Store) {
    let (writer, reader) = (store.connect(None), store.connect(None));
    let mut last = 0;
    for status in ["open", "waiting", "closed"] {
        let text = SummaryText {
            status: status.into(),
            repository: "/src/x".into(),
            at_ms: last + 100,
            body: status.as_bytes().to_vec(),
        };
        let appended = writer.append(Append { summary: text.clone(), ..append(run(1), last, 2) }).unwrap();
        last = appended.seq;
        let listed = reader.list(&Filter::default()).unwrap().runs;
        assert_eq!(listed.len(), 1);
        let Summary { run: id, head, text: shown, lease } = &listed[0];
        assert_eq!((*id, shown, lease), (run(1), &text, &None));
        assert_eq!((head.seq, head.place, head.head), (appended.seq, appended.place, appended.head));
    }
    let request = LeaseRequest::Acquire { holder: "h".into(), now_ms: 5, ttl_ms: 10, over: None };
    let lease = writer.lease(run(1), request).unwrap();
    let listed = reader.list(&Filter::default()).unwrap().runs;
    assert_eq!((listed[0].head.epoch, &listed[0].lease), (1, &Some(lease)));
}

/// Filters meet each other, and the order is that of the last change.
pub fn lists_are_narrowed_and_the_last_changed_comes_first(store: &dyn Store) {
    let journal = store.connect(None);
    for n in 0..40 {
        let status = if n % 2 == 0 { "open" } else { "closed" };
        let repository = if n % 4 < 2 { "/a" } else { "/b" };
        let summary = SummaryText { status: status.into(), repository: repository.into(), ..SummaryText::default() };
        journal.append(Append { summary, ..append(run(n), 0, 1) }).unwrap();
    }
    journal
        .append(Append {
            summary: SummaryText { status: "open".into(), repository: "/a".into(), ..SummaryText::default() },
            ..append(run(3), 1, 1)
        })
        .unwrap();
    let list = |filter: Filter| -> Vec<u64> {
        let listed = journal.list(&filter).unwrap().runs;
        assert!(listed.windows(2).all(|pair| pair[0].head.place > pair[1].head.place));
        listed.iter().map(|summary| (0..40).find(|n| run(*n) == summary.run).unwrap()).collect()
    };
    assert_eq!(list(Filter::default()).len(), 40);
    assert_eq!(list(Filter { limit: Some(3), ..Filter::default() }), [3, 39, 38]);
    assert!(list(Filter { limit: Some(0), ..Filter::default() }).is_empty());
    let both = Filter { status: Some("open".into()), repository: Some("/a".into()), ..Filter::default() };
    assert_eq!(list(both), [3, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0]);
    let digits = run(33).digits().to_owned();
    assert_eq!(list(Filter { prefix: Some(digits.clone()), ..Filter::default() }), [33]);
    assert_eq!(list(Filter { prefix: Some(digits[..7].to_owned()), ..Filter::default() }).len(), 8);
    assert!(list(Filter { prefix: Some("%".into()), ..Filter::default() }).is_empty());
    assert!(list(Filter { status: Some("no such".into()), ..Filter::default() }).is_empty());
}

/// The last snapshot wins, and says at which event and head it was taken.
pub fn a_snapshot_lies_on_the_chain(store: &dyn Store) {
    let journal = store.connect(None);
    assert_eq!(journal.snapshot(run(1)).unwrap(), None);
    journal.append(append(run(1), 0, 2)).unwrap();
    assert_eq!(journal.snapshot(run(1)).unwrap(), None);
    for expected in [2, 4] {
        let bytes = format!("state {expected}").into_bytes();
        let with = Append { snapshot: Some(bytes.clone()), ..append(run(1), expected, 2) };
        let appended = journal.append(with).unwrap();
        let snapshot = store.connect(None).snapshot(run(1)).unwrap().unwrap();
        assert_eq!((snapshot.seq, snapshot.head, snapshot.bytes), (appended.seq, appended.head, bytes));
    }
    journal.append(append(run(1), 6, 1)).unwrap();
    assert_eq!(journal.snapshot(run(1)).unwrap().unwrap().seq, 6);
}

/// No read returns without bound, and pages put together are everything.
pub fn reading_is_paged_by_rows_and_by_bytes(store: &dyn Store) {
    let journal = store.connect(None);
    let large = "x".repeat(READ_BYTES / 3);
    for seq in 0..10 {
        let events = vec![event(run(1), seq + 1, &large)];
        journal.append(Append { events, ..append(run(1), seq, 1) }).unwrap();
    }
    let by_bytes = journal.load(run(1), 0, 100).unwrap();
    assert_eq!(by_bytes.len(), 3);
    assert_eq!(journal.since(0, 100, std::time::Duration::ZERO).unwrap(), by_bytes);
    assert_eq!(journal.load(run(1), 0, 2).unwrap(), by_bytes[..2]);
    assert_eq!(journal.load(run(1), 9, 2).unwrap().len(), 1);
    assert_eq!(journal.load(run(1), 10, 2).unwrap(), []);
    assert_eq!(journal.load(run(1), u64::MAX, 2).unwrap(), []);
    assert_eq!(journal.load(run(2), 0, 2).unwrap(), []);
    let all: Vec<u64> = rows(&*journal, run(1), 0).map(|row| row.unwrap().last).collect();
    assert_eq!(all, (1..=10).collect::<Vec<u64>>());
    // In the middle of a row: the whole row comes.
    journal.append(append(run(1), 10, 5)).unwrap();
    let row = &journal.load(run(1), 12, 5).unwrap()[0];
    assert_eq!((row.first, row.last), (11, 15));
}
