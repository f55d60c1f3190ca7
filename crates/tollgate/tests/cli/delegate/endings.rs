//! Every way in which a delegation ends: the worker's own word, and each reason that is not.

use serde_json::{Value, json};

use super::stage::{Stage, dossier, report, says};

const ROLES: [&str; 4] = ["implementer", "verifier", "repair", "documenter"];

fn with(mut report: Value, key: &str, value: Value) -> Value {
    report[key] = value;
    report
}

#[test]
fn each_role_passes_and_one_fails_and_asks() {
    for role in ROLES {
        let stage = Stage::new(role, &says(&report(role, "PASS")));
        let passed = stage.delegate();
        passed.is("PASS", None, 0);
        assert_eq!(passed.report["adapter"]["exit_code"], 0);
        assert_eq!(passed.report["adapter"]["agent"], "command");
        assert_eq!(passed.report["evidence"], json!(["cargo test: 3 passed"]));
        assert!(passed.err.contains(&format!("PASS: {role} of U-1: It is done.")), "{}", passed.err);
    }
    let stage = Stage::new("verifier", &says(&report("verifier", "FAIL")));
    stage.delegate().is("FAIL", None, 1);
    let asks = with(report("verifier", "BLOCKED"), "blocking_question", json!("Which rounding?"));
    stage.acts(&says(&asks));
    let asked = stage.delegate();
    asked.is("BLOCKED", None, 4).says("Which rounding?");
    assert!(asked.err.contains("BLOCKED: ") && asked.err.contains("Which rounding?"), "{}", asked.err);
    stage.acts(&says(&report("verifier", "BLOCKED")));
    stage.delegate().is("BLOCKED", None, 1);
}

#[test]
fn the_worker_changes_what_it_may_and_that_is_measured() {
    let acts =
        format!("echo '// total' >> src/main.rs; echo '// new' > src/new.rs\n{}", says(&report("implementer", "PASS")));
    let stage = Stage::new("implementer", &acts);
    let done = stage.delegate();
    done.is("PASS", None, 0);
    assert_eq!(done.list("changed_surfaces"), ["src/main.rs", "src/new.rs"], "measured, not claimed");
    assert_eq!(done.list("guard.allowed_surface_violations"), [""; 0]);
    done.says("src/new.rs changed, and the report does not name it");
    assert_eq!(std::fs::read_to_string(stage.work("src/new.rs")).unwrap(), "// new\n");
}

/// What a worker cannot know is not asked of it, and an empty text says that there is nothing to say.
#[test]
fn a_report_may_leave_out_what_is_filled_in_and_say_nothing_where_nothing_is_to_say() {
    let mut bare = report("verifier", "PASS");
    for key in ["adapter", "guard", "reason"] {
        bare.as_object_mut().unwrap().remove(key);
    }
    bare["blocking_question"] = json!("");
    bare["outcome_evaluations"] = json!([{
        "id": "AC-1", "source_requirement": "R-1", "expected_outcome": "The total is printed.",
        "preferred_verification": ["unit_test"], "available_verification": ["unit_test"],
        "evidence_strength": {"strongest_possible": ["unit_test"], "strongest_available": ["unit_test"], "limitation": ""},
        "evidence": ["cargo test: 3 passed"], "invalid_pass_conditions": [], "verdict": "PASS", "limitation": "", "finding": ""
    }]);
    let stage = Stage::new("verifier", &says(&bare));
    let passed = stage.delegate();
    passed.is("PASS", None, 0);
    assert_eq!(passed.report["adapter"]["agent"], "command");
    assert!(passed.report["guard"]["warnings"].is_array() && passed.report["reason"].is_null());
    assert_eq!(passed.list("guard.warnings"), [""; 0]);
    // An empty question is none.
    bare["status"] = json!("BLOCKED");
    bare["outcome_evaluations"] = json!([]);
    stage.acts(&says(&bare));
    stage.delegate().is("BLOCKED", None, 1);
}

