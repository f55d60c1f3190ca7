//! A dispatch: the work tree as the state has it, the bundle, the worker, its report, and what it changed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tollgate_contract::extract::{report_file, report_in};
use tollgate_contract::registry::Contracts;
use tollgate_contract::{Context, briefing, reask};
use tollgate_core::Name;
use tollgate_core::context;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, RoleId};
use tollgate_core::protocol::model::Role;
use tollgate_core::redact::Secrets;
use tollgate_core::report::{Health, Report, Verdict};
use tollgate_core::run::Run;
use tollgate_core::run::decide::AttemptResult;
use tollgate_core::run::event::Work;
use tollgate_store::{Object, Point, reach};

use super::confinement::ProgramKind;
use super::conversation::resumption;
use super::failure::NotReady;
use super::kept_caches::CopyUse;
use super::preparation::{SetupTarget, not_ready};
use super::report_markers::ReportMarkers;
use super::side_effects::{self, TreeBaseline};
use super::subject_change::{self, changed};
use super::workdir::{OpenedWorkdir, Workdir};
use super::{
    ATTEMPT_LIMIT, CancelHandle, Failure, GRACE, LocalExecutor, bare, budget, content_in, documents, failed, own_unit,
    protected_paths, scope_policy, secrets_check, tree_id,
};
use crate::process::{End, Inherit, end_all, markers, secrets};
use crate::sandbox::layers::written;
use crate::session::pinned_protocol::{INSTRUCTIONS, PROJECT};
use crate::workers::{self, Job, Outcome, RawReport, WorkerError, agent};
use crate::workspace::setup::caches;
use crate::workspace::{Custody, WorkTree, Workspace, clear_set_id, remove_tree, safe_name};

const UNHELD: &str = "the sandbox did not hold, and the worker was not started; its log says more";
/// How many diagnostics of a malformed report are kept.
pub(super) const DIAGNOSTICS_MAX: usize = 20;

impl LocalExecutor {
    pub(super) fn dispatch(
        &self,
        run: &Run,
        id: AttemptId,
        token: u64,
        cancel: &CancelHandle,
    ) -> Result<(AttemptResult, Vec<Object>), Failure> {
        let done = self.send(run, id, token, cancel);
        // Whoever was sent is not there any more, however that ended.
        let workspace = self.workspace(run)?;
        workspace.worker_left(&workspace.locate(own_unit(run, id).as_deref()), token)?;
        done
    }

