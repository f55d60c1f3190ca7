//! Budgets: what a run, a unit, a day and an attempt may use, and what happens when that is used up.

use tollgate_core::run::Event;
use tollgate_core::run::budget::Used;
use tollgate_core::run::event::DecisionAsked;

use crate::agents::OPEN_FOLDERS;
use crate::play::{Play, Said, TASK};

/// Two attempts one after the other, for the run or for a unit.
pub const ROW: &str = "\
protocol: row
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
  reader: {contract: status-block, writes: none, sees: full}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: read}}
    - {id: read, dispatch: reader, on: {ok: done}}
";

/// The same, where nobody is to write anything.
pub fn looking() -> String {
    ROW.replace("writes: [code]", "writes: none")
}

/// Two units side by side, with two attempts each.
const SIDES: &str = "\
protocol: pairs
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: none, sees: full}
  reader: {contract: status-block, writes: none, sees: full}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - id: work
      each: {over: [left, right], flow: side, at_once: 2, trees: shared, makes: produced}
      on: {all: done, some: hold, none: hold}
  side:
    - {id: make, dispatch: maker, on: {ok: read}}
    - {id: read, dispatch: reader, on: {ok: done}}
";

/// The report of one who changed nothing.
pub const NOTHING: &str = "## Status\\\\ncomplete\\\\n\\\\n## Abstract\\\\noutcome: made\\\\nverdict: n/a\\\\nfiles: 0 created, 0 modified, 0 deleted\\\\nnext_phase: n/a\\\\nopen_questions: 0\\\\n";

/// What Claude Code prints at its end: 150 tokens, and ten cents.
pub fn done(report: &str) -> String {
    format!(
        r#"echo '{{"type":"result","subtype":"success","is_error":false,"session_id":"s-1","total_cost_usd":0.1,"usage":{{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":20,"output_tokens":30}},"result":"{report}"}}'"#
    )
}

/// A program that counts its calls in `n`, and then acts.
pub fn agent(act: &str) -> String {
    format!(
        r#"#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.325 (Claude Code)"; exit 0; fi
n=1; until mkdir "$HOME/.claude/call-$n" 2>/dev/null; do n=$((n+1)); done
{{ echo "ARGS $*"; cat; }} > "$HOME/.claude/call-$n/said"
echo '{{"type":"system","subtype":"init","session_id":"s-1","model":"m","claude_code_version":"2.1.325"}}'
{act}
"#
    )
}

/// A repository in which every role is an agent that acts so, under this configuration.
pub fn play(protocol: &str, config: &str, act: &str) -> Play {
    let mut play = Play::new(TASK, "");
    std::fs::write(play.world.path("row.yaml"), protocol).unwrap();
    for folder in ["home/.config/tollgate", "home/.claude"] {
        std::fs::create_dir_all(play.world.path(folder)).unwrap();
    }
    let roles = "[roles]\nmaker = \"claude\"\nreader = \"claude\"\n";
    let config = if config.contains("[roles]") { config.to_owned() } else { format!("{roles}{config}") };
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    play.world.agent("claude", &agent(act));
    play.world.set("TOLLGATE_SANDBOX_WITHOUT", OPEN_FOLDERS);
    play
}

/// How often the agent was called.
pub fn calls(play: &Play) -> usize {
    let made = std::fs::read_dir(play.world.path("home/.claude")).unwrap();
    made.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("call-")).count()
}

fn run(play: &mut Play, more: &[&str]) -> Said {
    play.run.clear();
    let said = play.tollgate(&[&["run", "../row.yaml"], more].concat());
    play.named_by(&said);
    said
}

/// A command prints this.
#[track_caller]
pub fn prints(play: &Play, words: &[&str], text: &str) {
    let said = play.tollgate(words);
    assert!(said.out.contains(text), "{text}: {}{}", said.out, said.err);
}

fn questions(play: &Play) -> Vec<DecisionAsked> {
    let asked = |event: tollgate_core::run::Recorded| match event.event {
        Event::DecisionAsked(asked) => Some(asked),
        _ => None,
    };
    play.events().into_iter().filter_map(asked).collect()
}

