//! Colours of frames: the same for the same name in every picture, in light and in dark.
//!
//! Colours are made in the space OKLCH, in which equal lightness looks equally light, so that one colour of text is
//! legible on all of them.

use crate::profile::Category;

/// The meaning of a frame's colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColourBy {
    /// The function: warm colours, by its name.
    Function,
    /// The binary: one colour each, by its name; shades of it tell functions apart.
    #[default]
    Binary,
    /// The category of the binary ([`Category`]): user, system, runtime, kernel, unknown.
    Category,
}

/// The colour of a frame, in both themes. The order is that of the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Colour {
    /// A frame that is not a function: the whole, a process, a thread.
    Group,
    /// Without a binary: one of the shades.
    Unknown(u8),
    /// One of the hues, in one of the shades.
    Hue(u8, u8),
    /// More than before, by steps of the scale; 0 is as before.
    Grew(u8),
    /// Less than before, by steps of the scale; 1 at least.
    Shrank(u8),
}

const HUES: u8 = 24;
const SHADES: u8 = 3;

/// The percentage points from which a change has the next colour.
pub(super) const STEPS: [f64; 6] = [0.05, 0.2, 0.5, 1.0, 3.0, 10.0];

/// Text on frames, in light and dark; frames that a search found, and the text on them.
const TEXT: [&str; 2] = ["#14171b", "#f4f6f8"];
const FOUND: [&str; 2] = ["#a21caf", "#f0abfc"];
const TEXT_ON_FOUND: [&str; 2] = ["#ffffff", "#14171b"];

impl Colour {
    /// The colour of a function.
    pub(super) fn of(by: ColourBy, name: &str, binary: Option<&str>, category: Category) -> Self {
        let shade = (hash(name) % u32::from(SHADES)) as u8;
        match (by, binary) {
            // Red to yellow.
            (ColourBy::Function, _) => Self::Hue(1 + (hash(name) / 7 % 7) as u8, shade),
            (ColourBy::Binary, None) => Self::Unknown(shade),
            (ColourBy::Binary, Some(binary)) => Self::Hue((hash(binary) % u32::from(HUES)) as u8, shade),
            (ColourBy::Category, _) => Self::of_category(category, shade),
        }
    }

    /// The colour of a category, in a shade.
    pub(super) fn of_category(category: Category, shade: u8) -> Self {
        match category {
            Category::User => Self::Hue(4, shade),
            Category::System => Self::Hue(16, shade),
            Category::Runtime => Self::Hue(10, shade),
            Category::Kernel => Self::Hue(21, shade),
            Category::Unknown => Self::Unknown(shade),
        }
    }

    /// The colour of a share that changed by this number of percentage points.
    pub(super) fn of_change(points: f64) -> Self {
        // What is shown as the limit is the limit: 2.3 - 2.1 is a little less than 0.2.
        let steps = STEPS.iter().filter(|&&step| points.abs() >= step - 1e-9).count() as u8;
        if steps > 0 && points < 0.0 { Self::Shrank(steps) } else { Self::Grew(steps) }
    }

    /// The middle shade of the same hue, for legends.
    pub(super) fn plain(self) -> Self {
        match self {
            Self::Hue(hue, _) => Self::Hue(hue, 1),
            Self::Unknown(_) => Self::Unknown(1),
            other => other,
        }
    }

    /// The name of its class in the style sheet.
    pub(super) fn class(self) -> String {
        let letter = |shade: u8| ["a", "b", "c"][usize::from(shade % SHADES)];
        match self {
            Self::Group => "g".to_owned(),
            Self::Unknown(shade) => format!("u{}", letter(shade)),
            Self::Hue(hue, shade) => format!("h{hue}{}", letter(shade)),
            Self::Grew(steps) => format!("r{steps}"),
            Self::Shrank(steps) => format!("b{steps}"),
        }
    }

    /// Its fill in a theme, as `#rrggbb`.
    fn fill(self, theme: Theme) -> String {
        let is_light = theme == Theme::Light;
        let shaded = |shade: u8| {
            let step = f64::from(shade) - 1.0;
            if is_light { 0.82 - 0.035 * step } else { 0.42 - 0.035 * step }
        };
        let (lightness, chroma, degrees) = match self {
            Self::Group => (if is_light { 0.90 } else { 0.33 }, 0.005, 250.0),
            Self::Unknown(shade) => (shaded(shade), 0.012, 250.0),
            Self::Hue(hue, shade) => {
                (shaded(shade), if is_light { 0.10 } else { 0.085 }, f64::from(hue) * 360.0 / f64::from(HUES))
            }
            Self::Grew(0) => (if is_light { 0.92 } else { 0.34 }, 0.008, 250.0),
            Self::Grew(steps) => (changed(is_light, steps), 0.022 * f64::from(steps) + 0.02, 27.0),
            Self::Shrank(steps) => (changed(is_light, steps), 0.018 * f64::from(steps) + 0.02, 255.0),
        };
        hex(rgb(lightness, chroma, degrees))
    }
}

fn changed(is_light: bool, steps: u8) -> f64 {
    let steps = f64::from(steps);
    if is_light { 0.92 - 0.04 * steps } else { 0.34 + 0.022 * steps }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Light,
    Dark,
}

