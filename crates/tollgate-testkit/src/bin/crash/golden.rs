//! Golden journals: the scenarios once more, killed at the same points each time, exported and described.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use tollgate_core::digest::Digest;
use tollgate_store::{Journal, Point};
use tollgate_testkit::golden::{replay, text};

use crate::plan::{Blow, Plan, What, When};
use crate::scenario::SCENARIOS;
use crate::{Campaign, Outcome};

/// Where the runs happen: events name the repository and the workers by their paths, and these say nothing of a machine.
pub const FOLDER: &str = "/tmp/tollgate-golden";
/// What the machine is called meanwhile: events name the host of a driver.
const HOST: &str = "golden";
/// Says that this process has a host name of its own.
const RENAMED: &str = "CRASH_GOLDEN_RENAMED";

/// A scenario that is kept, and where its drivers are killed: with a worker at work, with a report that is not in the journal yet, while
/// a landing is under way, and before a change is committed.
const KEPT: &[(&str, &[(Point, u64)])] = &[
    ("simple", &[(Point::Spawned, 2), (Point::Reported, 1), (Point::BeforeCommit, 2)]),
    ("standard", &[(Point::Spawned, 2), (Point::Reported, 2), (Point::CommandSpawned, 1), (Point::AfterLand, 1)]),
    ("halted", &[(Point::Spawned, 1), (Point::BeforeProjections, 3)]),
    ("complex", &[(Point::Spawned, 2), (Point::Measured, 3), (Point::BeforeLand, 1), (Point::AfterLand, 1)]),
    ("team", &[(Point::Spawned, 2), (Point::CommandSpawned, 1), (Point::Reported, 1)]),
    ("supervisor", &[(Point::Spawned, 1), (Point::Measured, 2), (Point::BeforeLand, 1), (Point::AfterLand, 1)]),
];

/// Starts this program again where the machine has another name, and passes its exit code on; none: it is there.
pub fn renamed() -> Outcome<Option<ExitCode>> {
    if std::env::var_os(RENAMED).is_some() {
        rustix::system::sethostname(HOST.as_bytes())?;
        return Ok(None);
    }
    let mut again = Command::new("unshare");
    again.args(["--map-root-user", "--uts", "--"]).arg(std::env::current_exe()?).args(std::env::args().skip(1));
    let status = again.env(RENAMED, "1").status().map_err(|error| format!("`unshare` is needed: {error}"))?;
    Ok(Some(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70))))
}

/// The program under a path that says nothing of a machine.
pub fn program(from: &Path) -> Outcome<PathBuf> {
    let to = Path::new(FOLDER).join("bin/tollgate");
    std::fs::create_dir(FOLDER).map_err(|error| format!("{FOLDER}: {error}; take it away first"))?;
    std::fs::create_dir(Path::new(FOLDER).join("bin"))?;
    std::fs::copy(from, &to)?;
    Ok(to)
}

/// Writes `NAME.tar` and `NAME.txt` into a folder where they are not there yet, and `SHA256SUMS` of all.
pub fn make(campaign: &Campaign, to: &Path) -> Outcome<bool> {
    let to = to.canonicalize()?;
    let mut sums = String::new();
    for (name, points) in KEPT {
        let file = to.join(format!("{name}.tar"));
        if !file.exists() {
            record(campaign, name, points, &file)?;
        }
        sums.push_str(&format!("{}  {name}.tar\n", Digest::of(&std::fs::read(&file)?)));
    }
    std::fs::write(to.join("SHA256SUMS"), &sums)?;
    println!("SHA256SUMS: {}", Digest::of(sums.as_bytes()));
    crate::remove(Path::new(FOLDER));
    Ok(true)
}

/// Plays a scenario with its kills, exports it to a file, and describes it beside that.
fn record(campaign: &Campaign, name: &str, points: &[(Point, u64)], file: &Path) -> Outcome {
    let scenario = SCENARIOS.iter().position(|scenario| scenario.name == name).ok_or("no such scenario")?;
    let blow = |(point, nth): &(Point, u64)| Blow { when: When::At(*point, *nth), what: What::Kill };
    let blows = points.iter().map(blow).collect();
    let plan = Plan { again: "--golden".to_owned(), scenario, blows, in_order: false, rivals: false };
    let (world, played, found) = campaign.in_folder(&Path::new(FOLDER).join(name), &plan)?;
    if !found.wrong.is_empty() || played.kills != points.len() {
        return Err(format!("{name}: {} kills of {}, {:?}", played.kills, points.len(), found.wrong).into());
    }
    let (run, events) = world.run()?.ok_or("no run")?;
    let head = world.journal()?.head(run.id)?.ok_or("no head")?.head;
    let words = ["export", &run.id.to_string(), "-o", &file.display().to_string()].map(str::to_owned);
    if !world.start(&words, None)?.wait()?.success() {
        return Err(format!("{name} cannot be exported").into());
    }
    let bytes = std::fs::read(file)?;
    let replayed = replay(&bytes)?;
    if !replayed.proof.breaches.is_empty() || replayed.run.as_ref() != Some(&run) || replayed.events != events {
        return Err(format!("{name} is not what was exported").into());
    }
    // Of the state as its last driver left it: the tests compare a replay with it.
    std::fs::write(file.with_extension("txt"), text(&run, &events, head))?;
    println!("{name}: {} events, {} kills, {} bytes", run.seq, played.kills, bytes.len());
    Ok(())
}
