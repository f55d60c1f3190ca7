//! From a document to its text; reading the text gives the document back.

use std::fmt::Write as _;

use super::document::{Document, FileEntry};
use super::finding;
use super::heading::Heading;

/// Writes a document; refuses one whose words would be read as something else.
pub fn render(document: Document) -> Result<String, String> {
    let document = document.counted();
    let text = write(&document);
    match super::reread(&text) {
        Some(read) if read == document => Ok(text),
        Some(read) => Err(format!("{} would not be read back as it is", differing(&document, &read))),
        None => Err("the document would not be read back as a report".to_owned()),
    }
}

/// The first field in which two documents differ.
fn differing(one: &Document, other: &Document) -> String {
    let (Ok(one), Ok(other)) = (serde_json::to_value(one), serde_json::to_value(other)) else { return "it".to_owned() };
    let empty = serde_json::Map::new();
    let (one, other) = (one.as_object().unwrap_or(&empty), other.as_object().unwrap_or(&empty));
    let keys = one.keys().chain(other.keys());
    keys.into_iter().find(|key| one.get(*key) != other.get(*key)).map_or("it".to_owned(), |key| format!("`{key}`"))
}

fn write(document: &Document) -> String {
    let index = &document.index;
    let files = index.files.unwrap_or_default();
    let counts = format!("{} created, {} modified, {} deleted", files.created, files.modified, files.deleted);
    let fields = format!(
        "outcome: {}\nverdict: {}\nfiles: {counts}\nnext_phase: {}\nopen_questions: {}",
        scalar(&index.outcome),
        index.verdict.word(),
        scalar(&index.next_phase),
        index.open_questions.unwrap_or_default()
    );
    let mut page = Page::default();
    page.section(Heading::Status, document.status.word());
    page.section(Heading::StatusReason, &document.status_reason);
    page.section(Heading::Abstract, &fields);
    page.section(Heading::Iteration, &document.iteration.map(|number| format!("iter {number}")).unwrap_or_default());
    page.list(Heading::FilesCreated, document.files_created.iter().map(file));
    page.list(Heading::FilesModified, document.files_modified.iter().map(file));
    page.some_list(Heading::FilesDeleted, document.files_deleted.iter().map(file));
    page.section(Heading::QualityGates, &document.quality_gate_results);
    let rows = document.dod_coverage.iter().map(|row| format!("{} {}", row.mark.sign(), row.row));
    page.list(Heading::Coverage, rows);
    page.some(Heading::Verdict, document.verdict.map_or("", |verdict| verdict.word()));
    page.some_list(Heading::VerifiedRows, document.verified_rows.iter().cloned());
    page.some_list(Heading::Gaps, document.gaps.iter().cloned());
    page.some(Heading::ReadingScope, &document.reading_scope_used);
    page.some_list(Heading::Findings, document.findings.iter().map(finding::write));
    page.some(Heading::ReReviewMode, &document.re_review_mode);
    if let Some(ids) = &document.addressed_findings {
        page.list(Heading::AddressedFindings, ids.iter().map(ToString::to_string));
    }
    page.section(Heading::KeyDecisions, &document.key_decisions);
    page.section(Heading::NextAgent, &document.for_the_next_agent);
    page.some(Heading::LessonsLearned, &document.lessons_learned);
    page.list(Heading::OpenQuestions, document.open_questions.iter().cloned());
    for note in &document.other {
        page.titled(&note.title, &note.text);
    }
    page.text
}

/// A value of one line, quoted where YAML would read it otherwise.
fn scalar(value: &str) -> String {
    let odd = value.is_empty() || value.starts_with(['"', '\'', '*']) || value.contains('\n');
    if odd { serde_json::Value::from(value).to_string() } else { value.to_owned() }
}

fn file(entry: &FileEntry) -> String {
    let path = if entry.path.contains('`') { entry.path.clone() } else { format!("`{}`", entry.path) };
    if entry.note.is_empty() { path } else { format!("{path} — {}", entry.note) }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn titled(&mut self, title: &str, content: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        let end = if content.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{gap}## {title}\n{content}{end}");
    }

    fn section(&mut self, heading: Heading, content: &str) {
        self.titled(heading.title(), content);
    }

    fn some(&mut self, heading: Heading, content: &str) {
        if !content.is_empty() {
            self.section(heading, content);
        }
    }

    fn list(&mut self, heading: Heading, items: impl Iterator<Item = String>) {
        let lines: Vec<String> = items.map(|item| item_lines(&item)).collect();
        self.section(heading, if lines.is_empty() { "None" } else { "" });
        for line in lines {
            self.text.push_str(&line);
        }
    }

    fn some_list(&mut self, heading: Heading, items: impl Iterator<Item = String>) {
        let mut items = items.peekable();
        if items.peek().is_some() {
            self.list(heading, items);
        }
    }
}

/// A list item, its further lines indented below its first.
fn item_lines(item: &str) -> String {
    let mut text = String::new();
    for (at, line) in item.split('\n').enumerate() {
        let indent = match (at, line) {
            (0, _) => "- ",
            (_, "") => "",
            _ => "  ",
        };
        let _ = writeln!(text, "{indent}{line}");
    }
    text
}
