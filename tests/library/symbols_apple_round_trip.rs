//! `.symbols` and `.symbolsarchive` files of every form: the written data is returned for every address, and a violated
//! rule is an error that names it.

use support::apple_symbols_model;
use support::apple_symbols_writer;

use apple_symbols_model::{Frame, oracle, random_image};
use apple_symbols_writer::{Form, Image, write_container, write_record};
use support::Rng;
use traceparse::symbols::{AppleImage, AppleSymbols, Symbols};

/// All addresses of an image that are near code, and some distant addresses.
fn addresses(rng: &mut Rng) -> Vec<u64> {
    let step = 1 + rng.below(4);
    let near = (0..0x12_000).step_by(step as usize);
    near.chain([0x7fff_ffff, u64::from(u32::MAX), 1 << 33, u64::MAX - 1, u64::MAX]).collect()
}

fn answers(symbols: &AppleSymbols<'_>, addresses: &[u64]) -> Vec<Option<Vec<Frame>>> {
    let mut answers = vec![None; addresses.len()];
    let notes = symbols.look_up(addresses, &mut |index, frames| {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let frames = frames.iter().map(|frame| Frame {
            function: owned(frame.function),
            linkage_name: owned(frame.linkage_name),
            file: owned(frame.file),
            line: frame.line,
            column: frame.column,
            is_inlined: frame.is_inlined,
        });
        let frames: Vec<Frame> = frames.collect();
        // A function without a name is identified by its start, which the oracle does not report.
        if frames.iter().any(|frame| frame.function.is_some() || frame.file.is_some()) {
            let is_first = answers[index].replace(frames).is_none();
            assert!(is_first, "address {index} is answered twice");
        }
    });
    assert!(notes.is_empty(), "{notes:?}");
    answers
}

/// Compares every address; gives how many were answered, and how many of them with an inlined call.
fn compare(read: &AppleImage<'_>, image: &Image, is_container: bool, rng: &mut Rng, case: &str) -> (u64, u64) {
    let addresses = addresses(rng);
    let (mut answered, mut inlined) = (0, 0);
    for (index, answer) in answers(read.symbols.as_ref().unwrap(), &addresses).into_iter().enumerate() {
        let expected = oracle(image, addresses[index], is_container);
        assert_eq!(answer, expected, "{case}: address {:#x}", addresses[index]);
        answered += u64::from(answer.is_some());
        inlined += u64::from(answer.is_some_and(|frames| frames.len() > 1));
    }
    (answered, inlined)
}

#[test]
fn archives_answer_what_was_written() {
    let (mut answered, mut inlined) = (0, 0);
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let image = random_image(&mut rng, 1 + seed * 3);
        for form in Form::ALL {
            let file = write_record(&image, form);
            assert!(AppleImage::is_start_of_file(&file, file.len() as u64));
            let read = AppleImage::all(&file).unwrap_or_else(|error| panic!("seed {seed}, {form:?}: {error}"));
            assert_eq!((read.len(), read[0].uuid.as_bytes()), (1, &image.uuid));
            assert_eq!(read[0].path.is_some(), form != Form::Seven);
            let case = format!("seed {seed}, {form:?}");
            let counts = compare(&read[0], &image, false, &mut rng, &case);
            answered += counts.0;
            inlined += counts.1;
        }
    }
    assert!(answered > 300_000 && inlined > 80_000, "{answered} answers, {inlined} with inlined calls");
}

#[test]
fn containers_answer_what_was_written() {
    for seed in 0..15 {
        let mut rng = Rng::new(1_000 + seed);
        let mut written: Vec<Image> = (0..1 + rng.below(4)).map(|number| random_image(&mut rng, number * 30)).collect();
        for image in &mut written {
            image.has_record = !rng.one_in(4);
        }
        for form in Form::ALL {
            for kind in [3, 5, 7] {
                let case = format!("seed {seed}, {form:?}, kind {kind}");
                let file = write_container(&written, form, kind);
                let read = AppleImage::all(&file).unwrap_or_else(|error| panic!("{case}: {error}"));
                assert_eq!(read.len(), written.len(), "{case}");
                for (read, image) in read.iter().zip(&written) {
                    assert_eq!((read.uuid.as_bytes(), read.path), (&image.uuid, Some(image.path.as_str())), "{case}");
                    assert_eq!(read.symbols.is_some(), image.has_record, "{case}");
                    if image.has_record {
                        compare(read, image, true, &mut rng, &case);
                    }
                }
            }
        }
    }
}

#[test]
fn a_shallow_signature_lists_its_images() {
    let mut image = random_image(&mut Rng::new(5), 3);
    image.has_record = false;
    image.cputype = 0x0100_000c;
    image.cpusubtype = 0x8000_0002;
    let file = write_container(&[image], Form::Seven, 7);
    let read = AppleImage::all(&file).unwrap();
    assert_eq!((read[0].symbols.is_none(), read[0].arch()), (true, Some("arm64e")));
}

