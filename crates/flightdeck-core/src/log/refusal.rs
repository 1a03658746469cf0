//! How the client says that the person refused a call.

/// Beginnings of the result of a call that the person refused.
const REFUSED: [&str; 2] =
    ["Permission for this tool use was denied", "The user doesn't want to proceed with this tool use"];

/// Whether the result of a call says that the person refused it.
pub(crate) fn says_refused(result: &str) -> bool {
    refusal_beginning(result).is_some()
}

/// How the result of a call begins if the person refused the call. The beginning contains no data of the call.
pub fn refusal_beginning(result: &str) -> Option<&'static str> {
    REFUSED.into_iter().find(|begins| result.starts_with(begins))
}
