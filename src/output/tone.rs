//! The colours of text, and their escape codes.

/// The role of a piece of text, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Title,
    Weight,
    Warm,
    Hot,
    Dim,
    Warning,
    Good,
    Bad,
}

impl Tone {
    /// The tone of a weight by its percentage of the total.
    pub(super) fn of_heat(percent: f64) -> Self {
        if percent >= 50.0 {
            Self::Hot
        } else if percent >= 10.0 {
            Self::Warm
        } else {
            Self::Weight
        }
    }
}

/// The code that resets the colour.
pub(super) const RESET: &str = "0";

impl Tone {
    const ALL: [Self; 8] =
        [Self::Title, Self::Weight, Self::Warm, Self::Hot, Self::Dim, Self::Warning, Self::Good, Self::Bad];

    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Title => "1",
            Self::Weight => "36",
            Self::Warm | Self::Warning => "33",
            Self::Hot => "31",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Bad => "1;31",
        }
    }
}

/// True if text begins with a colour code that [`Style::paint`](super::text::Style) writes.
pub(super) fn starts_with_colour(text: &str) -> bool {
    let is_code = |code: &str| text[2..].strip_prefix(code).is_some_and(|rest| rest.starts_with('m'));
    text.starts_with("\x1b[") && Tone::ALL.map(Tone::code).into_iter().chain([RESET]).any(is_code)
}
