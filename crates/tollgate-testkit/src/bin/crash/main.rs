//! The crash campaign: the real program, with real workers, is killed and resumed until its run is over, and must end as
//! the run that was never killed.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test program for people at a terminal, with processes, files and a clock of its own"
)]

mod check;
mod golden;
mod history;
mod picture;
mod plan;
mod scenario;
mod world;

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tollgate_store::Point;

use check::{Found, Wrong, check};
use history::{History, Played};
use picture::Picture;
use plan::{Plan, Wake, What};
use scenario::SCENARIOS;
use world::World;

/// The result of what can fail here.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const USAGE: &str = "\
usage: crash [--runs N] [--seed S] [--points NAME,...] [--jobs J] [--keep]
       crash --golden FOLDER

  --runs N           kill drivers once at every named point, and N times at moments and points that seeds choose (default 40);
                     from 200 on also stop a driver at every point
  --seed S           only the history of this seed; with --runs, begin with it
  --points NAME,...  only histories with these points, in this order
  --jobs J           how many histories at once (default 2)
  --keep             leave the folders of failed histories
  --golden FOLDER    write the golden journals into this folder
";

/// How many kills are asked for when nothing is said.
const RUNS: usize = 40;
/// How often it is said how far it is.
const SHOWN_EVERY: usize = 50;
/// From so many on, drivers are also stopped at every point.
const LARGE: usize = 200;
const PAUSE: What = What::Pause(Wake::AtWork);

struct Args {
    runs: Option<usize>,
    seed: Option<u64>,
    points: Vec<Point>,
    jobs: usize,
    keep: bool,
    golden: Option<PathBuf>,
}

fn args() -> Option<Args> {
    let mut args = Args { runs: None, seed: None, points: Vec::new(), jobs: 2, keep: false, golden: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--runs" => args.runs = Some(words.next()?.parse().ok()?),
            "--seed" => args.seed = Some(words.next()?.parse().ok()?),
            "--points" => {
                let named = |name: &str| Point::ALL.iter().copied().find(|point| point.name() == name);
                args.points = words.next()?.split(',').map(named).collect::<Option<_>>()?;
            }
            "--jobs" => args.jobs = words.next()?.parse().ok()?,
            "--keep" => args.keep = true,
            "--golden" => args.golden = Some(words.next()?.into()),
            _ => return None,
        }
    }
    Some(args)
}

