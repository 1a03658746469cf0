//! One connection to the server. Once it breaks, it is not used again; the daemon opens another one.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{self, ErrorCode};
use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use flightdeck_core::ids::HostId;
use tokio::sync::watch;

use super::settings::HostsSettings;
use super::subjects::{Subjects, every_host};

/// How long a server may take to answer, at the start and for each acknowledgement.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// Time between two pings. If the server disappears, this is noticed after three of them.
const PING_EVERY: Duration = Duration::from_secs(10);
/// How long the server keeps a log. A hub that was away for longer misses older events.
const LOG_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How much of the server's disk a log takes before its oldest messages are removed: most of what the printed configuration gives.
pub(super) const LOG_BYTES_MAX: i64 = 8 << 30;
/// The same on a server that has less room. With even less, the stream has no limit of its own, and the server refuses when it is full.
const LOG_BYTES_SMALL: i64 = 1 << 30;
const UNLIMITED: i64 = -1;
/// Most publishes without an acknowledgement: a window of the forwarder, and a few others.
pub(super) const IN_FLIGHT_MAX: usize = 1024;

#[derive(Clone, Debug)]
pub struct NatsLink {
    pub(super) client: Client,
    pub(super) js: jetstream::Context,
    pub(super) subjects: Subjects,
    /// This machine.
    pub(super) host: HostId,
    dead: watch::Receiver<bool>,
    /// The last error that the server reported, such as a missing permission.
    complaint: watch::Receiver<Option<String>>,
}

impl NatsLink {
    pub async fn connect(settings: &HostsSettings, host: &HostId) -> anyhow::Result<Self> {
        let url = settings.url.as_deref().context("[hosts] in config.toml has no url")?;
        let (dies, dead) = watch::channel(false);
        let (complains, complaint) = watch::channel(None);
        let subjects = Subjects::new(settings.fleet());
        let options = with_password(credentials(settings)?, url)?
            .name(format!("flightdeck {host}"))
            .connection_timeout(ANSWER_TIME_MAX)
            .request_timeout(Some(ANSWER_TIME_MAX))
            .ping_interval(PING_EVERY)
            .custom_inbox_prefix(subjects.inbox(host))
            .event_callback(move |event| {
                let lost = matches!(event, Event::Disconnected | Event::Closed);
                if lost {
                    dies.send_replace(true);
                }
                if let Event::ServerError(error) = &event {
                    complains.send_replace(Some(error.to_string()));
                }
                async move { log_event(&event) }
            });
        let connected = tokio::time::timeout(ANSWER_TIME_MAX, options.connect(url)).await;
        let client = connected.context("the server did not answer in time")?;
        // The text of the error has the cause already.
        let client = client.map_err(|error| {
            let said = error.to_string();
            anyhow!("cannot connect to {}: {said}{}", without_password(url), advice(&said))
        })?;
        let js = jetstream::context::ContextBuilder::new()
            .timeout(ANSWER_TIME_MAX)
            .ack_timeout(ANSWER_TIME_MAX)
            .max_ack_inflight(IN_FLIGHT_MAX)
            .backpressure_on_inflight(true)
            .build(client.clone());
        Ok(Self { client, js, subjects, host: host.clone(), dead, complaint })
    }

    /// Returns when the connection is lost.
    pub(super) async fn wait_until_closed(&self) {
        // An error means that the sender was dropped with the connection, so the connection is closed as well.
        let _ = self.dead.clone().wait_for(|dead| *dead).await;
    }

    /// The stream of all logs. The first host of a fleet creates it, unless the server permits this only to a hub.
    pub(super) async fn log_stream(&self) -> anyhow::Result<Stream> {
        let sized = |max_bytes| Config {
            name: self.subjects.log_stream(),
            subjects: vec![self.subjects.log(&every_host())],
            max_age: LOG_KEPT,
            max_bytes,
            ..shared_config()
        };
        self.stream(&[sized(LOG_BYTES_MAX), sized(LOG_BYTES_SMALL), sized(UNLIMITED)]).await
    }

    /// The stream that keeps the latest message of each subject.
    pub(super) async fn latest_stream(&self) -> anyhow::Result<Stream> {
        self.stream(&[Config {
            name: self.subjects.latest_stream(),
            subjects: vec![self.subjects.presence(&every_host()), self.subjects.summaries(&every_host())],
            max_messages_per_subject: 1,
            max_age: LOG_KEPT,
            ..shared_config()
        }])
        .await
    }

    /// Whether the server keeps streams, and whether this host may use them.
    pub async fn check_streams(&self) -> anyhow::Result<()> {
        let streams = async {
            self.log_stream().await?;
            self.latest_stream().await
        };
        let Err(error) = streams.await else { return Ok(()) };
        // A server that does not permit a request leaves it without a reply.
        let complaint = self.complaint.borrow().clone();
        let Some(said) = complaint else { return Err(error) };
        tracing::debug!("what the server did not permit failed: {error:#}");
        let fleet = self.subjects.fleet();
        Err(match said.contains("$JS.API.STREAM.CREATE") {
            true => anyhow!(
                "the fleet {fleet} has no streams on this server yet, and {} may not create them: join on a hub first ({said})",
                self.host
            ),
            false => anyhow!(
                "the server does not permit what {} needs in the fleet {fleet}: check the name, the fleet and the credentials, \
                 because its configuration says what each host may do ({said})",
                self.host
            ),
        })
    }

