//! Addresses.

use std::fmt;

/// An address in the memory of the recorded process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(u64);

/// User addresses of 64-bit Apple platforms fit in 47 bits; the bits above contain a pointer authentication code.
const USER_ADDRESS_BITS: u64 = 0x7fff_ffff_ffff;
/// Addresses in iOS, tvOS, watchOS and visionOS have 39 bits.
const DEVICE_ADDRESS_BITS: u64 = 0x7f_ffff_ffff;

impl Address {
    /// Creates an address.
    pub const fn new(address: u64) -> Self {
        Self(address)
    }

    /// Returns the address as a number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the address one byte lower, which is in the instruction before a return address.
    pub const fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Removes the pointer authentication code that arm64e leaves in the bits above 47.
    ///
    /// Kernel addresses (all 17 upper bits set) are returned unchanged.
    pub const fn without_authentication(self) -> Self {
        if self.0 >> 47 == u64::MAX >> 47 { self } else { Self(self.0 & USER_ADDRESS_BITS) }
    }

    /// Like [`without_authentication`](Self::without_authentication), for a device with iOS, tvOS, watchOS or visionOS, where the code is in
    /// the bits above 39.
    pub const fn without_device_authentication(self) -> Self {
        if self.0 >> 47 == u64::MAX >> 47 { self } else { Self(self.0 & DEVICE_ADDRESS_BITS) }
    }

    /// Removes the authentication code of an address that is known to be in the image loaded at `image`. The code is in the bits above 47. It is
    /// in the bits above 39 if `image` fits 39 bits and the address would otherwise be beyond any image there. The recorded platform is therefore
    /// not needed.
    pub const fn without_authentication_in(self, image: Self) -> Self {
        let (plain, small) = (self.without_authentication(), self.without_device_authentication());
        let is_signed = image.0 <= DEVICE_ADDRESS_BITS && plain.0 > DEVICE_ADDRESS_BITS && small.0 >= image.0;
        if is_signed { small } else { plain }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
