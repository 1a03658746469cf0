//! Two machines with one name, and a machine that begins again under its name.

use flightdeck_e2e::testkit::NatsServer;

use crate::fleet::{Host, essence, on_the_server, until};

fn is_refused(host: &Host) {
    until("the host says that its name is taken", || {
        let link = host.link();
        let problem = link["problem"].as_str().unwrap_or_default();
        (link["connected"] == false && problem.starts_with("another machine also sends as a")).then_some(())
    });
}

#[test]
fn of_two_machines_with_one_name_the_second_is_refused_until_the_first_is_silent() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut first, mut hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    first.works("s", "of the first");
    first.until_forwarded();
    let mut second = Host::member(&nats, "a");
    second.works("t", "of the second");
    is_refused(&second);
    first.works("s", "the first goes on");
    hub.until_card("s@a", |card| card["last_user_message"] == "the first goes on");
    first.until_forwarded();
    assert!(hub.daemon().board().iter().all(|card| card["id"] != "t@a"));

    first.kill();
    hub.until_card("t@a", |card| card["last_user_message"] == "of the second");
    first.start();
    first.works("s", "while the second has the name");
    is_refused(&first);
    second.works("t", "the second goes on");
    hub.until_card("t@a", |card| card["last_user_message"] == "the second goes on");
    second.until_forwarded();
    second.stop();
    hub.until_card("s@a", |card| card["last_user_message"] == "while the second has the name");
    first.until_forwarded();
    assert_eq!(hub.sees("a").unwrap()["refused"], 0);

    first.stop();
    hub.stop();
    let there = hub.log();
    let there = essence(&there["a"]);
    for machine in [&first, &second] {
        let own = essence(&machine.log()[""]);
        let ids: Vec<_> = own.iter().map(|record| &record.0).collect();
        let received: Vec<_> = there.iter().filter(|record| ids.contains(&&record.0)).cloned().collect();
        assert_eq!(received, own, "each event once and in order");
    }
}

#[test]
fn a_host_that_begins_again_after_its_messages_were_removed_is_taken() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut old, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    for n in 0..5 {
        old.works("s", &n.to_string());
    }
    old.until_forwarded();
    hub.until_card("s@a", |card| card["last_user_message"] == "4");
    old.stop();
    on_the_server(&nats.url(), async |js| {
        let stream = js.get_stream("FLIGHTDECK_main_LOG").await.unwrap();
        stream.purge().filter("flightdeck.main.a.log").await.unwrap();
    });
    let new = Host::member(&nats, "a");
    new.works("t", "of the new machine");
    hub.until_card("t@a", |card| card["last_user_message"] == "of the new machine");
    assert_eq!(hub.sees("a").unwrap()["refused"], 0);
}
