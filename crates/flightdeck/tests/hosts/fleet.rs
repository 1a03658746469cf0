//! The hosts of a test: a home and a daemon each, on one server.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use flightdeck::store::Store;
use flightdeck_core::log::record::Record;
use flightdeck_e2e::testkit::{NatsServer, SocketClient, TestDaemon, TestHome, until_within};
use serde_json::{Map, Value, json};

/// Longer than a loaded machine takes for any step of these tests, and than a request to a host that does not reply.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `look` finds something.
#[track_caller]
pub(crate) fn until<T>(fact: &str, look: impl FnMut() -> Option<T>) -> T {
    until_within(PATIENCE, fact, look)
}

/// A host with its home. The daemon can be stopped and started again.
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) home: TestHome,
    hub: bool,
    pub(crate) daemon: Option<TestDaemon>,
}

impl Host {
    /// `more` is added to `[hosts]`.
    pub(crate) fn with(nats: &NatsServer, name: &str, hub: bool, more: &str) -> Self {
        let host = Self::stopped(&nats.url(), name, hub, more);
        host.started()
    }

    pub(crate) fn stopped(url: &str, name: &str, hub: bool, more: &str) -> Self {
        let home = TestHome::new(env!("CARGO_BIN_EXE_flightdeck").as_ref(), "fd");
        fs::create_dir_all(home.paths().config.parent().unwrap()).unwrap();
        let config = format!("[hosts]\nurl = {url:?}\nname = {name:?}\n{more}\n");
        fs::write(&home.paths().config, config).unwrap();
        Self { name: name.to_owned(), home, hub, daemon: None }
    }

    pub(crate) fn started(mut self) -> Self {
        self.start();
        self
    }

    pub(crate) fn member(nats: &NatsServer, name: &str) -> Self {
        Self::with(nats, name, false, "")
    }

    pub(crate) fn hub(nats: &NatsServer, name: &str) -> Self {
        Self::with(nats, name, true, "")
    }

    pub(crate) fn start(&mut self) {
        let args: &[&str] = if self.hub { &["--no-hooks", "--hub"] } else { &["--no-hooks"] };
        self.daemon = Some(self.home.up(args).with_timeout(PATIENCE));
    }

    pub(crate) fn daemon(&self) -> &TestDaemon {
        self.daemon.as_ref().unwrap()
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.daemon.take().unwrap().kill();
    }

    pub(crate) fn stop(&mut self) {
        assert!(self.daemon.take().unwrap().stop().success());
    }

    pub(crate) fn post(&self, payload: &Value) {
        let reply = self.daemon().post("/api/live/hook", &payload.to_string());
        assert_eq!(reply.status, 204, "{}", reply.text());
    }

    /// A session that works on a prompt.
    pub(crate) fn works(&self, session: &str, prompt: &str) {
        self.post(&json!({"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": "/work/api"}));
        self.post(&json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt, "cwd": "/work/api"}));
    }

    /// A permission request that is held, and its id.
    pub(crate) fn asks(&self, session: &str, command: &str) -> (SocketClient, String) {
        self.works(session, "go");
        let call = |name: &str| {
            json!({"session_id": session, "hook_event_name": name, "tool_name": "Bash", "tool_use_id": "t1",
                "tool_input": {"command": command}})
        };
        self.post(&call("PreToolUse"));
        let mut hook = self.home.socket();
        let first = hook.hook(call("PermissionRequest").as_object().unwrap(), &Map::new());
        assert!(first["data"]["hold_ms"].as_u64().unwrap() > 0, "{first}");
        let asks = self.daemon().card(session)["asks"].clone();
        (hook, asks[0]["id"].as_str().unwrap().to_owned())
    }

    /// Waits for a card on the board of this host for which `fits` holds.
    #[track_caller]
    pub(crate) fn until_card(&self, id: &str, fits: impl Fn(&Value) -> bool) -> Value {
        until(&format!("{id} is on the board of {} as expected", self.name), || {
            self.daemon().board().into_iter().find(|card| card["id"] == id && fits(card))
        })
    }

    /// The hosts view's row of a host.
    pub(crate) fn sees(&self, host: &str) -> Option<Value> {
        let list = self.daemon().get("/api/hosts").json();
        list["hosts"].as_array()?.iter().find(|card| card["name"] == host).cloned()
    }

    pub(crate) fn link(&self) -> Value {
        self.daemon().get("/api/hosts").json()["link"].clone()
    }

    /// Waits until the server has everything that this host stored.
    #[track_caller]
    pub(crate) fn until_forwarded(&self) {
        until(&format!("the log of {} is forwarded", self.name), || {
            let link = self.link();
            (link["connected"] == true && link["backlog"] == 0).then_some(())
        });
    }

    /// Every record of the database, by the host that it is from. The daemon must have ended.
    pub(crate) fn log(&self) -> BTreeMap<String, Vec<Record>> {
        assert!(self.daemon.is_none());
        let database = self.home.paths().database();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let store = Store::open(&database).unwrap().store;
            let mut by_host = BTreeMap::<String, Vec<Record>>::new();
            let mut replay = store.replay(0).await.unwrap();
            while let Some(page) = replay.next().await.unwrap() {
                assert_eq!(page.unreadable, 0);
                page.records.into_iter().for_each(|r| by_host.entry(r.host.to_string()).or_default().push(r));
            }
            store.close().await.unwrap();
            by_host
        })
    }
}

/// Lets `work` use the server as a client of its own.
pub(crate) fn on_the_server<T>(url: &str, work: impl AsyncFnOnce(async_nats::jetstream::Context) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime
        .block_on(async { work(async_nats::jetstream::new(async_nats::connect(url).await.unwrap())).await })
}

/// What must be equal on the owner and on a hub, in the order of the log.
pub(crate) fn essence(records: &[Record]) -> Vec<(String, String, String, Value)> {
    let of = |r: &Record| {
        let session = r.session_id().map(|id| id.split('@').next().unwrap().to_owned()).unwrap_or_default();
        (r.id.to_string(), r.name.clone(), session, Value::Object(r.payload.clone()))
    };
    records.iter().map(of).collect()
}

/// Both daemons must have ended: the hub has the owner's records, each once and in order.
#[track_caller]
pub(crate) fn assert_same_log(owner: &Host, hub: &Host) {
    let (own, there) = (owner.log(), hub.log());
    let (own, there) = (essence(&own[""]), there.get(&owner.name).map(|r| essence(r)).unwrap_or_default());
    assert_eq!(own.len(), there.len(), "{} has another number of records than {}", owner.name, hub.name);
    for (at, (own, there)) in own.iter().zip(&there).enumerate() {
        assert_eq!(own, there, "record {at}");
    }
}
