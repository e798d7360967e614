//! Plots as SVG, drawn by `plotters`.
//!
//! A plot has no fixed colours. Each part is drawn in a colour that represents its role (`svg.rs`), and the style sheet
//! of the page defines the colour of each role: `svg [fill="#010104"] { fill: var(--bar) }`. Plots are therefore light
//! or dark with the page.

mod axis;
mod boxes;
mod histogram;
mod svg;
mod timeline;
mod trend;

pub(super) use axis::Axis;
pub(super) use boxes::boxes;
pub(super) use histogram::histogram;
pub(super) use timeline::{Lines, timeline};
pub(super) use trend::trend;
