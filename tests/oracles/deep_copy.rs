//! Instruments Deep Copies, compared with `tests/oracle/deep_copy.py`.

use libtest_mimic::{Failed, Trial};
use support::Rng;
use support::mutations::change_known_of;

use crate::call_trees;
use crate::programs::{corpus, has_python};

const SCRIPT: &str = "deep_copy.py";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if has_python();
        changed_copies_are_those_of_the_oracle_or_refused, copies_with_other_words_are_those_of_the_oracle_or_refused];
    trials.extend(trials![if has_python() && corpus().is_some(); real_copies_are_those_of_the_oracle]);
    trials
}

fn real_copies_are_those_of_the_oracle() -> Result<(), Failed> {
    call_trees::real_files(SCRIPT, &["inputs/deepcopy", "other/deepcopy"], 3)
}

fn changed_copies_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    call_trees::changed_documents(SCRIPT, document)
}

fn copies_with_other_words_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    const WORDS: [&str; 16] = [
        "Weight",
        "Self Weight",
        "Self (ms)",
        "Running Time",
        "Bytes Used",
        "Count",
        "Symbol Name",
        "ms",
        " s",
        "Gc",
        "Bytes",
        "%",
        "0.0%",
        "\t",
        "-",
        "main",
    ];
    call_trees::changed_documents(SCRIPT, |rng| {
        let mut copy = document(rng);
        (0..rng.below(3)).for_each(|_| change_known_of(rng, &mut copy, &WORDS));
        copy
    })
}

/// How a version of Instruments writes a table.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Old,
    /// Self weights have the unit of the total.
    OldBare,
    Cycles,
    New,
    German,
    Allocations,
}

/// A table of any version, with up to three changes.
fn document(rng: &mut Rng) -> Vec<u8> {
    let style = *rng.pick(&[Style::Old, Style::OldBare, Style::Cycles, Style::New, Style::German, Style::Allocations]);
    let mut rows = Vec::new();
    for _ in 0..=rng.below(2) {
        add(rng, 0, &mut rows);
    }
    let first = rng.below(4) as usize * usize::from(rng.one_in(3));
    let row = |&(indent, own, total): &(usize, u64, u64)| {
        let name =
            ["start", "main", "delta()", "-[A b:]", "operator new(unsigned long)", "é"][(own + total) as usize % 6];
        let blanks = " ".repeat(first + indent);
        match style {
            Style::Old | Style::OldBare => format!("{total}.0ms   99.9%\t{own}\t \t{blanks}{name}"),
            Style::Cycles if own == 0 => format!("{}  100.0%\t-\t \t{blanks}{name}", rounded(total, "c")),
            Style::Cycles => format!("{}    0.0%\t{}\t \t{blanks}{name}", rounded(total, "c"), rounded(own, "c")),
            Style::New => format!("{}  \u{2007}0.0%\t{}\t{blanks}{name}", rounded(total, "s"), rounded(own, "s")),
            Style::German => {
                let cells = format!("{}  10,0\u{a0}%\t{}", comma(&rounded(total, "s")), comma(&rounded(own, "s")));
                format!("{cells}\t{blanks}{name}")
            }
            Style::Allocations => format!(" {total} Bytes     100.0%\t{own}\t \t{blanks}{name}"),
        }
    };
    let head = match style {
        Style::Old => "Running Time\tSelf (ms)\t\tSymbol Name",
        Style::OldBare => "Running Time\tSelf\t\tSymbol Name",
        Style::Cycles => "Weight\tSelf Weight\t\tSymbol Name",
        Style::New | Style::German => "Weight\tSelf Weight\tSymbol Names",
        Style::Allocations => "Bytes Used\tCount\t\tSymbol Name",
    };
    let mut lines: Vec<String> = [head.to_owned()].into_iter().chain(rows.iter().map(row)).collect();
    // The first line may not have been copied.
    if style != Style::Old && rng.one_in(6) {
        lines.remove(0);
    }
    for _ in 0..rng.below(4) {
        change(rng, &mut lines);
    }
    let text = lines.join(if rng.one_in(4) { "\r\n" } else { "\n" });
    match rng.below(8) {
        0 => [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
        1 => [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect(),
        2 => format!("\u{feff}{text}\n").into_bytes(),
        _ => text.into_bytes(),
    }
}

/// Adds a function with its callees, and returns its total.
fn add(rng: &mut Rng, indent: usize, rows: &mut Vec<(usize, u64, u64)>) -> u64 {
    let at = rows.len();
    let own = *rng.pick(&[0, 0, 1, 7, 40, 532, 4_273, 60_000, 7_000_000]);
    rows.push((indent, own, own));
    let callees = if indent < 6 { rng.below(3) } else { 0 };
    let total = own + (0..callees).map(|_| add(rng, indent + 1, rows)).sum::<u64>();
    rows[at].2 = total;
    total
}

/// Cycles, or milliseconds in seconds.
fn rounded(value: u64, unit: &str) -> String {
    match (unit, value) {
        (_, 0) => format!("0 {unit}"),
        ("c", 1..1_000) => format!("{value} cycles"),
        ("c", 1_000..1_000_000) => format!("{:.2} Kc", value as f64 / 1e3),
        ("c", _) => format!("{:.2} Mc", value as f64 / 1e6),
        (_, 1..1_000) => format!("{value}.00 ms"),
        (_, 1_000..60_000) => format!("{:.2} s", value as f64 / 1e3),
        _ => format!("{:.2} min", value as f64 / 6e4),
    }
}

/// A number as in German: `4.273,00`.
fn comma(text: &str) -> String {
    text.replace('.', ",")
}

fn change(rng: &mut Rng, lines: &mut Vec<String>) {
    let at = 1 + rng.index((lines.len() - 1).max(1));
    if at >= lines.len() {
        return;
    }
    let other = 1 + rng.index(lines.len() - 1);
    match rng.below(12) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, other),
        2 => lines.insert(at, lines[other].clone()),
        3 => lines.insert(at, String::new()),
        4 => lines[at] = lines[at].replacen('.', ",", 1),
        5 => lines[at] = lines[at].replace(" s", " ms"),
        6 => lines[at] = lines[at].replace("ms", "µs"),
        7 => {
            let name = lines[at].rfind('\t').map_or(0, |tab| tab + 1);
            lines[at].insert(name, ' ');
        }
        8 => lines[at] = lines[at].replacen(['1', '2', '4'], "3", 1),
        9 => lines[at] = format!("1,{}", lines[at].trim_start()),
        10 => lines[at] = lines[at].replacen('\t', "0\t", 1),
        _ => {
            let cut = rng.index(1 + lines[at].chars().count());
            lines[at] = lines[at].chars().take(cut).collect();
        }
    }
}