#[test]
fn folded_functions_are_listed_on_demand() {
    let mut image = random_image(&mut Rng::new(6), 0);
    image.symbols.clear();
    for name in ["<deduplicated_symbol>", "first", "second"] {
        image.symbols.push(apple_symbols_writer::Symbol {
            address: 0x500,
            size: 8,
            flags: apple_symbols_writer::IS_FOLDED,
            display_name: Some(name.to_owned()),
            linker_name: Some(if name.starts_with('<') { name.to_owned() } else { format!("__Z{name}") }),
            ..Default::default()
        });
    }
    let file = write_record(&image, Form::Seven);
    let read = AppleImage::all(&file).unwrap();
    let symbols = read[0].symbols.as_ref().unwrap();
    let frames = answers(symbols, &[0x504]).remove(0).unwrap();
    assert_eq!(frames, [Frame { function: Some("<deduplicated_symbol>".to_owned()), ..Frame::default() }]);
    let candidates = symbols.candidates(0x504);
    let names: Vec<_> = candidates.iter().map(|frame| (frame.function.unwrap(), frame.linkage_name.unwrap())).collect();
    assert_eq!(names, [("first", "_Zfirst"), ("second", "_Zsecond")]);
    assert!(symbols.candidates(0x508).is_empty());
}

#[test]
fn names_that_are_not_utf_8_are_left_out_with_a_note() {
    let mut image = random_image(&mut Rng::new(7), 0);
    image.symbols.truncate(1);
    image.symbols[0] = apple_symbols_writer::Symbol {
        address: 0x500,
        size: 8,
        flags: apple_symbols_writer::FUNCTION,
        linker_name: Some("_name".to_owned()),
        ..Default::default()
    };
    image.lines.push(apple_symbols_writer::Line {
        address: 0x500,
        size: 4,
        place: apple_symbols_writer::Place { file: Some("/a.c".to_owned()), line: 3, column: 1 },
    });
    let mut file = write_record(&image, Form::Seven);
    let name = file.windows(5).position(|bytes| bytes == b"_name").unwrap();
    file[name + 2] = 0xff;
    let read = AppleImage::all(&file).unwrap();
    let mut seen = Vec::new();
    let notes = read[0].symbols.as_ref().unwrap().look_up(&[0x500, 0x504], &mut |index, frames| {
        seen.push((index, frames[0].function.is_none(), frames[0].line));
    });
    assert_eq!(seen, [(0, true, Some(3)), (1, true, None)], "the line is known, or only where the function starts");
    assert_eq!(notes.len(), 1);
    assert!(notes[0].message.contains("not UTF-8"), "{}", notes[0]);
}

#[test]
fn of_overlapping_calls_the_one_that_begins_last_answers() {
    let call = |name: &str, address, size| {
        let linker_name = Some(format!("_{name}"));
        apple_symbols_writer::Inlined {
            function: apple_symbols_writer::Symbol { address, size, linker_name, ..Default::default() },
            ..Default::default()
        }
    };
    let mut image = random_image(&mut Rng::new(8), 0);
    image.symbols.truncate(1);
    image.symbols[0] = apple_symbols_writer::Symbol {
        address: 0x500,
        size: 64,
        flags: apple_symbols_writer::FUNCTION,
        linker_name: Some("_outer".to_owned()),
        inlined: vec![
            call("late", 0x520, 8),
            call("long", 0x504, 40),
            call("short", 0x508, 4),
            call("same", 0x508, 12),
        ],
        ..Default::default()
    };
    let file = write_record(&image, Form::Seven);
    let read = AppleImage::all(&file).unwrap();
    let addresses = [0x500, 0x504, 0x508, 0x50c, 0x514, 0x524, 0x528, 0x52c];
    let answers = answers(read[0].symbols.as_ref().unwrap(), &addresses);
    let innermost = answers.into_iter().map(|frames| frames.unwrap()[0].function.clone().unwrap());
    let expected = ["outer", "long", "short", "same", "long", "late", "long", "outer"];
    assert_eq!(innermost.collect::<Vec<_>>(), expected);
}

/// Offsets of a record's tables, of a version 7 record of 64 bits.
fn tables(image: &Image) -> [usize; 4] {
    let sections = 0x60 + 32 * image.segments.len();
    let symbols = sections + 24 * image.sections.len();
    let inlined = symbols + 24 * image.symbols.len();
    [0x60, sections, symbols, inlined]
}