#[test]
fn a_budget_of_a_run_or_of_a_unit_is_a_question_before_the_next_attempt() {
    let whole = looking();
    let unit = whole.replace("flows:\n  main:\n", "flows:\n  main:\n    - {id: work, each: {over: [solo], flow: side, at_once: 1, trees: shared, makes: produced}, on: {all: done, some: hold, none: hold}}\n  side:\n");
    // The rest of measures and answers is the kernel's (`budget.txt`).
    let cases = [
        ("run", "time = \"1s\"", "it may use 1.000 s, and used ", ("more", 0, 2)),
        (
            "unit",
            "tokens = 100",
            "it may use 100 tokens, and used 150 tokens; `read` of solo is next and waits",
            ("stop", 1, 1),
        ),
    ];
    for (whose, limit, why, (answer, exit, after)) in cases {
        let protocol = if whose == "unit" { &unit } else { &whole };
        let slow = if limit.contains("time") { "sleep 1;" } else { "" };
        let config = format!("[budget]\n{whose} = {{{limit}}}\n");
        let mut play = play(protocol, &config, &format!("{slow} {}", done(NOTHING)));
        run(&mut play, &[]).exits(5).says("is used up. Go on?").says(why).says("tollgate decide");
        assert_eq!((calls(&play), questions(&play).len()), (1, 1), "{limit}");
        play.holds();
        prints(&play, &["ls"], "waits for you");
        prints(&play, &["inbox"], "is used up");
        // Nothing is done while it is asked.
        play.tollgate(&["resume", "RUN"]).exits(5);
        assert_eq!((calls(&play), questions(&play).len()), (1, 1), "{limit}");
        play.decide(&["dec_1", answer]).exits(exit);
        play.decide(&["dec_1", answer]).exits(exit);
        assert_eq!((calls(&play), questions(&play).len()), (after, 1), "{limit} {answer}");
        play.holds();
    }
}

#[test]
fn a_day_is_counted_over_all_runs_and_the_journal_says_what_was_counted() {
    let mut play = play(&looking(), "[budget.day]\nattempts = 2\n", &done(NOTHING));
    run(&mut play, &[]).exits(0);
    assert_eq!(play.count(|event| matches!(event, Event::DayCounted(_))), 0, "nothing was used elsewhere");
    // The next one is stopped before its first attempt, by what the first one used.
    run(&mut play, &[]).exits(5).says("The budget of today (UTC) for").says("`make` is next and waits");
    let counted = |event: tollgate_core::run::Recorded| match event.event {
        Event::DayCounted(counted) => Some(counted.elsewhere),
        _ => None,
    };
    let counted: Vec<Used> = play.events().into_iter().filter_map(counted).collect();
    let [used] = &counted[..] else { panic!("counted once: {counted:?}") };
    assert_eq!((used.attempts, used.tokens.known, used.cost_nano_usd.known), (2, 300, 200_000_000));
    assert!(used.time_ms > 0, "{used:?}");
    assert_eq!((calls(&play), play.dispatched("maker")), (2, 0));
    play.decide(&["dec_1", "more", "--no-wait"]);
    assert_eq!(play.dispatched("maker"), 1);
    play.tollgate(&["verify", "--all"]).exits(0);
}

#[test]
fn what_is_under_way_goes_on_while_it_is_asked_and_a_killed_driver_forgets_nothing() {
    let slow = format!("case $n in 2) sleep 1000 ;; esac; {}", done(NOTHING));
    let mut play = play(SIDES, "[budget]\nrun = {attempts = 2}\n", &slow);
    let mut driver = play.program(&["run", "../row.yaml"]);
    play.find_run(&mut driver);
    play.until_event("the question", |event| matches!(event, Event::DecisionAsked(_)));
    assert_eq!(play.count(|event| matches!(event, Event::AttemptCancelled(_))), 0, "nothing is killed for it");
    driver.kill().unwrap();
    driver.wait().unwrap();
    play.tollgate(&["resume", "RUN"]).exits(5).says("The budget of this run for attempts is used up");
    // The one that the crash cut off is repeated, and counts once.
    assert_eq!((questions(&play).len(), play.dispatched("maker"), play.dispatched("reader")), (1, 2, 0));
    assert_eq!(play.count(|event| matches!(event, Event::AttemptLost(_))), 1);
    play.decide(&["dec_1", "more"]).exits(0);
    assert_eq!((questions(&play).len(), play.dispatched("reader")), (1, 2));
    play.holds();
}

