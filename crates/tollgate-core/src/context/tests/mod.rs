//! What attempts of a small run are shown. The run is built through the kernel, report by report.

mod bench;
mod bounds;
mod briefs;
mod isolation;
mod next;
