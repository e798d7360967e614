//! 10,000 mutations of written `.symbols` and `.symbolsarchive` files. One test, since the peak of memory is of the whole
//! process.

use libtest_mimic::Trial;
use support::apple_symbols_model;
use support::apple_symbols_rng;
use support::apple_symbols_writer;

use std::time::Duration;

use crate::apple_mutations::try_mutations;
use apple_symbols_model::random_image;
use apple_symbols_rng::Rng;
use apple_symbols_writer::{Form, write_container, write_record};

fn mutations_of_written_files_are_read_or_refused() {
    let mut files = Vec::new();
    for (seed, form) in Form::ALL.into_iter().enumerate() {
        let mut rng = Rng(seed as u64);
        files.push(write_record(&random_image(&mut rng, 40), form));
        let images = [random_image(&mut rng, 10), random_image(&mut rng, 20)];
        files.push(write_container(&images, form, 7));
    }
    let outcome = try_mutations(&files, support::rounds(10_000), 1);
    println!("{outcome:?}");
    assert!(outcome.read > 100 && outcome.refused > 100, "{outcome:?}");
    assert!(outcome.peak < 400, "{outcome:?}");
    assert!(outcome.slowest < Duration::from_secs(5), "{outcome:?}");
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![plain!(mutations_of_written_files_are_read_or_refused)]
}
