//! Functions of the Dart VM's service protocol, and frames of DevTools.

use std::io::Read;

use crate::error::Error;
use crate::hash::HashMap;
use crate::readers::json::Json;

/// A function, or a frame with its caller.
#[derive(Debug)]
pub(super) struct Function {
    /// Qualified with the names of the class and the functions that contain it.
    pub(super) name: String,
    /// `Dart`, `Native`, `Stub`, `Collected` or `Tag`; empty for frames.
    pub(super) kind: String,
    /// The source file: `package:app/main.dart`, `dart:core/uri.dart`, another URL, or empty.
    pub(super) url: String,
    /// Starts at 1.
    pub(super) line: Option<u32>,
    /// The file's `inclusiveTicks` and `exclusiveTicks`: the number of samples through the function, and of samples that end in it.
    pub(super) ticks: [Option<u64>; 2],
    /// The identifier of a frame's caller.
    pub(super) parent: Option<String>,
}

/// The used members of a function or frame. In each path, any `owner` is ignored.
const USED: [&str; 12] = [
    "function.location.line",
    "function.location.script.uri",
    "function.name",
    "function.type",
    "exclusiveTicks",
    "inclusiveTicks",
    "kind",
    "name",
    "packageUri",
    "parent",
    "resolvedUrl",
    "sourceLine",
];

/// The root that all DevTools stacks share. It is not a frame.
pub(super) const ROOT: &str = "cpuProfileRoot";

impl Function {
    pub(super) fn read<R: Read>(json: &mut Json<'_, R>) -> Result<Self, Error> {
        let mut members: HashMap<String, String> = HashMap::default();
        json.leaves(&mut Vec::new(), |path, value, json| {
            let own: Vec<&str> = path.iter().map(String::as_str).filter(|part| *part != "owner").collect();
            if USED.contains(&own.join(".").as_str()) && members.insert(path.join("."), value).is_some() {
                return Err(json.damaged(format!("{} occurs twice", path.join("."))));
            }
            Ok(())
        })?;
        Self::of(members).ok_or_else(|| json.damaged("a function has no name"))
    }

    fn of(mut members: HashMap<String, String>) -> Option<Self> {
        let mut take = |key: &str| members.remove(key);
        let mut names = vec![take("function.name").or_else(|| take("name"))?];
        let mut owner = "function.owner".to_owned();
        while let (Some("@Class" | "@Function"), Some(name)) =
            (take(&format!("{owner}.type")).as_deref(), take(&format!("{owner}.name")))
        {
            names.push(name);
            owner.push_str(".owner");
        }
        names.reverse();
        let script = take("function.location.script.uri").or_else(|| take("packageUri"));
        let is_package = |url: &String| url.starts_with("package:") || url.starts_with("dart:");
        let urls = [script.clone().filter(is_package), take("resolvedUrl"), script];
        let line = take("function.location.line").or_else(|| take("sourceLine"));
        let ticks = ["inclusiveTicks", "exclusiveTicks"].map(|key| take(key)?.parse().ok());
        Some(Self {
            name: names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join("."),
            kind: take("kind").unwrap_or_default(),
            url: urls.into_iter().flatten().find(|url| !url.is_empty()).unwrap_or_default(),
            line: line.and_then(|line| line.parse().ok()).filter(|&line| line > 0),
            ticks,
            parent: take("parent").filter(|parent| parent != ROOT),
        })
    }

    /// The approximate size of its strings in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        self.name.len() + self.kind.len() + self.url.len() + self.parent.as_ref().map_or(0, String::len)
    }

    /// Returns the name and path of its binary.
    pub(super) fn binary(&self) -> Option<(&str, String)> {
        const VM: &str = "Dart VM";
        const SDK: &str = "org-dartlang-sdk";
        let is_of_vm = ["[Stub] ", "[Collected] "].iter().any(|start| self.name.starts_with(start));
        if is_of_vm || matches!(self.kind.as_str(), "Stub" | "Collected") {
            return Some((VM, VM.to_owned()));
        }
        if let Some(native) = self.name.strip_prefix("[Native] ") {
            let (path, _) = native.rsplit_once("+0x")?;
            return Some((file_name(path), path.to_owned()));
        }
        let package = self.url.split('/').next().unwrap_or_default();
        match package.split_once(':') {
            _ if self.url.is_empty() => None,
            // A checkout of Flutter: `file:///home/u/flutter/packages/flutter/lib/src/…`.
            _ if self.url.contains("flutter/packages/flutter/lib/") => {
                Some(("package:flutter", "package:flutter/".to_owned()))
            }
            // The slash marks this as a path rather than a name.
            Some(("package", _)) => Some((package, format!("{package}/"))),
            Some(("dart", _)) => {
                let library = package.strip_suffix("-patch").unwrap_or(package);
                Some((library, library.to_owned()))
            }
            Some((SDK, _)) => Some((SDK, SDK.to_owned())),
            _ => Some((file_name(&self.url), self.url.clone())),
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}
