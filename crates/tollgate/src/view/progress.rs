//! The live region of a run: what each flow does, who works on what, for how long, and what it waits for.
//!
//! [`frame`] is pure. [`Region`] redraws it in place on a terminal.

use std::io::{self, Write};

use tollgate_app::format::{self, duration};

use super::status;
use super::table::table;
use super::text::{Colour, Line, Style};

/// Rows beyond this are counted, not shown: the region must fit a terminal.
const ROWS_MAX: usize = 12;

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub run: String,
    pub protocol: String,
    pub goal: String,
    pub status: tollgate_api::RunStatus,
    /// Since the run was started or taken on.
    pub elapsed_ms: u64,
    pub flows: Vec<FlowRow>,
    /// Questions that wait, each with the command that answers it.
    pub questions: Vec<(String, String)>,
    pub criteria_passed: u32,
    pub criteria_waived: u32,
    pub criteria_total: u32,
    pub findings_open: u32,
}

/// One flow instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowRow {
    /// The unit; none: the run itself.
    pub unit: Option<String>,
    pub stage: String,
    pub doing: Doing,
}

/// What a flow does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// A worker or a command is at it.
    Works {
        who: String,
        iteration: u32,
        for_ms: u64,
    },
    /// Something must happen first: a decision, another unit, a place.
    Waits {
        on: String,
        for_ms: u64,
    },
    /// It runs other flows.
    Runs {
        done: u32,
        total: u32,
    },
    Held {
        why: String,
    },
    Done,
    Dropped,
}

/// Lays the region out for a terminal of so many columns.
pub fn frame(model: &Model, width: usize) -> Vec<Line> {
    let state = status::run(model.status);
    let head = Line::new().add(Style::Strong, &model.run).text(format!("  {}  ", model.protocol));
    let head = head
        .add(state.style, format!("{} {}", state.symbol, state.word))
        .text(format!("  {}  ", duration(model.elapsed_ms)));
    let mut lines = vec![head.add(Style::Faint, &model.goal).fit(width)];
    let rows = model.flows.iter().take(ROWS_MAX).map(row).collect();
    lines.extend(table(&[], rows, width.saturating_sub(2)).into_iter().map(|line| Line::from("  ").join(line)));
    if let Some(more) = model.flows.len().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        lines.push(Line::from("  ").add(Style::Faint, format!("and {more} more")));
    }
    if model.criteria_total > 0 || model.findings_open > 0 {
        let passed = format!("  {} of {} criteria passed", model.criteria_passed, model.criteria_total);
        let waived = match model.criteria_waived {
            0 => String::new(),
            waived => format!(", {waived} waived"),
        };
        let findings = match model.findings_open {
            0 => String::new(),
            open => format!(", {} open", format::count(open as usize, "finding")),
        };
        lines.push(Line::new().add(Style::Faint, passed + &waived + &findings).fit(width));
    }
    for (question, command) in &model.questions {
        lines.push(Line::new().add(Style::Warn, "? ").add(Style::Strong, question).fit(width));
        lines.push(Line::from("  ").add(Style::Accent, command).fit(width));
    }
    lines
}

fn row(flow: &FlowRow) -> Vec<Line> {
    let cell = |style, text: String| Line::new().add(style, text);
    let (symbol, what, time) = match &flow.doing {
        Doing::Works { who, iteration, for_ms } => {
            let again = if *iteration > 1 { format!(", {}", format::nth_time(*iteration)) } else { String::new() };
            (cell(Style::Accent, "▶".into()), Line::from(format!("{who} works{again}")), duration(*for_ms))
        }
        Doing::Waits { on, for_ms } => {
            (cell(Style::Warn, "?".into()), Line::from(format!("waits for {on}")), duration(*for_ms))
        }
        Doing::Runs { done, total } => {
            let units = format::count(*total as usize, "unit");
            (cell(Style::Accent, "▸".into()), Line::from(format!("{done} of {units} done")), String::new())
        }
        Doing::Held { why } => (cell(Style::Bad, "■".into()), Line::from(format!("held: {why}")), String::new()),
        Doing::Done => (cell(Style::Good, "✓".into()), Line::from("done"), String::new()),
        Doing::Dropped => (cell(Style::Faint, "✗".into()), Line::from("dropped"), String::new()),
    };
    let unit = cell(Style::Strong, flow.unit.clone().unwrap_or_else(|| "run".into()));
    vec![symbol, unit, Line::from(flow.stage.clone()), what, cell(Style::Faint, time)]
}

