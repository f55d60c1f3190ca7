//! Golden journals (docs/golden/): real runs that were killed and resumed, replayed by every later version.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tollgate_api::VerifyResult;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::protocol;
use tollgate_core::run::event::{By, ByKind};
use tollgate_core::run::pool::Around;
use tollgate_core::run::{Command, Event, Run, Stamp, decide, effects};
use tollgate_engine::session::LoadError;
use tollgate_engine::verify::{Proof, verify_rows};
use tollgate_store::bundle::{self, Limits};
use tollgate_store::{Journal, MemoryJournal, Row, chain};
use tollgate_testkit::golden::{moments, replay, text};
use tollgate_testkit::script::dialects;

use crate::world::World;

/// Every golden journal, the fewest drivers that it must have had, and what its run must have come to besides.
const GOLDEN: [(&str, u64, &[&str]); 6] = [
    ("simple", 4, &["a question is answered", "an attempt is lost", "dod-checker rejects", "reviewer rejects"]),
    (
        "standard",
        5,
        &["a question is answered", "an attempt is lost", "dod-checker rejects", "reviewer rejects", "tester rejects"],
    ),
    (
        "complex",
        5,
        &[
            "a landing is conflict",
            "a question is answered",
            "an attempt is lost",
            "dod-checker rejects",
            "reviewer rejects",
            "tester rejects",
        ],
    ),
    ("halted", 3, &["an attempt is lost", "retried"]),
    ("team", 4, &["an attempt is lost", "qa rejects", "reviewer accepts with notes"]),
    (
        "supervisor",
        5,
        &[
            "an attempt is lost",
            "auditor rejects",
            "inputs are given",
            "requirements are decided on",
            "verifier rejects",
        ],
    ),
];

/// The events that no golden journal holds. A new kind of event is in one, or it is named here.
const UNSEEN: [&str; 15] = [
    "attempt.cancelled",
    "attempt.parked",
    "attempt.refused",
    "attempt.unready",
    "budget.changed",
    "day.counted",
    "decision.deferred",
    "decision.refused",
    "finding.restated",
    "judgement.rests",
    "land.checked",
    "land.left",
    "pool.parked",
    "run.repaired",
    "waiver.granted",
];

/// Where they are.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/golden")
}

/// A file there.
pub fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap_or_else(|error| panic!("docs/golden/{name}: {error}"))
}

#[test]
fn every_golden_journal_proves() {
    let world = World::new();
    for (name, ..) in GOLDEN {
        let path = folder().join(format!("{name}.tar"));
        let (results, exit) = world.json(&format!("verify {} --json", path.display()));
        let result: VerifyResult = serde_json::from_value(results[0].clone()).unwrap();
        assert_eq!((exit, result.valid), (0, true), "{name}: {result:?}");
        let recorded = String::from_utf8(file(&format!("{name}.txt"))).unwrap();
        assert!(recorded.contains(&format!("\n  head {}\n", result.runs[0].head)), "{name} has another head");
    }
}

#[test]
fn a_replay_gives_the_state_that_was_recorded() {
    for (name, ..) in GOLDEN {
        let replayed = replay(&file(&format!("{name}.tar"))).unwrap();
        assert_eq!(replayed.proof.breaches, [], "{name}");
        let given = text(&replayed.run.unwrap(), &replayed.events, replayed.manifest.head);
        let path = folder().join(format!("{name}.txt"));
        if std::env::var_os("TOLLGATE_BLESS").is_some() {
            std::fs::write(&path, &given).unwrap();
        }
        let recorded = std::fs::read_to_string(&path).unwrap();
        for (number, (given, recorded)) in given.lines().zip(recorded.lines()).enumerate() {
            assert_eq!(given, recorded, "docs/golden/{name}.txt:{}; see docs/golden/README.md", number + 1);
        }
        assert_eq!(given, recorded, "docs/golden/{name}.txt is longer or shorter");
    }
}

