//! A Mermaid flow chart.

use std::fmt::Write;

use super::super::model::Protocol;
use super::drawing::{Shape, drawings};

/// The protocol as a Mermaid flow chart, a subgraph per flow.
pub fn mermaid(protocol: &Protocol) -> String {
    let mut text = String::from("flowchart TD\n");
    for drawing in drawings(protocol) {
        let _ = writeln!(text, "  subgraph {}", drawing.name);
        for (id, (label, shape)) in &drawing.nodes {
            let (open, close) = match shape {
                Shape::Work => ("[\"", "\"]"),
                Shape::Ask => ("[/\"", "\"/]"),
                Shape::Check => ("{\"", "\"}"),
                Shape::Each => ("[[\"", "\"]]"),
                Shape::Land => ("[(\"", "\")]"),
                Shape::End => ("([\"", "\"])"),
            };
            let _ = writeln!(text, "    {id}{open}{label}{close}");
        }
        for (from, to, label, limited) in &drawing.edges {
            let arrow = if *limited { "-.->" } else { "-->" };
            let _ = writeln!(text, "    {from} {arrow}|\"{label}\"| {to}");
        }
        text.push_str("  end\n");
    }
    text
}
