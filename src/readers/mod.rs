//! Readers: bytes in, a recording out. Each format has a folder of its own, and none of them knows another one.

#[cfg(feature = "bundle")]
pub mod bundle;
pub mod export;
mod formats;