/// `- A2: text` is a map in YAML and a line to whoever writes it; as a row of the matrix it has the name A2.
#[test]
fn lines_of_a_dossier_may_begin_with_a_name_and_a_colon() {
    let stage = Stage::new("verifier", &says(&report("verifier", "PASS")));
    let named = "\n- A1: The total is printed.\n- A2: It is right.\n";
    let mut text = String::new();
    for (key, value) in dossier("verifier").as_object().unwrap() {
        match key.as_str() {
            "acceptance_matrix" | "adversarial_checks" | "stop_gates" | "must_read" => {
                text.push_str(&format!("{key}:{named}"));
            }
            _ => text.push_str(&format!("{key}: {value}\n")),
        }
    }
    std::fs::write(stage.world.path("dossier.yaml"), &text).unwrap();
    let words = ["--agent", "command", "--adapter-command", "[\"agent\"]", "--role", "verifier", "--unit", "U-1"];
    let words = [&words[..], &["--dossier", "../dossier.yaml"]].concat();
    let done = stage.type_in(&words);
    done.is("PASS", None, 0);
    done.says("does not judge the rows A1, A2");
}

#[test]
fn what_is_wrong_with_a_dossier_is_named_and_nothing_is_started() {
    let mark = "touch started";
    let bad: [(&str, Value, &str); 6] = [
        ("allowed_surfaces", json!(["."]), "whole repository"),
        ("allowed_surfaces", json!(["../elsewhere"]), "whole repository"),
        ("objective", json!(""), "objective"),
        ("open_questions", json!(["Which rounding?"]), "question"),
        ("work_unit", json!("U-10"), "U-10"),
        ("stop_gates", Value::Null, "stop_gates"),
    ];
    for (key, value, said) in bad {
        let stage = Stage::new("implementer", mark).dossier(key, value.clone());
        stage.delegate().is("BLOCKED", Some("invalid_dossier"), 1).says(said);
        assert!(!stage.work("started").exists(), "{key} {value}");
    }
    let mut other = Stage::new("implementer", mark);
    other.role = "verifier".to_owned();
    other.delegate().is("BLOCKED", Some("invalid_dossier"), 1).says("`worker_role` is `implementer`");
    let stage = Stage::new("implementer", mark).with(&["--allowed-surfaces", "src,**"]);
    stage.delegate().is("BLOCKED", Some("invalid_dossier"), 1).says("with the surfaces of the command line");
    let agent = ["--agent", "command", "--adapter-command", "[\"agent\"]", "--role", "implementer", "--unit", "U-1"];
    let stage = Stage::new("implementer", mark);
    stage.type_in(&agent).is("BLOCKED", Some("invalid_dossier"), 1).says("--dossier FILE");
    let gone = [&agent[..], &["--dossier", "../nowhere.json"]].concat();
    stage.type_in(&gone).is("BLOCKED", Some("invalid_dossier"), 1).says("nowhere.json");
    assert!(!stage.work("started").exists());
}

#[test]
fn a_unit_may_have_words_behind_it_and_a_dossier_may_be_yaml() {
    let stage = Stage::new("implementer", &says(&report("implementer", "PASS")));
    let text =
        serde_json::to_string(&super::stage::dossier("implementer")).unwrap().replace("\"U-1\"", "U-1-show-the-total");
    // Flow style is YAML, and with a comment it is no JSON.
    std::fs::write(stage.world.path("dossier.yaml"), format!("# the work\n{text}\n")).unwrap();
    let words = ["--agent", "command", "--adapter-command", "[\"agent\"]", "--role", "implementer", "--unit", "U-1"];
    stage.type_in(&[&words[..], &["--dossier", "../dossier.yaml"]].concat()).is("PASS", None, 0);
    // The worker may call it as the dossier does.
    stage.acts(&says(&with(report("implementer", "PASS"), "unit_id", json!("U-1-show-the-total"))));
    stage.type_in(&[&words[..], &["--dossier", "../dossier.yaml"]].concat()).is("PASS", None, 0);
    // What its contract only warns of is handed on.
    let repair = Stage::new("repair", &says(&report("repair", "PASS")));
    repair.delegate().is("PASS", None, 0).says("fill feedback_loop");
}

#[test]
fn a_worker_that_is_not_there() {
    let stage = Stage::new("implementer", "");
    let missing = ["--agent", "command", "--adapter-command", "[\"no-such-agent\"]"];
    stage.delegate_to(&missing).is("BLOCKED", Some("adapter_cli_missing"), 3).says("no-such-agent");
    stage.delegate_to(&["--agent", "claude-code"]).is("BLOCKED", Some("adapter_cli_missing"), 3).says("claude");
    let unknown = stage.delegate_to(&["--agent", "nobody"]);
    unknown.is("BLOCKED", Some("worker_agent_unavailable"), 3).says("is not defined");
}

