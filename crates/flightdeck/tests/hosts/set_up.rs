//! `flightdeck hosts join`, `leave` and `list`, and a daemon that joined nothing.

use std::fs;

use flightdeck_e2e::testkit::{NatsServer, TestHome};
use serde_json::json;

use crate::fleet::{Host, until};

fn home() -> TestHome {
    TestHome::new(env!("CARGO_BIN_EXE_flightdeck").as_ref(), "fd")
}

#[test]
fn joining_writes_the_settings_keeps_the_old_list_and_says_what_is_shared() {
    let Some(nats) = NatsServer::start() else { return };
    let home = home();
    fs::create_dir_all(home.paths().config.parent().unwrap()).unwrap();
    fs::write(&home.paths().config, "# mine\ndone_minutes = 5\nhosts = [\"box.local\"]\n").unwrap();
    let said =
        home.run(&["hosts", "join", &nats.url(), "--name", "build-1", "--share", "no-payloads"]).success();
    assert!(said.contains("build-1") && said.contains("no prompt, command, path or output"), "{said}");
    assert!(said.contains("when the daemon is started: flightdeck up"), "{said}");
    let config = fs::read_to_string(&home.paths().config).unwrap();
    assert!(config.starts_with("# mine\n") && config.contains("done_minutes = 5"), "{config}");
    assert!(
        config.contains("names = [\"box.local\"]") && config.contains("share = \"no_payloads\""),
        "{config}"
    );
    let again =
        home.run(&["hosts", "join", &nats.url(), "--name", "build-1", "--accept", "nothing"]).success();
    assert!(again.contains("no prompt, command"), "joining again shares no more than before: {again}");
    let again = home.run(&["hosts", "join", &nats.url(), "--name", "build-1", "--json"]).json();
    assert_eq!((&again["share"], &again["accepts"]), (&json!("no_payloads"), &json!([])));
    let daemon = home.daemon();
    let link = until("it is connected", || {
        Some(daemon.get("/api/hosts").json()["link"].clone()).filter(|link| link["connected"] == true)
    });
    assert_eq!((&link["fleet"], &link["hub"]), (&json!("main"), &json!(false)));
    let list = home.run(&["hosts", "list"]).success();
    assert!(list.contains("build-1") && list.contains("this machine"), "{list}");
    drop(daemon);

    let said = home.run(&["hosts", "leave"]).success();
    assert!(said.contains("left") && said.contains("join with --name build-1"), "{said}");
    let config = fs::read_to_string(&home.paths().config).unwrap();
    assert!(!config.contains("nats://") && config.contains("names = [\"box.local\"]"), "{config}");
    assert_eq!(home.daemon().get("/api/hosts").json(), json!({"hosts": [], "link": null}));
}

#[test]
fn joining_the_same_server_again_keeps_what_was_set_for_it() {
    let Some(nats) = NatsServer::start() else { return };
    let Some(other) = NatsServer::start() else { return };
    let home = home();
    let seed = home.path().join("desk.nk");
    fs::write(&seed, format!("{SEED}\n")).unwrap();
    let ca = format!("{}/tests/data/tls/ca.pem", env!("CARGO_MANIFEST_DIR"));
    let seed = seed.display().to_string();
    let first = ["--name", "desk", "--fleet", "team", "--creds", &seed, "--ca", &ca];
    let join = |url: &str, more: &[&str]| home.run(&[&["hosts", "join", url], more].concat()).success();
    let config = || fs::read_to_string(&home.paths().config).unwrap();
    join(&nats.url(), &first);
    let said = join(&nats.url(), &["--share", "no-payloads"]);
    assert!(said.contains("desk joins the fleet team"), "{said}");
    for kept in ["name = \"desk\"", "fleet = \"team\"", "desk.nk\"", "ca.pem\"", "no_payloads"] {
        assert!(config().contains(kept), "{kept}: {}", config());
    }
    // What was given for one server is not sent to another; the machine is the same.
    let said = join(&other.url(), &[]);
    assert!(said.contains("desk joins the fleet main"), "{said}");
    assert!(!config().contains("desk.nk") && !config().contains("ca.pem"), "{}", config());
    assert!(config().contains("no_payloads"), "{}", config());
}

