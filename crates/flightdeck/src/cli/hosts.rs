//! `flightdeck hosts`: join or leave a server that puts several hosts on one board, list them, print its configuration.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use clap::{Subcommand, ValueEnum};
use flightdeck_core::ids::HostId;
use flightdeck_protocol::daemon::GetStatus;
use flightdeck_protocol::hosts::{HostCard, HostList, ListHosts};
use serde_json::json;

use super::draw;
use super::out::Out;
use super::up::runtime;
use crate::client::BlockingClient;
use crate::clock;
use crate::config::live::HOST_NAME_SETTING;
use crate::config::{Config, join_hosts};
use crate::daemon::host_name;
use crate::hosts::nats_config::{ConfigUser, check_nkey, server_config};
use crate::hosts::settings::{HostsSettings, RemoteAction, Share};
use crate::hosts::subjects::{as_token, check_token};
use crate::hosts::wire::HostPresence;
use crate::hosts::{NatsLink, host_kind, own_presence, publish_presence, without_password};
use crate::paths::Paths;

/// Longest wait until the daemon has applied the changed file, which it checks every second.
const DAEMON_FOLLOWS_WITHIN: Duration = Duration::from_secs(5);
const ASK_DAEMON_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, clap::Args)]
pub(super) struct HostsArgs {
    #[command(subcommand)]
    command: HostsCommand,
}