    /// The stream with the settings that it has on the server. A missing stream is created with the first of `configs` that the server has room
    /// for.
    async fn stream(&self, configs: &[Config]) -> anyhow::Result<Stream> {
        let [first, smaller @ ..] = configs else { bail!("a stream needs a configuration") };
        let name = &first.name;
        match self.js.get_stream(name).await {
            Ok(stream) => return Ok(stream),
            Err(error) if is_missing(&error) => {}
            Err(error) => bail!("cannot read the stream {name}: {error}"),
        }
        let mut made = self.js.create_stream(first.clone()).await;
        for config in smaller {
            if !made.as_ref().is_err_and(has_no_room) {
                break;
            }
            made = self.js.create_stream(config.clone()).await;
        }
        made.with_context(|| {
            format!("the stream {name} is missing and could not be created; start a hub, which creates it")
        })
    }
}

fn shared_config() -> Config {
    Config {
        storage: StorageType::File,
        discard: DiscardPolicy::Old,
        allow_direct: true,
        ..Config::default()
    }
}

/// The server reserves the limit of a stream when it creates it.
fn has_no_room(error: &jetstream::context::CreateStreamError) -> bool {
    use jetstream::context::CreateStreamErrorKind;
    let no_room = [ErrorCode::INSUFFICIENT_RESOURCES, ErrorCode::STORAGE_RESOURCES_EXCEEDED];
    matches!(error.kind(), CreateStreamErrorKind::JetStream(ref error) if no_room.contains(&error.error_code()))
}

fn is_missing(error: &jetstream::context::GetStreamError) -> bool {
    use jetstream::context::GetStreamErrorKind;
    matches!(error.kind(), GetStreamErrorKind::JetStream(ref error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

fn log_event(event: &Event) {
    match event {
        Event::Connected => tracing::info!("connected to the server of the hosts"),
        Event::Disconnected | Event::Closed => {
            tracing::warn!("the connection to the server of the hosts is lost")
        }
        Event::ServerError(error) => tracing::warn!(%error, "the server of the hosts reported an error"),
        other => tracing::debug!(%other, "the connection to the server of the hosts"),
    }
}

/// What a person can do about a failed connection, after its error. Empty if the error says enough.
fn advice(error: &str) -> &'static str {
    const ADVICE: [(&str, &str); 5] = [
        ("authorization violation", ": check the credentials (--creds, or name and password in the address)"),
        (
            "UnknownIssuer",
            ": `--ca FILE` names the certificates of an authority that the system does not trust",
        ),
        (
            "CaUsedAsEndEntity",
            ": a self-signed certificate does not do; the server needs one that an authority signed",
        ),
        ("InvalidContentType", ": the server seems to work without TLS, whose address begins with nats://"),
        ("invalid scheme", ": an address is nats://HOST:4222 or tls://HOST:4222"),
    ];
    ADVICE.iter().find(|(part, _)| error.contains(part)).map_or("", |(_, advice)| advice)
}

/// The client library does not name a file that is missing, and passes over one without certificates.
fn check_certificates(file: &Path) -> anyhow::Result<()> {
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    if !String::from_utf8_lossy(&text).contains("-----BEGIN CERTIFICATE-----") {
        bail!("{} holds no certificates", file.display());
    }
    Ok(())
}

/// A credentials file holds a token and a seed; a file with only a seed is an nkey.
fn credentials(settings: &HostsSettings) -> anyhow::Result<ConnectOptions> {
    let mut options = ConnectOptions::new();
    if let Some(ca) = &settings.ca {
        check_certificates(ca)?;
        options = options.add_root_certificates(ca.clone());
    }
    let Some(path) = &settings.creds else { return Ok(options) };
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    if text.contains("-----BEGIN") {
        return options
            .credentials(&text)
            .with_context(|| format!("{} holds no credentials", path.display()));
    }
    let seed = text.lines().map(str::trim).find(|line| line.starts_with('S'));
    let seed = seed.with_context(|| format!("{} holds neither credentials nor a seed", path.display()))?;
    Ok(options.nkey(seed.to_owned()))
}

/// Takes name and password from the address, because the client library does not.
fn with_password(options: ConnectOptions, url: &str) -> anyhow::Result<ConnectOptions> {
    let address = url.parse::<ServerAddr>().map_err(|error| {
        let said = error.to_string();
        anyhow!("{} is not an address: {said}{}", without_password(url), advice(&said))
    })?;
    Ok(match (address.username(), address.password()) {
        (Some(user), Some(password)) => {
            options.user_and_password(percent_decoded(user), percent_decoded(password))
        }
        _ => options,
    })
}

/// An address has `%40` for an `@` in a name or a password.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = more.get(..2).filter(|hex| *first == b'%' && hex.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = more.get(if code.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The address without its password, to be shown.
pub fn without_password(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://{host}"),
            None => url.to_owned(),
        },
        None => url.rsplit_once('@').map_or(url, |(_, host)| host).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_may_have_characters_that_an_address_encodes() {
        assert_eq!(percent_decoded("p%40ss%3Aw%2frd"), "p@ss:w/rd");
        for same in ["", "plain", "100%", "%4", "%+5", "%zz"] {
            assert_eq!(percent_decoded(same), same);
        }
    }

    #[test]
    fn a_failed_connection_says_what_to_do_about_it() {
        assert!(advice("IO error: invalid peer certificate: UnknownIssuer").contains("--ca"));
        assert!(advice("authorization violation: nats: authorization violation").contains("--creds"));
        assert_eq!(advice("IO error: Connection refused (os error 111)"), "");
        let error = check_certificates(Path::new("/nowhere/ca.pem")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/ca.pem"), "{error}");
    }

    #[test]
    fn a_password_in_an_address_is_not_shown() {
        assert_eq!(without_password("nats://me:hunter2@n:4222"), "nats://n:4222");
        assert_eq!(without_password("me:hunter2@n"), "n");
        assert_eq!(without_password("nats://n:4222"), "nats://n:4222");
    }
}
