//! The formats of answers, and what each is made of.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs; every field is documented in docs/formats.md
    Json,
    /// A table; needs --view
    Csv,
    /// JSON, one object a line; needs --view
    Ndjson,
    /// Folded stacks for flame graphs: process;thread;frame;…;leaf WEIGHT
    Folded,
    /// A flame graph: one interactive file for a browser
    Svg,
    /// A profile for the Firefox Profiler (profiler.firefox.com)
    Firefox,
    /// A profile for speedscope (speedscope.app)
    Speedscope,
    /// For pprof and what reads its files: stacks with addresses, lines and threads (gzip; use -o)
    Pprof,
    /// For d3-flame-graph: one tree of name, value and children
    D3,
    /// For Perfetto and chrome://tracing: what each thread did, in order of time
    ChromeTrace,
}

/// What a format is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Whatever view was asked for.
    Views,
    /// Call trees.
    Trees,
    /// Samples with their whole stacks, of which a viewer makes its own trees.
    Stacks,
    /// What each thread did, in order of time.
    FlameCharts,
}

impl Format {
    /// What it is made of.
    pub(crate) fn content(self) -> Content {
        match self {
            Self::Text | Self::Json | Self::Csv | Self::Ndjson => Content::Views,
            Self::Folded | Self::Svg | Self::D3 => Content::Trees,
            Self::Firefox | Self::Speedscope | Self::Pprof => Content::Stacks,
            Self::ChromeTrace => Content::FlameCharts,
        }
    }

    /// Whether it holds each sample with its time.
    pub(crate) fn needs_times(self) -> bool {
        matches!(self, Self::Firefox | Self::Speedscope)
    }

    /// Whether it is a table of something, so that a view must be named.
    pub(crate) fn needs_view(self) -> bool {
        matches!(self, Self::Csv | Self::Ndjson)
    }

    /// Whether all its weights are added up, so that there must be one measurement only.
    pub(crate) fn is_one_measurement(self) -> bool {
        matches!(self, Self::Folded | Self::Svg | Self::D3 | Self::Pprof)
    }

    /// Whether it is nothing for a terminal.
    pub(crate) fn is_binary(self) -> bool {
        self == Self::Pprof
    }

    /// How it is called on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