#[derive(Debug, Subcommand)]
enum HostsCommand {
    /// Join the hosts of a NATS server: their hubs then show the sessions of this machine
    Join(JoinArgs),
    /// Leave the hosts: the daemon then connects to no server
    Leave {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the hosts: last seen, backlog, version, sessions, clock
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a configuration of the server in which each host may publish under its own name only
    NatsConfig(NatsConfigArgs),
}

#[derive(Debug, clap::Args)]
struct JoinArgs {
    /// The server, such as nats://box:4222 or tls://nats.example.org:4222
    url: String,
    /// What this machine is called on the board [default: as before, else its host name]
    #[arg(long)]
    name: Option<String>,
    /// A credentials file, or a file with the seed of an nkey [default: as before on the same server]
    #[arg(long, value_name = "FILE")]
    creds: Option<PathBuf>,
    /// The certificates that sign the server's, if the system does not trust them [default: as before on the same server]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Hosts with the same fleet share a board [default: as before on the same server, else main]
    #[arg(long)]
    fleet: Option<String>,
    /// What this machine sends of its events [default: as before, else full]
    #[arg(long, value_enum)]
    share: Option<ShareArg>,
    /// What a hub may do to the sessions of this machine; give it several times [default: as before, else answer]
    #[arg(long, value_enum)]
    accept: Vec<AcceptArg>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShareArg {
    /// Everything that is in the log
    Full,
    /// Names, states, times and numbers only
    NoPayloads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AcceptArg {
    /// Answer requests
    Answer,
    /// Type prompts
    Prompt,
    /// Interrupt turns
    Interrupt,
    /// Bring terminals to the front
    Focus,
    /// Nothing: hubs may only look
    Nothing,
}

#[derive(Debug, clap::Args)]
struct NatsConfigArgs {
    /// A member: its name, or NAME=NKEY with the public part of its nkey; give it several times
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// A hub, in the same form
    #[arg(long, value_name = "NAME", required = true)]
    hub: Vec<String>,
    /// The name of the fleet
    #[arg(long, default_value = "main")]
    fleet: String,
    /// Include a section for TLS
    #[arg(long)]
    tls: bool,
}

pub(super) fn run(args: &HostsArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    match &args.command {
        HostsCommand::Join(args) => join(args, paths, out),
        HostsCommand::Leave { json } => leave_hosts(*json, paths, out),
        HostsCommand::List { json } => list(*json, paths, out),
        HostsCommand::NatsConfig(args) => nats_config(args, out),
    }
}

fn join(args: &JoinArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let settings = settings(args, Config::read(&paths.config)?.hosts)?;
    let name = own_name(&settings);
    runtime()?.block_on(async {
        let link = NatsLink::connect(&settings, &HostId::new(&name)).await?;
        link.check_streams().await
    })?;
    join_hosts::join(&paths.config, &settings)?;
    let takes_effect = takes_effect(paths);
    let accepts: Vec<_> = settings.accepts().iter().map(|action| action.as_str()).collect();
    if args.json {
        out.json(&json!({
            "name": name,
            "fleet": settings.fleet(),
            "url": without_password(&args.url),
            "share": settings.share,
            "accepts": accepts,
            "needs_restart": takes_effect == TakesEffect::AfterRestart,
        }))?;
        return Ok(0);
    }
    writeln!(out, "{name} joins the fleet {} on {}.", settings.fleet(), without_password(&args.url))?;
    match settings.share {
        Share::Full => writeln!(out, "Shared: every event of its log, with prompts, commands and outputs.")?,
        Share::NoPayloads => {
            writeln!(out, "Shared: names, states, times and numbers; no prompt, command, path or output.")?;
        }
    }
    let accepts = if accepts.is_empty() { "nothing".to_owned() } else { accepts.join(", ") };
    writeln!(out, "Accepted from hubs: {accepts}.")?;
    match takes_effect {
        TakesEffect::Now => writeln!(out, "The daemon that runs connects within seconds.")?,
        TakesEffect::AfterRestart => writeln!(
            out,
            "It takes effect when the daemon is started again: the sessions of this machine then get the name {name}.\n\
             If it shares or accepts less than before, that applies within seconds."
        )?,
        TakesEffect::AtStart => writeln!(out, "It takes effect when the daemon is started: flightdeck up.")?,
    }
    Ok(0)
}

/// When a changed membership takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TakesEffect {
    Now,
    /// After a restart: the running daemon was started under another name.
    AfterRestart,
    /// When a daemon is started: none runs now.
    AtStart,
}

/// Asks the daemon when the change takes effect, because only the daemon knows the name that it was started with.
fn takes_effect(paths: &Paths) -> TakesEffect {
    let status = BlockingClient::connect(paths).and_then(|mut client| client.call(&GetStatus {}));
    match status {
        Ok(status) if status.config.needs_restart.iter().any(|name| name == HOST_NAME_SETTING) => {
            TakesEffect::AfterRestart
        }
        Ok(_) => TakesEffect::Now,
        Err(_) => TakesEffect::AtStart,
    }
}

/// The new membership. What the arguments leave out stays as it was, so that joining again neither renames the machine nor shares more.
/// Credentials, certificates and the fleet belong to one server, and are not used for another server.
fn settings(args: &JoinArgs, before: HostsSettings) -> anyhow::Result<HostsSettings> {
    let address = |url: &str| without_password(url).trim_end_matches('/').to_owned();
    let same_server = before.url.as_deref().is_some_and(|url| address(url) == address(&args.url));
    let of_server = if same_server { before.clone() } else { HostsSettings::default() };
    for token in args.name.iter().chain(&args.fleet) {
        check_token(token).map_err(anyhow::Error::msg)?;
    }
    let absolute = |path: &Option<PathBuf>| path.as_ref().map(std::path::absolute).transpose();
    let action = |accept: &AcceptArg| match accept {
        AcceptArg::Answer => Some(RemoteAction::Answer),
        AcceptArg::Prompt => Some(RemoteAction::Prompt),
        AcceptArg::Interrupt => Some(RemoteAction::Interrupt),
        AcceptArg::Focus => Some(RemoteAction::Focus),
        AcceptArg::Nothing => None,
    };
    Ok(HostsSettings {
        names: before.names,
        url: Some(args.url.clone()),
        name: args.name.clone().or(before.name),
        fleet: args.fleet.clone().or(of_server.fleet),
        creds: absolute(&args.creds)?.or(of_server.creds),
        ca: absolute(&args.ca)?.or(of_server.ca),
        accept: match args.accept.as_slice() {
            [] => before.accept,
            given => Some(given.iter().filter_map(action).collect()),
        },
        share: match args.share {
            None => before.share,
            Some(ShareArg::Full) => Share::Full,
            Some(ShareArg::NoPayloads) => Share::NoPayloads,
        },
    })
}

fn own_name(settings: &HostsSettings) -> String {
    as_token(&settings.name.clone().unwrap_or_else(host_name))
}

fn leave_hosts(json: bool, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let settings = Config::read(&paths.config)?.hosts;
    let Some(url) = settings.url.clone() else {
        if json {
            out.json(&json!({ "left": false, "name": own_name(&settings), "url": null }))?;
            return Ok(0);
        }
        writeln!(out, "This machine has joined no other hosts.")?;
        return Ok(0);
    };
    let mut daemon = BlockingClient::connect(paths).ok();
    let joined = daemon.as_mut().and_then(|daemon| daemon.call(&ListHosts {}).ok());
    let runs_under = joined.as_ref().and_then(|list| list.hosts.iter().find(|host| host.this));
    let name = runs_under.map_or_else(|| own_name(&settings), |host| host.name.clone());
    join_hosts::remove_membership(&paths.config)?;
    let tells_hubs = match joined.map(|list| list.link) {
        // The daemon is not a member yet: it waits for a restart under this name, which the hubs do not know.
        Some(None) => true,
        Some(Some(link)) => daemon_has_left(daemon) && link.connected,
        None => false,
    };
    if !tells_hubs && let Err(error) = tell_hubs(&settings, &name) {
        Out::note(&format!("the hubs could not be notified and will show {name} as unreachable: {error:#}"));
    }
    if json {
        out.json(&json!({ "left": true, "name": name, "url": without_password(&url) }))?;
        return Ok(0);
    }
    writeln!(
        out,
        "{name} has left {}. What it sent stays on the server and on the hubs.",
        without_password(&url)
    )?;
    if name != as_token(&host_name()) {
        writeln!(out, "To come back as the same host, join with --name {name}.")?;
    }
    Ok(0)
}

/// Waits until the running daemon has disconnected. If the machine joined again before that, the daemon would notice neither change.
fn daemon_has_left(daemon: Option<BlockingClient>) -> bool {
    let Some(mut daemon) = daemon else { return false };
    let until = Instant::now() + DAEMON_FOLLOWS_WITHIN;
    // An error means that the daemon has ended meanwhile.
    while let Ok(list) = daemon.call(&ListHosts {}) {
        if list.link.is_none() {
            return true;
        }
        if Instant::now() > until {
            Out::note("the daemon has not read the changed settings yet: see `flightdeck status`");
            return false;
        }
        std::thread::sleep(ASK_DAEMON_EVERY);
    }
    false
}

fn tell_hubs(settings: &HostsSettings, name: &str) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        let link = NatsLink::connect(settings, &HostId::new(name)).await?;
        let presence = HostPresence { left: true, ..own_presence(settings, host_kind(), false) };
        publish_presence(&link, &presence).await
    })
}

