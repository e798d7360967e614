//! Random images from a seed, and a slow oracle that answers addresses from the model alone.

// Each test binary uses only a part of it.
#![allow(dead_code, unreachable_pub)]

use super::Rng;
use super::apple_symbols_writer::{
    DATA, FOLDED_FUNCTION, FUNCTION, IS_FOLDED, Image, Inlined, Line, Place, STUB, Section, Segment, Symbol,
};

const TEXT_SIZE: u64 = 0x8000;

/// An image with `functions` functions.
pub fn random_image(rng: &mut Rng, functions: u64) -> Image {
    let text = if rng.one_in(2) { 0x1_0000_0000 } else { 0x1_8000_4000 };
    let segments = vec![
        Segment { name: "__PAGEZERO", address: 0, size: text },
        Segment { name: "__TEXT", address: text, size: TEXT_SIZE },
        // Has no symbols, so the next segment has another position in the record.
        Segment { name: "__DATA_CONST", address: text + TEXT_SIZE, size: 0x4000 },
        Segment { name: "__DATA", address: text + TEXT_SIZE + 0x4000, size: 0x1000 },
        Segment { name: "__TEXT_EXEC", address: text + TEXT_SIZE + 0x8000, size: 0x1000 },
        Segment { name: "__LINKEDIT", address: text + TEXT_SIZE + 0x9000, size: 0x2000 },
    ];
    let mut image = Image {
        uuid: [0; 16].map(|_: u8| rng.next_u64() as u8),
        cputype: [0x0100_000c, 0x0100_0007, 0x0c, 0x0200_000c][rng.below(4) as usize],
        cpusubtype: 0,
        path: "/Users/me/Söme.app.dSYM/Contents/Resources/DWARF/Some".to_owned(),
        segments,
        sections: vec![
            Section { name: "MACH_HEADER".to_owned(), address: 0, size: 0x400 },
            Section { name: "__TEXT __text".to_owned(), address: 0x400, size: TEXT_SIZE - 0x400 },
        ],
        has_record: true,
        ..Image::default()
    };
    let mut address = 0x400;
    for _ in 0..functions {
        address += if rng.one_in(3) { 4 * rng.below(8) } else { 0 };
        let size = 4 + 4 * rng.below(40);
        if address + size > TEXT_SIZE {
            break;
        }
        add_function(rng, &mut image, address, size as u32);
        address += size;
    }
    let data = TEXT_SIZE + 0x4000;
    image.symbols.push(symbol(rng, data + 0x10, 0x40, DATA));
    let code = TEXT_SIZE + 0x8000;
    image.symbols.push(symbol(rng, code + 0x20, 0x40, FUNCTION));
    image
}

/// A name as compilers and linkers generate it.
fn symbol(rng: &mut Rng, address: u64, size: u32, flags: u32) -> Symbol {
    let number = rng.below(40);
    let (display_name, linker_name) = match rng.below(8) {
        0 => (None, Some(format!("__ZN1A1f{number}Ev"))),
        1 => (Some(format!("A::f{number}()")), Some(format!("__ZN1A1f{number}Ev"))),
        2 => (None, Some(format!("_$s4Demo6WidgetC4draw{number}yyF"))),
        3 => (Some(format!("-[Widget draw{number}:]")), Some(format!("-[Widget draw{number}:]"))),
        4 => (Some(format!("0x1{number:x}")), Some(format!("0x1{number:x}"))),
        5 => (Some(format!("__c_function_{number}")), Some(format!("___c_function_{number}"))),
        6 if rng.one_in(3) => (None, None),
        _ => (Some(format!("function_{number}")), Some(format!("_function_{number}"))),
    };
    Symbol { address, size, flags, display_name, linker_name, ..Symbol::default() }
}

/// A function with its lines. Sometimes it is several folded functions, one function with several names, or a stub.
fn add_function(rng: &mut Rng, image: &mut Image, address: u64, size: u32) {
    match rng.below(12) {
        0 => {
            if rng.one_in(2) {
                let name = Some("<deduplicated_symbol>".to_owned());
                let (display_name, linker_name) = (name.clone(), name);
                let flags = IS_FOLDED;
                image.symbols.push(Symbol { address, size, flags, display_name, linker_name, ..Symbol::default() });
            }
            for _ in 0..1 + rng.below(4) {
                let folded = symbol(rng, address, size, FOLDED_FUNCTION);
                image.symbols.push(folded);
            }
        }
        1 => {
            let first = Symbol { inlined: random_calls(rng, address, size, 0), ..symbol(rng, address, size, FUNCTION) };
            let other = symbol(rng, address, size, FUNCTION);
            let same = if rng.one_in(2) { first.clone() } else { other };
            image.symbols.push(first);
            image.symbols.push(Symbol { inlined: Vec::new(), shares_inlined: rng.one_in(2), ..same });
        }
        2 => image.symbols.push(Symbol {
            address,
            size,
            flags: STUB,
            linker_name: Some(format!("DYLD-STUB$$_function_{}", rng.below(9))),
            ..Symbol::default()
        }),
        _ => {
            let inlined = random_calls(rng, address, size, 0);
            image.symbols.push(Symbol { inlined, ..symbol(rng, address, size, FUNCTION) });
        }
    }
    if rng.one_in(4) {
        return;
    }
    let mut at = address;
    while at < address + u64::from(size) {
        let length = (4 + 4 * rng.below(4)).min(address + u64::from(size) - at);
        if !rng.one_in(6) {
            image.lines.push(Line { address: at, size: length as u32, place: place(rng) });
        }
        at += length;
    }
}