    fn send(
        &self,
        run: &Run,
        id: AttemptId,
        token: u64,
        cancel: &CancelHandle,
    ) -> Result<(AttemptResult, Vec<Object>), Failure> {
        let gone = || Failure::Other("the attempt is not there".to_owned());
        let lease = run.attempts.get(&id).ok_or_else(gone)?;
        let Work::Dispatch { role: role_name, worker: spec, iteration, .. } = &lease.work else { return Err(gone()) };
        let role = run.protocol.roles.get(role_name).ok_or_else(gone)?;
        let workspace = self.workspace(run)?;
        // Held from the check to the start of the worker, so that nobody who was overtaken puts a tree back or starts one.
        let held = self.touch(run, lease.epoch)?;
        if cancel.cancelled.load(Ordering::SeqCst) {
            return Err(Failure::Other("it was cancelled before it began".to_owned()));
        }
        self.end_strays(run, token, lease.epoch);
        let (start, marker) = (tree_id(&lease.tree)?, workers::marker(run.id, id, token));
        let hold = || self.touch(run, lease.epoch);
        let (held, caches, changed) = if role.writes.is_empty() {
            let copies = CopyUse { run, workspace: &workspace, marker: &marker, cancel };
            self.caches_for_judge(&copies, &start, (held, &hold))?
        } else {
            (held, None, String::new())
        };
        let cut_off = self.cut_off(run, id);
        let OpenedWorkdir { place, note, holds, left } =
            self.open_workdir(&workspace, run, id, role, cut_off.is_some())?;
        let mut confinement = self.confinement(run, ProgramKind::Role(role_name), &workspace)?;
        let target = SetupTarget { workdir: &place, start: &holds, caches: caches.as_deref() };
        let (held, made) = self.prepare(run, &workspace, &target, &marker, cancel, (held, &hold))?;
        let leash = confinement.leash.clone();
        let (worker, needs) = self.worker(run, spec)?;
        confinement.reads.extend(needs.files.iter().cloned());
        let secrets =
            secrets(&Inherit::Only(confinement.variables.clone()), &made.values).map_err(WorkerError::from)?;
        let contracts = self.contracts(run)?;
        let marked = self.report_markers(run, &contracts, id, token)?;
        let request = marked.as_ref().map(|marked| marked.markers.request());
        let job =
            self.job(run, &contracts, id, token, role_name, *iteration, &place, &workspace, &secrets, request.clone())?;
        let resumption = resumption(run, id, &job.brief, left, cut_off, request, job.out.as_deref());
        let job =
            Job { note: format!("{note}{changed}{}", made.note), confinement: Some(confinement), resumption, ..job };
        let (brief, limit, temporary, out) = (job.brief.clone(), job.limit, job.scratch.join("tmp"), job.out.clone());
        let (log, layer) = (job.log.clone(), job.layer.clone());
        let wrote = [job.scratch.clone(), job.caches.clone(), layer.clone()];
        let before = TreeBaseline::look(&job.cwd, &job.scratch, made.caches)
            .map_err(|error| Failure::Other(format!("{}: {error}", job.scratch.display())))?;
        reach(Point::BeforeSpawn);
        let attempt = worker.start(job)?;
        drop(held);
        cancel.started(attempt.canceller());
        let outcome = workers::outcome(attempt, limit, &cancel.cancelled);
        reach(Point::Reported);
        drop(needs);
        if outcome.end == End::Unheld {
            return Err(Failure::NotReady(NotReady::because(UNHELD)));
        }
        remove_tree(&temporary)?;
        if let Workdir::Copy(copy) = &place {
            remove_tree(&caches::beside(copy.path()))?;
        }
        wrote.iter().try_for_each(|place| clear_set_id(place))?;
        let outcome = match &marked {
            Some(marked) => self.shown_by(run.id, marked, outcome)?,
            None => outcome,
        };
        let (report, sections, diagnostics, object) = read(run, &contracts, id, role, &brief, marked, &outcome);
        let denials = crate::sandbox::denials::reported(&log, &leash);
        let (told, leash) = (outcome.told.clone(), Some(leash));
        let mut result = AttemptResult { sections, diagnostics, told, leash, ..bare(report, &object) };
        let _held = self.touch(run, lease.epoch)?;
        match &place {
            Workdir::Tree(tree, _) => {
                measure(&workspace, run, id, tree, &before, &mut result)?;
                secrets_check::refuse(&workspace, run, id, &secrets, &mut result)?;
                protected_paths::refuse(&workspace, run, id, &mut result)?;
                scope_policy::refuse(&workspace, run, id, &mut result)?;
                denied(&mut result);
            }
            Workdir::Copy(copy) => {
                let guarded = protected_paths::patterns(run);
                side_effects::judge(&workspace, copy, &start, &guarded, &before, &mut result)?;
            }
        }
        result.noticed.extend(denials);
        let own = written(agent::places_of(spec), &layer);
        result.noticed.extend(
            (!own.is_empty()).then(|| format!("written in its own folder, gone with the run: {}", own.join(", "))),
        );
        secrets_check::scrub(&secrets, &mut result);
        let mut objects = vec![object];
        let sources = documents::Sources { workspace: &workspace, out: out.as_deref(), secrets: &secrets };
        documents::collect(&sources, run, &contracts, id, &mut result, &mut objects)?;
        reach(Point::Measured);
        Ok((result, objects))
    }

    /// Ends workers that a driver started which was overtaken in that very moment: those before us that are not ours.
    fn end_strays(&self, run: &Run, token: u64, epoch: u64) {
        let live = |other: u64| run.attempts.values().any(|lease| lease.token == other && lease.epoch == epoch);
        for marker in markers(&run.id.to_string()) {
            let before = marker.rsplit('/').next().and_then(|token| token.parse().ok());
            if before.is_some_and(|other: u64| other < token && !live(other)) {
                end_all(&marker, GRACE);
            }
        }
    }

