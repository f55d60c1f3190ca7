//! Asks a program for its version.

use std::path::Path;
use std::time::Duration;

use super::Adapter;
use super::spec::variables;
use crate::process::{Environment, Inherit, Program, Tail, run};

/// How long a program may take to say its version: some load a runtime first.
const LIMIT: Duration = Duration::from_secs(30);
const BYTES_MAX: usize = 4096;
const CHARS_MAX: usize = 100;

/// The version that an agent's program says it has; none where it does not say one.
pub fn version(adapter: &Adapter, program: &Path, folder: &Path) -> Option<String> {
    let out = Tail::new(BYTES_MAX);
    let asked = Program {
        path: program.to_owned(),
        args: vec!["--version".into()],
        cwd: folder.to_owned(),
        env: Environment { inherit: Inherit::Only(variables(adapter, &[])), ..Environment::default() },
        stdin: Vec::new(),
        limit: LIMIT,
    };
    let end = run(asked, out.clone(), Tail::new(BYTES_MAX)).ok()?;
    let text = String::from_utf8_lossy(&out.take().0).into_owned();
    let line = text.lines().map(str::trim).find(|line| line.bytes().any(|byte| byte.is_ascii_digit()))?;
    end.success().then(|| line.chars().take(CHARS_MAX).collect())
}
