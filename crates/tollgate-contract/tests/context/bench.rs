//! A run of build-plan that goes on as its test says.

use std::collections::BTreeMap;
use std::sync::Arc;

use tollgate_contract::briefing::reading_context;
use tollgate_contract::extract::Markers;
use tollgate_contract::{Context, registry};
use tollgate_core::Name;
use tollgate_core::context::{Assembled, Change, ContextError, Sources, assemble};
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, DecisionId, RoleId, RunId};
use tollgate_core::protocol;
use tollgate_core::protocol::model::Value;
use tollgate_core::report::{Health, Judgement};
use tollgate_core::run::decide::{Answer, AttemptResult, Landing, Open, OpenArtifact};
use tollgate_core::run::event::{By, ByKind, ChangeKind, Changed, CommandResult, LandOutcome, Work};
use tollgate_core::run::{Command, Decided, Run, Stamp, decide, open};
use tollgate_core::run_secret::RunSecret;
use tollgate_core::scope::Content;

pub const TASK: &str = "\
# Greet people by name

A greeting that knows who it greets.

## Definition of Done

### Backend

- `greet(name)` returns `Hello, NAME!`
- the build is clean `cmd: make check`

### Tester scope

- an empty name is refused
";

/// A run, and everything its journal refers to.
pub struct Bench {
    pub run: Run,
    objects: BTreeMap<Digest, String>,
    trees: u32,
    pub change: Option<Change>,
    /// What the repository tells agents itself.
    pub instructions: Option<(Name, String)>,
    /// Whether workers are asked for markers.
    pub marked: bool,
}

impl Bench {
    /// Opens a run whose plan is signed off.
    pub fn open(inputs: &[(&str, &str)]) -> Self {
        Self::with_protocol(include_str!("../../../../protocols/build-plan.yaml"), TASK, inputs)
    }

    pub fn with_protocol(yaml: &str, task: &str, inputs: &[(&str, &str)]) -> Self {
        let (protocol, diagnostics) = protocol::read(yaml);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let simple = inputs.contains(&("complexity", "simple"));
        let named = inputs.iter().find(|(name, _)| *name == "sides").map_or("backend", |(_, sides)| sides);
        let sides = (!simple).then(|| named.split(',').map(Into::into).collect());
        let reading =
            registry::document_dialect("build-plan.task").unwrap().read(task, &Context { sides, ..Context::default() });
        assert!(reading.diagnostics.is_empty(), "{:?}", reading.diagnostics);
        let object = Digest::of(task.as_bytes());
        let artifact = OpenArtifact { object, fields: reading.fields, plan: reading.plan, places: reading.places };
        let opened = open(
            Open {
                id: RunId::from_bits(7),
                title: "Greet people by name".to_owned(),
                protocol: Arc::new(protocol.unwrap()),
                digest: Digest::of(yaml.as_bytes()),
                pins: BTreeMap::new(),
                repository: "hello".to_owned(),
                base: "base".into(),
                inputs: inputs.iter().map(|(name, value)| ((*name).into(), Value::Text((*value).into()))).collect(),
                artifacts: BTreeMap::from([("task".into(), artifact)]),
                workers: BTreeMap::new(),
                commands: BTreeMap::new(),
                areas: BTreeMap::new(),
                config: serde_json::Value::Null,
                answers: BTreeMap::from([("sign-off".into(), "approve".into())]),
                scopes: Default::default(),
                content: content("tree-0"),
                budgets: Default::default(),
                pools: BTreeMap::new(),
                checkout: None,
            },
            &stamp(ByKind::Person),
        );
        let objects = BTreeMap::from([(object, task.to_owned())]);
        let run = opened.unwrap().run;
        let mut bench = Self { run, objects, trees: 0, change: None, instructions: None, marked: true };
        bench.decide(Command::TakeOver { driver: "driver".into() }, ByKind::Driver);
        bench
    }

    fn decide(&mut self, command: Command, by: ByKind) {
        let Decided { run, refusal, .. } = decide(&self.run, command, &stamp(by)).unwrap();
        assert_eq!(refusal, None);
        self.run = run;
    }

    /// The live dispatch: the commands and landings before it have gone well.
    pub fn live(&mut self) -> AttemptId {
        self.live_after(Judgement::Pass)
    }

