//! Every dialect there is. One in code is a new file and a line here; one that is data is listed in `defined/built_in.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

pub use crate::defined::built_in::{all_defined, defined, sources};

use crate::defined::Defined;
use crate::defined::built_in::{asks_for, bare};
use crate::defined::definition;
use crate::status_block::StatusBlock;
use crate::task::Task;
use crate::{DocumentDialect, Format, ReportDialect};
use tollgate_core::Name;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::digest::Digest;
use tollgate_core::protocol::Declaration;

static REPORTS: [&dyn ReportDialect; 1] = [&StatusBlock];
static DOCUMENTS: [&dyn DocumentDialect; 1] = [&Task];

/// The dialect in which a role reports: `status-block` or `status-block@1`.
pub fn report_dialect(name: &str) -> Option<&'static dyn ReportDialect> {
    let coded = REPORTS.into_iter().find(|dialect| asks_for(name, dialect.id()));
    coded.or_else(|| defined(name).filter(|own| own.definition.report.is_some()).map(|own| own as &dyn ReportDialect))
}

/// The dialect of a document: `build-plan.task` or `build-plan.task@1`. A contract of reports that is data is one of documents, too.
pub fn document_dialect(name: &str) -> Option<&'static dyn DocumentDialect> {
    let coded = DOCUMENTS.into_iter().find(|dialect| asks_for(name, dialect.id()));
    coded.or_else(|| defined(name).map(|own| own as &dyn DocumentDialect))
}

/// The ids of the dialects in code.
fn coded() -> impl Iterator<Item = &'static str> {
    let reports = REPORTS.into_iter().map(Format::id);
    reports.chain(DOCUMENTS.into_iter().map(Format::id))
}

/// Whether a name, with or without its version, is one of this build. No definition is read for it.
pub fn is_built_in(name: &str) -> bool {
    coded().chain(sources().map(|(name, _)| name)).any(|id| bare(id) == bare(name))
}

/// The ids of all dialects: those in code first.
pub fn all() -> impl Iterator<Item = &'static str> {
    coded().chain(all_defined().map(|own| &*own.definition.id))
}

/// What every report dialect can express, by the name without version that protocols use.
pub fn declarations() -> BTreeMap<Name, Declaration> {
    let coded = REPORTS.into_iter().map(|dialect| (Name::from(bare(dialect.id())), dialect.declaration()));
    let own = all_defined().filter(|own| own.definition.report.is_some());
    coded.chain(own.map(|own| (own.definition.name.clone(), ReportDialect::declaration(own)))).collect()
}

/// What every contract of documents can bring, by its name without version.
pub fn document_declarations() -> BTreeMap<Name, Declaration> {
    let coded = DOCUMENTS.into_iter().map(|dialect| (Name::from(bare(dialect.id())), dialect.declaration()));
    coded.chain(all_defined().map(|own| (own.definition.name.clone(), DocumentDialect::declaration(own)))).collect()
}

/// The contracts that can be named somewhere: those of this build, and the ones that a repository or a run brings along. No name of
/// the former is taken by one of the latter.
#[derive(Debug, Clone, Default)]
pub struct Contracts {
    own: BTreeMap<Name, (Digest, Arc<Defined>)>,
}

impl PartialEq for Contracts {
    fn eq(&self, other: &Self) -> bool {
        let digests = |all: &Self| all.own.values().map(|(digest, _)| *digest).collect::<Vec<_>>();
        digests(self) == digests(other)
    }
}

impl Eq for Contracts {}

impl Contracts {
    /// Reads and adds the contract of a name; what is wrong with it otherwise.
    pub fn add(&mut self, name: &str, text: &str) -> Result<(), Vec<Diagnostic>> {
        let (definition, problems) = definition::read(name, text, false);
        match definition {
            Some(definition) if problems.iter().all(|problem| problem.severity != Severity::Error) => {
                let own = (Digest::of(text.as_bytes()), Arc::new(Defined { definition }));
                self.own.insert(name.into(), own);
                Ok(())
            }
            _ => Err(problems),
        }
    }

    /// Those that are not of this build, by name.
    pub fn own(&self) -> impl Iterator<Item = (&Name, Digest, &Arc<Defined>)> {
        self.own.iter().map(|(name, (digest, own))| (name, *digest, own))
    }

    fn find(&self, name: &str) -> Option<&Defined> {
        let (_, found) = self.own.get(bare(name))?;
        asks_for(name, &found.definition.id).then_some(found)
    }

    /// The dialect in which a role reports.
    pub fn report(&self, name: &str) -> Option<&dyn ReportDialect> {
        let own = || self.find(name).filter(|own| own.definition.report.is_some());
        report_dialect(name).map(|known| known as &dyn ReportDialect).or_else(|| own().map(|own| own as _))
    }

    /// The dialect of a document.
    pub fn document(&self, name: &str) -> Option<&dyn DocumentDialect> {
        let own = || self.find(name).map(|own| own as _);
        document_dialect(name).map(|known| known as &dyn DocumentDialect).or_else(own)
    }

    /// What every report dialect can express.
    pub fn declarations(&self) -> BTreeMap<Name, Declaration> {
        let reports = self.own.values().filter(|(_, own)| own.definition.report.is_some());
        let own = reports.map(|(_, own)| (own.definition.name.clone(), ReportDialect::declaration(&**own)));
        own.chain(declarations()).collect()
    }

    /// What every contract of documents can bring.
    pub fn document_declarations(&self) -> BTreeMap<Name, Declaration> {
        let own = self.own.values().map(|(_, own)| (own.definition.name.clone(), DocumentDialect::declaration(&**own)));
        own.chain(document_declarations()).collect()
    }
}

#[cfg(test)]
mod tests {
    use tollgate_core::protocol::{self, Dialects};

    use super::*;

    #[test]
    fn dialects_go_by_name_with_or_without_their_version() {
        for name in ["status-block", "status-block@1", "wr.loop_control", "wr.loop_control@1"] {
            let id = report_dialect(name).map(Format::id);
            assert_eq!(id.map(bare), Some(bare(name)), "{name}");
        }
        assert_eq!(document_dialect("build-plan.task").map(Format::id), Some("build-plan.task@1"));
        for name in ["", "status-block@2", "status", "build-plan.task", "wr.loop_control@2", "wr"] {
            assert!(report_dialect(name).is_none(), "{name}");
        }
        assert_eq!(all().count(), REPORTS.len() + DOCUMENTS.len() + sources().count(), "each definition can be read");
        assert!(declarations().contains_key("status-block"));
    }

    /// A built-in protocol needs no declarations but those of the dialects that are built in.
    #[test]
    fn the_built_in_protocol_needs_no_file_of_dialects() {
        let mut dialects = Dialects::default();
        for (name, declaration) in declarations() {
            dialects.add(&name, declaration);
        }
        for (name, declaration) in document_declarations() {
            dialects.add_document(&name, declaration);
        }
        let (protocol, _) = protocol::read(include_str!("../../../protocols/build-plan.yaml"));
        assert_eq!(protocol::check(&protocol.unwrap(), &dialects), []);
    }
}