#[test]
fn the_runs_asked_looped_and_were_killed() {
    let mut seen = BTreeSet::new();
    for (name, drivers, wanted) in GOLDEN {
        let replayed = replay(&file(&format!("{name}.tar"))).unwrap();
        let moments = moments(&replayed.events);
        assert_eq!(wanted.iter().find(|wanted| !moments.contains(**wanted)), None, "{name}: {moments:?}");
        let epochs: BTreeSet<u64> = replayed.events.iter().map(|recorded| recorded.epoch).collect();
        assert!(epochs.len() as u64 > drivers, "{name}: {epochs:?}");
        seen.extend(replayed.events.iter().map(|recorded| recorded.event.kind()));
    }
    let unseen: Vec<&str> = {
        let mut unseen: Vec<&str> = Event::KINDS.iter().copied().filter(|kind| !seen.contains(kind)).collect();
        unseen.sort_unstable();
        unseen
    };
    assert_eq!(unseen, UNSEEN);
}

/// The time of one event, a digit of it changed: every event has one, and no rule looks at it.
pub fn with_other_time(tar: &[u8], seq: u64) -> Vec<u8> {
    let wanted = format!("\"seq\":{seq},\"at_ms\":");
    let found: Vec<usize> =
        tar.windows(wanted.len()).enumerate().filter(|(_, at)| *at == wanted.as_bytes()).map(|(at, _)| at).collect();
    let [at] = found[..] else { panic!("{wanted} is there {} times", found.len()) };
    let mut tar = tar.to_vec();
    let digit = &mut tar[at + wanted.len() + 5];
    *digit = if *digit == b'9' { b'0' } else { *digit + 1 };
    tar
}

/// The rows of an export, and the objects beside them.
pub fn rows(tar: &[u8]) -> (MemoryJournal, Vec<Row>) {
    let (manifest, journal) = bundle::read(tar, Limits::default()).unwrap();
    let rows = chain::rows(&journal, manifest.run, 0).map(Result::unwrap).collect();
    (journal, rows)
}

#[test]
fn an_event_that_is_changed_is_named() {
    for (name, ..) in GOLDEN {
        let tar = file(&format!("{name}.tar"));
        // One event of some rows, all over the journal: its row no longer chains.
        for row in rows(&tar).1.into_iter().rev().step_by(7) {
            let replayed = replay(&with_other_time(&tar, row.last)).unwrap();
            let named: Vec<(Code, Option<u64>)> =
                replayed.proof.breaches.iter().map(|breach| (breach.code, breach.seq)).take(1).collect();
            assert_eq!(named, [(Code::CHAIN_BROKEN, Some(row.first))], "{name}, event {}", row.last);
        }
    }
}

/// The rows with words replaced, chained as if they had always been so.
fn forged(name: &str, from: &str, to: &str) -> (Proof, Option<Run>) {
    let (journal, rows) = rows(&file(&format!("{name}.tar")));
    let (mut head, mut changed) = (None, 0);
    let forged = rows.into_iter().map(|mut row| {
        let old = String::from_utf8(row.bytes).unwrap();
        row.bytes = old.replace(from, to).into_bytes();
        changed += usize::from(row.bytes != old.as_bytes());
        row.head = head.map_or(row.head, |head: Digest| head.chain(&row.bytes));
        head = Some(row.head);
        row
    });
    let forged: Vec<Row> = forged.collect();
    assert!(changed > 0, "{from} is nowhere");
    verify_rows(forged[0].run, forged.into_iter().map(Ok::<_, LoadError>), &|digest| Ok(journal.object(digest)?))
}

