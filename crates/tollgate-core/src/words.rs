//! Words: an enum and its texts are written once, for a closed set and for one that takes any other name too.

/// The words of a closed set: `ALL`, `WORDS`, `word` and `parse`.
#[macro_export]
macro_rules! words {
    ($set:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $set {
            /// Every one, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];
            /// Their words.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Its word in protocols, reports and journals.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The one that a word means.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

/// An enum of words and of any other name, written and ordered as the text that it is.
macro_rules! words_or_name {
    ($(#[$doc:meta])* $set:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ } or $(#[$rest:meta])* $other:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
        #[serde(from = "Name")]
        pub enum $set {
            $($(#[$about])* $variant,)+
            $(#[$rest])* $other(Name),
        }

        impl $set {
            /// The words that are no other name.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl std::convert::From<Name> for $set {
            fn from(name: Name) -> Self {
                match &*name { $($word => Self::$variant,)+ _ => Self::$other(name) }
            }
        }

        impl std::convert::From<&str> for $set {
            fn from(name: &str) -> Self {
                Name::from(name).into()
            }
        }

        impl std::ops::Deref for $set {
            type Target = str;

            fn deref(&self) -> &str {
                match self { $(Self::$variant => $word,)+ Self::$other(name) => name }
            }
        }

        impl std::borrow::Borrow<str> for $set {
            fn borrow(&self) -> &str {
                self
            }
        }

        impl Ord for $set {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                (**self).cmp(other)
            }
        }

        impl PartialOrd for $set {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl std::fmt::Display for $set {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self)
            }
        }

        impl Serialize for $set {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self)
            }
        }
    };
}

pub(crate) use {words, words_or_name};

#[cfg(test)]
mod tests {
    use crate::protocol::model::Resource;
    use crate::report::{Disposition, Health};

    #[test]
    fn a_word_or_a_name_is_written_as_it_is_read() {
        for text in Resource::WORDS.iter().chain(&["code"]) {
            let json = format!("\"{text}\"");
            let read: Resource = serde_json::from_str(&json).unwrap();
            assert_eq!((serde_json::to_string(&read).unwrap(), &*read), (json, *text));
            assert_eq!(matches!(read, Resource::Named(_)), *text == "code");
        }
        for text in Disposition::WORDS.iter().chain(&["later"]) {
            let json = format!("\"{text}\"");
            let read: Disposition = serde_json::from_str(&json).unwrap();
            assert_eq!((serde_json::to_string(&read).unwrap(), &*read), (json, *text));
            assert_eq!(matches!(read, Disposition::Other(_)), *text == "later");
        }
    }

    #[test]
    fn resources_are_ordered_as_their_texts() {
        let mut list = ["units", "code", "tree", "area"].map(Resource::from);
        list.sort();
        assert_eq!(list.join(" "), "area code tree units");
    }

    #[test]
    fn a_word_of_a_closed_set_is_what_serde_writes() {
        for health in Health::ALL {
            assert_eq!(serde_json::to_value(health).unwrap(), health.word());
            assert_eq!(Health::parse(health.word()), Some(health));
        }
        assert_eq!(Health::parse("fine"), None);
    }
}
