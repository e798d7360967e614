//! The colours of frames. A name has the same colour in every picture, in light and dark themes.
//!
//! `palette.json` defines the colours. `web/` takes its colours for owners and changes from the same file. Text has one colour, which is legible on
//! all of them.

use std::sync::LazyLock;

use serde_json::Value;

use crate::profile::Category;

/// The palette for light and dark themes, as `#rrggbb`: text, groups, shades of owners, changes from the largest decrease to the largest increase,
/// and shades of hues. Equal shades are equally light: shades of owners have the same luminance, shades of hues the same lightness in OKLCH.
static PALETTE: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../palette.json")).unwrap_or_default());

/// The meaning of a frame's colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColourBy {
    /// By function, in warm colours
    Function,
    /// By binary, one colour each
    ///
    /// Shades of the colour distinguish functions.
    Binary,
    /// By owner of the code: the program, the system, a runtime or the kernel
    ///
    /// See [`Category`].
    #[default]
    Category,
}

impl ColourBy {
    /// The name of the value: `function`, `binary`, `category`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Binary => "binary",
            Self::Category => "category",
        }
    }
}

/// The colour of a frame in both themes. The order of variants is the order in the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Colour {
    /// A frame that is not a function: the total, a process or a thread.
    Group,
    /// An owner of code, in a shade.
    Owner(Category, u8),
    /// A hue, in a shade.
    Hue(u8, u8),
    /// A change that chance may explain.
    Noise,
    /// An increase, by step of the scale, from 0.
    Grew(u8),
    /// A decrease, by step of the scale, from 0.
    Shrank(u8),
}

const HUES: u8 = 24;
const SHADES: u8 = 3;

/// The minimum changes for each colour step, in percent of the total weight before.
pub(super) const STEPS: [f64; 4] = [0.0, 1.0, 3.0, 10.0];

/// The colours of frames that match a search, in light and dark themes, and of the text on them.
const FOUND: [&str; 2] = ["#a21caf", "#f0abfc"];
const TEXT_ON_FOUND: [&str; 2] = ["#ffffff", "#14171b"];

impl Colour {
    pub(super) fn of(by: ColourBy, name: &str, binary: Option<&str>, category: Category) -> Self {
        let shade = (hash(name) % u32::from(SHADES)) as u8;
        match (by, binary) {
            // Only hues from red to yellow.
            (ColourBy::Function, _) => Self::Hue(1 + (hash(name) / 7 % 7) as u8, shade),
            (ColourBy::Binary, None) => Self::Owner(Category::Unknown, shade),
            (ColourBy::Binary, Some(binary)) => Self::Hue((hash(binary) % u32::from(HUES)) as u8, shade),
            (ColourBy::Category, _) => Self::Owner(category, shade),
        }
    }

    /// The colour of a change beyond noise. `percent` is relative to the total weight before.
    pub(super) fn of_change(percent: f64) -> Self {
        // Allow for rounding: 3.3 - 2.3 is slightly less than 1.
        let step = STEPS.iter().rposition(|&step| percent.abs() >= step - 1e-9).unwrap_or(0) as u8;
        if percent < 0.0 { Self::Shrank(step) } else { Self::Grew(step) }
    }

    /// The middle shade of the same hue, for legends.
    pub(super) fn plain(self) -> Self {
        match self {
            Self::Hue(hue, _) => Self::Hue(hue, 1),
            Self::Owner(category, _) => Self::Owner(category, 1),
            other => other,
        }
    }

    /// The name of its class in the style sheet.
    pub(super) fn class(self) -> String {
        let letter = |shade: u8| ["a", "b", "c"][usize::from(shade % SHADES)];
        match self {
            Self::Group => "g".to_owned(),
            Self::Owner(category, shade) => format!("{}{}", category.name(), letter(shade)),
            Self::Hue(hue, shade) => format!("h{hue}{}", letter(shade)),
            Self::Noise => "n".to_owned(),
            Self::Grew(steps) => format!("r{steps}"),
            Self::Shrank(steps) => format!("b{steps}"),
        }
    }

