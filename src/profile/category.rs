//! The category of a binary's code: app, system, language runtime or kernel.
//!
//! ```text
//! /private/var/containers/Bundle/Application/…/Orchard.app/Orchard       user
//! /System/Library/Frameworks/CoreFoundation.framework/CoreFoundation     system
//! …/iOS 18.2.simruntime/Contents/Resources/RuntimeRoot/usr/lib/libz.dylib  system
//! /usr/lib/swift/libswiftCore.dylib                                      runtime
//! /System/Library/Kernels/kernel.release.t6000                           kernel
//! ```
//!
//! Keep the tables below in sync with `docs/formats.md`.

use super::apple_libraries::is_of_apple;
use super::{Binary, BinaryId, FunctionId, Profile};
use crate::demangle::STUB;
use crate::units::Address;

/// The category of a binary's code, in the order of the tables in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// The app's code: every binary with a path that fits no other category.
    User,
    /// Code that is part of the operating system or Xcode.
    System,
    /// Language runtimes and allocators: `libswiftCore`, `libobjc`, `libc++`, `libsystem_malloc`, `dyld` …
    Runtime,
    /// The kernel and its extensions. System call stubs in `libsystem_kernel.dylib` are [`System`](Self::System).
    Kernel,
    /// Code in no known binary (generated at run time, or from a recording without binaries), or in a binary that has no path and a name that
    /// does not reveal its category.
    Unknown,
}

/// The file names of runtime libraries, in any folder, since apps bundle copies.
const RUNTIME_FILES: [&str; 20] = [
    // The loader.
    "dyld",
    "dyld_sim",
    "libdyld.dylib",
    // Swift.
    "libswiftCore.dylib",
    "libswiftDemangle.dylib",
    "libswiftDistributed.dylib",
    "libswiftObservation.dylib",
    "libswiftRemoteMirror.dylib",
    "libswiftSwiftOnoneSupport.dylib",
    "libswiftSynchronization.dylib",
    // Allocators, and the library that copies blocks.
    "libsystem_malloc.dylib",
    "libsystem_blocks.dylib",
    // Java and .NET.
    "libjvm.dylib",
    "libjava.dylib",
    "libjli.dylib",
    "libjimage.dylib",
    "libcoreclr.dylib",
    "libclrjit.dylib",
    // Dart.
    "Dart VM",
    "org-dartlang-sdk",
];

/// How the file names of `.dylib` runtime libraries start.
const RUNTIME_STARTS: [&str; 14] = [
    "libobjc.",
    "libobjcMsgSend",
    "libobjc-trampolines",
    "libc++.",
    "libc++abi.",
    "libunwind.",
    "libswift_",
    "libclang_rt.",
    "libjemalloc.",
    "libmimalloc.",
    "libtcmalloc",
    "libmonosgen-",
    "libpython",
    "libruby.",
];

/// The binary names of runtime frameworks.
const RUNTIME_FRAMEWORKS: [&str; 3] = ["hermes", "Python", "Ruby"];

/// System folders, on the machine or in a copy of its files.
const SYSTEM_FOLDERS: [&str; 9] = [
    "/System/",
    "/usr/lib/",
    // Not `/usr/bin/`, whose programs people run.
    "/usr/sbin/",
    "/usr/libexec/",
    "/Library/Apple/",
    "/Library/Developer/",
    "/AppleInternal/",
    // On devices used for development.
    "/Developer/",
    // Separately updated parts of the system.
    "/private/preboot/",
];

/// Copies of system files: device files kept by Xcode, and simulators. After the first string, the second begins the path on the device.
const COPIED_ROOTS: [(&str, &str); 2] = [("DeviceSupport/", "/Symbols"), (".simruntime/", "/RuntimeRoot")];

impl Category {
    /// All categories, in the order of reports.
    pub const ALL: [Self; 5] = [Self::User, Self::System, Self::Runtime, Self::Kernel, Self::Unknown];

    /// Returns the category of a binary; [`Unknown`](Self::Unknown) without one.
    ///
    /// # Panics
    /// If the id comes from another profile and is out of range here.
    pub fn of_binary(profile: &Profile, binary: Option<BinaryId>) -> Self {
        let Some(binary) = binary else { return Self::Unknown };
        let Binary { name, load_address, path, .. } = *profile.binary(binary);
        Self::of_loaded(load_address, profile.string(path), profile.string(name))
    }

    /// Returns each function's category, by index: its binary's category, except that stubs are system code, since the linker generates them.
    pub(crate) fn of_functions(profile: &Profile) -> Vec<Self> {
        let of_binaries: Vec<Self> = profile.binary_ids().map(|id| Self::of_binary(profile, Some(id))).collect();
        let of_binary = |binary: Option<BinaryId>| binary.map_or(Self::Unknown, |id| of_binaries[id.index()]);
        let of_function = |id| of_binary(profile.function(id).binary).of_code(profile.function_name(id));
        profile.function_ids().map(of_function).collect()
    }

