//! Agents behind roles, acted out by programs that print what the real ones print.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tollgate_core::run::Event;
use tollgate_core::run::agent_stats::Guarded;
use tollgate_core::run::event::AttemptReported;

use crate::play::{Play, Said, TASK};

const PROTOCOL: &str = "\
protocol: alone
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: done, malformed: {to: again, limit: 1, then: hold}}}
";

const CONFIG: &str = "\
[worker.sonnet]
adapter = \"claude\"
model = \"claude-sonnet-4-5\"
minutes = 5
env = [\"MY_KEY\"]
args = [\"--max-turns\", \"3\"]
[roles]
maker = \"sonnet\"
";

const REPORT: &str = "## Status\\ncomplete\\n\\n## Abstract\\noutcome: made\\nverdict: n/a\\nfiles: 1 created, 0 modified, 0 deleted\\nnext_phase: n/a\\nopen_questions: 0\\n\\n## Files Created\\n- a.txt\\n";

/// A program that tells how it was called, writes a file and prints the lines of Claude Code.
fn agent(first: &str, then: &str) -> String {
    format!(
        r#"#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.325 (Claude Code)"; exit 0; fi
{{ echo "ARGS $*"; echo "KEYS ${{MY_KEY:-none}} ${{OTHER_KEY:-none}} ${{ANTHROPIC_API_KEY:-none}}"; cat; echo; }} >> "$HOME/.claude/calls"
echo '{{"type":"system","subtype":"init","session_id":"s-1","model":"claude-sonnet-4-5","claude_code_version":"2.1.325"}}'
case "$*" in
*--resume*) {then} ;;
*) {first} ;;
esac
"#
    )
}

fn result(said: &str, cost: &str, more: &str) -> String {
    format!(
        r#"echo '{{"type":"result","subtype":"success","is_error":false,"session_id":"s-1","total_cost_usd":{cost},"usage":{{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":20,"output_tokens":30}}{more},"result":"{said}"}}'"#
    )
    .replace("\\n", "\\\\n")
}

/// What switches off, for a test, what keeps an agent from its own folders: its program leaves there how it was called.
pub const OPEN_FOLDERS: &str = "layers";

fn play(program: &str) -> Play {
    let mut play = Play::new(TASK, "");
    std::fs::write(play.world.path("alone.yaml"), PROTOCOL).unwrap();
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    std::fs::create_dir_all(play.world.path("home/.claude")).unwrap();
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), CONFIG).unwrap();
    play.world.agent("claude", program);
    play.world.set("MY_KEY", "mine").set("OTHER_KEY", "other").set("ANTHROPIC_API_KEY", "key");
    play.world.set("TOLLGATE_SANDBOX_WITHOUT", OPEN_FOLDERS);
    play
}

fn reports(play: &Play) -> Vec<AttemptReported> {
    let reported = |event: tollgate_core::run::Recorded| match event.event {
        Event::AttemptReported(reported) => Some(reported),
        _ => None,
    };
    play.events().into_iter().filter_map(reported).collect()
}

#[test]
fn an_agent_is_asked_again_in_its_session_and_what_it_used_is_counted_once() {
    let first = format!("echo hi > a.txt; {}", result("I am done.", "0.003", ""));
    let mut play = play(&agent(&first, &result(REPORT, "0.005", "")));
    let said = play.tollgate(&["run", "../alone.yaml"]).exits(0);
    play.named_by(&said);
    play.holds();
    assert_eq!(play.file("a.txt").as_deref(), Some("hi\n"));
    let calls = std::fs::read_to_string(play.world.path("home/.claude/calls")).unwrap();
    let args: Vec<&str> = calls.lines().filter(|line| line.starts_with("ARGS")).collect();
    let guard = reports(&play).remove(0).told.unwrap().guard;
    let mode = if guard == Some(Guarded::Off) { "bypassPermissions" } else { "acceptEdits" };
    let call =
        format!("ARGS -p --output-format stream-json --verbose --permission-mode {mode} --model claude-sonnet-4-5");
    assert_eq!(args, [format!("{call} --max-turns 3"), format!("{call} --resume s-1 --max-turns 3")]);
    assert!(calls.contains("KEYS mine none key"), "only what is allowed is seen: {calls}");
    let again = calls.split("ARGS").nth(2).unwrap();
    assert!(again.contains("Your report cannot be used") && again.contains("also before"), "{again}");
    assert!(again.lines().count() < 10, "the session knows the brief: {again}");
    let told: Vec<_> = reports(&play).into_iter().map(|report| report.told.unwrap()).collect();
    let used = told.iter().map(|told| (told.usage.input_tokens, told.usage.cost_nano_usd)).collect::<Vec<_>>();
    assert_eq!(used, [(Some(120), Some(3_000_000)), (Some(120), Some(2_000_000))], "the cost is of the session");
    let known = (told[1].model.as_deref(), told[1].version.as_deref(), &*told[1].adapter);
    assert_eq!(known, (Some("claude-sonnet-4-5"), Some("2.1.325"), "claude"));
    let Event::RunOpened(opened) = &play.events()[0].event else { panic!("no start") };
    let spec = "claude:claude model=claude-sonnet-4-5 minutes=5 env=MY_KEY -- --max-turns 3";
    assert_eq!(&*opened.workers["maker"], spec);
    assert_eq!(opened.config["roles"]["maker"]["model"], "claude-sonnet-4-5");
}

