//! Tests whether one group of values is above another, and by how much.
//!
//! A run has one value, such as the logarithm of its CPU use. Values are compared within blocks, such as devices, so a different mix of devices on
//! the two sides is not reported as an effect. `docs/statistics.md` has the formulas and their sources.
//!
//! ```
//! use traceparse::stats::{Block, Effect};
//!
//! // One of the two devices is twice as fast. The new version takes about a tenth more on both.
//! let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect();
//! let blocks = [
//!     Block { base: logs(&[10.0, 10.2, 9.9]), new: logs(&[11.1, 10.9, 11.0]), floors: [0.0; 2] },
//!     Block { base: logs(&[20.1, 19.8, 20.2]), new: logs(&[22.3, 21.9]), floors: [0.0; 2] },
//! ];
//! let effect = Effect::of(&blocks).unwrap();
//! let (lower, upper) = effect.interval(0.05);
//! assert_eq!(format!("{:.3} [{:.3}, {:.3}]", effect.difference.exp(), lower.exp(), upper.exp()), "1.099 [1.079, 1.121]");
//! ```

mod blocks;
mod effect;
mod exact;
mod families;
mod power;

pub use blocks::Block;
pub use effect::{Effect, StandardError};
pub use exact::{Exact, Exceedance};
pub(crate) use families::{benjamini_hochberg, holm};
