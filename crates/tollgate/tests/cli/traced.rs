//! What a worker or a command starts gets into nobody's memory but its own and that of what it started itself.

use std::process::Command;

use tollgate_core::run::Event;
use tollgate_core::run::sandbox_record::Tracing;

use crate::leash::{WORDS, configured, developer, holds};
use crate::play::{IDLE, Play, TASK, at, else_, script};
use crate::rows::task;

/// Says what came of each way into another process.
const REACHES: &str = r#"
import ctypes, functools, os, signal, time
print = functools.partial(print, flush=True)
libc = ctypes.CDLL(None, use_errno=True)
ATTACH, DETACH, TRACEME, SEIZE = 16, 17, 0, 0x4206
PIDFD_OPEN, PIDFD_GETFD = 434, 438
def said(name, done):
    error = ctypes.get_errno()
    print(name, 'done' if done != -1 else os.strerror(error))
def trace(name, request, pid):
    done = libc.ptrace(request, pid, None, None)
    said(name, done)
    if done != -1 and request == ATTACH:
        os.waitpid(pid, 0)
        libc.ptrace(DETACH, pid, None, None)
class Span(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
def write(name, pid):
    text = ctypes.create_string_buffer(b'x')
    ours, theirs = Span(ctypes.addressof(text), 1), Span(ctypes.addressof(text), 1)
    said(name, libc.process_vm_writev(pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0))
shell = os.getppid()
trace('attach to the shell:', ATTACH, shell)
trace('seize the shell:', SEIZE, shell)
write('write into the shell:', shell)
said('take a file of the shell:', libc.syscall(PIDFD_GETFD, libc.syscall(PIDFD_OPEN, shell, 0), 0, 0))
try:
    open(f'/proc/{shell}/mem', 'r+b')
    print('memory of the shell: done')
except OSError as error:
    print('memory of the shell:', error.strerror)
# Whoever lost its parent has the first process as its parent, and the shell is no ancestor of it.
middle = os.fork()
if middle == 0:
    if os.fork() == 0:
        while os.getppid() != 1: time.sleep(0.01)
        trace('attach to the shell from outside:', ATTACH, shell)
        os._exit(0)
    os._exit(0)
os.waitpid(middle, 0)
time.sleep(0.3)
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
trace('attach to a child:', ATTACH, child)
write('write into a child:', child)
os.kill(child, signal.SIGKILL)
if os.fork() == 0:
    said('traced by its parent:', libc.ptrace(TRACEME, 0, None, None))
    os._exit(0)
os.wait()
"#;

/// The line of a log that says what came of one way.
fn said<'l>(log: &'l str, name: &str) -> &'l str {
    let line = log.lines().find_map(|line| line.split_once(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no `{name}` in {log}")).1.trim()
}

fn reaches(config: &str, without: &str) -> (String, Option<Tracing>, String) {
    let mut play = configured(TASK, &script(&[]), config);
    play.world.set("TOLLGATE_SANDBOX_WITHOUT", without);
    let log = developer(&mut play, &format!("python3 - <<'END'\n{REACHES}END"));
    let held = play.events().into_iter().find_map(|event| match event.event {
        Event::AttemptReported(reported) => reported.leash?.tracing,
        _ => None,
    });
    let shown = play.tollgate(&["show", "RUN"]).out;
    (log, held, shown)
}

#[test]
fn nobody_gets_into_the_shell_that_waits_for_it() {
    if !holds() {
        return;
    }
    let refused = "Operation not permitted";
    let outside = [
        "attach to the shell",
        "seize the shell",
        "write into the shell",
        "take a file of the shell",
        "attach to the shell from outside",
    ];
    let (log, held, shown) = reaches("", "");
    assert_eq!(held, Some(Tracing::Descendants));
    for way in outside {
        assert_eq!(said(&log, way), refused, "{way}: {log}");
    }
    assert_ne!(said(&log, "memory of the shell"), "done", "{log}");
    for way in ["attach to a child", "write into a child", "traced by its parent"] {
        assert_eq!(said(&log, way), "done", "{way}: {log}");
    }
    assert!(!shown.contains("tracing"), "nothing is missing: {shown}");

    // Where nobody can answer, it is refused to all, and the run says so.
    let (log, held, shown) = reaches("", "answers");
    assert_eq!(held, Some(Tracing::Refused));
    for way in outside.into_iter().chain(["attach to a child", "write into a child"]) {
        assert_eq!(said(&log, way), refused, "{way}: {log}");
    }
    assert_eq!(said(&log, "traced by its parent"), "done", "{log}");
    assert!(shown.contains("debuggers and leak checkers are refused"), "{shown}");

    let (log, held, shown) = reaches("tracing = \"open\"\n", "answers");
    assert_eq!(held, Some(Tracing::Open));
    assert_eq!(said(&log, "attach to a child"), "done", "{log}");
    assert!(shown.contains("`tracing = \"open\"`"), "{shown}");
}

/// Attaches to the shell of the row, and has it exit with 0 whatever it means to exit with.
#[cfg(target_arch = "x86_64")]
const EXITS_WITH_0: &str = r#"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long
ATTACH, CONT, SYSCALL, PEEKUSER, POKEUSER = 16, 7, 24, 3, 6
NUMBER, FIRST, EXIT_GROUP = 15 * 8, 14 * 8, 231
shell, (told, tell) = os.getppid(), os.pipe()
if os.fork() == 0:
    attached = libc.ptrace(ATTACH, shell, None, None) != -1
    if attached: os.waitpid(shell, 0)
    if attached: libc.ptrace(SYSCALL, shell, None, None)
    os.write(tell, b'.')
    while attached:
        _, status = os.waitpid(shell, 0)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status): break
        if libc.ptrace(PEEKUSER, shell, NUMBER, None) == EXIT_GROUP:
            libc.ptrace(POKEUSER, shell, FIRST, None)
        libc.ptrace(SYSCALL, shell, None, None)
    os._exit(0)
