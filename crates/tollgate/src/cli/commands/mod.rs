//! One command, one file.

pub mod completions;
pub mod contract;
pub mod doctor;
pub mod explain;
pub mod init;
pub mod protocol;
pub mod schemas;
pub mod trust;
pub mod worker_script;
