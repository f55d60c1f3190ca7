//! How a run remembers an agent: `claude:PROGRAM model=… minutes=… idle=…s env=A,B -- ARGS`.

use std::fmt;

use tollgate_core::amount::duration_ms;

use super::super::{WorkerError, adapter_of, environment, shell_words};
use super::{Adapter, adapter};

/// An agent as it is configured.
#[derive(Debug, Clone)]
pub struct AgentSpec {
    /// How Tollgate speaks with it.
    pub adapter: &'static Adapter,
    /// Its program and the arguments of the configuration.
    pub words: Vec<String>,
    /// The model; none: the agent's own choice.
    pub model: Option<String>,
    /// How long an attempt may take, in minutes; none: what the role says.
    pub minutes: Option<u64>,
    /// How long it may print nothing; none: as long as it may work.
    pub idle_ms: Option<u64>,
    /// Variables of the environment that it may see besides those it needs; a `*` at the end is any end.
    pub env: Vec<String>,
}

impl AgentSpec {
    /// Reads what [`fmt::Display`] wrote; none when the text names no agent.
    pub fn parse(text: &str) -> Option<Result<Self, WorkerError>> {
        let (name, text) = adapter_of(text)?;
        let adapter = adapter(name)?;
        Some(shell_words::split(text.trim()).and_then(|words| Self::of(adapter, &words, text)))
    }

    fn of(adapter: &'static Adapter, given: &[String], text: &str) -> Result<Self, WorkerError> {
        let wrong = |why| WorkerError::Command { text: text.to_owned(), why };
        let (program, rest) = given.split_first().ok_or_else(|| wrong("it names no program"))?;
        let end = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
        let words = vec![program.clone()];
        let mut spec = Self { adapter, words, model: None, minutes: None, idle_ms: None, env: Vec::new() };
        for setting in &rest[..end] {
            match setting.split_once('=') {
                Some(("model", model)) => spec.model = Some(model.to_owned()),
                Some(("minutes", minutes)) => {
                    spec.minutes = Some(minutes.parse().map_err(|_| wrong("its minutes are no number"))?);
                }
                Some(("idle", idle)) => {
                    spec.idle_ms = Some(duration_ms(idle).ok_or_else(|| wrong("its idle time is no time"))?);
                }
                Some(("env", names)) => spec.env = names.split(',').map(str::to_owned).collect(),
                _ => return Err(wrong("it has an unknown setting")),
            }
        }
        spec.words.extend(rest.iter().skip(end + 1).cloned());
        Ok(spec)
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all: Vec<String> = self.words.iter().take(1).cloned().collect();
        all.extend(self.model.iter().map(|model| format!("model={model}")));
        all.extend(self.minutes.iter().map(|minutes| format!("minutes={minutes}")));
        all.extend(self.idle_ms.iter().map(|ms| format!("idle={}s", ms / 1000)));
        if !self.env.is_empty() {
            all.push(format!("env={}", self.env.join(",")));
        }
        if self.words.len() > 1 {
            all.push("--".to_owned());
            all.extend(self.words.iter().skip(1).cloned());
        }
        write!(f, "{}:{}", self.adapter.name, shell_words::join(&all))
    }
}

/// The variables of the environment that an agent may see; a `*` at the end is any end.
pub fn variables(adapter: &Adapter, own: &[String]) -> Vec<String> {
    let account = adapter.variables.iter().map(|name| (*name).to_owned());
    environment::common().chain(account).chain(own.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_as_it_was_written() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let all = AgentSpec {
            adapter: adapter("claude").unwrap(),
            words: words(&["/opt/my tools/claude", "--max-turns", "3", "--", "model=x"]),
            model: Some("claude-sonnet-4-5".into()),
            minutes: Some(30),
            idle_ms: Some(600_000),
            env: words(&["A", "B_*"]),
        };
        let text = all.to_string();
        assert_eq!(
            text,
            "claude:'/opt/my tools/claude' model=claude-sonnet-4-5 minutes=30 idle=600s env=A,'B_*' -- --max-turns 3 -- model=x"
                .replace("env=A,'B_*'", "'env=A,B_*'")
        );
        let read = AgentSpec::parse(&text).unwrap().unwrap();
        assert_eq!((read.to_string(), read.words, read.env), (text, all.words, all.env));
        let bare =
            AgentSpec { words: words(&["codex"]), model: None, minutes: None, idle_ms: None, env: vec![], ..all };
        assert_eq!(bare.to_string(), "claude:codex");
    }

    #[test]
    fn what_is_no_agent_or_no_setting_is_refused() {
        assert!(AgentSpec::parse("command:x").is_none() && AgentSpec::parse("claude").is_none());
        for text in ["claude:", "claude:x colour=red", "claude:x minutes=soon", "claude:x idle=soon", "claude:x y"] {
            assert_eq!(AgentSpec::parse(text).unwrap().unwrap_err().code().as_str(), "TG0511", "{text}");
        }
    }
}
