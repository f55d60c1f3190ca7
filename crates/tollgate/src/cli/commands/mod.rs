//! One command, one file.

pub mod cancel;
pub mod completions;
pub mod contract;
pub mod decide;
pub mod demo;
pub mod diff;
pub mod doctor;
pub mod evidence;
pub mod explain;
pub mod export;
pub mod inbox;
pub mod init;
pub mod logs;
pub mod ls;
pub mod protocol;
pub mod repair;
pub mod resume;
pub mod retry;
pub mod run;
pub mod schemas;
pub mod scope;
pub mod show;
pub mod trust;
pub mod verify;
pub mod worker;
pub mod worker_script;