    pub(crate) fn of_function(profile: &Profile, id: FunctionId) -> Self {
        Self::of_binary(profile, profile.function(id).binary).of_code(profile.function_name(id))
    }

    /// Returns the category of a function in a binary of this category.
    fn of_code(self, function: &str) -> Self {
        if self == Self::User && function.starts_with(STUB) { Self::System } else { self }
    }

    /// Returns the category of a binary with a load address.
    pub(super) fn of_loaded(load_address: Address, path: &str, name: &str) -> Self {
        // User space addresses have 47 bits.
        if load_address.get() >> 47 != 0 { Self::Kernel } else { Self::of_path(path, name) }
    }

    /// Returns the category of a binary by its path on the recorded machine. If `path` contains no `/`, the name decides: it can identify the
    /// kernel, runtimes, and libraries with names that only Apple uses.
    pub fn of_path(path: &str, name: &str) -> Self {
        // Reports replace the folders of a simulator's system, as of any other volume, by `/Volumes/VOLUME/*/`: only the name is known.
        let is_hidden = path.starts_with("/Volumes/VOLUME/") && !path.contains(".app/");
        let path = if path.contains('/') && !is_hidden { path } else { "" };
        let file = path.rsplit('/').next().filter(|file| !file.is_empty()).unwrap_or(name);
        if is_kernel(path, file) {
            Self::Kernel
        } else if is_runtime(path, file) {
            Self::Runtime
        } else if is_system(path, file) {
            Self::System
        } else if path.is_empty() {
            Self::Unknown
        } else {
            Self::User
        }
    }

    /// Returns a path in this category for a binary with this name, for binaries whose paths were not kept.
    #[cfg(feature = "fleet")]
    pub(crate) fn example_path(self, name: &str) -> String {
        match self {
            Self::User => format!("…/{name}"),
            Self::System => format!("/System/…/{name}"),
            Self::Runtime => format!("/System/…/{name}.framework/{name}"),
            Self::Kernel => format!("/System/Library/Kernels/{name}"),
            Self::Unknown => name.to_owned(),
        }
    }

    /// Returns its name: `user`, `system`, `runtime`, `kernel`, `unknown`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::System => "system",
            Self::Runtime => "runtime",
            Self::Kernel => "kernel",
            Self::Unknown => "unknown",
        }
    }
}

fn is_kernel(path: &str, file: &str) -> bool {
    if path.is_empty() {
        let builds = ["kernel.release.", "kernel.development.", "kernel.debug.", "kernel.kasan."];
        return ["kernel", "mach_kernel"].contains(&file) || builds.iter().any(|build| file.starts_with(build));
    }
    // Kernel extensions contain parts that run in apps, such as `IOHIDFamily.kext/Contents/PlugIns/IOHIDLib.plugin`, so the innermost bundle
    // decides.
    let is_bundle =
        |folder: &&str| [".kext", ".plugin", ".bundle", ".app", ".framework"].iter().any(|end| folder.ends_with(end));
    path == "/mach_kernel"
        || path.contains("/System/Library/Kernels/")
        || path.contains("/System/Library/KernelCollections/")
        || path.rsplit('/').find(is_bundle).is_some_and(|folder| folder.ends_with(".kext"))
}

fn is_runtime(path: &str, file: &str) -> bool {
    let starts_so = || RUNTIME_STARTS.iter().any(|start| file.starts_with(start)) && file.ends_with(".dylib");
    let is_framework = || RUNTIME_FRAMEWORKS.contains(&file) && path.contains(&format!("/{file}.framework/"));
    let is_of_dart = path.is_empty() && file.starts_with("dart:");
    RUNTIME_FILES.contains(&file) || starts_so() || is_framework() || is_of_dart
}

fn is_system(path: &str, file: &str) -> bool {
    // Parts of Swift for Apple's frameworks, which apps bundle to support older systems.
    let is_swift_overlay = || {
        let rest = file.strip_prefix("libswift").unwrap_or_default();
        rest.starts_with(|first: char| first.is_ascii_uppercase()) && file.ends_with(".dylib")
    };
    if file.starts_with("dyld_shared_cache_") || file == "package:flutter" || is_swift_overlay() {
        return true;
    }
    if path.is_empty() {
        let is_of_libsystem = file.starts_with("libsystem_") || file.starts_with("libSystem.");
        return (is_of_libsystem && file.ends_with(".dylib")) || is_of_apple(file);
    }
    // Tools and platforms in `/Applications/Xcode.app/Contents/Developer/…`, but not Xcode itself.
    is_in_system_folder(path) || path.contains(".app/Contents/Developer/") || is_in_copy(path)
}

