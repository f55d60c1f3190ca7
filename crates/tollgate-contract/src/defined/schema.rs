//! The JSON Schema of a contract's document.

use serde_json::{Map, Value, json};

use crate::defined::definition::{Definition, Field, Kind, Range, RecordType, Type};

/// The schema, draft 2020-12.
pub fn schema(definition: &Definition) -> Value {
    let Value::Object(own) = of(&definition.root) else { return Value::Null };
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".to_owned(), definition.id.as_ref().into());
    schema.insert("description".to_owned(), definition.purpose.as_str().into());
    schema.extend(own);
    Value::Object(schema)
}

fn of(of: &Type) -> Value {
    let schema = kind(&of.kind);
    match (of.nullable, schema) {
        (false, schema) => schema,
        (true, Value::Object(mut own))
            if own.get("type").is_some_and(Value::is_string) && !own.contains_key("enum") =>
        {
            let word = own.remove("type").unwrap_or_default();
            own.insert("type".to_owned(), json!([word, "null"]));
            Value::Object(own)
        }
        (true, schema) => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

fn kind(kind: &Kind) -> Value {
    match kind {
        Kind::Any => json!({}),
        Kind::Bool => json!({"type": "boolean"}),
        Kind::Const(word, false) => json!({"const": word.as_ref()}),
        Kind::Const(word, true) => json!({"const": serde_json::from_str::<Value>(word).unwrap_or_default()}),
        Kind::Text(text) => {
            let mut own = sized("string", text.range, "minLength", "maxLength");
            match &text.like[..] {
                [] => {}
                likes => {
                    let any: Vec<String> =
                        likes.iter().map(crate::defined::definition::text_pattern::Like::pattern).collect();
                    own.insert("pattern".to_owned(), format!("^({})$", any.join("|")).into());
                }
            }
            if !text.never.is_empty() {
                let never: Vec<&str> = text.never.iter().map(|word| &**word).collect();
                own.insert("not".to_owned(), json!({"enum": never}));
            }
            Value::Object(own)
        }
        Kind::Int(range) => Value::Object(sized("integer", *range, "minimum", "maximum")),
        Kind::Number(range) => Value::Object(sized("number", *range, "minimum", "maximum")),
        Kind::OneOf(words) => json!({"enum": words.iter().map(|word| &**word).collect::<Vec<_>>()}),
        Kind::List(list) => {
            let mut own = sized("array", list.range, "minItems", "maxItems");
            own.insert("items".to_owned(), of(&list.of));
            if list.unique == Some(None) {
                own.insert("uniqueItems".to_owned(), true.into());
            }
            Value::Object(own)
        }
        Kind::Map(map) => {
            let mut own = sized("object", map.range, "minProperties", "maxProperties");
            own.insert("additionalProperties".to_owned(), of(&map.of));
            if !map.keys.is_empty() {
                let any: Vec<String> =
                    map.keys.iter().map(crate::defined::definition::text_pattern::Like::pattern).collect();
                own.insert("propertyNames".to_owned(), json!({"pattern": format!("^({})$", any.join("|"))}));
            }
            Value::Object(own)
        }
        Kind::Record(record) => self::record(record),
        Kind::Union(types) => json!({"anyOf": types.iter().map(of).collect::<Vec<_>>()}),
    }
}

fn record(record: &RecordType) -> Value {
    let describe = |field: &Field| {
        let mut schema = of(&field.of);
        if let Value::Object(own) = &mut schema
            && !field.doc.is_empty()
        {
            own.insert("description".to_owned(), field.doc.as_str().into());
        }
        (field.name.to_string(), schema)
    };
    let properties: Map<String, Value> = record.fields.iter().map(describe).collect();
    let required: Vec<&str> = record.fields.iter().filter(|field| !field.optional).map(|field| &*field.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": record.open})
}

fn sized(word: &str, range: Range, min: &str, max: &str) -> Map<String, Value> {
    let mut own = Map::new();
    own.insert("type".to_owned(), word.into());
    own.extend(range.min.map(|bound| (min.to_owned(), bound.into())));
    own.extend(range.max.map(|bound| (max.to_owned(), bound.into())));
    own
}