/// The protocol that a run pinned is not checked again: what a later checker refuses goes on as it began.
#[test]
fn a_run_goes_on_under_a_pinned_protocol_that_would_be_refused_today() {
    let (journal, rows) = rows(&file("halted.tar"));
    let pinned = replay(&file("halted.tar")).unwrap().run.unwrap().opened.protocol.digest;
    let text = String::from_utf8(journal.object(pinned).unwrap().unwrap().to_vec()).unwrap();
    let (protocol, problems) = protocol::read(&text);
    assert_eq!(problems, []);
    let breaches = protocol::check(&protocol.unwrap(), &dialects());
    assert!(breaches.iter().any(|breach| breach.code == Code::NOT_GATED), "{breaches:#?}");
    // As its second driver left it, with a developer at work.
    let (id, begun) = (rows[0].run, rows.into_iter().take_while(|row| row.first < 17).map(Ok::<_, LoadError>));
    let (proof, run) = verify_rows(id, begun, &|digest| Ok(journal.object(digest)?));
    assert_eq!(proof.breaches, []);
    let run = run.unwrap();
    let by = By { kind: ByKind::Driver, name: "driver".into() };
    let stamp = Stamp { now_ms: u64::MAX / 2, by, epoch: run.epoch + 1, around: Around::default() };
    let resumed = decide(&run, Command::TakeOver { driver: "driver".into() }, &stamp).unwrap().run;
    assert!(!effects(&resumed).is_empty(), "{:?}", resumed.phase);
}

#[test]
fn a_history_that_was_written_anew_is_not_the_recorded_one() {
    let recorded = String::from_utf8(file("standard.txt")).unwrap();
    let replayed = replay(&file("standard.tar")).unwrap();
    // Chain and rules hold: only the record tells them apart.
    let (proof, run) = forged("standard", "\"text\":\"Hello\"", "\"text\":\"Adieu\"");
    assert_eq!(proof.breaches, []);
    assert_ne!(text(&run.unwrap(), &replayed.events, proof.head), recorded);
    // What no run could have come to is named, however well it chains.
    let (proof, _) = forged("standard", "\"verdict\":\"accept\"", "\"verdict\":\"reject\"");
    assert!(!proof.breaches.is_empty(), "{proof:?}");
}

#[test]
fn a_golden_journal_is_replaced_only_with_a_record() {
    let sums = String::from_utf8(file("SHA256SUMS")).unwrap();
    let listed: BTreeSet<(String, String)> = sums
        .lines()
        .map(|line| line.split_once("  ").unwrap_or_else(|| panic!("SHA256SUMS: {line}")))
        .map(|(sum, name)| (name.to_owned(), sum.to_owned()))
        .collect();
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<(String, String)> = entries
        .filter(|name| name.ends_with(".tar"))
        .map(|name| {
            let sum = Digest::of(&file(&name)).to_string();
            (name, sum)
        })
        .collect();
    assert_eq!(there, listed, "docs/golden/SHA256SUMS does not list what is there");
    assert_eq!(
        there.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        ["complex.tar", "halted.tar", "simple.tar", "standard.tar", "supervisor.tar", "team.tar"]
    );
    let digest = Digest::of(sums.as_bytes()).to_string();
    let records = std::fs::read_dir(folder().join("../decisions")).unwrap();
    let mut records = records.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap_or_default());
    let named = records.any(|record| record.contains(&digest));
    assert!(named, "no record in docs/decisions/ names {digest}, the digest of SHA256SUMS: see docs/golden/README.md");
}

#[test]
fn nothing_in_a_golden_journal_tells_where_it_was_made() {
    for (name, ..) in GOLDEN {
        let tar = String::from_utf8_lossy(&file(&format!("{name}.tar"))).into_owned();
        let words = tar.split(|c: char| c.is_whitespace() || c.is_control() || "\"',;=`()[]{}".contains(c));
        // Patterns with one part and `/dev/null` name no place.
        let paths = words.map(|word| word.strip_prefix("command:").unwrap_or(word)).filter(|word| {
            let parts = word.split('/').filter(|part| !part.is_empty()).count();
            word.starts_with('/') && parts > 1 && !word.starts_with("/dev/")
        });
        let (here, elsewhere): (BTreeSet<&str>, BTreeSet<&str>) =
            paths.partition(|path| path.starts_with("/tmp/tollgate-golden/"));
        assert_eq!((here.len(), elsewhere), (4, BTreeSet::new()), "{name}: {here:?}");
        let hosts: BTreeSet<&str> =
            tar.split("\"driver\":\"").skip(1).filter_map(|rest| rest.split('/').next()).collect();
        assert_eq!(hosts, BTreeSet::from(["golden"]), "{name}");
    }
}
