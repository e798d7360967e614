//! Fleets: many exports, measured once and kept as a dataset.

// Extraction and reports of fleets call it.
#[allow(dead_code)]
mod store;
