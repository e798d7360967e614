//! The tools: which command each of them calls.

/// A tool.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// When to call it, and when not.
    pub(super) about: &'static str,
    /// The commands; the last one whose condition holds is called.
    pub(super) calls: &'static [Call],
    /// The command's options that are arguments of the tool, by their long names; after `=`, the only values that apply to it.
    pub(super) options: &'static [&'static str],
}

/// A command that a tool calls.
#[derive(Debug)]
pub(super) struct Call {
    /// The argument that selects this command, and its value; an empty value is any.
    pub(super) when: Option<(&'static str, &'static str)>,
    /// The name of the command; empty for the default command.
    pub(super) command: &'static [&'static str],
    /// Options in effect unless an argument of the tool sets them.
    pub(super) defaults: &'static [(&'static str, &'static str)],
    /// The arguments of the tool that are the command's inputs, in order.
    pub(super) inputs: &'static [Input],
}

/// An argument that is an input of a command.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: InputKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputKind {
    Paths,
    /// A single path, in a list or not.
    Path,
    /// The name of a table.
    Table,
}

/// Descriptions of arguments, in place of those of the options.
pub(super) const DESCRIPTIONS: [(&str, &str); 4] = [
    ("output", "File to write, NAME.html; an existing one is replaced"),
    ("symbols", "dSYMs, folders of dSYMs, or other symbol files"),
    ("where", "Conditions: duration > 100ms (rows of a table), device=iPhone15,2 (labels of runs)"),
    ("against", "Recordings or folders of the new version; for pair, one recording; not for trend"),
];

/// An argument that selects what a tool shows.
pub(super) const WHAT: &str = "what";

const PATHS: Input = Input {
    name: "paths",
    about: "Recordings (.trace folders), exports of xctrace, or reports, or a zip or tar of one, as they are. Never unpack or export them",
    kind: InputKind::Paths,
};
const RUNS: Input = Input {
    name: "paths",
    about: "Recordings of runs, folders of them, a dataset, or a CSV manifest with a column path and columns of labels",
    kind: InputKind::Paths,
};
const TABLE: Input = Input {
    name: "table",
    about: "Table whose rows are returned; without it, the tables are listed",
    kind: InputKind::Table,
};
const BASE: Input = Input {
    name: "base",
    about: "Recordings or folders of the base; for trend, those of all versions; for pair, one recording",
    kind: InputKind::Paths,
};
const ONE_BASE: Input = Input { kind: InputKind::Path, ..BASE };
const ONE_AGAINST: Input = Input { name: "against", about: "", kind: InputKind::Path };

const fn call(
    when: Option<(&'static str, &'static str)>,
    command: &'static [&'static str],
    defaults: &'static [(&'static str, &'static str)],
    inputs: &'static [Input],
) -> Call {
    Call { when, command, defaults, inputs }
}

const fn what(value: &'static str) -> Option<(&'static str, &'static str)> {
    Some((WHAT, value))
}

/// The selection of samples.
macro_rules! options {
    ($($more:literal),*) => {
        &[$($more,)* "allow-truncated", "symbols", "process", "thread", "only-main-thread", "time", "during", "during-hang", "state", "run", "table", "hide-system"]
    };
}

