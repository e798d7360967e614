//! Folded stacks.

use crate::command::{Folder, fails, fixture, ok, orchard, read_text};

/// The lines, as stack and weight.
fn folded(args: &[&str]) -> Vec<(Vec<String>, u64)> {
    let text = ok(&[args, &["--format", "folded"]].concat());
    let lines = text.lines().map(|line| line.rsplit_once(' ').expect("a line ends with its weight"));
    lines
        .map(|(stack, weight)| {
            (stack.split(';').map(str::to_owned).collect(), weight.parse().expect("a weight is a number"))
        })
        .collect()
}

fn total(lines: &[(Vec<String>, u64)]) -> u64 {
    lines.iter().map(|(_, weight)| weight).sum()
}

#[test]
fn a_line_is_process_thread_and_stack_root_first() {
    let lines = folded(&[&orchard()]);
    assert_eq!(lines.len(), 32, "one line for each distinct stack of each thread");
    assert_eq!(total(&lines), 485_000_000);
    let (stack, weight) = &lines[0];
    assert_eq!(stack[..3], ["Orchard (4150)", "press worker #2 (pool) (0x2a118)", "thread_start"]);
    assert_eq!(stack.last().map(String::as_str), Some("orchard::Press::filter(float*, unsigned long, float)"));
    assert_eq!((stack.len(), *weight), (2 + 11, 92_000_000));
    let bare = ["Orchard (4150)", "com.orchard.render (0x2a11f)", "[no stack recorded]"];
    assert!(lines.iter().any(|(stack, weight)| *stack == bare && *weight == 1_000_000));
}

#[test]
fn the_tree_view_is_what_folded_stacks_are() {
    let path = orchard();
    assert_eq!(ok(&[&path, "--format", "folded"]), ok(&[&path, "--format", "folded", "--view", "tree"]));
}

#[test]
fn no_threads_leaves_the_stack_alone() {
    let lines = folded(&[&orchard(), "--no-threads"]);
    assert_eq!(total(&lines), 485_000_000);
    for (stack, _) in &lines {
        assert!(["thread_start", "start", "[no stack recorded]"].contains(&stack[0].as_str()), "{stack:?}");
    }
}

#[test]
fn trees_of_processes_leave_the_thread_out() {
    let lines = folded(&[&orchard(), "--separate-by", "process"]);
    assert_eq!(total(&lines), 485_000_000);
    for (stack, _) in &lines {
        assert_eq!(stack[0], "Orchard (4150)");
        assert!(["thread_start", "start", "[no stack recorded]"].contains(&stack[1].as_str()), "{stack:?}");
    }
}

#[test]
fn samples_can_be_counted_instead_of_weighed() {
    assert_eq!(total(&folded(&[&orchard(), "--metric", "samples"])), 485);
    let path = fixture("26.2/cpu-profile");
    let rows = read_text(&path).matches("<row>").count() as u64;
    assert_eq!(total(&folded(&[&path, "--metric", "samples"])), rows, "cycles do not matter here");
}

#[test]
fn what_limits_hide_still_counts() {
    for limits in [["--depth", "0"], ["--depth", "3"], ["--min-percent", "30"], ["--min-percent", "100"]] {
        for threads in [&[][..], &["--no-threads"]] {
            let path = orchard();
            let lines = folded(&[&[path.as_str()], &limits[..], threads].concat());
            assert_eq!(total(&lines), 485_000_000, "{limits:?} {threads:?}");
        }
    }
}

#[test]
fn separators_in_names_are_escaped() {
    let folder = Folder::new();
    let path = folder.edited("27/orchard", &[("name=\"main\"", "name=\"ma;in 7\"")]);
    let lines = folded(&[&path, "--thread", "Main Thread"]);
    assert!(lines.iter().any(|(stack, _)| stack.get(3).is_some_and(|name| name == "ma%3Bin 7")), "{lines:?}");
    assert_eq!(total(&lines), 122_000_000);
}

#[test]
fn measurements_that_cannot_be_added_up_are_refused() {
    let message = fails(1, &[&orchard(), &fixture("27/cpu-profile"), "--format", "folded"]);
    assert!(message.contains("time-profile (run 1, ns), cpu-profile (run 1, cycles)"), "{message}");
    assert!(message.contains("--schema"), "the message says what to do: {message}");
    let lines = folded(&[&orchard(), &fixture("27/cpu-profile"), "--schema", "time-profile"]);
    assert_eq!(total(&lines), 485_000_000);
}