#[test]
fn its_own_guard_is_off_only_where_the_sandbox_holds_and_the_journal_says_so() {
    let program =
        agent(&format!("echo hi > a.txt; echo SANDBOX-$IS_SANDBOX-; {}", result(REPORT, "0.1", "")), "exit 9");
    let own = ("acceptEdits", "SANDBOX--", Guarded::Own);
    let off = ("bypassPermissions", "SANDBOX-1-", Guarded::Off);
    let mut cases = vec![("TOLLGATE_SANDBOX", "off", own), ("TOLLGATE_SANDBOX_WITHOUT", "files,layers", own)];
    let configured = ("plan", "SANDBOX--", Guarded::Configured);
    cases.push(("XDG_CONFIG_HOME", "configured", configured));
    if crate::leash::holds() {
        cases.extend([("TOLLGATE_SANDBOX", "require", off), ("TOLLGATE_SANDBOX_WITHOUT", "processes,layers", off)]);
    }
    for (name, value, (mode, seen, guard)) in cases {
        let mut play = play(&program);
        let config = play.world.path("configured/tollgate/config.toml");
        std::fs::create_dir_all(config.parent().unwrap()).unwrap();
        std::fs::write(config, CONFIG.replace("--max-turns\", \"3", "--permission-mode\", \"plan")).unwrap();
        let value = if value == "configured" { play.world.path(value).display().to_string() } else { value.to_owned() };
        play.world.set(name, &value);
        let said = play.tollgate(&["run", "../alone.yaml"]).exits(0);
        play.named_by(&said);
        let calls = std::fs::read_to_string(play.world.path("home/.claude/calls")).unwrap();
        assert!(calls.contains(&format!("--permission-mode {mode}")), "{name}={value}: {calls}");
        assert!(play.log("maker", 1).contains(seen), "{name}={value}");
        assert_eq!(reports(&play).remove(0).told.unwrap().guard, Some(guard), "{name}={value}");
        play.holds();
    }
}

#[test]
fn a_success_that_is_none_is_a_failure() {
    let denied =
        r#","permission_denials":[{"tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"/repo/a.txt"}}]"#;
    let error = result("API Error: 529 Overloaded", "0", "").replace("\"is_error\":false", "\"is_error\":true");
    for (program, code, why) in [
        (result(REPORT, "0.1", denied), "denied", "it changed nothing, and its agent was denied: Write /repo/a.txt"),
        (error.clone(), "agent", "its agent gave up: API Error: 529 Overloaded"),
    ] {
        let mut play = play(&agent(&program, "exit 9"));
        let said = play.tollgate(&["run", "../alone.yaml"]).exits(1).says(why);
        play.named_by(&said);
        let report = reports(&play).remove(0);
        assert_eq!((report.code.as_deref(), report.reason.as_str()), (Some(code), why));
        assert_eq!(report.told.unwrap().quota, None);
        play.holds();
    }
}

#[test]
fn an_agent_needs_no_configuration_but_its_program() {
    let mut play = play(&agent(&format!("echo hi > a.txt; {}", result(REPORT, "0.1", "")), "exit 9"));
    play.world.set("XDG_CONFIG_HOME", "/nonexistent");
    // What it needs in the home folder is made before it is held.
    std::fs::remove_dir(play.world.path("home/.claude")).unwrap();
    let said = play.tollgate(&["run", "../alone.yaml", "--worker", "maker=claude"]).exits(0);
    assert!(!crate::leash::holds() || play.world.path("home/.claude/calls").exists());
    play.named_by(&said);
    play.holds();
    let Event::RunOpened(opened) = &play.events()[0].event else { panic!("no start") };
    assert_eq!(&*opened.workers["maker"], "claude:claude");
    play.tollgate(&["run", "../alone.yaml", "--worker", "claude"]).exits(0);
    play.tollgate(&["run", "../alone.yaml"]).exits(1).says("`--worker claude`").says("tollgate worker list");
    play.tollgate(&["run", "../alone.yaml", "--worker", "maker=gemni"]).exits(1).says("did you mean `gemini`?");
    play.tollgate(&["run", "../alone.yaml", "--worker", "maker=gemini"]).exits(3).says("`gemini` was not found");
}

