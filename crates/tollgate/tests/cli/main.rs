//! The command line as a person sees it: the real binary, in a folder of its own, under a pinned environment.
//! A snapshot holds the commands, their exit codes and what they print.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

mod again;
mod agents;
mod alone;
mod asked;
mod below_tmp;
mod budget;
mod by_hand;
mod cached;
mod campaign;
mod cause;
mod checkout;
mod claims;
mod collisions;
mod contract;
mod contract_own;
mod conversions;
mod crash;
mod damaged;
mod delegate;
mod demo;
mod detection;
mod disturbed;
mod documents;
mod empty;
mod escape;
mod explain;
mod extract;
mod fix;
mod flaky;
mod forged;
mod gc;
mod given;
mod golden;
mod handoff;
mod happy;
mod health;
mod held_tree;
mod hook;
mod intake;
mod land;
mod land_apart;
mod land_ready;
mod last_report;
mod last_words;
mod leash;
mod left;
mod limits;
mod look;
mod lost;
mod measured;
mod misbehave;
mod out_of_sight;
#[cfg(debug_assertions)]
mod overtaken;
mod own_contract;
mod own_folder;
mod own_programs;
mod places;
mod plans;
mod play;
mod proof;
mod protocol;
mod quota;
mod real_agents;
mod repair;
mod reported;
mod repository;
mod required;
mod rests;
mod resumed;
mod rows;
mod sarif;
mod schemas;
mod scope;
mod scope_git;
mod scope_patterns;
mod sides;
mod signoff;
mod stale;
mod start;
mod submodules;
mod supervisor;
mod team;
mod terminal;
mod traced;
mod trusted;
mod unreadable;
mod voice;
mod whole;
mod wire;
mod worker;
mod worktree;
mod world;