pub(super) const TOOLS: [Tool; 9] = [
    Tool {
        name: "open",
        title: "Open a recording",
        about: "Call this first for one recording or report: how busy the app was, the heaviest functions, what is missing. what=contents lists \
                runs and tables; what=missing-symbols lists the UUIDs of dSYMs that would name functions. Not for many runs (fleet) or for \
                before and after (compare). A Mac, Xcode or an export is never needed.",
        calls: &[
            call(what("overview"), &[], &[("view", "overview")], &[PATHS]),
            call(what("contents"), &["toc"], &[], &[PATHS]),
            call(what("missing-symbols"), &["uuid"], &[], &[PATHS]),
        ],
        options: &["allow-truncated", "symbols", "process", "time", "run", "table"],
    },
    Tool {
        name: "functions",
        title: "Functions by CPU time",
        about: "The functions of a time range, a thread or a process, heaviest self weight first; with function, its callers and callees. view \
                gives threads, states, binaries or other tables instead. self_weight is the time in its own code; all_weight includes callees \
                and is near 100 % for main. Only running samples count, unless state is all: waiting is not CPU time.",
        calls: &[call(None, &[], &[("view", "functions")], &[PATHS])],
        options: options!("function", "view", "sort", "top"),
    },
    Tool {
        name: "tree",
        title: "Call tree",
        about: "Who calls what, from main down, all threads together; view=bottom-up gives the heaviest functions with their callers, \
                view=heaviest only the heaviest stack. Prefer functions with function for a single function. Nodes below 5 % are hidden: lower min_percent to see them.",
        calls: &[call(None, &[], &[("view", "tree"), ("no-threads", "true"), ("min-percent", "5")], &[PATHS])],
        options: options!("view=tree|bottom-up|heaviest", "min-percent", "depth", "top"),
    },
    Tool {
        name: "hangs",
        title: "Hangs and hitches",
        about: "Why an app froze: each hang with what its thread did (busy, waiting for a lock with its holder, starved), and late frames. Also for \
                spindump and MetricKit reports. A verdict of unknown is the answer: do not replace it by a guess.",
        calls: &[call(None, &["hangs"], &[], &[PATHS])],
        options: &["allow-truncated", "process", "symbols"],
    },
    Tool {
        name: "intervals",
        title: "Signposts and other intervals",
        about: "Count, total and percentiles of signposts and other intervals by name; what=runs sums them over many recordings. CPU time during \
                them: functions with during. A percentile with needed is a guess: it takes that many intervals.",
        calls: &[
            call(what("file"), &["intervals"], &[], &[PATHS]),
            call(what("runs"), &["fleet", "intervals"], &[], &[RUNS]),
        ],
        options: &["allow-truncated", "name", "process", "where"],
    },
    Tool {
        name: "table",
        title: "Rows of a table",
        about: "Lists the tables of a recording or, with table, returns rows: system calls, thread states, allocations, network. Use it for single \
                events. For sums of CPU time use functions; for a table with stacks, functions with its table.",
        calls: &[
            call(None, &["tables"], &[], &[PATHS]),
            call(Some(("table", "")), &["table"], &[("top", "50")], &[PATHS, TABLE]),
        ],
        options: &["allow-truncated", "where", "columns", "sort", "top", "run", "symbols"],
    },
    Tool {
        name: "compare",
        title: "Is the new version slower?",
        about: "what=runs tests many runs of base against many of another version (at least 3 each, 5 for functions). what=pair shows what changed \
                between two recordings, which proves nothing: runs vary. what=trend finds the version or date that made it slower, among runs \
                with that label. \"Cannot tell\" is an answer.",
        calls: &[
            call(what("runs"), &["compare"], &[], &[BASE]),
            call(what("pair"), &["diff"], &[], &[ONE_BASE, ONE_AGAINST]),
            call(what("trend"), &["trend"], &[], &[BASE]),
        ],
        options: &[
            "against",
            "allow-truncated",
            "over",
            "block",
            "measure",
            "where",
            "process",
            "thread",
            "only-main-thread",
            "time",
            "during",
            "symbols",
            "top",
        ],
    },
    Tool {
        name: "fleet",
        title: "CPU use of many runs",
        about: "How CPU use is distributed over many runs: percentiles, heaviest runs, cohorts by label. what=functions gives the functions of all \
                runs or, with beyond=p95, of the slowest ones, which are often others. Not for two groups of runs (compare).",
        calls: &[
            call(what("report"), &["fleet", "report"], &[], &[RUNS]),
            call(what("functions"), &["fleet", "tree"], &[("view", "functions")], &[RUNS]),
        ],
        options: &[
            "allow-truncated",
            "by",
            "beyond",
            "where",
            "process",
            "thread",
            "only-main-thread",
            "time",
            "during",
            "symbols",
            "top",
        ],
    },
    Tool {
        name: "page",
        title: "Interactive page",
        about: "Shows a recording to the user, or with output writes it as one HTML file. Call it when the user wants to look at a recording or to \
                pass it on; it answers no question for you.",
        calls: &[call(None, &[], &[], &[PATHS])],
        options: &["output", "allow-truncated", "symbols", "table"],
    },
];
