//! A crash report as one JSON document, whose frames are objects with the fields of frames in samples.
//!
//! ```text
//! {"format":"traceparse-crash-report","version":1,"device":{…},"process":{…},"summary":{"exception-type":"EXC_CRASH",…},
//!  "threads":[{"thread":"Thread 0, attributed","complete":true,"frames":[{"function":"draw","binary":"App","uuid":"…","address":"0x104130e78","offset":92}]}]}
//! ```

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::output::json::{array, begin, values};
use crate::readers::crash::{CrashReport, Frame};

impl CrashReport {
    /// Writes the report as one JSON document with its current names: the facts of the crash, and the frames of each thread as objects.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let report = &self.report;
        let attributed = report.attributed();
        let facts = self.facts(attributed);
        let object = |pairs: &[(String, String)]| -> Map<String, Value> {
            pairs.iter().map(|(key, value)| (key.clone(), json!(value))).collect()
        };
        let document = json!({
            "format": "traceparse-crash-report",
            "version": 1,
            "device": object(&facts.device),
            "process": object(&facts.process),
            "summary": object(&facts.summary),
        });
        begin(out, &document)?;
        array(out, "threads", report.stacks().enumerate(), |(index, stack), out| {
            let name = report.thread_name(index, stack, attributed);
            begin(out, &json!({"thread": name, "complete": stack.unread.is_none() && !stack.is_cut}))?;
            values(out, "frames", stack.frames.iter().map(|frame| self.object_of(frame)))?;
            out.write_all(b"}")
        })?;
        writeln!(out, "}}")
    }

    fn object_of(&self, frame: &Frame) -> Value {
        let image = frame.image.and_then(|index| self.report.images.get(index));
        let of_image = || image.map_or(0, |image| image.base).wrapping_add(frame.address);
        let address = frame.absolute.unwrap_or_else(of_image);
        let mut object = json!({
            "function": frame.name,
            "binary": image.map(|image| &image.name),
            "uuid": image.and_then(|image| image.uuid).map(|uuid| uuid.to_string()),
            "address": format!("{address:#x}"),
            "offset": frame.offset,
        });
        if let Some((file, line)) = &frame.source {
            (object["file"], object["line"]) = (json!(file), json!(line));
        }
        if frame.is_inlined {
            object["inlined"] = json!(true);
        }
        object
    }
}