    /// Where a worker keeps what can be made again. Who judges runs what it judges: nothing of that is there for the next one.
    fn caches(&self, run: &Run, role: &RoleId, place: &Workdir) -> Result<PathBuf, Failure> {
        let Workdir::Copy(copy) = place else { return Ok(self.folder(run.id, "caches").join(safe_name(role))) };
        let own = caches::beside(copy.path());
        caches::begin(&self.left_by_setup(run), &own).map_err(not_ready)?;
        Ok(own)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one job")]
    fn job(
        &self,
        run: &Run,
        contracts: &Contracts,
        id: AttemptId,
        token: u64,
        role: &RoleId,
        iteration: u32,
        place: &Workdir,
        workspace: &Workspace,
        secrets: &Arc<Secrets>,
        marker_request: Option<String>,
    ) -> Result<Job, Failure> {
        let lease = &run.attempts[&id];
        let unit = run.instances.get(&lease.instance).and_then(|instance| instance.unit.clone());
        let object = |digest: Digest| {
            let bytes = self.journal.object(digest).ok().flatten()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let pins = &run.opened.pins;
        let template = pins.get(&*format!("brief:{role}")).and_then(|digest| object(*digest));
        let template = template.ok_or_else(|| Failure::Other(format!("the brief of `{role}` is missing")))?;
        let change = subject_change::of(workspace, run, id)?;
        let scratch = self.folder(run.id, "scratch").join(id.to_string());
        let out = documents::are_handed_over(run, lease).then(|| scratch.join(workers::handed_over::NAME));
        let sources = context::Sources {
            contracts,
            object: &object,
            change: Some(change),
            project: pins.get(PROJECT).and_then(|digest| object(*digest)).unwrap_or_default(),
            instructions: pins
                .iter()
                .find_map(|(pin, digest)| Some((pin.strip_prefix(INSTRUCTIONS)?.into(), object(*digest)?))),
            marker_request,
            out: out.as_deref().map(|out| out.to_string_lossy().into_owned()).unwrap_or_default(),
        };
        let assembled = context::assemble(run, id, &template, &sources)
            .map_err(|error| Failure::Other(format!("the brief of `{role}`: {error}")))?;
        let bundle = self.folder(run.id, "bundles").join(id.to_string());
        let mut files: Vec<(String, Vec<u8>)> =
            assembled.files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
        let dialect = contracts.report(&run.protocol.roles[role].contract);
        files.extend(
            dialect
                .and_then(workers::bundle::schema_of)
                .map(|schema| (workers::bundle::SCHEMA.to_owned(), schema.into_bytes())),
        );
        workers::bundle::write(&bundle, &assembled.brief, &assembled.manifest, &files)?;
        let known = &run.protocol.roles[role];
        let limit = known.budget.time_ms.map_or(ATTEMPT_LIMIT, Duration::from_millis);
        Ok(Job {
            run: run.id,
            attempt: id,
            token,
            unit,
            role: role.clone(),
            contract: known.contract.clone(),
            stage: lease.stage.clone(),
            iteration,
            brief: assembled.brief.clone(),
            cwd: place.path().to_owned(),
            bundle,
            scratch,
            out,
            log: self.log(run, id),
            note: String::new(),
            limit,
            allowed: known.budget,
            resumption: None,
            confinement: None,
            caches: self.caches(run, role, place)?,
            layer: self.folder(run.id, "agents").join(safe_name(&lease.instance)).join(safe_name(role)),
            secrets: Arc::clone(secrets),
        })
    }
}

type Read = (Report, Vec<Name>, Vec<String>, Object);

/// Reads what a worker said, by its role's contract. An end that is not clean is a failure, whatever was said.
fn read(
    run: &Run,
    contracts: &Contracts,
    id: AttemptId,
    role: &Role,
    brief: &str,
    marked: Option<ReportMarkers>,
    outcome: &Outcome,
) -> Read {
    let bytes = match &outcome.said {
        RawReport::File(bytes) | RawReport::Printed { bytes, .. } => &**bytes,
        RawReport::Nothing | RawReport::Refused(_) => &[],
    };
    // A byte of a log that is no text does not take the report with it: what is read is what is kept.
    let text = String::from_utf8_lossy(bytes);
    let object = Object::new(text.as_bytes().to_vec());
    let refuse = |report: Report, object: Object| {
        let diagnostics = vec![report.reason.clone()];
        (report, Vec::new(), diagnostics, object)
    };
    let malformed =
        |reason: &str| Report { reason: reason.to_owned(), ..Report::new(Health::Malformed, Verdict::None) };
    if let (End::Exited(_), Some(failure)) = (outcome.end, &outcome.failure) {
        return refuse(failed(failure.code, failure.reason.clone()), object);
    }
    // It was stopped for that, or told it too late to be: the work is there, and the protocol says what becomes of it.
    if let Some(report) = budget::overspent(role, outcome.told.as_ref()) {
        return refuse(report, object);
    }
    match outcome.end {
        End::Exited(0) => {}
        End::Exited(exit) => return refuse(failed("exit", format!("its program exited with {exit}")), object),
        End::Signalled(signal) => return refuse(failed("exit", format!("signal {signal} ended its program")), object),
        End::Cancelled => return refuse(failed("cancelled", "it was cancelled".to_owned()), object),
        End::TimedOut => return refuse(budget::out_of_time(role, contracts), object),
        End::Silent => return refuse(budget::silent(role, contracts), object),
        End::Unheld => return refuse(failed("unheld", UNHELD.to_owned()), object),
    }
    if let RawReport::Refused(why) = &outcome.said {
        return refuse(malformed(why), object);
    }
    if text.trim().is_empty() {
        return refuse(malformed("the worker produced no report"), object);
    }
    let Some(dialect) = contracts.report(&role.contract) else {
        return refuse(malformed(&format!("there is no contract `{}`", role.contract)), object);
    };
    let markers = marked.map(|marked| marked.markers);
    let context = Context { prompt: Some(brief.to_owned()), markers, ..briefing::reading_context(run, id) };
    let (reading, document) = match &outcome.said {
        RawReport::File(_) => report_file(dialect, &text, &context),
        RawReport::Printed { .. } | RawReport::Nothing | RawReport::Refused(_) => {
            report_in(dialect, &outcome.transcript(&text), &context)
        }
    };
    // Whoever reads it again is given the report, and not what was printed around it.
    let object = match document.filter(|_| reading.report.health != Health::Malformed) {
        Some(document) => Object::new(document.into_bytes()),
        None => object,
    };
    let cut = matches!(outcome.said, RawReport::Printed { cut: true, .. });
    let mut diagnostics: Vec<String> = reading
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .take(DIAGNOSTICS_MAX)
        .map(line)
        .collect();
    if cut && reading.report.health == Health::Malformed {
        diagnostics.push("the start of the output is missing, because it is too long".to_owned());
    }
    let usable = reading.report.health != Health::Malformed;
    let sections = reading.sections.keys().filter(|_| usable).cloned().collect();
    (reading.report, sections, diagnostics, object)
}

pub(super) fn line(diagnostic: &Diagnostic) -> String {
    let sign = if diagnostic.place.line == 0 { ":" } else { " at" };
    format!("{}{sign} {}", diagnostic.code, reask::point(diagnostic))
}

/// What the engine measured of a writer's work.
fn measure(
    workspace: &Workspace,
    run: &Run,
    id: AttemptId,
    tree: &WorkTree,
    before: &TreeBaseline,
    result: &mut AttemptResult,
) -> Result<(), Failure> {
    let start = tree_id(&run.attempts[&id].tree)?;
    let found = workspace.measure_left(tree, &start)?;
    if found.misplaced().is_empty() {
        workspace.set_custody(tree, &Custody::Left(found.tree.clone()))?;
    }
    result.noticed = before.after(&tree.path, &found);
    let first: Vec<String> = found.misplaced_why().take(5).collect();
    if !first.is_empty() {
        let reason = format!("the work tree contains entries git cannot store: {}", first.join("; "));
        result.report.overrule("scope", reason.clone());
        result.diagnostics.push(reason);
        return Ok(());
    }
    result.changed = found.changes.iter().map(changed).collect();
    result.content = Some(content_in(run, &found.tree, &found.entries));
    Ok(())
}

/// A writer whose own guard held it back, and that left nothing, has not done what it says.
fn denied(result: &mut AttemptResult) {
    let denied = result.told.iter().flat_map(|told| &told.denied);
    let first: Vec<&str> = denied.take(3).map(String::as_str).collect();
    if !first.is_empty() && result.changed.is_empty() && result.report.health == Health::Ok {
        let reason = format!("it changed nothing, and its agent was denied: {}", first.join(", "));
        result.report.overrule("denied", reason.clone());
        result.diagnostics.push(reason);
    }
}
