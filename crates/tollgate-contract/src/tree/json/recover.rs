//! What is no JSON and can be told all the same: it is noted, and reading goes on behind it.

use std::borrow::Cow;

use super::{BYTES_MAX, FAULTS_MAX, Fault, Reader};
use crate::tree::Value;
use tollgate_core::code::Code;

impl<'a> Reader<'a> {
    /// Keeps a fault that can be passed over; with too many of them nothing can be told any more.
    pub(super) fn note(&mut self, fault: Fault) -> Result<(), Fault> {
        if self.faults.len() >= FAULTS_MAX {
            return Err(fault);
        }
        self.faulty = self.nodes;
        self.faults.push(fault);
        Ok(())
    }

    /// Keeps a fault of a habit that goes through a whole text, once.
    fn note_once(&mut self, fault: Fault) -> Result<(), Fault> {
        if self.habits.contains(&fault.message) {
            return Ok(());
        }
        self.habits.push(fault.message.clone());
        self.note(fault)
    }

    /// Ends reading at a fault that nothing can be told behind; right after another one it is a part of that.
    pub(super) fn stop(&mut self, fault: Fault) {
        let part = !self.faults.is_empty() && self.nodes <= self.faulty + 1 && fault.code == Code::JSON_SYNTAX;
        if !self.stopped && !part && self.faults.len() <= FAULTS_MAX {
            self.faults.push(fault);
        }
        self.stopped = true;
    }

    /// Passes over comments.
    #[cold]
    pub(super) fn comments(&mut self) {
        while let Some(end) = self.comment_end() {
            let fault = self.syntax("there are no comments in JSON", "leave the comment out");
            if let Err(fault) = self.note_once(fault) {
                return self.stop(fault);
            }
            self.at = end;
            while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
        }
    }

    fn comment_end(&self) -> Option<usize> {
        let rest = &self.text[self.at..];
        let (sign, extra) = match rest.get(..2)? {
            "//" => ("\n", 0),
            "/*" => ("*/", 2),
            _ => return None,
        };
        Some(rest[2..].find(sign).map_or(self.text.len(), |end| self.at + 2 + end + extra))
    }

    /// A value that JSON does not have.
    #[cold]
    pub(super) fn odd_value(&mut self, depth: usize) -> Result<Value<'a>, Fault> {
        if self.at >= self.bytes.len() {
            return Err(self.cut_off());
        }
        if depth == 0 {
            let hint = "print the JSON alone, without words or a fence around it";
            return Err(self.fault(Code::TEXT_AROUND, "this is not JSON but other text", hint));
        }
        match self.peek() {
            b'\'' => return self.single_quoted().map(Value::Text),
            b',' | b'}' | b']' => {
                let fault = self.missing();
                self.note(fault)?;
                return Ok(self.unknown(self.at));
            }
            _ => {}
        }
        let word = self.bare_word();
        let hint = match self.peek() {
            b'T' | b'F' | b'N' | b'u' => "write `true`, `false` or `null`",
            _ => "put texts in double quotes",
        };
        let fault = self.syntax("this is no JSON value", hint);
        if word.is_empty() {
            return Err(fault);
        }
        self.note(fault)?;
        let value = match word {
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            _ => self.unknown(self.at),
        };
        self.at += word.len();
        Ok(value)
    }

    /// A value of which nothing is known: nothing is said of it either.
    fn unknown(&mut self, at: usize) -> Value<'a> {
        self.broken.push(u32::try_from(at).unwrap_or(u32::MAX));
        Value::Null
    }

    fn missing(&self) -> Fault {
        self.syntax("a value is missing here", "write the value, or take the comma away")
    }

    /// Passes over commas where a key should stand; whether there were any.
    pub(super) fn commas(&mut self) -> Result<bool, Fault> {
        let hole = self.peek() == b',';
        if hole {
            self.note(self.syntax("a key and its value are missing here", "take the comma away"))?;
        }
        while self.peek() == b',' {
            self.at += 1;
            self.space();
        }
        Ok(hole)
    }

    /// Whether no item stands between two commas, or between a comma and the end of the list.
    pub(super) fn is_hole(&mut self) -> Result<bool, Fault> {
        self.space();
        let hole = matches!(self.peek(), b',' | b']') && self.at < self.bytes.len() && !self.stopped;
        if hole {
            let fault = self.missing();
            self.note(fault)?;
        }
        Ok(hole)
    }

    pub(super) fn no_number(&mut self, fault: Fault, start: u32) -> Result<Value<'a>, Fault> {
        let written = self.bytes[self.at..].iter();
        let written = written.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
        let end = fault.at as usize + written.count();
        self.at = fault.at as usize;
        if end >= self.bytes.len() {
            return Err(fault);
        }
        self.note(fault)?;
        let value = self.unknown(start as usize);
        self.at = end;
        Ok(value)
    }

    /// A sign that no escape has: it stands for itself.
    #[cold]
    pub(super) fn no_escape(&mut self, fault: Fault) -> Result<char, Fault> {
        let sign = self
            .text
            .get(self.at + 1..)
            .and_then(|rest| rest.chars().next())
            .filter(|_| fault.code == Code::JSON_SYNTAX);
        let Some(sign) = sign else { return Err(fault) };
        self.note(fault)?;
        self.at += 1 + sign.len_utf8();
        Ok(sign)
    }

    /// A key without double quotes.
    #[cold]
    pub(super) fn odd_key(&mut self) -> Result<Cow<'a, str>, Fault> {
        if self.peek() == b'\'' {
            return self.single_quoted();
        }
        let word = self.bare_word();
        let fault = self.syntax("a key is missing here", "keys stand in double quotes");
        if word.is_empty() || !self.text[self.at + word.len()..].trim_start().starts_with(':') {
            return Err(fault);
        }
        self.note_once(fault)?;
        self.at += word.len();
        Ok(Cow::Borrowed(word))
    }

    fn single_quoted(&mut self) -> Result<Cow<'a, str>, Fault> {
        let fault = self.syntax("a text begins with `'`", "JSON texts stand in double quotes");
        let rest = &self.text[self.at + 1..];
        // It ends in its line, before anything that may be an escape.
        let ends = |byte: &u8| matches!(byte, b'\'' | b'\n' | b'\r' | b'\\');
        let Some(end) = rest.bytes().position(|byte| ends(&byte)).filter(|end| rest.as_bytes()[*end] == b'\'') else {
            return Err(fault);
        };
        self.note_once(fault)?;
        self.at += end + 2;
        Ok(Cow::Borrowed(&rest[..end]))
    }

    /// A word of letters that stands here.
    fn bare_word(&self) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$')));
        let word = &rest[..end.unwrap_or(rest.len())];
        let after = rest[word.len()..].trim_start();
        if after.starts_with([',', '}', ']', ':']) { word } else { "" }
    }

    /// Goes on where a comma is missing; where something else is wrong, nothing is known of what follows.
    #[cold]
    pub(super) fn no_comma(&mut self, closing: u8, message: &str, hint: &'static str) {
        let fault = self.syntax(message, hint);
        let goes_on = match closing {
            b'}' => self.peek() == b'"',
            _ => matches!(self.peek(), b'"' | b'{' | b'[' | b'-' | b'0'..=b'9'),
        };
        match goes_on {
            true if self.at < self.bytes.len() => {
                if let Err(fault) = self.note(fault) {
                    self.stop(fault);
                }
            }
            _ => self.stop(fault),
        }
    }
}

const _: () = assert!(BYTES_MAX < u32::MAX as usize);
