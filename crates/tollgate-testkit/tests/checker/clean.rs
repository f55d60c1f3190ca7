//! The shipped protocols are read and checked without a diagnostic.

use tollgate_core::{protocol, scope};

use super::shipped::{SHIPPED, dialects, text};

#[test]
fn every_protocol_is_clean() {
    for name in SHIPPED {
        let (protocol, read) = protocol::read(text(name));
        let protocol = protocol.unwrap_or_else(|| panic!("{name}: {read:#?}"));
        assert!(read.is_empty(), "{name}: {read:#?}");
        assert_eq!(&*protocol.name, name);
        let found = protocol::check(&protocol, dialects());
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

/// A route past the sides would succeed without a developer and a reviewer: no unit exists that the closing gate could miss.
#[test]
fn build_plan_without_its_sides_is_refused() {
    let shipped = text("build-plan");
    let around = shipped.replacen("on: {ok: sides, skipped: sides}", "on: {ok: whole, skipped: sides}", 1);
    assert_ne!(around, shipped);
    let found = protocol::check(&protocol::read(&around).0.unwrap(), dialects());
    let line = |part: &str| 1 + around.lines().position(|line| line.contains(part)).unwrap();
    let ends: Vec<usize> = found.iter().map(|breach| breach.place.line as usize).collect();
    // Also where a person waives what the closing check cannot observe, and where one accepts what it found.
    let accepted = "on: {accept: {to: done, ensures: [closing]}";
    assert_eq!(ends, [line("on: {waive: {to: as accept"), line("on: {pass: done, fail: {to: sides"), line(accepted)]);
    assert_eq!(
        found[1].message,
        "the stage `close` ends the run on `pass` without entering `sides`, and the mandatory gate `closing` then holds over no unit \
         (when infra is needed): sign-off → devops → whole → joined → test → close → done"
    );
    assert!(found.iter().all(|breach| breach.code.as_str() == "TG0140"), "{found:#?}");
}

/// Whoever sets up containers and builds may write what such files are usually called, wherever they are.
#[test]
fn build_plan_knows_what_is_infrastructure() {
    let areas = protocol::read(text("build-plan")).0.unwrap().areas;
    let expected = [
        ("infra", "docker/nginx.conf Dockerfile Dockerfile.dev api/Dockerfile api/Dockerfile.prod .dockerignore"),
        ("infra", "docker-compose.yml docker-compose.yaml docker-compose.override.yml ops/docker-compose-dev.yaml"),
        (
            "infra",
            "compose.yml compose.yaml compose.override.yaml ops/compose.yml dev.compose.yml ops/dev.compose.yaml",
        ),
        ("infra", "Makefile api/Makefile"),
        (
            "code",
            "src/DockerfileParser.java src/compose.rs composer.yml src/docker-compose.md src/makefile.rs docs/docker.md",
        ),
        ("tests", "tests/docker-compose.yml e2e/Dockerfile"),
    ];
    for (area, paths) in expected {
        for path in paths.split(' ') {
            assert_eq!(scope::area_of(&areas, path).map(|area| &**area), Some(area), "{path}");
        }
    }
}
