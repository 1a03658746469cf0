//! Decides the new text of a settings file. Does no IO.

use std::path::{Path, PathBuf};

use flightdeck_core::wire::hook_name::HookName;
use serde_json::Value;

use super::document::{Document, EventHandlers, HandlerText};
use super::edit;
use super::error::SettingsError;
use super::handler::{Registration, Via};
use super::predecessor::{Predecessor, belongs_to};
use super::receipt::{ExactTexts, Lifetime, Receipt};
use super::recognise::{InstalledHooks, home_of, sends_token, url_of, via_of, works_like};
use super::status_line_edit;

/// The new text (`None`: no file) and the receipt to keep.
#[derive(Debug)]
pub(super) struct EditPlan {
    pub(super) after: Option<String>,
    pub(super) receipt: Option<Receipt>,
    /// Handlers of other tools that the plan removes because the person asked for it.
    pub(super) taken_out: usize,
}

/// `path` is the file as the person named it, `real` the file after following links.
pub(super) fn plan_registration(
    found: Option<&str>,
    old: Option<Receipt>,
    registration: &Registration,
    lifetime: Option<Lifetime>,
    (path, real): (&Path, &Path),
) -> Result<EditPlan, SettingsError> {
    let document = Document::read(found.unwrap_or_default(), path)?;
    let had_ours = document.has_ours();
    if lifetime == Some(Lifetime::WhileDaemonRuns) {
        if let Some(home) = other_home(&document, &registration.home) {
            return Err(SettingsError::OtherHome { path: path.to_owned(), home });
        }
        if is_permanent(old.as_ref(), had_ours) {
            return Ok(EditPlan { after: found.map(str::to_owned), receipt: old, taken_out: 0 });
        }
    }
    let had_line = document.status_line.is_ours();
    // A repair also restores a status line that another tool replaced.
    let lost_line = lifetime.is_none() && old.as_ref().is_some_and(|old| old.status_line);
    let with_line = registration.status_line || had_line || lost_line;
    let before = text_without_ours(found, old.as_ref(), had_ours);
    // Start from the text without our handlers, if known, so that a second install gives the same file as the first.
    let base = before.as_ref().map_or(found, |before| before.as_deref()).unwrap_or_default();
    let mut after = edit::merge(base, path, &registration.handlers()?)?;
    if with_line {
        after = status_line_edit::wrap(&after, path, registration)?;
    }
    let receipt = Receipt {
        path: real.to_owned(),
        made_file: before == Some(None) || old.as_ref().is_some_and(|old| old.made_file),
        made_folder: old.as_ref().is_some_and(|old| old.made_folder),
        for_good: for_good(lifetime, old.as_ref()),
        status_line: with_line,
        exact: before.map(|before| ExactTexts { before, after: after.clone() }),
    };
    Ok(EditPlan { after: Some(after), receipt: Some(receipt), taken_out: 0 })
}

/// The file without our handlers, if it is known byte for byte; the inner `None` means "no file".
fn text_without_ours(found: Option<&str>, old: Option<&Receipt>, had_ours: bool) -> Option<Option<String>> {
    match old.and_then(|old| old.exact.as_ref()) {
        Some(exact) if found == Some(&exact.after) => Some(exact.before.clone()),
        _ if !had_ours => Some(found.map(str::to_owned)),
        _ => None,
    }
}

fn for_good(lifetime: Option<Lifetime>, old: Option<&Receipt>) -> bool {
    match (lifetime, old) {
        (Some(Lifetime::Permanent), _) => true,
        (_, Some(old)) => old.for_good,
        (lifetime, None) => lifetime.is_none(),
    }
}

/// The person installed these handlers for good: a daemon neither removes nor corrects them.
pub(super) fn is_permanent(receipt: Option<&Receipt>, has_ours: bool) -> bool {
    // Without a receipt the handlers were written by hand or by another home.
    receipt.map_or(has_ours, |receipt| receipt.for_good)
}

