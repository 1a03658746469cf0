//! What travels between hosts, as JSON.

use flightdeck_core::ids::{AgentId, HostId, SessionId};
use flightdeck_core::log::record::{Envelope, EventId, Record, Source, Verbatim};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::usage::enrichment::Enrichment;
use flightdeck_core::usage::session_files::SessionFiles;
use flightdeck_protocol::ErrorReply;
use flightdeck_protocol::hosts::HostKind;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::settings::{RemoteAction, Share};

/// One record of a host's log. Its first fields are a [`LogHead`]; they are listed, because `flatten` would read every message twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogMessage {
    pub host: HostId,
    pub n: u64,
    pub log: String,
    pub seq: u64,
    pub id: String,
    /// Milliseconds since 1970, by the sender's clock.
    pub fired_at: i64,
    pub received_at: i64,
    pub source: Source,
    pub name: String,
    pub subject: Subject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    pub envelope: Envelope,
    pub payload: Map<String, Value>,
}

/// Where a record belongs. The sender reads it back to find out how far it got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHead {
    /// The sender. A hub compares it with the subject, which the server checks.
    pub host: HostId,
    /// Counts the messages of this host from 1, without a gap.
    pub n: u64,
    /// Names the database that the record is from: after a loss of it, `seq` begins again.
    pub log: String,
    /// The place of the record in that database.
    pub seq: u64,
}

impl LogMessage {
    pub fn new(head: LogHead, record: Record) -> Self {
        let LogHead { host, n, log, seq } = head;
        Self {
            host,
            n,
            log,
            seq,
            id: record.id.to_string(),
            fired_at: record.fired_at.as_millis(),
            received_at: record.received_at.as_millis(),
            source: record.source,
            name: record.name,
            subject: record.subject,
            agent_id: record.agent_id,
            envelope: record.envelope,
            payload: record.payload,
        }
    }

    /// The record as a hub stores it: of that host, at `fired_at` by the hub's clock. `None` if the id cannot be read.
    pub fn into_record(self, host: &HostId, fired_at: Timestamp, ahead: Millis) -> Option<Record> {
        let clock_ahead_ms = (ahead.0 != 0).then_some(ahead.0);
        Some(Record {
            seq: 0,
            id: EventId::parse(&self.id)?,
            fired_at,
            received_at: Timestamp::default(),
            source: self.source,
            name: self.name,
            host: host.clone(),
            subject: on_host(self.subject, host),
            agent_id: self.agent_id,
            payload: self.payload,
            verbatim: Verbatim::default(),
            envelope: Envelope { clock_ahead_ms, ..self.envelope },
        })
    }
}

/// Equal ids on two hosts are different things.
fn on_host(subject: Subject, host: &HostId) -> Subject {
    match subject {
        Subject::Session(id) => Subject::Session(id.on_host(host)),
        Subject::Seat(id) => Subject::Seat(format!("{id}@{host}").into()),
        Subject::Effort(id) => Subject::Effort(format!("{id}@{host}").into()),
        Subject::Host(_) | Subject::None => Subject::Host(host.clone()),
    }
}

/// A sign of life of a host, and what the hosts view shows about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPresence {
    /// The sender's clock when it was sent, in milliseconds since 1970.
    pub at: i64,
    pub version: String,
    pub kind: HostKind,
    /// Events that the server does not have yet.
    pub backlog: u64,
    /// The number of the last message that the server has.
    pub forwarded: u64,
    /// Messages up to this number were forwarded, but are not under this name on the server: they are too old, or the host had another
    /// name. No hub can read them.
    #[serde(default)]
    pub forgotten: u64,
    pub share: Share,
    pub accept: Vec<RemoteAction>,
    pub hub: bool,
    /// The database whose log the host forwards. Earlier versions do not send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// The host has left the fleet on purpose.
    #[serde(default)]
    pub left: bool,
}

/// The latest numbers of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryMessage {
    pub session_id: SessionId,
    pub known: Enrichment,
    pub files: SessionFiles,
}

/// A request of a person on a hub.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteRequest {
    /// The name of a socket command.
    pub command: String,
    pub arguments: Value,
    /// The hub.
    pub from: HostId,
    /// The person who runs the hub.
    pub by: String,
}

/// What the owner did.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteReply {
    /// The reply, encoded once.
    Done(Box<RawValue>),
    Refused(ErrorReply),
}
