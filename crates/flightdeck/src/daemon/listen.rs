//! Where the daemon listens for HTTP: address, port, and the address that a browser opens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::bail;
use tokio::net::TcpListener;

use super::DaemonOptions;
use super::port::{self, PortChoice};
use crate::settings::{InstalledHooks, SettingsFile, Via};

pub(super) async fn listen(
    options: &DaemonOptions,
    file: &SettingsFile,
    notes: &mut Vec<String>,
) -> anyhow::Result<TcpListener> {
    let bind = options.bind.or(options.config.bind).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    if !bind.is_loopback() && options.token.is_none() {
        bail!(
            "to listen on {bind}, beyond this machine, set a token: FLIGHTDECK_TOKEN, FLIGHTDECK_TOKEN_FILE or `token` in config.toml"
        );
    }
    let installed = hooks_with_our_port(options, file);
    let baked = installed.as_ref().map(|i| i.port().unwrap_or(options.config.default_port()));
    if options.token.is_some() && installed.is_some_and(|i| !i.token) {
        let note = "The registered http or curl hooks send no token, so their events are refused: run `flightdeck hooks repair`";
        tracing::warn!("{note}");
        notes.push(note.to_owned());
    }
    Ok(port::listen(bind, choose_port(options, baked)?).await?)
}

/// The registered http or curl hooks that send to this daemon. They name the port, so there is only one right port.
fn hooks_with_our_port(options: &DaemonOptions, file: &SettingsFile) -> Option<InstalledHooks> {
    // Hooks of another home send to another daemon. A file that cannot be read is reported when we register.
    let other = file.other_home(&options.paths.home).ok().flatten();
    let installed = file.installed().ok().flatten().filter(|i| i.via != Via::Shim && other.is_none())?;
    // Hooks with another host in their URL do, too.
    (installed.url.is_none() || installed.port().is_some()).then_some(installed)
}

fn choose_port(options: &DaemonOptions, baked: Option<u16>) -> anyhow::Result<PortChoice> {
    match (options.port.or(options.config.port), baked) {
        // With --no-hooks the person does not want events of those hooks.
        (Some(port), Some(baked)) if port != baked && options.hooks => bail!(
            "the hooks in {} send to port {baked}, but port {port} was asked for: start with --port {baked}, or \
             register them anew with `flightdeck hooks install`",
            options.settings.display()
        ),
        (Some(port), _) | (None, Some(port)) => Ok(PortChoice::Exactly(port)),
        (None, None) => Ok(PortChoice::Near(options.config.default_port())),
    }
}

/// The address that a browser of this machine opens: `0.0.0.0` becomes loopback.
pub(super) fn url_of(addr: SocketAddr) -> String {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, addr.port()))
}