    /// The fill colour in a theme, as `#rrggbb`.
    fn fill(self, theme: Theme) -> String {
        let palette = theme.palette();
        let colour = match self {
            Self::Hue(hue, shade) => &PALETTE["hues"][theme.name()][usize::from(hue)][usize::from(shade)],
            Self::Group => &palette["group"],
            Self::Owner(category, shade) => &palette[category.name()][usize::from(shade)],
            Self::Noise => &palette["changes"][STEPS.len()],
            Self::Grew(step) => &palette["changes"][STEPS.len() + 1 + usize::from(step)],
            Self::Shrank(step) => &palette["changes"][STEPS.len() - 1 - usize::from(step)],
        };
        colour.as_str().unwrap_or_default().to_owned()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Light,
    Dark,
}

impl Theme {
    fn name(self) -> &'static str {
        if self == Self::Light { "light" } else { "dark" }
    }

    fn palette(self) -> &'static Value {
        &PALETTE[self.name()]
    }

    /// The colour of text on frames.
    fn text(self) -> &'static str {
        self.palette()["text"].as_str().unwrap_or_default()
    }
}

/// The style sheet rules for these colours. Print always uses the light theme.
pub(super) fn rules(colours: impl Iterator<Item = Colour> + Clone) -> String {
    let of_theme = |theme: Theme| {
        let at = theme as usize;
        let fills: String =
            colours.clone().map(|colour| format!(".{}{{fill:{}}}\n", colour.class(), colour.fill(theme))).collect();
        format!(
            "#frames text{{fill:{}}}\n{fills}#frames .found rect{{fill:{}}}\n#frames .found text{{fill:{}}}\n",
            theme.text(),
            FOUND[at],
            TEXT_ON_FOUND[at]
        )
    };
    let (light, dark) = (of_theme(Theme::Light), of_theme(Theme::Dark));
    format!("{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

/// FNV-1a with additional mixing. It is the same on all platforms. Only colours depend on it.
fn hash(text: &str) -> u32 {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash ^ hash >> 13
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Colour> {
        let mut all = vec![Colour::Group, Colour::Noise];
        all.extend(
            Category::ALL.into_iter().flat_map(|owner| (0..SHADES).map(move |shade| Colour::Owner(owner, shade))),
        );
        all.extend((0..HUES).flat_map(|hue| (0..SHADES).map(move |shade| Colour::Hue(hue, shade))));
        let steps = STEPS.len() as u8;
        all.extend((0..steps).map(Colour::Grew));
        all.extend((0..steps).map(Colour::Shrank));
        all
    }

    /// The relative luminance of a colour, as WCAG 2 defines it.
    fn luminance(hex: &str) -> f64 {
        0.2126 * linear(hex, 1) + 0.7152 * linear(hex, 3) + 0.0722 * linear(hex, 5)
    }

    /// The colour channel at this position, in linear sRGB.
    fn linear(hex: &str, at: usize) -> f64 {
        let channel = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
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
                let found = contrast(&colour.fill(theme), theme.text());
                assert!(found >= 5.0, "{colour:?} in {theme:?}: {} has {found}", colour.fill(theme));
            }
            assert!(contrast(FOUND[at], TEXT_ON_FOUND[at]) >= 5.0);
        }
    }

    #[test]
    fn colours_and_their_names_differ() {
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

    /// Normal vision, and vision without the cones for red, green and blue: matrices by Machado, Oliveira and Fernandes (2009) for linear sRGB.
    const SIGHTS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    /// A colour as perceived, in CIELAB (1976, with the white point D65), where distances correspond to visible differences.
    fn seen(hex: &str, sight: &[[f64; 3]; 3]) -> [f64; 3] {
        let dot = |row: &[f64; 3], colour: [f64; 3]| row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2];
        let colour = [1, 3, 5].map(|at| linear(hex, at));
        let colour = [0, 1, 2].map(|row| dot(&sight[row], colour).clamp(0.0, 1.0));
        let tristimulus =
            [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]];
        let white = [0.95047, 1.0, 1.08883];
        let [x, y, z] = [0, 1, 2].map(|at| {
            let share = dot(&tristimulus[at], colour) / white[at];
            if share > 216.0 / 24389.0 { share.cbrt() } else { (24389.0 / 27.0 * share + 16.0) / 116.0 }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// The smallest visible difference between a colour of the first group and a colour of the second, in either theme.
    fn least_difference(some: &[Colour], others: &[Colour]) -> f64 {
        let distance = |a: [f64; 3], b: [f64; 3]| (a[0] - b[0]).hypot(a[1] - b[1]).hypot(a[2] - b[2]);
        assert!((distance(seen("#ffffff", &SIGHTS[0]), seen("#000000", &SIGHTS[0])) - 100.0).abs() < 0.01);
        let mut least = f64::INFINITY;
        for (theme, sight) in
            [Theme::Light, Theme::Dark].into_iter().flat_map(|theme| SIGHTS.map(|sight| (theme, sight)))
        {
            for (a, b) in some.iter().flat_map(|a| others.iter().map(move |b| (a, b))).filter(|(a, b)| a != b) {
                least = least.min(distance(seen(&a.fill(theme), &sight), seen(&b.fill(theme), &sight)));
            }
        }
        least
    }

    /// The backgrounds of pages and pictures, in light and dark themes. `web/` has the page's in `style/base.css`.
    const PAGES: [&str; 2] = ["#ffffff", "#15181d"];

    /// Fails if a colour is hard to see on the page: WCAG 2 requires a contrast of 3 for parts of a picture.
    fn stand_out(colours: &[Colour]) {
        for theme in [Theme::Light, Theme::Dark] {
            for colour in colours {
                let found = contrast(&colour.fill(theme), PAGES[theme as usize]);
                assert!(found >= 3.0, "{colour:?} in {theme:?}: {} has {found}", colour.fill(theme));
            }
        }
    }

    #[test]
    fn owners_stand_out_and_differ_with_colour_blindness() {
        let shades = |owner| (0..SHADES).map(move |shade| Colour::Owner(owner, shade));
        stand_out(&Category::ALL.into_iter().flat_map(shades).collect::<Vec<Colour>>());
        let mut owners = vec![Colour::Group];
        owners.extend(Category::ALL.map(|owner| Colour::Owner(owner, 1)));
        let found = least_difference(&owners, &owners);
        assert!(found > 10.0, "{found}");
    }

    #[test]
    fn changes_stand_out_and_differ_from_noise_and_opposites_with_colour_blindness() {
        let steps = 0..STEPS.len() as u8;
        let (grew, shrank): (Vec<Colour>, Vec<Colour>) =
            steps.map(|step| (Colour::Grew(step), Colour::Shrank(step))).unzip();
        let changed = [&grew[..], &shrank].concat();
        stand_out(&[&changed[..], &[Colour::Noise]].concat());
        let (noise, opposites) = (least_difference(&[Colour::Noise], &changed), least_difference(&grew, &shrank));
        assert!(noise > 10.0 && opposites > 20.0, "{noise} and {opposites}");
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
        assert!(matches!(of(ColourBy::Binary, "f", None), Colour::Owner(Category::Unknown, _)));
        // Many names use all available colours.
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
        let cases = [
            (0.0, Colour::Grew(0)),
            (1e-6, Colour::Grew(0)),
            (-0.04, Colour::Shrank(0)),
            (3.3 - 2.3, Colour::Grew(1)),
            (-2.9, Colour::Shrank(1)),
            (3.0, Colour::Grew(2)),
            (10.0, Colour::Grew(3)),
            (-100.0, Colour::Shrank(3)),
        ];
        for (percent, colour) in cases {
            assert_eq!(Colour::of_change(percent), colour, "{percent}");
        }
    }
}
