//! What runs say to each other.

use tollgate_core::code::Code;
use tollgate_store::{Append, AppendError, Journal, Said, Says};

use super::lease::acquire;
use super::{Store, append, run};

const KEY: &str = "pool/claude";

/// What a run says under one key.
pub(super) fn says(amounts: &[u64], note: &str) -> Says {
    [(KEY.to_owned(), Said { amounts: amounts.to_vec(), note: note.as_bytes().to_vec() })].into()
}

fn amounts(journal: &dyn Journal, but: u64) -> Vec<u64> {
    journal.total(KEY, run(but)).unwrap().amounts
}

fn notes(journal: &dyn Journal, but: u64) -> Vec<(u64, String)> {
    let notes = journal.notes(KEY, run(but)).unwrap().notes;
    let number = |id| (1..10).find(|n| run(*n) == id).unwrap();
    notes.into_iter().map(|note| (number(note.run), String::from_utf8(note.note).unwrap())).collect()
}

/// Each append replaces everything that its run said before; no run hears itself, and no other key has any of it.
pub fn what_runs_say_is_added_up_and_replaced(store: &dyn Store) {
    let journal = store.connect(None);
    let say = |n, expected, says| journal.append(Append { says, ..append(run(n), expected, 1) }).unwrap();
    assert!(amounts(&*journal, 1).is_empty());
    say(1, 0, says(&[1, 10], ""));
    say(2, 0, says(&[2, 20, 200], "no"));
    assert_eq!(amounts(&*journal, 3), [3, 30, 200]);
    assert_eq!(amounts(&*journal, 2), [1, 10, 0]);
    assert_eq!((notes(&*journal, 1), notes(&*journal, 2)), (vec![(2, "no".to_owned())], vec![]));
    say(1, 1, says(&[5, 10], "wait"));
    assert_eq!(amounts(&*journal, 3), [7, 30, 200]);
    assert_eq!(notes(&*journal, 3), [(1, "wait".to_owned()), (2, "no".to_owned())]);
    assert_eq!(journal.says(run(1)).unwrap(), says(&[5, 10], "wait"));
    say(2, 1, Says::new());
    assert_eq!(journal.says(run(2)).unwrap(), Says::new());
    assert_eq!(amounts(&*journal, 3), [5, 10, 0]);
    assert_eq!(notes(&*journal, 3), [(1, "wait".to_owned())]);
    assert_eq!(journal.total("pool/codex", run(3)).unwrap(), Default::default());
    assert_eq!(store.connect(None).notes(KEY, run(3)).unwrap(), journal.notes(KEY, run(3)).unwrap());
}

/// A note comes with the lease of its run: whether somebody is there who can act on it.
pub fn a_note_comes_with_the_lease_of_its_run(store: &dyn Store) {
    let journal = store.connect(None);
    journal.append(Append { says: says(&[], "no"), ..append(run(1), 0, 1) }).unwrap();
    assert_eq!(journal.notes(KEY, run(2)).unwrap().notes[0].lease, None);
    let lease = acquire(&*journal, "me", 5, None).unwrap();
    assert_eq!(journal.notes(KEY, run(2)).unwrap().notes[0].lease, Some(lease));
}

/// Of two that decide from one key and then append, one has to look again. Who decides from another key, or from none, is not held
/// up, and neither is anybody by an append that leaves the key as it is.
pub fn a_writer_is_refused_when_a_key_it_decided_from_has_changed(store: &dyn Store) {
    let (fast, slow) = (store.connect(None), store.connect(None));
    let seen = |key: &str, place| [(key.to_owned(), place)].into();
    assert_eq!(fast.notes(KEY, run(1)).unwrap().place, 0);
    let first = Append { seen: seen(KEY, 0), says: says(&[1], "a"), ..append(run(1), 0, 1) };
    let place = fast.append(first).unwrap().place;
    assert_eq!((slow.total(KEY, run(2)).unwrap().place, slow.notes(KEY, run(2)).unwrap().place), (place, place));
    let late = Append { seen: seen(KEY, 0), says: says(&[2], "b"), ..append(run(2), 0, 1) };
    let refused = slow.append(late.clone()).unwrap_err();
    assert_eq!(refused.code(), Code::APPEND_CONFLICT);
    assert!(matches!(refused, AppendError::Overtaken { key, .. } if key == KEY));
    assert_eq!((slow.head(run(2)).unwrap(), notes(&*slow, 3)), (None, vec![(1, "a".to_owned())]));
    slow.append(Append { seen: seen("pool/codex", 0), ..append(run(3), 0, 1) }).unwrap();
    fast.append(Append { says: says(&[1], "a"), ..append(run(1), 1, 1) }).unwrap();
    slow.append(Append { seen: seen(KEY, place), ..late }).unwrap();
    // What the run itself became is the first thing to learn.
    let stale = Append { seen: seen(KEY, 0), ..append(run(2), 0, 1) };
    assert!(matches!(slow.append(stale), Err(AppendError::Conflict { .. })));
}
