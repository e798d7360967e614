//! Recognises URLs of objects, such as `s3://bucket/runs/7.xml`, among paths.

use std::path::Path;

/// The schemes of object stores, as used by Spark, Hadoop and the vendors' tools.
pub(crate) const SCHEMES: [&str; 6] = ["s3", "s3a", "gs", "az", "abfs", "abfss"];

/// The scheme of a path that looks like a URL: `https` for `https://host/x`. A single letter before `://` is a Windows drive.
pub(crate) fn scheme_of(path: &Path) -> Option<&str> {
    let text = path.as_os_str().to_str().or_else(|| valid_start(path))?;
    let (scheme, _) = text.split_once("://")?;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme = scheme.len() > 1 && scheme.as_bytes()[0].is_ascii_alphabetic() && scheme.bytes().all(is_letter);
    is_scheme.then_some(scheme)
}

/// The scheme of an object store URL.
#[cfg(feature = "object-store")]
pub(super) fn store_of(path: &Path) -> Option<&str> {
    scheme_of(path).filter(|scheme| SCHEMES.contains(scheme))
}

/// The valid start of a path that is not UTF-8.
fn valid_start(path: &Path) -> Option<&str> {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.utf8_chunks().next().map(|chunk| chunk.valid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_urls_from_paths() {
        for (text, scheme) in [
            ("s3://bucket/a.xml", Some("s3")),
            ("https://host", Some("https")),
            ("x-y+z.1://", Some("x-y+z.1")),
            ("./s3://bucket", None),
            ("C://a.xml", None),
            ("a.xml", None),
            ("1s://x", None),
            ("a b://x", None),
            ("s3:/bucket", None),
            ("://x", None),
        ] {
            assert_eq!(scheme_of(Path::new(text)), scheme, "{text}");
        }
    }
}
