//! One command, one file.

pub mod cancel;
pub mod completions;
pub mod contract;
pub mod decide;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod init;
pub mod protocol;
pub mod resume;
pub mod retry;
pub mod run;
pub mod schemas;
pub mod trust;
pub mod worker_script;
