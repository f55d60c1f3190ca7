//! `explain`, `completions`, help, and command lines that are wrong.

use crate::world::{TOLLGATE, World};

#[test]
fn a_code_is_explained_however_it_is_typed() {
    let mut world = World::new();
    world
        .type_in("explain TG0600")
        .type_in("explain tg600 --json")
        .type_in("explain 9999")
        .type_in("explain nonsense --json");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn every_code_is_listed_and_has_a_page() {
    let world = World::new();
    let (codes, exit) = world.json("explain --json");
    assert_eq!(exit, 0);
    assert!(codes.len() > 10);
    for code in codes {
        let (name, title, page) =
            (code["code"].as_str().unwrap(), code["title"].as_str().unwrap(), code["page"].as_str().unwrap());
        assert!(page.starts_with(&format!("# {name}: {title}\n")), "{page}");
    }
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let mut world = World::new();
    world
        .type_in("")
        .type_in("expain")
        .type_in("explain a b")
        .type_in("protocol --json")
        .type_in("trust --list --remove");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn help_is_the_doc_comment() {
    let mut world = World::new();
    world.type_in("--version").type_in("--help").type_in("trust --help");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn completions_know_the_commands() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = world.run(&format!("completions {shell}"), "");
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains("explain"), "{shell}");
    }
}

/// A reader that goes away early (`| head`) is no error.
#[test]
fn a_closed_pipe_is_quiet() {
    let world = World::new();
    let script = format!("{TOLLGATE} explain | true; echo ${{PIPESTATUS[0]}}");
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .env("TOLLGATE_STATE", world.path("state"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
