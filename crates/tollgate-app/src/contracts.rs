//! The contracts that can be named: in code, brought along as data, or in the trusted `.tollgate/contracts/` of the repository.
#![expect(missing_debug_implementations, reason = "a contract in code is functions, and one as data has no short form")]

use std::collections::BTreeMap;
use std::sync::Arc;

use tollgate_contract::defined::Defined;
use tollgate_contract::defined::definition;
use tollgate_contract::markdown::Heading;
use tollgate_contract::registry;
use tollgate_contract::{DocumentDialect, ReportDialect, recognition};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Severity;
use tollgate_core::yaml::nearest;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::failure::Source;
use crate::files;
use crate::trust::{self, Standing};

const FOLDER: &str = ".tollgate/contracts/";

/// A contract that was found.
#[derive(Clone)]
pub enum Contract {
    /// A report dialect that is code.
    Report(&'static dyn ReportDialect),
    /// A document dialect that is code.
    Document(&'static dyn DocumentDialect),
    /// One that is data.
    Data(Data),
}

/// A contract that is data.
#[derive(Clone)]
pub enum Data {
    BuiltIn(&'static Defined),
    Own(Arc<Defined>),
}

impl Data {
    pub fn get(&self) -> &Defined {
        match self {
            Self::BuiltIn(defined) => defined,
            Self::Own(defined) => defined,
        }
    }
}

impl Contract {
    pub fn id(&self) -> &str {
        match self {
            Self::Report(dialect) => dialect.id(),
            Self::Document(dialect) => dialect.id(),
            Self::Data(data) => &data.get().definition.id,
        }
    }

    /// As a language of reports.
    pub fn report(&self) -> Option<&dyn ReportDialect> {
        match self {
            Self::Report(dialect) => Some(*dialect),
            Self::Document(_) => None,
            Self::Data(data) => data.get().definition.report.is_some().then(|| data.get() as &dyn ReportDialect),
        }
    }

    /// As a language of documents.
    pub fn document(&self) -> Option<&dyn DocumentDialect> {
        match self {
            Self::Report(_) => None,
            Self::Document(dialect) => Some(*dialect),
            Self::Data(data) => data.get().definition.report.is_none().then(|| data.get() as &dyn DocumentDialect),
        }
    }

    /// As data.
    pub fn data(&self) -> Option<&Defined> {
        match self {
            Self::Data(data) => Some(data.get()),
            Self::Report(_) | Self::Document(_) => None,
        }
    }
}

/// Every contract that can be named here.
pub struct Contracts {
    own: Vec<Arc<Defined>>,
    /// Those of the repository that are not sound: their files and texts.
    broken: Vec<(String, String)>,
    standing: Standing,
}

impl Contracts {
    /// Reads those of the repository, if it has some that may act; one that is not sound is refused when it is asked for.
    pub fn look(environment: &Environment) -> Result<Self, Failure> {
        let standing = Standing::look(environment)?;
        let (mut own, mut broken) = (Vec::new(), Vec::new());
        if let Some(folder) = standing.trusted() {
            for (path, name) in folder.paths().filter_map(|path| Some((path, stem(path)?))) {
                let Some(text) = folder.text(path).transpose()? else { continue };
                match read(path, name, &text) {
                    Ok(defined) => own.push(Arc::new(defined)),
                    Err(_) => broken.push((path.to_owned(), text)),
                }
            }
        }
        Ok(Self { own, broken, standing })
    }

    /// Why a contract of the repository cannot be used, for each that is not sound.
    pub fn refusals(&self) -> impl Iterator<Item = Failure> {
        self.broken.iter().filter_map(|(path, text)| read(path, stem(path)?, text).err())
    }

    /// The files of those that are not sound.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.broken.iter().map(|(path, _)| &**path)
    }

    /// All of them: those in code, those brought along, the repository's own.
    pub fn all(&self) -> Vec<Contract> {
        let own = self.own.iter().map(|own| Contract::Data(Data::Own(Arc::clone(own))));
        built_in().into_iter().chain(own).collect()
    }

    /// The contract of a name. Those that are built in need no repository, and none can take their place.
    pub fn named(name: &str, environment: &Environment) -> Result<Contract, Failure> {
        match one_built_in(name) {
            Some(contract) => Ok(contract),
            None => Self::look(environment)?.find(name),
        }
    }

    /// The contract of a name, with or without its version.
    pub fn find(&self, name: &str) -> Result<Contract, Failure> {
        let all = self.all();
        if let Some(found) = all.iter().find(|contract| is_asked(contract, name)) {
            return Ok(found.clone());
        }
        if let Some((path, text)) = self.broken.iter().find(|(path, _)| stem(path) == Some(bare(name))) {
            return read(path, bare(name), text).map(|own| Contract::Data(Data::Own(Arc::new(own))));
        }
        if let Standing::Untrusted(_, folder) = &self.standing
            && let Some(path) = folder.paths().find(|path| stem(path) == Some(bare(name)))
        {
            return Err(trust::refusal(path));
        }
        if let Some(path) = uncommitted(&self.standing, name) {
            return Err(trust::uncommitted(&path));
        }
        let failure = Failure::usage(Code::NO_CONTRACT, format!("there is no contract `{name}`"));
        Err(match nearest(name, all.iter().map(|contract| bare(contract.id()))) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`tollgate contract list` shows the names"),
        })
    }

    /// The headings that documents of the repository's own contracts begin with.
    pub fn headings(&self) -> Vec<Heading> {
        self.own.iter().filter_map(|own| own.definition.heading.clone()).collect()
    }

    /// The same, where a contract is one of them; those that are built in need no repository.
    pub fn headings_beside(contract: &Contract, environment: &Environment) -> Result<Vec<Heading>, Failure> {
        match contract {
            Contract::Data(Data::Own(_)) => Ok(Self::look(environment)?.headings()),
            Contract::Data(Data::BuiltIn(_)) | Contract::Report(_) | Contract::Document(_) => Ok(Vec::new()),
        }
    }

    /// The contracts that a file is most likely written in.
    pub fn recognise(&self, file: &str, text: &str) -> Vec<String> {
        let own = self.own.iter().map(|own| &**own);
        let known = registry::all_defined().map(|built_in| -> &Defined { built_in }).chain(own);
        recognition::recognise(file, text, known).into_iter().map(str::to_owned).collect()
    }
}

/// The definitions of those among the names that the repository brings along; what no contract has stays out, and the check of
/// a protocol names it.
pub fn definitions<'n>(
    names: impl IntoIterator<Item = &'n Name>,
    environment: &Environment,
) -> Result<BTreeMap<Name, String>, Failure> {
    let mut found = BTreeMap::new();
    let mut own = names.into_iter().filter(|name| !registry::is_built_in(name)).peekable();
    if own.peek().is_none() {
        return Ok(found);
    }
    let standing = Standing::look(environment)?;
    for name in own.map(|name| bare(name)) {
        let path = format!("{FOLDER}{name}.yaml");
        if let Standing::Untrusted(_, folder) = &standing
            && folder.paths().any(|known| known == path)
        {
            return Err(trust::refusal(&path));
        }
        if let Some(text) = standing.trusted().and_then(|folder| folder.text(&path)).transpose()? {
            read(&path, name, &text)?;
            found.insert(Name::from(name), text);
        } else if let Some(path) = uncommitted(&standing, name) {
            return Err(trust::uncommitted(&path));
        }
    }
    Ok(found)
}

