//! `tollgate contract`.

mod check;
mod extract;
mod fix;
mod render;
mod sarif;

use std::collections::BTreeMap;

use clap::Subcommand;
use tollgate_api::{Contract as Wire, ContractKind};
use tollgate_app::contracts::{Contract, Contracts, bare};
use tollgate_app::failure::Failure;
use tollgate_app::protocols;
use tollgate_contract::defined::guide;
use tollgate_contract::registry::report_dialect;
use tollgate_contract::{Context, ReportDialect};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::report::Part;
use tollgate_core::yaml::nearest;

use super::protocol::need;
use crate::cli::{Exit, Invocation};
use crate::view::table::table;
use crate::view::text::{Line, Style};

/// Documents that meet the contracts in code; the tests of their pages read them too.
const EXAMPLES: [(&str, &str); 2] = [
    ("status-block", include_str!("../../../../../../docs/contracts/examples/status-block.md")),
    ("build-plan.task", include_str!("../../../../../../docs/contracts/examples/build-plan.task.md")),
];

/// List, show, check, extract, mend and render contracts: what a report or a document must look like
#[derive(Debug, clap::Args)]
pub struct ContractArgs {
    #[command(subcommand)]
    command: ContractCommand,
}

#[derive(Debug, Subcommand)]
enum ContractCommand {
    List(ListArgs),
    Show(ShowArgs),
    Check(check::CheckArgs),
    Extract(extract::ExtractArgs),
    Fix(fix::FixArgs),
    Render(render::RenderArgs),
}

/// List the contracts: built in, and in the repository's trusted `.tollgate/contracts/`
#[derive(Debug, clap::Args)]
struct ListArgs {}

/// Show what a worker is told, and the schema of the document
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The contract: `status-block` or `status-block@1`
    id: String,
    /// The role that reports; its own rules are shown then
    #[arg(long)]
    role: Option<String>,
    /// Only the JSON Schema of the document
    #[arg(long, group = "part")]
    schema: bool,
    /// Only a document to fill in
    #[arg(long, group = "part")]
    template: bool,
    /// Only what a worker is told
    #[arg(long, group = "part")]
    instructions: bool,
    /// Only a document that meets the contract
    #[arg(long, group = "part")]
    example: bool,
}

pub fn run(args: &ContractArgs, call: &Invocation) -> Result<Exit, Failure> {
    match &args.command {
        ContractCommand::List(_) => list(call),
        ContractCommand::Show(args) => show(args, call),
        ContractCommand::Check(args) => check::run(args, call),
        ContractCommand::Extract(args) => extract::run(args, call),
        ContractCommand::Fix(args) => fix::run(args, call),
        ContractCommand::Render(args) => render::run(args, call),
    }
}

fn list(call: &Invocation) -> Result<Exit, Failure> {
    let contracts = Contracts::look(&call.environment)?;
    let described = contracts.all().iter().map(|contract| describe(contract, &Context::default())).collect::<Vec<_>>();
    // What can be used is listed; what cannot is the error, one after the other.
    let refused = contracts.refusals().next();
    if call.json() {
        described.iter().for_each(|contract| call.output.json(contract));
        return refused.map_or(Ok(Exit::Done), Err);
    }
    let row = |contract: Wire| {
        let kind = match contract.kind {
            ContractKind::Report => "what a worker hands back",
            ContractKind::Document => "a document",
        };
        vec![Line::new().add(Style::Strong, contract.id), kind.into()]
    };
    let lines = table(&[], described.into_iter().map(row).collect(), call.output.width());
    lines.into_iter().for_each(|line| call.output.data(line));
    refused.map_or(Ok(Exit::Done), Err)
}

fn show(args: &ShowArgs, call: &Invocation) -> Result<Exit, Failure> {
    let contract = Contracts::named(&args.id, &call.environment)?;
    let told = context(&contract, args.role.as_deref(), call)?;
    let described = describe(&contract, &told);
    let schema = serde_json::to_string_pretty(&described.schema)
        .map_err(|error| Failure::internal("a schema cannot be written").cause(error))?;
    let part = if args.schema {
        Some(schema.clone())
    } else if args.template {
        Some(template(&contract, &told))
    } else if args.example {
        Some(example(&contract))
    } else if args.instructions {
        Some(described.instructions.clone())
    } else {
        None
    };
    if let Some(part) = part {
        call.output.text(part.trim_end());
        return Ok(Exit::Done);
    }
    if call.json() {
        call.output.json(&described);
        return Ok(Exit::Done);
    }
    call.output.data(Line::new().add(Style::Strong, &described.id));
    call.output.data("");
    call.output.text(&described.instructions);
    call.output.data("");
    call.output.text(&schema);
    Ok(Exit::Done)
}

