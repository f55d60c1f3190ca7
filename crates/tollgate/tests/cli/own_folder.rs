//! What an agent writes into its own folders of the home folder: nobody else reads it, and its login is kept.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tollgate_core::run::Event;
use tollgate_core::run::sandbox_record::AgentFolders;

use crate::budget::{NOTHING, done};
use crate::play::{Play, TASK};

/// Whether this machine keeps an agent from its folders; where it cannot, that is said, and under CI it is a failure.
fn holds(play: &Play) -> bool {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tollgate"));
    let missing = tollgate_engine::sandbox::probe(program, &play.world.path("state")).layers;
    assert!(missing.is_none() || std::env::var_os("CI").is_none(), "{missing:?}: nothing is skipped under CI");
    if let Some(why) = &missing {
        println!("SKIPPED: the folders of an agent cannot be held here: {why}");
    }
    missing.is_none()
}

const PROTOCOL: &str = "\
protocol: pair
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
  reader: {contract: status-block, writes: none, sees: full}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: read, malformed: {to: again, limit: 1, then: hold}}}
    - {id: read, dispatch: reader, on: {ok: done, malformed: hold}}
";

/// A home folder with what an agent has there, and a program that acts as this one in it.
fn play(agent: &str, acts: &str) -> Play {
    let play = Play::new(TASK, "");
    std::fs::write(play.world.path("pair.yaml"), PROTOCOL).unwrap();
    for (path, text) in [
        ("home/.claude/settings.json", "{\"mine\":1}\n"),
        ("home/.claude/agents/helper.md", "mine\n"),
        ("home/.claude.json", "{\"mcpServers\":{}}\n"),
        ("home/.config/tollgate/config.toml", &format!("[roles]\n\"*\" = \"{agent}\"\n")),
    ] {
        let path = play.world.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    play.world.agent(
        agent,
        &format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 2.1.325; exit 0; fi\ncat > \"$TMPDIR/brief\"\n{acts}\n"
        ),
    );
    play
}

const BEGINS: &str = r#"echo '{"type":"system","subtype":"init","session_id":"s-'"$TOLLGATE_ROLE"'","model":"m","claude_code_version":"2.1.325"}'"#;

fn home(play: &Play, path: &str) -> String {
    std::fs::read_to_string(play.world.path("home").join(path)).unwrap_or_default()
}

/// What held the agents of a run, one attempt after the other, and what was noticed of them.
fn reported(play: &Play) -> Vec<(AgentFolders, String)> {
    let reported = |event: tollgate_core::run::Recorded| match event.event {
        Event::AttemptReported(reported) => Some((reported.leash.unwrap().agent_folders, reported.noticed.join("\n"))),
        _ => None,
    };
    play.events().into_iter().filter_map(reported).collect()
}

/// A worker leaves hooks, instructions and a server; neither the judge of the same run nor the person's next session meets them.
#[test]
fn what_a_worker_writes_into_its_folder_is_seen_by_no_judge_and_stays_nowhere() {
    let acts = format!(
        r#"{BEGINS}
case $TOLLGATE_ROLE in
maker)
    echo "LEFT $(cat ~/.claude/memory 2>/dev/null)-"
    echo "{{\"hooks\":1}}" > ~/.claude/settings.json; echo obey > ~/.claude/CLAUDE.md; rm -r ~/.claude/agents
    echo "{{\"mcpServers\":{{\"evil\":1}}}}" > ~/.claude.json; echo remembered > ~/.claude/memory
    case "$*" in *--resume*) {} ;; *) {} ;; esac ;;
reader)
    echo "SEEN $(cat ~/.claude/settings.json ~/.claude.json ~/.claude/agents/helper.md | tr '\n' ' ')$(ls ~/.claude | tr '\n' ' ')-"
    {} ;;
esac"#,
        done(NOTHING),
        done("I am done."),
        done(NOTHING)
    );
    let mut play = play("claude", &acts);
    if !holds(&play) {
        return;
    }
    let said = play.tollgate(&["run", "../pair.yaml"]).exits(4);
    play.named_by(&said);
    play.holds();
    assert!(play.log("maker", 1).contains("LEFT -"), "{}", play.log("maker", 1));
    assert!(play.log("maker", 2).contains("LEFT remembered-"), "it goes on in its session: {}", play.log("maker", 2));
    let seen = "SEEN {\"mine\":1} {\"mcpServers\":{}} mine agents settings.json -";
    assert!(play.log("reader", 1).contains(seen), "{}", play.log("reader", 1));
    let kept =
        [home(&play, ".claude/settings.json"), home(&play, ".claude.json"), home(&play, ".claude/agents/helper.md")];
    assert_eq!(kept, ["{\"mine\":1}\n", "{\"mcpServers\":{}}\n", "mine\n"]);
    assert!(!play.world.path("home/.claude/CLAUDE.md").exists() && !play.world.path("home/.claude/memory").exists());
    let written = "written in its own folder, gone with the run: ~/.claude.json, ~/.claude/agents (removed), \
                   ~/.claude/settings.json, ~/.claude/CLAUDE.md, ~/.claude/memory";
    let all = reported(&play);
    assert_eq!(all[0], (AgentFolders::Held, written.to_owned()));
    assert_eq!(all[2], (AgentFolders::Held, String::new()), "the judge wrote nothing");
    let lines = format!("{}{}", said.out, said.err);
    assert!(lines.contains("~/.claude/CLAUDE.md") && !lines.contains("not held"), "{lines}");
    // With the run its layers go.
    let layers = play.world.path(&format!("state/runs/{}/agents", play.run));
    assert!(layers.exists());
    play.decide(&["dec_1", "accept"]).exits(0);
    play.tollgate(&["gc"]).exits(0);
    assert!(!layers.exists(), "{}", layers.display());
}

