//! The report file, read as what it is: a file at a path where a worker could put anything.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;
use tollgate_core::redact::Secrets;

use super::{REPORT_BYTES_MAX, RawReport};

/// The name of the report in an attempt's folder.
pub const NAME: &str = "report";

/// The folder of a report, held open so that nobody can put another in its place.
#[derive(Debug)]
pub struct ReportFolder(OwnedFd);

impl ReportFolder {
    /// Makes the folder with no report in it.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(path)?;
        match std::fs::remove_file(path.join(NAME)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(open(path, flags, Mode::empty())?))
    }

    /// Reads the report without what is secret, and takes that out of the file too.
    pub fn read_without(&self, secrets: &Secrets) -> RawReport {
        let bytes = match self.read() {
            RawReport::File(bytes) => bytes,
            other @ (RawReport::Nothing | RawReport::Refused(_) | RawReport::Printed { .. }) => return other,
        };
        let Cow::Owned(bytes) = secrets.scrub(&bytes) else { return RawReport::File(bytes) };
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.0, NAME, flags, Mode::empty()).map(std::fs::File::from);
        match file.map_err(std::io::Error::from).and_then(|mut file| file.write_all(&bytes)) {
            Ok(()) => RawReport::File(bytes),
            Err(error) => RawReport::Refused(format!("the report holds a secret that cannot be taken out: {error}")),
        }
    }

    /// Reads the report: a plain file of bounded size, or nothing, or a refusal.
    pub fn read(&self) -> RawReport {
        plain_file(&self.0, NAME, "the report")
    }
}

/// Reads a plain file of bounded size in a folder.
pub(super) fn plain_file(folder: &OwnedFd, name: &str, what: &str) -> RawReport {
    // A pipe must not make us wait, and a link must not be followed.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(folder, name, flags, Mode::empty()) {
        Ok(file) => std::fs::File::from(file),
        Err(Errno::NOENT) => return RawReport::Nothing,
        Err(Errno::LOOP) => return RawReport::Refused(format!("{what} is a link")),
        Err(error) => return RawReport::Refused(format!("{what} cannot be opened: {error}")),
    };
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return RawReport::Refused(format!("{what} is not a plain file"));
    }
    let mut bytes = Vec::new();
    match file.take(REPORT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes) {
        Err(error) => RawReport::Refused(format!("{what} cannot be read: {error}")),
        Ok(read) if read > REPORT_BYTES_MAX => {
            RawReport::Refused(format!("{what} has more than {REPORT_BYTES_MAX} bytes"))
        }
        Ok(0) => RawReport::Nothing,
        Ok(_) => RawReport::File(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::folder;

    #[test]
    fn only_a_plain_file_of_bounded_size_is_a_report() {
        let root = folder("report");
        let report = root.join(NAME);
        let reports = ReportFolder::create(&root).unwrap();
        assert_eq!(reports.read(), RawReport::Nothing);
        std::fs::write(&report, "").unwrap();
        assert_eq!(reports.read(), RawReport::Nothing);
        std::fs::write(&report, "done").unwrap();
        assert_eq!(reports.read(), RawReport::File(b"done".to_vec()));
        std::fs::File::create(&report).unwrap().set_len(REPORT_BYTES_MAX as u64 + 1).unwrap();
        assert!(matches!(reports.read(), RawReport::Refused(why) if why.contains("bytes")));
        ReportFolder::create(&root).unwrap();
        assert!(!report.exists(), "an earlier report is gone");
        std::os::unix::fs::symlink("/etc/passwd", &report).unwrap();
        assert!(matches!(reports.read(), RawReport::Refused(why) if why.contains("link")));
        std::fs::remove_file(&report).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &report, Mode::RUSR).unwrap();
        assert!(matches!(reports.read(), RawReport::Refused(why) if why.contains("plain")));
        std::fs::remove_file(&report).unwrap();
        std::fs::create_dir(&report).unwrap();
        assert!(matches!(reports.read(), RawReport::Refused(why) if why.contains("plain")));
    }
}
