//! The difference between two texts as a unified diff.

/// So many lines around a change are shown.
const AROUND: usize = 3;

/// Lines that differ: in the one text, and in the other.
type Change = (std::ops::Range<usize>, std::ops::Range<usize>);

/// A unified diff; empty where both are the same.
pub fn unified(file: &str, before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let changes = changes(&old, &new);
    if changes.is_empty() {
        return String::new();
    }
    let mut out = format!("--- a/{file}\n+++ b/{file}\n");
    let mut rest = &changes[..];
    while let Some(first) = rest.first() {
        let near = rest.windows(2).take_while(|pair| pair[1].0.start <= pair[0].0.end + 2 * AROUND).count();
        let (hunk, others) = rest.split_at(near + 1);
        rest = others;
        let last = hunk.last().unwrap_or(first);
        let lead = first.0.start.min(AROUND);
        let (from, to) = (first.0.start - lead, (last.0.end + AROUND).min(old.len()));
        let (new_from, new_to) = (first.1.start - lead, (last.1.end + to - last.0.end).min(new.len()));
        let span = |from: usize, to: usize| format!("{},{}", if to > from { from + 1 } else { from }, to - from);
        out.push_str(&format!("@@ -{} +{} @@\n", span(from, to), span(new_from, new_to)));
        let mut at = from;
        for (old_part, new_part) in hunk {
            old[at..old_part.start].iter().for_each(|line| push(&mut out, ' ', line));
            old[old_part.clone()].iter().for_each(|line| push(&mut out, '-', line));
            new[new_part.clone()].iter().for_each(|line| push(&mut out, '+', line));
            at = old_part.end;
        }
        old[at..to].iter().for_each(|line| push(&mut out, ' ', line));
    }
    out
}

fn push(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

/// Where two texts differ: line by line where they have equally many lines, else from the first to the last difference.
fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let before = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let whole = (before..old.len() - after, before..new.len() - after);
    if whole.0.is_empty() && whole.1.is_empty() {
        return Vec::new();
    }
    if old.len() != new.len() {
        return vec![whole];
    }
    let mut found: Vec<Change> = Vec::new();
    for at in whole.0.filter(|at| old[*at] != new[*at]) {
        match found.last_mut() {
            Some((a, b)) if a.end == at => (a.end, b.end) = (at + 1, at + 1),
            _ => found.push((at..at + 1, at..at + 1)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_what_is_around_them() {
        assert_eq!(unified("a", "x\n", "x\n"), "");
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = old.replace("2\n3", "b\n3").replace("11\n", "k\n");
        assert_eq!(
            unified("f", old, &new),
            "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n 1\n-2\n+b\n 3\n 4\n 5\n@@ -8,5 +8,5 @@\n 8\n 9\n 10\n-11\n+k\n-12\n+1b\n".replace("-12\n+1b\n", " 12\n")
        );
        assert_eq!(
            unified("f", "a\nb", "b\n"),
            "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n-a\n-b\n\\ No newline at end of file\n+b\n"
        );
    }
}
