//! Whose code a frame is, as the viewer colours it.

use crate::profile::{BinaryId, Profile};

/// The categories, of which the first is that of frames without one; the viewer wants a grey one.
pub(super) const CATEGORIES: &str = "[\
    {\"name\":\"Unknown\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"System\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]";

/// The place in [`CATEGORIES`] of whose code a frame is, by where its binary lies.
pub(super) fn category(profile: &Profile, binary: Option<BinaryId>) -> u64 {
    let Some(binary) = binary.map(|id| profile.binary(id)) else { return 0 };
    let path = profile.string(binary.path);
    let is_kernel = path.starts_with("/System/Library/Kernels/") || path.contains(".kext/") || path == "kernel";
    let is_in = |folder: &&str| path.starts_with(folder) || path.contains(&format!("/RuntimeRoot{folder}"));
    if is_kernel || binary.load_address.get() >> 47 != 0 {
        3
    } else if ["/System/", "/usr/lib/", "/usr/libexec/", "/Library/Apple/"].iter().any(is_in) {
        2
    } else {
        u64::from(path.contains('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Binary, ProfileBuilder};
    use crate::units::Address;

    #[test]
    fn paths_and_addresses_say_whose_code_it_is() {
        let names: Vec<serde_json::Value> = serde_json::from_str(CATEGORIES).unwrap();
        assert_eq!(names[0]["color"], "grey", "the viewer wants one that is the default");
        for (path, address, name) in [
            ("/Users/ada/Orchard.app/Contents/MacOS/Orchard", 0x1_0000_0000, "User"),
            ("/Users/ada/System/Library/Orchard", 0x1_0000_0000, "User"),
            ("/System/Library/Frameworks/AppKit.framework/AppKit", 0x1_8000_0000, "System"),
            ("/usr/lib/dyld", 0x1_8000_0000, "System"),
            ("/Library/X/Y.simruntime/Contents/Resources/RuntimeRoot/usr/lib/libz.dylib", 0x1_8000_0000, "System"),
            ("/System/Library/Kernels/kernel.release.t6000", 0x1_8000_0000, "Kernel"),
            ("/System/Library/Extensions/Press.kext/Contents/MacOS/Press", 0x1_8000_0000, "Kernel"),
            ("com.apple.driver.Press", 0xffff_fe00_0700_4000, "Kernel"),
            ("", 0x1_0000_0000, "Unknown"),
            ("Orchard", 0x1_0000_0000, "Unknown"),
        ] {
            let mut builder = ProfileBuilder::new();
            let (path_id, load_address) = (builder.string(path).unwrap(), Address::new(address));
            let binary = Binary { name: path_id, uuid: None, arch: None, load_address, path: path_id };
            let id = builder.binary(binary).unwrap();
            let profile = builder.finish();
            assert_eq!(names[category(&profile, Some(id)) as usize]["name"], name, "{path}");
            assert_eq!(category(&profile, None), 0);
        }
    }
}
