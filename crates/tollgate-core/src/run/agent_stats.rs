//! What an agent told of itself in one attempt. It decides nothing: what an attempt is worth is measured and judged.
//!
//! What an agent did not tell is unknown, which is never the same as zero, also not in a sum.

use serde::{Deserialize, Serialize};

use crate::Name;

/// What an agent told in one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentStats {
    /// The adapter that read it.
    pub adapter: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Name>,
    /// Whether its own guard was on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guarded>,
    /// The session by which it can be asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Name>,
    /// What this attempt used.
    #[serde(default)]
    pub usage: Usage,
    /// How often its model answered, where its lines tell one answer from the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// The usage in the agent's own words, JSON as a text: some count a session, some a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// What its own guard did not let it do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// What went wrong between it and its model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Quota>,
}

/// How an agent's own guard was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Guarded {
    /// As its adapter sets it where no sandbox holds.
    Own,
    /// Off, because the sandbox held.
    Off,
    /// As its configuration says.
    Configured,
}

/// Tokens and money; none is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Everything that was read, from a cache or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// The part of it that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Everything that was written, thoughts included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Billionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_nano_usd: Option<u64>,
}

impl Usage {
    /// Both together; what only one of them tells is unknown.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both = |one: Option<u64>, other: Option<u64>| one?.checked_add(other?);
        Self {
            input_tokens: both(self.input_tokens, other.input_tokens),
            cached_tokens: both(self.cached_tokens, other.cached_tokens),
            output_tokens: both(self.output_tokens, other.output_tokens),
            cost_nano_usd: both(self.cost_nano_usd, other.cost_nano_usd),
        }
    }

    /// Everything that was read and written; what only one side tells is known in part.
    pub fn tokens(&self) -> Sum {
        let both: Sum = [self.input_tokens, self.output_tokens].into_iter().collect();
        Sum { unknown: both.unknown.min(1), ..both }
    }
}

/// A limit of the agent's plan or provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// What was said of it.
    pub said: String,
    /// When it ends, if that was said as a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_ms: Option<u64>,
}

/// A sum of what may be unknown: what is known, and how many did not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sum {
    pub known: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl FromIterator<Option<u64>> for Sum {
    fn from_iter<I: IntoIterator<Item = Option<u64>>>(values: I) -> Self {
        values.into_iter().fold(Self::default(), |sum, value| match value {
            Some(known) => sum.and(Self { known, unknown: 0 }),
            None => sum.and(Self { known: 0, unknown: 1 }),
        })
    }
}

impl Sum {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        let (known, unknown) = (self.known.saturating_add(other.known), self.unknown.saturating_add(other.unknown));
        Self { known, unknown }
    }

    /// The sum, if everybody said.
    pub fn whole(self) -> Option<u64> {
        (self.unknown == 0).then_some(self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_with_something_unknown_in_it_is_not_whole() {
        let sum = |values: &[Option<u64>]| values.iter().copied().collect::<Sum>();
        assert_eq!(sum(&[Some(1), Some(2)]).whole(), Some(3));
        assert_eq!(sum(&[Some(1), None, Some(2), None]), Sum { known: 3, unknown: 2 });
        assert_eq!(sum(&[Some(1), None]).whole(), None);
        assert_eq!(sum(&[Some(0)]).whole(), Some(0));
        assert_eq!(sum(&[Some(u64::MAX), Some(1)]).whole(), Some(u64::MAX));
    }

    #[test]
    fn what_was_not_told_is_not_written() {
        let told = AgentStats { adapter: "codex".into(), ..AgentStats::default() };
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(text, r#"{"adapter":"codex","usage":{}}"#);
        assert_eq!(serde_json::from_str::<AgentStats>(&text).unwrap(), told);
    }
}
