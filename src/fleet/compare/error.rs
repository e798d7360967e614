//! Why sides cannot be compared.

use crate::settings::{SCHEMA, WHERE};
use crate::units::Unit;

/// Why the sides cannot be compared.
#[derive(Debug)]
#[non_exhaustive]
pub enum CompareError {
    /// Weights have several units, such as cycles and nanoseconds; the units of each side.
    Units([Vec<Unit>; 2]),
    /// [Spilled](crate::fleet::FleetBuilder::spill) values cannot be read.
    Spilled(std::io::Error),
}

impl std::fmt::Display for CompareError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Units(sides) => {
                let names = |units: &Vec<Unit>| units.iter().map(|unit| unit.name()).collect::<Vec<_>>().join(" and ");
                let [base, new] = sides.each_ref().map(names);
                let measured = if base == new {
                    format!("both sides have runs measured in {base}")
                } else {
                    format!("the base is measured in {base} and the new side in {new}")
                };
                write!(
                    f,
                    "{measured}, which cannot be compared; choose a table that both have, with {SCHEMA}, or a kind of report, with {WHERE} diagnostic=hang"
                )
            }
            Self::Spilled(error) => write!(f, "values in a temporary file cannot be read: {error}"),
        }
    }
}

impl std::error::Error for CompareError {}

impl From<std::io::Error> for CompareError {
    fn from(error: std::io::Error) -> Self {
        Self::Spilled(error)
    }
}
