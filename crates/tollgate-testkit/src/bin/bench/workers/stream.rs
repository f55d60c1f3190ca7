//! An agent that prints 200 MB: read from its pipe, redacted, logged, and every line parsed by its adapter.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tollgate_core::id::{AttemptId, RunId};
use tollgate_engine::process::End;
use tollgate_engine::sandbox::{SandboxRequest, probe};
use tollgate_engine::workers::agent::{AgentSpec, AgentWorker};
use tollgate_engine::workers::{Job, Worker, outcome};

use crate::Outcome;
use crate::contracts::transcript;
use crate::figures::{Figures, median};
use crate::program::{peak_kib, tollgate};

/// The word by which a process does only this.
pub const CHILD: &str = "@stream";
/// The word by which this program is the agent.
pub const PRINTER: &str = "@print";
const BYTES: usize = 200_000_000;
/// What is said again and again.
const PIECE_BYTES: usize = 4_000_000;
const ROUNDS: usize = 3;
/// The agents whose lines are told apart by an adapter of their own.
const AGENTS: [(&str, &str); 4] = [
    ("claude", "stream_claude_mb_s"),
    ("codex", "stream_codex_mb_s"),
    ("gemini", "stream_gemini_mb_s"),
    ("opencode", "stream_opencode_mb_s"),
];

#[derive(Serialize, Deserialize)]
struct Seen {
    seconds: f64,
    peak_kib: f64,
}

/// Measures each agent; the slowest counts.
pub fn measure(dir: &Path, figures: &mut Figures) -> Outcome {
    let (mut worst, mut peak) = (f64::INFINITY, 0f64);
    for (agent, name) in AGENTS {
        std::fs::write(dir.join(agent), transcript(agent, PIECE_BYTES)?)?;
        let mut speeds = Vec::new();
        for _ in 0..ROUNDS {
            let mut command = Command::new(std::env::current_exe()?);
            // A secret of its environment, as everybody has some.
            command
                .args([CHILD.as_ref(), dir.as_os_str(), agent.as_ref()])
                .env("BENCH_TOKEN", "b3nch-t0ken-0123456789");
            let output = command.stderr(Stdio::inherit()).output()?;
            if !output.status.success() {
                return Err(format!("the process that listens to {agent} ended with {}", output.status).into());
            }
            let seen: Seen = serde_json::from_slice(&output.stdout)?;
            speeds.push(BYTES as f64 / 1e6 / seen.seconds);
            peak = peak.max(seen.peak_kib / 1024.0);
        }
        figures.set(name, median(&speeds));
        worst = worst.min(median(&speeds));
    }
    figures.set("stream_mb_s", worst);
    figures.set("stream_rss_mib", peak);
    Ok(())
}

/// Listens to one agent and says how long that took.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
pub fn child(dir: &Path, agent: &str) -> Outcome {
    let (program, state) = (tollgate()?, dir.join("state"));
    let own = std::env::current_exe()?;
    let spec = format!("{agent}:'{}' -- {PRINTER} '{}'", own.display(), dir.join(agent).display());
    let spec = AgentSpec::parse(&spec).ok_or_else(|| format!("there is no agent `{agent}`"))??;
    let argv = spec.words.iter().map(Into::into).collect();
    let able = probe(&program, &state);
    let mut confinement =
        SandboxRequest::default().confinement(&program, &state, state.join("programs"), || &able, false)?;
    confinement.reads.push(dir.join(agent));
    let here = |name: &str| state.join(name);
    let (cwd, bundle) = (here("tree"), here("bundle"));
    std::fs::create_dir_all(&cwd)?;
    std::fs::create_dir_all(&bundle)?;
    let job = Job {
        run: RunId::from_bits(u64::from(std::process::id())),
        attempt: AttemptId(1),
        token: 1,
        unit: None,
        role: "builder".into(),
        contract: "status-block@1".into(),
        stage: "build".into(),
        iteration: 1,
        brief: "Say it.\n".to_owned(),
        cwd,
        bundle,
        scratch: here("scratch"),
        out: None,
        log: here("log"),
        note: String::new(),
        limit: Duration::from_secs(600),
        allowed: Default::default(),
        resumption: None,
        confinement: Some(confinement),
        caches: here("caches"),
        layer: here("layer"),
        secrets: tollgate_engine::process::secrets(&tollgate_engine::process::Inherit::Only(Vec::new()), &[])
            .map_err(|error| error.to_string())?,
    };
    let limit = job.limit;
    let worker = AgentWorker::new(spec, argv, Path::new("/"), &program, &state);
    let begun = Instant::now();
    let came = outcome(worker.start(job)?, limit, &AtomicBool::new(false));
    let seconds = begun.elapsed().as_secs_f64();
    if came.end != End::Exited(0) || !came.log_cut || came.told.as_ref().is_none_or(|told| told.session.is_none()) {
        return Err(format!("{agent} {}, and reported {:?}", came.end, came.told).into());
    }
    println!("{}", serde_json::to_string(&Seen { seconds, peak_kib: peak_kib()? })?);
    Ok(())
}

/// The agent: says the lines of a file again and again, and the last one at the end.
pub fn print(file: &Path) -> Outcome {
    let text = std::fs::read(file)?;
    let last = text.trim_ascii_end().iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let (body, last) = text.split_at(last);
    let mut out = std::io::stdout().lock();
    let mut left = BYTES - last.len();
    while left > 0 {
        let piece = &body[..left.min(body.len())];
        // Whole lines, but for the very last of them.
        out.write_all(piece)?;
        left -= piece.len();
    }
    out.write_all(b"\n")?;
    out.write_all(last)?;
    Ok(())
}
