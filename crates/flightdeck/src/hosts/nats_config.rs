//! `flightdeck hosts nats-config`: a minimal configuration of the server, in which each host may publish on its own subjects only.

use flightdeck_core::ids::HostId;

use super::link::LOG_BYTES_MAX;
use super::subjects::{Subjects, every_host};

/// A host as a user of the server.
#[derive(Clone, Debug)]
pub struct ConfigUser {
    pub host: HostId,
    /// The public part of its nkey. If `None`, the configuration has a placeholder for a password.
    pub nkey: Option<String>,
    /// Whether the host is a hub: it reads the other hosts and creates the streams.
    pub hub: bool,
}

/// Length of the public part of an nkey.
const NKEY_CHARS: usize = 56;

/// Checks what a person gave as the public part of an nkey. Its seed must not get into the configuration.
pub fn check_nkey(key: &str) -> Result<(), String> {
    if key.starts_with('S') {
        return Err(
            "this is the seed of a key (SU…), which stays on the host: give its public part (U…)".to_owned()
        );
    }
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    if !key.starts_with('U') || key.len() != NKEY_CHARS || !key.chars().all(fits) {
        // The text is not repeated, because it may be a seed in another spelling.
        return Err(format!(
            "this is not the public part of a user's key: U and {} capital letters and digits",
            NKEY_CHARS - 1
        ));
    }
    Ok(())
}

/// The configuration as text.
pub fn server_config(fleet: &str, users: &[ConfigUser], tls: bool) -> String {
    let subjects = Subjects::new(fleet);
    let mut text = format!(
        "# A NATS server for the Flightdeck hosts of the fleet `{fleet}`, written by `flightdeck hosts nats-config`.\n\
         # Start it with: nats-server -c THIS_FILE\n\
         port: 4222\n\
         # Hooks with a large output are clipped to this size; the whole stays on its host.\n\
         max_payload: 1MB\n\
         jetstream {{\n  store_dir: \"/var/lib/nats\"\n  # The log takes at most {log_gb} GB of this; then its oldest events are removed.\n  \
           max_file_store: 10GB\n}}\n",
        log_gb = LOG_BYTES_MAX >> 30
    );
    if tls {
        text += "tls {\n  cert_file: \"/etc/nats/server.pem\"\n  key_file: \"/etc/nats/server-key.pem\"\n}\n";
    }
    text += "authorization {\n  users: [\n";
    text.extend(users.iter().map(|user| entry(user, &subjects)));
    text + "  ]\n}\n"
}

fn entry(user: &ConfigUser, subjects: &Subjects) -> String {
    let identity = match &user.nkey {
        Some(nkey) => format!("nkey: {nkey}"),
        None => format!("user: \"{}\", password: \"FILL IN: a long random text\"", user.host),
    };
    let (publish, subscribe) = permissions(user, subjects);
    let list = |subjects: &[String]| {
        let lines: Vec<String> = subjects.iter().map(|subject| format!("\n          {subject:?}")).collect();
        lines.join(",")
    };
    let what = if user.hub { "a hub: reads every host, acts where a host accepts it" } else { "a member" };
    format!(
        "    # {host}: {what}\n    {{ {identity}\n      permissions: {{\n        publish: {{ allow: [{}\n        ] }}\n        \
         subscribe: {{ allow: [{}\n        ] }}\n        # Replies to the requests of hubs.\n        allow_responses: {{ max: 256, expires: \"1m\" }}\n      }}\n    }}\n",
        list(&publish),
        list(&subscribe),
        host = user.host,
    )
}

/// What a host may publish and subscribe to.
fn permissions(user: &ConfigUser, subjects: &Subjects) -> (Vec<String>, Vec<String>) {
    let host = &user.host;
    let (log, latest) = (subjects.log_stream(), subjects.latest_stream());
    let mut publish = vec![
        subjects.log(host),
        subjects.presence(host),
        subjects.summaries(host),
        format!("$JS.API.STREAM.INFO.{log}"),
        format!("$JS.API.STREAM.INFO.{latest}"),
        // A member may read only the last message of its own log.
        format!("$JS.API.DIRECT.GET.{log}.{}", subjects.log(host)),
        // And the last presence under its own name: if another machine sent it, the name is taken.
        format!("$JS.API.DIRECT.GET.{latest}.{}", subjects.presence(host)),
    ];
    if user.hub {
        publish.push(subjects.requests(&every_host()));
        for stream in [&log, &latest] {
            publish.push(format!("$JS.API.STREAM.CREATE.{stream}"));
            publish.push(format!("$JS.API.CONSUMER.CREATE.{stream}"));
            publish.push(format!("$JS.API.CONSUMER.CREATE.{stream}.>"));
            publish.push(format!("$JS.API.CONSUMER.DELETE.{stream}.*"));
            publish.push(format!("$JS.API.CONSUMER.INFO.{stream}.*"));
            publish.push(format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.*"));
        }
    }
    (publish, vec![format!("{}.>", subjects.inbox(host)), subjects.requests(host)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_no_public_key() {
        check_nkey(&format!("U{}", "A".repeat(55))).unwrap();
        let seed = check_nkey(&format!("SU{}", "A".repeat(56))).unwrap_err();
        assert!(seed.contains("stays on the host") && !seed.contains("AAAA"), "{seed}");
        for wrong in ["", "U", "UABC", &format!("A{}", "A".repeat(55)), &format!("U{}", "a".repeat(55))] {
            check_nkey(wrong).unwrap_err();
        }
    }

    #[test]
    fn a_member_may_publish_under_its_own_name_only() {
        let user = |hub| ConfigUser { host: "build-1".into(), nkey: None, hub };
        let (publish, subscribe) = permissions(&user(false), &Subjects::new("main"));
        assert!(publish.iter().filter(|s| s.starts_with("flightdeck.")).all(|s| s.contains(".build-1.")));
        assert!(subscribe.iter().all(|s| s.contains("build-1")), "{subscribe:?}");
        assert!(!publish.iter().any(|s| s.contains("CREATE") || s.contains("MSG.NEXT")));
        let (hub, _) = permissions(&user(true), &Subjects::new("main"));
        assert!(hub.contains(&"flightdeck.main.*.ask".to_owned()));
        assert!(!hub.iter().any(|s| s.ends_with("*.log")), "a hub forges no log");
    }
}
