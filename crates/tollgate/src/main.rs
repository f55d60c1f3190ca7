//! The command line: `tollgate --help` lists what it can do.

fn main() {}