#[test]
fn a_worker_that_comes_down() {
    let stage = Stage::new("implementer", "echo 'a stack trace' >&2; exit 7");
    let down = stage.delegate();
    down.is("BLOCKED", Some("adapter_execution_error"), 3).says("a stack trace");
    assert_eq!(down.report["adapter"]["exit_code"], 7);
    stage.acts("kill -9 $$");
    stage.delegate().is("BLOCKED", Some("adapter_execution_error"), 3);
    stage.acts("echo 'Error: not logged in. Please run /login' >&2; exit 1");
    stage.delegate().is("BLOCKED", Some("adapter_auth_unavailable"), 3).says("Log the agent in");
    stage.acts("echo 'I did all of it.'");
    stage.delegate().is("BLOCKED", Some("invalid_worker_report"), 3).says("I did all of it.");
    stage.acts("");
    stage.delegate().is("BLOCKED", Some("invalid_worker_report"), 3).says("it printed nothing");
    let missing = Stage::new("implementer", "").with(&["--cwd", "../nowhere"]);
    missing.delegate().is("BLOCKED", Some("adapter_execution_error"), 3).says("nowhere");
}

#[test]
fn a_report_that_breaks_a_rule() {
    let pass = || report("implementer", "PASS");
    let row = json!([{
        "id": "AC-1", "source_requirement": "x", "expected_outcome": "y", "preferred_verification": ["unit_test"],
        "available_verification": ["unit_test"], "evidence": ["a test"], "invalid_pass_conditions": ["none was run"],
        "evidence_strength": {"strongest_possible": ["unit_test"], "strongest_available": ["unit_test"]}, "verdict": "FAIL"
    }]);
    let stage = Stage::new("implementer", "");
    for (broken, said) in [
        (with(pass(), "evidence", json!([])), "nothing shows it"),
        (with(pass(), "status", json!("CONDITIONAL_PASS")), "CONDITIONAL_PASS"),
        (with(pass(), "blocking_question", json!("Which?")), "not BLOCKED"),
        (with(pass(), "role", json!("verifier")), "another role"),
        (with(pass(), "outcome_evaluations", row), "a row does not"),
        (with(pass(), "unit_id", json!("U-2")), "U-2"),
        (with(pass(), "unit_id", json!("U-1/../U-2")), "U-1/../U-2"),
        (with(pass(), "unit_id", json!("U-1 x")), "U-1 x"),
        (with(report("implementer", "FAIL"), "findings", json!([])), "what is wrong"),
        (with(pass(), "stdout_excerpt", json!("x")), "stdout_excerpt"),
    ] {
        stage.acts(&says(&broken));
        stage.delegate().is("BLOCKED", Some("report_validation_failed"), 1).says(said);
    }
    stage.acts(&format!("{}exit 3", says(&pass())));
    stage.delegate().is("BLOCKED", Some("report_validation_failed"), 3).says("exited with 3");
    stage.acts(&format!("{}exit 3", says(&report("implementer", "FAIL"))));
    stage.delegate().is("FAIL", None, 1).says("exited with 3");
}

#[test]
fn the_last_report_counts_and_an_echo_is_none() {
    let stage = Stage::new(
        "implementer",
        &format!("{}{}", says(&report("implementer", "FAIL")), says(&report("implementer", "PASS"))),
    );
    stage.delegate().is("PASS", None, 0);
    // The whole prompt, with its template and its schema, before and behind the report.
    stage.acts(&format!(
        "cat > \"$TMPDIR/prompt\"; cat \"$TMPDIR/prompt\"\n{}cat \"$TMPDIR/prompt\"",
        says(&report("implementer", "PASS"))
    ));
    stage.delegate().is("PASS", None, 0);
    stage.acts("cat");
    stage.delegate().is("BLOCKED", Some("invalid_worker_report"), 3);
    stage.acts("cat \"$TOLLGATE_BUNDLE/files/report.schema.json\"");
    stage.delegate().is("BLOCKED", Some("invalid_worker_report"), 3);
    let cut = report("implementer", "PASS").to_string();
    stage.acts(&format!("{}printf '%s' '{}'", says(&report("implementer", "PASS")), &cut[..cut.len() / 2]));
    let cut = stage.delegate();
    assert_eq!(cut.report["status"], "BLOCKED", "a draft before one that is cut off is not used");
}