fn is_in_system_folder(path: &str) -> bool {
    SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder))
}

fn is_in_copy(path: &str) -> bool {
    COPIED_ROOTS.iter().any(|(before, root)| {
        let after = path.find(before).map(|at| &path[at..]);
        let inside = after.and_then(|path| path.find(root).map(|at| &path[at + root.len()..]));
        inside.is_some_and(is_in_system_folder)
    })
}

#[cfg(test)]
mod tests {
    use super::Category::{Kernel, Runtime, System, Unknown, User};
    use super::*;
    use crate::profile::ProfileBuilder;

    #[cfg(feature = "fleet")]
    #[test]
    fn example_paths_have_their_category() {
        let names = [
            (User, "Orchard"),
            (System, "UIKitCore"),
            (System, "libsystem_kernel.dylib"),
            (Runtime, "libobjc.A.dylib"),
            (Runtime, "dyld"),
            (Runtime, "hermes"),
            (Kernel, "kernel.release.t6000"),
            (Kernel, "IOHIDFamily"),
            (Unknown, "Charts"),
        ];
        for (category, name) in names {
            assert_eq!(Category::of_path(&category.example_path(name), name), category, "{name}");
        }
    }

    #[test]
    fn paths_say_whose_code_it_is() {
        let simulator = "/Library/Developer/CoreSimulator/Volumes/iOS_22C150/Library/Developer/CoreSimulator/Profiles/\
                         Runtimes/iOS 18.2.simruntime/Contents/Resources/RuntimeRoot";
        let own_simulator = "/Users/ada/Library/Developer/CoreSimulator/Profiles/Runtimes/iOS 16.4.simruntime/Contents/\
                             Resources/RuntimeRoot";
        let device = "/Users/ada/Library/Developer/Xcode/iOS DeviceSupport/iPhone14,2 17.0 (21A329)/Symbols";
        let at = |root: &str, path: &str| format!("{root}{path}");
        let cases: &[(&str, Category)] = &[
            // App.
            (
                "/Users/ada/Library/Developer/Xcode/DerivedData/Orchard/Build/Products/Debug/Orchard.app/Contents/MacOS/Orchard.debug.dylib",
                User,
            ),
            ("/private/var/containers/Bundle/Application/7D1C/Orchard.app/Orchard", User),
            ("/private/var/containers/Bundle/Application/7D1C/Orchard.app/Frameworks/Cider.framework/Cider", User),
            (
                "/Users/ada/Library/Developer/CoreSimulator/Devices/A91E/data/Containers/Bundle/Application/E686/Orchard.app/Orchard",
                User,
            ),
            ("/Applications/Xcode.app/Contents/MacOS/Xcode", User),
            ("/Applications/Firefox.app/Contents/MacOS/XUL", User),
            ("/Library/Frameworks/Mono.framework/Versions/6/lib/libextra.dylib", User),
            ("/opt/homebrew/lib/libzstd.1.dylib", User),
            ("/private/tmp/a.out", User),
            ("/usr/bin/yes", User),
            ("/Users/ada/System/Library/Orchard", User),
            ("/Users/ada/Symbols/usr/lib/liborchard.dylib", User),
            ("/Users/ada/Ruby", User),
            ("/Volumes/VOLUME/*/Orchard.app/Contents/MacOS/Orchard", User),
            // Hidden.
            ("/Volumes/VOLUME/*/UIKitCore.framework/UIKitCore", Unknown),
            // System.
            ("/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation", System),
            ("/System/Library/CoreServices/Finder.app/Contents/MacOS/Finder", System),
            ("/System/iOSSupport/System/Library/PrivateFrameworks/UIKitCore.framework/Versions/A/UIKitCore", System),
            ("/System/Library/dyld/dyld_shared_cache_arm64e", System),
            ("/private/var/db/dyld/dyld_shared_cache_x86_64h", System),
            ("/private/preboot/Cryptexes/OS/System/Library/Frameworks/WebKit.framework/WebKit", System),
            ("/usr/lib/system/libsystem_kernel.dylib", System),
            ("/usr/lib/system/libdispatch.dylib", System),
            ("/usr/lib/system/libsystem_pthread.dylib", System),
            ("/usr/lib/libSystem.B.dylib", System),
            ("/usr/lib/libsqlite3.dylib", System),
            ("/usr/lib/swift/libswiftNaturalLanguage.dylib", System),
            ("/Applications/Orchard.app/Contents/Frameworks/libswiftFoundation.dylib", System),
            ("/Library/Apple/System/Library/PrivateFrameworks/MobileDevice.framework/MobileDevice", System),
            ("/Applications/Xcode-beta.app/Contents/Developer/usr/lib/libMainThreadChecker.dylib", System),
            ("/Developer/usr/lib/libBacktraceRecording.dylib", System),
            ("/System/Library/Extensions/AGXMetal13_3.bundle/Contents/MacOS/AGXMetal13_3", System),
            (
                "/System/Library/Extensions/IOHIDFamily.kext/Contents/PlugIns/IOHIDLib.plugin/Contents/MacOS/IOHIDLib",
                System,
            ),
            (&at(simulator, "/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore"), System),
            (&at(own_simulator, "/usr/lib/system/libsystem_c.dylib"), System),
            (&at(device, "/System/Library/Frameworks/UIKit.framework/UIKit"), System),
            (&at(device, "/private/var/containers/Bundle/Application/7D1C/Orchard.app/Orchard"), User),
            // Runtimes, in any folder.
            ("/usr/lib/dyld", Runtime),
            ("/usr/lib/libobjc.A.dylib", Runtime),
            ("/usr/lib/objc/libobjcMsgSend.dylib", Runtime),
            ("/usr/lib/libc++.1.dylib", Runtime),
            ("/usr/lib/libc++abi.dylib", Runtime),
            ("/usr/lib/swift/libswiftCore.dylib", Runtime),
            ("/usr/lib/swift/libswift_Concurrency.dylib", Runtime),
            ("/usr/lib/system/libsystem_malloc.dylib", Runtime),
            ("/usr/lib/system/libdyld.dylib", Runtime),
            ("/Applications/Orchard.app/Contents/Frameworks/libswift_Concurrency.dylib", Runtime),
            ("/Users/ada/.sdkman/candidates/java/17/lib/server/libjvm.dylib", Runtime),
            ("/Users/ada/.sdkman/candidates/java/17/bin/java", User),
            ("/private/var/containers/Bundle/Application/7D1C/Orchard.app/Frameworks/hermes.framework/hermes", Runtime),
            (&at(simulator, "/usr/lib/libobjc.A.dylib"), Runtime),
            (&at(device, "/usr/lib/system/libsystem_malloc.dylib"), Runtime),
            // Kernel.
            ("/System/Library/Kernels/kernel.release.t6041", Kernel),
            ("/System/Library/Kernels/kernel", Kernel),
            ("/Library/Developer/KDKs/KDK_15.0_24A5298h.kdk/System/Library/Kernels/kernel.release.t6031", Kernel),
            ("/mach_kernel", Kernel),
            ("/System/Library/Extensions/IOHIDFamily.kext/Contents/MacOS/IOHIDFamily", Kernel),
            ("/Library/Extensions/Cider.kext/Contents/MacOS/Cider", Kernel),
            ("/System/Library/Extensions/IOUSBFamily.kext/Contents/PlugIns/Hub.kext/Contents/MacOS/Hub", Kernel),
        ];
        for (path, category) in cases {
            assert_eq!(Category::of_path(path, "anything"), *category, "{path}");
        }
    }

