//! What is measured: every contract in every form that it is read in, and the bare pass of that form.

use std::hint::black_box;

use pulldown_cmark::Parser;
use tollgate_core::contract::defined::Defined;
use tollgate_core::contract::definition::Form;
use tollgate_core::contract::{Context, DocumentDialect, ReportDialect, registry};
use tollgate_core::diagnostic::{Diagnostic, Severity};

use super::documents;
use crate::Outcome;

/// A contract.
#[derive(Clone, Copy)]
pub enum Contract {
    Data(&'static Defined),
    Report(&'static dyn ReportDialect),
    Document(&'static dyn DocumentDialect),
}

impl Contract {
    /// Every contract there is.
    pub fn all() -> Outcome<Vec<Self>> {
        let of = |id: &'static str| {
            let data = registry::defined(id).map(Self::Data);
            let report = registry::report_dialect(id).map(Self::Report);
            data.or(report).or_else(|| registry::document_dialect(id).map(Self::Document))
        };
        registry::all().map(|id| of(id).ok_or_else(|| format!("{id} is not there").into())).collect()
    }

    pub fn id(self) -> &'static str {
        match self {
            Self::Data(own) => &own.definition.id,
            Self::Report(dialect) => dialect.id(),
            Self::Document(dialect) => dialect.id(),
        }
    }

    /// Reads, judges and maps a text, as `contract check` and the engine do; a status block is also looked for in it.
    pub fn read(self, text: &str, context: &Context) -> Vec<Diagnostic> {
        match self {
            Self::Data(own) if own.definition.report.is_some() => ReportDialect::read(own, text, context).diagnostics,
            Self::Data(own) => DocumentDialect::read(own, text, context).diagnostics,
            Self::Report(dialect) => dialect.read(text, context).diagnostics,
            Self::Document(dialect) => dialect.read(text, context).diagnostics,
        }
    }

    /// Reads and judges a text that is the document and nothing else. `build-plan.task` also maps it.
    pub fn judge(self, text: &str, context: &Context) -> Vec<Diagnostic> {
        match self {
            Self::Data(own) => own.judge(text, context).diagnostics,
            Self::Report(dialect) => dialect.diagnose(text, context),
            Self::Document(_) => self.read(text, context),
        }
    }

    /// Its forms.
    pub fn forms(self) -> &'static [Form] {
        match self {
            Self::Data(own) => &own.definition.forms,
            Self::Report(_) | Self::Document(_) => &[Form::Markdown],
        }
    }

    /// A document of a size in each form, and who says it.
    pub fn documents(self, bytes: usize) -> Outcome<(Vec<(Form, String)>, Context)> {
        let coded = |render: &dyn Fn(&serde_json::Value) -> Result<String, String>| -> Outcome<_> {
            Ok((vec![(Form::Markdown, render(&documents::coded(self.id(), bytes))?)], Context::default()))
        };
        match self {
            Self::Data(own) => documents::grown(own, bytes),
            Self::Report(dialect) => coded(&|json| dialect.render(json)),
            Self::Document(dialect) => coded(&|json| dialect.render(json)),
        }
    }
}

/// Whether a document was refused.
pub fn is_refused(found: &[Diagnostic]) -> bool {
    found.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Reads a text and keeps nothing but what its reader makes of it: serde_json's `Value`, the events of pulldown-cmark, those
/// of saphyr-parser.
pub fn bare_pass(form: Form, text: &str) {
    match form {
        Form::Json => drop(black_box(serde_json::from_str::<serde_json::Value>(text))),
        Form::JsonLines => {
            for line in text.lines() {
                drop(black_box(serde_json::from_str::<serde_json::Value>(line)));
            }
        }
        Form::Markdown => Parser::new(text).for_each(|event| drop(black_box(event))),
        Form::Yaml => {
            let mut parser = saphyr_parser::Parser::new_from_str(text);
            while let Some(Ok(event)) = parser.next_event() {
                black_box(event);
            }
        }
    }
}
