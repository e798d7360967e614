//! Parses the documents of an input: diagnostics with their facts and call trees.

use std::io::Read;

use struson::reader::ValueType;

use super::app_store_connect;
use super::diagnostic::{Day, Diagnostic, Fact, Kind, Node, Odd, Thread, Tree};
use super::metrics::{self, Leaf};
use super::record::is_known;
use crate::error::{Error, ErrorKind};
use crate::readers::json::{Held, Json, once};
use crate::recording::{Limits, Options};
use crate::units::Uuid;

impl Kind {
    /// The key prefixes in payloads and reports.
    const ALL: [(&'static str, Self); 6] = [
        ("crash", Self::Crash),
        ("hang", Self::Hang),
        ("cpuException", Self::Cpu),
        ("diskWriteException", Self::DiskWrite),
        ("appLaunch", Self::Launch),
        ("memoryException", Self::Memory),
    ];

    /// Returns the kind for a key, such as `hangDiagnostics` in a payload or `hangDiagnostic` in a report.
    fn of_key(key: &str) -> Option<Self> {
        let name = key.strip_suffix('s').unwrap_or(key).strip_suffix("Diagnostic")?;
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, kind)| kind)
    }

    /// Infers the kind of a diagnostic from one of its facts.
    fn of_fact(fact: &Fact) -> Option<Self> {
        match fact.key.as_str() {
            "event" => app_store_connect::kind_of_event(&fact.value),
            "hangDuration" => Some(Self::Hang),
            "totalCPUTime" => Some(Self::Cpu),
            "writesCaused" | "totalBytesWritten" => Some(Self::DiskWrite),
            "launchDuration" => Some(Self::Launch),
            "exceptionType" | "signal" | "terminationReason" => Some(Self::Crash),
            _ => None,
        }
    }
}

/// True for a key that looks like a kind of diagnostic.
fn is_kind(key: &str) -> bool {
    key.strip_suffix('s').unwrap_or(key).ends_with("Diagnostic")
}

/// The maximum depth of nested wrappers.
const MOST_LEVELS: usize = 16;

pub(super) struct Documents {
    limits: Limits,
    held: Held,
    found: Vec<Diagnostic>,
    /// The metrics in the document.
    days: Vec<Day>,
    /// The number of documents with metrics so far.
    metrics: u64,
    /// The percentiles in the document, by product.
    percentiles: Vec<Vec<Leaf>>,
}

impl Documents {
    pub(super) fn new(options: &Options) -> Self {
        let (limits, held) = (options.limits.clone(), Held::new(options));
        Self { limits, held, found: Vec::new(), days: Vec::new(), metrics: 0, percentiles: Vec::new() }
    }

    /// Reads one document, and returns its diagnostics.
    pub(super) fn read<R: Read>(&mut self, json: &mut Json<'_, R>) -> Result<Vec<Diagnostic>, Error> {
        self.held.start();
        self.document(json, None, 0)?;
        Ok(std::mem::take(&mut self.found))
    }

    /// Returns the metrics of the last document.
    pub(super) fn days(&mut self) -> Vec<Day> {
        std::mem::take(&mut self.days)
    }

    /// Returns the percentiles of the last document.
    pub(super) fn percentiles(&mut self) -> Vec<Vec<Leaf>> {
        std::mem::take(&mut self.percentiles)
    }

    /// The number of documents with metrics so far.
    pub(super) fn metrics(&self) -> u64 {
        self.metrics
    }

    /// Reads a payload, report, diagnostic or tree, a wrapper of one of them, or an array of these.
    fn document<R: Read>(&mut self, json: &mut Json<'_, R>, kind: Option<Kind>, level: usize) -> Result<(), Error> {
        if level > MOST_LEVELS {
            return Err(json.damaged("diagnostics are nested too deeply"));
        }
        if json.is_next(ValueType::Object)? {
            return self.object(json, kind, level);
        }
        if !json.is_next(ValueType::Array)? {
            return json.skip();
        }
        json.begin_array()?;
        while json.has_next()? {
            self.document(json, kind, level + 1)?;
        }
        json.end_array()
    }

