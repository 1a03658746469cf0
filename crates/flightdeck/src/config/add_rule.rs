//! Writes a rule of the policy into `config.toml`; comments, order and everything else stay.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use flightdeck_core::approval::policy::{PolicyRule, RuleDecision, RuleDraft};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, value};

use super::Config;

#[derive(Debug, thiserror::Error)]
pub enum AddRuleError {
    #[error("cannot write {path}: {cause}")]
    Io { path: String, cause: io::Error },
    #[error("{path} has a mistake; correct it first: {why}")]
    Broken { path: String, why: String },
    #[error("the rule is not possible: {why}")]
    Refused { why: String },
    /// `policy = { rules = […] }` on one line.
    #[error(
        "{path} writes the rules in one line: write them as [[policy.rules]] first, or add this one yourself"
    )]
    Inline { path: String },
}

/// Appends the rule to the file; with `enable` it also turns the policy on. False if the file has this rule already: it is not
/// written twice.
pub fn add_rule(path: &Path, draft: &RuleDraft, enable: bool) -> Result<bool, AddRuleError> {
    let name = || path.display().to_string();
    let io = |cause| AddRuleError::Io { path: name(), cause };
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(cause) => return Err(io(cause)),
    };
    let broken = |why: String| AddRuleError::Broken { path: name(), why };
    let rule = PolicyRule::try_from(draft.clone()).map_err(|why| AddRuleError::Refused { why })?;
    let present = toml::from_str::<Config>(&before).map_err(|error| broken(error.to_string()))?.policy;
    let added = !present.rules.contains(&rule);
    if !added && (present.enabled || !enable) {
        return Ok(false);
    }
    let after = with_rule(&before, added.then_some(draft), enable, path)?;
    toml::from_str::<Config>(&after).map_err(|error| broken(error.to_string()))?;
    replace(path, &after).map_err(io)?;
    Ok(added)
}

fn with_rule(
    text: &str,
    rule: Option<&RuleDraft>,
    enable: bool,
    path: &Path,
) -> Result<String, AddRuleError> {
    let inline = || AddRuleError::Inline { path: path.display().to_string() };
    let broken = |error: toml_edit::TomlError| AddRuleError::Broken {
        path: path.display().to_string(),
        why: error.to_string(),
    };
    let mut document = text.parse::<DocumentMut>().map_err(broken)?;
    let mut policy_table = Table::new();
    policy_table.set_implicit(true);
    let policy = document.entry("policy").or_insert(Item::Table(policy_table));
    let policy: &mut dyn TableLike = policy.as_table_like_mut().ok_or_else(inline)?;
    if enable {
        policy.insert("enabled", value(true));
    }
    if let Some(rule) = rule {
        let rules = policy.entry("rules").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        rules.as_array_of_tables_mut().ok_or_else(inline)?.push(table(rule));
    }
    Ok(document.to_string())
}

fn table(rule: &RuleDraft) -> Table {
    let decision = match rule.decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Deny => "deny",
    };
    let fields = [
        ("tool", Some(rule.tool.as_str())),
        ("match", rule.matches.as_deref()),
        ("project", rule.project.as_deref()),
        ("decision", Some(decision)),
        ("message", rule.message.as_deref()),
    ];
    let mut table = Table::new();
    for (name, text) in fields.into_iter().filter_map(|(name, text)| Some((name, text?))) {
        table.insert(name, value(text));
    }
    table
}

/// Replaces the file at once; a link stays a link. The file may hold a token, so a new one is the owner's alone.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mode = fs::metadata(&real).map_or(0o600, |about| about.permissions().mode() & 0o777);
    let aside: PathBuf = folder.join(format!(".config.toml.{}", std::process::id()));
    let written = (|| {
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&aside, &real)
    })();
    written.inspect_err(|_| {
        // The copy may not exist; the error is already known.
        let _ = fs::remove_file(&aside);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn rule(decision: RuleDecision) -> RuleDraft {
        let message = (decision == RuleDecision::Deny).then(|| "use just".to_owned());
        RuleDraft { tool: "Bash".into(), matches: Some("make*".into()), project: None, decision, message }
    }

    fn written(before: &str, rule: &RuleDraft, enable: bool) -> Result<String, AddRuleError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub/config.toml");
        if !before.is_empty() {
            fs::create_dir(path.parent().unwrap()).unwrap();
            fs::write(&path, before).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        }
        assert!(add_rule(&path, rule, enable)?);
        assert!(
            Config::read(&path).unwrap().policy.rules.contains(&PolicyRule::try_from(rule.clone()).unwrap())
        );
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if before.is_empty() { 0o600 } else { 0o640 });
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        Ok(fs::read_to_string(&path).unwrap())
    }

    #[test]
    fn a_rule_is_appended_and_comments_and_order_stay() {
        let before = "# mine\nport = 4000 # fixed\n\n[policy]\nenabled = true   # on\n\n# tests\n[[policy.rules]]\ntool = \"Bash\"\nmatch = \"cargo test*\"\ndecision = \"allow\"\n\n[keep]\ndays = 3\n";
        let after = written(before, &rule(RuleDecision::Deny), false).unwrap();
        expect![[r#"
            # mine
            port = 4000 # fixed

            [policy]
            enabled = true   # on

            # tests
            [[policy.rules]]
            tool = "Bash"
            match = "cargo test*"
            decision = "allow"

            [[policy.rules]]
            tool = "Bash"
            match = "make*"
            decision = "deny"
            message = "use just"

            [keep]
            days = 3
        "#]]
        .assert_eq(&after);
    }

    #[test]
    fn a_file_that_does_not_exist_is_made() {
        let after = written("", &rule(RuleDecision::Allow), true).unwrap();
        expect![[r#"
            [policy]
            enabled = true

            [[policy.rules]]
            tool = "Bash"
            match = "make*"
            decision = "allow"
        "#]]
        .assert_eq(&after);
    }

    #[test]
    fn a_rule_is_written_once_and_the_policy_can_still_be_turned_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let allow = rule(RuleDecision::Allow);
        assert!(add_rule(&path, &allow, false).unwrap());
        let once = fs::read_to_string(&path).unwrap();
        assert!(!add_rule(&path, &allow, false).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), once);
        assert!(!add_rule(&path, &allow, true).unwrap());
        let policy = Config::read(&path).unwrap().policy;
        assert_eq!((policy.enabled, policy.rules.len()), (true, 1));
        assert!(add_rule(&path, &rule(RuleDecision::Deny), true).unwrap());
    }

    #[test]
    fn a_broken_file_or_an_impossible_rule_changes_nothing() {
        let refused = |before: &str, rule: &RuleDraft| written(before, rule, false).unwrap_err().to_string();
        assert!(refused("port = =\n", &rule(RuleDecision::Allow)).contains("has a mistake"));
        let inline = "policy = { rules = [] }\n";
        assert!(refused(inline, &rule(RuleDecision::Allow)).contains("in one line"));
        let never = RuleDraft { tool: "TodoWrite".into(), ..rule(RuleDecision::Allow) };
        assert!(refused("port = 1\n", &never).contains("`match` does not go with"));
    }
}
