//! Finds the people that devices are named after.
//!
//! ```text
//! Jane’s iPhone · Janes MacBook Pro · iPhone von Björn · iPhone de María López · 太郎のiPhone · “小明”的 iPhone · 민준의 iPad
//! ```

use super::common_words::is_short;

/// Words that follow the name of a person, and words that precede it.
const AFTER: [&str; 5] = ["'s ", "' ", "の", "的", "의 "];
const BEFORE: [&str; 13] = [
    " von ",
    " de ",
    " di ",
    " van ",
    " av ",
    " af ",
    " of ",
    " d'",
    " do ",
    " da ",
    " użytkownika ",
    " uživatele ",
    " пользователя ",
];

/// Apple products that may follow a genitive without an apostrophe.
const PRODUCTS: [&str; 8] = ["iPhone", "iPad", "MacBook", "Mac", "iMac", "iPod", "Apple", "Watch"];

/// Returns the name of the person that a device is named after, followed by the parts of the name. Empty if the device is not named after a
/// person.
pub(super) fn people(device: &str) -> Vec<String> {
    let device = device.replace(['’', '‘'], "'");
    let Some(person) = person(&device) else { return Vec::new() };
    let parts = person.split_whitespace().filter(|part| !is_short(part)).map(str::to_owned);
    let mut people: Vec<String> = std::iter::once(person.clone()).chain(parts).collect();
    people.dedup();
    people
}

fn person(device: &str) -> Option<String> {
    let is_mark = |char: char| char.is_whitespace() || "\"“”„「」『』".contains(char);
    let named =
        |text: &str| Some(text.trim_matches(is_mark).to_owned()).filter(|text| text.chars().any(char::is_alphabetic));
    if let Some(at) = AFTER.iter().filter_map(|mark| device.find(mark)).min() {
        return named(&device[..at]);
    }
    if let Some(at) = BEFORE.iter().filter_map(|mark| Some(device.find(mark)? + mark.len())).min() {
        return named(&device[at..]);
    }
    let (first, rest) = device.split_once(' ')?;
    let is_product = PRODUCTS.iter().any(|product| rest.starts_with(product));
    named(first.strip_suffix('s').filter(|_| is_product)?)
}

/// Returns the network name of a device, such as `Janes-MacBook-Pro`.
pub(super) fn host(device: &str) -> String {
    let kept = device.chars().filter(|char| !['\'', '’', '‘'].contains(char));
    let hyphened: String = kept.map(|char| if char.is_alphanumeric() { char } else { '-' }).collect();
    hyphened.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_after_people() {
        for (device, names) in [
            ("Jane’s iPhone", &["Jane"][..]),
            ("Jane Doe's MacBook Pro", &["Jane Doe", "Jane", "Doe"]),
            ("Björns MacBook Air", &["Björn"]),
            ("iPhone von Björn", &["Björn"]),
            ("iPhone de María López", &["María López", "María", "López"]),
            ("太郎のiPhone", &["太郎"]),
            ("“小明”的 iPhone", &["小明"]),
            ("「小明」的 iPhone", &["小明"]),
            ("민준의 iPhone", &["민준"]),
            ("iPhone użytkownika Jan", &["Jan"]),
            ("Mac Studio", &[]),
            ("caladan", &[]),
            ("", &[]),
        ] {
            assert_eq!(people(device), names, "{device}");
        }
        assert_eq!(host("Jane’s MacBook  Pro (2)"), "Janes-MacBook-Pro-2");
    }
}
