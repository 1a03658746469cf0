//! Applies changed settings while the daemon runs. `flightdeck status` names the settings that need a restart.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use crate::app::App;
use crate::config::Config;
use crate::engine::Refolded;
use crate::transport::gate::Gate;

/// How often the file is checked.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long until settings that could not be applied are tried again: a full disk stays full for a while.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// Brings the parts of a running daemon to the settings of the file.
#[derive(Debug)]
pub struct LiveSettings {
    app: App,
    gate: Arc<Gate>,
    applied: Arc<Config>,
}

impl LiveSettings {
    /// Starts from the settings that `app` was started with.
    pub fn new(app: App, gate: Arc<Gate>) -> Self {
        let applied = app.config.started_with();
        Self { app, gate, applied }
    }

    /// Checks the file until the daemon stops.
    pub async fn watch(mut self) {
        loop {
            let wait = match self.apply_changes().await {
                Ok(()) => LOOK_EVERY,
                Err(error) => {
                    tracing::warn!("could not apply changed settings; the daemon tries again: {error:#}");
                    RETRY_AFTER
                }
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// Applies what differs from the settings that were applied last.
    pub async fn apply_changes(&mut self) -> anyhow::Result<()> {
        let (old, new) = (Arc::clone(&self.applied), self.app.config.read_now());
        if old == new {
            return Ok(());
        }
        if old.hosts.names != new.hosts.names {
            self.gate.accept_hosts(&new.hosts.names);
        }
        self.apply_membership(&old, &new);
        if old.keep != new.keep {
            self.app.engine.set_retention(new.retention()).await?;
        }
        if old.prices != new.prices {
            self.app.prices.send_replace(Arc::new(new.prices()?));
        }
        self.apply_holds(&old, &new).await?;
        self.apply_rules(&old, &new).await?;
        self.applied = new;
        Ok(())
    }

    /// A changed name applies only after a restart, because the cards of this machine carry it. Until then the membership stays too:
    /// under the old name the hubs would show this machine twice. Only sharing and accepting less does not wait.
    fn apply_membership(&self, old: &Config, new: &Config) {
        if old.hosts.same_membership(&new.hosts) {
            return;
        }
        let leaves = new.hosts.url.is_none();
        let same_name = self.app.config.started_with().hosts.name == new.hosts.name;
        match leaves || same_name {
            true => self.app.hosts.change_settings(new.hosts.clone()),
            false => {
                let running = self.app.hosts.settings();
                self.app.hosts.change_settings(running.restricted_by(&new.hosts));
            }
        }
    }

    /// The waiting time and whether forms are held are part of the registered hooks.
    async fn apply_holds(&self, old: &Config, new: &Config) -> anyhow::Result<()> {
        let holds = |config: &Config| (config.hold_seconds(), config.hold_elicitation);
        if holds(old) == holds(new) {
            return Ok(());
        }
        let (registrar, (seconds, forms)) = (Arc::clone(&self.app.registrar), holds(new));
        let seconds = tokio::task::spawn_blocking(move || registrar.change_holds(seconds, forms)).await??;
        self.app.set_hold_rules(new.hold_rules(seconds));
        Ok(())
    }

    /// The fold depends on the rules, so the log is replayed with the new ones: the board is then the same as after a restart.
    async fn apply_rules(&self, old: &Config, new: &Config) -> anyhow::Result<()> {
        let host = self.app.host.as_deref().map(str::to_owned);
        let settings = new.fold_settings(host.clone());
        if old.fold_settings(host) == settings {
            return Ok(());
        }
        let refolded = Refolded::from_log(&self.app.store, settings, self.app.prices_now()).await;
        let refolded = refolded.context("the log could not be replayed with the changed rules")?;
        self.app.engine.take_over(refolded).await??;
        tracing::info!("the log was replayed with the changed rules");
        Ok(())
    }
}
