//! The examples of `SKILL.md`: each command is run, and its output has the lines that follow it.

use crate::command::{finish, stdout_of, traceparse};
use crate::documented::read_project;

/// The text of the blocks of a language, in order.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let start = format!("```{language}\n");
    let starts = text.split(start.as_str()).skip(1);
    starts.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn examples_of_the_skill_are_true() {
    let text = read_project("SKILL.md");
    assert!(text.lines().count() <= 150, "agents read it whole");
    let (commands, outputs) = (blocks(&text, "sh"), blocks(&text, "text"));
    assert_eq!((commands.len(), outputs.len()), (5, 5));
    for (command, expected) in commands.into_iter().zip(outputs) {
        let mut words = command.split_whitespace();
        assert_eq!(words.next(), Some("traceparse"), "{command}");
        let words: Vec<&str> = words.collect();
        let found = stdout_of(&finish(traceparse(&words).current_dir(support::repository(""))).code(0));
        let mut lines = found.lines();
        for line in expected.lines() {
            assert!(lines.any(|found| found.trim_end() == line.trim_end()), "{command}: {line:?} is not in\n{found}");
        }
    }
}
