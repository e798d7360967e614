//! The look of a flame graph.

use super::colours::ColourBy;

/// Free room around the frames.
pub(super) const MARGIN: f64 = 10.0;

/// The look of a flame graph.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameGraphOptions {
    /// The width of the picture, in pixels; less than 400 is taken as 400. 1200 by default.
    pub width: u32,
    /// The meaning of the colours. A picture that compares has colours of its own.
    pub colour_by: ColourBy,
    /// True for an icicle graph: the root is at the top and callees hang below their callers. By default the root is at the bottom.
    pub is_icicle: bool,
    /// The title; `None` for one that names the measure.
    pub title: Option<String>,
    /// The text below the title, in one sentence; `None` for a description of the measurement, as far as it is known.
    pub subtitle: Option<String>,
    /// Frames narrower than this are left out, in pixels; 0.1 by default. Frames without weight are never drawn.
    pub narrowest: f64,
    /// About how many bytes the frames may take; 8 MiB by default. The narrowest frames are left out beyond that.
    pub max_bytes: usize,
}

impl Default for FlameGraphOptions {
    fn default() -> Self {
        Self {
            width: 1200,
            colour_by: ColourBy::default(),
            is_icicle: false,
            title: None,
            subtitle: None,
            narrowest: 0.1,
            max_bytes: 8 << 20,
        }
    }
}

impl FlameGraphOptions {
    pub(super) fn width(&self) -> f64 {
        f64::from(self.width.max(400))
    }

    /// The width of the root in pixels.
    pub(super) fn room(&self) -> f64 {
        self.width() - 2.0 * MARGIN
    }
}
