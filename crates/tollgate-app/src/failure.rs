//! Every way a call can fail, in one shape: code, what, where, why, and what to do next.

use tollgate_api as api;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::id::RunId;

/// A text and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file, as the person named it.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A rule says no.
    Refused,
    /// The command line is wrong.
    Usage,
    /// The machine, a file or a program is not as needed.
    Environment,
    /// A person has to decide.
    Waiting,
    /// A budget or a quota is used up.
    Budget,
    /// Tollgate broke one of its own rules.
    Internal,
}

impl Kind {
    const fn wire(self) -> api::FailureKind {
        match self {
            Self::Refused => api::FailureKind::Refused,
            Self::Usage => api::FailureKind::Usage,
            Self::Environment => api::FailureKind::Environment,
            Self::Waiting => api::FailureKind::Waiting,
            Self::Budget => api::FailureKind::Budget,
            Self::Internal => api::FailureKind::Internal,
        }
    }
}

/// Why a command did not do what was asked. Boxed: results stay small.
#[derive(Debug)]
pub struct Failure(Box<Parts>);

#[derive(Debug)]
struct Parts {
    kind: Kind,
    code: Code,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
    diagnostics: Vec<Diagnostic>,
    source: Option<Source>,
}

impl Failure {
    /// A failure of a kind.
    pub fn new(kind: Kind, code: Code, message: impl Into<String>) -> Self {
        let (causes, hints, diagnostics) = (Vec::new(), Vec::new(), Vec::new());
        Self(Box::new(Parts { kind, code, message: message.into(), causes, hints, diagnostics, source: None }))
    }

    /// A rule says no.
    pub fn refused(code: Code, message: impl Into<String>) -> Self {
        Self::new(Kind::Refused, code, message)
    }

    /// The command line is wrong.
    pub fn usage(code: Code, message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, code, message)
    }

    /// The machine, a file or a program is not as needed.
    pub fn environment(code: Code, message: impl Into<String>) -> Self {
        Self::new(Kind::Environment, code, message)
    }

    /// Tollgate broke one of its own rules.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, Code::INTERNAL, message)
            .hint("`tollgate verify --all` says whether the journals hold; please report this with its output")
    }

    /// Adds why; the sources of an error follow it.
    #[must_use]
    pub fn cause(mut self, error: impl std::error::Error) -> Self {
        self.0.causes.push(error.to_string());
        let mut source = error.source();
        while let Some(inner) = source {
            self.0.causes.push(inner.to_string());
            source = inner.source();
        }
        self
    }

    /// Adds why, in words.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.0.causes.push(cause.into());
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Names the run in the commands that it hints at, so that they can be typed as they stand.
    #[must_use]
    pub fn about(mut self, run: RunId) -> Self {
        for hint in &mut self.0.hints {
            *hint = hint.replace(" RUN", &format!(" {run}"));
        }
        self
    }

    /// Names the protocol in the commands that it hints at.
    #[must_use]
    pub fn about_protocol(mut self, id: &str) -> Self {
        for hint in &mut self.0.hints {
            *hint = hint.replace(" protocol show ID", &format!(" protocol show {id}"));
        }
        self
    }

    /// Adds what is wrong with an input, and the input.
    #[must_use]
    pub fn at(mut self, source: Source, diagnostics: Vec<Diagnostic>) -> Self {
        self.0.source = Some(source);
        self.0.diagnostics = diagnostics;
        self
    }

    /// Its code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// What happened.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Why, the nearest cause first.
    pub fn causes(&self) -> &[String] {
        &self.0.causes
    }

    /// What is wrong with an input, and the input.
    pub fn places(&self) -> Option<(&Source, &[Diagnostic])> {
        self.0.source.as_ref().map(|source| (source, self.0.diagnostics.as_slice()))
    }

    /// What to do next: there is always something to type.
    pub fn hints(&self) -> Vec<String> {
        let parts = &self.0;
        if parts.hints.is_empty() && parts.diagnostics.iter().all(|diagnostic| diagnostic.hint.is_none()) {
            return vec![format!("`tollgate explain {}` says more", parts.code)];
        }
        parts.hints.clone()
    }

    /// The failure as it goes over the wire.
    pub fn wire(&self) -> api::Failure {
        let parts = &self.0;
        let file = parts.source.as_ref().map(|source| source.file.as_str());
        api::Failure {
            kind: parts.kind.wire(),
            code: parts.code.to_string(),
            message: parts.message.clone(),
            causes: parts.causes.clone(),
            hints: self.hints(),
            diagnostics: parts.diagnostics.iter().map(|diagnostic| wire_diagnostic(diagnostic, file)).collect(),
        }
    }
}

/// A diagnostic as it goes over the wire.
pub fn wire_diagnostic(diagnostic: &Diagnostic, file: Option<&str>) -> api::Diagnostic {
    api::Diagnostic {
        code: diagnostic.code.to_string(),
        severity: match diagnostic.severity {
            Severity::Warning => api::Severity::Warning,
            Severity::Error => api::Severity::Error,
        },
        message: diagnostic.message.clone(),
        file: file.map(str::to_owned),
        line: diagnostic.place.line,
        column: diagnostic.place.column,
        other: diagnostic.other.map(|place| api::Place { line: place.line, column: place.column }),
        hint: diagnostic.hint.clone(),
        rule: diagnostic.rule.as_ref().map(ToString::to_string),
    }
}