fn main() -> ExitCode {
    let Some(args) = args() else {
        print!("{USAGE}");
        return ExitCode::from(2);
    };
    if args.golden.is_some() {
        match golden::renamed() {
            Ok(None) => {}
            Ok(Some(code)) => return code,
            Err(error) => return failed(&*error),
        }
    }
    let done = Campaign::new(&args).and_then(|campaign| match &args.golden {
        Some(folder) => golden::make(&campaign, folder),
        None => campaign.run(&args),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(&*error),
    }
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(3)
}

/// Everything that was played so far.
struct Campaign {
    program: PathBuf,
    root: PathBuf,
    keep: bool,
    next: AtomicU64,
    /// The run of each scenario that was never killed, and how long its drivers worked.
    whole: Vec<(Picture, u64)>,
    kills: AtomicUsize,
    sums: Mutex<Sums>,
}

#[derive(Default)]
struct Sums {
    histories: usize,
    pauses: usize,
    overtaken: usize,
    unspent: usize,
    points: BTreeMap<Point, usize>,
    wrong: BTreeMap<Wrong, usize>,
}

impl Campaign {
    /// Plays every scenario once without a blow.
    fn new(args: &Args) -> Outcome<Self> {
        let program = std::env::current_exe()?.with_file_name("tollgate");
        if !program.is_file() {
            return Err("there is no `tollgate` beside this program; `cargo xtask crash` builds it".into());
        }
        let (program, root) = match &args.golden {
            Some(_) => (golden::program(&program)?, golden::FOLDER.into()),
            None => (program, std::env::temp_dir().join(format!("tollgate-crash-{}", std::process::id()))),
        };
        let mut campaign = Self {
            program,
            root,
            keep: args.keep,
            next: AtomicU64::new(0),
            whole: Vec::new(),
            kills: AtomicUsize::new(0),
            sums: Mutex::default(),
        };
        let scenarios: Vec<usize> = (0..SCENARIOS.len()).collect();
        let whole = each(args.jobs, &scenarios, |number| campaign.undisturbed(*number));
        campaign.whole = whole.into_iter().collect::<Outcome<_>>()?;
        Ok(campaign)
    }

    /// What comes of a scenario that is never killed, and how long its drivers work.
    fn undisturbed(&self, number: usize) -> Outcome<(Picture, u64)> {
        let name = SCENARIOS[number].name;
        let (played, found) = self.history(&Plan::undisturbed(number))?;
        if let Some((_, what)) = found.wrong.first() {
            return Err(format!("{name}, never killed: {what}").into());
        }
        if !found.moments.iter().eq(SCENARIOS[number].comes_to) {
            return Err(format!("{name}, never killed, came to {:?}", found.moments).into());
        }
        Ok((found.picture.ok_or("a run without an end")?, u64::try_from(played.worked.as_millis())?))
    }

    /// Plays what was asked for; whether nothing was wrong.
    fn run(&self, args: &Args) -> Outcome<bool> {
        let one = args.seed.is_some() && args.runs.is_none();
        if !args.points.is_empty() {
            let plans = [What::Kill, PAUSE].into_iter().flat_map(|what| {
                Plan::stories(what).into_iter().map(move |story| Plan::of_points(story, &args.points, what))
            });
            self.each(args.jobs, &plans.collect::<Vec<_>>());
        } else if one {
            self.play(&self.of_seed(args.seed.unwrap_or_default()));
        } else {
            let wanted = args.runs.unwrap_or(RUNS);
            self.at_points(args.jobs, wanted);
            self.at_random(args.jobs, wanted, args.seed.unwrap_or(1));
        }
        let missed = if args.points.is_empty() && !one { self.missed() } else { Vec::new() };
        self.sum_up(&missed);
        let _ = std::fs::remove_dir(&self.root);
        let sums = self.sums.lock().map_err(|_| "a history panicked")?;
        Ok(missed.is_empty() && sums.wrong.values().sum::<usize>() == 0)
    }

    /// Kills a driver at every point, spread over the stories; what no history came to is tried alone, in each of them. A large campaign
    /// stops one at every point, too.
    fn at_points(&self, jobs: usize, wanted: usize) {
        let all = Point::of_a_run();
        let groups = Plan::groups(&all).into_iter().zip(Plan::stories(What::Kill).into_iter().cycle());
        let plans: Vec<Plan> = groups.map(|(group, story)| Plan::of_points(story, group, What::Kill)).collect();
        self.each(jobs, &plans);
        let alone = |points: &[Point], what| {
            let of_story = |story| points.iter().map(move |point| Plan::of_points(story, &[*point], what));
            Plan::stories(what).into_iter().flat_map(of_story).collect::<Vec<_>>()
        };
        self.each(jobs, &alone(&self.missed(), What::Kill));
        if wanted >= LARGE {
            self.each(jobs, &alone(&all, PAUSE));
        }
    }

    /// Kills drivers so many times in histories that seeds choose.
    fn at_random(&self, jobs: usize, kills: usize, first: u64) {
        let wanted = self.kills.load(Ordering::SeqCst) + kills;
        let next = AtomicU64::new(first);
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    while self.kills.load(Ordering::SeqCst) < wanted {
                        self.play(&self.of_seed(next.fetch_add(1, Ordering::SeqCst)));
                    }
                });
            }
        });
    }

    fn of_seed(&self, seed: u64) -> Plan {
        Plan::of_seed(seed, &self.whole.iter().map(|(_, length)| *length).collect::<Vec<_>>())
    }

    fn each(&self, jobs: usize, plans: &[Plan]) {
        each(jobs, plans, |plan| self.play(plan));
    }

    /// Plays a history and says what is wrong with it.
    fn play(&self, plan: &Plan) {
        let (played, found) = self.history(plan).unwrap_or_else(|error| {
            let mut found = Found::default();
            found.add(Wrong::Lost, error.to_string());
            (Played::default(), found)
        });
        let before = self.kills.fetch_add(played.kills, Ordering::SeqCst);
        if before / SHOWN_EVERY < (before + played.kills) / SHOWN_EVERY {
            eprintln!("{} kills", before + played.kills);
        }
        let Ok(mut sums) = self.sums.lock() else { return };
        sums.histories += 1;
        sums.pauses += played.pauses;
        sums.overtaken += played.overtaken;
        sums.unspent += played.unspent;
        for point in played.points {
            *sums.points.entry(point).or_default() += 1;
        }
        if !found.wrong.is_empty() {
            println!("\n{plan}");
        }
        for (wrong, what) in &found.wrong {
            println!("  {wrong:?}: {what}");
            *sums.wrong.entry(*wrong).or_default() += 1;
        }
        if !found.wrong.is_empty() {
            println!("  repeat with: cargo xtask crash {}", plan.again);
        }
    }

    fn history(&self, plan: &Plan) -> Outcome<(Played, Found)> {
        let root = self.root.join(self.next.fetch_add(1, Ordering::SeqCst).to_string());
        let (_, played, found) = self.in_folder(&root, plan)?;
        if found.wrong.is_empty() || !self.keep {
            remove(&root);
        } else {
            println!("\nkept: {}", root.display());
        }
        Ok((played, found))
    }

    /// Plays a history in a folder, which stays.
    fn in_folder(&self, root: &Path, plan: &Plan) -> Outcome<(World, Played, Found)> {
        let world = World::new(root.to_owned(), &self.program, &SCENARIOS[plan.scenario])?;
        let mut history = History::new(&world, plan);
        let found = match history.play() {
            Ok((run, events)) => {
                let whole = self.whole.get(plan.scenario).map(|(picture, _)| picture);
                check(&world, &run, &events, &history.played, whole)?
            }
            Err(error) => {
                let mut found = Found::default();
                found.orphans(&world);
                let said = std::fs::read_to_string(world.path("said")).unwrap_or_default();
                let tail: Vec<&str> = said.lines().rev().take(30).collect();
                let tail: Vec<&str> = tail.into_iter().rev().collect();
                found.add(Wrong::Lost, format!("{error}\n    {}", tail.join("\n    ")));
                found
            }
        };
        let played = std::mem::take(&mut history.played);
        Ok((world, played, found))
    }

    /// The points that no history came to.
    fn missed(&self) -> Vec<Point> {
        let Ok(sums) = self.sums.lock() else { return Vec::new() };
        Point::of_a_run().into_iter().filter(|point| !sums.points.contains_key(point)).collect()
    }

    fn sum_up(&self, missed: &[Point]) {
        let Ok(sums) = self.sums.lock() else { return };
        let count = |wrong| sums.wrong.get(&wrong).copied().unwrap_or_default();
        println!(
            "\n{} histories, {} drivers stopped past their lease, {} of them overtaken, {} blows that never fell",
            sums.histories, sums.pauses, sums.overtaken, sums.unspent
        );
        let points: Vec<String> =
            sums.points.iter().map(|(point, times)| format!("{} {times}", point.name())).collect();
        println!("at points: {}", points.join(", "));
        missed.iter().for_each(|point| println!("gap: no history came to {}", point.name()));
        println!(
            "crash: {} kills, {} lost, {} doubled, {} orphans",
            self.kills.load(Ordering::SeqCst),
            count(Wrong::Lost),
            count(Wrong::Doubled),
            count(Wrong::Orphan)
        );
    }
}

/// Removes the folder of a history, also what workers made read-only.
fn remove(root: &Path) {
    let _ = tollgate_engine::workspace::remove_tree(root);
}

/// Does something to each, so many at once; what came of it, in order.
fn each<T: Sync, D: Send>(jobs: usize, all: &[T], what: impl Fn(&T) -> D + Sync) -> Vec<D> {
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::from_fn(|| {
            let at = next.fetch_add(1, Ordering::SeqCst);
            all.get(at).map(|one| (at, what(one)))
        });
        taken.collect::<Vec<_>>()
    };
    let mut done: Vec<(usize, D)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, came)| came).collect()
}