fn list(json: bool, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let reply = BlockingClient::connect(paths)?.call_raw(&ListHosts {})?;
    if json {
        out.json(&reply.json()?)?;
        return Ok(0);
    }
    let HostList { hosts, link } = reply.decode()?;
    let Some(link) = link else {
        writeln!(out, "This machine has joined no other hosts: flightdeck hosts join URL")?;
        return Ok(0);
    };
    for host in &hosts {
        writeln!(out, "{}", line(host))?;
    }
    let state = match (&link.problem, link.connected) {
        (Some(problem), _) => format!("not connected: {problem}"),
        (None, true) => "connected".to_owned(),
        (None, false) => "connecting".to_owned(),
    };
    let events = if link.backlog == 1 { "event" } else { "events" };
    writeln!(out, "{}, fleet {}: {state}; {} {events} to forward", link.url, link.fleet, link.backlog)?;
    Ok(0)
}

/// `build-2   seen 3s ago   412 to come, 70%   0.4.1   14 sessions, 1 needs you   accepts answer   clock +74.1 s`
fn line(host: &HostCard) -> String {
    let now = clock::now();
    let seen = match (host.left, host.unreachable_since, host.last_seen) {
        (true, ..) => "left".to_owned(),
        (_, Some(since), _) => format!("unreachable for {}", draw::duration(now - since)),
        (_, None, Some(_)) if host.this => "this machine".to_owned(),
        (_, None, Some(seen)) => format!("seen {} ago", draw::duration(now - seen)),
        (_, None, None) => "not seen".to_owned(),
    };
    let backlog = match (host.unreachable_since, host.caught_up_percent, host.backlog) {
        // The host may have worked since it was last seen. How much it did not send then is not known.
        (Some(since), ..) => format!("unknown since {}", draw::hour_and_minute(since)),
        (None, _, 0) if host.this => "all forwarded".to_owned(),
        (None, _, behind) if host.this => format!("{behind} to forward"),
        (None, Some(percent), behind) => format!("{behind} to come, {percent}%"),
        (None, None, 0) => "all here".to_owned(),
        (None, None, behind) => format!("{behind} to come"),
    };
    let clock = match host.clock_ahead_seconds.filter(|_| host.clock_differs) {
        Some(ahead) => format!("  clock {ahead:+.1} s"),
        None => String::new(),
    };
    let shares = if host.shares_payloads { "" } else { "  no payloads" };
    let hub = if host.hub { "  hub" } else { "" };
    let version = host.version.as_deref().unwrap_or("unknown version");
    let sessions = if host.sessions == 1 { "session" } else { "sessions" };
    let need = if host.needs_you == 1 { "needs" } else { "need" };
    let accepts = if host.accepts.is_empty() { "nothing".to_owned() } else { host.accepts.join(", ") };
    let refused = match (host.refused, &host.refused_because) {
        (0, _) => String::new(),
        (refused, because) => {
            let because = because.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("  {refused} refused{because}")
        }
    };
    format!(
        "{:<20} {seen:<24} {backlog:<20} {version:<10} {} {sessions}, {} {need} you  accepts {accepts}{clock}{shares}{hub}{refused}",
        host.name, host.sessions, host.needs_you
    )
}

