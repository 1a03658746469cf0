//! Writes `[hosts]` into `config.toml`, or removes the membership from it. Comments, order and all other settings stay.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::Context;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::Config;
use super::add_rule::replace;
use crate::hosts::settings::{HostsSettings, Share};

/// The keys that make this machine a member.
const MEMBERSHIP: [&str; 7] = ["url", "name", "fleet", "creds", "ca", "accept", "share"];

/// Writes the membership. If `hosts` is a list of accepted names, as in earlier versions, it becomes `names` in the table.
pub fn join(path: &Path, settings: &HostsSettings) -> anyhow::Result<()> {
    change(path, |hosts| {
        MEMBERSHIP.iter().for_each(|key| drop(hosts.remove(key)));
        let text = |text: &str| Some(value(text));
        let file = |path: &Option<std::path::PathBuf>| {
            path.as_ref().and_then(|path| text(&path.display().to_string()))
        };
        let accept = settings.accept.as_ref().map(|list| list.iter().map(|a| a.as_str()).collect::<Array>());
        let entries = [
            ("url", settings.url.as_deref().and_then(text)),
            ("name", settings.name.as_deref().and_then(text)),
            ("fleet", settings.fleet.as_deref().and_then(text)),
            ("creds", file(&settings.creds)),
            ("ca", file(&settings.ca)),
            ("accept", accept.map(value)),
            ("share", (settings.share == Share::NoPayloads).then(|| value("no_payloads"))),
        ];
        for (key, entry) in entries.into_iter().filter_map(|(key, entry)| Some((key, entry?))) {
            hosts.insert(key, entry);
        }
    })
}

/// Removes the membership. The accepted names stay.
pub fn remove_membership(path: &Path) -> anyhow::Result<()> {
    change(path, |hosts| MEMBERSHIP.iter().for_each(|key| drop(hosts.remove(key))))
}

fn change(path: &Path, edit: impl FnOnce(&mut dyn TableLike)) -> anyhow::Result<()> {
    let name = path.display();
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {name}")),
    };
    let mut document: DocumentMut =
        before.parse().with_context(|| format!("{name} has a mistake; correct it first"))?;
    if let Some(names) = document.get("hosts").and_then(Item::as_array).cloned() {
        // A comment above the list stays above the table.
        let comment =
            document.key("hosts").and_then(|key| key.leaf_decor().prefix()?.as_str()).unwrap_or_default();
        let mut table = Table::new();
        table.decor_mut().set_prefix(format!("\n{comment}"));
        document.remove("hosts");
        table.insert("names", value(names));
        document.insert("hosts", Item::Table(table));
    }
    let hosts = document.entry("hosts").or_insert(Item::Table(Table::new()));
    let hosts = hosts.as_table_like_mut().with_context(|| format!("`hosts` in {name} is not a table"))?;
    edit(hosts);
    if hosts.is_empty() {
        document.remove("hosts");
    }
    let after = document.to_string();
    toml::from_str::<Config>(&after)
        .with_context(|| format!("{name} would have a mistake; it stays as it was"))?;
    replace(path, &after).with_context(|| format!("cannot write {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::settings::RemoteAction;

    #[test]
    fn joining_and_leaving_keep_the_accepted_names_and_the_comments() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, "# mine\nport = 1\n# behind a proxy\nhosts = [\"box.local\"]\n[keep]\ndays = 2\n")
            .unwrap();
        let joined = HostsSettings {
            url: Some("nats://n:4222".into()),
            name: Some("build-1".into()),
            accept: Some(vec![RemoteAction::Answer, RemoteAction::Focus]),
            share: Share::NoPayloads,
            ..HostsSettings::default()
        };
        join(&path, &joined).unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("# behind a proxy\n[hosts]\n"));
        let config = Config::read(&path).unwrap();
        assert_eq!(config.hosts, HostsSettings { names: vec!["box.local".into()], ..joined });
        assert_eq!((config.port, config.keep.days), (Some(1), Some(2)));
        remove_membership(&path).unwrap();
        let left = fs::read_to_string(&path).unwrap();
        assert!(left.starts_with("# mine\n") && !left.contains("nats://"), "{left}");
        let names = HostsSettings { names: vec!["box.local".into()], ..HostsSettings::default() };
        assert_eq!(Config::read(&path).unwrap().hosts, names);
    }

    #[test]
    fn a_file_that_has_a_mistake_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, "port = = 1\n").unwrap();
        let error = join(&path, &HostsSettings::default()).unwrap_err().to_string();
        assert!(error.contains("has a mistake"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "port = = 1\n");
    }
}
