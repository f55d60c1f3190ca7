//! What the language can say and no run can do yet. A stage that no input leads to is not refused.

use super::super::model::{Kind, Land, Over};
use super::Breaches;
use super::dataflow::DataFlow;
use crate::code::Code;

pub(super) fn check(flow: &DataFlow<'_, '_>, breaches: &mut Breaches) {
    for instance in &flow.instances {
        for (i, node) in flow.graph.flows[instance.flow].nodes.iter().enumerate() {
            let stage = node.stage;
            if flow.entered(stage, &flow.points[instance.base + i].state, true).is_empty() {
                continue;
            }
            let (what, hint) = match &stage.kind {
                Kind::Land(Land::Base) => ("lands on `base`", LAND),
                Kind::Land(Land::PullRequest) => ("lands as `pull-request`", LAND),
                Kind::Each(each) if instance.of_unit && each.over != Over::It => {
                    ("fans out inside a unit's flow", "write `over: it`, or fan out in `main`")
                }
                Kind::Land(Land::Run) | Kind::Each(_) | Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Check { .. } => {
                    continue;
                }
            };
            let message = format!("the stage `{}` {what}, which no run can do yet", stage.id);
            breaches.error(Code::NOT_YET, stage.place, message, hint);
        }
    }
}

const LAND: &str =
    "land in `run`: the run ends with its tree on a branch of its own, and `tollgate land` brings it further";
