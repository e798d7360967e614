//! Colours of frames. A name has the same colour in every picture, in light and dark themes.
//!
//! Colours are made in the space OKLCH, where equal lightness looks equally light, so one colour of text is legible on all of them.

use crate::profile::Category;

/// The meaning of a frame's colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
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

/// The colour of a frame, in both themes. The order is the order of the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Colour {
    /// A frame that is not a function: the whole, a process, a thread.
    Group,
    /// An owner of code, in one of the shades.
    Owner(Category, u8),
    /// One of the hues, in one of the shades.
    Hue(u8, u8),
    /// A change that chance may explain.
    Noise,
    /// More than before, by steps of the scale, from 0.
    Grew(u8),
    /// Less than before, by steps of the scale, from 0.
    Shrank(u8),
}

const HUES: u8 = 24;
const SHADES: u8 = 3;

/// The percentages of the weight before from which a change has the next colour.
pub(super) const STEPS: [f64; 4] = [0.0, 1.0, 3.0, 10.0];

/// The middle shade of each owner's colour in light and dark, as lightness, chroma and hue in OKLCH. Unknown code is grey. The colours are
/// distinguishable for people with colour blindness.
const OWNERS: [(Category, [[f64; 3]; 2]); 5] = [
    (Category::User, [[0.775, 0.149, 77.5], [0.488, 0.105, 65.0]]),
    (Category::System, [[0.773, 0.109, 246.0], [0.320, 0.075, 259.5]]),
    (Category::Runtime, [[0.700, 0.055, 151.0], [0.483, 0.057, 173.0]]),
    (Category::Kernel, [[0.672, 0.113, 318.0], [0.479, 0.114, 307.5]]),
    (Category::Unknown, [[0.849, 0.007, 250.0], [0.395, 0.006, 250.0]]),
];
/// The lightness between two shades of an owner, and between two shades of a hue.
const OWNER_SHADE: f64 = 0.02;
const HUE_SHADE: f64 = 0.035;

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
            (ColourBy::Binary, None) => Self::Owner(Category::Unknown, shade),
            (ColourBy::Binary, Some(binary)) => Self::Hue((hash(binary) % u32::from(HUES)) as u8, shade),
            (ColourBy::Category, _) => Self::Owner(category, shade),
        }
    }

    /// The colour of a change beyond noise, by this percentage of the weight before.
    pub(super) fn of_change(percent: f64) -> Self {
        // Values shown as the limit are the limit: 3.3 - 2.3 is a little less than 1.
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

    /// The fill in a theme, as `#rrggbb`.
    fn fill(self, theme: Theme) -> String {
        let is_light = theme == Theme::Light;
        let step = |shade: u8| f64::from(shade) - 1.0;
        let (lightness, chroma, degrees) = match self {
            Self::Group => (if is_light { 0.949 } else { 0.252 }, 0.004, 250.0),
            Self::Owner(category, shade) => {
                let [lightness, chroma, degrees] = owner(category)[theme as usize];
                (lightness - OWNER_SHADE * step(shade), chroma, degrees)
            }
            Self::Hue(hue, shade) => {
                let lightness = if is_light { 0.82 } else { 0.42 } - HUE_SHADE * step(shade);
                (lightness, if is_light { 0.10 } else { 0.085 }, f64::from(hue) * 360.0 / f64::from(HUES))
            }
            Self::Noise => (if is_light { 0.95 } else { 0.255 }, 0.006, 250.0),
            Self::Grew(step) => (changed(is_light, step), 0.034 * f64::from(step) + 0.07, 27.0),
            Self::Shrank(step) => (changed(is_light, step), 0.027 * f64::from(step) + 0.06, 255.0),
        };
        hex(rgb(lightness, chroma, degrees))
    }
}

fn owner(category: Category) -> [[f64; 3]; 2] {
    OWNERS.iter().find(|owner| owner.0 == category).map_or(OWNERS[4].1, |owner| owner.1)
}

fn changed(is_light: bool, step: u8) -> f64 {
    let step = f64::from(step);
    if is_light { 0.86 - 0.06 * step } else { 0.37 + 0.032 * step }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Light,
    Dark,
}

/// The rules of the style sheet for these colours. Print is always light.
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

    /// The sight of most people, and without the cones for red, green and blue: matrices of Machado, Oliveira and Fernandes (2009) for
    /// linear sRGB.
    const SIGHTS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    /// A colour as a person sees it, in OKLab, where distances are differences to the eye.
    fn seen(hex: &str, sight: &[[f64; 3]; 3]) -> [f64; 3] {
        let dot = |row: &[f64; 3], colour: [f64; 3]| row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2];
        let channel = |at: usize| {
            let channel = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
        };
        let colour = [1, 3, 5].map(channel);
        let colour = [0, 1, 2].map(|row| dot(&sight[row], colour).clamp(0.0, 1.0));
        let cones = [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ];
        let cones = cones.map(|row| dot(&row, colour).cbrt());
        let lab = [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ];
        lab.map(|row| dot(&row, cones))
    }

    /// The least visible difference between two colours, one of each group, in either theme.
    fn least_difference(some: &[Colour], others: &[Colour]) -> f64 {
        let distance = |a: [f64; 3], b: [f64; 3]| (a[0] - b[0]).hypot(a[1] - b[1]).hypot(a[2] - b[2]);
        assert!((distance(seen("#ffffff", &SIGHTS[0]), seen("#000000", &SIGHTS[0])) - 1.0).abs() < 1e-3);
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

    #[test]
    fn owners_differ_with_colour_blindness() {
        let mut owners = vec![Colour::Group];
        owners.extend(Category::ALL.map(|owner| Colour::Owner(owner, 1)));
        let found = least_difference(&owners, &owners);
        assert!(found > 0.08, "{found}");
    }

    #[test]
    fn changes_differ_from_noise_and_opposites_with_colour_blindness() {
        let steps = 0..STEPS.len() as u8;
        let (grew, shrank): (Vec<Colour>, Vec<Colour>) =
            steps.map(|step| (Colour::Grew(step), Colour::Shrank(step))).unzip();
        let changed = [&grew[..], &shrank].concat();
        let (noise, opposites) = (least_difference(&[Colour::Noise], &changed), least_difference(&grew, &shrank));
        assert!(noise > 0.08 && opposites > 0.08, "{noise} and {opposites}");
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
        assert!(matches!(of(ColourBy::Binary, "f", None), Colour::Owner(Category::Unknown, _)));
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
