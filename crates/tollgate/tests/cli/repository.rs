//! `init`, `trust` and `doctor`.

use crate::world::World;

const CONFIG: &str = "[worker.mine]\nadapter = 'command'\ncommand = ['agent', '--print']\n[roles]\ndeveloper = 'mine'\n[areas.build-plan]\ninfra = ['deploy/**']\n";

#[test]
fn init_writes_a_configuration_once() {
    let mut world = World::with_repository();
    world.type_in("init").type_in("init").type_in("init --json");
    assert!(std::fs::read_to_string(world.path("work/.tollgate/config.toml")).unwrap().contains("[roles]"));
    insta::assert_snapshot!(world.transcript);
}

/// What a link leads to is not the repository's, and git would commit the link alone.
#[test]
fn init_writes_through_no_link() {
    let mut world = World::with_repository();
    std::fs::create_dir(world.path("elsewhere")).unwrap();
    let (folder, file) = (world.path("work/.tollgate"), world.path("work/.tollgate/config.toml"));
    for target in ["../elsewhere", "../nowhere"] {
        std::os::unix::fs::symlink(target, &folder).unwrap();
        world.type_in("init");
        std::fs::remove_file(&folder).unwrap();
    }
    world.write(".tollgate", "");
    world.type_in("init");
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink("../../elsewhere/config.toml", &file).unwrap();
    world.type_in("init");
    assert_eq!(std::fs::read_dir(world.path("elsewhere")).unwrap().count(), 0);
    assert!(!world.path("nowhere").exists());
    std::fs::remove_file(&file).unwrap();
    // Other files there may be what they like.
    std::os::unix::fs::symlink("/etc/hostname", folder.join("note")).unwrap();
    world.type_in("init");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn outside_a_repository_there_is_nothing_to_configure() {
    let mut world = World::new();
    world.type_in("init").type_in("trust").type_in("doctor");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn trust_is_given_to_the_content_of_a_commit() {
    let mut world = World::with_repository();
    world.type_in("trust");
    world.write(".tollgate/config.toml", CONFIG);
    world.type_in("trust");
    world.commit("Configure");
    world.type_in("doctor").type_in("trust").type_in("doctor");
    world.write(".tollgate/config.toml", "# changed\n");
    world.type_in("trust").type_in("trust --list --json").type_in("doctor");
    world.commit("Change");
    world.type_in("doctor").type_in("trust --remove").type_in("trust --remove").type_in("trust --list");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_worker_cannot_trust() {
    let mut world = World::with_repository();
    world.set("TOLLGATE_ATTEMPT", "att_7").type_in("trust");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_folder_with_links_is_refused() {
    let mut world = World::with_repository();
    std::fs::create_dir(world.path("work/.tollgate")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.path("work/.tollgate/config.toml")).unwrap();
    world.commit("Link");
    world.type_in("trust").type_in("protocol list");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn doctor_shows_where_files_fall() {
    let mut world = World::with_repository();
    world.write(".tollgate/config.toml", CONFIG);
    world.commit("Configure");
    assert!(world.run("trust", "").status.success());
    world.set("TOLLGATE_WORKER_REVIEWER", "command:no-such-program --x");
    let (values, exit) = world.json("doctor build-plan --json");
    assert_eq!(exit, 3, "a worker that is not there is a problem");
    let areas = values[0]["areas"].as_array().unwrap();
    let infra = areas.iter().find(|area| area["area"] == "infra").unwrap();
    assert_eq!((infra["origin"].as_str(), infra["files"].as_u64()), (Some("repository"), Some(0)));
    let tests = areas.iter().find(|area| area["area"] == "tests").unwrap();
    assert_eq!((tests["origin"].as_str(), tests["files"].as_u64()), (Some("protocol"), Some(1)));
    world.type_in("doctor build-plan").type_in("doctor bild-plan");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_bad_configuration_is_shown_with_its_place() {
    let mut world = World::with_repository();
    world.write("../home/.config/tollgate/config.toml", "[rols]\ndeveloper = 'x'\n");
    world.write(".tollgate/config.toml", "[roles]\ndeveloper = \n");
    world.type_in("doctor");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_configuration_that_names_what_no_protocol_has_is_not_called_valid() {
    let mut world = World::with_repository();
    world.write(".tollgate/config.toml", "[areas.build-plan]\ntest = ['spec/**']\n");
    world.write("../home/.config/tollgate/config.toml", "[areas.other]\ncode = ['**']\n[roles]\nwritr = 'x'\n");
    world.type_in("doctor");
    insta::assert_snapshot!(world.transcript);
}
