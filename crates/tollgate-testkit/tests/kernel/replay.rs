//! What must hold of every history, whatever it is about.

use tollgate_core::run::event::{Event, Recorded, Unreadable};
use tollgate_core::run::{self, invariants};
use tollgate_engine::session::kept_run;
use tollgate_testkit::script::Play;

/// Replay gives the live state, bytes give the events, and a snapshot is as good as the events before it.
pub fn holds(play: &Play, name: &str) {
    let bytes: Vec<Vec<u8>> = play.events.iter().map(|event| event.to_bytes().unwrap()).collect();
    let read: Vec<Recorded> = bytes.iter().map(|bytes| Recorded::from_bytes(bytes).unwrap()).collect();
    assert_eq!(read, play.events, "{name}: bytes");
    let Event::RunOpened(opened) = &read[0].event else { panic!("{name}: the first event opens no run") };
    let mut replayed = run::begin(&read[0], opened, play.run.protocol.clone());
    let half = read.len() / 2;
    let mut from_snapshot = None;
    for (at, recorded) in read.iter().enumerate().skip(1) {
        assert_eq!(invariants::event(&replayed, recorded), [], "{name}: {}", recorded.seq);
        run::evolve(&mut replayed, recorded);
        if let Some(from_snapshot) = &mut from_snapshot {
            run::evolve(from_snapshot, recorded);
        }
        if at == half {
            let mut read = kept_run::from_bytes(&kept_run::to_bytes(&replayed).unwrap()).unwrap();
            read.protocol = play.run.protocol.clone();
            assert!(read == replayed, "{name}: a snapshot is what it was taken of");
            from_snapshot = Some(read);
        }
    }
    assert!(replayed == play.run, "{name}: replay differs from the live state");
    assert!(from_snapshot.is_none_or(|run| run == play.run), "{name}: from the snapshot");
}

#[test]
fn what_a_newer_version_wrote_is_refused() {
    let (play, _) = tollgate_testkit::script::play("protocol build-plan | input complexity=simple | advance");
    let text = String::from_utf8(play.unwrap().events[0].to_bytes().unwrap()).unwrap();
    let newer = text.replacen("\"v\":1", "\"v\":2", 1);
    let refused = Recorded::from_bytes(newer.as_bytes());
    assert_eq!(refused, Err(Unreadable::Newer { v: 2, kind: "run.opened".to_owned() }));
    let unknown = text.replacen("run.opened", "run.teleported", 1);
    let refused = Recorded::from_bytes(unknown.as_bytes());
    assert_eq!(refused, Err(Unreadable::Newer { v: 1, kind: "run.teleported".to_owned() }));
    assert!(matches!(Recorded::from_bytes(b"{}"), Err(Unreadable::Damaged(_))));
    let extra = text.replacen("\"title\":", "\"tittle\":1,\"title\":", 1);
    assert!(matches!(Recorded::from_bytes(extra.as_bytes()), Err(Unreadable::Damaged(_))));
}

#[test]
fn what_another_version_kept_is_read_as_nothing() {
    let (play, _) = tollgate_testkit::script::play("protocol build-plan | input complexity=simple | advance");
    let run = play.unwrap().run;
    let kept = String::from_utf8(kept_run::to_bytes(&run).unwrap()).unwrap();
    assert!(kept_run::from_bytes(kept.as_bytes()).is_some());
    let other = kept.replacen(concat!("\"", env!("CARGO_PKG_VERSION"), "\""), "\"0.0.9\"", 1);
    assert!(other != kept && kept_run::from_bytes(other.as_bytes()).is_none());
    assert!(kept_run::from_bytes(&serde_json::to_vec(&run).unwrap()).is_none());
}
