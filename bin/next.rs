//! The command line that opens the same recording again, for suggested commands.

use crate::redacted;

/// Options with a value that only affect the output. Suggested commands set their own.
const SHOWN: [&str; 6] = ["--view", "--format", "--output", "-o", "--color", "--top"];

/// The words of the command line without options that shape the output. Empty if an argument is not UTF-8, if an input cannot be read twice, or if
/// names are redacted, since the words contain the names of inputs.
pub(crate) fn command_words() -> Vec<String> {
    let args: Option<Vec<String>> = std::env::args_os().skip(1).map(|arg| arg.into_string().ok()).collect();
    args.filter(|_| !redacted::is_asked()).and_then(|args| of_words(&args)).unwrap_or_default()
}

fn of_words(args: &[String]) -> Option<Vec<String>> {
    let mut words = vec!["traceparse".to_owned()];
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "-" {
            return None;
        }
        if SHOWN.contains(&arg.as_str()) {
            args.next();
            continue;
        }
        let is_shown = SHOWN.iter().any(|option| {
            let rest = arg.strip_prefix(option);
            rest.is_some_and(|rest| rest.starts_with('=') || (*option == "-o" && !rest.is_empty()))
        });
        if !is_shown {
            words.push(arg.clone());
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(args: &[&str]) -> Option<String> {
        Some(of_words(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>())?.join("|"))
    }

    #[test]
    fn what_is_shown_is_left_out() {
        let args = ["--view", "overview", "my app.trace", "-o", "x.txt", "--dsym", "App.dSYM", "--color=always"];
        assert_eq!(of(&args).as_deref(), Some("traceparse|my app.trace|--dsym|App.dSYM"));
        assert_eq!(of(&["a.xml", "-ox.txt", "--top=3"]).as_deref(), Some("traceparse|a.xml"));
        assert_eq!(of(&["-"]), None, "standard input is read once");
    }
}
