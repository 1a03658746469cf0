//! Folders that only this user may write to. Socket and spool are in such folders, so that no other user can plant or move
//! a file between hook and daemon.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};

/// Opens a folder, if it and the link that may lead to it belong to this user.
///
/// A link of this user is fine: `run` is one, and people move a spool to another disk. A link of another user would let that
/// user choose where the events go. If others may write to the folder (a loose umask made it), that permission is removed.
/// If a link leads to such a folder, the folder is refused instead, because Flightdeck did not make it.
pub fn open(path: &Path) -> io::Result<OwnedFd> {
    let link = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    if !is_ours(&link) {
        return Err(not_ours(path));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&folder)?;
    if !is_ours(&stat) {
        return Err(not_ours(path));
    }
    if FileType::from_raw_mode(link.st_mode) == FileType::Symlink && others_may_write(&stat) {
        let why =
            format!("{} leads to a folder that other users may write to: make it private", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    close_to_others(&folder, &stat, path)?;
    Ok(folder)
}

fn others_may_write(stat: &Stat) -> bool {
    Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH)
}

fn close_to_others(folder: &OwnedFd, stat: &Stat, path: &Path) -> io::Result<()> {
    if !others_may_write(stat) {
        return Ok(());
    }
    let mode = Mode::from_raw_mode(stat.st_mode) - Mode::WGRP - Mode::WOTH;
    rustix::fs::fchmod(folder, mode).map_err(|error| {
        let path = path.display();
        let why = format!(
            "other users may write to {path}, and that cannot be changed ({error}): chmod 700 {path}"
        );
        io::Error::new(io::ErrorKind::PermissionDenied, why)
    })
}

/// Like [`open`], but creates a missing folder (0700). Its parent must exist and belong to this user: a removed home stays
/// removed, and a hook that root runs leaves nothing in a user's home that the user cannot use.
pub fn open_or_create(path: &Path) -> io::Result<OwnedFd> {
    match open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        done => return done,
    }
    open(path.parent().ok_or_else(|| not_ours(path))?)?;
    match rustix::fs::mkdir(path, Mode::RWXU) {
        // Another hook created it first.
        Ok(()) | Err(rustix::io::Errno::EXIST) => open(path),
        Err(e) => Err(e.into()),
    }
}

/// For a folder that only Flightdeck makes: a link there would lead to files that are not Flightdeck's.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    if path.is_symlink() {
        let why = format!("{} is a link where a folder should be: remove it", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

pub fn is_ours(stat: &Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw()
}

pub fn is_our_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && is_ours(stat)
}

fn not_ours(path: &Path) -> io::Error {
    let path = path.display();
    let why = format!("{path} belongs to another user: move it away, or give it to yourself (chown)");
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_missing_folder_is_created_for_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("spool");
        open_or_create(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_missing_home_is_not_created() {
        let home = tempfile::tempdir().unwrap();
        assert!(open_or_create(&home.path().join("gone").join("spool")).is_err());
        assert!(!home.path().join("gone").exists());
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_closed_to_them() {
        let home = tempfile::tempdir().unwrap();
        for (loose, closed) in [(0o777, 0o755), (0o770, 0o750), (0o702, 0o700), (0o755, 0o755)] {
            std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(loose)).unwrap();
            open(home.path()).unwrap();
            assert_eq!(home.path().metadata().unwrap().permissions().mode() & 0o777, closed);
        }
    }

    #[test]
    fn an_open_folder_behind_a_link_is_refused_and_left_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let around = tempfile::tempdir().unwrap();
        symlink(home.path(), around.path().join("spool")).unwrap();
        assert!(open(&around.path().join("spool")).is_err());
        assert_eq!(home.path().metadata().unwrap().permissions().mode() & 0o777, 0o777);
    }

    #[test]
    fn our_own_link_may_lead_to_our_own_folder_only() {
        let home = tempfile::tempdir().unwrap();
        let link = home.path().join("spool");
        symlink(home.path(), &link).unwrap();
        assert!(open(&link).is_ok());

        // `/` belongs to root; a test that root runs needs a folder of another user.
        let me = rustix::process::geteuid().as_raw();
        let foreign = home.path().join("foreign");
        std::fs::create_dir(&foreign).unwrap();
        if me == 0 {
            std::os::unix::fs::chown(&foreign, Some(12345), None).unwrap();
        }
        let target = if me == 0 { foreign.as_path() } else { Path::new("/") };
        assert_ne!(target.metadata().unwrap().uid(), me);
        let trick = home.path().join("trick");
        symlink(target, &trick).unwrap();
        assert_eq!(open(&trick).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}
