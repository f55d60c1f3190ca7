//! Budgets and quotas in a script: `budget run attempts=2 tokens=100`, `pool builder=claude`, `report build ok tokens=40 cost=5 took=60`,
//! `report build failed quota=300`, `elsewhere attempts=3`, `elsewhere pool=claude until=60 tried`.

use tollgate_core::Name;
use tollgate_core::id::RunId;
use tollgate_core::run::agent_stats::{AgentStats, Quota, Sum, Usage};
use tollgate_core::run::budget::{Allowance, Budgets, DAY_MS, Used};
use tollgate_core::run::pool::{Around, Elsewhere};

use super::words::pair;

fn number(value: &Name) -> Option<u64> {
    value.parse().ok()
}

/// `budget WHOSE NAME=AMOUNT …`: time in seconds, cost in billionths.
pub(super) fn budget(budgets: &mut Budgets, whose: &str, words: &[String]) -> bool {
    let allowance: &mut Allowance = match whose {
        "run" => &mut budgets.run,
        "unit" => &mut budgets.unit,
        "day" => &mut budgets.day,
        _ => return false,
    };
    for (name, value) in words.iter().map(|word| pair(word)) {
        match &*name {
            "time" => allowance.time_ms = number(&value).map(|seconds| seconds * 1000),
            "tokens" => allowance.tokens = number(&value),
            "cost" => allowance.cost_nano_usd = number(&value),
            _ => allowance.attempts = number(&value),
        }
    }
    true
}

/// What an agent told: its tokens, its cost, and the limit that cut it off; none where it said nothing of that.
pub(super) fn told(words: &[String], now_ms: u64) -> Option<AgentStats> {
    let get = |key: &str| words.iter().map(|word| pair(word)).find(|(name, _)| &**name == key).map(|(_, value)| value);
    let (tokens, cost, quota) = (get("tokens"), get("cost"), get("quota"));
    if tokens.is_none() && cost.is_none() && quota.is_none() {
        return None;
    }
    let usage = Usage {
        input_tokens: tokens.as_ref().and_then(number),
        output_tokens: tokens.as_ref().map(|_| 0),
        cost_nano_usd: cost.as_ref().and_then(number),
        ..Usage::default()
    };
    let quota = quota.map(|seconds| Quota {
        said: "the limit is reached".to_owned(),
        resets_ms: number(&seconds).map(|seconds| now_ms + seconds * 1000),
    });
    Some(AgentStats { adapter: "played".into(), session: Some("s-1".into()), usage, quota, ..AgentStats::default() })
}

/// How long an attempt took, in milliseconds.
pub(super) fn took_ms(words: &[String]) -> u64 {
    let took = words.iter().find_map(|word| word.strip_prefix("took=")?.parse::<u64>().ok());
    took.map_or(0, |seconds| seconds * 1000)
}

/// What other runs know.
pub(super) fn elsewhere(words: &[String], now_ms: u64) -> Around {
    let mut around = Around::default();
    let (mut used, mut pool, mut until_ms, mut tried) = (Used::default(), None, 0, false);
    for (name, value) in words.iter().map(|word| pair(word)) {
        let known = number(&value).unwrap_or(0);
        match &*name {
            "attempts" => used.attempts = known,
            "tokens" => used.tokens = Sum { known, unknown: 0 },
            "cost" => used.cost_nano_usd = Sum { known, unknown: 0 },
            "time" => used.time_ms = known * 1000,
            "pool" => pool = Some(value),
            "until" => until_ms = now_ms + known * 1000,
            _ => tried = true,
        }
    }
    around.count(now_ms / DAY_MS, used);
    if let Some(pool) = pool {
        let said = "the limit is reached".to_owned();
        let run = RunId::from_bits(9);
        around.unanswered.insert((pool.clone(), run));
        around.add(pool, Elsewhere { run, until_ms, tried, said });
    }
    around
}