    /// The live dispatch after commands that came out like this; of several the one that began first.
    pub fn live_after(&mut self, result: Judgement) -> AttemptId {
        loop {
            let (id, attempt) = self.run.attempts.iter().next().expect("somebody is at work");
            let (id, token) = (*id, attempt.token);
            match attempt.work.clone() {
                Work::Dispatch { .. } => return id,
                Work::Commands { commands } => {
                    let output = self.keep("make: checked\n");
                    let ran = |command| {
                        let (output, note) = (Some(output), String::new());
                        CommandResult {
                            command,
                            result,
                            output,
                            note,
                            runs: Vec::new(),
                            changes: Vec::new(),
                            setup: Vec::new(),
                        }
                    };
                    let results = commands.into_iter().map(ran).collect();
                    self.decide(Command::Ran { attempt: id, token, results, leash: None }, ByKind::Driver);
                }
                Work::Land { unit, .. } => {
                    // The unit's work as it was judged, on the caller's tree.
                    let judged = self.run.contents[self.run.tree_of(Some(&unit))].areas.clone();
                    let landed = Content { areas: judged, ..self.next_tree() };
                    let landing = Landing {
                        by_policy: Vec::new(),
                        outcome: LandOutcome::Landed,
                        content: Some(landed),
                        collided: None,
                        measured: Vec::new(),
                        paths: Vec::new(),
                        why: String::new(),
                    };
                    self.decide(Command::Landed { attempt: id, token, landing: Box::new(landing) }, ByKind::Driver);
                }
            }
        }
    }

    pub fn role(&self, attempt: AttemptId) -> RoleId {
        let Work::Dispatch { role, .. } = &self.run.attempts[&attempt].work else { panic!("a dispatch") };
        role.clone()
    }

    pub fn keep(&mut self, text: &str) -> Digest {
        let digest = Digest::of(text.as_bytes());
        self.objects.insert(digest, text.to_owned());
        digest
    }

    /// Puts another text where an object was: a store that lies.
    pub fn replace(&mut self, digest: Digest, text: &str) {
        self.objects.insert(digest, text.to_owned());
    }

    pub fn forget(&mut self, digest: Digest) {
        self.objects.remove(&digest);
    }

    fn next_tree(&mut self) -> Content {
        self.trees += 1;
        content(&format!("tree-{}", self.trees))
    }

    /// The live dispatch of a role reports, and its report is good.
    pub fn report(&mut self, role: &str, text: &str) {
        let health = self.report_any(role, text);
        assert_ne!(health, Health::Malformed, "{text}");
    }

    /// The live dispatch of a role reports.
    pub fn report_any(&mut self, role: &str, text: &str) -> Health {
        let attempt = self.live();
        assert_eq!(&*self.role(attempt), role);
        let contract = self.run.protocol.roles[role].contract.clone();
        let context = reading_context(&self.run, attempt);
        let reading = registry::report_dialect(&contract).unwrap().read(text, &context);
        let diagnostics = match reading.report.health {
            Health::Malformed => reading.diagnostics.iter().map(|said| said.message.clone()).collect(),
            _ => Vec::new(),
        };
        let health = reading.report.health;
        let writes = !self.run.protocol.roles[role].writes.is_empty();
        let claims = &reading.report.claims;
        let changed = |paths: &[Name], kind| -> Vec<Changed> {
            paths.iter().map(|path| Changed::new(path.clone(), kind)).collect()
        };
        let changed =
            [changed(&claims.created, ChangeKind::Created), changed(&claims.modified, ChangeKind::Modified)].concat();
        let result = AttemptResult {
            sections: reading.sections.keys().cloned().collect(),
            report: reading.report,
            object: self.keep(text),
            diagnostics,
            content: writes.then(|| self.next_tree()),
            changed,
            artifacts: BTreeMap::new(),
            noticed: Vec::new(),
            told: None,
            leash: None,
        };
        let token = self.run.attempts[&attempt].token;
        self.decide(Command::Report { attempt, token, result: Box::new(result) }, ByKind::Driver);
        health
    }

