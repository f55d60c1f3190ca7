//! A run goes out into a file and comes back as it was; a file that is no bundle is refused.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_store::bundle::{BundleError, Limits, read, write};
use tollgate_store::chain::{ChainError, rows, verify_run};
use tollgate_store::journal::SMALL_OBJECT_BYTES;
use tollgate_store::{Append, Journal, MemoryJournal, Object, Row};
use tollgate_testkit::journal_conformance::{append, object, run};

fn journal() -> (MemoryJournal, Vec<Object>) {
    let journal = MemoryJournal::default();
    let objects = vec![object(10, 1), object(SMALL_OBJECT_BYTES + 1, 2), object(0, 3)];
    journal.append(append(run(2), 0, 1)).unwrap();
    journal.append(Append { objects: objects.clone(), ..append(run(1), 0, 3) }).unwrap();
    journal.append(append(run(2), 1, 1)).unwrap();
    journal.append(append(run(1), 3, 2)).unwrap();
    (journal, objects)
}

fn bundle() -> Vec<u8> {
    let (journal, objects) = journal();
    let mut file = Vec::new();
    write(&journal, run(1), &objects.iter().map(tollgate_store::Object::digest).collect(), &mut file).unwrap();
    file
}

/// A tar of these files.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        // As it stands, also when no tar program would write such a name.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

/// The files of a bundle, in order.
fn files(bundle: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(bundle);
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        (entry.path().unwrap().display().to_string(), bytes)
    });
    entries.collect()
}

fn rebuilt(change: impl FnOnce(&mut Vec<(String, Vec<u8>)>)) -> Result<(), BundleError> {
    let mut files = files(&bundle());
    change(&mut files);
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    read(&tar(&files)[..], Limits::default()).map(drop)
}

fn refused(result: Result<(), BundleError>) -> String {
    let error = result.expect_err("no bundle");
    assert_eq!(error.code(), Code::BUNDLE_INVALID, "{error}");
    error.to_string()
}

#[test]
fn a_run_comes_back_as_it_was() {
    let (journal, objects) = journal();
    let (manifest, copy) = read(&bundle()[..], Limits::default()).unwrap();
    assert_eq!((manifest.run, manifest.seq, manifest.rows), (run(1), 5, 2));
    verify_run(&copy, run(1)).unwrap().ends(manifest.seq, manifest.head).unwrap();
    let bytes = |row: Result<Row, _>| row.map(|row: Row| (row.first, row.last, row.head, row.bytes)).unwrap();
    assert!(rows(&journal, run(1), 0).map(bytes).eq(rows(&copy, run(1), 0).map(bytes)));
    for object in objects {
        assert_eq!(copy.object(object.digest()).unwrap().as_deref(), Some(&object.bytes()[..]));
    }
    assert_eq!(copy.head(run(2)).unwrap(), None);
    assert_eq!(bundle(), bundle(), "the same run gives the same file");
    assert!(rebuilt(|_| ()).is_ok());
}

#[test]
fn what_is_not_whole_does_not_go_out() {
    let (journal, _) = journal();
    let none = BTreeSet::new();
    assert!(matches!(write(&journal, run(9), &none, Vec::new()), Err(BundleError::Chain(ChainError::Absent(_)))));
    let absent = BTreeSet::from([Digest::of(b"absent")]);
    assert_eq!(write(&journal, run(1), &absent, Vec::new()).unwrap_err().code(), Code::OBJECT_MISSING);
}

#[test]
fn damage_inside_a_bundle_is_left_for_verifying_to_name() {
    let mut files = files(&bundle());
    let text = String::from_utf8(files[2].1.clone()).unwrap();
    files[2].1 = text.replacen("\"x\"", "\"y\"", 1).into_bytes();
    files[3].1[0] ^= 1;
    let (name, changed) = files[3].clone();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    let (manifest, copy) = read(&tar(&files)[..], Limits::default()).unwrap();
    assert!(matches!(verify_run(&copy, manifest.run), Err(ChainError::Broken { seq: 1, .. })));
    let digest: Digest = name.strip_prefix("objects/").unwrap().parse().unwrap();
    assert_ne!(Digest::of(&changed), digest);
    assert_eq!(copy.object(digest).unwrap_err().code(), Code::OBJECT_CHANGED);
}

