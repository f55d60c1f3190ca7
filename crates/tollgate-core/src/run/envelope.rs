//! How an event stands in the journal: its envelope, written once and read in one pass.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::event::{By, Event, Recorded, VERSION};
use crate::id::RunId;

/// The oldest version of the event format.
const FIRST: u32 = 1;
/// Room for most events, so that writing one does not grow its buffer again and again.
const EVENT_BYTES_USUAL: usize = 1024;

/// Why an event's bytes could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// A newer build wrote it.
    Newer { v: u32, kind: String },
    /// It is not what this version writes.
    Damaged(String),
}

#[derive(Serialize)]
struct EnvelopeOut<'a> {
    v: u32,
    run: RunId,
    seq: u64,
    at_ms: u64,
    epoch: u64,
    by: &'a By,
    r#type: &'static str,
    data: DataOut<'a>,
}

/// An event's own fields, without its type.
pub(super) struct DataOut<'a>(pub &'a Event);

impl Recorded {
    /// The bytes that are stored and hashed; one line.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let out = EnvelopeOut {
            v: VERSION,
            run: self.run,
            seq: self.seq,
            at_ms: self.at_ms,
            epoch: self.epoch,
            by: &self.by,
            r#type: self.event.kind(),
            data: DataOut(&self.event),
        };
        let mut bytes = Vec::with_capacity(EVENT_BYTES_USUAL);
        serde_json::to_writer(&mut bytes, &out)?;
        Ok(bytes)
    }

    /// Reads stored bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Unreadable> {
        let read = serde_json::from_slice::<ReadEvent>(bytes);
        read.map_err(|error| Unreadable::Damaged(error.to_string()))?.0
    }
}

/// An event that was read as far as this build knows it.
struct ReadEvent(Result<Recorded, Unreadable>);

