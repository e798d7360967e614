//! The categories of frames, by which the viewer colours them.

use crate::profile::{Category, Profile};

/// The categories. The first one is for frames without a category, and must be grey for the viewer.
pub(super) const CATEGORIES: &str = "[\
    {\"name\":\"Unknown\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"System\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"Runtime\",\"color\":\"green\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]";

/// By function: the place of its category in [`CATEGORIES`].
pub(super) fn of_functions(profile: &Profile) -> Vec<u64> {
    Category::of_functions(profile).into_iter().map(place).collect()
}

fn place(category: Category) -> u64 {
    match category {
        Category::Unknown => 0,
        Category::User => 1,
        Category::System => 2,
        Category::Runtime => 3,
        Category::Kernel => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Binary, ProfileBuilder};
    use crate::units::Address;

    #[test]
    fn every_category_has_its_place() {
        let names: Vec<serde_json::Value> = serde_json::from_str(CATEGORIES).unwrap();
        assert_eq!(names.len(), Category::ALL.len());
        assert_eq!(names[0]["color"], "grey", "the viewer wants one that is the default");
        for category in Category::ALL {
            let name = names[place(category) as usize]["name"].as_str().unwrap().to_lowercase();
            assert_eq!(name, category.name());
        }
    }

    #[test]
    fn functions_have_the_category_of_their_binary_but_stubs_are_the_systems() {
        let mut builder = ProfileBuilder::new();
        let paths =
            ["/usr/lib/libobjc.A.dylib", "/Users/ada/Orchard.app/Contents/MacOS/Orchard", "/usr/lib/libz.dylib"];
        for path in paths {
            let path = builder.string(path).unwrap();
            let load_address = Address::new(0x1_0000_0000);
            let binary = builder.binary(Binary { name: path, uuid: None, arch: None, load_address, path }).unwrap();
            for name in ["f", "DYLD-STUB$$f"] {
                let name = builder.string(name).unwrap();
                builder.function(name, Some(binary), true).unwrap();
            }
        }
        let name = builder.string("f").unwrap();
        builder.function(name, None, true).unwrap();
        assert_eq!(of_functions(&builder.finish()), [3, 3, 1, 2, 2, 2, 0]);
    }
}
