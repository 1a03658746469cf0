//! The binary keeps the code that a hook runs in the section `.text.hook` (see `build/hook.ld`). Without binutils: the few
//! parts of an ELF file that are needed are read here.

use std::ops::Range;

const SCRIPT: &str = include_str!("../../build/hook.ld");

/// Name and address of every function, and the addresses of the section.
struct Binary {
    functions: Vec<(String, u64)>,
    section: Option<Range<u64>>,
}

/// A little-endian file of 64-bit ELF.
struct Elf(Vec<u8>);

struct Section {
    name: usize,
    kind: usize,
    address: u64,
    at: usize,
    size: usize,
    link: usize,
}

impl Elf {
    fn number(&self, at: usize, bytes: usize) -> usize {
        self.0[at..at + bytes].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    fn text(&self, at: usize) -> String {
        let text = self.0[at..].split(|byte| *byte == 0).next().unwrap();
        String::from_utf8_lossy(text).into_owned()
    }

    fn sections(&self) -> Vec<Section> {
        let (at, size, count) = (self.number(0x28, 8), self.number(0x3a, 2), self.number(0x3c, 2));
        let section = |at: usize| Section {
            name: self.number(at, 4),
            kind: self.number(at + 4, 4),
            address: self.number(at + 0x10, 8) as u64,
            at: self.number(at + 0x18, 8),
            size: self.number(at + 0x20, 8),
            link: self.number(at + 0x28, 4),
        };
        (0..count).map(|n| section(at + n * size)).collect()
    }

    fn functions(&self, sections: &[Section]) -> Vec<(String, u64)> {
        const SYMBOL_TABLE: usize = 2;
        const SYMBOL_BYTES: usize = 24;
        const FUNCTION: usize = 2;
        let table = sections.iter().find(|s| s.kind == SYMBOL_TABLE).expect("the binary has a symbol table");
        let names = sections[table.link].at;
        let symbols = (table.at..table.at + table.size).step_by(SYMBOL_BYTES);
        let functions = symbols.filter(|at| self.number(at + 4, 1) & 0xf == FUNCTION);
        functions.map(|at| (self.text(names + self.number(at, 4)), self.number(at + 8, 8) as u64)).collect()
    }

    fn read(path: &str) -> Binary {
        let elf = Self(std::fs::read(path).unwrap());
        assert_eq!(&elf.0[..6], b"\x7fELF\x02\x01", "{path} is not an ELF file that this test can read");
        let sections = elf.sections();
        let names = sections[elf.number(0x3e, 2)].at;
        let section = sections.iter().find(|s| elf.text(names + s.name) == ".text.hook");
        let section = section.map(|s| s.address..s.address + s.size as u64);
        Binary { functions: elf.functions(&sections), section }
    }
}

/// `None` where the section was not wanted: `FLIGHTDECK_LINK=dynamic`, or not Linux with glibc.
fn binary() -> Option<Binary> {
    match env!("FLIGHTDECK_HOOK_SECTION") {
        "no" => None,
        "yes" => Some(Elf::read(env!("CARGO_BIN_EXE_flightdeck"))),
        _ => panic!(
            "this linker does not accept build/hook.ld. Hooks are slower without it; use GNU ld or lld, or build with \
             FLIGHTDECK_LINK=dynamic to do without"
        ),
    }
}

#[test]
fn all_code_of_the_hook_is_in_its_section() {
    let Some(Binary { functions, section }) = binary() else { return };
    let section = section.expect("the binary has no section .text.hook: build/hook.ld was not used");
    let is_ours = |name: &str| name.contains("flightdeck_hook") || name.contains("10flightdeck4main");
    let ours: Vec<_> = functions.iter().filter(|(name, _)| is_ours(name)).collect();
    assert!(ours.len() > 20, "only {} functions of the hook were found in the binary", ours.len());
    let outside: Vec<_> = ours.iter().filter(|(_, at)| !section.contains(at)).map(|(name, _)| name).collect();
    assert!(outside.is_empty(), "not in .text.hook, so each hook waits for their pages: {outside:#?}");
}

#[test]
fn every_pattern_for_rust_code_still_matches_something() {
    let Some(Binary { functions, section }) = binary() else { return };
    let section = section.expect("the binary has no section .text.hook: build/hook.ld was not used");
    let inside: Vec<_> = functions.iter().filter(|(_, at)| section.contains(at)).collect();
    // `.text.*a*b*`: the parts that a name has to contain, in this order.
    let patterns = SCRIPT.split([' ', '(', ')', '\n']).filter_map(|word| word.strip_prefix(".text."));
    let patterns: Vec<_> = patterns.filter(|pattern| pattern.starts_with('*')).collect();
    assert!(patterns.len() > 20, "the patterns of build/hook.ld were not found");
    let matches = |pattern: &str, name: &str| {
        pattern.split('*').try_fold(name, |rest, part| Some(&rest[rest.find(part)? + part.len()..])).is_some()
    };
    let useless: Vec<_> =
        patterns.into_iter().filter(|p| !inside.iter().any(|(name, _)| matches(p, name))).collect();
    assert!(useless.is_empty(), "these patterns of build/hook.ld match no function any more: {useless:#?}");
}
