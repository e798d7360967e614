//! `traceparse man`: manual pages generated from the help.
//!
//! `clap_mangen` writes options and subcommands. This module writes the synopsis and the last section: clap_mangen's synopsis would list every
//! option, and it would wrap the lines of examples.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::Failure;
use crate::guard::will_write;
use crate::sink::write_to;

/// Writes the manual page of a subcommand, such as `fleet report`. Without words, the page describes `whole`.
pub(crate) fn show_manual(whole: Command, words: &[String]) -> Result<(), Failure> {
    let mut whole = whole.disable_help_subcommand(true);
    // Adds the global options to each subcommand.
    whole.build();
    let mut command = &whole;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| no_command(command, word))?;
    }
    let mut page = Vec::new();
    write_page(command.clone(), &mut page).map_err(anyhow::Error::from)?;
    let page = in_ascii(&String::from_utf8_lossy(&page));
    will_write(None);
    write_to(None, |out| out.write_all(page.as_bytes()))?;
    Ok(())
}

/// Escapes a page for programs that treat each byte as a character: `…` becomes `\[u2026]`.
fn in_ascii(page: &str) -> String {
    let mut ascii = String::with_capacity(page.len());
    for letter in page.chars() {
        match letter {
            letter if letter.is_ascii() => ascii.push(letter),
            letter => ascii.push_str(&format!("\\[u{:04X}]", u32::from(letter))),
        }
    }
    ascii
}

fn no_command(above: &Command, word: &str) -> Failure {
    let names: Vec<&str> = above.get_subcommands().map(Command::get_name).collect();
    let name = above.get_bin_name().unwrap_or(above.get_name());
    let there_are = if names.is_empty() { "no subcommands".to_owned() } else { format!("only {}", names.join(", ")) };
    Failure::Usage(format!("{name} has no subcommand '{word}'; it has {there_are}"))
}

fn write_page(mut command: Command, out: &mut dyn Write) -> io::Result<()> {
    let usage = command.render_usage().to_string();
    let help = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
    let has_commands = command.has_subcommands();
    let name = command.get_display_name().unwrap_or(command.get_name());
    // Pages contain no date, so the same program always writes the same page.
    let title = format!(".TH \"{name}\" \"1\" \"\" \"traceparse {}\" \"User Commands\"", env!("CARGO_PKG_VERSION"));
    let page = Man::new(command);
    writeln!(out, "{title}")?;
    page.render_name_section(out)?;
    synopsis(&usage).to_writer(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if has_commands {
        page.render_subcommands_section(out)?;
    }
    notes(&help).to_writer(out)
}

/// Converts the lines of a usage message: `Usage: traceparse [OPTIONS] <FILE>...`.
fn synopsis(usage: &str) -> Roff {
    let mut section = Roff::default();
    section.control("SH", ["SYNOPSIS"]);
    for (place, line) in usage.trim_start_matches("Usage:").lines().enumerate() {
        if place > 0 {
            section.control("br", []);
        }
        let line = line.trim();
        let (name, rest) = line.split_at(line.find(['[', '<']).unwrap_or(line.len()));
        section.text([bold(name), roman(rest)]);
    }
    section
}

/// Converts the paragraphs below the options: `Examples:`, `Exit codes: …` and others.
fn notes(help: &str) -> Roff {
    let mut section = Roff::default();
    let mut is_open = false;
    for paragraph in help.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        let (title, text) = match paragraph.split_once(':') {
            Some(("Examples", text)) => (Some("EXAMPLES"), text.trim_start_matches('\n')),
            Some(("Exit codes", text)) => (Some("EXIT STATUS"), text.trim_start()),
            _ if !is_open => (Some("NOTES"), paragraph),
            _ => (None, paragraph),
        };
        match title {
            Some(title) => section.control("SH", [title]),
            None => section.control("PP", []),
        };
        is_open = true;
        // Keep the line breaks of indented lines.
        let is_aligned = text.lines().any(|line| line.starts_with(' '));
        if is_aligned {
            section.control("nf", []);
        }
        for line in text.lines() {
            section.text([roman(line)]);
        }
        if is_aligned {
            section.control("fi", []);
        }
    }
    section
}
