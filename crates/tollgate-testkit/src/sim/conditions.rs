//! Conditions of gates derived a second time. What is unknown from the ledger and the journal does not hold.

use tollgate_core::Name;
use tollgate_core::id::{RoleId, StageId, UnitId};
use tollgate_core::protocol::Condition;
use tollgate_core::protocol::condition::{Quantifier, SetKind};
use tollgate_core::protocol::model::{Resource, Value};
use tollgate_core::report::Disposition;
use tollgate_core::run::event::{ByKind, DecisionEnd, UnitState};
use tollgate_core::run::state::{Criterion, Decision, LAND, Requirement, Run, Unit, keyed};

use super::evidence::{Evidence, is_same, is_shown, passes};

/// What a member of a set may be called, and the parts that it has.
struct Member {
    name: String,
    /// It is none of the words that are not here.
    words: Vec<&'static str>,
    parts: Vec<&'static str>,
}

/// Filters and words of a set, as a condition has them.
type Asked<'a> = (&'a [(Name, Vec<Name>)], &'a [Name], &'a [Name]);

impl Evidence {
    /// Whether a gate is mandatory: also where that cannot be told.
    pub(super) fn must_hold(&self, run: &Run, when: Option<&Condition>, unit: Option<&UnitId>) -> bool {
        when.is_some_and(|when| self.surely(run, when, unit).unwrap_or(true))
    }

    /// What is missing for a part of a gate to hold on the content that is there now; none: it holds, as far as that can be seen from here.
    pub(super) fn against(
        &self,
        run: &Run,
        bound: &[Resource],
        part: &Condition,
        unit: Option<&UnitId>,
    ) -> Option<String> {
        match part {
            Condition::All(parts) => parts.iter().find_map(|part| self.against(run, bound, part, unit)),
            Condition::Any(parts) => {
                let each = parts.iter().map(|part| self.against(run, bound, part, unit));
                each.collect::<Option<Vec<_>>>().map(|missing| missing.join(", and "))
            }
            Condition::Holds(name) => match run.protocol.gates.get(name) {
                Some(inner) => self.against(run, &inner.bound_to, &inner.holds, unit),
                None => Some(format!("there is no gate `{name}`")),
            },
            Condition::Judged(role) => self.against_judged(run, bound, role, unit),
            Condition::Answer { ask, options, by_anyone } => {
                self.against_answer(run, bound, (ask, options, *by_anyone), unit)
            }
            Condition::Command { name, .. } => {
                let key = keyed(name, unit);
                let ledger = &run.ledger;
                let waived = ledger.waived_commands.get(&key).is_some_and(|on| is_same(run, on, bound, unit));
                let passed = ledger.commands.get(&key).is_some_and(|shown| passes(run, shown, bound, unit));
                (!waived && !passed).then(|| format!("`{name}` did not pass on this content"))
            }
            Condition::Set { quantifier, set, filter, is, has } => {
                self.against_set(run, bound, (*quantifier, *set), (filter, is, has), unit)
            }
            Condition::Not(_)
            | Condition::Var { .. }
            | Condition::It { .. }
            | Condition::Artifact { .. }
            | Condition::Count { .. } => match self.surely(run, part, unit) {
                Some(true) => None,
                Some(false) => Some(format!("{part:?} is not so")),
                None => Some(format!("{part:?} is unknown from the ledger and the journal")),
            },
        }
    }

