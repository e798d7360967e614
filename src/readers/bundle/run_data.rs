//! Metadata of a run from `form.template`: device, process, times, and the names of threads and processes.
//!
//! The same as in an export's table of contents, with the same wording. `form.template` lacks some of it: why the process ended
//! (`termination-reason`), the tables (stored elsewhere in the bundle), the tracks, the settings of instruments, and whether all processes were
//! recorded. How the process was chosen (`type`) is only known if Instruments attached to it. Dates are in UTC, not in the time zone of the
//! exporting machine. The environment and arguments of processes may contain secrets: they are counted, but never read.

use super::budget::Budget;
use super::cores;
use super::keyed_archive::Node;
use super::template::Template;
use crate::calendar::iso_8601;
use crate::hash::HashMap;
use crate::recording::{TocProcess, TocRun, lookup, without_tid};
use crate::symbols::Broken;

/// The `targetType` of a process that Instruments attached to. Other values are not understood.
const ATTACHED: u64 = 2;

#[derive(Clone, Debug, Default)]
pub(super) struct RunData {
    /// The table of contents, without tables and tracks.
    pub(super) contents: TocRun,
    /// Threads by tid.
    pub(super) threads: HashMap<u64, ThreadName>,
    /// Processes by pid; `None` if several processes had this pid at different times.
    pub(super) processes: HashMap<u64, Option<ProcessName>>,
    /// The core kinds of the chosen device, by core number.
    pub(super) cores: HashMap<u32, &'static str>,
    /// The latest plausible time of a sample in nanoseconds, if the length of the run is known.
    pub(super) latest: Option<u64>,
    /// Metadata that is missing although every recording since Instruments 13 has it, and implausible values.
    pub(super) odd: Vec<String>,
}

/// Samples may be this much later than the end of the run. The precision of the recorded end is unknown.
const LATE: u64 = 60_000_000_000;

/// The name of a thread, as recorded by Instruments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadName {
    /// The pid of its process, if known.
    pub(super) pid: Option<u64>,
    /// The name, such as `Main Thread`; may be empty.
    pub(super) name: String,
}

/// The name of a process, as recorded by Instruments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessName {
    pub(super) name: String,
    /// The executable: a path, or only its end if no more was recorded.
    pub(super) path: String,
}

impl RunData {
    /// Reads the metadata of a run, which is empty if the run is missing.
    pub(super) fn read(template: &Template<'_>, run: u64) -> Result<Self, Broken> {
        let number = u32::try_from(run).unwrap_or(u32::MAX);
        let mut data = Self { contents: TocRun { number, ..TocRun::default() }, ..Self::default() };
        let Some(node) = template.run(run)?.filter(|node| !node.is_nil()) else {
            if template.is_there() {
                data.odd
                    .push("it is not in form.template: names of threads and kinds of cores may be missing".to_owned());
            }
            return Ok(data);
        };
        let mut budget = template.budget();
        let budget = &mut budget;
        let mut odd = Vec::new();
        let mut list = |name: &str, what: &str| {
            let list = node.member(name)?.filter(|list| !list.is_nil());
            if list.is_none() {
                odd.push(format!("{name} is missing: {what} may be missing"));
            }
            Ok::<_, Broken>(list)
        };
        let (by_number, of_processes) = (list("threadsByTID", "names of threads")?, list("processDatas", "processes")?);
        let objects = list("allObjects", "kinds of cores")?;
        data.threads = by_number.map_or(Ok(HashMap::default()), |list| threads(list, budget))?;
        data.processes = of_processes.map_or(Ok(HashMap::default()), |list| processes(list, budget, &mut odd))?;
        if let Some(info) = node.member("runInfo")? {
            add_info(&mut data.contents, info, budget)?;
            data.latest = latest(info)?;
        }
        if let Some(objects) = objects {
            let device = template.device(run)?;
            data.cores = cores::kinds(objects, device.as_deref(), budget, &mut odd)?;
        }
        add_launch_data(&mut data.contents, node);
        data.odd = odd;
        data.contents.processes = listed_processes(template, run, budget)?;
        Ok(data)
    }
}

