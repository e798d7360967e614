//! Text from input as markup (HTML, SVG), made safe and visible.

use std::fmt::{self, Write};

use super::inert::acts;

/// Names longer than this lose their middle: a name of a C++ template may have thousands of characters.
#[cfg(feature = "fleet")]
const LONGEST: usize = 240;

/// Text as content of an element, or as the value of an attribute in double quotes.
///
/// Characters that [act](acts) are escaped as `\u{202e}`, as in all text, so different names always look different.
pub(super) struct Text<'t>(pub(super) &'t str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if acts(c) => write!(f, "{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// The text, without its middle if it is too long: ends of names are more informative.
#[cfg(feature = "fleet")]
pub(super) fn shortened(text: &str) -> String {
    cut(text, LONGEST)
}

/// The text with at most `longest` characters, including a `…` if it is cut.
#[cfg(feature = "fleet")]
pub(super) fn cut(text: &str, longest: usize) -> String {
    let count = text.chars().count();
    if count <= longest {
        return text.to_owned();
    }
    let tail = longest / 3;
    let head = longest - tail - 1;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_html_would_read_is_escaped() {
        let text = Text("<b a=\"1\" c='2'>&amp;</b>").to_string();
        assert_eq!(text, "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
    }

    #[test]
    fn shows_invisible_characters() {
        assert_eq!(Text("a\u{202e}b\0\n\u{85}").to_string(), "a\\u{202e}b\\u{0}\\n\\u{85}");
        // Characters of all scripts and the joiners of emoji are kept.
        assert_eq!(Text("Größe שלום 👩\u{200d}💻").to_string(), "Größe שלום 👩\u{200d}💻");
    }

    #[cfg(feature = "fleet")]
    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(cut("abcdefghij", 10), "abcdefghij");
        assert_eq!(cut("abcdefghijk", 9), "abcde…ijk");
        assert_eq!(shortened(&"é".repeat(1_000)).chars().count(), LONGEST);
    }
}
