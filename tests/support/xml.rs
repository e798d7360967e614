//! Writes bytes: elements, escapes, white space and the display strings of numbers.
//!
//! The three layouts differ only in white space:
//!
//! ```text
//! Raw        <node ...><schema>...</schema><row>...</row>      one row per line, as newer exports come out
//!            <row>...</row>
//!            </node></trace-query-result>
//! Indented   the same with four spaces before node and eight before row, and </node> on its own line
//! Pretty     every element on its own line, as a file that went through a formatter
//! ```

/// The white space of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    Raw,
    Indented,
    Pretty,
}

/// A document under construction.
pub struct Xml {
    text: String,
    layout: Layout,
    depth: usize,
}

pub type Attribute<'a> = (&'a str, &'a str);

impl Xml {
    /// Starts a document, up to and including the root element.
    pub fn new(layout: Layout) -> Xml {
        let text = match layout {
            Layout::Pretty => "<?xml version='1.0' encoding='utf-8'?>\n<trace-query-result>",
            Layout::Raw | Layout::Indented => "<?xml version=\"1.0\"?>\n<trace-query-result>\n",
        };
        Xml { text: text.to_owned(), layout, depth: 1 }
    }

    /// Closes the root element.
    pub fn finish(mut self) -> String {
        if self.layout == Layout::Pretty {
            self.text.push('\n');
        }
        self.text.push_str("</trace-query-result>\n");
        self.text
    }

    pub fn start_node(&mut self, xpath: &str) {
        self.before("node");
        let quote = if self.layout == Layout::Pretty { '"' } else { '\'' };
        self.text.push_str(&format!("<node xpath={quote}{xpath}{quote}>"));
        self.depth += 1;
    }

    pub fn start(&mut self, tag: &str, attributes: &[Attribute<'_>]) {
        self.before(tag);
        self.tag(tag, attributes);
        self.text.push('>');
        self.depth += 1;
    }

    pub fn end(&mut self, tag: &str) {
        self.depth -= 1;
        match self.layout {
            Layout::Pretty => self.break_line(),
            Layout::Indented if tag == "node" && self.text.ends_with('\n') => self.text.push_str("    "),
            _ => {}
        }
        self.text.push_str(&format!("</{tag}>"));
        match (self.layout, tag) {
            (Layout::Raw, "row") | (Layout::Indented, "row" | "node") => self.text.push('\n'),
            _ => {}
        }
    }

    /// `<tag ...>text</tag>`
    pub fn leaf(&mut self, tag: &str, attributes: &[Attribute<'_>], text: &str) {
        self.before(tag);
        self.tag(tag, attributes);
        self.text.push('>');
        escape_text(text, &mut self.text);
        self.text.push_str(&format!("</{tag}>"));
    }

    /// `<tag .../>`
    pub fn empty(&mut self, tag: &str, attributes: &[Attribute<'_>]) {
        self.before(tag);
        self.tag(tag, attributes);
        self.text.push_str(if self.layout == Layout::Pretty { " />" } else { "/>" });
        if tag == "row" && self.layout != Layout::Pretty {
            self.text.push('\n');
        }
    }

    fn tag(&mut self, tag: &str, attributes: &[Attribute<'_>]) {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes {
            self.text.push_str(&format!(" {name}=\""));
            escape_attribute(value, &mut self.text);
            self.text.push('"');
        }
    }

    fn before(&mut self, tag: &str) {
        match (self.layout, tag) {
            (Layout::Pretty, _) => self.break_line(),
            (Layout::Indented, "node") => self.text.push_str("    "),
            (Layout::Indented, "row") if self.text.ends_with('\n') => self.text.push_str("        "),
            _ => {}
        }
    }

    fn break_line(&mut self) {
        self.text.push('\n');
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
    }
}

/// Escapes like the exporter inside double-quoted attributes; apostrophes are unchanged.
pub fn escape_attribute(value: &str, out: &mut String) {
    for character in value.chars() {
        match character {
            '"' => out.push_str("&quot;"),
            other => escape_character(other, out),
        }
    }
}

/// Escapes like the exporter between tags.
pub fn escape_text(value: &str, out: &mut String) {
    value.chars().for_each(|character| escape_character(character, out));
}

fn escape_character(character: char, out: &mut String) {
    match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        other => out.push(other),
    }
}

/// `MM:SS.mmm.uuu`, truncated and not rounded.
pub fn time_label(nanoseconds: u64) -> String {
    let micros = nanoseconds / 1_000;
    let seconds = micros / 1_000_000;
    format!("{:02}:{:02}.{:03}.{:03}", seconds / 60, seconds % 60, micros / 1_000 % 1_000, micros % 1_000)
}

/// A duration with two decimals: `512 ns`, `11.83 µs`, `1.00 ms`, `2.08 s`.
pub fn duration_label(nanoseconds: u64) -> String {
    let scaled = |by: f64, unit: &str| format!("{:.2} {unit}", nanoseconds as f64 / by);
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => scaled(1e3, "µs"),
        1_000_000..1_000_000_000 => scaled(1e6, "ms"),
        _ => scaled(1e9, "s"),
    }
}

/// Counter values as displayed: `(120,029), (0)`.
pub fn counters_label(counters: &[u64]) -> String {
    let shown: Vec<String> = counters.iter().map(|&counter| format!("({})", with_separators(counter))).collect();
    shown.join(", ")
}

pub fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