/// An agent that tells nonsense of its usage has told nothing: no sum gets less by it, and no budget holds it.
#[test]
fn usage_that_is_no_number_is_unknown_in_every_sum() {
    let told = |tokens: &str, dollars: &str| {
        let line = done(NOTHING).replace("\"input_tokens\":100", &format!("\"input_tokens\":{tokens}"));
        let line = line.replace("\"output_tokens\":30", &format!("\"output_tokens\":{tokens}"));
        line.replace("\"total_cost_usd\":0.1", &format!("\"total_cost_usd\":{dollars}"))
    };
    let more = "{ok: next}}\n    - {id: next, dispatch: reader, on: {ok: last}}\n    - {id: last, dispatch: reader, on: {ok: done}}";
    let protocol = looking().replace("{ok: done}}", more);
    let act = format!(
        "case $n in 1) {} ;; 2) {} ;; 3) {} ;; *) {} ;; esac",
        done(NOTHING),
        told("-5", "-0.09"),
        told("18446744073709551615", "1e308"),
        told("\"5\"", "\"0.1\"")
    );
    let mut play = play(&protocol, "[budget]\nrun = {tokens = 1000, cost = 2.5}\n", &act);
    run(&mut play, &[]).exits(0);
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    let lines: Vec<String> = shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "reader 3 attempts read unknown written unknown cost unknown",
        "in all 4 attempts read 120 + unknown (3 of 4) written 30 + unknown (3 of 4) cost $0.10 + unknown (3 of 4)",
        "run at least 150 tokens of 1000 tokens 3 attempts did not tell, and the limit does not hold them",
        "run at least $0.10 of $2.50 3 attempts did not tell, and the limit does not hold them",
    ] {
        assert!(lines.iter().any(|shown| shown == line), "{line}\n{shown}");
    }
    play.holds();
}

#[test]
fn what_is_in_force_is_shown_with_what_does_not_hold() {
    let config = "[budget]\nrun = {tokens = 1000, cost = 2.5}\nday = {attempts = 40}\n[worker.plain]\nadapter = \"command\"\ncommand = [\"true\"]\n";
    let untold = done(NOTHING).replace("\"total_cost_usd\":0.1,", "");
    let mut play = play(&looking(), config, &format!("case $n in 1) {untold} ;; *) {} ;; esac", done(NOTHING)));
    run(&mut play, &[]).exits(0);
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    let used: Vec<&str> =
        shown.lines().skip_while(|line| !line.starts_with("What it may use")).skip(1).take(3).collect();
    let used: Vec<String> = used.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        used,
        [
            "run 300 tokens of 1000 tokens",
            "run at least $0.10 of $2.50 one attempt did not tell, and the limit does not hold it",
            "day 2 attempts of 40 attempts"
        ],
        "{shown}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&play.tollgate(&["show", "RUN", "--json"]).exits(0).out).unwrap();
    let cost = serde_json::json!({"of": "run", "unit": null, "measure": "cost", "limit": 2_500_000_000_u64, "used": {"known": 100_000_000, "unknown": 1}});
    assert_eq!(json["budgets"][1], cost);
    let Event::RunOpened(opened) = &play.events()[0].event else { panic!("no start") };
    assert_eq!((opened.budgets.run.tokens, opened.budgets.day.attempts), (Some(1000), Some(40)));
    assert_eq!(opened.config["budget"]["run.cost"]["from"], "user");
    prints(&play, &["doctor"], "day 40 attempts, run $2.50, run 1000 tokens");
    prints(&play, &["doctor"], "plain does not tell its tokens and cost");
    prints(&play, &["worker", "doctor", "plain"], "tokens, cost and turns cannot be limited");
    prints(&play, &["worker", "doctor", "claude"], "quota pool: claude");
    prints(&play, &["worker", "doctor", "codex"], "cost and turns cannot be limited");
}