/// The rules of the style sheet for these colours. Print is light, whatever the theme.
pub(super) fn rules(colours: impl Iterator<Item = Colour> + Clone) -> String {
    let of_theme = |theme: Theme| {
        let at = theme as usize;
        let fills: String =
            colours.clone().map(|colour| format!(".{}{{fill:{}}}\n", colour.class(), colour.fill(theme))).collect();
        format!(
            "#frames text{{fill:{}}}\n{fills}#frames .found rect{{fill:{}}}\n#frames .found text{{fill:{}}}\n",
            TEXT[at], FOUND[at], TEXT_ON_FOUND[at]
        )
    };
    let (light, dark) = (of_theme(Theme::Light), of_theme(Theme::Dark));
    format!("{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

/// FNV-1a, and its bits mixed: a number that is the same everywhere, and that nothing depends on but colours.
fn hash(text: &str) -> u32 {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash ^ hash >> 13
}

/// OKLCH as sRGB, each in [0, 1]; colours outside sRGB are clipped.
fn rgb(lightness: f64, chroma: f64, degrees: f64) -> [f64; 3] {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let (a, b) = (chroma * cosine, chroma * sine);
    let long = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let medium = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let short = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    [
        4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short,
        -1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short,
        -0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short,
    ]
    .map(|linear| if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 })
    .map(|channel| channel.clamp(0.0, 1.0))
}

fn hex(rgb: [f64; 3]) -> String {
    let [red, green, blue] = rgb.map(|channel| (channel * 255.0).round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Colour> {
        let mut all = vec![Colour::Group];
        all.extend((0..SHADES).map(Colour::Unknown));
        all.extend((0..HUES).flat_map(|hue| (0..SHADES).map(move |shade| Colour::Hue(hue, shade))));
        let steps = STEPS.len() as u8;
        all.extend((0..=steps).map(Colour::Grew));
        all.extend((1..=steps).map(Colour::Shrank));
        all
    }

    /// The luminance of a colour to the eye, as WCAG 2 defines it.
    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let channel = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_is_legible_on_every_colour() {
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        for theme in [Theme::Light, Theme::Dark] {
            let at = theme as usize;
            for colour in all() {
                let found = contrast(&colour.fill(theme), TEXT[at]);
                assert!(found >= 5.0, "{colour:?} in {theme:?}: {} has {found}", colour.fill(theme));
            }
            assert!(contrast(FOUND[at], TEXT_ON_FOUND[at]) >= 5.0);
        }
    }

    #[test]
    fn colours_differ_and_have_names_of_their_own() {
        for theme in [Theme::Light, Theme::Dark] {
            let mut fills: Vec<String> = all().iter().map(|colour| colour.fill(theme)).collect();
            fills.sort();
            let count = fills.len();
            fills.dedup();
            assert_eq!(fills.len(), count);
        }
        let mut classes: Vec<String> = all().iter().map(|colour| colour.class()).collect();
        classes.sort();
        classes.dedup();
        assert_eq!(classes.len(), all().len());
    }

    /// White, black and the primaries, whose OKLCH others have published.
    #[test]
    fn known_colours_come_back() {
        assert_eq!(hex(rgb(1.0, 0.0, 0.0)), "#ffffff");
        assert_eq!(hex(rgb(0.0, 0.0, 0.0)), "#000000");
        assert_eq!(hex(rgb(0.627_96, 0.257_68, 29.234)), "#ff0000");
        assert_eq!(hex(rgb(0.866_44, 0.294_83, 142.495)), "#00ff00");
        assert_eq!(hex(rgb(0.452_01, 0.313_21, 264.052)), "#0000ff");
    }

    #[test]
    fn a_name_has_one_colour() {
        fn of(by: ColourBy, name: &str, binary: Option<&str>) -> Colour {
            Colour::of(by, name, binary, Category::System)
        }
        assert_eq!(of(ColourBy::Binary, "a", Some("dyld")), of(ColourBy::Binary, "a", Some("dyld")));
        let (Colour::Hue(one, _), Colour::Hue(other, _)) =
            (of(ColourBy::Binary, "f", Some("dyld")), of(ColourBy::Binary, "g", Some("dyld")))
        else {
            panic!("binaries have hues");
        };
        assert_eq!(one, other);
        assert!(matches!(of(ColourBy::Binary, "f", None), Colour::Unknown(_)));
        // Many names fall on all colours there are.
        let mut hues = [0; HUES as usize];
        for index in 0..2_400 {
            let name = format!("lib{index}.dylib");
            if let Colour::Hue(hue, _) = of(ColourBy::Binary, "f", Some(&name)) {
                hues[usize::from(hue)] += 1;
            }
        }
        assert!(hues.iter().all(|&count| (60..160).contains(&count)), "{hues:?}");
    }

    #[test]
    fn changes_have_steps() {
        let cases =
            [(0.0, Colour::Grew(0)), (-0.04, Colour::Grew(0)), (0.05, Colour::Grew(1)), (2.3 - 2.1, Colour::Grew(2))];
        for (points, colour) in cases {
            assert_eq!(Colour::of_change(points), colour, "{points}");
        }
        assert_eq!(Colour::of_change(-100.0), Colour::Shrank(6));
        assert_eq!(Colour::of_change(-0.7), Colour::Shrank(3));
    }
}
