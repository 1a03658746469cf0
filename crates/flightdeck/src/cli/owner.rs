//! Sessions of other machines: the name of the machine, and what it lets a person do from here.

use flightdeck_core::view::card::Card;

use super::local_time::hour_and_minute;

/// The machine of the session, if it is another one.
pub(super) fn host(card: &Card) -> Option<&str> {
    card.owner.as_ref().and(card.host.as_deref())
}

/// `build-2:api` for a session of another machine.
pub(super) fn with_host(card: &Card, name: &str) -> String {
    host(card).map_or_else(|| name.to_owned(), |host| format!("{host}:{name}"))
}

/// `unreachable since 14:05`. The card keeps the last state that its machine reported.
pub(super) fn unreachable(card: &Card) -> Option<String> {
    card.unreachable_since.map(|since| format!("unreachable since {}", hour_and_minute(since)))
}

/// Why `action` (`answer`, `prompt`, `interrupt`, `focus`) is not possible from here. `None` for a session of this machine.
pub(super) fn refusal(card: &Card, action: &str) -> Option<String> {
    let owner = card.owner.as_ref()?;
    let host = host(card).unwrap_or("its host");
    if let Some(unreachable) = unreachable(card) {
        return Some(format!(
            "{host} is {unreachable}: this is possible once it is back, or in its terminal"
        ));
    }
    let accepts = owner.accepts.iter().any(|accepted| accepted == action);
    (!accepts).then(|| format!("{host} does not accept `{action}` from other hosts"))
}

/// Why a request of the session cannot be allowed from here, although it can be denied.
pub(super) fn allow_refusal(card: &Card) -> Option<String> {
    let owner = card.owner.as_ref().filter(|owner| !owner.shares_payloads)?;
    let host = host(card).unwrap_or("its host");
    owner
        .accepts
        .iter()
        .any(|action| action == "answer")
        .then(|| format!("{host} shares no payloads, so its requests can be allowed only there"))
}
