//! Functions of the service protocol, and frames of DevTools.

use std::io::Read;

use crate::error::Error;
use crate::readers::json::Json;

/// A function, or a frame with its callers.
#[derive(Debug, Default)]
pub(super) struct Function {
    /// With the names of the class and the functions that contain it.
    pub(super) name: String,
    /// `Dart`, `Native`, `Stub`, `Collected` or `Tag`; empty for frames.
    pub(super) kind: String,
    /// The source file: `package:app/main.dart`, `dart:core/uri.dart`, another URL or nothing.
    pub(super) url: String,
    /// From 1.
    pub(super) line: Option<u32>,
    /// The stated numbers of samples through it, and of samples that end in it.
    pub(super) ticks: [Option<u64>; 2],
    /// The identifier of the caller of a frame.
    pub(super) parent: Option<String>,
}

/// The members of a function or frame that are used.
#[derive(Debug, Default)]
struct Members {
    /// Name and type of the function, and of what contains it.
    names: Vec<[Option<String>; 2]>,
    kind: Option<String>,
    /// The URL of the script or package, and the resolved one.
    urls: [Option<String>; 2],
    line: Option<String>,
    ticks: [Option<String>; 2],
    parent: Option<String>,
}

impl Function {
    /// Reads the object of a function or frame.
    pub(super) fn read<R: Read>(json: &mut Json<'_, R>) -> Result<Self, Error> {
        let mut members = Members::default();
        json.leaves(&mut Vec::new(), |path, value, json| {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            match members.place(&path) {
                Some(Some(_)) => Err(json.damaged(format!("{} is there twice", path.join(".")))),
                Some(empty) => {
                    *empty = Some(value);
                    Ok(())
                }
                None => Ok(()),
            }
        })?;
        members.function().ok_or_else(|| json.damaged("a function has no name"))
    }

    /// The approximate size of its texts in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        self.name.len() + self.kind.len() + self.url.len() + self.parent.as_ref().map_or(0, String::len)
    }

    pub(super) fn is_tag(&self) -> bool {
        self.kind == "Tag"
    }

    /// The name and path of its binary.
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
            // The slash shows that this is a path, and not only a name.
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

impl Members {
    /// The place of a value that is used.
    fn place(&mut self, path: &[&str]) -> Option<&mut Option<String>> {
        match path {
            ["kind"] => Some(&mut self.kind),
            ["inclusiveTicks"] => self.ticks.first_mut(),
            ["exclusiveTicks"] => self.ticks.last_mut(),
            ["function", "location", "script", "uri"] | ["packageUri"] => self.urls.first_mut(),
            ["resolvedUrl"] => self.urls.last_mut(),
            ["function", "location", "line"] | ["sourceLine"] => Some(&mut self.line),
            ["parent"] => Some(&mut self.parent),
            ["name"] => self.names_at(0).first_mut(),
            ["function", owners @ .., key @ ("name" | "type")] if owners.iter().all(|owner| *owner == "owner") => {
                let names = self.names_at(owners.len());
                if *key == "name" { names.first_mut() } else { names.last_mut() }
            }
            _ => None,
        }
    }

    fn names_at(&mut self, level: usize) -> &mut [Option<String>] {
        if self.names.len() <= level {
            self.names.resize_with(level + 1, Default::default);
        }
        self.names.get_mut(level).map_or(&mut [], |names| names.as_mut_slice())
    }

    fn function(self) -> Option<Function> {
        let Self { names, kind, urls: [script, resolved], line, ticks, parent } = self;
        let mut names = names.into_iter();
        let [own, _] = names.next()?;
        let owners =
            names.map_while(|[name, kind]| name.filter(|_| matches!(kind.as_deref(), Some("@Class" | "@Function"))));
        let mut parts: Vec<String> = std::iter::once(own?).chain(owners.filter(|name| !name.is_empty())).collect();
        parts.reverse();
        let is_package = |url: &String| url.starts_with("package:") || url.starts_with("dart:");
        let urls = [script.clone().filter(is_package), resolved, script];
        Some(Function {
            name: parts.join("."),
            kind: kind.unwrap_or_default(),
            url: urls.into_iter().flatten().find(|url| !url.is_empty()).unwrap_or_default(),
            line: line.and_then(|line| line.parse().ok()).filter(|&line| line > 0),
            ticks: ticks.map(|ticks| ticks.and_then(|ticks| ticks.parse().ok())),
            parent: parent.filter(|parent| parent != ROOT),
        })
    }
}

/// The root that all stacks of DevTools share. It is not a frame.
pub(super) const ROOT: &str = "cpuProfileRoot";