/// A home in the file other than `own`.
pub(super) fn other_home(document: &Document<'_>, own: &Path) -> Option<PathBuf> {
    let ours = document.handlers().filter(|handler| handler.ours);
    ours.filter_map(|handler| home_of(&handler.value)).find(|home| home != own)
}

/// `only` keeps the handlers that report to another home.
pub(super) fn plan_removal(
    found: Option<&str>,
    old: Option<&Receipt>,
    path: &Path,
    only: Option<&Path>,
) -> Result<EditPlan, SettingsError> {
    let Some(text) = found else { return Ok(EditPlan { after: None, receipt: None, taken_out: 0 }) };
    let document = Document::read(text, path)?;
    let after = match text_without_ours(found, old, document.has_ours()) {
        Some(before) => before,
        None => {
            let shared = only.is_some_and(|own| other_home(&document, own).is_some());
            // A URL has no home: if the file has two homes, http handlers are kept.
            let rest =
                edit::strip(&document, &|handler| !shared || home_of(&handler.value).as_deref() == only);
            let stripped = Document::read(&rest, path)?;
            let line_stays = only.is_some() && stripped.status_line.home().as_deref() != only;
            let rest = if line_stays { rest.clone() } else { status_line_edit::unwrap(&stripped) };
            let empty = Document::read(&rest, path)?.members.is_empty();
            (!(empty && old.is_some_and(|old| old.made_file))).then_some(rest)
        }
    };
    Ok(EditPlan { after, receipt: None, taken_out: 0 })
}

/// Removes the handlers of these earlier tools. Uninstall does not bring them back; the backup has them.
pub(super) fn plan_take_out(
    found: Option<&str>,
    old: Option<Receipt>,
    path: &Path,
    tools: &[Predecessor],
) -> Result<EditPlan, SettingsError> {
    let Some(text) = found else { return Ok(EditPlan { after: None, receipt: old, taken_out: 0 }) };
    let goes = |handler: &HandlerText| belongs_to(handler, tools);
    let without =
        |text: &str| Ok::<_, SettingsError>(edit::strip_others(&Document::read(text, path)?, &goes));
    let after = without(text)?;
    let taken_out = Document::read(text, path)?.handlers().filter(|handler| goes(handler)).count();
    let receipt = old.map(|mut receipt| {
        let exact = receipt.exact.take().filter(|exact| exact.after == text);
        receipt.exact = exact.and_then(|exact| {
            let before = exact.before.as_deref().map(without).transpose().ok()?;
            Some(ExactTexts { before, after: after.clone() })
        });
        receipt
    });
    Ok(EditPlan { after: Some(after), receipt, taken_out })
}

/// The wanted events: those with a handler that works like the right one, those without one, and those with an outdated one.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) registered: Vec<String>,
    pub(super) missing: Vec<String>,
    pub(super) stale: Vec<String>,
}

pub(super) fn compare(document: &Document<'_>, wanted: &[(HookName, Value)]) -> Comparison {
    let current = edit::current(document, wanted, works_like);
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

pub(super) fn installed(document: &Document<'_>) -> Option<InstalledHooks> {
    let ours = || document.handlers().filter(|handler| handler.ours).map(|handler| &handler.value);
    let first = via_of(ours().next()?);
    // With http some events still use the shim.
    let via = if ours().any(|handler| via_of(handler) == Via::Http) { Via::Http } else { first };
    let held = document.event(HookName::PermissionRequest.as_str());
    Some(InstalledHooks {
        via,
        url: ours().find_map(url_of),
        token: ours().any(sends_token),
        hold_seconds: held.and_then(hold_seconds),
    })
}

fn hold_seconds(event: &EventHandlers) -> Option<u32> {
    let mut held = event.handlers().filter(|handler| handler.ours && via_of(&handler.value) == Via::Shim);
    held.find_map(|handler| u32::try_from(handler.value.get("timeout")?.as_u64()?).ok())
}