fn place(rng: &mut Rng) -> Place {
    let file = (!rng.one_in(10)).then(|| format!("/src/file_{}.m", rng.below(5)));
    Place { file, line: rng.below(4) as u32 * 10, column: rng.below(3) as u32 }
}

/// Calls inlined into a piece of code. They do not overlap, and are usually sorted.
fn random_calls(rng: &mut Rng, address: u64, size: u32, depth: u32) -> Vec<Inlined> {
    let mut calls = Vec::new();
    let end = address + u64::from(size);
    let mut at = address + 4 * rng.below(4);
    while depth < 4 && at < end && !rng.one_in(3) {
        let size = (4 + 4 * rng.below(8)).min(end - at) as u32;
        let inlined = random_calls(rng, at, size, depth + 1);
        calls.push(Inlined { function: Symbol { inlined, ..symbol(rng, at, size, 0) }, call: place(rng) });
        at += u64::from(size) + 4 * rng.below(3);
    }
    if rng.one_in(8) {
        calls.reverse();
    }
    calls
}

/// A frame with owned strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub function: Option<String>,
    pub linkage_name: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub is_inlined: bool,
}

/// The displayed name of a symbol, and the linker's name if it differs.
fn names(symbol: &Symbol) -> (Option<String>, Option<String>) {
    let linker = symbol.linker_name.as_ref().map(|name| match name.strip_prefix("DYLD-STUB$$_") {
        Some(target) => format!("DYLD-STUB$${target}"),
        None => name.strip_prefix('_').unwrap_or(name).to_owned(),
    });
    match (&symbol.display_name, linker) {
        (None, linker) => (linker, None),
        (Some(display), Some(linker)) if *display != linker => (Some(display.clone()), Some(linker)),
        (Some(display), _) => (Some(display.clone()), None),
    }
}

/// The correct answer for an address relative to `__TEXT`, found by trying every symbol, call and line.
pub fn oracle(image: &Image, relative: u64, is_container: bool) -> Option<Vec<Frame>> {
    let linked = image.text().checked_add(relative)?;
    let segment = image.segments.iter().find(|segment| {
        segment.address <= linked
            && linked < segment.address + segment.size
            && (is_container || segment.name == "__TEXT")
    })?;
    let reaches = |address: u64, size: u32| address <= relative && relative < address + u64::from(size);
    let is_code = |symbol: &&Symbol| segment.name == "__TEXT" || symbol.flags & 3 != 0;
    let here: Vec<&Symbol> =
        image.symbols.iter().filter(|symbol| reaches(symbol.address, symbol.size)).filter(is_code).collect();
    let line = image.lines.iter().find(|line| reaches(line.address, line.size));
    let is_folded = here.iter().any(|symbol| symbol.flags & IS_FOLDED != 0);
    let is_ambiguous = is_folded || here.iter().any(|symbol| names(symbol).0 != names(here[0]).0);

    let mut chain: Vec<&Inlined> = Vec::new();
    let mut calls = here.iter().map(|symbol| &symbol.inlined).find(|calls| !calls.is_empty());
    while let Some(call) = calls.and_then(|calls| calls.iter().find(|c| reaches(c.function.address, c.function.size))) {
        chain.push(call);
        calls = Some(&call.function.inlined);
    }
    if is_folded {
        chain.clear();
    }
    let mut place = line.filter(|_| !is_folded).map(|line| &line.place);
    let mut frames = Vec::new();
    let mut push =
        |(function, linkage_name): (Option<String>, Option<String>), place: Option<&Place>, is_inlined: bool| {
            let place = place.filter(|place| place.file.is_some());
            frames.push(Frame {
                function,
                linkage_name,
                file: place.and_then(|place| place.file.clone()),
                line: place.map(|place| place.line),
                column: place.map(|place| place.column).filter(|&column| column > 0),
                is_inlined,
            });
        };
    for call in chain.into_iter().rev() {
        push(names(&call.function), place, true);
        place = Some(&call.call);
    }
    let outermost = match here.first() {
        Some(_) if is_ambiguous => (Some("<deduplicated_symbol>".to_owned()), None),
        Some(symbol) => names(symbol),
        None => (None, None),
    };
    push(outermost, place, false);
    frames.iter().any(|frame| frame.function.is_some() || frame.file.is_some()).then_some(frames)
}