    /// A person answers the only question that is open.
    pub fn answer(&mut self, option: Option<&str>, text: &str) {
        let decision: DecisionId = self.run.pending().next().expect("a question").0;
        let answer = Answer { option: option.map(Into::into), text: text.to_owned(), ..Answer::default() };
        self.decide(Command::Answer { decision, answer: Box::new(answer) }, ByKind::Person);
        self.decide(Command::Advance, ByKind::Driver);
    }

    /// The markers of an attempt, by a secret that is always the same.
    pub fn markers(&self, attempt: AttemptId) -> Markers {
        let token = self.run.attempts.get(&attempt).map_or(0, |lease| lease.token);
        Markers::of_attempt(&RunSecret::new([7; 32]), self.run.id, attempt, token)
    }

    /// What the live dispatch is shown, by a template.
    pub fn show(&mut self, template: &str) -> Result<Assembled, ContextError> {
        let attempt = self.live();
        self.show_to(attempt, template)
    }

    pub fn show_to(&self, attempt: AttemptId, template: &str) -> Result<Assembled, ContextError> {
        let object = |digest: Digest| self.objects.get(&digest).cloned();
        let sources = Sources {
            contracts: &registry::Contracts::default(),
            object: &object,
            change: self.change.clone(),
            project: "hello: Makefile src tests".to_owned(),
            instructions: self.instructions.clone(),
            marker_request: self.marked.then(|| self.markers(attempt).request()),
            out: "/out".to_owned(),
        };
        assemble(&self.run, attempt, template, &sources)
    }

    /// What the live dispatch is shown, by its role's own brief.
    pub fn brief(&mut self) -> Assembled {
        let attempt = self.live();
        let template = template(&self.role(attempt));
        self.show(template).unwrap()
    }
}

/// The brief of a role of build-plan.
pub fn template(role: &str) -> &'static str {
    match role {
        "developer" => include_str!("../../../../protocols/build-plan/developer.md"),
        "dev-tester" => include_str!("../../../../protocols/build-plan/dev-tester.md"),
        "dod-checker" => include_str!("../../../../protocols/build-plan/dod-checker.md"),
        "reviewer" => include_str!("../../../../protocols/build-plan/reviewer.md"),
        "tester" => include_str!("../../../../protocols/build-plan/tester.md"),
        "devops" => include_str!("../../../../protocols/build-plan/devops.md"),
        other => panic!("no brief for {other}"),
    }
}

fn stamp(kind: ByKind) -> Stamp {
    let name = if kind == ByKind::Person { "ada" } else { "driver" };
    Stamp { now_ms: 1_000, by: By { kind, name: name.into() }, epoch: 1, around: Default::default() }
}

fn content(tree: &str) -> Content {
    let areas =
        ["tests", "infra", "code"].map(|area| (Name::from(area), Digest::of(format!("{tree}{area}").as_bytes())));
    Content { tree: tree.into(), areas: BTreeMap::from(areas), ..Content::default() }
}

/// A report: the parts of the Abstract that differ, and the sections after it.
pub fn report(outcome: &str, verdict: &str, files: &str, next: &str, questions: u32, sections: &str) -> String {
    format!(
        "## Status\ncomplete\n\n## Abstract\noutcome: {outcome}\nverdict: {verdict}\nfiles: {files}\nnext_phase: {next}\n\
         open_questions: {questions}\n\n{sections}"
    )
}

pub fn developed() -> String {
    report(
        "greet is there",
        "n/a",
        "1 created, 0 modified, 0 deleted",
        "dod-checker",
        0,
        "## Files Created\n- `src/greet.rs` — the greeting\n\n## Files Modified\nNone\n\n## Quality-Gate Results\nmake check: clean\n\n\
         ## DoD coverage\n- ✓ DoD-1 — src/greet.rs\n- ✓ DoD-2 — make check\n\n## Key Decisions\n- one function, no trait\n\n\
         ## For the Next Agent\nThe name is not trimmed.\n\n## Open Questions\nNone\n",
    )
}

pub fn checked(verdict: &str, next: &str, rows: &str) -> String {
    report("checked", verdict, "0 created, 0 modified, 0 deleted", next, 0, &format!("## Verdict\n{verdict}\n\n{rows}"))
}

pub fn reviewed(verdict: &str, next: &str, findings: &str) -> String {
    report("reviewed", verdict, "0 created, 0 modified, 0 deleted", next, 0, &format!("## Findings\n{findings}\n"))
}