#[test]
fn a_budget_that_cannot_be_read_is_refused_with_its_place() {
    let config = "[budget]\nrun = {time = 5, tokens = 0, cost = \"1e3\", attempt = 3}\nhour = {attempts = 1}\n";
    let mut play = play(ROW, config, "exit 9");
    let said = run(&mut play, &[]).exits(1);
    for breach in [
        "this is no budget of time",
        "this is no budget of tokens",
        "this is no budget of cost",
        "did you mean `attempts`?",
        "there is no key `budget.hour`",
        "config.toml:6:1",
    ] {
        assert!(said.err.contains(breach), "{breach}: {}", said.err);
    }
}

#[test]
fn an_attempt_past_its_roles_budget_ends_as_exhausted() {
    let protocol = ROW
        .replace("writes: [code], sees: full}", "writes: none, sees: full, budget: {LIMIT}}")
        .replace("exhausted: hold", "exhausted: late")
        .replace("otherwise:", "asks:\n  late: {ask: {class: choice, question: \"It used too much.\", options: {retry: Try again, abort: Give up}}, on: {retry: back, abort: dropped, cancelled: hold}}\notherwise:");
    // A text that was cut in the middle of a character, as Node prints it, and a byte that is no text.
    let cut = done(&format!("{NOTHING}\\ud83d"));
    let byte = format!("{} | sed 's/s-1/s-1\",\"x\":\"\\xe9/'", done(NOTHING));
    for (limit, act, why) in [
        ("tokens: 149", cut, "it used 150 tokens, and its role may use 149 tokens"),
        ("cost: 0.09", byte, "it used $0.10, and its role may use $0.09"),
    ] {
        let mut play = play(&protocol.replace("LIMIT", limit), "", &act);
        run(&mut play, &[]).exits(4).says(why).says("It used too much.");
        play.holds();
    }
    let enough = play(&protocol.replace("LIMIT", "tokens: 150, cost: 0.1"), "", &done(NOTHING));
    enough.tollgate(&["run", "../row.yaml"]).exits(0);
}

/// What an agent prints in two turns, by its adapter: each reads 100 tokens, as far as it says so.
const TURNS: [(&str, &[&str]); 5] = [
    (
        "claude",
        &[
            r#"{"type":"assistant","message":{"id":"m-1","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":80,"cache_creation_input_tokens":0,"cache_read_input_tokens":20,"output_tokens":1}},"parent_tool_use_id":null}"#,
            // A piece of the same answer, and what an agent of its own says: no turn.
            r#"{"type":"assistant","message":{"id":"m-1","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}],"usage":{"input_tokens":80,"cache_creation_input_tokens":0,"cache_read_input_tokens":20,"output_tokens":1}},"parent_tool_use_id":null}"#,
            r#"{"type":"assistant","message":{"id":"m-9","content":[],"usage":{"input_tokens":900}},"parent_tool_use_id":"t"}"#,
            r#"{"type":"assistant","message":{"id":"m-2","content":[],"usage":{"input_tokens":80,"cache_creation_input_tokens":0,"cache_read_input_tokens":20,"output_tokens":1}},"parent_tool_use_id":null}"#,
        ],
    ),
    (
        "qwen",
        &[
            r#"{"type":"assistant","message":{"id":"m-1","content":[{"type":"text","text":"a"}]},"parent_tool_use_id":null}"#,
            r#"{"type":"assistant","message":{"id":"m-2","content":[{"type":"tool_use","id":"t","name":"read_file","input":{}}],"usage":{"input_tokens":70,"cache_read_input_tokens":0,"output_tokens":30}},"parent_tool_use_id":null}"#,
            r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]},"parent_tool_use_id":null}"#,
            r#"{"type":"assistant","message":{"id":"m-3","content":[],"usage":{"input_tokens":70,"cache_read_input_tokens":0,"output_tokens":30}},"parent_tool_use_id":null}"#,
        ],
    ),
    (
        "opencode",
        &[
            r#"{"type":"step_start","sessionID":"ses_1","part":{}}"#,
            r#"{"type":"step_finish","sessionID":"ses_1","part":{"tokens":{"input":100,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.05}}"#,
            r#"{"type":"step_start","sessionID":"ses_1","part":{}}"#,
            r#"{"type":"step_finish","sessionID":"ses_1","part":{"tokens":{"input":100,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.05}}"#,
        ],
    ),
    (
        "gemini",
        &[
            r#"{"type":"message","role":"assistant","content":"I look","delta":true}"#,
            r#"{"type":"tool_use","tool_name":"read_file","tool_id":"t","parameters":{}}"#,
            r#"{"type":"tool_result","tool_id":"t","status":"success"}"#,
            r#"{"type":"message","role":"assistant","content":"I see","delta":true}"#,
        ],
    ),
    (
        "copilot",
        &[
            r#"{"type":"assistant.turn_start","data":{"turnId":"0"}}"#,
            r#"{"type":"assistant.turn_start","data":{"turnId":"1"}}"#,
        ],
    ),
];

