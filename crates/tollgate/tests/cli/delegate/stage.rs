//! A repository, a dossier and a worker that is a shell script.

use std::path::PathBuf;

use serde_json::{Value, json};
use tollgate_contract::Context;
use tollgate_contract::registry::report_dialect;
use tollgate_core::report::Health;

use crate::world::World;

/// Where something is delegated.
pub struct Stage {
    pub world: World,
    pub role: String,
    dossier: Value,
    more: Vec<String>,
}

/// What came of it.
pub struct Delegated {
    pub code: i32,
    pub report: Value,
    pub err: String,
}

/// A dossier for `src/main.rs` and `src/new.rs`.
pub fn dossier(role: &str) -> Value {
    json!({
        "schema": "DossierV1", "workflow": "cart", "work_unit": "U-1", "dossier_id": "U-1-x", "worker_name": "wf/cart/u-1",
        "worker_role": role, "delegation_transport": "portable_delegate", "start_condition": "at once", "title": "Show the total",
        "objective": "The program prints the total.", "non_goals": ["Discounts"], "source_corpus": ["README.md"],
        "must_read": ["src/main.rs"], "allowed_surfaces": ["src/main.rs", "src/new.rs"], "forbidden_surfaces": ["tests"],
        "acceptance_matrix": [{"id": "AC-1", "requirement": "The total is printed."}], "adversarial_checks": ["An empty cart."],
        "required_commands_or_evidence": ["cargo test"], "worker_prompt": format!("You are the {role}. Report as WorkerReportV1."),
        "supervisor_checkpoints": ["After the report."], "completion_report_schema": "WorkerReportV1",
        "verification_report_schema": "WorkerReportV1", "stop_gates": ["Another file is needed."], "assumptions": ["Cents."],
        "open_questions": ["none"]
    })
}

/// A report that passes.
pub fn report(role: &str, status: &str) -> Value {
    json!({
        "schema": "WorkerReportV1", "status": status, "role": role, "unit_id": "U-1", "summary": "It is done.",
        "changed_surfaces": [], "evidence": ["cargo test: 3 passed"], "checks_run": ["cargo test"], "skipped_checks": [],
        "findings": if status == "FAIL" { json!(["The total ignores the quantity."]) } else { json!([]) },
        "blocking_question": null, "next_action": "Verify U-1.", "adapter": null, "guard": null, "reason": null
    })
}

/// A shell line that prints a report.
pub fn says(report: &Value) -> String {
    format!("cat <<'END'\n{report}\nEND\n")
}

impl Stage {
    /// A clean checkout, and a worker of this role that does this.
    pub fn new(role: &str, acts: &str) -> Self {
        let world = World::with_repository();
        let stage = Self { world, role: role.to_owned(), dossier: dossier(role), more: Vec::new() };
        stage.acts(acts);
        stage
    }

    /// The same in a folder that is in no repository.
    pub fn without_repository(role: &str, acts: &str) -> Self {
        let stage = Self { world: World::new(), role: role.to_owned(), dossier: dossier(role), more: Vec::new() };
        stage.world.write("src/main.rs", "fn main() {}\n");
        stage.acts(acts);
        stage
    }

    /// What the worker does.
    pub fn acts(&self, acts: &str) {
        self.world.agent("agent", &format!("#!/bin/sh\n{acts}\n"));
    }

    /// The dossier with another value.
    pub fn dossier(mut self, key: &str, value: Value) -> Self {
        self.dossier[key] = value;
        self
    }

    /// The surfaces that it may write.
    pub fn allows(&mut self, surface: &str) -> &Self {
        self.dossier["allowed_surfaces"] = json!([surface]);
        self
    }

    /// More words on the command line.
    pub fn with(mut self, words: &[&str]) -> Self {
        self.more.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// Nothing holds the worker: what it does must be found by measuring.
    pub fn unheld(mut self) -> Self {
        self.world.set("TOLLGATE_SANDBOX", "off");
        self
    }

    pub fn work(&self, path: &str) -> PathBuf {
        self.world.path("work").join(path)
    }

    /// Delegates to the script.
    #[track_caller]
    pub fn delegate(&self) -> Delegated {
        self.delegate_with(&[])
    }

    /// The same, with more words for this once.
    #[track_caller]
    pub fn delegate_with(&self, words: &[&str]) -> Delegated {
        self.delegate_to(&[&["--agent", "command", "--adapter-command", "[\"agent\"]"], words].concat())
    }

    /// Delegates; the report must hold, and nothing may be left behind.
    #[track_caller]
    pub fn delegate_to(&self, agent: &[&str]) -> Delegated {
        std::fs::write(self.world.path("dossier.json"), self.dossier.to_string()).unwrap();
        let dossier = ["--dossier", "../dossier.json"];
        self.type_in(&[agent, &["--role", &self.role, "--unit", "U-1"], &dossier].concat())
    }

    /// Delegates with nothing but these words, and those that were added.
    #[track_caller]
    pub fn type_in(&self, words: &[&str]) -> Delegated {
        let more: Vec<&str> = self.more.iter().map(String::as_str).collect();
        let before = self.left();
        let output = self.world.program(&[&["delegate"], words, &more].concat()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let out = String::from_utf8(output.stdout).unwrap();
        let report = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"));
        self.holds(&out);
        assert_eq!(self.left(), before, "something was left behind");
        Delegated { code: output.status.code().unwrap(), report, err }
    }

    /// The report on stdout is one of its contract, for this role.
    #[track_caller]
    fn holds(&self, out: &str) {
        let contract = report_dialect("supervisor.worker-report").unwrap();
        let reading = contract.read(out, &Context { role: Some(self.role.as_str().into()), ..Context::default() });
        assert_ne!(reading.report.health, Health::Malformed, "{:#?}\n{out}", reading.diagnostics);
    }

    /// Everything outside of the folder that the worker works in.
    fn left(&self) -> Vec<String> {
        let (mut open, mut found) = (vec![self.world.path("state"), self.world.path("home")], Vec::new());
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                found.push(entry.path().display().to_string());
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                }
            }
        }
        found.sort();
        found
    }
}

impl Delegated {
    #[track_caller]
    pub fn is(&self, status: &str, reason: Option<&str>, code: i32) -> &Self {
        let found = (self.report["status"].as_str().unwrap(), self.report["reason"].as_str(), self.code);
        assert_eq!(found, (status, reason, code), "{:#}\n{}", self.report, self.err);
        self
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.report.to_string().contains(text), "no `{text}` in {:#}", self.report);
        self
    }

    pub fn list(&self, key: &str) -> Vec<String> {
        let at = key.split('.').fold(&self.report, |value, key| &value[key]);
        at.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    }
}
