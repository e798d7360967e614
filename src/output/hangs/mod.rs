//! Hangs and hitches, as text or JSON. `docs/formats.md` describes every field.

mod json;
mod sentences;
mod text;

pub(super) use json::write_json;
pub(super) use sentences::did;
#[cfg(feature = "compression")]
pub(super) use sentences::evidence;
pub(super) use text::write_text;