fn nats_config(args: &NatsConfigArgs, out: &mut Out) -> anyhow::Result<u8> {
    let user = |text: &String, hub: bool| {
        let (host, nkey) =
            text.split_once('=').map_or((text.as_str(), None), |(host, nkey)| (host, Some(nkey)));
        check_token(host).map_err(anyhow::Error::msg)?;
        nkey.map_or(Ok(()), check_nkey).map_err(|why| anyhow!("the key of {host}: {why}"))?;
        Ok::<_, anyhow::Error>(ConfigUser { host: host.into(), nkey: nkey.map(str::to_owned), hub })
    };
    let hubs = args.hub.iter().map(|text| user(text, true));
    let users = hubs.chain(args.host.iter().map(|text| user(text, false))).collect::<Result<Vec<_>, _>>();
    let users = users?;
    let mut names = BTreeSet::new();
    if let Some(twice) = users.iter().find(|user| !names.insert(&user.host)) {
        bail!("{} is named twice: a hub is a member too, and each host has one entry", twice.host);
    }
    check_token(&args.fleet).map_err(anyhow::Error::msg)?;
    out.write_all(server_config(&args.fleet, &users, args.tls).as_bytes())?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flightdeck_core::time::{Millis, Timestamp};
    use flightdeck_protocol::hosts::HostKind;

    fn card() -> HostCard {
        HostCard {
            name: "build-2".into(),
            this: false,
            hub: false,
            kind: HostKind::Server,
            version: Some("0.4.1".into()),
            last_seen: Some(clock::now()),
            unreachable_since: None,
            left: false,
            backlog: 0,
            caught_up_percent: None,
            sessions: 14,
            needs_you: 1,
            clock_ahead_seconds: None,
            clock_differs: false,
            shares_payloads: true,
            accepts: vec!["answer".into(), "prompt".into()],
            refused: 0,
            refused_because: None,
        }
    }

    #[test]
    fn a_host_that_cannot_be_reached_is_not_called_all_here() {
        let since = clock::now() - Millis::minutes(8);
        let said = line(&HostCard { unreachable_since: Some(since), ..card() });
        let unknown = format!("unknown since {}", draw::hour_and_minute(since));
        assert!(said.contains("unreachable for 8:0") && said.contains(&unknown), "{said}");
        assert!(!said.contains("all here"), "{said}");
        assert!(line(&card()).contains("all here"));
        let own = line(&HostCard { this: true, backlog: 7, ..card() });
        assert!(own.contains("7 to forward") && !own.contains("to come"), "{own}");
    }

    #[test]
    fn a_host_is_listed_with_what_it_accepts_and_what_was_refused() {
        let said = line(&HostCard {
            refused: 3,
            refused_because: Some("its number 7 was received before".into()),
            ..card()
        });
        assert!(said.contains("accepts answer, prompt"), "{said}");
        assert!(said.ends_with("3 refused: its number 7 was received before"), "{said}");
        assert!(!line(&card()).contains("refused"));
        let nothing =
            line(&HostCard { accepts: Vec::new(), last_seen: Some(Timestamp::default()), ..card() });
        assert!(nothing.contains("accepts nothing"), "{nothing}");
    }
}
