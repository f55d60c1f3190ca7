//! Tables that fit the terminal: columns are as wide as their content, and the widest gives way first.

use super::text::{Line, Style};

const GAP: usize = 2;
/// A column is not cut below this, whatever the width; the line is cut instead.
const COLUMN_MIN: usize = 16;

/// Lays a table out. An empty header is left away; cells are cut, never wrapped.
pub fn table(header: &[&str], rows: Vec<Vec<Line>>, width: usize) -> Vec<Line> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<Vec<Line>> = Vec::new();
    if header.iter().any(|title| !title.is_empty()) {
        lines.push(header.iter().map(|title| Line::new().add(Style::Faint, *title)).collect());
    }
    lines.extend(rows);
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widths = share(natural(&lines, columns), width);
    lines.into_iter().map(|cells| row(cells, &widths).fit(width.max(1))).collect()
}

fn natural(rows: &[Vec<Line>], columns: usize) -> Vec<usize> {
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(Line::width).max();
    (0..columns).map(|column| widest(column).unwrap_or(0)).collect()
}

/// Takes columns away from the widest until the row fits, or every column is at its least.
fn share(mut widths: Vec<usize>, width: usize) -> Vec<usize> {
    let gaps = GAP * widths.len().saturating_sub(1);
    let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
    while over > 0 {
        let Some(widest) = widths.iter_mut().max() else { break };
        if *widest <= COLUMN_MIN {
            break;
        }
        // One column at a time would be slow for a cell of a megabyte: halve towards the least, never below what is needed.
        let take = over.min((*widest - COLUMN_MIN).div_ceil(2));
        *widest -= take;
        over -= take;
    }
    widths
}

fn row(cells: Vec<Line>, widths: &[usize]) -> Line {
    let last = cells.len().saturating_sub(1);
    let mut line = Line::new();
    for (index, (cell, width)) in cells.into_iter().zip(widths).enumerate() {
        let cell = cell.fit(*width);
        let pad = width.saturating_sub(cell.width());
        line = line.join(cell);
        if index < last {
            line = line.text(" ".repeat(pad + GAP));
        }
    }
    line
}

/// Breaks a text into lines of so many columns at its spaces; what has no space is cut hard.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        let mut used = 0;
        for word in paragraph.split(' ') {
            let mut word = word;
            let mut needs = super::text::width(word);
            if used > 0 && used + 1 + needs > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            } else if used > 0 {
                line.push(' ');
                used += 1;
            }
            while needs > width {
                let head = super::text::cut(word, width);
                word = &word[head.len()..];
                needs = super::text::width(word);
                lines.push(head);
            }
            line.push_str(word);
            used += needs;
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(width: usize) -> String {
        let rows = vec![
            vec![
                "run_7k3m9q2x".into(),
                "✓ succeeded".into(),
                "Add a rate limit to the public endpoints of the API".into(),
            ],
            vec!["run_0000000a".into(), "? waits for you".into(), "短い".into()],
        ];
        let lines = table(&["run", "status", "goal"], rows, width);
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn the_widest_column_gives_way() {
        assert_eq!(
            show(60),
            "run           status           goal\n\
             run_7k3m9q2x  ✓ succeeded      Add a rate limit to the publ…\n\
             run_0000000a  ? waits for you  短い\n"
        );
        assert_eq!(
            show(140).lines().nth(1),
            Some("run_7k3m9q2x  ✓ succeeded      Add a rate limit to the public endpoints of the API")
        );
    }

    #[test]
    fn no_width_is_too_small() {
        for width in 0..200 {
            for line in show(width).lines() {
                assert!(super::super::text::width(line) <= width.max(1), "{width}: {line}");
            }
        }
    }

    #[test]
    fn text_wraps_at_spaces_and_long_words_are_cut() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("0123456789abc", 8), ["01234567", "89abc"]);
        assert_eq!(wrap("a\n\nb", 8), ["a", "", "b"]);
    }
}
