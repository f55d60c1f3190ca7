//! What a run with given inputs can come to: its roles, of which only those need a worker, and its units.

use std::collections::BTreeSet;

use tollgate_core::Name;
use tollgate_core::id::RoleId;
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::{Kind, Over, VariableKind};
use tollgate_core::protocol::reached::{self, Inputs};

/// The roles of every stage that can be reached, by name.
pub fn roles<'p>(protocol: &'p Protocol, inputs: &Inputs<'_>) -> BTreeSet<&'p RoleId> {
    let stages = reached::stages(protocol, inputs).into_iter();
    stages.filter_map(|(_, stage)| if let Kind::Dispatch { role } = &stage.kind { Some(role) } else { None }).collect()
}

/// The units that there can be under a protocol, whatever its inputs; none when a stage or a document gives them.
pub fn units(protocol: &Protocol) -> Option<BTreeSet<Name>> {
    let mut units = BTreeSet::new();
    for stage in protocol.flows.iter().flat_map(|flow| &flow.stages) {
        let Kind::Each(each) = &stage.kind else { continue };
        match &each.over {
            Over::Lanes(lanes) => units.extend(lanes.iter().cloned()),
            Over::Input(input) => match &protocol.inputs.get(input)?.kind {
                VariableKind::ListOf(values) | VariableKind::OneOf(values) if !values.is_empty() => {
                    units.extend(values.iter().cloned());
                }
                _ => return None,
            },
            Over::Units => return None,
            Over::It => {}
        }
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::protocol::model::Value;

    /// The roles of a protocol with these inputs.
    fn needed(protocol: &str, given: &[(&str, &str)]) -> String {
        let (protocol, _) = tollgate_core::protocol::read(protocol);
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), Value::Text((*value).into()));
        let given: std::collections::BTreeMap<String, Value> = given.iter().map(text).collect();
        let protocol = protocol.unwrap();
        roles(&protocol, &|name: &str| given.get(name))
            .into_iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    }

    const BUILD_PLAN: &str = include_str!("../../../../protocols/build-plan.yaml");

    #[test]
    fn only_the_roles_of_the_chosen_way_are_needed() {
        let needed = |complexity, infra| needed(BUILD_PLAN, &[("complexity", complexity), ("infra", infra)]);
        assert_eq!(needed("simple", "none"), "dev-tester dod-checker reviewer");
        assert_eq!(needed("standard", "none"), "developer dod-checker reviewer tester");
        assert_eq!(needed("standard", "needed"), "developer devops dod-checker reviewer tester");
    }

    /// A person may say that a lean run becomes a full one.
    #[test]
    fn an_input_that_an_answer_changes_decides_nothing() {
        let all = "architect coder designer docs integrator planner qa researcher reviewer security spec-agent";
        let team = include_str!("../../../../protocols/team.yaml");
        assert_eq!(needed(team, &[("mode", "lean")]), all);
        assert_eq!(needed(team, &[("mode", "full")]), all);
        // Where the answer leads to the fork that the input decides, both of its ways are open.
        let forks = team.replace("on: {full: intake, lean: implement-all", "on: {full: start, lean: implement-all");
        assert_eq!(needed(&forks, &[("mode", "lean")]), all);
    }

    #[test]
    fn an_input_is_known_where_nothing_reaches_the_stage_that_gives_it() {
        let gives = BUILD_PLAN.replace("    - id: solo-stuck\n", "    - id: solo-stuck\n      gives: [infra]\n");
        let needed = |complexity| needed(&gives, &[("complexity", complexity), ("infra", "none")]);
        assert_eq!(needed("standard"), "developer dod-checker reviewer tester");
        assert_eq!(needed("simple"), "dev-tester devops dod-checker reviewer");
    }
}
