//! Writes `form.template`: the description of a recording, its participants, and the loaded images.

use std::collections::{BTreeMap, BTreeSet};

use plist::Value;

use super::super::recording::{CoreKind, Invented};
use super::BundleOptions;
use super::archive::{Archive, plain};
use super::images::{CACHE, CACHE_UUID, cache_base, cached_signature, images_by_process, process_signature};

/// The recording device.
pub const DEVICE: &str = "ACEF90FD-9BB0-56E0-9A50-8EE093417980";
/// A device without relation to the samples.
pub const OTHER_DEVICE: &str = "00008110-0011223344556677";
/// Nanoseconds since 1970.
pub const START_TIME: u64 = 1_772_731_658_879_218_176;

/// The images of a process: separate ones, and images of the shared cache by position in it.
struct Loaded {
    own: Vec<usize>,
    cached: BTreeMap<u64, usize>,
}

struct Template<'a> {
    recording: &'a Invented,
    options: &'a BundleOptions,
    archive: Archive,
    base: u64,
    /// By process.
    images: BTreeMap<usize, Loaded>,
}

/// Writes the file.
pub fn template(recording: &Invented, options: &BundleOptions, runs: &[u32]) -> Vec<u8> {
    let base = cache_base(recording);
    let is_cached = |&image: &usize| options.shared_cache && CACHE.contains(&recording.images[image].load_address);
    let by_process = images_by_process(recording).into_iter().map(|(process, images)| {
        let (cached, own): (Vec<usize>, Vec<usize>) = images.into_iter().partition(is_cached);
        let cached = cached.into_iter().map(|image| (recording.images[image].load_address - base, image)).collect();
        (process, Loaded { own, cached })
    });
    let images = by_process.collect();
    let template = Template { recording, options, archive: Archive::default(), base, images };
    template.write(runs)
}

