//! The categories of frames, by which the viewer colours them.

use crate::profile::{BinaryId, Category, Profile};

/// The categories, of which the first is that of frames without one; the viewer wants a grey one.
pub(super) const CATEGORIES: &str = "[\
    {\"name\":\"Unknown\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"System\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"Runtime\",\"color\":\"green\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]";

/// By binary: the place of its category in [`CATEGORIES`].
pub(super) struct BinaryCategories(Vec<u64>);

impl BinaryCategories {
    pub(super) fn new(profile: &Profile) -> Self {
        Self(profile.binary_ids().map(|id| place(Category::of_binary(profile, Some(id)))).collect())
    }

    /// The category of a frame's binary; the one for unknown if it has none.
    pub(super) fn of(&self, binary: Option<BinaryId>) -> u64 {
        binary.map_or_else(|| place(Category::Unknown), |id| self.0[id.index()])
    }
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
    fn frames_have_the_category_of_their_binary() {
        let mut builder = ProfileBuilder::new();
        let paths =
            ["/usr/lib/libobjc.A.dylib", "/Users/ada/Orchard.app/Contents/MacOS/Orchard", "/usr/lib/libz.dylib"];
        let ids = paths.map(|path| {
            let path = builder.string(path).unwrap();
            let load_address = Address::new(0x1_0000_0000);
            builder.binary(Binary { name: path, uuid: None, arch: None, load_address, path }).unwrap()
        });
        let categories = BinaryCategories::new(&builder.finish());
        assert_eq!(ids.map(|id| categories.of(Some(id))), [3, 1, 2]);
        assert_eq!(categories.of(None), 0);
    }
}