    fn object<R: Read>(&mut self, json: &mut Json<'_, R>, kind: Option<Kind>, level: usize) -> Result<(), Error> {
        let (first, mut tree, mut facts) = (self.found.len(), None, Vec::new());
        let (mut leaves, mut has_metrics) = (Vec::new(), false);
        json.begin_object()?;
        while json.has_next()? {
            let key = json.member()?;
            match key.as_str() {
                "payload" | "productData" | "diagnosticLogs" => self.document(json, None, level + 1)?,
                "metricCategories" => {
                    let mut leaves = Vec::new();
                    self.leaves(json, (key, app_store_connect::is_known), &mut leaves)?;
                    self.percentiles.push(leaves);
                }
                "callStackTree" => self.tree(json, tree.get_or_insert_default(), level)?,
                "callStacks" | "callStackThreads" | "callStackPerThread" | "binaryInfo" => {
                    self.tree_member(json, &key, tree.get_or_insert_default())?;
                }
                "diagnosticMetaData" | "environment" | "metaData" | "timeRange" => self.facts(json, &mut facts)?,
                "stateEntries" => {
                    has_metrics = true;
                    json.skip()?;
                }
                _ if key == "intervalEntries" || key.ends_with("Metrics") => {
                    has_metrics = true;
                    self.leaves(json, (key, metrics::is_known), &mut leaves)?;
                }
                _ => match Kind::of_key(&key) {
                    Some(kind) => self.document(json, Some(kind), level + 1)?,
                    None if is_kind(&key) && !json.is_next(ValueType::String)? => self.unknown_kind(json)?,
                    None => read_fact(json, key, &mut facts)?,
                },
            }
        }
        json.end_object()?;
        let told = facts.iter().find_map(Kind::of_fact);
        self.share(first, &facts, json)?;
        if let (None, None) = (&tree, kind) {
            if has_metrics && self.found.len() == first {
                self.metrics += 1;
                self.held.add(2 * size_of::<Day>(), json)?;
                self.days.push(Day { facts, leaves });
            }
            return Ok(());
        }
        let (kind, tree) = (kind.or(told).unwrap_or_default(), tree.unwrap_or_default());
        app_store_connect::name_detail(&mut facts, kind);
        self.held.add(2 * size_of::<Diagnostic>(), json)?;
        self.found.push(Diagnostic { kind, tree, facts, at: json.place(), unknown: 0 });
        Ok(())
    }

    /// Counts the diagnostics of an unknown kind.
    fn unknown_kind<R: Read>(&mut self, json: &mut Json<'_, R>) -> Result<(), Error> {
        let (at, mut unknown) = (json.place(), 1);
        if json.is_next(ValueType::Array)? {
            json.begin_array()?;
            unknown = 0;
            while json.has_next()? {
                json.skip()?;
                unknown += 1;
            }
            json.end_array()?;
        } else {
            json.skip()?;
        }
        if unknown > 0 {
            self.held.add(2 * size_of::<Diagnostic>(), json)?;
            self.found.push(Diagnostic { kind: Kind::Unknown, tree: Tree::default(), facts: Vec::new(), at, unknown });
        }
        Ok(())
    }

    /// Keeps the metric values that traceparse uses.
    fn leaves<R: Read>(
        &mut self,
        json: &mut Json<'_, R>,
        (key, is_known): (String, fn(&[String]) -> bool),
        leaves: &mut Vec<Leaf>,
    ) -> Result<(), Error> {
        json.leaves(&mut vec![key], |path, value, json| {
            if !is_known(path) {
                return Ok(());
            }
            let names: usize = path.iter().map(|name| size_of::<String>() + name.len()).sum();
            self.held.add(2 * size_of::<Leaf>() + names + value.len(), json)?;
            leaves.push((path.to_vec(), value));
            Ok(())
        })
    }

    /// Adds the facts of an object to all diagnostics in it, including those read before the facts.
    fn share<R: Read>(&mut self, first: usize, facts: &[Fact], json: &Json<'_, R>) -> Result<(), Error> {
        let bytes: usize = facts.iter().map(bytes_of_fact).sum();
        let holders = 1 + self.found.len().saturating_sub(first);
        self.held.add(bytes.saturating_mul(holders), json)?;
        for inner in self.found.iter_mut().skip(first) {
            inner.facts.extend_from_slice(facts);
        }
        Ok(())
    }

