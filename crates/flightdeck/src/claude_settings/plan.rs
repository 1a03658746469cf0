//! Decides what a settings file should become; reads and writes nothing itself.

use std::path::{Path, PathBuf};

use flightdeck_core::wire::hook_name::HookName;
use serde_json::Value;

use super::document::{Document, Event};
use super::edit;
use super::error::SettingsError;
use super::handler::{Registration, Via, home_of, sends_token, url_of, via_of};
use super::receipt::{Exact, Receipt};
use super::status_line;
use super::{Installed, Keep};

/// The new text (`None`: no file) and what to remember of the old one.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) after: Option<String>,
    pub(super) receipt: Option<Receipt>,
}

/// `path` is the file as the person knows it, `real` where its links lead.
pub(super) fn registered(
    found: Option<&str>,
    old: Option<Receipt>,
    registration: &Registration,
    keep: Option<Keep>,
    (path, real): (&Path, &Path),
) -> Result<Plan, SettingsError> {
    let document = Document::read(found.unwrap_or_default(), path)?;
    let had_ours = document.has_ours();
    if keep == Some(Keep::WhileRunning) {
        if let Some(home) = other_home(&document, &registration.home) {
            return Err(SettingsError::OtherHome { path: path.to_owned(), home });
        }
        if stays(old.as_ref(), had_ours) {
            return Ok(Plan { after: found.map(str::to_owned), receipt: old });
        }
    }
    let had_line = document.status_line.is_ours();
    // A repair also brings back what another tool put its own in place of.
    let lost_line = keep.is_none() && old.as_ref().is_some_and(|old| old.status_line);
    let with_line = registration.status_line || had_line || lost_line;
    let before = unregistered(found, old.as_ref(), had_ours);
    // From the text without us where it is known: then a second install leaves the same file as the first.
    let base = before.as_ref().map_or(found, |before| before.as_deref()).unwrap_or_default();
    let mut after = edit::merge(base, path, &registration.handlers()?)?;
    if with_line {
        after = status_line::wrap(&after, path, registration)?;
    }
    let receipt = Receipt {
        path: real.to_owned(),
        made_file: before == Some(None) || old.as_ref().is_some_and(|old| old.made_file),
        made_folder: old.as_ref().is_some_and(|old| old.made_folder),
        for_good: for_good(keep, old.as_ref()),
        status_line: with_line,
        exact: before.map(|before| Exact { before, after: after.clone() }),
    };
    Ok(Plan { after: Some(after), receipt: Some(receipt) })
}

/// What the file was, or would be, without us, if that is known to the byte; the inner `None` is "no file".
fn unregistered(found: Option<&str>, old: Option<&Receipt>, had_ours: bool) -> Option<Option<String>> {
    match old.and_then(|old| old.exact.as_ref()) {
        Some(exact) if found == Some(&exact.after) => Some(exact.before.clone()),
        _ if !had_ours => Some(found.map(str::to_owned)),
        _ => None,
    }
}

fn for_good(keep: Option<Keep>, old: Option<&Receipt>) -> bool {
    match (keep, old) {
        (Some(Keep::ForGood), _) => true,
        (_, Some(old)) => old.for_good,
        (keep, None) => keep.is_none(),
    }
}

/// The person installed these for good: a daemon neither takes them out nor corrects them.
pub(super) fn stays(receipt: Option<&Receipt>, has_ours: bool) -> bool {
    // Without a receipt somebody put them there by hand, or from another home.
    receipt.map_or(has_ours, |receipt| receipt.for_good)
}

/// A home in the file that is not `own`.
pub(super) fn other_home(document: &Document<'_>, own: &Path) -> Option<PathBuf> {
    let ours = document.handlers().filter(|handler| handler.ours);
    ours.filter_map(|handler| home_of(&handler.value)).find(|home| home != own)
}

/// `only` leaves what reports to another home than this.
pub(super) fn removed(
    found: Option<&str>,
    old: Option<&Receipt>,
    path: &Path,
    only: Option<&Path>,
) -> Result<Plan, SettingsError> {
    let Some(text) = found else { return Ok(Plan { after: None, receipt: None }) };
    let document = Document::read(text, path)?;
    let after = match unregistered(found, old, document.has_ours()) {
        Some(before) => before,
        None => {
            let shared = only.is_some_and(|own| other_home(&document, own).is_some());
            // A URL names no home; where two are in the file, it is not ours to remove.
            let rest =
                edit::strip(&document, &|handler| !shared || home_of(&handler.value).as_deref() == only);
            let stripped = Document::read(&rest, path)?;
            let line_stays = only.is_some() && stripped.status_line.home().as_deref() != only;
            let rest = if line_stays { rest.clone() } else { status_line::unwrap(&stripped) };
            let empty = Document::read(&rest, path)?.members.is_empty();
            (!(empty && old.is_some_and(|old| old.made_file))).then_some(rest)
        }
    };
    Ok(Plan { after, receipt: None })
}

/// The events as wanted, without us, and with something else of ours.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) registered: Vec<String>,
    pub(super) missing: Vec<String>,
    pub(super) stale: Vec<String>,
}

pub(super) fn compare(document: &Document<'_>, wanted: &[(HookName, Value)]) -> Comparison {
    let current = edit::current(document, wanted);
    let mut result = Comparison::default();
    for event in &document.events {
        let kept = current.iter().find(|(name, _)| name.as_str() == event.member.key);
        let mut ours = event.handlers().filter(|handler| handler.ours);
        if ours.any(|handler| kept.is_none_or(|(_, start)| *start != handler.span.start)) {
            result.stale.push(event.member.key.clone());
        }
    }
    let is_stale = |name: &str| result.stale.iter().any(|stale| stale == name);
    for (name, _) in wanted.iter().filter(|(name, _)| !is_stale(name.as_str())) {
        let registered = current.iter().any(|(current, _)| current == name);
        let list = if registered { &mut result.registered } else { &mut result.missing };
        list.push(name.as_str().to_owned());
    }
    result
}

pub(super) fn installed(document: &Document<'_>) -> Option<Installed> {
    let ours = || document.handlers().filter(|handler| handler.ours).map(|handler| &handler.value);
    let first = via_of(ours().next()?);
    // The http way keeps the shim for some events.
    let via = if ours().any(|handler| via_of(handler) == Via::Http) { Via::Http } else { first };
    let held = document.event(HookName::PermissionRequest.as_str());
    Some(Installed {
        via,
        url: ours().find_map(url_of),
        token: ours().any(sends_token),
        hold_seconds: held.and_then(hold_seconds),
    })
}

fn hold_seconds(event: &Event) -> Option<u32> {
    let mut held = event.handlers().filter(|handler| handler.ours && via_of(&handler.value) == Via::Shim);
    held.find_map(|handler| u32::try_from(handler.value.get("timeout")?.as_u64()?).ok())
}
