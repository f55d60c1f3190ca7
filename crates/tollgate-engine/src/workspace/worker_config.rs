//! The git configuration of a worker: who the person is, and how they like git to show and merge things.
//!
//! The person's own files stay out of sight. They name programs, hosts and helpers that hand out passwords, and some hold a password.

use std::collections::BTreeMap;

use super::{Repository, Workspace, git_settings};
use crate::git::Git;

/// What is taken over: none of these names a program, a host, a file or a secret.
const PLAIN: &str = r"^(user\.(name|email)|init\.defaultbranch|core\.(abbrev|quotepath)|color\.ui|diff\.(algorithm|renames)|merge\.conflictstyle|pull\.(ff|rebase)|push\.default|rerere\.enabled|log\.date)$";

impl Repository {
    /// The text of a configuration for those who work in the checkout itself, whoever owns it: the person had to say so to their own git,
    /// in a file that is out of sight.
    pub fn worker_config(&self) -> String {
        self.git().map(|git| of(&git)).unwrap_or_default() + "[safe]\n\tdirectory = *\n"
    }
}

impl Workspace {
    /// The same for those who work on the repository of a run.
    pub fn worker_config(&self) -> String {
        Git::with_dir(&self.shared.common).map(|git| of(&git)).unwrap_or_default()
    }
}

fn of(git: &Git) -> String {
    written(&git_settings::values(git, PLAIN))
}

fn written(values: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    let plain = values.iter().filter(|(_, value)| !value.contains(char::is_control));
    for (section, name, value) in plain.filter_map(|(key, value)| key.split_once('.').map(|(a, b)| (a, b, value))) {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        text += &format!("[{section}]\n\t{name} = \"{value}\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, git, repository};

    #[test]
    fn a_worker_is_given_names_and_plain_values_and_nothing_else() {
        let root = repository("worker-config", &[("a", "1")]);
        for (name, value) in [
            ("user.name", "Ada \"the\" first \\ only"),
            ("user.email", "ada@example.org"),
            ("pull.rebase", "true"),
            ("http.extraHeader", "Authorization: secret"),
            ("url.https://token@example.org/.insteadOf", "https://example.org/"),
            ("credential.helper", "store"),
            ("core.sshCommand", "ssh -i key"),
            ("include.path", "/etc/hostname"),
            ("alias.x", "!sh"),
        ] {
            git(&root, &["config", name, value]);
        }
        let text = Repository::find(&root).unwrap().worker_config();
        for word in ["extra", "url", "credential", "ssh", "include", "alias"] {
            assert!(!text.to_lowercase().contains(word), "{text}");
        }
        let file = folder("config").join("file");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &text).unwrap();
        let read = |name: &str| git(&root, &["config", "--file", &file.display().to_string(), "--get", name]);
        assert_eq!(read("user.name"), "Ada \"the\" first \\ only");
        assert_eq!((read("user.email").as_str(), read("pull.rebase").as_str()), ("ada@example.org", "true"));
    }
}