/// An agent that hangs is ended by its silence long before its time; one that goes on printing works on.
#[test]
fn an_agent_that_prints_nothing_is_ended_with_all_that_it_started() {
    let configured = |acts: &str| {
        let mut play = play(&agent(acts, "exit 9"));
        let config = "[worker.w]\nadapter = \"claude\"\nidle_time = \"3s\"\n[roles]\n\"*\" = \"w\"\n";
        std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
        let said = play.tollgate(&["run", "../alone.yaml", "--no-wait"]);
        play.named_by(&said);
        play.holds();
        let reported = reports(&play).remove(0);
        (said, reported)
    };
    let slowly = "for n in 1 2 3 4; do sleep 0.9; echo '{\"type\":\"system\"}'; done";
    let works = format!("{slowly}; echo hi > a.txt; {}", result(REPORT, "0.1", ""));
    let marker = format!("47{}", std::process::id());
    let hangs = format!("echo hi > a.txt; setsid sleep {marker} & sleep {marker}");
    let ((worked, report), (hung, ended)) = std::thread::scope(|scope| {
        let worked = scope.spawn(|| configured(&works));
        let hung = configured(&hangs);
        (worked.join().unwrap(), hung)
    });
    assert_eq!((worked.code, &*report.reason), (Some(0), ""), "{}", worked.err);
    assert!(ended.reason.starts_with("it printed nothing for longer than"), "{}", ended.reason);
    assert_eq!((hung.code, ended.changed.len()), (Some(1), 1), "what it did is measured: {}", hung.err);
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&marker)
    });
    assert_eq!(left.count(), 0);
}

/// A driver that was stopped itself has heard nothing, and ends nobody for it.
#[test]
fn an_agent_is_not_silent_while_nobody_listens() {
    let works = "echo hi > a.txt; touch ~/.claude/at-work; sleep 8";
    let mut play = play(&agent(&format!("{works}; {}", result(REPORT, "0.1", "")), "exit 9"));
    let config = "[worker.w]\nadapter = \"claude\"\nidle_time = \"6s\"\n[roles]\n\"*\" = \"w\"\n";
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    let mut driver = play.program(&["run", "../alone.yaml", "--no-wait"]);
    play.find_run(&mut driver);
    play.until("the agent to work", |play| play.world.path("home/.claude/at-work").exists().then_some(()));
    let signal = |signal| kill_process(Pid::from_child(&driver), signal).unwrap();
    signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(7_500));
    signal(Signal::CONT);
    let said = Said::of(driver.wait_with_output().unwrap());
    assert_eq!(&*reports(&play).remove(0).reason, "");
    said.exits(0);
    play.holds();
}

/// Two workers for the same role: none of them wins silently.
#[test]
fn a_role_is_given_one_worker() {
    let play = play(&agent("exit 9", "exit 9"));
    for (words, why) in [
        (&["--worker", "claude", "--worker", "codex"][..], "two `--worker` are for every role without another"),
        (&["--worker", "maker=claude", "--worker", "maker=claude"], "`maker` is given two workers"),
        (&["--script", "s.yaml", "--worker", "claude"], "both for all others"),
        (&["--worker", "claude", "--script", "s.yaml"], "both for all others"),
    ] {
        play.tollgate(&[&["run", "../alone.yaml"], words].concat()).exits(2).says("TG0601").says(why).says("keep one");
    }
    assert_eq!(play.tollgate(&["ls", "--all", "--json"]).out.lines().count(), 0, "nothing was started");
}