impl<'de> Deserialize<'de> for ReadEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor).map(Self)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Field {
    V,
    Run,
    Seq,
    AtMs,
    Epoch,
    By,
    Type,
    Data,
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct Kind<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads an envelope in one pass: the fields of its type are read where they stand, because version and type stand
/// before them. A writer that puts them elsewhere is read as well, only slower.
struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Result<Recorded, Unreadable>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut v, mut run, mut seq, mut at_ms, mut epoch, mut by) = (None, None, None, None, None, None);
        let mut kind: Option<Kind<'de>> = None;
        let mut unknown = false;
        let (mut event, mut later): (Option<Option<Event>>, Option<&'de RawValue>) = (None, None);
        while let Some(field) = map.next_key()? {
            match field {
                Field::V => once(&mut v, map.next_value()?, "v")?,
                Field::Run => once(&mut run, map.next_value()?, "run")?,
                Field::Seq => once(&mut seq, map.next_value()?, "seq")?,
                Field::AtMs => once(&mut at_ms, map.next_value()?, "at_ms")?,
                Field::Epoch => once(&mut epoch, map.next_value()?, "epoch")?,
                Field::By => once(&mut by, map.next_value()?, "by")?,
                Field::Type => once(&mut kind, map.next_value()?, "type")?,
                Field::Data => match (v, &kind) {
                    (Some(v), Some(Kind(kind))) if later.is_none() => {
                        let known = DataIn(if v > VERSION { "" } else { kind });
                        once(&mut event, map.next_value_seed(known)?, "data")?;
                    }
                    _ => once(&mut later, map.next_value()?, "data")?,
                },
                Field::Unknown => {
                    unknown = true;
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let missing = A::Error::missing_field;
        let (v, Kind(kind)) = (v.ok_or_else(|| missing("v"))?, kind.ok_or_else(|| missing("type"))?);
        if v < FIRST {
            return Err(A::Error::custom(format_args!("there is no version {v} of events")));
        }
        // What a newer version adds is its own affair; this one writes exactly these fields.
        if unknown && v <= VERSION {
            return Err(A::Error::custom(format_args!("an event of version {v} has no other fields")));
        }
        let event = match (event, later) {
            (Some(event), None) => event,
            (None, Some(raw)) if v <= VERSION => DataIn(&kind).deserialize(raw).map_err(A::Error::custom)?,
            (None, Some(_)) => None,
            (Some(_), Some(_)) => return Err(A::Error::duplicate_field("data")),
            (None, None) => return Err(missing("data")),
        };
        let recorded = |event| {
            Ok(Recorded {
                run: run.ok_or_else(|| missing("run"))?,
                seq: seq.ok_or_else(|| missing("seq"))?,
                at_ms: at_ms.ok_or_else(|| missing("at_ms"))?,
                epoch: epoch.ok_or_else(|| missing("epoch"))?,
                by: by.ok_or_else(|| missing("by"))?,
                event,
            })
        };
        event.map_or_else(|| Ok(Err(Unreadable::Newer { v, kind: kind.into_owned() })), |event| recorded(event).map(Ok))
    }
}

/// Keeps a field that may be there once.
fn once<T, E: serde::de::Error>(slot: &mut Option<T>, value: T, field: &'static str) -> Result<(), E> {
    if slot.replace(value).is_some() { Err(E::duplicate_field(field)) } else { Ok(()) }
}

/// Reads the fields of a type; of a type that this build does not know, nothing.
pub(super) struct DataIn<'k>(pub &'k str);

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = r#"{"v":1,"run":"run_00000001","seq":7,"at_ms":5,"epoch":2,"by":{"kind":"driver","name":"d"},"type":"attempt.lost","data":{"attempt":"att_3","why":"gone"}}"#;

    fn changed(from: &str, to: &str) -> Result<Recorded, Unreadable> {
        let text = EVENT.replacen(from, to, 1);
        assert_ne!(text, EVENT);
        Recorded::from_bytes(text.as_bytes())
    }

    #[test]
    fn an_event_reads_back_byte_for_byte_wherever_its_fields_stand() {
        let event = Recorded::from_bytes(EVENT.as_bytes()).unwrap();
        assert_eq!(event.to_bytes().unwrap(), EVENT.as_bytes());
        let data = r#","data":{"attempt":"att_3","why":"gone"}"#;
        let first = EVENT.replace(data, "").replacen('{', &format!("{{{},", &data[1..]), 1);
        assert_eq!(Recorded::from_bytes(first.as_bytes()).as_ref(), Ok(&event));
        assert_eq!(changed(r#""type":"attempt.lost""#, r#""type":"attempt\u002elost""#).as_ref(), Ok(&event));
    }

    #[test]
    fn what_a_newer_build_wrote_is_named_whatever_its_fields_are() {
        let newer = |v, kind: &str| Err(Unreadable::Newer { v, kind: kind.to_owned() });
        assert_eq!(changed(r#""v":1"#, r#""v":2"#), newer(2, "attempt.lost"));
        assert_eq!(changed("attempt.lost", "attempt.moved"), newer(1, "attempt.moved"));
        let more = EVENT.replace(r#"{"v":1"#, r#"{"more":[1,{}],"v":2"#);
        assert_eq!(Recorded::from_bytes(more.as_bytes()), newer(2, "attempt.lost"));
        let shape = r#"{"attempt":"att_3","why":"gone"}"#;
        let text = EVENT.replace(r#""v":1"#, r#""v":2"#).replace(shape, "[1]");
        assert_eq!(Recorded::from_bytes(text.as_bytes()), newer(2, "attempt.lost"));
    }

    #[test]
    fn what_is_missing_double_or_wrong_is_damage() {
        for (from, to) in [
            (r#""seq":7,"#, ""),
            (r#""type":"attempt.lost","#, ""),
            (r#""seq":7,"#, r#""seq":7,"seq":7,"#),
            (r#"gone"}"#, r#"gone"},"data":{}"#),
            (r#""why":"gone""#, r#""why":"gone","more":1"#),
            (r#""epoch":2,"#, r#""epoch":2,"later":[1,{}],"#),
            (r#"{"v":1"#, r#"{"later":0,"v":1"#),
            (r#""name":"d""#, r#""name":"d","more":1"#),
            (r#""v":1"#, r#""v":0"#),
            ("att_3", "dec_3"),
            ("run_00000001", "run_1"),
            ("gone", "gone\n"),
        ] {
            assert!(matches!(changed(from, to), Err(Unreadable::Damaged(_))), "{from} -> {to}");
        }
        assert!(matches!(Recorded::from_bytes(&EVENT.as_bytes()[..80]), Err(Unreadable::Damaged(_))));
    }
}