impl Template<'_> {
    fn write(mut self, runs: &[u32]) -> Vec<u8> {
        let run_data = self.run_data(runs);
        let stores = runs.iter().map(|&run| (self.archive.number(u64::from(run)), self.symbol_stores())).collect();
        let stores = self.archive.dictionary("NSMutableDictionary", stores);
        let caches = self.shared_cache();
        let kernel = runs.iter().map(|&run| (self.archive.number(u64::from(run)), self.kernel_signature())).collect();
        let kernel = self.archive.dictionary("NSMutableDictionary", kernel);
        let stubs = self.stubs();
        let top = vec![
            ("com.apple.xray.symbolstore.kern.signatures", kernel),
            ("stubInfoByUUID", stubs),
            ("com.apple.xray.symbolstore.sharedcache.signatures", caches),
            ("com.apple.xray.owner.template.iconURL", self.archive.string("rsrc://tracetemplate")),
            ("com.apple.xray.run.data", run_data),
            ("com.apple.xray.owner.template.version", Value::Real(2.1)),
            ("com.apple.xray.symbolstoremanager.symbolstores", stores),
            ("$0", self.archive.number(1)),
            ("$1", self.archive.mutable_string("com.apple.xray.instrument-type.cpusampler")),
        ];
        self.archive.finish(top)
    }

    fn stubs(&mut self) -> Value {
        let archive = &mut self.archive;
        let brush = archive.mutable_string("CPU Usage");
        let details = ["Profile", "Samples"].map(|name| archive.mutable_string(name));
        let entries = vec![
            ("brushes", archive.ordered_set(vec![brush])),
            ("details", archive.ordered_set(details.to_vec())),
            ("name", archive.string("CPU Profiler")),
        ];
        let stub = archive.named(entries);
        archive.named(vec![("com.apple.xray.instrument-type.cpusampler", stub)])
    }

    /// The data of all runs by number, and the data that belongs to no run.
    fn run_data(&mut self, runs: &[u32]) -> Value {
        let mut entries: Vec<(Value, Value)> =
            runs.iter().map(|&run| (self.archive.number(u64::from(run)), self.run(run))).collect();
        let next = u64::from(runs.last().copied().unwrap_or(0)) + 1;
        let all = vec![("XRNextRunNumberKey", self.archive.number(next))];
        entries.push((self.archive.string("XRRunListAllRunsDataKey"), self.archive.named(all)));
        let runs = self.archive.dictionary("NSMutableDictionary", entries);
        let fields = vec![("$2", self.archive.number(2)), ("$1", runs), ("$0", plain(1))];
        self.archive.object("XRRunListData", fields)
    }

    fn run(&mut self, run: u32) -> Value {
        let duration =
            self.recording.rows.iter().filter(|row| row.run == run).map(|row| row.time_ns).max().unwrap_or(0);
        let start = self.options.start_time + u64::from(run - 1) * 60_000_000_000;
        let os_version = vec![
            ("ProductBuildVersion", self.archive.string("24G419")),
            ("ProductVersion", self.archive.string("15.7.3")),
            ("ProductName", self.archive.string("macOS")),
        ];
        let entries = vec![
            ("targetDevice", self.device()),
            ("mach_time_info", self.clocks()),
            ("osVersion", self.archive.named(os_version)),
            ("numberOfCpus", self.archive.number(10)),
            ("runInfo", self.run_info(start, duration)),
            ("processDatas", self.processes()),
            ("allObjects", self.cores()),
            ("threadsByTID", self.threads(run)),
            ("startTime", self.archive.number(start)),
            ("runningTime", self.archive.number(duration)),
        ];
        self.archive.named(entries)
    }

    fn device(&mut self) -> Value {
        let texts = [
            ("_deviceHostName", "Orchard’s MacBook Pro"),
            ("_deviceVersion", "24G419"),
            ("_deviceIdentifier", DEVICE),
            ("_productVersion", "15.7.3"),
            ("_modelName", "MacBook Pro"),
            ("_productType", "Mac16,8"),
            ("_deviceDisplayName", "Orchard’s MacBook Pro"),
        ];
        let entries = texts.map(|(name, text)| (name, self.archive.string(text)));
        self.archive.named(entries.to_vec())
    }

    /// For each device: ticks, the length of a tick, continuous ticks, seconds since 1970, time zone.
    fn clocks(&mut self) -> Value {
        let devices = if self.options.other_device { vec![OTHER_DEVICE, DEVICE] } else { vec![DEVICE] };
        let mut clocks = Vec::new();
        for device in devices {
            let numbers = [36_019_183_326_340, 125, 3, 59_792_407_987_388].map(|number| self.archive.number(number));
            let mut items = numbers.to_vec();
            items.push(self.archive.real(self.options.start_time as f64 / 1e9));
            items.push(self.archive.string("Europe/London"));
            clocks.push((device, self.archive.list("NSArray", items)));
        }
        self.archive.named(clocks)
    }

    fn run_info(&mut self, start_ns: u64, duration_ns: u64) -> Value {
        let target = self.recording.processes.first();
        let pid = target.map_or(String::new(), |process| process.pid.to_string());
        let (start, duration) = (start_ns as f64 / 1e9, duration_ns as f64 / 1e9);
        let archive = &mut self.archive;
        let (variables, arguments) = match self.options.launch_data {
            true => (vec![(archive.string("QUAXTOKEN"), archive.string("hunter2"))], "--password swordfish"),
            false => (Vec::new(), ""),
        };
        let environment = archive.dictionary("NSDictionary", variables);
        let fields = vec![
            ("_environment", environment),
            ("_targetTerminationInformation", archive.nil()),
            ("_targetOperatingSystem", archive.string("15.7.3 (24G419)")),
            ("_targetExitStatus", archive.string("0")),
            ("_rawDuration", Value::Real(duration)),
            ("_targetName", archive.string("Orchard’s MacBook Pro")),
            ("_rawStartTime", Value::Real(start)),
            ("_rawEndTime", Value::Real(start + duration)),
            ("_targetProcessName", archive.string(target.map_or("", |process| &process.name))),
            ("_targetProcessPid", archive.string(&pid)),
            ("_hostUUID", archive.nil()),
            ("_targetModel", archive.string("MacBook Pro")),
            ("_targetPlatform", archive.string("macOS")),
            ("_arguments", archive.string(arguments)),
            ("_endReason", archive.string(self.options.end_reason)),
            ("_recordingMode", archive.string("Deferred")),
            ("_timeLimit", archive.mutable_string("3 seconds")),
            ("targetType", plain(2)),
            ("_targetUUID", archive.string(DEVICE)),
            ("_instrumentVersion", archive.string(self.options.instruments_version)),
            ("_templateName", archive.string("Blank")),
        ];
        archive.object("XRRunInfo", fields)
    }

    fn processes(&mut self) -> Value {
        let mut items = Vec::new();
        for process in &self.recording.processes {
            let archive = &mut self.archive;
            let entries = vec![
                ("_launchControlProperties", archive.dictionary("NSDictionary", Vec::new())),
                ("_pid", archive.number(u64::from(process.pid))),
                ("specifiedType", archive.number(0)),
                ("_execname", archive.string(&process.path)),
                ("displayName", archive.string(&process.name)),
                ("_args", archive.string("")),
                ("processID", archive.number(u64::from(process.pid))),
            ];
            let entries = entries.into_iter().map(|(name, value)| (archive.string(name), value)).collect();
            items.push(archive.dictionary("NSDictionary", entries));
        }
        self.archive.list("NSMutableArray", items)
    }

    /// The cores that ran a thread, with the kind of their cluster.
    fn cores(&mut self) -> Value {
        let mut kinds: BTreeMap<u32, CoreKind> = BTreeMap::new();
        for (core, kind) in self.recording.rows.iter().filter_map(|row| row.core) {
            kinds.entry(core).or_insert(kind);
        }
        let mut items = Vec::new();
        for (core, kind) in kinds {
            let flags = match kind {
                CoreKind::Efficiency => 1,
                CoreKind::Performance => 2,
                CoreKind::Unknown | CoreKind::Smt | CoreKind::Super => 0,
            };
            let topology = vec![("_clusterID", plain(flags)), ("_clusterFlags", plain(flags))];
            let topology = self.archive.object("DTCPUClusterInfo", topology);
            let fields = vec![
                ("isPhysical", Value::Boolean(false)),
                ("$1", self.archive.string(DEVICE)),
                ("topology", topology),
                ("$0", plain(u64::from(core))),
            ];
            items.push(self.archive.object("XRCore", fields));
        }
        self.archive.list("NSMutableArray", items)
    }

    /// Threads with their last names.
    fn threads(&mut self, run: u32) -> Value {
        let recording = self.recording;
        let mut entries = Vec::new();
        for (index, thread) in recording.threads.iter().enumerate() {
            let name = recording.last_name(run, index);
            let numbered = format!("{name}  {:#x}", thread.tid);
            let name = self.archive.string(if self.options.numbered_threads { &numbered } else { name });
            let fields = vec![
                ("pid", plain(u64::from(recording.processes[thread.process].pid))),
                ("tid", plain(thread.tid)),
                ("preferredName", name),
                ("coreValueSignature", plain(0)),
            ];
            entries.push((thread.tid, self.archive.object("XRThread", fields)));
        }
        entries.reverse();
        self.archive.by_number(entries)
    }

    /// The images of each process, by device and pid.
    fn symbol_stores(&mut self) -> Value {
        let mut entries = Vec::new();
        for process in 0..self.recording.processes.len() {
            let pid = self.recording.processes[process].pid;
            if self.options.other_device {
                entries.push((format!("{OTHER_DEVICE}.{pid}"), self.foreign_images(pid)));
            }
            entries.push((format!("{DEVICE}.{pid}"), self.process_images(process)));
        }
        let entries = entries.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        self.archive.named(entries)
    }

    fn process_images(&mut self, process: usize) -> Value {
        let pid = self.recording.processes[process].pid;
        let nothing = Loaded { own: Vec::new(), cached: BTreeMap::new() };
        let loaded = self.images.get(&process).unwrap_or(&nothing);
        let base = (self.options.shared_cache && pid != 0).then_some(self.base);
        let mut own = loaded.own.clone();
        // The kernel has no shared cache.
        let cached: Vec<u64> = if base.is_some() { loaded.cached.keys().copied().collect() } else { Vec::new() };
        if base.is_none() {
            own.extend(loaded.cached.values());
        }
        let signature = process_signature(self.recording, pid, &own, base);
        let path = self.recording.processes[process].path.clone();
        self.persistent_symbols(signature, &cached, &path)
    }

    /// The same files at other addresses, as for the same pid on another device.
    fn foreign_images(&mut self, pid: u32) -> Value {
        let mut elsewhere = self.recording.clone();
        let images: BTreeSet<usize> = (0..elsewhere.images.len()).collect();
        elsewhere.images.iter_mut().for_each(|image| image.uuid = image.uuid.chars().rev().collect::<String>());
        elsewhere.images.iter_mut().for_each(|image| image.uuid = regrouped(&image.uuid));
        let signature = process_signature(&elsewhere, pid, &Vec::from_iter(images), None);
        self.persistent_symbols(signature, &[], "/elsewhere")
    }

    fn persistent_symbols(&mut self, signature: Vec<u8>, cached: &[u64], path: &str) -> Value {
        let archive = &mut self.archive;
        let offsets = cached.iter().rev().map(|&offset| archive.number(offset)).collect();
        let fields = vec![
            ("$3", archive.nil()),
            ("timeline-type", archive.string("mach-absolute")),
            ("$1", archive.list("NSMutableArray", Vec::new())),
            ("dsc_load_addresses", archive.list("NSMutableSet", offsets)),
            ("$2", archive.string(path)),
            ("com.apple.xray.symbolstore.signature", archive.data(signature)),
            ("$0", archive.number(10)),
        ];
        archive.object("PFTPersistentSymbols", fields)
    }

    /// The images of the shared cache, by the UUID of the cache and position in it.
    fn shared_cache(&mut self) -> Value {
        let mut cached: BTreeMap<u64, usize> = BTreeMap::new();
        self.images.values().for_each(|loaded| cached.extend(&loaded.cached));
        let pid = self.recording.processes.first().map_or(0, |process| process.pid);
        let mut entries = Vec::new();
        for (offset, image) in cached {
            let signature = cached_signature(self.recording, pid, image, self.base);
            entries.push((self.archive.number(offset), self.archive.data(signature)));
        }
        let mut caches = Vec::new();
        if self.options.shared_cache {
            let cache = self.archive.dictionary("NSMutableDictionary", entries);
            caches.push((self.archive.uuid(CACHE_UUID), cache));
        }
        self.archive.dictionary("NSMutableDictionary", caches)
    }

    /// Writes the kernel. It is not a sampled process, unless one has pid 0.
    fn kernel_signature(&mut self) -> Value {
        let kernel = self.recording.processes.iter().position(|process| process.pid == 0);
        let loaded = kernel.and_then(|process| self.images.get(&process));
        let images: Vec<usize> =
            loaded.map_or_else(Vec::new, |loaded| loaded.own.iter().chain(loaded.cached.values()).copied().collect());
        let signature = process_signature(self.recording, 0, &images, None);
        self.archive.data(signature)
    }
}

/// Formats a UUID of 32 digits, with hyphens anywhere, in the usual form.
fn regrouped(text: &str) -> String {
    let digits: String = text.chars().filter(|&character| character != '-').collect();
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}