/// Adds the target and the summary to the table of contents.
fn add_info(contents: &mut TocRun, info: Node<'_>, budget: &mut Budget) -> Result<(), Broken> {
    let mut text = |name: &str| info.member(name)?.map_or(Ok(None), |node| budget.text(node));
    let mut pairs = |names: &[(&str, &str)]| {
        let mut pairs = Vec::new();
        for &(name, field) in names {
            pairs.extend(text(field)?.map(|value| (name.to_owned(), value)));
        }
        Ok::<_, Broken>(pairs)
    };
    contents.device = pairs(&[
        ("uuid", "_targetUUID"),
        ("model", "_targetModel"),
        ("name", "_targetName"),
        ("os-version", "_targetOperatingSystem"),
        ("platform", "_targetPlatform"),
    ])?;
    contents.host_device = pairs(&[
        ("uuid", "_hostUUID"),
        ("model", "_hostModel"),
        ("name", "_hostName"),
        ("os-version", "_hostOperatingSystem"),
        ("platform", "_hostPlatform"),
    ])?;
    let process = pairs(&[
        ("return-exit-status", "_targetExitStatus"),
        ("name", "_targetProcessName"),
        ("pid", "_targetProcessPid"),
    ])?;
    if lookup(&process, "pid").is_some_and(|pid| pid.parse::<u64>().is_ok()) {
        let kind = info.member("targetType")?.and_then(|node| known(node.number()));
        let kind = (kind == Some(ATTACHED)).then(|| ("type".to_owned(), "attached".to_owned()));
        contents.process = kind.into_iter().chain(process).collect();
    }
    contents.summary = times(info)?;
    contents.summary.extend(pairs(&[
        ("end-reason", "_endReason"),
        ("instruments-version", "_instrumentVersion"),
        ("template-name", "_templateName"),
        ("recording-mode", "_recordingMode"),
        ("time-limit", "_timeLimit"),
    ])?);
    Ok(())
}

/// Looks up a member that samples do not need; `None` if it is nil or malformed.
fn member<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    known(node.member(name)).filter(|node| !node.is_nil())
}

/// Counts the environment variables of processes, and checks for arguments: in `runInfo`, which repeats the target's, in the target, and in
/// the other processes. Samples do not need them, so malformed values are ignored instead of rejected.
fn add_launch_data(contents: &mut TocRun, run: Node<'_>) {
    let processes = member(run, "processDatas").and_then(|list| list.items().ok()).unwrap_or_default();
    let places = ["runInfo", "target"].into_iter().filter_map(|name| member(run, name)).chain(processes);
    for place in places {
        let variables = ["_environment", "specifiedEnvironment"].into_iter().filter_map(|name| member(place, name));
        let variables = variables.map(|node| node.entries().map_or(0, |entries| entries.len())).max();
        contents.environment_variables = contents.environment_variables.max(variables.unwrap_or(0) as u64);
        let has_text = |name: &str| {
            let text = member(place, name).and_then(|node| known(node.text()));
            text.is_some_and(|text| !text.is_empty())
        };
        contents.has_arguments |= ["_arguments", "_args"].into_iter().any(has_text)
            || member(place, "_argumentsArray").is_some_and(|node| node.items().is_ok_and(|items| !items.is_empty()));
    }
}

impl RunData {
    /// True if the recorded device runs iOS, tvOS, watchOS or visionOS. Processes in simulators are processes of the Mac.
    pub(super) fn is_device(&self) -> bool {
        let platform = lookup(&self.contents.device, "platform").unwrap_or_default();
        ["iOS", "iPadOS", "iPhoneOS", "tvOS", "visionOS", "watchOS", "xrOS"].contains(&platform)
    }
}

/// Ignores a malformed value that samples do not need.
fn known<T>(value: Result<Option<T>, Broken>) -> Option<T> {
    value.ok().flatten()
}