    fn tree<R: Read>(&mut self, json: &mut Json<'_, R>, tree: &mut Tree, level: usize) -> Result<(), Error> {
        if json.is_next(ValueType::Array)? && level <= MOST_LEVELS {
            return self.trees(json, tree, level);
        }
        if !json.is_next(ValueType::Object)? || level > MOST_LEVELS {
            return Err(json.damaged("the callStackTree is not an object with call stacks"));
        }
        json.begin_object()?;
        while json.has_next()? {
            match json.member()?.as_str() {
                "callStackTree" => self.tree(json, tree, level + 1)?,
                key => self.tree_member(json, key, tree)?,
            }
        }
        json.end_object()
    }

    /// Merges a list of trees that belong to one diagnostic.
    fn trees<R: Read>(&mut self, json: &mut Json<'_, R>, tree: &mut Tree, level: usize) -> Result<(), Error> {
        json.begin_array()?;
        while json.has_next()? {
            let mut one = Tree { names: std::mem::take(&mut tree.names), ..Tree::default() };
            self.tree(json, &mut one, level + 1)?;
            tree.add(one);
        }
        json.end_array()
    }

    fn tree_member<R: Read>(&mut self, json: &mut Json<'_, R>, key: &str, tree: &mut Tree) -> Result<(), Error> {
        match key {
            "callStackPerThread" => {
                tree.is_per_thread = json.boolean()?;
                Ok(())
            }
            "callStacks" | "callStackThreads" => {
                if tree.threads.replace(Vec::new()).is_some() {
                    return Err(json.damaged("a call tree has its stacks twice"));
                }
                json.begin_array()?;
                while json.has_next()? {
                    self.held.add(2 * size_of::<Thread>(), json)?;
                    let thread = self.thread(json, tree)?;
                    tree.threads.get_or_insert_default().push(thread);
                }
                json.end_array()
            }
            "binaryInfo" if json.is_next(ValueType::Array)? => {
                json.begin_array()?;
                while json.has_next()? {
                    if let (Some(uuid), Some(name)) = read_name(json, &mut tree.odd_uuids)? {
                        self.name(json, tree, uuid, name)?;
                    }
                }
                json.end_array()
            }
            _ => json.skip(),
        }
    }

    fn thread<R: Read>(&mut self, json: &mut Json<'_, R>, tree: &mut Tree) -> Result<Thread, Error> {
        let (mut is_attributed, mut roots) = (None, None::<Thread>);
        json.begin_object()?;
        while json.has_next()? {
            match json.member()?.as_str() {
                "threadAttributed" => is_attributed = json.boolean()?,
                key @ ("callStackRootFrames" | "rootFrames") => {
                    once(json, key, &mut roots, |json| self.frames(json, tree).map(Some))?;
                }
                "callStackFrames" => return Err(json.damaged(FLATTENED)),
                _ => json.skip()?,
            }
        }
        json.end_object()?;
        Ok(Thread { is_attributed: is_attributed.unwrap_or_default(), ..roots.unwrap_or_default() })
    }

    /// Reads an array of frames with all their callees.
    fn frames<R: Read>(&mut self, json: &mut Json<'_, R>, tree: &mut Tree) -> Result<Thread, Error> {
        let (mut thread, mut open): (Thread, Vec<usize>) = (Thread::default(), Vec::new());
        json.begin_array()?;
        loop {
            // Inside an array of frames. The innermost open frame is their caller.
            if json.has_next()? {
                json.begin_object()?;
                if open.len() >= self.limits.stack_depth {
                    let text = format!("a stack has more than {} frames", self.limits.stack_depth);
                    return Err(Error::new(ErrorKind::Limit(text), Some(json.place())));
                }
                // Twice the size, since a `Vec` doubles as it grows.
                self.held.add(2 * size_of::<Node>(), json)?;
                if let Some(caller) = open.last().and_then(|&caller| thread.nodes.get_mut(caller)) {
                    caller.callees += 1;
                    if caller.callees > 1 {
                        thread.branch.get_or_insert_with(|| json.place());
                    }
                }
                open.push(thread.nodes.len());
                thread.nodes.push(Node { depth: open.len() - 1, ..Node::default() });
            } else {
                json.end_array()?;
            }
            let Some(node) = open.last().and_then(|&last| thread.nodes.get_mut(last)) else { return Ok(thread) };
            if read_frame(json, node, &mut tree.odd_uuids)? == Reached::Callees {
                continue;
            }
            if node.of_callees > node.count.unwrap_or(u64::MAX) {
                thread.excess.get_or_insert_with(|| json.place());
            }
            if node.count.is_none() {
                thread.uncounted.get_or_insert_with(|| json.place());
            }
            self.end_frame(json, node, tree)?;
            let count = node.count.unwrap_or_default();
            open.pop();
            if let Some(caller) = open.last().and_then(|&caller| thread.nodes.get_mut(caller)) {
                caller.of_callees = caller.of_callees.saturating_add(count);
            }
        }
    }

