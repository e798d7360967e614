//! Writers of reports on fleets: each from a finished [`FleetReport`](crate::fleet::FleetReport) to `&mut dyn Write`.

#[cfg(feature = "html")]
pub mod html;
