//! `fleet.yaml`: the names of seats, their directories and commands, and which seat is the parent of which.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Largest file: a hundred seats have some 10 KB.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Most seats in one file. Each seat is a client of its own.
const SEATS_MAX: usize = 100;
/// Longest name of a seat or of a tmux session.
const NAME_CHARS_MAX: usize = 64;
/// What a seat without a command runs.
const DEFAULT_COMMAND: &str = "claude";

#[derive(Debug, thiserror::Error)]
pub enum FleetFileError {
    #[error("cannot read {}: {cause}", .path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("{}: {why}", .path.display())]
    Invalid { path: PathBuf, why: String },
}

/// The file as the person wrote it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FleetFileText {
    session: Option<String>,
    seats: Vec<WrittenSeat>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSeat {
    name: String,
    dir: Option<PathBuf>,
    command: Option<String>,
    parent: Option<String>,
}

/// A checked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetFile {
    /// The tmux session that holds the seats.
    pub session: String,
    pub seats: Vec<SeatEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatEntry {
    pub name: String,
    pub dir: PathBuf,
    /// The program and its arguments.
    pub command: Vec<String>,
    pub parent: Option<String>,
}

impl FleetFile {
    /// Reads and checks a file. Directories in it are relative to its folder.
    pub fn read(path: &Path) -> Result<Self, FleetFileError> {
        let failed = |cause| FleetFileError::Read { path: path.to_owned(), cause };
        let invalid = |why| FleetFileError::Invalid { path: path.to_owned(), why };
        let path = &std::path::absolute(path).map_err(failed)?;
        let mut text = String::new();
        File::open(path)
            .map_err(failed)?
            .take(FILE_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .map_err(failed)?;
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(invalid(format!("the file has more than {FILE_BYTES_MAX} bytes")));
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        let fleet = Self::parse(&text, folder).map_err(invalid)?;
        match fleet.seats.iter().find(|seat| !seat.dir.is_dir()) {
            Some(seat) => {
                Err(invalid(format!("seat {}: there is no directory {}", seat.name, seat.dir.display())))
            }
            None => Ok(fleet),
        }
    }

    fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let written: FleetFileText = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        let usual = || {
            folder
                .file_name()
                .map_or("fleet".into(), |name| name.to_string_lossy().replace(['.', ':', ' '], "-"))
        };
        let session = written.session.unwrap_or_else(usual);
        let seats: Result<Vec<_>, _> = written.seats.into_iter().map(|seat| seat.checked(folder)).collect();
        let fleet = Self { session, seats: seats? };
        fleet.validate()?;
        Ok(fleet)
    }

    fn validate(&self) -> Result<(), String> {
        if !is_name(&self.session) {
            return Err(format!("session {:?} must have letters, digits, '-' or '_' only", self.session));
        }
        if self.seats.is_empty() || self.seats.len() > SEATS_MAX {
            return Err(format!("a fleet has 1 to {SEATS_MAX} seats, not {}", self.seats.len()));
        }
        let mut names = BTreeSet::new();
        match self.seats.iter().find(|seat| !names.insert(seat.name.as_str())) {
            Some(twice) => Err(format!("two seats are named {}", twice.name)),
            None => self.seats.iter().try_for_each(|seat| self.check_parent(seat)),
        }
    }

    /// Checks that each parent is another seat of the file, and that no seat is its own parent, directly or through other seats.
    fn check_parent(&self, seat: &SeatEntry) -> Result<(), String> {
        let mut above = seat;
        for _ in 0..=self.seats.len() {
            let Some(parent) = &above.parent else { return Ok(()) };
            let known = self.seats.iter().find(|other| other.name == *parent);
            above = known.ok_or_else(|| format!("seat {}: there is no seat {parent}", above.name))?;
        }
        Err(format!("seat {} is its own parent, directly or through other seats", seat.name))
    }
}

impl WrittenSeat {
    fn checked(self, folder: &Path) -> Result<SeatEntry, String> {
        let Self { name, dir, command, parent } = self;
        if !is_name(&name) {
            return Err(format!("seat {name:?} must have 1 to {NAME_CHARS_MAX} letters, digits, '-' or '_'"));
        }
        let command =
            shlex::split(command.as_deref().unwrap_or(DEFAULT_COMMAND)).filter(|words| !words.is_empty());
        let command =
            command.ok_or_else(|| format!("seat {name}: its command is empty or has an unclosed quote"))?;
        Ok(SeatEntry { dir: folder.join(dir.unwrap_or_default()), name, command, parent })
    }
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<FleetFile, String> {
        FleetFile::parse(text, Path::new("/work/my.shop"))
    }

    #[test]
    fn a_file_names_seats_with_directories_commands_and_a_parent() {
        let fleet = parse(
            "seats:\n  - name: lead\n  - name: api\n    dir: ../api\n    command: claude --model 'opus 5'\n    parent: lead\n",
        );
        let fleet = fleet.unwrap();
        assert_eq!(fleet.session, "my-shop");
        assert_eq!(
            fleet.seats[0],
            SeatEntry {
                name: "lead".into(),
                dir: "/work/my.shop/".into(),
                command: vec!["claude".into()],
                parent: None
            }
        );
        assert_eq!(fleet.seats[1].dir, Path::new("/work/my.shop/../api"));
        assert_eq!(fleet.seats[1].command, ["claude", "--model", "opus 5"]);
        assert_eq!(fleet.seats[1].parent.as_deref(), Some("lead"));
        assert_eq!(parse("session: shop\nseats: [{name: a}]").unwrap().session, "shop");
    }

    #[test]
    fn a_mistake_is_named() {
        for (text, why) in [
            ("seats: []", "1 to 100 seats"),
            ("seats: [{name: a}, {name: a}]", "two seats are named a"),
            ("seats: [{name: a b}]", "letters, digits"),
            ("seats: [{name: a, command: \"x 'y\"}]", "unclosed quote"),
            ("seats: [{name: a, parent: b}]", "there is no seat b"),
            ("seats: [{name: a, parent: b}, {name: b, parent: a}]", "is its own parent"),
            ("seats: [{name: a, colour: red}]", "colour"),
            ("session: 'a:b'\nseats: [{name: a}]", "session"),
            ("seats: [", ""),
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn a_missing_directory_is_found_before_anything_starts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fleet.yaml");
        std::fs::write(&path, "seats: [{name: a}, {name: b, dir: nowhere}]").unwrap();
        let said = FleetFile::read(&path).unwrap_err().to_string();
        assert!(said.contains("seat b") && said.contains("nowhere"), "{said}");
        assert!(FleetFile::read(&folder.path().join("no.yaml")).is_err());
    }
}
