//! Iterates over all events of a file that is in memory, with quick-xml as it is configured from the start.
//!
//! Prints the number of events and the seconds. Reading the file into memory is not in them.

use std::hint::black_box;

use quick_xml::events::Event;
use quick_xml::reader::Reader;

fn main() {
    let bytes = std::fs::read(reading_peers::path()).expect("the file can be read");
    reading_peers::timed(|| {
        let mut reader = Reader::from_reader(bytes.as_slice());
        let mut events = 0;
        while black_box(reader.read_event().expect("the file is well-formed")) != Event::Eof {
            events += 1;
        }
        events
    });
}