/// The file of a contract that lies in the checkout; asked for once no commit has it.
fn uncommitted(standing: &Standing, name: &str) -> Option<String> {
    let path = format!("{FOLDER}{}.yaml", bare(name));
    let root = standing.repository()?.root();
    (stem(&path).is_some() && files::is_file(&root.join(&path))).then_some(path)
}

/// Those that need no repository.
pub fn built_in() -> Vec<Contract> {
    registry::all().filter_map(one_built_in).collect()
}

fn one_built_in(id: &str) -> Option<Contract> {
    if let Some(defined) = registry::defined(id) {
        return Some(Contract::Data(Data::BuiltIn(defined)));
    }
    let report = registry::report_dialect(id).map(Contract::Report);
    report.or_else(|| registry::document_dialect(id).map(Contract::Document))
}

fn read(path: &str, name: &str, text: &str) -> Result<Defined, Failure> {
    if registry::is_built_in(name) {
        let failure =
            Failure::refused(Code::CONTRACT_NAME, format!("{path} has the name of a contract that is built in"));
        return Err(failure.hint("give the file and its `contract:` another name"));
    }
    let (definition, problems) = definition::read(name, text, false);
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    match definition {
        Some(definition) if errors == 0 => Ok(Defined { definition }),
        _ => {
            let failure = Failure::refused(
                problems.first().map_or(Code::CONTRACT_NAME, |problem| problem.code),
                format!("the contract {path} cannot be used"),
            );
            let source = Source { file: path.to_owned(), text: text.to_owned() };
            Err(failure.at(source, problems).hint("docs/contracts/language.md describes the language"))
        }
    }
}

fn is_asked(contract: &Contract, name: &str) -> bool {
    contract.id() == name || bare(contract.id()) == name
}

/// A name without its version.
pub fn bare(id: &str) -> &str {
    id.split_once('@').map_or(id, |(bare, _)| bare)
}

fn stem(path: &str) -> Option<&str> {
    path.strip_prefix(FOLDER)?.strip_suffix(".yaml").filter(|stem| !stem.contains('/'))
}
