//! One command, one file.

pub mod completions;
pub mod contract;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod inbox;
pub mod init;
pub mod logs;
pub mod ls;
pub mod protocol;
pub mod schemas;
pub mod show;
pub mod trust;
pub mod verify;
pub mod worker_script;