/// One that tells as it works is ended when it is over, and not when it is done: a row of attempts, each within another limit.
#[test]
fn an_attempt_is_stopped_in_flight_where_its_agent_tells_in_time() {
    let turns = ("turns: 1", "it used 2 turns, and its role may use 1 turn");
    let tokens = ("tokens: 199", "it used 200 tokens, and its role may use 199 tokens");
    let cost = ("cost: 0.09", "it used $0.10, and its role may use $0.09");
    // What it may use is no more than that; its time is waited for once.
    let enough = ("turns: 2, tokens: 200, time: 1s", "it ran past its time of 1 s");
    let mut attempts = Vec::new();
    for (adapter, _) in TURNS {
        let limits = match adapter {
            "opencode" => vec![turns, tokens, cost, enough],
            "claude" | "qwen" => vec![turns, tokens],
            _ => vec![turns],
        };
        attempts.extend(limits.into_iter().enumerate().map(|(at, limit)| (format!("{adapter}-{at}"), adapter, limit)));
    }
    let mut protocol = "protocol: limits\nversion: 1\nareas: {code: [\"**\"]}\nroles:\n".to_owned();
    let (mut flow, mut config) = (String::new(), "[roles]\n".to_owned());
    for (at, (role, adapter, (limit, _))) in attempts.iter().enumerate() {
        protocol += &format!("  {role}: {{contract: status-block, writes: [code], sees: full, budget: {{{limit}}}}}\n");
        let next = attempts.get(at + 1).map_or("dropped", |(next, _, _)| next);
        flow += &format!("    - {{id: {role}, dispatch: {role}, on: {{ok: done, exhausted: {next}}}}}\n");
        config += &format!("{role} = \"{adapter}\"\n");
    }
    protocol += "otherwise: {needs_input: hold, failed: hold, malformed: hold, inconclusive: hold}\nflows:\n  main:\n";
    let mut play = play(&format!("{protocol}{flow}"), &config, "exit 9");
    for (adapter, lines) in TURNS {
        let told = lines.iter().map(|line| format!("echo '{line}'\n")).collect::<String>();
        play.world.agent(adapter, &format!("#!/bin/sh\ncat >/dev/null\n{told}sleep 1000\n"));
    }
    let said = run(&mut play, &[]).exits(1);
    for (role, _, (limit, why)) in &attempts {
        let ended = said.err.lines().any(|line| line.contains(&**role) && line.contains(why));
        assert!(ended, "{role} {limit}: {}", said.err);
    }
    assert!(play.workers().is_empty());
    play.holds();
}
