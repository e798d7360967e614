//! The look of a flame graph.

use super::colours::ColourBy;

/// Free room around the frames.
pub(super) const MARGIN: f64 = 10.0;
/// The width of a picture that adapts to the window, if there is no window: as an image, and in print.
const WIDTH: u32 = 1200;

/// The look of a flame graph.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameGraphOptions {
    /// The width of the picture, in pixels; less than 400 is taken as 400. `None` is as wide as the window that shows it, and 1200 pixels
    /// as an image.
    pub width: Option<u32>,
    /// The meaning of the colours. A picture that compares has separate colours.
    pub colour_by: ColourBy,
    /// True for an icicle graph: the root is at the top and callees hang below their callers. False puts the root at the bottom. True by
    /// default.
    pub is_icicle: bool,
    /// The title; with `None`, it names the measure.
    pub title: Option<String>,
    /// The text below the title, in one sentence; `None` for a description of the measurement, as far as it is known.
    pub subtitle: Option<String>,
    /// Frames narrower than this are left out, in pixels; 1 by default. Frames without weight are never drawn.
    pub narrowest: f64,
    /// The largest size of the file in bytes; 1.5 MB by default. Beyond that the narrowest frames are left out; the root stays.
    pub max_bytes: usize,
}

impl Default for FlameGraphOptions {
    fn default() -> Self {
        Self {
            width: None,
            colour_by: ColourBy::default(),
            is_icicle: true,
            title: None,
            subtitle: None,
            narrowest: 1.0,
            max_bytes: 1_500_000,
        }
    }
}

impl FlameGraphOptions {
    pub(super) fn width(&self) -> f64 {
        f64::from(self.width.unwrap_or(WIDTH).max(400))
    }

    /// The width of the root in pixels.
    pub(super) fn room(&self) -> f64 {
        self.width() - 2.0 * MARGIN
    }
}
