//! What is played: a scenario is the words that start a run, a script for its workers and the answers of its person. A new one is a
//! new entry.

/// One story that is killed in every way.
#[derive(Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What the workers do.
    pub script: &'static str,
    /// What is typed behind `run`, besides the workers: the protocol, its documents and its inputs.
    pub starts: &'static str,
    /// The documents beside the repository.
    pub documents: &'static [(&'static str, &'static str)],
    /// What lies in the checkout and is not committed.
    pub dirty: &'static [(&'static str, &'static str)],
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

const fn answer(ask: &'static str, words: &'static [&'static str]) -> Answer {
    Answer { ask, nth: 0, files: &[], words }
}

const APPROVE: Answer = answer("sign-off", &["approve"]);
const IN_WORDS: Answer = answer("questions", &["--text", "Hello"]);

/// One in which nothing happens.
const PLAIN: Scenario = Scenario {
    name: "",
    script: "",
    starts: "",
    documents: &[],
    dirty: &[],
    answers: &[],
    retries: 0,
    lands: false,
    comes_to: &[],
};

/// Every scenario.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "simple",
        script: include_str!("../../../scenarios/simple/script.yaml"),
        starts: "build-plan --task ../task.md --input complexity=simple --include-dirty",
        documents: &[("task.md", include_str!("../../../scenarios/simple/task.md"))],
        dirty: &[("README.md", "# A project, changed\n"), ("notes/new.txt", "not committed\n")],
        answers: &[APPROVE, IN_WORDS, Answer { ask: "solo", ..IN_WORDS }],
        comes_to: &["a question is answered", "dod-checker rejects", "reviewer rejects"],
        ..PLAIN
    },
    Scenario {
        name: "halted",
        script: include_str!("../../../scenarios/halted/script.yaml"),
        starts: "build-plan --task ../task.md --input complexity=standard --answer sign-off=approve",
        documents: &[("task.md", include_str!("../../../scenarios/halted/task.md"))],
        answers: &[answer("unfinished", &["retry"])],
        retries: 2,
        comes_to: &["retried"],
        ..PLAIN
    },
    Scenario {
        name: "team",
        script: include_str!("../../../scenarios/team/script.yaml"),
        starts: "team --goal Greetings --input mode=lean",
        answers: &[answer("outgrown", &["lean", "--text", "The name comes with the call."]), answer("notes", &["fix"])],
        lands: true,
        comes_to: &["qa rejects", "reviewer accepts with notes"],
        ..PLAIN
    },
    Scenario {
        name: "standard",
        script: include_str!("../../../scenarios/standard/script.yaml"),
        starts: "build-plan --task ../task.md --input complexity=standard",
        documents: &[("task.md", include_str!("../../../scenarios/standard/task.md"))],
        answers: &[
            APPROVE,
            IN_WORDS,
            Answer { files: &[("greet.sh", "echo Hello, by hand\n")], ..answer("escalated", &["by-hand"]) },
        ],
        lands: true,
        comes_to: &[
            "a question is answered",
            "dod-checker rejects",
            "mended by hand",
            "reviewer rejects",
            "tester rejects",
        ],
        ..PLAIN
    },
    Scenario {
        name: "complex",
        script: include_str!("../../../scenarios/complex/script.yaml"),
        starts: "build-plan --task ../task.md --input complexity=complex --input sides=backend,frontend --input infra=needed",
        documents: &[("task.md", include_str!("../../../scenarios/complex/task.md"))],
        answers: &[APPROVE, IN_WORDS, answer("out-of-scope", &["extend"])],
        comes_to: &[
            "a landing is conflict",
            "a landing is out_of_scope",
            "a question is answered",
            "dod-checker rejects",
            "reviewer rejects",
            "tester rejects",
        ],
        ..PLAIN
    },
    Scenario {
        name: "supervisor",
        script: include_str!("../../../scenarios/supervisor/script.yaml"),
        starts: "supervisor --goal Greetings --input profile=lean --input width=1 --input boundaries=README.md",
        answers: &[
            answer("@intake", &["--answer", "sources=the request", "--answer", "path=human_in_loop"]),
            answer("dispositions", &["decided", "--requirement", "R-003=deferred"]),
            Answer { nth: 1, ..answer("spec-review", &["revise", "--text", "Name the log."]) },
            answer("spec-review", &["approve"]),
            answer("plan-review", &["approve"]),
            answer("audit-failed", &["repair"]),
        ],
        lands: true,
        comes_to: &["auditor rejects", "inputs are given", "requirements are decided on", "verifier rejects"],
        ..PLAIN
    },
];
