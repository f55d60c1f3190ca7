use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;
use crate::testing::{folder, own_run};

fn shell(text: &str, cwd: &Path, marker: Option<&str>, limit: Duration) -> Program {
    Program {
        path: find_program("sh".as_ref(), cwd).unwrap(),
        args: vec!["-c".into(), text.into()],
        cwd: cwd.to_owned(),
        env: Environment { marker: marker.map(str::to_owned), ..Environment::default() },
        stdin: b"from stdin".to_vec(),
        limit,
        control: None,
    }
}

fn marker() -> String {
    format!("{}/att_7/9", own_run())
}

fn long() -> Duration {
    Duration::from_secs(60)
}

#[test]
fn a_program_reads_its_input_and_its_output_is_kept() {
    let cwd = folder("echo");
    let (out, err) = (Tail::new(100), Tail::new(100));
    let end = run(shell("cat; echo oops >&2; exit 3", &cwd, None, long()), out.clone(), err.clone()).unwrap();
    assert_eq!(end, End::Exited(3));
    assert_eq!(out.take(), (b"from stdin".to_vec(), false));
    assert_eq!(err.take(), (b"oops\n".to_vec(), false));
}

#[test]
fn a_program_that_reads_nothing_and_prints_much_does_not_hang() {
    let cwd = folder("much");
    let mut program = shell("head -c 3000000 /dev/zero", &cwd, None, long());
    program.stdin = vec![b'x'; 1_000_000];
    let out = Tail::new(1000);
    assert_eq!(run(program, out.clone(), Tail::new(10)).unwrap(), End::Exited(0));
    assert_eq!((out.take().0.len(), out.take().1), (1000, true));
}

#[test]
fn what_speaks_over_a_socket_is_opened_by_nobody() {
    let cwd = folder("socket");
    let text = "echo heard; sh -c 'echo forged > /proc/'$$'/fd/1' 2>/dev/null || head -c 300000 /dev/zero";
    for (kind, bytes) in [(StdoutKind::Pipe, 13), (StdoutKind::Socket, 300_006)] {
        let out = Tail::new(1_000_000);
        let mut running = start_with(shell(text, &cwd, None, long()), kind, out.clone(), Tail::new(10)).unwrap();
        assert_eq!((running.wait_to_end(), out.take().0.len()), (End::Exited(0), bytes), "{kind:?}");
    }
}

/// Node's programs print without waiting, and some exit right behind their last line: of a pipe they lose all but 64 KiB.
#[test]
fn what_a_program_ends_on_is_heard_whole_though_it_does_not_wait() {
    let cwd = folder("ends-on");
    let out = Tail::new(1_000_000);
    let text = "dd if=/dev/zero bs=400000 count=1 oflag=nonblock";
    let mut running =
        start_with(shell(text, &cwd, None, long()), StdoutKind::Socket, out.clone(), Tail::new(1000)).unwrap();
    assert_eq!((running.wait_to_end(), out.take().0.len()), (End::Exited(0), 400_000));
}

#[test]
fn a_signal_is_told_apart_from_an_exit() {
    let cwd = folder("signal");
    let end = run(shell("kill -9 $$", &cwd, None, long()), Tail::new(1), Tail::new(1)).unwrap();
    assert_eq!(end, End::Signalled(9));
}

/// Starts grandchildren in their own session (with `marker`), waits for them, and answers their ids.
fn start_with_grandchild(cwd: &Path, marker: &str, limit: Duration) -> (Running, ProcessId) {
    let text = "setsid sh -c 'trap \"\" TERM; echo $$ > pid.tmp; mv pid.tmp pid; while :; do sleep 1; done' & \
                while :; do sleep 1; done";
    let running = start(shell(text, cwd, Some(marker), limit), Tail::new(1), Tail::new(1)).unwrap();
    (running, wait_for_pid(&cwd.join("pid")))
}

