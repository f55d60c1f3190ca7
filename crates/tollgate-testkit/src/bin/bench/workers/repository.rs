//! A repository of so many files, and a state directory for the runs in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::program::time_ms;
use crate::world::Folder;

/// How large a repository is, and how often something is done in it.
pub struct Size {
    pub files: usize,
    pub rounds: usize,
}

/// Where something is measured.
pub struct World {
    pub repository: PathBuf,
    pub state: PathBuf,
    /// Where what is compared with lies.
    pub beside: PathBuf,
    pub rounds: usize,
}

/// Measures in a repository that goes afterwards.
pub fn with<T>(dir: &Path, size: &Size, measure: impl FnOnce(&World) -> Outcome<T>) -> Outcome<T> {
    eprintln!("  {} files", size.files);
    let folder = Folder::new(dir, &size.files.to_string())?;
    let of = |name: &str| folder.path().join(name);
    let world = World { repository: of("repository"), state: of("state"), beside: of("beside"), rounds: size.rounds };
    std::fs::create_dir_all(&world.beside)?;
    fill(&world.repository, size.files)?;
    world.git(&["init", "--quiet", "--initial-branch=main"])?;
    world.git(&["add", "--all"])?;
    world.git(&["commit", "--quiet", "--message=Everything"])?;
    // As a clone would have it, and not a file for each object.
    world.git(&["gc", "--quiet"])?;
    measure(&world)
}

/// Folders of 100 files, ten in each folder above, as trees of this size have them.
fn fill(repository: &Path, files: usize) -> Outcome {
    for folder in 0..files / 100 {
        let path = repository.join(format!("src/part{:03}/section{:02}", folder / 10, folder % 10));
        std::fs::create_dir_all(&path)?;
        for file in 0..100 {
            let text = format!("file {file} of {folder}: what it says is its own\n").repeat(20 + file % 40);
            std::fs::write(path.join(format!("file{file:02}.txt")), text)?;
        }
    }
    std::fs::write(repository.join(".gitignore"), "target/\n*.log\n")?;
    Ok(())
}

impl World {
    /// Git in the repository, as a person types it; how long it took.
    pub fn git(&self, args: &[&str]) -> Outcome<f64> {
        git(&self.repository, args)
    }
}

/// Git in a folder, as a person types it; how many milliseconds it took.
pub fn git(folder: &Path, args: &[&str]) -> Outcome<f64> {
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid", "-c", "commit.gpgsign=false"];
    // A commit would begin to pack in the background, in the way of the figures and of whoever packs next.
    let alone = ["-c", "gc.auto=0", "-c", "maintenance.auto=false"];
    time_ms(Command::new("git").arg("-C").arg(folder).args(author).args(alone).args(args))
}