#[test]
fn a_host_that_is_renamed_shares_less_at_once_and_gets_its_name_later() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, hub) =
        (Host::with(&nats, "a", false, "accept = [\"answer\", \"prompt\"]"), Host::hub(&nats, "desk"));
    a.works("s", "shared");
    hub.until_card("s@a", |card| card["last_user_message"] == "shared");
    let said = a.home.run(&[
        "hosts",
        "join",
        &nats.url(),
        "--name",
        "b",
        "--share",
        "no-payloads",
        "--accept",
        "prompt",
    ]);
    let said = said.success();
    assert!(said.contains("started again") && said.contains("within seconds"), "{said}");
    until("the hub knows that it shares less", || {
        hub.sees("a").filter(|row| row["shares_payloads"] == false && row["accepts"] == json!(["prompt"]))
    });
    a.works("s", "private");
    hub.until_card("s@a", |card| card["last_user_message"] == "(not shared)");
    assert!(hub.sees("b").is_none());
    // Sharing more waits for the restart too.
    a.home.run(&["hosts", "join", &nats.url(), "--share", "full"]).success();
    until("the daemon has read the file", || {
        Some(a.home.run(&["status"]).out).filter(|status| status.contains("hosts.name"))
    });
    assert_eq!(hub.sees("a").unwrap()["shares_payloads"], false);
}

#[test]
fn a_daemon_that_runs_joins_changes_and_leaves_without_a_restart() {
    let Some(nats) = NatsServer::start() else { return };
    let hub = Host::hub(&nats, "desk");
    let mut a = Host::stopped(&nats.url(), "a", false, "");
    // The machine has its name already, but has joined no server.
    fs::write(&a.home.paths().config, "[hosts]\nname = \"a\"\n").unwrap();
    a.start();
    a.works("s", "before");
    assert_eq!(a.link(), json!(null));
    let said = a.home.run(&["hosts", "join", &nats.url(), "--name", "a"]).success();
    assert!(said.contains("connects within seconds"), "{said}");
    hub.until_card("s@a", |card| card["owner"]["accepts"] == json!(["answer"]));
    a.home.run(&["hosts", "join", &nats.url(), "--name", "a", "--accept", "nothing"]).success();
    hub.until_card("s@a", |card| card["owner"]["accepts"] == json!([]));
    let said = a.home.run(&["hosts", "leave"]).success();
    assert!(said.contains("a has left"), "{said}");
    assert_eq!(a.link(), json!(null), "it is true when it is said");
    until("the hub knows that it left", || hub.sees("a").filter(|row| row["left"] == true));

    // The file names no host now, but the daemon was started as `a`: nothing waits for a restart.
    let said = a.home.run(&["hosts", "join", &nats.url(), "--name", "a"]).success();
    assert!(said.contains("The daemon that runs connects within seconds"), "{said}");
    until("the hub knows that it is back", || hub.sees("a").filter(|row| row["left"] == false));
    a.home.run(&["hosts", "leave"]).success();
    a.home.run(&["hosts", "join", &nats.url(), "--name", "a"]).success();
    a.until_forwarded();
    hub.until_card("s@a", |card| card["unreachable_since"] == json!(null));
    assert_eq!(hub.sees("a").unwrap()["left"], false);
    a.home.run(&["hosts", "leave"]).success();

    // Under another name it would be shown twice: that waits for a restart, and says so.
    let said = a.home.run(&["hosts", "join", &nats.url(), "--name", "b"]).success();
    assert!(said.contains("started again"), "{said}");
    let status = until("the daemon has read the file", || {
        Some(a.home.run(&["status"]).out).filter(|status| status.contains("hosts.name"))
    });
    assert!(hub.sees("b").is_none() && a.link() == json!(null), "{status}");
    let again =
        a.home.run(&["hosts", "join", &nats.url(), "--name", "b", "--accept", "nothing", "--json"]).json();
    assert_eq!(again["needs_restart"], true, "the daemon has another name than the file");
    // The machine never was a host under the name `b`, so no hub hears that it leaves.
    a.home.run(&["hosts", "leave"]).success();
    a.home.run(&["hosts", "join", &nats.url(), "--name", "a"]).success();
    until("the hub knows that it is back", || hub.sees("a").filter(|row| row["left"] == false));
    assert!(hub.sees("b").is_none());
}

