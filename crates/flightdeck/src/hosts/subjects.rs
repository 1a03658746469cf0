//! The names of streams and subjects: `flightdeck.<fleet>.<host>.<what>`.

use flightdeck_core::fnv::Fnv;
use flightdeck_core::ids::{HostId, SessionId};

/// Longest name of a host or a fleet. It is the limit for one label of a DNS name.
const TOKEN_BYTES_MAX: usize = 63;

/// Checks the name of a host or a fleet. The name is one token of a subject, a part of file names on the server and a part of
/// ids on the page.
pub fn check_token(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > TOKEN_BYTES_MAX || !name.chars().all(fits) {
        return Err(format!(
            "{name:?} cannot name a host or a fleet: use letters, digits, `-` and `_`, at most {TOKEN_BYTES_MAX}"
        ));
    }
    Ok(())
}

/// A host name as a token: `box.local` becomes `box-local`.
pub fn as_token(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let token: String = name.chars().map(fits).take(TOKEN_BYTES_MAX).collect();
    if token.is_empty() { "host".to_owned() } else { token }
}

/// In a subject, stands for every host. No host can have this name.
pub fn every_host() -> HostId {
    HostId::from("*")
}

/// The names that the hosts of one fleet use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subjects {
    fleet: String,
}

impl Subjects {
    pub fn new(fleet: &str) -> Self {
        Self { fleet: fleet.to_owned() }
    }
    pub fn fleet(&self) -> &str {
        &self.fleet
    }
    /// The stream of all logs.
    pub fn log_stream(&self) -> String {
        format!("FLIGHTDECK_{}_LOG", self.fleet)
    }
    /// The stream that keeps the latest message of each subject: presence and summaries.
    pub fn latest_stream(&self) -> String {
        format!("FLIGHTDECK_{}_LATEST", self.fleet)
    }
    fn subject_of_host(&self, host: &HostId, what: &str) -> String {
        format!("flightdeck.{}.{host}.{what}", self.fleet)
    }
    pub fn log(&self, host: &HostId) -> String {
        self.subject_of_host(host, "log")
    }
    pub fn presence(&self, host: &HostId) -> String {
        self.subject_of_host(host, "presence")
    }
    /// The subject of a session's numbers. A session id that is not a valid token is replaced by its hash; the message contains
    /// the id.
    pub fn summary(&self, host: &HostId, session: &SessionId) -> String {
        let token = match check_token(session) {
            Ok(()) => session.to_string(),
            Err(_) => format!("h-{:016x}", Fnv::hash_bytes(session.as_bytes())),
        };
        self.subject_of_host(host, &format!("summary.{token}"))
    }
    pub fn summaries(&self, host: &HostId) -> String {
        self.subject_of_host(host, "summary.*")
    }
    /// Requests to a host.
    pub fn requests(&self, host: &HostId) -> String {
        self.subject_of_host(host, "ask")
    }
    /// The prefix of the subjects on which a host receives replies. Each host has its own, so that the server can forbid others to
    /// read them. A dot separates the names, because neither can contain one.
    pub fn inbox(&self, host: &HostId) -> String {
        format!("_INBOX.{}.{host}", self.fleet)
    }
    /// The host that a subject of this fleet belongs to, and the kind of message.
    pub fn parse<'a>(&self, subject: &'a str) -> Option<(HostId, &'a str)> {
        let rest =
            subject.strip_prefix("flightdeck.")?.strip_prefix(self.fleet.as_str())?.strip_prefix('.')?;
        let (host, what) = rest.split_once('.')?;
        check_token(host).ok()?;
        Some((host.into(), what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_names_its_host_and_no_other_fleet_is_read() {
        let subjects = Subjects::new("main");
        let parsed =
            |subject: &str| subjects.parse(subject).map(|(host, what)| (host.to_string(), what.to_owned()));
        assert_eq!(parsed(&subjects.log(&"a".into())), Some(("a".into(), "log".into())));
        assert_eq!(
            parsed(&subjects.summary(&"a".into(), &"s-1".into())),
            Some(("a".into(), "summary.s-1".into()))
        );
        for other in ["flightdeck.other.a.log", "flightdeck.mainly.a.log", "flightdeck.main.log", "x"] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }

    #[test]
    fn two_hosts_never_share_an_inbox() {
        let inbox = |fleet: &str, host: &str| Subjects::new(fleet).inbox(&host.into());
        assert_ne!(inbox("main", "a_b"), inbox("main_a", "b"));
        assert_eq!(inbox("main", "a_b"), "_INBOX.main.a_b");
    }

    #[test]
    fn a_name_with_dots_or_blanks_is_no_token() {
        for wrong in ["", "box.local", "a b", "a*", ">", &"x".repeat(64)] {
            check_token(wrong).unwrap_err();
        }
        check_token(&as_token("box.local of the team")).unwrap();
        assert!(subjects_fit("a.b c"));
    }

    fn subjects_fit(session: &str) -> bool {
        Subjects::new("main")
            .summary(&"a".into(), &session.into())
            .split('.')
            .all(|token| check_token(token).is_ok())
    }
}
