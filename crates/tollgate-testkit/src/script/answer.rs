//! A person's answer in a script.

use tollgate_core::Name;
use tollgate_core::id::DecisionId;
use tollgate_core::run::decide::{Answer, Instead, Opening, completed};
use tollgate_core::run::event::By;
use tollgate_core::run::{self, Command};

use super::Play;
use super::words::{names, planned};

impl Play {
    /// `answer ASK[@UNIT] OPTION [text=… hand=paths scope=globs dispose=R1:deferred row=… 1=… input.NAME=…]`; `answer dec_3 …` names
    /// one.
    pub(super) fn answer(&mut self, ask: &str, words: &[String], person: By) -> Result<Vec<String>, String> {
        let (name, unit) = ask.split_once('@').map_or((ask, None), |(name, unit)| (name, Some(unit)));
        let asked = |decision: &run::state::Decision| {
            &*decision.asked.ask == name && (unit.is_none() || unit == decision.asked.unit.as_deref())
        };
        let named = name.parse::<DecisionId>().ok();
        let open = self.run.pending().find(|(_, decision)| asked(decision)).map(|(id, _)| id);
        let ended = || self.run.decisions.iter().rfind(|(_, decision)| asked(decision)).map(|(id, _)| *id);
        let decision = named.or(open).or_else(ended).ok_or("nothing was asked")?;
        let mut answer = Answer::default();
        for word in words {
            match word.split_once('=') {
                None if word == "cancel" => answer.instead = Some(Instead::Cancel),
                None if word == "skip" => answer.instead = Some(Instead::Skip),
                None => answer.option = Some(word.as_str().into()),
                Some(("defer", seconds)) => {
                    let until_ms = self.now_ms + seconds.parse::<u64>().unwrap_or(0) * 1000;
                    answer.instead = Some(Instead::Defer { until_ms });
                }
                Some((name, value)) if name.starts_with("input.") => {
                    answer.named.insert(name["input.".len()..].into(), value.to_owned());
                }
                Some((number, text)) if number.parse::<u32>().is_ok() => {
                    answer.answers.insert(number.parse().unwrap_or(0), text.to_owned());
                }
                Some(("text", text)) => answer.text = text.to_owned(),
                Some(("scope", list)) => answer.scope = names(list),
                Some(("dispose", list)) => {
                    let pairs = list.split(',').filter_map(|one| one.split_once(':'));
                    answer.dispositions = pairs.map(|(id, what)| (id.into(), what.into())).collect();
                }
                Some(("hand", list)) => {
                    let of = self.run.decisions.get(&decision).and_then(|decision| decision.asked.unit.clone());
                    let base = self.run.tree_of(of.as_ref()).clone();
                    self.blobs += 1;
                    // `-PATH` is deleted.
                    let change = |path: Name| match path.strip_prefix('-') {
                        Some(gone) => (Name::from(gone), None),
                        None => (path, Some(self.blobs)),
                    };
                    let changes: Vec<_> = names(list).into_iter().map(change).collect();
                    let gone = changes.iter().filter(|(_, blob)| blob.is_none());
                    answer.deleted = gone.map(|(path, _)| path.clone()).collect();
                    let tree = self.world.write(&base, &changes);
                    answer.content = Some(self.world.content(&self.run, &tree));
                }
                Some(("row", id)) => planned(&mut answer.plan, "row", id, &[]),
                Some((other, _)) => return Err(format!("`{other}=` is no part of an answer")),
            }
        }
        if let Some(inputs) = completed(&self.run, decision, &answer) {
            let content = self.world.opening(&self.run.tree, &self.run.protocol, self.run.id, &inputs);
            answer.opening = Some(Box::new(Opening { artifacts: self.artifacts.clone(), content: Some(content) }));
        }
        self.say(Command::Answer { decision, answer: Box::new(answer) }, person)
    }
}
