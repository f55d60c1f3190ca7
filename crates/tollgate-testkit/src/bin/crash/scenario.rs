//! What is played: a scenario is a task, a script for its workers and the answers of its person. A new one is a new entry.

/// One story that is killed in every way.
#[derive(Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// The task file.
    pub task: &'static str,
    /// What the workers do.
    pub script: &'static str,
    /// The words with which the run is started, besides its task and its workers.
    pub words: &'static [&'static str],
    /// What lies in the checkout and is not committed.
    pub dirty: &'static [(&'static str, &'static str)],
    /// The roles that the script knows.
    pub roles: &'static [&'static str],
    /// What the person answers; of questions that are open at once, the first of these.
    pub answers: &'static [Answer],
    /// How often the person types `retry`.
    pub retries: usize,
    /// Whether the person lands it in their checkout when it is over.
    pub lands: bool,
    /// What it comes to when nobody is killed; a story that does not come to it is not the one that was meant.
    pub comes_to: &'static [&'static str],
}

/// What the person answers to one question.
#[derive(Debug)]
pub struct Answer {
    /// The ask it is about.
    pub ask: &'static str,
    /// The how manieth time it is asked, from 1; 0: every other time.
    pub nth: usize,
    /// Files that the person changes in the work tree first.
    pub files: &'static [(&'static str, &'static str)],
    /// The words behind the decision on the command line.
    pub words: &'static [&'static str],
}

const APPROVE: Answer = Answer { ask: "sign-off", nth: 0, files: &[], words: &["approve"] };
const IN_WORDS: Answer = Answer { ask: "questions", nth: 0, files: &[], words: &["--text", "Hello"] };

/// Every scenario.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "simple",
        task: include_str!("../../../scenarios/simple/task.md"),
        script: include_str!("../../../scenarios/simple/script.yaml"),
        words: &["--input", "complexity=simple", "--include-dirty"],
        dirty: &[("README.md", "# A project, changed\n"), ("notes/new.txt", "not committed\n")],
        roles: &["dev-tester", "dod-checker", "reviewer"],
        answers: &[APPROVE, IN_WORDS, Answer { ask: "solo", ..IN_WORDS }],
        retries: 0,
        lands: false,
        comes_to: &["a question is answered", "dod-checker rejects", "reviewer rejects"],
    },
    Scenario {
        name: "halted",
        task: include_str!("../../../scenarios/halted/task.md"),
        script: include_str!("../../../scenarios/halted/script.yaml"),
        words: &["--input", "complexity=standard", "--answer", "sign-off=approve"],
        dirty: &[],
        roles: &["developer", "dod-checker", "reviewer", "tester"],
        answers: &[Answer { ask: "unfinished", nth: 0, files: &[], words: &["retry"] }],
        retries: 2,
        lands: false,
        comes_to: &["retried"],
    },
    Scenario {
        name: "standard",
        task: include_str!("../../../scenarios/standard/task.md"),
        script: include_str!("../../../scenarios/standard/script.yaml"),
        words: &["--input", "complexity=standard"],
        dirty: &[],
        roles: &["developer", "dod-checker", "reviewer", "tester"],
        answers: &[
            APPROVE,
            IN_WORDS,
            Answer { ask: "escalated", nth: 0, files: &[("greet.sh", "echo Hello, by hand\n")], words: &["by-hand"] },
        ],
        retries: 0,
        lands: true,
        comes_to: &[
            "a question is answered",
            "dod-checker rejects",
            "mended by hand",
            "reviewer rejects",
            "tester rejects",
        ],
    },
    Scenario {
        name: "complex",
        task: include_str!("../../../scenarios/complex/task.md"),
        script: include_str!("../../../scenarios/complex/script.yaml"),
        words: &["--input", "complexity=complex", "--input", "sides=backend,frontend", "--input", "infra=needed"],
        dirty: &[],
        roles: &["devops", "developer", "dod-checker", "reviewer", "tester"],
        answers: &[APPROVE, IN_WORDS, Answer { ask: "out-of-scope", nth: 0, files: &[], words: &["extend"] }],
        retries: 0,
        lands: false,
        comes_to: &[
            "a landing is conflict",
            "a landing is out_of_scope",
            "a question is answered",
            "dod-checker rejects",
            "reviewer rejects",
            "tester rejects",
        ],
    },
];