/// A document to fill in.
fn template(contract: &Contract, context: &Context) -> String {
    let report = contract.report().map(|dialect| dialect.template(context));
    report.or_else(|| Some(contract.document()?.template(context))).unwrap_or_default()
}

fn example(contract: &Contract) -> String {
    let coded = || EXAMPLES.iter().find(|(name, _)| *name == bare(contract.id())).map(|(_, text)| (*text).to_owned());
    contract.data().map_or_else(|| coded().unwrap_or_default(), |own| guide::example(&own.definition))
}

fn describe(contract: &Contract, context: &Context) -> Wire {
    let id = contract.id().to_owned();
    match (contract.report(), contract.document()) {
        (Some(dialect), _) => Wire {
            id,
            kind: ContractKind::Report,
            instructions: dialect.instructions(context),
            schema: dialect.schema(),
        },
        (None, document) => Wire {
            id,
            kind: ContractKind::Document,
            instructions: document.map(|dialect| dialect.instructions(context)).unwrap_or_default(),
            schema: document.map(tollgate_contract::Format::schema).unwrap_or_default(),
        },
    }
}

/// The schema of every dialect that is built in, by its name without version.
pub fn schemas() -> Vec<(String, serde_json::Value)> {
    let all = tollgate_app::contracts::built_in();
    let schema = |contract: &Contract| describe(contract, &Context::default()).schema;
    all.iter().map(|contract| (bare(contract.id()).to_owned(), schema(contract))).collect()
}

/// What is known of the role that reports: a role that nobody knows would switch rules off unseen.
fn context(contract: &Contract, role: Option<&str>, call: &Invocation) -> Result<Context, Failure> {
    let Some(role) = role else { return Ok(Context::default()) };
    match contract {
        Contract::Report(dialect) => of_protocols(*dialect, role, call),
        Contract::Document(_) => {
            Err(Failure::usage(Code::USAGE, "a document is given by a person: it has no role").hint("leave out --role"))
        }
        Contract::Data(data) => {
            let known = &data.get().definition.roles;
            // Without roles of its own a contract is the same for all of them.
            if known.is_empty() {
                return Ok(Context { role: Some(role.into()), ..Context::default() });
            }
            let same = |name: &&Name| tollgate_contract::is_same_name(name, role);
            match known.iter().find(same) {
                Some(name) => Ok(Context { role: Some(name.clone()), ..Context::default() }),
                None => {
                    let message = format!("{} knows no role `{role}`", contract.id());
                    Err(unknown_role(message, role, known.iter().map(|name| &**name)))
                }
            }
        }
    }
}

fn of_protocols(dialect: &dyn ReportDialect, role: &str, call: &Invocation) -> Result<Context, Failure> {
    let mut known: BTreeMap<Name, (bool, Option<Part>)> = BTreeMap::new();
    for definition in protocols::list(&call.environment)? {
        let protocol = need(&definition)?;
        let own = protocol
            .roles
            .iter()
            .filter(|(_, known)| report_dialect(&known.contract).is_some_and(|contract| contract.id() == dialect.id()));
        known.extend(own.map(|(name, known)| (Name::from(&**name), (known.judges(), known.part))));
    }
    if let Some((name, (judges, part))) = known.get_key_value(role) {
        return Ok(Context { role: Some(name.clone()), judges: Some(*judges), part: *part, ..Context::default() });
    }
    let message = format!("no protocol has a role `{role}` that reports in {}", dialect.id());
    Err(unknown_role(message, role, known.keys().map(|name| &**name)))
}

fn unknown_role<'a>(message: String, role: &str, known: impl Iterator<Item = &'a str> + Clone) -> Failure {
    let names: Vec<String> = known.clone().map(|name| format!("`{name}`")).collect();
    let failure = Failure::usage(Code::USAGE, message);
    match nearest(role, known) {
        Some(near) => failure.hint(format!("did you mean `{near}`? The roles are {}", names.join(", "))),
        None => failure.hint(format!("the roles are {}", names.join(", "))),
    }
}
