//! A member whose network is gone without a word, in a network namespace of its own, while a permission is held there.

use std::net::Ipv4Addr;
use std::process::Command;

use flightdeck_e2e::testkit::NatsServer;
use serde_json::{Map, Value, json};

use crate::fleet::{Host, PATIENCE, assert_same_log, until};

/// Prompts on the member while it is cut off.
const MEANWHILE: usize = 20;

/// A namespace that a cable joins to this machine. Both are removed when it is dropped.
struct Namespace {
    name: String,
    cable: String,
    here: Ipv4Addr,
}

fn ip(args: &str) -> bool {
    Command::new("ip").args(args.split(' ')).output().is_ok_and(|output| output.status.success())
}

impl Namespace {
    /// `None` if this machine does not let us make one.
    fn make() -> Option<Self> {
        let pid = std::process::id();
        let net = |host| Ipv4Addr::new(10, 213, (pid % 251) as u8, host);
        let (here, there) = (net(1), net(2));
        let (name, cable) = (format!("fd-{pid}"), format!("fda{pid}"));
        if !ip(&format!("netns add {name}")) {
            return None;
        }
        let made = Self { name: name.clone(), cable: cable.clone(), here };
        let steps = [
            format!("link add {cable} type veth peer name fdb{pid} netns {name}"),
            format!("addr add {here}/24 dev {cable}"),
            format!("link set {cable} up"),
            format!("-n {name} addr add {there}/24 dev fdb{pid}"),
            format!("-n {name} link set fdb{pid} up"),
            format!("-n {name} link set lo up"),
        ];
        steps.iter().all(|step| ip(step)).then_some(made)
    }

    fn disconnect(&self) {
        assert!(ip(&format!("link set {} down", self.cable)));
    }

    fn mend(&self) {
        assert!(ip(&format!("link set {} up", self.cable)));
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The cable goes with the namespace; either may be missing.
        ip(&format!("link del {}", self.cable));
        ip(&format!("netns del {}", self.name));
    }
}

/// Starts the member inside. Only its socket can be reached from here.
fn start_inside(host: &mut Host, namespace: &Namespace) {
    let up = host.home.flightdeck(&["up", "--port", "0", "--no-hooks"]);
    let mut inside = host.home.bare("/usr/bin/env".as_ref());
    inside.arg("PATH=/usr/sbin:/usr/bin:/sbin:/bin").args(["ip", "netns", "exec", &namespace.name]);
    inside.arg(up.get_program()).args(up.get_args());
    inside.env("FLIGHTDECK_HOME", host.home.flightdeck_home());
    host.daemon = Some(host.home.start(inside).with_timeout(PATIENCE));
}

fn link(host: &Host) -> Value {
    host.home.socket().ask(&json!({"cmd": "hosts.list", "args": {}}))["data"]["link"].clone()
}

fn hook(host: &Host, name: &str, more: &Value) -> (flightdeck_e2e::testkit::SocketClient, Value) {
    let mut payload = json!({"session_id": "s", "hook_event_name": name, "cwd": "/work/api"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut socket = host.home.socket();
    let reply = socket.hook(payload.as_object().unwrap(), &Map::new());
    (socket, reply)
}

#[test]
fn a_member_that_is_cut_off_while_a_permission_is_held_is_marked_and_comes_back_whole() {
    let Some(namespace) = Namespace::make() else {
        println!("skipped: making a network namespace needs root and `ip`");
        return;
    };
    let Some(mut nats) = NatsServer::stopped(namespace.here) else { return };
    nats.run();
    let mut far = Host::stopped(&nats.url(), "far", false, "");
    start_inside(&mut far, &namespace);
    let mut hub = Host::hub(&nats, "desk");
    let call = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}});
    hook(&far, "UserPromptSubmit", &json!({"prompt": "go"}));
    hook(&far, "PreToolUse", &call);
    let (mut held, first) = hook(&far, "PermissionRequest", &call);
    assert!(first["data"]["hold_ms"].as_u64().unwrap() > 0, "{first}");
    let asking = hub.until_card("s@far", |card| card["asks"][0]["answerable"] == true);
    let ask = asking["asks"][0]["id"].as_str().unwrap().to_owned();

    namespace.disconnect();
    let said = hub.daemon().post(&format!("/api/asks/{ask}/answer"), r#"{"decision": "allow"}"#);
    let message = said.json()["message"].as_str().unwrap().to_owned();
    assert!(said.status == 503 && message.starts_with("far did not reply"), "{} {message}", said.status);

    // The person answers where the client is, and works on.
    let answer =
        json!({"cmd": "answer", "args": {"ask_id": ask, "answer": {"decision": "deny", "message": "no"}}});
    assert_eq!(far.home.socket().ask(&answer)["data"]["how"], "denied");
    assert_eq!(held.line().unwrap()["data"]["verdict"]["hookSpecificOutput"]["decision"]["behavior"], "deny");
    for n in 0..MEANWHILE {
        hook(&far, "UserPromptSubmit", &json!({"prompt": format!("meanwhile {n}")}));
    }
    let own = until("the member knows that it is cut off", || {
        Some(link(&far)).filter(|link| link["connected"] == false)
    });
    assert!(own["backlog"].as_u64().unwrap() >= MEANWHILE as u64 && own["problem"].is_string(), "{own}");
    let silent = hub.until_card("s@far", |card| card["unreachable_since"] != json!(null));
    assert_eq!(silent["agent_state"]["state"], "needs_permission", "silence is not an answer");

    namespace.mend();
    let back =
        hub.until_card("s@far", |card| card["last_user_message"] == format!("meanwhile {}", MEANWHILE - 1));
    assert_eq!(back["agent_state"]["state"], "thinking");
    hub.until_card("s@far", |card| card["unreachable_since"] == json!(null));
    until("everything is forwarded", || {
        let link = link(&far);
        (link["connected"] == true && link["backlog"] == 0).then_some(())
    });
    let events = hub.daemon().get("/api/sessions/s@far/events?payload=1").json();
    let answers: Vec<_> =
        events["events"].as_array().unwrap().iter().filter(|e| e["name"] == "answered").collect();
    assert_eq!(answers.len(), 1, "only the answer that was given there: {answers:?}");
    far.stop();
    hub.stop();
    assert_same_log(&far, &hub);
}
