//! The URL of a daemon on another machine, for http and curl handlers.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::http::Uri;

/// The path that http and curl handlers post to.
pub(super) const HOOK_PATH: &str = "/api/live/hook";

/// `http://box:47892`: scheme, host and port, with only characters that are safe in a shell and in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(String);

#[derive(Debug, thiserror::Error)]
#[error("give the daemon's address as http://HOST:PORT, without a path or a password")]
pub struct NotABaseUrl;

impl FromStr for BaseUrl {
    type Err = NotABaseUrl;

    fn from_str(text: &str) -> Result<Self, NotABaseUrl> {
        let uri: Uri = text.parse().map_err(|_| NotABaseUrl)?;
        let (scheme, authority) = uri.scheme_str().zip(uri.authority()).ok_or(NotABaseUrl)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        let bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
        if !matches!(scheme, "http" | "https") || !authority.as_str().chars().all(plain) || !bare {
            return Err(NotABaseUrl);
        }
        Ok(Self(format!("{scheme}://{authority}")))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl BaseUrl {
    /// Finds the address in one of our handlers.
    pub(super) fn in_text(text: &str) -> Option<Self> {
        let (before, _) = text.split_once(HOOK_PATH)?;
        before[before.rfind("http")?..].parse().ok()
    }

    /// The port, if this is the daemon of this machine.
    pub fn local_port(&self) -> Option<u16> {
        self.0.strip_prefix("http://127.0.0.1:")?.parse().ok()
    }

    /// Whether the address is in a private network. Claude Code sends http hooks to loopback and public addresses only.
    pub fn is_private(&self) -> bool {
        let uri: Option<Uri> = self.0.parse().ok();
        let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
        match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(IpAddr::V4(ip)) => ip.is_private() || ip.is_link_local(),
            Ok(IpAddr::V6(ip)) => ip.is_unique_local() || ip.is_unicast_link_local(),
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_address_is_accepted() {
        for good in ["http://box:47892", "https://deck.example", "http://[::1]:4", "http://127.0.0.1:4/"] {
            let url: BaseUrl = good.parse().unwrap();
            assert_eq!(url.to_string(), good.trim_end_matches('/'));
        }
        for bad in [
            "box:4",
            "ftp://box",
            "http://",
            "http://u:p@box",
            "http://box/x",
            "http://box?x",
            "http://b'x",
            "",
        ] {
            assert!(bad.parse::<BaseUrl>().is_err(), "{bad}");
        }
    }

    #[test]
    fn private_networks_are_private_and_loopback_and_public_addresses_are_not() {
        let private = |url: &str| url.parse::<BaseUrl>().unwrap().is_private();
        assert!(
            private("http://192.168.1.5:4")
                && private("http://172.17.0.1:4")
                && private("http://[fd00::1]:4")
        );
        assert!(!private("http://127.0.0.1:4") && !private("http://box:4") && !private("http://8.8.8.8:4"));
    }
}
