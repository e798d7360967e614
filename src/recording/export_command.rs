//! The command that exports a table, for messages that recommend it.

use super::Table;

impl Table {
    /// Returns the command that exports the tables with these schemas to standard output, for one run or all runs of a recording. Names are
    /// quoted for a POSIX shell.
    #[must_use]
    pub fn export_command(recording: &str, run: Option<u32>, schemas: &[&str]) -> String {
        let run = run.map_or_else(String::new, |number| format!("[@number=\"{number}\"]"));
        let schemas: Vec<String> = schemas.iter().map(|schema| format!("@schema=\"{schema}\"")).collect();
        let path = shell_word(&format!("/trace-toc/run{run}/data/table[{}]", schemas.join(" or ")));
        format!("xcrun xctrace export --input {} --xpath {path}", shell_word(recording))
    }
}

/// Like [`Table::export_command`], but writes to `export.xml`.
pub(crate) fn export_to_file(recording: &str, run: Option<u32>, schemas: &[&str]) -> String {
    Table::export_command(recording, run, schemas) + " --output export.xml"
}

/// Joins words to a command line for a POSIX shell.
pub(crate) fn command_line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(shell_word).collect::<Vec<_>>().join(" ")
}

/// Quotes a string as one word for a POSIX shell.
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
        assert_eq!(Table::export_command("It's mine.trace", Some(2), &["counters-profile"]), expected);
        let path = r#"'/trace-toc/run/data/table[@schema="time-profile" or @schema="cpu-profile"]'"#;
        let expected = format!("xcrun xctrace export --input X.trace --xpath {path}");
        assert_eq!(Table::export_command("X.trace", None, &["time-profile", "cpu-profile"]), expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_each_name_as_one_word() {
        for name in ["X.trace", "a b", "it's", "$HOME", "\"quoted\"", "`id` $(id) \\ * ~ ; # !1 é\nnext", "'", ""] {
            let command = Table::export_command(name, None, &[name]);
            let script = format!("xcrun() {{ printf '%s\\0' \"$@\"; }}\n{command}");
            let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
            let words = String::from_utf8(output.stdout).expect("the words are UTF-8");
            let path = format!("/trace-toc/run/data/table[@schema=\"{name}\"]");
            let expected = ["xctrace", "export", "--input", name, "--xpath", &path, ""];
            assert_eq!(words.split('\0').collect::<Vec<_>>(), expected, "{command}");
        }
    }
}