#[test]
fn a_hostile_file_is_refused() {
    let with = |name: &'static str| move |files: &mut Vec<(String, Vec<u8>)>| files.push((name.to_owned(), vec![1]));
    for name in ["objects/../../etc/passwd", "../x", "/etc/passwd", "objects/", "objects/ABC", "manifest.json", "extra"]
    {
        assert!(refused(rebuilt(with(name))).contains(name));
    }
    refused(rebuilt(|files| files.swap(0, 1)));
    refused(rebuilt(|files| files.truncate(2)));
    refused(rebuilt(std::vec::Vec::clear));
    assert!(refused(rebuilt(|files| files.push(files[3].clone()))).contains("twice"));
    assert!(refused(rebuilt(|files| files[2].1.push(b'\n'))).contains("journal.jsonl"));
    assert!(refused(rebuilt(|files| files[1].1.clear())).contains("rows.jsonl"));
    let edit = |index: usize, from: &'static str, to: &'static str| {
        move |files: &mut Vec<(String, Vec<u8>)>| {
            let text = String::from_utf8(files[index].1.clone()).unwrap();
            assert!(text.contains(from), "{text}");
            files[index].1 = text.replacen(from, to, 1).into_bytes();
        }
    };
    refused(rebuilt(edit(0, "\"rows\":2", "\"rows\":3")));
    refused(rebuilt(edit(0, "\"rows\":2", "\"rows\":18446744073709551615")));
    refused(rebuilt(edit(0, "\"rows\":2", "\"rows\":2,\"more\":1")));
    refused(rebuilt(edit(1, "\"last\":5", "\"last\":3")));
    refused(rebuilt(edit(1, "\"bytes\":", "\"bytes\":9999999999")));
    let newer = rebuilt(edit(0, "\"format\":1", "\"format\":2,\"more\":1")).unwrap_err();
    assert!(matches!(newer, BundleError::Newer { found: 2 }));
    assert_eq!(newer.code(), Code::BUNDLE_NEWER);
}

#[test]
fn entries_that_are_no_plain_files_are_refused() {
    use tar::EntryType as T;
    for kind in [
        T::Link,
        T::Symlink,
        T::Directory,
        T::Fifo,
        T::Char,
        T::GNUSparse,
        T::GNULongName,
        T::XHeader,
        T::XGlobalHeader,
    ] {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_path("manifest.json").unwrap();
        header.set_entry_type(kind);
        header.set_size(0);
        header.set_cksum();
        builder.append(&header, &[][..]).unwrap();
        let result = read(&builder.into_inner().unwrap()[..], Limits::default());
        assert!(matches!(result, Err(BundleError::Invalid(_))), "{kind:?}");
    }
}

#[test]
fn limits_hold() {
    let file = bundle();
    let limited = |limits: Limits| refused(read(&file[..], limits).map(drop));
    limited(Limits { rows: 1, ..Limits::default() });
    limited(Limits { objects: 2, ..Limits::default() });
    for bytes in (0..file.len() as u64).step_by(512) {
        assert!(read(&file[..], Limits { bytes, ..Limits::default() }).is_err(), "{bytes} of {} bytes", file.len());
    }
}

#[test]
fn what_stands_behind_the_end_is_named() {
    let file = bundle();
    let with = |more: &[u8]| read(&[&file[..], more].concat()[..], Limits::default()).map(drop);
    with(&[0; 4096]).unwrap();
    for more in [&b"x"[..], &[&[0; 700], &b"smuggled"[..]].concat(), &file] {
        let error = with(more).unwrap_err().to_string();
        assert!(error.contains("after the end of the archive"), "{error}");
    }
}

proptest! {
    #[test]
    fn no_change_of_bytes_makes_reading_panic(changes in proptest::collection::vec((0usize..6000, any::<u8>()), 1..20), cut in 0usize..80_000) {
        let mut file = bundle();
        for (at, byte) in changes {
            file[at] = byte;
        }
        file.truncate(cut.max(600));
        if let Ok((manifest, copy)) = read(&file[..], Limits::default()) {
            // Whatever was read can be looked at to the end.
            let _ = verify_run(&copy, manifest.run).and_then(|chain| chain.ends(manifest.seq, manifest.head));
        }
    }
}
