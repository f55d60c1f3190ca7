//! A Graphviz drawing.

use std::fmt::Write;

use super::super::model::Protocol;
use super::drawing::{Shape, drawings};

/// The protocol as a Graphviz graph, a cluster per flow.
pub fn dot(protocol: &Protocol) -> String {
    let mut text = format!("digraph \"{}\" {{\n  node [fontname=\"sans-serif\"];\n", protocol.name);
    for drawing in drawings(protocol) {
        let _ = writeln!(text, "  subgraph \"cluster_{}\" {{\n    label=\"{}\";", drawing.name, drawing.name);
        for (id, (label, shape)) in &drawing.nodes {
            let shape = match shape {
                Shape::Work => "box",
                Shape::Ask => "parallelogram",
                Shape::Check => "diamond",
                Shape::Each => "box3d",
                Shape::Land => "cylinder",
                Shape::End => "oval",
            };
            let _ = writeln!(text, "    {id} [label=\"{label}\", shape={shape}];");
        }
        for (from, to, label, limited) in &drawing.edges {
            let style = if *limited { ", style=dashed" } else { "" };
            let _ = writeln!(text, "    {from} -> {to} [label=\"{label}\"{style}];");
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    text
}
