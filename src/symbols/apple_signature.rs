//! Signatures list the images of a recorded process. They are containers ([`super::apple_container`]) without symbols. Their segments have the
//! addresses of each image in memory, and their trailer names the shared cache that the process maps:
//!
//! | trailer | size |
//! |---|---|
//! | `0x00C0FFEE` | 4 |
//! | version: 3 or 4 | 4 |
//! | UUID of the shared cache | 16 |
//! | base address of the cache in memory | 8 |
//! | … nothing that is needed | |
//!
//! Images of the shared cache have separate signatures, with addresses relative to its start.

use super::apple_bytes::{Broken, Cutter, broken, sixteen_at, u32_at, u64_at};
use super::apple_container::{ListedImage, Mark, chunk, listed_images, mark};
use crate::units::Uuid;

/// The known trailer versions, which begin the same way.
const TRAILER_VERSIONS: [u32; 2] = [3, 4];

/// The images of a process.
#[derive(Clone, Debug)]
pub(crate) struct Signature<'a> {
    /// The images, in file order.
    pub(crate) images: Vec<ListedImage<'a>>,
    /// The shared cache, if the signature names one.
    pub(crate) shared_cache: Option<SharedCache>,
}

/// The shared cache that a process maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedCache {
    pub(crate) uuid: Uuid,
    /// The base address of the cache in memory.
    pub(crate) base: u64,
}

/// Reads the images of a process. Skips symbols.
pub(crate) fn signature(file: &[u8]) -> Result<Signature<'_>, Broken> {
    let mut cutter = Cutter::new(file, 0, file.len());
    let images = listed_images(&mut cutter)?;
    while let Some(mark) = mark(&mut cutter)? {
        match mark {
            Mark::Chunk(at) => {
                chunk(&mut cutter, file, at)?;
            }
            Mark::Trailer => return Ok(Signature { images, shared_cache: Some(shared_cache(&mut cutter)?) }),
        }
    }
    Ok(Signature { images, shared_cache: None })
}

/// Reads the trailer after its magic number.
fn shared_cache(cutter: &mut Cutter<'_>) -> Result<SharedCache, Broken> {
    let at = cutter.at;
    let fixed = cutter.bytes(28, "trailer")?;
    let version = u32_at(fixed, 0);
    if !TRAILER_VERSIONS.contains(&version) {
        return Err(broken(at, "trailer", format_args!("its version is {version}; expected 3 or 4")));
    }
    Ok(SharedCache { uuid: Uuid::from_bytes(sixteen_at(fixed, 4)), base: u64_at(fixed, 20) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signature with one image of one segment, and a trailer of this version.
    fn written(version: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let numbers = |bytes: &mut Vec<u8>, all: &[u32]| all.iter().for_each(|one| bytes.extend(one.to_le_bytes()));
        numbers(&mut bytes, &[0xff01_ff02, 1, 751, 0, 0x2000, 1]);
        bytes.extend([7; 16]);
        numbers(&mut bytes, &[0, 0, 0, 0, u32::MAX, 0x7fff_ffff, 0x0100_000c, 2, 1, 8]);
        bytes.extend(b"/App\0\0\0\0__TEXT\0\0\0\0\0\0\0\0\0\0");
        numbers(&mut bytes, &[0x1000, 1, 0x4000, 0, TRAILER_MAGIC, version]);
        bytes.extend([9; 16]);
        numbers(&mut bytes, &[0x8000_0000, 1, 5, 5, 5]);
        bytes
    }

    const TRAILER_MAGIC: u32 = 0x00c0_ffee;

    #[test]
    fn images_and_the_cache_are_read() {
        for version in [3, 4] {
            let bytes = written(version);
            let Signature { images, shared_cache } = signature(&bytes).unwrap();
            let [ListedImage { image, segments }] = &images[..] else { unreachable!("{images:?}") };
            assert_eq!(
                (image.uuid, image.path, image.arch()),
                (Uuid::from_bytes([7; 16]), Some("/App"), Some("arm64e"))
            );
            assert_eq!((segments[0].address, segments[0].size), (0x1_0000_1000, 0x4000));
            assert_eq!(shared_cache, Some(SharedCache { uuid: Uuid::from_bytes([9; 16]), base: 0x1_8000_0000 }));
            let trailer = bytes.len() - 44;
            assert_eq!(signature(&bytes[..trailer]).unwrap().shared_cache, None, "no trailer");
            assert_eq!(signature(&bytes[..trailer + 8]).unwrap_err().at, trailer as u64 + 4, "a cut trailer");
        }
        let error = signature(&written(5)).unwrap_err();
        assert_eq!(error.message, "trailer at 0x7c: its version is 5; expected 3 or 4");
    }

    #[test]
    fn damaged_signatures_are_errors_or_images() {
        let bytes = written(4);
        for at in 0..bytes.len() {
            assert!(signature(&bytes[..at]).map_or(true, |signature| signature.images.len() == 1), "cut at {at}");
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let images = signature(&damaged).map_or(0, |signature| signature.images.len());
                assert!(images <= 1, "{images} images at {at}");
            }
        }
    }
}