os.read(told, 1)
"#;

#[cfg(target_arch = "x86_64")]
#[test]
fn a_command_is_not_traced_into_passing() {
    if !holds() {
        return;
    }
    let task = task("sh greet.sh; false");
    let built = "report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [greet.sh], \
                 dod_coverage: [{mark: \"✓\", row: DoD-1}]}";
    let greet = format!("exec python3 - <<'END'{EXITS_WITH_0}END\n");
    let built = format!("write: {{greet.sh: {}}}, {built}", serde_json::to_string(&greet).unwrap());
    let script = script(&[("developer", &[at(1, &built), else_(IDLE)])]);
    // Where it is let, it works.
    for (config, says) in [("", "DoD-1 failed"), ("tracing = \"open\"\n", "DoD-1 passed")] {
        let mut play = configured(&task, &script, config);
        play.start(&[&WORDS[..], &["--no-wait"]].concat()).says(says);
        play.holds();
    }
}

/// A leak checker is a thread with a number of its own that attaches to the program, whose memory it shares.
#[test]
fn a_program_with_a_leak_checker_passes_as_it_would_anywhere() {
    if !holds() {
        return;
    }
    let source = "#include <stdlib.h>\nint main(void) { void *p = malloc(8); free(p); return 0; }\n";
    let sanitized = |folder: &std::path::Path| {
        std::fs::write(folder.join("probe.c"), source).unwrap();
        let built =
            Command::new("cc").args(["-fsanitize=address", "probe.c", "-o", "probe"]).current_dir(folder).status();
        built.is_ok_and(|status| status.success())
    };
    let play = Play::new(TASK, &script(&[]));
    if !sanitized(&play.world.path("")) {
        assert!(
            std::env::var_os("CI").is_none(),
            "no C compiler with an address sanitizer, and nothing is skipped under CI"
        );
        println!("SKIPPED: no C compiler with an address sanitizer");
        return;
    }
    let task = task("cc -fsanitize=address main.c -o main && ./main");
    let built = "report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [main.c], \
                 dod_coverage: [{mark: \"✓\", row: DoD-1}]}";
    let built = format!("write: {{main.c: {}}}, {built}", serde_json::to_string(source).unwrap());
    let mut play = Play::new(&task, &script(&[("developer", &[else_(&built)])]));
    play.start(&WORDS).exits(0).says("DoD-1 passed");
    play.holds();
}