/// One line of the person's own configuration, and every protocol has its workers; what is named goes before it.
#[test]
fn a_worker_for_all_others_is_one_word() {
    let mut play = play(&agent(&format!("echo hi > a.txt; {}", result(REPORT, "0.1", "")), "exit 9"));
    let configure =
        |play: &Play, text: &str| std::fs::write(play.world.path("home/.config/tollgate/config.toml"), text).unwrap();
    configure(&play, "[roles]\n\"*\" = \"claude\"\n");
    let told = play.tollgate(&["doctor"]);
    assert!(!format!("{}{}", told.out, told.err).contains("has the role `*`"), "{}", told.out);
    let said = play.tollgate(&["run", "../alone.yaml"]).exits(0);
    play.named_by(&said);
    let maker = |play: &Play| match &play.events()[0].event {
        Event::RunOpened(opened) => opened.workers["maker"].to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(maker(&play), "claude:claude");
    play.holds();
    configure(&play, "[worker.other]\nadapter = \"claude\"\nmodel = \"m\"\n[roles]\nmaker = \"other\"\n");
    let said = play.tollgate(&["run", "../alone.yaml", "--worker", "claude"]).exits(0);
    play.run.clear();
    play.named_by(&said);
    assert_eq!(maker(&play), "claude:claude model=m", "what is named for the role goes before it");
    play.tollgate(&["run", "../alone.yaml", "--worker", "maker="]).exits(2).says("gives no role a worker");
    configure(&play, "");
    play.tollgate(&["run", "../alone.yaml", "--worker", "nobody"]).exits(1).says("`nobody`, which is not defined");
}

#[test]
fn a_report_that_is_json_is_asked_for_by_its_schema() {
    let verdict = r#","structured_output":{"kind":"wr.gate_verdict","version":1,"verdict":"approved","confidence":"high","rationale":"Every item of the list is shown by a test."}"#;
    let mut play = play(&agent(&result("Done.", "0.1", verdict), "exit 9"));
    let judged = PROTOCOL
        .replace(
            "contract: status-block, writes: [code]",
            "contract: wr.gate_verdict, writes: none, verdicts: [accept, reject]",
        )
        .replace("ok: done,", "accept: done, reject: hold,");
    std::fs::write(play.world.path("judged.yaml"), judged).unwrap();
    let said = play.tollgate(&["run", "../judged.yaml"]).exits(0);
    play.named_by(&said);
    let calls = std::fs::read_to_string(play.world.path("home/.claude/calls")).unwrap();
    assert!(
        calls.contains("--json-schema {") && calls.contains("wr.gate_verdict") && !calls.contains("$schema"),
        "{calls}"
    );
    let bundle = play.world.path(&format!("state/runs/{}/bundles/att_1/files/report.schema.json", play.run));
    assert!(std::fs::read_to_string(bundle).unwrap().contains("rationale"));
}

#[test]
fn what_was_used_is_shown_by_role_and_in_sum_and_unknown_stays_unknown() {
    // The first call tells neither its cost nor what it read; the second does.
    let first = result("I am done.", "null", "").replace("\"input_tokens\":100,", "");
    let mended = REPORT.replace("files: 1", "files: 0").replace("- a.txt", "None");
    let mut play = play(&agent(&first, &result(&mended, "0.005", "")));
    let said = play.tollgate(&["run", "../alone.yaml"]).exits(4).says("The whole change of this run is empty.");
    play.named_by(&said);
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    let used: Vec<&str> =
        shown.lines().skip_while(|line| !line.starts_with("What it used")).skip(1).take(2).map(str::trim).collect();
    let numbers = "2 attempts  read 120 + unknown (1 of 2)  written 60  cost unknown";
    assert_eq!(used, [format!("maker   {numbers}"), format!("in all  {numbers}")], "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&play.tollgate(&["show", "RUN", "--json"]).exits(0).out).unwrap();
    assert_eq!(json["usage"][1]["role"], serde_json::Value::Null);
    assert_eq!(json["usage"][1]["input_tokens"], serde_json::json!({"known": 120, "unknown": 1}));
    assert_eq!(json["usage"][1]["cost_nano_usd"], serde_json::json!({"known": 0, "unknown": 2}));
}

#[test]
fn a_session_that_is_gone_is_begun_anew_with_the_whole_brief() {
    let mended = REPORT.replace("files: 1", "files: 0").replace("- a.txt", "None");
    // What the first call left is there for the second, which has no session any more.
    let first = format!(
        "if test -e \"$HOME/.claude/gone\"; then {}; else touch \"$HOME/.claude/gone\"; {}; fi",
        result(&mended, "0.004", ""),
        result("I am done.", "0.003", "")
    );
    let mut play = play(&agent(&first, "echo 'No conversation found' >&2; exit 1"));
    let said = play.tollgate(&["run", "../alone.yaml"]).exits(4).says("The whole change of this run is empty.");
    play.named_by(&said);
    play.holds();
    let calls = std::fs::read_to_string(play.world.path("home/.claude/calls")).unwrap();
    let calls: Vec<&str> = calls.split("ARGS").skip(1).collect();
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert!(calls[1].contains("--resume s-1") && !calls[2].contains("--resume"), "{calls:?}");
    assert!(calls[1].lines().count() < 12 && calls[2].lines().count() > 20, "the whole brief: {}", calls[2]);
    let log = play.log("maker", 2);
    assert!(log.contains("the session could not be gone on with"), "{log}");
    let told = reports(&play).pop().unwrap().told.unwrap();
    assert_eq!(told.usage.cost_nano_usd, Some(4_000_000), "a new session is counted from its start");
}

/// An agent of the Agent Client Protocol that asks before it writes.
const ACP: &str = r#"#!/bin/sh
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
say() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$1"; }
read line; answer 1 '{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"mine","version":"7"}}'
read line; answer 2 '{"sessionId":"s-1","models":{"currentModelId":"m"}}'
read line; echo "$line" >> "$XDG_CACHE_HOME/prompt"
for kind in edit execute; do
  printf '{"jsonrpc":"2.0","id":"ask","method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"1","kind":"%s","title":"does it","locations":[]},"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}\n' $kind
  read line
  case "$line" in *'"yes"'*) echo hi > a.txt ;; esac
done
say '## Status\ncomplete\n\n## Abstract\noutcome: made\nverdict: n/a\n'
say 'files: 1 created, 0 modified, 0 deleted\nnext_phase: n/a\nopen_questions: 0\n\n## Files Created\n- a.txt\n'
answer 3 '{"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":4,"totalTokens":7}}'
read line
"#;

#[test]
fn an_agent_of_the_agent_client_protocol_is_answered_while_it_works() {
    let mut play = play(&agent("exit 9", "exit 9"));
    play.world.agent("mine", ACP);
    let config = "[worker.mine]\nadapter = \"acp\"\ncommand = [\"mine\"]\nargs = [\"--permit\", \"edits\", \"--\"]\n[roles]\nmaker = \"mine\"\n";
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    let said = play.tollgate(&["run", "../alone.yaml"]).exits(0);
    play.named_by(&said);
    play.holds();
    assert_eq!(play.file("a.txt").as_deref(), Some("hi\n"));
    let prompt =
        std::fs::read_to_string(play.world.path(&format!("state/runs/{}/caches/maker/prompt", play.run))).unwrap();
    assert!(prompt.contains("session/prompt") && prompt.contains("Status"), "{prompt}");
    let told = reports(&play).remove(0).told.unwrap();
    let known = (&*told.adapter, told.version.as_deref(), told.session.as_deref(), told.model.as_deref());
    assert_eq!(known, ("acp", Some("mine 7"), Some("s-1"), Some("m")));
    assert_eq!(told.denied, ["execute does it"], "edits are allowed, commands are not");
    assert_eq!(told.usage.input_tokens, None, "nothing says what it counts");
    let Event::RunOpened(opened) = &play.events()[0].event else { panic!("no start") };
    assert_eq!(&*opened.workers["maker"], "acp:mine -- --permit edits --");
    play.tollgate(&["run", "../alone.yaml", "--worker", "maker=acp"]).exits(1).says("names none of them");
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), "[worker.x]\nadapter = \"acp\"\n").unwrap();
    play.tollgate(&["worker", "list"]).exits(1).says("its adapter knows no program");
}