#[test]
fn a_report_is_in_a_file_and_not_in_another_programs_line() {
    // Whose lines a plain program prints is not known: `adapter` of its worker says it.
    let told = json!({"type": "result", "subtype": "success", "result": report("implementer", "PASS").to_string()});
    let stage = Stage::new("implementer", &says(&told));
    stage.delegate().is("BLOCKED", Some("invalid_worker_report"), 3);
    stage.acts(&format!("echo noise; cat > \"$TOLLGATE_REPORT\" <<'END'\n{}\nEND", report("implementer", "FAIL")));
    stage.delegate().is("FAIL", None, 1);
}

#[test]
fn the_prompt_comes_on_stdin_or_as_the_last_argument() {
    let pass = says(&report("implementer", "PASS"));
    let looks = "case \"$got\" in *'You are the implementer of the work unit `U-1`'*'The program prints the total.'*) ;; *) exit 9;; esac";
    let stage = Stage::new("implementer", &format!("got=$(cat); [ $# = 0 ] || exit 8; {looks}\n{pass}"));
    stage.delegate().is("PASS", None, 0);
    let stage = stage.with(&["--prompt-mode", "arg"]);
    stage.acts(&format!("got=\"$1\"; [ $# = 1 ] && [ -z \"$(cat)\" ] || exit 8; {looks}\n{pass}"));
    stage.delegate().is("PASS", None, 0);
    let long = Stage::new("implementer", &pass)
        .with(&["--prompt-mode", "arg"])
        .dossier("objective", json!("x".repeat(200_000)));
    long.delegate().is("BLOCKED", Some("adapter_execution_error"), 3).says("--prompt-mode stdin");
}

#[test]
fn a_configured_worker_is_known_by_its_name() {
    let stage = Stage::new(
        "implementer",
        &format!(
            "[ \"$1\" = --headless ] && [ \"$SPECIAL\" = yes ] || exit 9\n{}",
            says(&report("implementer", "PASS"))
        ),
    );
    let config = stage.world.path("home/.config/tollgate");
    std::fs::create_dir_all(&config).unwrap();
    let text = "[worker.mine]\nadapter = \"command\"\ncommand = [\"agent\", \"--headless\"]\nenv = [\"SPECIAL\"]\n\
        [worker.actor]\nadapter = \"script\"\ncommand = [\"../actor.yaml\"]\n";
    std::fs::write(config.join("config.toml"), text).unwrap();
    let mut stage = stage;
    stage.world.set("SPECIAL", "yes");
    let done = stage.delegate_to(&["--agent", "mine"]);
    done.is("PASS", None, 0);
    assert_eq!(
        (&done.report["adapter"]["adapter"], &done.report["adapter"]["source"]),
        (&json!("command"), &json!("user"))
    );
    let script = json!({"script": 1, "roles": {"implementer": [{
        "write": {"src/new.rs": "// acted\n"}, "report": report("implementer", "PASS")
    }]}});
    std::fs::write(stage.world.path("actor.yaml"), script.to_string()).unwrap();
    let acted = stage.delegate_to(&["--agent", "actor"]);
    acted.is("PASS", None, 0);
    assert_eq!(acted.list("changed_surfaces"), ["src/new.rs"]);
}