    /// Keeps the name of a frame's binary.
    fn end_frame<R: Read>(&mut self, json: &Json<'_, R>, node: &mut Node, tree: &mut Tree) -> Result<(), Error> {
        self.held.add(node.symbol.as_ref().map_or(0, String::len), json)?;
        match node.uuid {
            Some(uuid) => node.name.take().map_or(Ok(()), |name| self.name(json, tree, uuid, name)),
            None => self.held.add(node.name.as_ref().map_or(0, String::len), json),
        }
    }

    /// Keeps the first name of a binary.
    fn name<R: Read>(&mut self, json: &Json<'_, R>, tree: &mut Tree, uuid: Uuid, name: String) -> Result<(), Error> {
        match tree.names.get(&uuid) {
            Some(known) if *known == name || tree.renamed.is_some() => {}
            Some(_) => tree.renamed = Some(json.place()),
            None => {
                self.held.add(name.len() + 2 * size_of::<(Uuid, String)>(), json)?;
                tree.names.insert(uuid, name);
            }
        }
        Ok(())
    }
}

const FLATTENED: &str = "callStackFrames are call trees that a collector flattened, and the callers of their frames are unknown; \
                         pass the payload as MetricKit wrote it";

/// The point at which reading a frame stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// At the start of the array of its callees.
    Callees,
    End,
}

/// Reads members of a frame, up to its callees or its end.
fn read_frame<R: Read>(json: &mut Json<'_, R>, node: &mut Node, odd: &mut Odd) -> Result<Reached, Error> {
    while json.has_next()? {
        match json.member()?.as_str() {
            "subFrames" if json.is_next(ValueType::Array)? => {
                json.begin_array()?;
                return Ok(Reached::Callees);
            }
            "address" => node.address = number(json)?,
            key @ ("offsetIntoBinaryTextSegment" | "offsetAddress") => once(json, key, &mut node.offset, number)?,
            "symbolName" => node.symbol = json.text()?.filter(|name| !name.is_empty()),
            "sampleCount" => node.count = json.number()?,
            "binaryName" => node.name = json.text()?,
            "binaryUUID" => node.uuid = uuid(json, odd)?,
            _ => json.skip()?,
        }
    }
    json.end_object()?;
    Ok(Reached::End)
}

/// Reads a number. App Store Connect writes addresses as strings; invalid ones become `None`.
fn number<R: Read>(json: &mut Json<'_, R>) -> Result<Option<u64>, Error> {
    if json.is_next(ValueType::String)? { Ok(json.text()?.and_then(|text| text.parse().ok())) } else { json.number() }
}

fn uuid<R: Read>(json: &mut Json<'_, R>, odd: &mut Odd) -> Result<Option<Uuid>, Error> {
    let Some(text) = json.text()?.filter(|text| !text.is_empty()) else { return Ok(None) };
    let uuid = Uuid::parse(&text);
    if uuid.is_none() {
        odd.get_or_insert_with(|| (0, json.place())).0 += 1;
    }
    Ok(uuid.filter(|uuid| !uuid.is_nil()))
}

/// Reads `{"uuid": "…", "name": "…"}`.
fn read_name<R: Read>(json: &mut Json<'_, R>, odd: &mut Odd) -> Result<(Option<Uuid>, Option<String>), Error> {
    let (mut id, mut name) = (None, None);
    json.begin_object()?;
    while json.has_next()? {
        match json.member()?.as_str() {
            "uuid" => id = uuid(json, odd)?,
            "name" => name = json.text()?,
            _ => json.skip()?,
        }
    }
    json.end_object()?;
    Ok((id, name))
}