#[test]
fn a_broken_rule_is_named_with_its_offset() {
    let mut image = random_image(&mut Rng::new(11), 30);
    image.cputype = 0x0100_000c;
    let good = write_record(&image, Form::Seven);
    AppleImage::all(&good).unwrap();
    let count = |field: usize| u32::from_le_bytes(good[field..field + 4].try_into().unwrap()) as usize;
    let (symbol_count, inlined_count) = (count(0x10), count(0x14));
    assert!(symbol_count > 20 && inlined_count > 10, "{symbol_count} symbols, {inlined_count} calls");
    let [segments, sections, symbols, inlined] = tables(&image);
    let lines = inlined + 36 * inlined_count;
    let last = (0..inlined_count).rev().find(|index| good[inlined + 36 * index + 11] & 0x40 != 0).unwrap();
    let cases: Vec<(usize, u32, String)> = vec![
        (0x00, 2, "record at 0x0: its version is 2; expected 1 or 7".to_owned()),
        (0x04, 0x50, "record at 0x0: its size 0x50 is not the size of the file".to_owned()),
        (0x08, 0x3100_0006, format!("{} segments at 0x60: 0x6200000c0 bytes are more than", 0x3100_0006)),
        (0x10, u32::MAX, format!("{} symbols at {symbols:#x}: ", u32::MAX)),
        (0x54, 0xffff_ff00, "string table at ".to_owned()),
        (segments + 4, u32::MAX, "segment 0 at 0x60: ".to_owned()),
        (
            sections + 24 + 16,
            0xffff,
            format!("section 1 at {:#x}: string offset 0xffff is outside of the", sections + 24),
        ),
        (
            symbols + 12,
            0xffff,
            format!("symbol 0 at {symbols:#x}: string offset 0xffff is outside of the string table of"),
        ),
        (symbols + 24, 0, format!("symbol 1 at {:#x}: its address 0x0 is less than", symbols + 24)),
        (symbols + 4, u32::MAX, format!("symbol 0 at {symbols:#x}: ")),
        (
            symbols + 20,
            0xffff,
            format!("symbol 0 at {symbols:#x}: its first inlined call is 65535, but there are only"),
        ),
        (symbols + 20, (-2_i32).cast_unsigned(), "its first inlined call is -2".to_owned()),
        (inlined, 0, format!("inlined call 0 at {inlined:#x}: 0x0 to ")),
        (inlined + 36 * last + 8, 0, "is marked as the last (flag 0x40000000)".to_owned()),
        (inlined + 20, 0, "it is inlined into two callers".to_owned()),
        (lines + 8, 0xffff, format!("line 0 at {lines:#x}: string offset")),
        (lines + 20, 0, format!("line 1 at {:#x}: its address 0x0 is less than", lines + 20)),
    ];
    for (at, value, message) in cases {
        let mut file = good.clone();
        file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let error = AppleImage::all(&file).expect_err(&message).to_string();
        assert!(error.contains(&message), "{message:?} expected: {error}");
    }
    let mut file = good.clone();
    *file.last_mut().unwrap() = b'x';
    assert!(AppleImage::all(&file).unwrap_err().message.contains("does not end with a NUL"));
}

#[test]
fn a_broken_container_is_named_with_its_offset() {
    let image = random_image(&mut Rng::new(12), 5);
    let good = write_container(std::slice::from_ref(&image), Form::Seven, 7);
    let path = 24 + 56;
    let chunk = path + (image.path.len() + 1).next_multiple_of(16) + 32 * image.segments.len();
    let cases: Vec<(usize, u32, String)> = vec![
        (4, 2, "container at 0x4: its version is 2; expected 1".to_owned()),
        (20, u32::MAX, format!("container at 0x14: {} images", u32::MAX)),
        (24 + 52, u32::MAX, "path of image 0 at 0x50: ".to_owned()),
        (24 + 48, u32::MAX, "segments of an image at ".to_owned()),
        (path, 0xff, "path of image 0 at 0x50: it is not UTF-8".to_owned()),
        (chunk, 1, format!("chunk at {chunk:#x}: it begins with 0x00000001")),
        (chunk + 4, 9, format!("chunk at {chunk:#x}: its kind is 9")),
        (chunk + 12, 15, format!("chunk at {chunk:#x}: its length 0xf is less")),
        (chunk + 12, u32::MAX, "chunk of length 0xffffffff at ".to_owned()),
        (24, 0, format!("chunk at {chunk:#x}: no image has its UUID")),
        (chunk + 16 + 4, u32::MAX, format!("record at {:#x}: its size 0xffffffff is less than", chunk + 16)),
    ];
    for (at, value, message) in cases {
        let mut file = good.clone();
        file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let error = AppleImage::all(&file).expect_err(&message).to_string();
        assert!(error.contains(&message), "{message:?} expected: {error}");
    }
    for length in 0..good.len() - 76 {
        let result = AppleImage::all(&good[..length]);
        assert!(result.is_err() || length == chunk, "{length} bytes of {} are read", good.len());
    }
}