/// Draws one frame after the other, in place.
#[derive(Debug)]
pub struct Region<W> {
    out: W,
    width: usize,
    colour: Colour,
    drawn: usize,
}

impl<W: Write> Region<W> {
    pub fn new(out: W, width: usize, colour: Colour) -> Self {
        Self { out, width, colour, drawn: 0 }
    }

    /// Shows the next frame.
    pub fn show(&mut self, model: &Model) -> io::Result<()> {
        self.draw(&frame(model, self.width))?;
        self.out.flush()
    }

    /// Takes the region away, so that other lines can be printed; the next picture is drawn below them.
    pub fn clear(&mut self) -> io::Result<()> {
        if self.drawn > 0 {
            write!(self.out, "\x1b[{}A\r\x1b[J", self.drawn)?;
            self.drawn = 0;
        }
        self.out.flush()
    }

    // One write per picture, so that a terminal never shows a half.
    fn draw(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = String::new();
        if self.drawn > 0 {
            text.push_str(&format!("\x1b[{}A\r", self.drawn));
        }
        for line in lines {
            text.push_str(&line.render(self.colour));
            text.push_str("\x1b[K\n");
        }
        text.push_str("\x1b[J");
        self.drawn = lines.len();
        self.out.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        let works = |who: &str, iteration, for_ms| Doing::Works { who: who.into(), iteration, for_ms };
        let flow = |unit: Option<&str>, stage: &str, doing| FlowRow {
            unit: unit.map(str::to_owned),
            stage: stage.into(),
            doing,
        };
        Model {
            run: "run_7k3m9q2x".into(),
            protocol: "build-plan".into(),
            goal: "Add a rate limit to the public endpoints\x1b[2J".into(),
            status: tollgate_api::RunStatus::Working,
            elapsed_ms: 203_400,
            flows: vec![
                flow(None, "sides", Doing::Runs { done: 0, total: 2 }),
                flow(Some("backend"), "review", works("reviewer (codex)", 2, 41_000)),
                flow(Some("frontend"), "gaps", Doing::Waits { on: "dec_3".into(), for_ms: 95_000 }),
            ],
            questions: vec![(
                "The same rows are still open.".into(),
                "tollgate decide run_7k3m9q2x dec_3 accept".into(),
            )],
            criteria_passed: 3,
            criteria_waived: 1,
            criteria_total: 5,
            findings_open: 1,
        }
    }

    fn shown(lines: &[Line]) -> String {
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn a_frame_says_who_works_and_what_waits() {
        insta::assert_snapshot!("frame_80", shown(&frame(&model(), 80)));
        insta::assert_snapshot!("frame_140", shown(&frame(&model(), 140)));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_the_region_stays_small() {
        let mut many = model();
        many.flows = (0..500)
            .map(|i| FlowRow { unit: Some(format!("unit-{i}")), stage: "build".into(), doing: Doing::Done })
            .collect();
        for width in [1, 20, 80, 140] {
            assert!(frame(&model(), width).iter().all(|line| line.width() <= width.max(3)), "{width}");
            assert!(frame(&many, width).len() < ROWS_MAX + 8);
        }
    }

    #[test]
    fn a_terminal_is_redrawn_in_place() {
        let mut terminal = Vec::new();
        let mut region = Region::new(&mut terminal, 80, Colour::Never);
        region.show(&model()).unwrap();
        region.show(&model()).unwrap();
        region.clear().unwrap();
        let text = String::from_utf8(terminal).unwrap();
        assert_eq!(text.matches("\x1b[7A").count(), 2, "{text}");
    }
}
