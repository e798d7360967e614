//! One recording, and everything that is done to it before it is asked, in the one right order: read, named, operated on.
//!
//! ```
//! use traceparse::Analysis;
//! use traceparse::recording::Options;
//! use traceparse::report::{ReportOptions, View};
//!
//! # let xml = br#"<?xml version="1.0"?>
//! # <trace-query-result>
//! # <node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name="time-profile"><col><mnemonic>time</mnemonic></col>
//! # <col><mnemonic>weight</mnemonic></col><col><mnemonic>stack</mnemonic></col></schema>
//! # <row><sample-time id="1" fmt="00:00.001">1000000</sample-time><weight id="2" fmt="1.00 ms">1000000</weight><backtrace
//! # id="3"><frame id="4" name="work" addr="0x1001"/><frame id="5" name="main" addr="0x2004"/></backtrace></row>
//! # </node></trace-query-result>"#;
//! let analysis = Analysis::new(traceparse::read(xml.as_slice(), "export.xml", &Options::default())?);
//! let report = analysis.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
//! let heaviest = report.named_functions(&report.series[0]).next();
//! assert_eq!(heaviest.and_then(|function| function.name), Some("work"));
//! # Ok::<(), traceparse::Error>(())
//! ```

use crate::calltree::{Operation, OperationSummary};
use crate::profile::{Profile, RebuildError};
use crate::recording::Recording;
use crate::report::{Report, ReportOptions};
#[cfg(feature = "apple-symbols")]
use crate::symbolicate::{SymbolicateOptions, SymbolicationSummary};
#[cfg(feature = "apple-symbols")]
use crate::symbols::SymbolFinder;

/// A recording with its names and operations. Its reports say what was done to it.
#[derive(Debug)]
pub struct Analysis {
    recording: Recording,
    #[cfg(feature = "apple-symbols")]
    symbolication: Option<SymbolicationSummary>,
    operations: Vec<OperationSummary>,
}

impl Analysis {
    /// The analysis of a recording to which nothing was done yet.
    pub fn new(recording: Recording) -> Self {
        Self {
            recording,
            #[cfg(feature = "apple-symbols")]
            symbolication: None,
            operations: Vec::new(),
        }
    }

    /// The recording as it is by now.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Names the frames from symbol files.
    ///
    /// # Errors
    /// When operations were done before, which chose functions by other names; when the names do not fit the profile's tables or the
    /// memory budget.
    #[cfg(feature = "apple-symbols")]
    pub fn symbolicate(
        &mut self,
        finder: &dyn SymbolFinder,
        options: &SymbolicateOptions,
    ) -> Result<&SymbolicationSummary, RebuildError> {
        if !self.operations.is_empty() {
            return Err(RebuildError::OutOfOrder);
        }
        let (profile, summary) = self.recording.profile.symbolicate(finder, options)?;
        self.recording.profile = profile;
        Ok(self.symbolication.insert(summary))
    }

    /// Does operations in their order, which `choose` makes for the profile with its names. Their effects are counted for the samples
    /// that the options select.
    ///
    /// # Errors
    /// When the new stacks do not fit the profile's tables or the memory budget.
    pub fn operate(
        &mut self,
        options: &ReportOptions,
        choose: impl FnOnce(&Profile) -> Vec<Operation>,
    ) -> Result<&[OperationSummary], RebuildError> {
        let profile = &self.recording.profile;
        let operations = choose(profile);
        if !operations.is_empty() {
            let (profile, summaries) = options.selection.on(profile).operate(&operations, options.metric)?;
            self.recording.profile = profile;
            self.operations.extend(summaries);
        }
        Ok(&self.operations)
    }

    /// Answers a question about the recording. The answer says what symbolication and operations did.
    pub fn report(&self, options: &ReportOptions) -> Report<'_> {
        let mut report = self.recording.report(options);
        #[cfg(feature = "apple-symbols")]
        report.symbolication.clone_from(&self.symbolication);
        report.operations.clone_from(&self.operations);
        // Sums do not tell the times of the samples that are left.
        if self.recording.profile.sums().len() > 0 {
            for series in &mut report.series {
                let removed = OperationSummary::removed(&self.operations, series.series);
                series.times = series.times.filter(|_| removed.1 == 0);
            }
        }
        report
    }
}