/// Where nothing can hold the folder, it is written as ever, and the run says so, before and after.
#[test]
fn a_folder_that_is_not_held_is_named() {
    let acts = format!("{BEGINS}\necho obey > ~/.claude/CLAUDE.md; {}", done(NOTHING));
    for (name, value) in [("TOLLGATE_SANDBOX_WITHOUT", "layers"), ("", "")] {
        let mut play = play("claude", &acts);
        if name.is_empty() {
            let config = "[worker.w]\nadapter = \"claude\"\nwrites = [\"~/.claude/\"]\n[roles]\n\"*\" = \"w\"\n";
            std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
        } else {
            play.world.set(name, value);
        }
        if !crate::leash::holds() {
            return;
        }
        let said = play.tollgate(&["run", "../pair.yaml"]).exits(4);
        play.named_by(&said);
        let lines = format!("{}{}", said.out, said.err);
        assert!(lines.contains("agent's folder not held for maker and reader"), "{lines}");
        let shown = play.tollgate(&["show", "RUN"]).out;
        assert!(shown.contains("agent's folder not held for maker and reader"), "{shown}");
        assert_eq!(home(&play, ".claude/CLAUDE.md"), "obey\n");
        assert_eq!(reported(&play)[0], (AgentFolders::Open, String::new()));
        play.holds();
    }
}

/// Gives out a new token for each that it gave out last, and refuses every other.
fn token_service(valid: &str) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, mut valid) = (Arc::clone(&asked), valid.to_owned());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut token = String::new();
            BufReader::new(stream.try_clone().unwrap()).read_line(&mut token).unwrap();
            let nth = count.fetch_add(1, Ordering::SeqCst) + 1;
            let answer = if token.trim() == valid { format!("new-{nth}") } else { "refused".to_owned() };
            if answer != "refused" {
                valid.clone_from(&answer);
            }
            // Long enough for another one to ask with the same token.
            std::thread::sleep(std::time::Duration::from_millis(500));
            writeln!(stream, "{answer}").unwrap();
        }
    });
    (port, asked)
}

/// Renews its login as Claude Code does: under a lock, from what it reads there again, by a rename, emptied where that is refused.
fn renews(port: u16) -> String {
    format!(
        r#"{BEGINS}
python3 - <<'END'
import json, os, socket, time
folder = os.environ.get("CLAUDE_SECURESTORAGE_CONFIG_DIR") or os.path.expanduser("~/.claude")
path, lock = folder + "/.credentials.json", folder + "/.oauth_refresh.lock"
while True:
    try:
        os.mkdir(lock)
        break
    except FileExistsError:
        time.sleep(0.05)
login = json.load(open(path))
if login["claudeAiOauth"]["expiresAt"] == 0:
    with socket.create_connection(("127.0.0.1", {port})) as s:
        s.sendall((login["claudeAiOauth"]["refreshToken"] + "\n").encode())
        token = s.makefile().readline().strip()
    login["claudeAiOauth"] = {{"refreshToken": "" if token == "refused" else token, "expiresAt": 1}}
    with open(path + ".new", "w") as f:
        json.dump(login, f)
    os.rename(path + ".new", path)
os.rmdir(lock)
print("TOKEN " + json.load(open(path))["claudeAiOauth"]["refreshToken"] + "-")
END
"#
    )
}

fn login(token: &str, expires: u32) -> String {
    format!("{{\"claudeAiOauth\": {{\"refreshToken\": \"{token}\", \"expiresAt\": {expires}}}}}")
}