/// Formats the start, the end and the duration of the run.
fn times(info: Node<'_>) -> Result<Vec<(String, String)>, Broken> {
    let seconds = |name: &str| Ok::<_, Broken>(info.member(name)?.and_then(|node| known(node.real())));
    let date =
        |name: &str| Ok::<_, Broken>(seconds(name)?.and_then(|seconds| iso_8601((seconds * 1000.0).round() as i64)));
    let duration = seconds("_rawDuration")?.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    let all = [
        ("start-date", date("_rawStartTime")?),
        ("end-date", date("_rawEndTime")?),
        ("duration", duration.map(|seconds| format!("{seconds:.6}"))),
    ];
    Ok(all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

/// Returns the latest plausible time of a sample.
fn latest(info: Node<'_>) -> Result<Option<u64>, Broken> {
    let seconds = info.member("_rawDuration")?.and_then(|node| known(node.real()));
    let seconds = seconds.filter(|seconds| (0.0..1e9).contains(seconds));
    Ok(seconds.map(|seconds| (seconds * 1e9) as u64 + LATE))
}

/// Reads the threads, keyed by tid.
fn threads(by_number: Node<'_>, budget: &mut Budget) -> Result<HashMap<u64, ThreadName>, Broken> {
    let mut threads = HashMap::default();
    for (key, thread) in by_number.entries()? {
        let member = |name: &str| thread.member(name);
        let name = member("preferredName")?.map_or(Ok(None), |node| budget.string(node))?.unwrap_or_default();
        let pid = member("pid")?.map_or(Ok(None), Node::number)?;
        let own = member("tid")?.map_or(Ok(None), Node::number)?;
        let tid = key.number()?.ok_or_else(|| thread.broken("thread", "it has no number"))?;
        if own.is_some_and(|own| own != tid) {
            return Err(thread.broken("thread", "it is listed under the number of another thread"));
        }
        let name = without_tid(&name, tid).to_owned();
        if threads.insert(tid, ThreadName { pid, name }).is_some() {
            return Err(thread.broken("thread", format_args!("{tid} is listed twice")));
        }
    }
    Ok(threads)
}

/// Reads the processes, keyed by pid.
fn processes(
    list: Node<'_>,
    budget: &mut Budget,
    odd: &mut Vec<String>,
) -> Result<HashMap<u64, Option<ProcessName>>, Broken> {
    let mut processes: HashMap<u64, Option<ProcessName>> = HashMap::default();
    for process in list.items()? {
        let mut text = |name: &str| process.member(name)?.map_or(Ok(None), |node| budget.string(node));
        let (name, path) = (text("displayName")?, text("_execname")?.unwrap_or_default());
        let pid = process.member("_pid")?.map_or(Ok(None), Node::integer)?;
        // This entry represents all processes.
        if pid.is_some_and(|pid| pid < 0) {
            continue;
        }
        let (Some(pid), Some(name)) = (pid, name) else {
            odd.push("one of its processes has no number or no name".to_owned());
            continue;
        };
        let found = ProcessName { name, path };
        let known = processes.entry(pid.unsigned_abs()).or_insert_with(|| Some(found.clone()));
        *known = known.take().filter(|known| *known == found);
    }
    Ok(processes)
}

/// Lists the processes with known images. A table of contents names them by the last part of their path, which may differ from the name in
/// samples.
fn listed_processes(template: &Template<'_>, run: u64, budget: &mut Budget) -> Result<Vec<TocProcess>, Broken> {
    let mut listed = Vec::new();
    for process in template.processes(run, budget)? {
        let path = process.node.member("$2")?.map_or(Ok(None), |node| budget.text(node))?.unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        listed.push(TocProcess { name, pid: Some(process.pid), path });
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ArchiveWriter, NIL, form_template_of_finder, reference};
    use super::*;
    use crate::read;
    use crate::recording::Options;

    /// Two runs; only the first has complete data.
    fn invented() -> Vec<u8> {
        let mut writer = ArchiveWriter::new();
        let (uuid, name, exit, pid) = (writer.add("U"), writer.add("Mac"), writer.add("3"), writer.add("751"));
        let (start, end, lasted) =
            (writer.add(1_772_731_658.879_218), writer.add(1_772_731_662.277_975), writer.add(3.4));
        let (kind, limit) = (writer.add(2_u64), writer.wrapped("NSMutableString", "NS.string", "3 seconds"));
        let environment = writer.named(&[("TOKEN", name), ("PATH", name)]);
        let arguments = writer.array(&[name]);
        let target = writer.named(&[("_argumentsArray", arguments)]);
        let info = [
            ("_targetUUID", uuid),
            ("_targetName", name),
            ("_targetModel", NIL),
            ("_targetExitStatus", exit),
            ("_targetProcessName", name),
            ("_targetProcessPid", pid),
            ("targetType", kind),
            ("_rawStartTime", start),
            ("_rawEndTime", end),
            ("_rawDuration", lasted),
            ("_timeLimit", limit),
            ("_hostName", name),
            ("_environment", environment),
        ];
        let info = writer.object("XRRunInfo", info.map(|(name, object)| (name.to_owned(), reference(object))));
        let number = writer.add(751_u64);
        let tid = writer.add(8246_u64);
        let thread = writer.named(&[("pid", number), ("tid", tid), ("preferredName", name)]);
        let nameless = writer.named(&[("pid", number), ("preferredName", NIL)]);
        let threads = writer.integer_keyed(&[(8246, thread), (9, nameless)]);
        let mut process = |pid: i64, name: &str| {
            let (pid, name) = (writer.add(pid), writer.add(name));
            writer.named(&[("_pid", pid), ("displayName", name), ("_execname", name)])
        };
        let all = [
            process(751, "Mac"),
            process(5, "one"),
            process(5, "two"),
            process(6, "same"),
            process(6, "same"),
            process(-1, "odd"),
        ];
        let processes = writer.array(&all);
        let device = writer.named(&[("_deviceIdentifier", uuid)]);
        let run = writer.named(&[
            ("runInfo", info),
            ("threadsByTID", threads),
            ("processDatas", processes),
            ("targetDevice", device),
            ("target", target),
        ]);
        let (one, two, nothing) = (writer.add(1_u64), writer.add(2_u64), writer.named(&[]));
        let common = writer.add("XRRunListAllRunsDataKey");
        let runs = writer.dictionary(&[(common, nothing), (two, nothing), (one, run)]);
        let data = writer.wrapped("XRRunListData", "$1", reference(runs));
        writer.finish(&[("com.apple.xray.run.data", data)])
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn what_is_known_of_a_run_is_told_as_exports_do() {
        let bytes = invented();
        let template = Template::read(&bytes).unwrap();
        let run = RunData::read(&template, 1).unwrap();
        let contents = &run.contents;
        assert_eq!(contents.device, pairs(&[("uuid", "U"), ("name", "Mac")]));
        assert_eq!(contents.host_device, pairs(&[("name", "Mac")]));
        let process = [("type", "attached"), ("return-exit-status", "3"), ("name", "Mac"), ("pid", "751")];
        assert_eq!(contents.process, pairs(&process));
        let summary = [
            ("start-date", "2026-03-05T17:27:38.879Z"),
            ("end-date", "2026-03-05T17:27:42.278Z"),
            ("duration", "3.400000"),
            ("time-limit", "3 seconds"),
        ];
        assert_eq!(contents.summary, pairs(&summary));
        assert_eq!((contents.environment_variables, contents.has_arguments), (2, true));
        assert_eq!(run.threads[&9], ThreadName { pid: Some(751), name: String::new() });
        assert_eq!(run.threads.get(&8246), Some(&ThreadName { pid: Some(751), name: "Mac".into() }));
        let mut known: Vec<_> = run.processes.iter().map(|(pid, process)| (*pid, process.is_some())).collect();
        known.sort_unstable();
        assert_eq!(known, [(5, false), (6, true), (751, true)], "a number that two processes had tells neither");
    }

    #[test]
    fn names_do_not_multiply() {
        let mut writer = ArchiveWriter::new();
        let (name, number) = (writer.add("a".repeat(50_000)), writer.add(7_u64));
        let thread = writer.named(&[("pid", number), ("preferredName", name)]);
        let threads: Vec<(u64, u64)> = (0..1_000).map(|tid| (tid, thread)).collect();
        let threads = writer.integer_keyed(&threads);
        let run = writer.named(&[("threadsByTID", threads)]);
        let one = writer.add(1_u64);
        let runs = writer.dictionary(&[(one, run)]);
        let data = writer.wrapped("XRRunListData", "$1", reference(runs));
        let bytes = writer.finish(&[("com.apple.xray.run.data", data)]);
        let told = RunData::read(&Template::read(&bytes).unwrap(), 1).unwrap_err();
        assert!(told.message.contains("more than 16 times the file"), "{told}");
    }

    #[test]
    fn runs_of_which_nothing_is_known_are_empty() {
        let bytes = invented();
        let template = Template::read(&bytes).unwrap();
        for number in [2, 3] {
            let run = RunData::read(&template, number).unwrap();
            assert_eq!(run.contents, TocRun { number: number as u32, ..TocRun::default() });
            assert!(!run.odd.is_empty(), "which is told");
            assert!(run.threads.is_empty() && run.processes.is_empty());
        }
    }

    /// Compares the contents of a real recording's `form.template`, and the names of threads and processes, with its export; skipped without
    /// the corpus.
    #[test]
    fn a_recording_is_known_as_its_exports_tell_it() {
        let Some((bytes, folder)) = form_template_of_finder() else { return };
        let template = Template::read(&bytes).unwrap();
        let run = RunData::read(&template, 1).unwrap();
        let exported = |name: &str| {
            let file = std::fs::File::open(folder.join(name)).unwrap();
            read(file, name, &Options::default()).unwrap()
        };
        let contents = exported("finder_toc.xml");
        let mut contents = contents.tocs().next().unwrap().runs[0].clone();
        contents.process.retain(|(name, _)| name != "termination-reason");
        contents.tables.clear();
        contents.processes.sort_by_key(|process| process.pid);
        assert_eq!(run.contents, contents);
        let profile = exported("finder_cpu_profile.xml").profile;
        let threads: Vec<_> = profile.thread_ids().map(|id| profile.thread(id)).collect();
        assert_eq!(threads.len(), 2);
        for thread in threads {
            let process = profile.process(thread.process);
            let known = &run.threads[&thread.tid.unwrap()];
            assert_eq!((known.pid, known.name.as_str()), (process.pid, profile.string(thread.name)));
            let listed = run.processes[&known.pid.unwrap()].as_ref().unwrap();
            assert_eq!(listed.name, profile.string(process.name));
        }
    }
}