#[test]
fn a_server_that_cannot_be_reached_changes_nothing() {
    let home = home();
    let said = home.run(&["hosts", "join", "nats://127.0.0.1:1"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.err.contains("cannot connect to nats://127.0.0.1:1") && !home.paths().config.exists(),
        "{said:?}"
    );
    let said = home.run(&["up", "--hub", "--no-hooks"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("flightdeck hosts join URL"), "{said:?}");
}

#[test]
fn a_host_under_a_new_name_has_nothing_to_catch_up() {
    let Some(mut nats) = NatsServer::start() else { return };
    let (mut a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.works("s", "go");
    hub.until_card("s@a", |_| true);
    a.until_forwarded();
    // A member stores its position when the connection breaks.
    nats.kill();
    until("the member notices", || (a.link()["connected"] == false).then_some(()));
    nats.run();
    a.until_forwarded();
    a.stop();
    a.home.run(&["hosts", "join", &nats.url(), "--name", "b"]).success();
    a.start();
    let row =
        until("the hub hears the new name", || hub.sees("b").filter(|row| row["version"] != json!(null)));
    assert_eq!(row["backlog"], 0, "its events are on the server under the old name: {row}");
    a.works("s", "go on");
    hub.until_card("s@b", |card| card["last_user_message"] == "go on");
}

#[test]
fn a_member_is_told_that_a_hub_creates_the_streams() {
    let home = home();
    let printed = home.run(&["hosts", "nats-config", "--hub", "desk", "--host", "a"]).success();
    let config =
        printed[printed.find("authorization").unwrap()..].replace("FILL IN: a long random text", "secret");
    let Some(nats) = NatsServer::with_config(&config) else { return };
    let url = format!("nats://a:secret@127.0.0.1:{}", nats.port());
    let said = home.run(&["hosts", "join", &url, "--name", "a"]);
    assert!(said.code == 1 && said.err.contains("the fleet main has no streams"), "{said:?}");
    assert!(said.err.contains("join on a hub first") && !said.err.contains("timed out"), "{said:?}");
}

#[test]
fn a_seed_or_a_second_entry_does_not_get_into_the_configuration_of_the_server() {
    let config = |args: &[&str]| home().run(&[&["hosts", "nats-config"], args].concat());
    let seed = format!("desk={SEED}");
    let said = config(&["--hub", &seed]);
    assert!(said.code == 1 && said.out.is_empty() && said.err.contains("public part"), "{said:?}");
    assert!(!said.err.contains(SEED), "{said:?}");
    let said = config(&["--hub", "desk", "--host", "a", "--host", "desk"]);
    assert!(said.code == 1 && said.err.contains("desk is named twice"), "{said:?}");
}

#[test]
fn a_host_that_leaves_is_not_called_unreachable() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.works("s", "go");
    hub.until_card("s@a", |_| true);
    a.stop();
    a.home.run(&["hosts", "leave"]).success();
    until("the hub knows that it left", || hub.sees("a").filter(|row| row["left"] == true));
    hub.until_card("s@a", |card| card["unreachable_since"] != json!(null));
}

/// A key pair from the documentation of NATS. It is public, so it protects nothing.
const PUBLIC_KEY: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
const SEED: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";

#[test]
fn a_host_trusts_the_authority_it_was_given_and_proves_with_its_nkey_who_it_is() {
    let home = home();
    let user = format!("desk={PUBLIC_KEY}");
    let printed = home.run(&["hosts", "nats-config", "--tls", "--hub", &user]).success();
    let data = |file: &str| format!("{}/tests/data/tls/{file}", env!("CARGO_MANIFEST_DIR"));
    let config = printed[printed.find("tls {").unwrap()..]
        .replace("/etc/nats/server.pem", &data("server.pem"))
        .replace("/etc/nats/server-key.pem", &data("server.key"));
    let Some(nats) = NatsServer::with_config(&config) else { return };
    let seed = home.path().join("desk.nk");
    fs::write(&seed, format!("{SEED}\n")).unwrap();
    let url = format!("tls://localhost:{}", nats.port());
    let (ca, seed) = (data("ca.pem"), seed.display().to_string());
    let join = |more: &[&str]| home.run(&[&["hosts", "join", &url, "--name", "desk"], more].concat());
    let refused = join(&["--creds", &seed]);
    assert!(refused.code == 1 && refused.err.contains("UnknownIssuer: `--ca FILE`"), "{refused:?}");
    let refused = join(&["--ca", &seed]);
    assert!(refused.code == 1 && refused.err.contains("desk.nk holds no certificates"), "{refused:?}");
    let refused = join(&["--ca", &ca]);
    assert!(refused.code == 1 && refused.err.contains("check the credentials"), "{refused:?}");
    join(&["--ca", &ca, "--creds", &seed]).success();
    let hub = home.up(&["--no-hooks", "--hub"]);
    until("it is connected", || (hub.get("/api/hosts").json()["link"]["connected"] == true).then_some(()));
}