    #[test]
    fn without_a_path_the_name_says_it_or_nothing_does() {
        for (name, category) in [
            ("kernel.release.t6000", Kernel),
            ("kernel", Kernel),
            ("mach_kernel", Kernel),
            ("kernelling", Unknown),
            ("libswiftCore.dylib", Runtime),
            ("dyld", Runtime),
            ("libsystem_kernel.dylib", System),
            ("dyld_shared_cache_arm64e", System),
            ("dart:core", Runtime),
            ("Dart VM", Runtime),
            ("org-dartlang-sdk", Runtime),
            ("package:flutter", System),
            ("package:orchard", Unknown),
            ("Orchard", Unknown),
            ("UIKitCore", System),
            ("libsqlite3.dylib", System),
            // An Apple framework whose name apps use as well.
            ("Charts", Unknown),
            ("", Unknown),
        ] {
            assert_eq!(Category::of_path("", name), category, "{name}");
            // Readers use the name of a binary without a path as its path.
            assert_eq!(Category::of_path(name, name), category, "{name}");
        }
    }

    #[test]
    fn packages_of_dart_are_the_apps_or_of_flutter() {
        assert_eq!(Category::of_path("package:orchard/", "package:orchard"), User);
        assert_eq!(Category::of_path("package:flutter/", "package:flutter"), System);
    }

    #[test]
    fn high_addresses_are_the_kernels() {
        let mut builder = ProfileBuilder::new();
        let name = builder.string("com.apple.driver.Press").unwrap();
        let mut binary = |address: u64| {
            let load_address = Address::new(address);
            builder.binary(Binary { name, uuid: None, arch: None, load_address, path: name }).unwrap()
        };
        let (high, low) = (binary(0xffff_fe00_0700_4000), binary(0x1_0000_0000));
        let profile = builder.finish();
        assert_eq!(Category::of_binary(&profile, Some(high)), Kernel);
        assert_eq!(Category::of_binary(&profile, Some(low)), Unknown);
        assert_eq!(Category::of_binary(&profile, None), Unknown);
    }
}
