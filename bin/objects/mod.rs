//! Object stores: `s3://bucket/runs`, `gs://…` and `az://…` as inputs and as destinations of datasets, with the feature `object-store`.
//!
//! ```text
//! arguments ─► mirror: a temporary folder with an empty file for each object, with the object's length and time
//!                 │ reading a file ─► its object is downloaded first; its content is dropped when its recording is finished
//!                 └ a dataset: its manifest and the files in it; changes by an extract are uploaded, the manifest last
//! ```
//!
//! All other code therefore reads files and walks folders as usual. [`shown`] converts paths back to URLs in output.

mod arguments;
#[cfg(feature = "object-store")]
mod bucket;
#[cfg(feature = "object-store")]
mod copies;
#[cfg(feature = "object-store")]
mod dataset;
#[cfg(feature = "object-store")]
mod errors;
#[cfg(feature = "object-store")]
mod listing;
#[cfg(feature = "object-store")]
mod mirror;
#[cfg(not(feature = "object-store"))]
mod none;
#[cfg(feature = "object-store")]
mod remote;
#[cfg(feature = "object-store")]
mod space;
mod url;

pub(crate) use arguments::check;
#[cfg(feature = "object-store")]
pub(crate) use listing::{beside, local, place};
#[cfg(feature = "object-store")]
pub(crate) use mirror::{Use, end, here, located, shown};
#[cfg(not(feature = "object-store"))]
pub(crate) use none::{Target, Use, beside, end, here, local, located, place, shown};
#[cfg(feature = "object-store")]
pub(crate) use remote::Target;
