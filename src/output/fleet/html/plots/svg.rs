//! The frame of a plot: its element, colour roles and labels.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::super::text::Text as HtmlText;
use crate::output::inert::inert;

/// The width of every plot; the page scales it. On a phone a plot is about 320 px wide, and its labels are 10 px high.
pub(super) const WIDTH: u32 = 520;

/// Colour roles, which `report.css` refers to by number. The numbers contain only digits, so the case of hexadecimal letters does not
/// matter.
pub(super) const INK: RGBColor = RGBColor(1, 1, 1);
pub(super) const MUTED: RGBColor = RGBColor(1, 1, 2);
pub(super) const GRID: RGBColor = RGBColor(1, 1, 3);
pub(super) const BAR: RGBColor = RGBColor(1, 1, 4);
pub(super) const BAND: RGBColor = RGBColor(1, 1, 5);
pub(super) const MIDDLE: RGBColor = RGBColor(1, 1, 6);
pub(super) const UPPER: RGBColor = RGBColor(1, 1, 7);
pub(super) const TAIL: RGBColor = RGBColor(1, 1, 8);
pub(super) const LARGEST: RGBColor = RGBColor(1, 1, 9);

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// Returns a plot with this height as an element of the page. `label` describes it for users who cannot see it.
pub(super) fn svg(height: u32, label: &str, draw: impl FnOnce(&Area<'_>) -> Drawn) -> io::Result<String> {
    let mut drawn = String::new();
    {
        let area = SVGBackend::with_string(&mut drawn, (WIDTH, height)).into_drawing_area();
        draw(&area).and_then(|()| area.present()).map_err(io::Error::other)?;
    }
    // Drops the first tag, which has a size in pixels and a namespace that SVG within HTML does not need.
    let body = drawn.split_once('>').map_or("", |(_, body)| body);
    let label = HtmlText(label);
    Ok(format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">{body}"))
}

/// Text of 17 px.
pub(super) fn style(color: &'static RGBColor, anchor: HPos, height: VPos) -> TextStyle<'static> {
    // The plotting library divides font sizes by 1.24.
    let font = ("sans-serif", 21.0).into_font();
    TextStyle::from(font).color(color).pos(Pos::new(anchor, height))
}

/// Writes a label.
pub(super) fn write(area: &Area<'_>, text: &str, at: (i32, i32), style: &TextStyle<'_>) -> Drawn {
    area.draw(&Text::new(inert(text), at, style.clone()))
}

/// Draws a line through points.
pub(super) fn line(area: &Area<'_>, points: Vec<(i32, i32)>, color: RGBColor, width: u32) -> Drawn {
    area.draw(&PathElement::new(points, color.stroke_width(width)))
}

/// Draws a filled rectangle, at least 2 px wide and high, so it is always visible.
pub(super) fn block(area: &Area<'_>, left_top: (i32, i32), right_bottom: (i32, i32), color: RGBColor) -> Drawn {
    let right = right_bottom.0.max(left_top.0 + 2);
    let top = left_top.1.min(right_bottom.1 - 2);
    area.draw(&Rectangle::new([(left_top.0, top), (right, right_bottom.1)], color.filled()))
}