    /// Whether a condition holds that no evidence and no content plays a part in; none: it is not such a one.
    fn surely(&self, run: &Run, part: &Condition, unit: Option<&UnitId>) -> Option<bool> {
        let each = |parts: &[Condition]| -> Vec<Option<bool>> {
            parts.iter().map(|part| self.surely(run, part, unit)).collect()
        };
        match part {
            Condition::All(parts) => match each(parts) {
                known if known.contains(&Some(false)) => Some(false),
                known if known.contains(&None) => None,
                _ => Some(true),
            },
            Condition::Any(parts) => match each(parts) {
                known if known.contains(&Some(true)) => Some(true),
                known if known.contains(&None) => None,
                _ => Some(false),
            },
            Condition::Not(part) => self.surely(run, part, unit).map(|holds| !holds),
            Condition::Holds(name) => self.surely(run, &run.protocol.gates.get(name)?.holds, unit),
            Condition::Var { name, values } => Some(self.value(run, name).is_some_and(|value| values.contains(value))),
            Condition::It { attr, values } if **attr != *"state" => {
                let mut units = run.ledger.units.iter().filter(|known| unit.is_none_or(|unit| known.name == *unit));
                Some(units.any(|known| has_attr(known, attr, values)))
            }
            Condition::Artifact { name, with } => Some(
                self.documents
                    .get(name)
                    .is_some_and(|(_, fields)| with.iter().all(|(field, value)| fields.get(field) == Some(value))),
            ),
            Condition::Set { quantifier, set: SetKind::Notice, filter, is, has } => {
                let bound = (*quantifier, SetKind::Notice);
                Some(self.against_set(run, &[], bound, (filter, is, has), unit).is_none())
            }
            Condition::Count { set: SetKind::Unit, at_least } => {
                let stays = |known: &&Unit| known.retired.is_none() && unit.is_none_or(|unit| known.name == *unit);
                Some(run.ledger.units.iter().filter(stays).count() >= usize::try_from(*at_least).unwrap_or(usize::MAX))
            }
            Condition::It { .. }
            | Condition::Judged(_)
            | Condition::Answer { .. }
            | Condition::Command { .. }
            | Condition::Set { .. }
            | Condition::Count { .. } => None,
        }
    }

    /// The value of a variable: what was given last, else the input.
    fn value<'a>(&'a self, run: &'a Run, name: &Name) -> Option<&'a Name> {
        let input = run.vars.get(name).and_then(|value| match value {
            Value::Text(text) => Some(text),
            Value::Int(_) | Value::List(_) => None,
        });
        self.vars.get(name).or(input)
    }

    fn against_judged(&self, run: &Run, bound: &[Resource], role: &RoleId, unit: Option<&UnitId>) -> Option<String> {
        let of = |unit: Option<&UnitId>| self.verdicts.get(&(role.clone(), unit.cloned()));
        let Some((seq, verdict)) = of(unit).into_iter().chain(of(None)).max() else {
            return Some(format!("{role} did not judge"));
        };
        if !verdict.accepts() && self.waived < *seq {
            return Some(format!("{role} says {}", verdict.word()));
        }
        let judgements = [keyed(role, unit), keyed(role, None)].map(|key| run.ledger.judgements.get(&key));
        let same = judgements.into_iter().flatten().any(|judged| is_same(run, &judged.on, bound, unit));
        (!same).then(|| format!("{role} judged other content"))
    }

    /// The last answer counts, and only of the documents that there were when it was asked for.
    fn against_answer(
        &self,
        run: &Run,
        bound: &[Resource],
        (ask, options, by_anyone): (&StageId, &[Name], bool),
        unit: Option<&UnitId>,
    ) -> Option<String> {
        let here = |of: Option<&UnitId>| of.is_none() || of == unit;
        let asked =
            run.decisions.iter().filter(|(_, known)| known.asked.ask == *ask && here(known.asked.unit.as_ref()));
        let mut ends = asked.filter_map(|(id, known)| Some((id, known.end.as_ref()?)));
        // One that was taken back or skipped says nothing, and so does one that was asked anew.
        let Some((id, end)) = ends.rfind(|(_, end)| end.end == DecisionEnd::Answered) else {
            return Some(format!("`{ask}` was not answered"));
        };
        let by = by_anyone || end.by.kind == ByKind::Person;
        if !by || !end.option.as_ref().is_some_and(|option| options.contains(option)) {
            return Some(format!("`{ask}` was not answered so"));
        }
        let shown = self.shown.get(id);
        let same = |name: &&Resource| {
            let now = self.documents.get(&***name).map(|(object, _)| object);
            now == shown.and_then(|shown| shown.get(&***name))
        };
        let is_document =
            |name: &&Resource| run.protocol.artifacts.get(&***name).is_some_and(|artifact| artifact.path.is_none());
        let other = bound.iter().filter(is_document).find(|name| !same(name))?;
        Some(format!("`{ask}` was answered about another `{}`", &**other))
    }

