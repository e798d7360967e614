//! dyld shared caches: `symbolicate --image`, `uuid`, and names in a report.

use serde_json::json as value;
use support::dyld_cache_writer::{CODE, CacheForm, CacheModel, CachedFunction, CachedImage, Visible};

use crate::command::{Folder, fails, json, ok, warns};
use crate::fleet_case::write;
use crate::symbols_case::{Case, SAME_ADDRESS, macho};

/// A cache with two images in a folder, and the path of its main file.
fn cache() -> (Folder, String, CacheModel) {
    cache_of([[1; 16], [2; 16]])
}

fn cache_of(uuids: [[u8; 16]; 2]) -> (Folder, String, CacheModel) {
    let image = |number: u64, name: &str| CachedImage {
        path: format!("/usr/lib/{name}"),
        uuid: uuids[number as usize - 1],
        functions: [("start", Visible::External), ("-[Widget draw]", Visible::Local), ("", Visible::Stripped)]
            .into_iter()
            .zip(0..)
            .map(|((name, visible), index)| CachedFunction {
                name: if name == "start" { format!("start_{number}") } else { name.to_owned() },
                offset: CODE + 0x100 * index,
                visible,
            })
            .collect(),
    };
    let images = vec![image(1, "libone.dylib"), image(2, "system/libtwo.dylib")];
    let model = CacheModel { form: CacheForm::Suffixed, images, has_locals: true, stride: 0x4000 };
    let folder = Folder::new();
    for file in model.write() {
        folder.file(&format!("dyld_shared_cache_arm64e{}", file.suffix), file.bytes());
    }
    let path = folder.path("dyld_shared_cache_arm64e");
    (folder, path, model)
}

#[test]
fn an_address_selects_its_image() {
    let (folder, path, model) = cache();
    let addresses: Vec<String> =
        [(0, CODE + 4), (1, CODE), (1, CODE + 0x108), (0, CODE + 0x200), (1, 0x3000), (0, CODE + 4)]
            .map(|(image, offset)| format!("{:#x}", model.address(image) + offset))
            .into();
    let start = model.address(0) + CODE + 0x200;
    let expected = format!(
        "start_1 (in libone.dylib) + 4\nstart_2 (in libtwo.dylib) + 0\n-[Widget draw] (in libtwo.dylib) + 8\n\
         {start:#x} (in libone.dylib) + 0\n{}\nstart_1 (in libone.dylib) + 4\n",
        addresses[4]
    );
    for object in [path.clone(), folder.path(""), format!("{path}.symbols")] {
        let args: Vec<&str> =
            ["symbolicate", "-o", &object].into_iter().chain(addresses.iter().map(String::as_str)).collect();
        assert_eq!(ok(&args), expected, "{object}");
    }
}

#[test]
fn an_image_is_selected_by_name_or_path() {
    let (_folder, path, model) = cache();
    let address = format!("{:x}", model.address(1) + CODE);
    for image in ["libtwo.dylib", "/usr/lib/system/libtwo.dylib"] {
        let args = ["symbolicate", "-o", &path, "--image", image];
        let named = "start_2 (in libtwo.dylib) + 0\n";
        assert_eq!(ok(&[&args[..], &[&address]].concat()), named);
        assert_eq!(ok(&[&args[..], &["--offset", "1000"]].concat()), named);
        assert_eq!(ok(&[&args[..], &["-l", "7000000", "7001000"]].concat()), named);
    }
    let said = fails(1, &["symbolicate", "-o", &path, "--image", "libthree.dylib", "1000"]);
    assert!(
        said.contains(&format!("it has no image libthree.dylib; `traceparse uuid {path}` lists its images")),
        "{said}"
    );
    let said = fails(1, &["symbolicate", "-o", &path, "--offset", "1000"]);
    assert!(said.contains("contains 2 images; choose one with --image NAME"), "{said}");
}

