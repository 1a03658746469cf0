//! Refuses to start the client in anything but a lab: a mistake here would write into a person's real home.

use std::path::{Path, PathBuf};

use super::{DUMMY_KEY, Env, MARKER};

#[derive(Debug, PartialEq, Eq)]
pub struct Unsafe(String);

impl std::fmt::Display for Unsafe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "refusing to start the client: {}", self.0)
    }
}

impl std::error::Error for Unsafe {}

/// Checks that every home is below the lab, the model is on loopback, the key is the dummy, and telemetry and updates are off.
pub fn check_is_isolated(env: &Env, lab: &Path) -> Result<(), Unsafe> {
    let refuse = |why: String| Err(Unsafe(why));
    if !lab.is_absolute() || !lab.join(MARKER).exists() {
        return refuse(format!("{} is not a lab", lab.display()));
    }
    if std::env::home_dir().is_some_and(|home| home.starts_with(lab)) {
        return refuse(format!("{} holds the real home", lab.display()));
    }
    for name in ["HOME", "CLAUDE_CONFIG_DIR", "FLIGHTDECK_HOME"] {
        let path = env.get(name).map(PathBuf::from).unwrap_or_default();
        let plain = path.components().all(|c| !matches!(c, std::path::Component::ParentDir));
        if !plain || !path.starts_with(lab) || path == lab {
            return refuse(format!(
                "{name} is {:?}, not below {}",
                path.display().to_string(),
                lab.display()
            ));
        }
    }
    if !env.get("ANTHROPIC_BASE_URL").is_some_and(|url| url.starts_with("http://127.0.0.1:")) {
        return refuse("ANTHROPIC_BASE_URL is not the stand-in on loopback".into());
    }
    if env.get("ANTHROPIC_API_KEY").map(String::as_str) != Some(DUMMY_KEY) {
        return refuse("ANTHROPIC_API_KEY is not the dummy".into());
    }
    for name in [
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_AUTOUPDATER",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    ] {
        if env.get(name).map(String::as_str) != Some("1") {
            return refuse(format!("{name} is not 1"));
        }
    }
    let foreign = |name: &&String| name.ends_with("_TOKEN") || name.to_lowercase().ends_with("_proxy");
    if let Some(name) = env.keys().find(foreign) {
        return refuse(format!("{name} has no business in a lab"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Lab;
    use super::*;

    fn lab(name: &str) -> Lab {
        let dir = std::env::temp_dir().join(format!("flightdeck-guard-{}-{name}", std::process::id()));
        Lab::new(&dir, Path::new("/nonexistent/claude")).unwrap()
    }

    #[test]
    fn a_lab_passes_and_every_way_out_of_it_is_refused() {
        let lab = lab("ways");
        let good = lab.env(&[]);
        assert_eq!(check_is_isolated(&good, lab.dir()), Ok(()));
        let escape = format!("{}/home/../../..", lab.dir().display());
        let changes = [
            ("HOME", "/root"),
            ("HOME", escape.as_str()),
            ("CLAUDE_CONFIG_DIR", "/home/other/.claude"),
            ("FLIGHTDECK_HOME", ""),
            ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
            ("ANTHROPIC_API_KEY", "sk-ant-other"),
            ("DISABLE_TELEMETRY", "0"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", ""),
            ("HTTPS_PROXY", "http://proxy:3128"),
        ];
        for change in changes {
            assert!(check_is_isolated(&lab.env(&[change]), lab.dir()).is_err(), "{change:?}");
        }
        for name in good.keys().filter(|n| !["PATH", "TERM", "LANG", "SHELL"].contains(&n.as_str())) {
            let mut less = good.clone();
            less.remove(name);
            assert!(check_is_isolated(&less, lab.dir()).is_err(), "without {name}");
        }
        std::fs::remove_dir_all(lab.dir()).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_a_lab_is_left_alone() {
        let dir = std::env::temp_dir().join(format!("flightdeck-guard-{}-foreign", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        assert!(Lab::new(&dir, Path::new("/nonexistent/claude")).is_err());
        let lab = lab("foreign-env");
        assert!(check_is_isolated(&lab.env(&[]), &dir).is_err());
        assert!(check_is_isolated(&lab.env(&[]), Path::new("/")).is_err());
        std::fs::remove_dir_all(lab.dir()).unwrap();
        std::fs::remove_dir_all(dir).unwrap();
    }
}