#[test]
fn an_agent_can_be_asked_once_whether_it_answers() {
    let well = "[ \"$(ls -A | wc -l)\" = 0 ] || exit 8; echo '{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"ready\"}]}}'";
    let mut play = play(&agent(&format!("{well}; {}", result("ready", "0.0123", "")), "exit 9"));
    let bin = play.world.path("bin").display().to_string();
    play.world.set("PATH", &format!("{bin}:/usr/bin:/bin"));
    play.world.type_in("worker doctor sonnet --probe").type_in("worker doctor sonnet --probe --json");
    play.world.agent("claude", &agent("echo 'Invalid API key' >&2; exit 1", "exit 9"));
    play.world.type_in("worker doctor sonnet --probe").type_in("worker doctor --probe");
    insta::assert_snapshot!(play.world.transcript);
    let left: Vec<_> =
        std::fs::read_dir(play.world.path("state")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("probe")), "{left:?}");
}

#[test]
fn what_is_installed_is_listed_with_what_was_measured_of_it() {
    let mut play = play(&agent("exit 9", "exit 9"));
    // Whatever else is installed on the machine is not looked at.
    let bin = play.world.path("bin").display().to_string();
    play.world.set("PATH", &format!("{bin}:/usr/bin:/bin"));
    play.world
        .type_in("worker list")
        .type_in("worker doctor sonnet")
        .type_in("worker doctor codex")
        .type_in("worker doctor codx")
        .type_in("worker doctor")
        .type_in("worker doctor sonnet --json");
    insta::assert_snapshot!(play.world.transcript);
}