fn bytes_of_fact(fact: &Fact) -> usize {
    2 * size_of::<Fact>() + fact.key.len() + fact.value.len()
}

impl Documents {
    /// Reads the members of an object as facts.
    fn facts<R: Read>(&mut self, json: &mut Json<'_, R>, facts: &mut Vec<Fact>) -> Result<(), Error> {
        if !json.is_next(ValueType::Object)? {
            return json.skip();
        }
        json.begin_object()?;
        while json.has_next()? {
            let key = json.member()?;
            if key == "states" && json.is_next(ValueType::Array)? {
                self.states(json, facts)?;
            } else {
                read_fact(json, key, facts)?;
            }
        }
        json.end_object()
    }

    /// Reads the states that the app reported, as facts named `state DOMAIN`.
    fn states<R: Read>(&mut self, json: &mut Json<'_, R>, facts: &mut Vec<Fact>) -> Result<(), Error> {
        json.begin_array()?;
        while json.has_next()? {
            let parts = if json.is_next(ValueType::Object)? {
                Parts::read(json)?
            } else {
                json.skip().map(|()| Parts::default())?
            };
            if let (Some(domain), Some(label)) = (parts.get("domain"), parts.get("label")) {
                let state = Fact { key: format!("state {domain}"), value: label.to_owned(), is_number: false };
                self.held.add(bytes_of_fact(&state), json)?;
                facts.push(state);
            }
        }
        json.end_array()
    }
}

/// Reads a fact with a known key: a string, a number, `{"value": 9, "unit": "s"}`, or the parts of a version. Skips other values.
fn read_fact<R: Read>(json: &mut Json<'_, R>, key: String, facts: &mut Vec<Fact>) -> Result<(), Error> {
    let key = app_store_connect::usual_key(key);
    if !is_known(&key) || facts.iter().any(|known| known.key == key) {
        return json.skip();
    }
    let is_number = json.is_next(ValueType::Object)?;
    let value = if is_number { Parts::read(json)?.joined() } else { json.scalar()? };
    facts.extend(value.map(|value| Fact { key, value, is_number }));
    Ok(())
}

/// The scalars with known keys in an object and in its object `unit`. If a key has several values, the first is used.
#[derive(Default)]
struct Parts([Option<String>; Self::KEYS.len()]);

impl Parts {
    const KEYS: [&str; 10] = [
        "value",
        "unit",
        "symbol",
        "number",
        "platform",
        "buildNumber",
        "domain",
        "label",
        "exceptionName",
        "composedMessage",
    ];

    fn read<R: Read>(json: &mut Json<'_, R>) -> Result<Self, Error> {
        let mut parts = Self::default();
        json.begin_object()?;
        while json.has_next()? {
            let key = json.member()?;
            if key == "unit" && json.is_next(ValueType::Object)? {
                json.begin_object()?;
                while json.has_next()? {
                    let key = json.member()?;
                    parts.take(&key, json)?;
                }
                json.end_object()?;
            } else {
                parts.take(&key, json)?;
            }
        }
        json.end_object()?;
        Ok(parts)
    }

    fn take<R: Read>(&mut self, key: &str, json: &mut Json<'_, R>) -> Result<(), Error> {
        let place = Self::KEYS.iter().zip(&mut self.0).find(|(known, _)| **known == key);
        match place {
            Some((_, value)) if value.is_none() => *value = json.scalar()?,
            _ => json.skip()?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<&str> {
        let (_, value) = Self::KEYS.iter().zip(&self.0).find(|(known, _)| **known == key)?;
        value.as_deref()
    }

    /// Joins the parts, as in `9 s`, `iPhone OS 27.0 (24A435)`, `NSRangeException: index 5 beyond bounds`.
    fn joined(&self) -> Option<String> {
        if let (Some(value), Some(unit)) = (self.get("value"), self.get("unit").or(self.get("symbol"))) {
            return Some(format!("{value} {unit}"));
        }
        if let Some(name) = self.get("exceptionName") {
            return Some(
                self.get("composedMessage").map_or_else(|| name.to_owned(), |message| format!("{name}: {message}")),
            );
        }
        let (platform, number) = (self.get("platform")?, self.get("number")?);
        let build = self.get("buildNumber").map(|build| format!(" ({build})")).unwrap_or_default();
        Some(format!("{platform} {number}{build}"))
    }
}