    fn against_set(
        &self,
        run: &Run,
        bound: &[Resource],
        (quantifier, set): (Quantifier, SetKind),
        (filter, is, has): Asked<'_>,
        unit: Option<&UnitId>,
    ) -> Option<String> {
        let members = self.members(run, bound, set, filter, unit);
        let named = |word: &&&str| is.iter().any(|known| **known == ***word);
        let can = |member: &Member| {
            let parts = has.iter().all(|part| member.parts.iter().any(|own| **own == **part));
            parts && (is.is_empty() || member.words.iter().any(|word| named(&word)))
        };
        let cannot = |member: &Member| {
            let parts = has.iter().any(|part| !member.parts.iter().any(|own| **own == **part));
            parts || !is.is_empty() && member.words.iter().any(|word| !named(&word))
        };
        let said = |member: &Member| format!("{} is {}", member.name, member.words.join(" or "));
        match quantifier {
            Quantifier::Every => members.iter().find(|member| !can(member)).map(said),
            Quantifier::None => members.iter().find(|member| !cannot(member)).map(said),
            Quantifier::Some => (!members.iter().any(can)).then(|| format!("there is no such {}", set.word())),
        }
    }

    fn members(
        &self,
        run: &Run,
        bound: &[Resource],
        set: SetKind,
        filter: &[(Name, Vec<Name>)],
        unit: Option<&UnitId>,
    ) -> Vec<Member> {
        let suits = |key: &str, value: Option<&str>| {
            let mut asked = filter.iter().filter(|(wanted, _)| **wanted == *key);
            asked.all(|(_, values)| value.is_some_and(|value| values.iter().any(|known| **known == *value)))
        };
        let own = |of: Option<&UnitId>| unit.is_none_or(|unit| of == Some(unit));
        let plain = |name: String, words: Vec<&'static str>| Member { name, words, parts: Vec::new() };
        let ledger = &run.ledger;
        match set {
            SetKind::Criterion | SetKind::Command => {
                let rows =
                    ledger.criteria.iter().filter(|row| own(row.unit.as_ref()) && suits("group", row.group.as_deref()));
                let rows = rows.filter(|row| set == SetKind::Criterion || row.command.is_some());
                rows.map(|row| plain(row.id.to_string(), row_words(run, bound, set, row, unit))).collect()
            }
            SetKind::Finding => {
                let concerned = ledger
                    .findings
                    .iter()
                    .filter(|(_, known)| unit.is_none_or(|unit| known.about.units.contains(unit)));
                let wanted = concerned.filter(|(_, known)| {
                    let about = &known.about;
                    suits("severity", about.severity.as_deref()) && suits("category", about.category.as_deref())
                });
                wanted.map(|(id, known)| plain(id.to_string(), vec![known.status_for(unit).word()])).collect()
            }
            SetKind::Requirement => {
                let served = unit.and_then(|unit| run.unit(unit)).map(|unit| &unit.requirements);
                let rows =
                    ledger.requirements.iter().filter(|row| served.is_none_or(|served| served.contains(&row.id)));
                let by = |row: &Requirement| self.disposed.contains(&row.id).then_some("person");
                let rows = rows.filter(|row| {
                    suits("disposition", row.disposition.as_deref().or(Some("in_scope"))) && suits("by", by(row))
                });
                rows.map(|row| self.requirement(run, bound, row)).collect()
            }
            SetKind::Unit => {
                let stays = |known: &&Unit| known.retired.is_none() && unit.is_none_or(|unit| known.name == *unit);
                let units = ledger.units.iter().filter(stays);
                let units = units.filter(|known| filter.iter().all(|(attr, values)| has_attr(known, attr, values)));
                units
                    .map(|known| Member {
                        parts: unit_parts(run, known),
                        ..plain(known.name.to_string(), vec![known.state.word(), "held"])
                    })
                    .collect()
            }
            SetKind::Decision | SetKind::Question => {
                let asked = run
                    .decisions
                    .iter()
                    .filter(|(_, known)| own(known.asked.unit.as_ref()) && *known.asked.instance != *LAND);
                let asked = asked.filter(|(_, known)| {
                    let (about, blocking) = (&known.asked, if known.asked.blocking { "true" } else { "false" });
                    let of_set = set == SetKind::Decision || about.class.word() == "clarification";
                    of_set && suits("class", Some(about.class.word())) && suits("blocking", Some(blocking))
                });
                asked.filter_map(|(id, known)| Some(plain(id.to_string(), vec![end_word(set, known)?]))).collect()
            }
            SetKind::Notice => {
                let rows =
                    self.notices.iter().filter(|(notice, of)| own(of.as_ref()) && suits("kind", Some(&notice.kind)));
                let parts = |requirement: &Option<Name>| requirement.iter().map(|_| "requirement").collect();
                rows.map(|(notice, _)| Member {
                    parts: parts(&notice.requirement),
                    ..plain(notice.kind.to_string(), vec!["open"])
                })
                .collect()
            }
        }
    }

