//! The command by which Instruments exports a table, for messages that tell somebody to run it.

/// The command that exports the tables of these schemas from a recording, to its standard output: of one run, or of all of them.
/// Whatever the names hold, a POSIX shell reads each of them as one word.
#[must_use]
pub fn export_command(recording: &str, run: Option<u32>, schemas: &[&str]) -> String {
    let run = run.map_or_else(String::new, |number| format!("[@number=\"{number}\"]"));
    let schemas: Vec<String> = schemas.iter().map(|schema| format!("@schema=\"{schema}\"")).collect();
    let path = shell_word(&format!("/trace-toc/run{run}/data/table[{}]", schemas.join(" or ")));
    format!("xcrun xctrace export --input {} --xpath {path}", shell_word(recording))
}

/// A word that a POSIX shell reads as this text.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/+,:@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_a_run_or_of_all_are_named() {
        let path = r#"'/trace-toc/run[@number="2"]/data/table[@schema="counters-profile"]'"#;
        let expected = format!(r"xcrun xctrace export --input 'It'\''s mine.trace' --xpath {path}");
        assert_eq!(export_command("It's mine.trace", Some(2), &["counters-profile"]), expected);
        let path = r#"'/trace-toc/run/data/table[@schema="time-profile" or @schema="cpu-profile"]'"#;
        let expected = format!("xcrun xctrace export --input X.trace --xpath {path}");
        assert_eq!(export_command("X.trace", None, &["time-profile", "cpu-profile"]), expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_each_name_as_one_word() {
        for name in ["X.trace", "a b", "it's", "$HOME", "\"quoted\"", "`id` $(id) \\ * ~ ; # !1 é\nnext", "'", ""] {
            let command = export_command(name, None, &[name]);
            let script = format!("xcrun() {{ printf '%s\\0' \"$@\"; }}\n{command}");
            let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
            let words = String::from_utf8(output.stdout).expect("the words are UTF-8");
            let path = format!("/trace-toc/run/data/table[@schema=\"{name}\"]");
            let expected = ["xctrace", "export", "--input", name, "--xpath", &path, ""];
            assert_eq!(words.split('\0').collect::<Vec<_>>(), expected, "{command}");
        }
    }
}