fn wait_for_pid(path: &Path) -> ProcessId {
    loop {
        if let Ok(text) = std::fs::read_to_string(path) {
            return ProcessId::of(text.trim().parse().unwrap());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn past_its_limit_the_whole_tree_ends() {
    let cwd = folder("limit");
    let (mut running, grandchild) = start_with_grandchild(&cwd, &marker(), Duration::from_millis(200));
    assert_eq!(running.wait_to_end(), End::TimedOut);
    assert!(!grandchild.is_alive());
    assert!(!running.id().is_alive());
    assert_eq!(running.wait_to_end(), End::TimedOut, "asking again answers the same");
}

#[test]
fn cancelling_and_dropping_end_the_tree() {
    let cwd = folder("cancel");
    let (mut running, grandchild) = start_with_grandchild(&cwd, &marker(), long());
    assert_eq!(running.wait(Instant::now()), None);
    running.canceller().cancel();
    assert_eq!(running.wait_to_end(), End::Cancelled);
    assert!(!grandchild.is_alive());
    let cwd = folder("drop");
    let (running, grandchild) = start_with_grandchild(&cwd, &marker(), long());
    drop(running);
    assert!(!grandchild.is_alive());
}

#[test]
fn what_outlives_its_program_is_ended_by_its_marker() {
    let cwd = folder("orphan");
    // The program exits at once; its grandchild holds the pipe and lives in another session.
    let text = "setsid sh -c 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 1000' & while ! test -e pid; do :; done";
    let program = shell(text, &cwd, Some(&marker()), long());
    assert_eq!(run(program, Tail::new(1), Tail::new(1)).unwrap(), End::Exited(0));
    assert!(!wait_for_pid(&cwd.join("pid")).is_alive());
}

#[test]
fn a_dead_drivers_workers_are_found_by_run_and_ended() {
    let cwd = folder("left");
    let (state, run) = (folder("left-state"), own_run().to_string());
    let (running, grandchild) = start_with_grandchild(&cwd, &marker(), long());
    let record = Recorded::new(&state, running.id(), &marker()).unwrap();
    assert!(find_by_marker(&marker()).contains(&grandchild));
    assert!(find_by_marker(&run).contains(&running.id()));
    assert_eq!(find_by_marker(&run[..run.len() - 1]), []);
    assert_eq!(recorded(&state, "run_other000"), []);
    assert_eq!(recorded(&state, &run).len(), 1);
    assert!(end_recorded(&state, &run, Duration::from_millis(50)) >= 2);
    assert!(!grandchild.is_alive() && !running.id().is_alive());
    assert_eq!(recorded(&state, &run), []);
    assert_eq!(end_recorded(&state, &run, Duration::from_millis(50)), 0);
    drop(record);
}

#[test]
fn a_recorded_ancestor_means_below_a_worker() {
    let _one = one_at_a_time();
    let state = folder("below");
    assert!(!below_a_worker(&state));
    let parent = ProcessId::of(std::process::id()).ancestors()[0];
    let reused = Recorded::new(&state, ProcessId { start: parent.start + 1, ..parent }, "run_a/att_1/1").unwrap();
    assert!(!below_a_worker(&state), "another process had this number");
    let record = Recorded::new(&state, parent, "run_a/att_1/1").unwrap();
    assert!(below_a_worker(&state));
    drop((record, reused));
    assert!(!below_a_worker(&state));
}

#[test]
fn the_record_is_found_through_any_folder_that_leads_to_the_journal() {
    let _one = one_at_a_time();
    let (state, shim) = (folder("below-real"), folder("below-shim"));
    std::fs::write(state.join("journal.db"), "").unwrap();
    std::os::unix::fs::symlink(state.join("journal.db"), shim.join("journal.db")).unwrap();
    let parent = ProcessId::of(std::process::id()).ancestors()[0];
    let record = Recorded::new(&state, parent, "run_a/att_1/1").unwrap();
    assert!(below_a_worker(&shim) && !shim.join("workers").exists());
    drop(record);
    assert!(!below_a_worker(&shim));
}

/// Whether this process is a driver is true of every test in it: those that ask go one after the other.
fn one_at_a_time() -> impl Drop {
    static ONE: Mutex<()> = Mutex::new(());
    struct Driving(#[expect(dead_code, reason = "held until the end of the test")] MutexGuard<'static, ()>);
    impl Drop for Driving {
        fn drop(&mut self) {
            record::drive_no_more();
        }
    }
    Driving(ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

#[test]
fn a_marked_ancestor_means_below_a_worker_whatever_state_is_named() {
    let _one = one_at_a_time();
    let (cwd, empty) = (folder("marked"), folder("marked-state"));
    let text = "env -i /bin/sh -c 'echo $$ > pid.tmp; /bin/mv pid.tmp pid; while :; do /bin/sleep 1; done'; true";
    let running = start(shell(text, &cwd, Some(&marker()), long()), Tail::new(1), Tail::new(1)).unwrap();
    let cleared = wait_for_pid(&cwd.join("pid"));
    assert!(table::marker_of(cleared.pid).is_none() && record::is_below(cleared, &empty));
    assert!(!record::is_below(running.id(), &empty), "the worker itself was started by no worker");
}

#[test]
fn an_orphan_is_known_by_a_limit_that_it_cannot_raise() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let (state, cwd) = (folder("mark"), folder("mark-cwd"));
    let program = shell("exec sleep 1000", &cwd, None, long());
    let running = start(program, Tail::new(1), Tail::new(1)).unwrap();
    let lower = |resource: Resource, maximum: u64| {
        let pid = Pid::from_raw(i32::try_from(running.id().pid).unwrap());
        prlimit(pid, resource, Rlimit { current: Some(0), maximum: Some(maximum) }).unwrap();
        record::is_below(running.id(), &state)
    };
    assert!(!record::is_below(running.id(), &state));
    assert!(!lower(Resource::Msgqueue, 4_097), "a limit of somebody's own is no mark, whatever a driver has");
    assert!(!lower(Resource::Locks, 1_024), "nor is this one, while it is a limit that somebody could mean");
    assert!(lower(Resource::Locks, 0), "as a driver's children have it");
}

#[test]
fn what_runs_below_a_driver_is_below_a_worker_and_dead_drivers_are_forgotten() {
    let _one = one_at_a_time();
    let (cwd, state) = (folder("driver"), folder("driver-state"));
    let dead = Recorded::new(&state, ProcessId { pid: u32::MAX, start: 1 }, "driver").unwrap();
    record_driver(&state).unwrap();
    assert_eq!(std::fs::read_dir(state.join("workers")).unwrap().count(), 1);
    let text = "echo $$ > pid.tmp; mv pid.tmp pid; while :; do sleep 1; done";
    let running = start(shell(text, &cwd, None, long()), Tail::new(1), Tail::new(1)).unwrap();
    assert!(record::is_below(wait_for_pid(&cwd.join("pid")), &state));
    assert!(!below_a_worker(&state), "the driver itself is not");
    assert_eq!(end_recorded(&state, "driver", Duration::from_millis(50)), 0, "and no run's driver ends it");
    drop((running, dead));
}

#[test]
fn a_driver_is_known_past_a_hard_link_to_the_journal_and_without_its_record() {
    let _one = one_at_a_time();
    let (cwd, state, link) = (folder("held"), folder("held-state"), folder("held-link"));
    std::fs::write(state.join("journal.db"), "").unwrap();
    std::fs::hard_link(state.join("journal.db"), link.join("journal.db")).unwrap();
    let text = "env -i /bin/sh -c 'echo $$ > pid.tmp; /bin/mv pid.tmp pid; while :; do /bin/sleep 1; done'; true";
    let running = start(shell(text, &cwd, None, long()), Tail::new(1), Tail::new(1)).unwrap();
    let below = wait_for_pid(&cwd.join("pid"));
    assert!(!record::is_below(below, &link));
    record_driver(&state).unwrap();
    assert!(record::is_below(below, &link));
    std::fs::remove_dir_all(state.join("workers")).unwrap();
    assert!(record::is_below(below, &link) && record::is_below(below, &state));
    drop(running);
}

#[test]
fn an_orphan_of_a_worker_is_known_by_its_group() {
    let _one = one_at_a_time();
    let (cwd, state) = (folder("orphan"), folder("orphan-state"));
    // Its parent is gone and its environment is empty: what is left is the group of the worker.
    let hidden = "echo $$ > pid.tmp; /bin/mv pid.tmp pid; while :; do /bin/sleep 1; done";
    let text = format!("(env -i /bin/sh -c '{hidden}' &); while :; do sleep 1; done");
    let running = start(shell(&text, &cwd, None, long()), Tail::new(1), Tail::new(1)).unwrap();
    let orphan = wait_for_pid(&cwd.join("pid"));
    assert!(!orphan.ancestors().contains(&running.id()) && !record::is_below(orphan, &state));
    let record = Recorded::new(&state, running.id(), "run_a/att_1/1").unwrap();
    assert!(record::is_below(orphan, &state));
    drop((record, running));
}

#[test]
fn git_and_tollgate_variables_are_not_inherited() {
    assert!(is_ours("GIT_DIR".as_ref()) && is_ours("TOLLGATE_STATE".as_ref()) && !is_ours("PATH".as_ref()));
}

#[test]
fn a_program_is_found_from_a_base_or_on_the_path() {
    let cwd = folder("find");
    assert!(find_program("sh".as_ref(), &cwd).unwrap().is_absolute());
    assert_eq!(find_program("no-such-program-here".as_ref(), &cwd), None);
    assert_eq!(find_program("./x".as_ref(), &cwd), None);
    std::fs::write(cwd.join("x"), "").unwrap();
    assert_eq!(find_program("./x".as_ref(), &cwd), None, "not executable");
}

#[test]
fn a_process_that_becomes_one_program_after_another_keeps_its_marker() {
    let cwd = folder("becomes");
    let text = "echo $$ > pid.tmp; mv pid.tmp pid; exec sh -c \"$AGAIN\" sh 1";
    let again = "test \"$1\" = 600 && exec sleep 1000; exec sh -c \"$AGAIN\" sh $(($1 + 1))";
    let mut program = shell(text, &cwd, Some(&marker()), long());
    program.env.set.push(("AGAIN".into(), again.into()));
    let running = start(program, Tail::new(1), Tail::new(1)).unwrap();
    let id = wait_for_pid(&cwd.join("pid"));
    let cmdline = || std::fs::read(format!("/proc/{}/cmdline", id.pid)).unwrap();
    while !cmdline().starts_with(b"sleep") {
        assert_eq!(table::marker_of(id.pid), Some(marker()));
    }
    drop(running);
}