#[test]
fn a_worker_of_the_repository_acts_once_it_is_trusted_and_as_it_was() {
    let stage = Stage::new("implementer", "");
    let script = format!("#!/bin/sh\n{}", says(&report("implementer", "PASS")));
    stage.world.write(".tollgate/agent.sh", script);
    stage
        .world
        .write(".tollgate/config.toml", "[worker.ours]\nadapter = \"command\"\ncommand = [\".tollgate/agent.sh\"]\n");
    std::fs::set_permissions(stage.work(".tollgate/agent.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    stage.world.commit("A worker");
    let ours = ["--agent", "ours"];
    stage.delegate_to(&ours).is("BLOCKED", Some("worker_agent_unavailable"), 3);
    assert!(stage.world.run("trust", "").status.success());
    let done = stage.delegate_to(&ours);
    done.is("PASS", None, 0);
    assert_eq!(done.report["adapter"]["source"], "repository");
    // What lies in the checkout now is not what was trusted.
    stage.world.write(".tollgate/agent.sh", "#!/bin/sh\ntouch forged\n");
    stage.with(&["--allow-dirty"]).delegate_to(&ours).is("PASS", None, 0);
}

#[test]
fn the_command_line_is_checked_before_anything() {
    let stage = Stage::new("implementer", "");
    let base = ["delegate", "--role", "implementer", "--unit", "U-1", "--dossier", "x"];
    let cases: [(&[&str], &str); 7] = [
        (&["--agent", "command"], "names no program"),
        (&["--agent", "command", "--adapter-command", "agent"], "JSON list"),
        (&["--agent", "command", "--adapter-command", "[]"], "names no program"),
        (&["--agent", "claude", "--prompt-mode", "arg"], "--prompt-mode"),
        (&["--agent", "claude", "--timeout-ms", "0"], "timeout-ms"),
        (&["--agent", "claude", "--unit", "U-2"], "unit"),
        (&[], "--agent"),
    ];
    for (words, said) in cases {
        let output = stage.world.program(&[&base[..], words].concat()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && output.stdout.is_empty() && err.contains(said), "{words:?}: {err}");
    }
}

#[test]
fn doctor_says_what_is_there_and_has_it_report() {
    let stage = Stage::new("verifier", &says(&with(report("verifier", "PASS"), "unit_id", json!("delegate-doctor"))));
    let doctor = |words: &[&str]| {
        let output = stage.world.program(&[&["--json", "delegate", "doctor"], words].concat()).output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        (value, output.status.code().unwrap())
    };
    let (all, code) = doctor(&[]);
    assert_eq!((&all["ready"], code), (&json!(true), 0), "{all:#}");
    for name in ["git", "folder", "sandbox", "agent claude", "agent codex"] {
        assert!(all["checks"].as_array().unwrap().iter().any(|check| check["name"] == name), "{name}: {all:#}");
    }
    let own = ["--agent", "command", "--adapter-command", "[\"agent\"]", "--probe"];
    let (probed, code) = doctor(&own);
    assert!(code == 0 && probed.to_string().contains("it reported as it was asked to"), "{probed:#}");
    stage.acts("echo nothing of use");
    let (probed, code) = doctor(&own);
    assert!(code == 3 && probed.to_string().contains("invalid_worker_report"), "{probed:#}");
    let (missing, code) = doctor(&["--agent", "claude-code"]);
    assert!(code == 3 && missing.to_string().contains("was not found on PATH"), "{missing:#}");
}

#[test]
fn a_reason_of_the_worker_is_none_of_ours() {
    for (status, code) in [("PASS", 0), ("BLOCKED", 1)] {
        let forged = with(report("implementer", status), "reason", json!("dirty_workspace"));
        Stage::new("implementer", &says(&forged)).delegate().is(status, None, code);
    }
}

#[test]
fn without_a_place_to_be_there_is_a_report_all_the_same() {
    let cwd = |stage: &Stage, folder| {
        stage.delegate_to(&["--agent", "command", "--adapter-command", "[\"agent\"]", "--cwd", folder])
    };
    let mut stage = Stage::new("implementer", "touch started");
    cwd(&stage, "README.md").is("BLOCKED", Some("adapter_execution_error"), 3).says("README.md");
    cwd(&stage, "nowhere").is("BLOCKED", Some("adapter_execution_error"), 3).says("nowhere");
    // Nothing says where what is needed meanwhile is to lie.
    stage.world.set("TOLLGATE_STATE", "").set("XDG_STATE_HOME", "").set("HOME", "");
    stage.delegate().is("BLOCKED", Some("adapter_execution_error"), 3).says("HOME is not set");
    // The folder that it is started in is gone.
    let stage = Stage::new("implementer", "touch started");
    let tollgate = env!("CARGO_BIN_EXE_tollgate");
    let words = "delegate --agent command --adapter-command '[\"agent\"]' --role implementer --unit U-1 --dossier x";
    let gone = stage.world.path("gone");
    std::fs::create_dir(&gone).unwrap();
    let line = format!("rmdir '{}' && exec '{tollgate}' {words}", gone.display());
    let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(&gone).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&said["reason"], output.status.code()), (&json!("adapter_execution_error"), Some(3)), "{said:#}");
    assert!(said["summary"].as_str().unwrap().contains("the working directory cannot be read"), "{said:#}");
    assert!(!stage.work("started").exists());
}
