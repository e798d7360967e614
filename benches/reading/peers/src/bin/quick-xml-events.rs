//! Iterates over all events of a file in memory, with the default configuration of quick-xml.
//!
//! Prints the number of events and the seconds, which do not include reading the file into memory.

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
