//! A program that uses the crate, without the command: it extracts, merges and reports.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use traceparse::files::{FileSystem, Storage};
use traceparse::fleet::{
    Collector, Datasets, Extract, FleetBuilder, FleetError, FleetHost, FleetInputs, FleetOptions, FleetSettings,
    InputRequest, ReadingOptions,
};

/// The smallest host: the files of this machine, without progress, messages or limits.
struct Program(Arc<dyn Storage>);

impl FleetHost for Program {
    fn storage(&self) -> &Arc<dyn Storage> {
        &self.0
    }
}

fn inputs(program: &Program, export: &Path) -> Result<FleetInputs, FleetError> {
    FleetInputs::find(program, &InputRequest { inputs: vec![export.to_owned()], ..InputRequest::default() })
}

fn extract(program: &Program, export: &Path, output: &Path) -> Result<bool, FleetError> {
    let files = program.watch();
    let settings = FleetSettings::new(program, ReadingOptions::new(&*files));
    let inputs = inputs(program, export)?;
    Extract::new(output, &inputs, &settings).run(program)
}

#[test]
fn extracts_merges_and_reports() -> Result<(), FleetError> {
    let folder = tempfile::tempdir()?;
    let program = Program(FileSystem::storage());
    let original = fs::read_to_string(support::repository("fixtures/27/orchard/input.xml"))?;
    let mut datasets: Vec<PathBuf> = Vec::new();
    for number in 0..2 {
        let export = folder.path().join(format!("run{number}.xml"));
        // White space after the document makes it another file.
        fs::write(&export, format!("{original}{}", "\n".repeat(number)))?;
        let dataset = folder.path().join(format!("dataset{number}"));
        assert!(extract(&program, &export, &dataset)?);
        datasets.push(dataset);
    }
    let merged = folder.path().join("merged");
    Datasets::open(&program, &datasets)?.merge(&program, &merged, false)?;

    let of_dataset = Collector::new(&program, FleetBuilder::new(FleetOptions::default()), None);
    of_dataset.add_datasets(&[merged])?;
    let of_dataset = of_dataset.finish(true)?;

    let files = program.watch();
    let settings = FleetSettings::new(&program, ReadingOptions::new(&*files));
    let of_recordings = Collector::new(&program, FleetBuilder::new(FleetOptions::default()), None);
    of_recordings.add_recordings(&inputs(&program, folder.path())?, &settings)?;
    let of_recordings = of_recordings.finish(true)?;

    assert_eq!(of_dataset.inputs.runs, 2);
    assert_eq!(format!("{:?}", of_dataset.cohorts), format!("{:?}", of_recordings.cohorts));
    Ok(())
}
