//! The files that describe the daemon to systemd and to launchd.

use std::path::Path;

/// The name of the unit.
pub(super) const UNIT: &str = "flightdeck.service";
/// The name of the launchd job.
pub(super) const LABEL: &str = "dev.flightdeck.daemon";

/// The unit of `systemd --user`. `--home` only if the person named a home of their own.
pub(super) fn systemd(binary: &Path, home: Option<&Path>) -> String {
    let words =
        start_command(binary, home).iter().map(|word| systemd_word(word)).collect::<Vec<_>>().join(" ");
    format!(
        "[Unit]\n\
         Description=Flightdeck: mission control for Claude Code sessions\n\
         \n\
         [Service]\n\
         ExecStart={words}\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// The property list of a launchd agent.
pub(super) fn launchd(binary: &Path, home: Option<&Path>) -> String {
    let words: String = start_command(binary, home)
        .iter()
        .map(|word| format!("    <string>{}</string>\n", xml(word)))
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{LABEL}</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  \
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

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_special_characters_stays_one_word() {
        let unit = systemd(Path::new("/opt/a b/flight%deck"), Some(Path::new("/h/$x\"y")));
        assert!(unit.contains("ExecStart=\"/opt/a b/flight%%deck\" --home \"/h/$$x\\\"y\" up\n"), "{unit}");
        let plist = launchd(Path::new("/opt/a&b"), None);
        assert!(plist.contains("<string>/opt/a&amp;b</string>\n    <string>up</string>\n"), "{plist}");
    }
}