    /// A requirement is what was decided of it, and left out only by a person; it is met where each of its rows is shown.
    fn requirement(&self, run: &Run, bound: &[Resource], row: &Requirement) -> Member {
        let rows: Vec<&Criterion> =
            run.ledger.criteria.iter().filter(|known| known.requirement.as_ref() == Some(&row.id)).collect();
        let is_dropped = |unit: &Unit| unit.state == UnitState::Dropped;
        let stands =
            |row: &&Criterion| row.unit.as_ref().and_then(|unit| run.unit(unit)).is_none_or(|unit| !is_dropped(unit));
        let serves = |unit: &Unit| unit.requirements.contains(&row.id) && !is_dropped(unit) && unit.retired.is_none();
        let parts = [(run.ledger.units.iter().any(serves), "unit"), (rows.iter().any(stands), "criterion")];
        let by_person = self.disposed.contains(&row.id);
        let mut words = match &row.disposition {
            _ if row.waived.is_some() => vec!["waived"],
            None | Some(Disposition::Other(_)) => vec!["proposed", "undecided"],
            Some(Disposition::InScope) => vec!["in_scope"],
            Some(Disposition::Deferred) if by_person => vec!["deferred"],
            Some(Disposition::OutOfScope) if by_person => vec!["out_of_scope"],
            Some(Disposition::NonMaterial) if by_person => vec!["non_material"],
            Some(Disposition::Deferred | Disposition::OutOfScope | Disposition::NonMaterial) => Vec::new(),
        };
        let shown = |row: &&Criterion| is_shown(run, row, bound, None);
        if row.disposition == Some(Disposition::InScope) && !rows.is_empty() && rows.iter().all(shown) {
            words.push("met");
        }
        let parts = parts.into_iter().filter_map(|(has, part)| has.then_some(part)).collect();
        Member { name: row.id.to_string(), words, parts }
    }
}

fn has_attr(unit: &Unit, attr: &Name, values: &[Name]) -> bool {
    unit.attrs.get(attr).is_some_and(|own| own.iter().any(|value| values.contains(value)))
}

fn unit_parts(run: &Run, unit: &Unit) -> Vec<&'static str> {
    let parts = [
        (!unit.title.is_empty(), "objective"),
        (!unit.requirements.is_empty(), "reference"),
        (!unit.scope.is_empty(), "scope"),
        (run.ledger.criteria.iter().any(|row| row.unit.as_ref() == Some(&unit.name)), "criteria"),
        (!unit.attrs.is_empty(), "labels"),
    ];
    parts.into_iter().filter_map(|(has, part)| has.then_some(part)).collect()
}

/// What a row may be called: passed or waived only where that is shown on this content.
fn row_words(run: &Run, bound: &[Resource], set: SetKind, row: &Criterion, unit: Option<&UnitId>) -> Vec<&'static str> {
    let shown = match (set, &row.ran) {
        (SetKind::Command, _) if row.waived.is_some() => true,
        (SetKind::Command, ran) => {
            // The rows of a unit that was given up are shown on the content of whoever asks.
            let stands = |name: &&UnitId| {
                run.unit(name).is_some_and(|own| own.state != UnitState::Dropped && own.retired.is_none())
            };
            let of = row.unit.as_ref().filter(stands).or(unit);
            ran.as_ref().is_some_and(|ran| passes(run, ran, bound, of))
        }
        _ => is_shown(run, row, bound, unit),
    };
    let open = vec!["open", "failed", "unobservable"];
    if shown { [open, vec!["passed", "waived"]].concat() } else { open }
}

/// How a question stands; none: another was asked in its place.
fn end_word(set: SetKind, decision: &Decision) -> Option<&'static str> {
    let end = decision.end.as_ref().map(|end| end.end);
    Some(match (end, set) {
        (Some(DecisionEnd::Replaced), _) => return None,
        (None, SetKind::Question) => "open",
        (Some(_), SetKind::Question) | (Some(DecisionEnd::Answered), _) => "answered",
        (None, _) => "pending",
        (Some(DecisionEnd::Cancelled), _) => "cancelled",
        (Some(DecisionEnd::Skipped), _) => "skipped",
    })
}
