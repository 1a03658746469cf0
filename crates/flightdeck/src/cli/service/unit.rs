//! The files that describe the daemon to systemd and to launchd.

use std::path::Path;

/// The name of the unit.
pub(super) const UNIT: &str = "flightdeck.service";
/// The name of the launchd job.
pub(super) const LABEL: &str = "dev.flightdeck.daemon";

/// A variable of the daemon's environment.
pub(super) type Variable = (&'static str, String);

/// The unit of `systemd --user`. `--home` only if the person named a home of their own.
pub(super) fn systemd(binary: &Path, home: Option<&Path>, environment: &[Variable]) -> String {
    let words =
        start_command(binary, home).iter().map(|word| systemd_word(word)).collect::<Vec<_>>().join(" ");
    let environment: String = environment
        .iter()
        .map(|(name, value)| format!("Environment={}\n", assignment(name, value)))
        .collect();
    format!(
        "[Unit]\n\
         Description=Flightdeck: mission control for Claude Code sessions\n\
         \n\
         [Service]\n\
         {environment}\
         ExecStart={words}\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// The property list of a launchd agent.
pub(super) fn launchd(binary: &Path, home: Option<&Path>, environment: &[Variable]) -> String {
    let words: String = start_command(binary, home)
        .iter()
        .map(|word| format!("    <string>{}</string>\n", xml(word)))
        .collect();
    let variables: String = environment
        .iter()
        .map(|(name, value)| format!("    <key>{name}</key>\n    <string>{}</string>\n", xml(value)))
        .collect();
    let environment = match variables.is_empty() {
        true => String::new(),
        false => format!("  <key>EnvironmentVariables</key>\n  <dict>\n{variables}  </dict>\n"),
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{LABEL}</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n{environment}  \
         <key>RunAtLoad</key>\n  <true/>\n  <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  \
         </dict>\n</dict>\n</plist>\n"
    )
}

fn start_command(binary: &Path, home: Option<&Path>) -> Vec<String> {
    let mut words = vec![binary.display().to_string()];
    words.extend(home.into_iter().flat_map(|home| ["--home".to_owned(), home.display().to_string()]));
    words.push("up".to_owned());
    words
}

/// A word of `ExecStart`: in double quotes, with `%` and `$` doubled, because systemd expands both.
fn systemd_word(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    match escaped.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@".contains(c)) {
        true => escaped,
        false => format!("\"{escaped}\""),
    }
}

/// `NAME=VALUE` as one word of `Environment=`, which expands `%` and not `$`.
fn assignment(name: &str, value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    match escaped.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@:%".contains(c)) {
        true => format!("{name}={escaped}"),
        false => format!("\"{name}={escaped}\""),
    }
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_special_characters_stays_one_word() {
        let unit = systemd(Path::new("/opt/a b/flight%deck"), Some(Path::new("/h/$x\"y")), &[]);
        assert!(unit.contains("ExecStart=\"/opt/a b/flight%%deck\" --home \"/h/$$x\\\"y\" up\n"), "{unit}");
        let plist = launchd(Path::new("/opt/a&b"), None, &[]);
        assert!(plist.contains("<string>/opt/a&amp;b</string>\n    <string>up</string>\n"), "{plist}");
        assert!(!plist.contains("EnvironmentVariables"), "{plist}");
    }

    #[test]
    fn variables_are_written_as_the_manager_reads_them() {
        let variables = [("PATH", "/opt/a&b:/bin".to_owned()), ("XDG_DATA_HOME", "/d a/50%$x".to_owned())];
        let unit = systemd(Path::new("/b"), None, &variables);
        assert!(unit.contains("Environment=\"PATH=/opt/a&b:/bin\"\n"), "{unit}");
        assert!(unit.contains("Environment=\"XDG_DATA_HOME=/d a/50%%$x\"\nExecStart=/b up\n"), "{unit}");
        let plist = launchd(Path::new("/b"), None, &variables);
        assert!(plist.contains("    <key>PATH</key>\n    <string>/opt/a&amp;b:/bin</string>\n"), "{plist}");
    }
}