/// Two attempts of two runs meet an expired login at the same moment: one of them renews it, the other reads that, and the person has it.
#[test]
fn attempts_that_renew_a_login_at_once_renew_it_once_and_the_person_has_it() {
    let (port, asked) = token_service("first");
    let acts = format!("{}\n{}", renews(port), done(NOTHING));
    let mut play = play("claude", &acts);
    if !holds(&play) {
        return;
    }
    std::fs::write(play.world.path("home/.claude/.credentials.json"), login("first", 0)).unwrap();
    let drivers = [(); 2].map(|()| play.program(&["run", "../pair.yaml", "--no-wait"]));
    for driver in drivers {
        let said = crate::play::Said::of(driver.wait_with_output().unwrap()).exits(4);
        play.run.clear();
        play.named_by(&said);
        assert!(play.log("maker", 1).contains("TOKEN new-1-"), "{}", play.log("maker", 1));
        play.holds();
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(home(&play, ".claude/.credentials.json"), login("new-1", 1));
    let left: Vec<PathBuf> =
        std::fs::read_dir(play.world.path("home/.claude")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!left.iter().any(|path| path.to_string_lossy().contains("lock")), "{left:?}");
}

/// A login that is refused, or that a worker made up, is not the person's; and what the person has counts.
#[test]
fn a_login_that_lost_something_or_was_none_is_not_handed_back() {
    let (port, _) = token_service("another");
    let mut play = play("claude", &format!("{}\n{}", renews(port), done(NOTHING)));
    if !holds(&play) {
        return;
    }
    let file = play.world.path("home/.claude/.credentials.json");
    std::fs::write(&file, login("first", 0)).unwrap();
    let said = play.tollgate(&["run", "../pair.yaml"]).exits(4);
    play.named_by(&said);
    assert!(play.log("maker", 1).contains("TOKEN -") && play.log("reader", 1).contains("TOKEN -"));
    assert_eq!(home(&play, ".claude/.credentials.json"), login("first", 0));
    // The person logs in again.
    std::fs::write(&file, login("another", 0)).unwrap();
    play.tollgate(&["run", "../pair.yaml"]).exits(4);
    assert!(
        home(&play, ".claude/.credentials.json").contains("\"new-"),
        "{}",
        home(&play, ".claude/.credentials.json")
    );
    // And out.
    std::fs::remove_file(&file).unwrap();
    let plants = "echo '{\"claudeAiOauth\":{\"refreshToken\":\"planted\"}}' > $CLAUDE_SECURESTORAGE_CONFIG_DIR/.credentials.json";
    let acts = format!("#!/bin/sh\ncat > /dev/null\n{BEGINS}\n{plants}\n{}\n", done(NOTHING));
    play.world.agent("claude", &acts);
    play.tollgate(&["run", "../pair.yaml"]).exits(4);
    assert!(!file.exists());
}

/// What a worker leaves in the folder of the login stops nobody after it, and no judge finds it. The person's login is a link.
#[test]
fn what_a_worker_leaves_beside_the_login_is_gone_with_the_next_attempt() {
    let acts = format!(
        r#"{BEGINS}
S=$CLAUDE_SECURESTORAGE_CONFIG_DIR
echo "FOUND $(ls -A $S | tr '\n' ' ')$(cat $S/.credentials.json)-"
rm $S/.credentials.json; mkdir -p $S/.credentials.json/a $S/hooks; echo obey > $S/CLAUDE.md; chmod 0 $S
{}"#,
        done(NOTHING)
    );
    let mut play = play("claude", &acts);
    if !holds(&play) {
        return;
    }
    std::fs::create_dir(play.world.path("home/.claude/accounts")).unwrap();
    std::fs::write(play.world.path("home/.claude/accounts/work.json"), login("first", 1)).unwrap();
    std::os::unix::fs::symlink("accounts/work.json", play.world.path("home/.claude/.credentials.json")).unwrap();
    let said = play.tollgate(&["run", "../pair.yaml"]).exits(4);
    play.named_by(&said);
    let found = format!("FOUND .credentials.json {}-", login("first", 1));
    for role in ["maker", "reader"] {
        assert!(play.log(role, 1).contains(&found), "{}", play.log(role, 1));
    }
    assert_eq!(home(&play, ".claude/accounts/work.json"), login("first", 1));
    play.holds();
}

/// Codex writes its login in place: through the layer, while the rest of its folder stays as it was.
#[test]
fn a_login_that_is_written_in_place_is_written_through_the_layer() {
    let acts = format!(
        r#"echo '{{"type":"thread.started","thread_id":"t-1"}}'
echo new > ~/.codex/auth.json; chmod 4777 ~/.codex/auth.json; echo 'hook' > ~/.codex/config.toml; echo x > "$CODEX_SQLITE_HOME/state.sqlite"
echo '{{"type":"item.completed","item":{{"type":"agent_message","text":"{NOTHING}"}}}}'
echo '{{"type":"turn.completed","usage":{{}}}}'"#
    );
    let mut play = play("codex", &acts);
    if !holds(&play) {
        return;
    }
    std::fs::create_dir(play.world.path("home/.codex")).unwrap();
    for (name, text) in [("auth.json", "old\n"), ("config.toml", "mine\n")] {
        std::fs::write(play.world.path("home/.codex").join(name), text).unwrap();
    }
    let mode = || std::fs::metadata(play.world.path("home/.codex/auth.json")).unwrap().permissions().mode() & 0o7777;
    let before = mode();
    let said = play.tollgate(&["run", "../pair.yaml"]);
    assert_eq!(mode(), before, "nobody else may read it now");
    play.named_by(&said);
    assert_eq!((home(&play, ".codex/auth.json"), home(&play, ".codex/config.toml")), ("new\n".into(), "mine\n".into()));
    assert_eq!(reported(&play)[0].1, "written in its own folder, gone with the run: ~/.codex/config.toml");
    said.exits(4);
}