#[test]
fn lists_the_images_of_a_cache() {
    let (folder, path, _) = cache();
    let listed = ok(&["uuid", &path]);
    let expected = format!(
        "01010101-0101-0101-0101-010101010101  arm64e   dyld cache      {path}  /usr/lib/libone.dylib\n\
         02020202-0202-0202-0202-020202020202  arm64e   dyld cache      {path}  /usr/lib/system/libtwo.dylib\n"
    );
    assert_eq!(listed, expected);
    let [second, third, locals] = [".01", ".02.dyldlinkedit", ".symbols"].map(|suffix| format!("{path}{suffix}"));
    assert_eq!(ok(&["uuid", &locals, &path, &second, &third]), expected, "all files");
    let images = &json(&["uuid", &path])["images"];
    assert_eq!(images[1]["image_path"], "/usr/lib/system/libtwo.dylib");
    assert_eq!((images[1]["name"].as_str(), images[1]["kind"].as_str()), (Some("libtwo.dylib"), Some("dyld cache")));
    std::fs::remove_file(format!("{path}.symbols")).unwrap();
    let (listed, warning) = warns(&["uuid", &folder.path("")]);
    assert_eq!(listed.lines().count(), 2);
    assert!(warning.contains("dyld_shared_cache_arm64e.symbols is missing; copy it to the same folder"), "{warning}");
}

/// A team makes the packed store once, from a cache or from the folder of a device.
#[test]
fn a_cache_the_folder_of_a_device_and_a_packed_store_give_the_same_names() {
    let uuid = u128::from_str_radix(&SAME_ADDRESS.replace('-', ""), 16).unwrap().to_be_bytes();
    let (folder, cache, _) = cache_of([uuid, [2; 16]]);
    let library = "iOS DeviceSupport/iPhone14,2 17.5 (21F79)/Symbols/usr/lib/libone.dylib";
    write(&folder, library, macho(&[("_start_1", CODE), ("-[Widget draw]", CODE + 0x100)]));
    let device = folder.path("iOS DeviceSupport");
    let [of_cache, of_device] = ["of cache", "of device"].map(|name| folder.path(name));
    ok(&["symbols", &cache, "-o", &of_cache]);
    ok(&["symbols", &device, "-o", &of_device]);
    let case = Case::new();
    let (leaf, caller) = (CODE + 0x108, CODE + 4);
    let time = case.export("libone.dylib", SAME_ADDRESS, &[(leaf, ""), (caller + 1, "")]);
    let cycles = std::fs::read_to_string(&time).unwrap().replace("time-profile", "cpu-profile");
    let cycles = case
        .folder
        .file("cycles.xml", cycles.replace("<weight>", "<cycle-weight>").replace("</weight>", "</cycle-weight>"));
    let frame = |offset: u64, callees: &[serde_json::Value]| {
        value!({"binaryUUID": SAME_ADDRESS, "binaryName": "libone.dylib", "address": 0x1_8000_0000_u64 + offset,
                "offsetIntoBinaryTextSegment": offset, "sampleCount": 1, "subFrames": callees})
    };
    let threads = value!([{"threadAttributed": true, "callStackRootFrames": [frame(caller, &[frame(leaf, &[])])]}]);
    let hang = value!({"timeStampBegin": "2024-05-01 00:00:00 +0000", "hangDiagnostics": [{
        "callStackTree": {"callStackPerThread": true, "callStacks": threads},
        "diagnosticMetaData": {"hangDuration": "1 sec", "osVersion": "iPhone OS 17.5 (21F79)"},
    }]});
    let hang = case.folder.file("hang.json", hang.to_string());
    for recording in [&time, &cycles, &hang] {
        for symbols in [&cache, &device, &of_cache, &of_device] {
            let stacks = case.ok(&[recording, "--symbols", symbols, "--format", "folded"]);
            assert!(stacks.contains(";start_1;-[Widget draw] "), "{recording} {symbols}: {stacks}");
        }
    }
}
