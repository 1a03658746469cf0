//! Rules of a person that answer permission requests automatically. Off by default.
//!
//! A rule may deny on a partial match, but may allow only if it understood the whole command. A denial wins over every
//! permission. A command that cannot be undone, or that only a shell can parse, is never allowed.

mod glob;
mod request;
mod shell;
mod suggest;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::request::PolicyRequest;
pub use self::suggest::{SuggestedRule, suggested_rules};

use self::glob::Glob;
use super::answer::{Answer, Decision};
use super::resolution::AnsweredBy;

/// The model reads this if the denying rule has no message.
const DENIED: &str = "A rule of the user's Flightdeck policy denies this.";

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    pub enabled: bool,
    /// In the person's order: the first rule that matches answers.
    pub rules: Vec<PolicyRule>,
}

/// One validated rule.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "RuleDraft")]
pub struct PolicyRule {
    tool: Glob,
    matches: Option<Glob>,
    project: Option<Glob>,
    verdict: RuleVerdict,
}

#[derive(Clone, Debug, PartialEq)]
enum RuleVerdict {
    Allow,
    Deny { message: Option<String> },
}

/// A rule as a person writes it into config.toml.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RuleDraft {
    /// A tool's name, or a glob.
    pub tool: String,
    /// The command, file path or address, or a glob.
    #[serde(rename = "match")]
    pub matches: Option<String>,
    /// This folder and all below it, or a glob.
    pub project: Option<String>,
    pub decision: RuleDecision,
    /// Claude reads this; only with a denial.
    pub message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum RuleDecision {
    Allow,
    Deny,
}

impl TryFrom<RuleDraft> for PolicyRule {
    type Error = String;

    fn try_from(draft: RuleDraft) -> Result<Self, String> {
        let RuleDraft { tool, matches, project, decision, message } = draft;
        let glob = |name: &str, text: &str| Glob::new(text).map_err(|why| format!("`{name}` {why}"));
        let tool = glob("tool", &tool)?;
        let never_fits = tool.as_str().starts_with("mcp__")
            || (tool.is_exact() && request::field_to_match(tool.as_str()).is_none());
        if matches.is_some() && never_fits {
            return Err(format!(
                "`match` does not go with {tool}: nothing of its input says for certain what it does. Name the tool alone"
            ));
        }
        let verdict = match (decision, message) {
            (RuleDecision::Allow, Some(_)) => {
                return Err("`message` goes with decision = \"deny\" only".to_owned());
            }
            (RuleDecision::Allow, None) => RuleVerdict::Allow,
            (RuleDecision::Deny, message) => RuleVerdict::Deny { message },
        };
        Ok(Self {
            tool,
            matches: matches.map(|text| glob("match", text.trim())).transpose()?,
            project: project.map(|path| glob("project", without_trailing_slash(&path))).transpose()?,
            verdict,
        })
    }
}

/// `/work/api/` is `/work/api`.
fn without_trailing_slash(path: &str) -> &str {
    if path.len() > 1 { path.trim_end_matches('/') } else { path }
}

impl PolicyRule {
    pub fn allows(&self) -> bool {
        self.verdict == RuleVerdict::Allow
    }

    pub fn message(&self) -> Option<&str> {
        match &self.verdict {
            RuleVerdict::Deny { message } => message.as_deref(),
            RuleVerdict::Allow => None,
        }
    }

    fn is_about(&self, request: &PolicyRequest<'_>) -> bool {
        self.tool.matches(request.tool)
            && self.project.as_ref().is_none_or(|project| covers_project_of(project, request))
    }

    fn matches_text(&self, text: Option<&str>) -> bool {
        self.matches.as_ref().is_none_or(|glob| text.is_some_and(|text| glob.matches(text)))
    }

    fn matches_any(&self, texts: &[String]) -> bool {
        texts.iter().any(|text| self.matches_text(Some(text)))
    }

    /// Whether the end of one of these texts matches, from any word on.
    fn may_match_part(&self, texts: &[String]) -> bool {
        self.matches.as_ref().is_some_and(|glob| texts.iter().any(|text| glob.matches_from_a_word(text)))
    }

    /// Whether the pattern of the rule is exactly this text.
    fn names_exactly(&self, text: &str) -> bool {
        self.matches.as_ref().is_some_and(|glob| glob.is_exact() && glob.as_str() == text.trim())
    }
}

/// A project matches its folder and everything below it.
fn covers_project_of(project: &Glob, request: &PolicyRequest<'_>) -> bool {
    let Some(path) = request.project.as_deref() else { return false };
    let below = || path.strip_prefix(project.as_str()).is_some_and(|rest| rest.starts_with('/'));
    project.matches(path) || (project.is_exact() && below())
}

/// `Bash cargo test* in /work/api`.
impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tool)?;
        self.matches.as_ref().map_or(Ok(()), |glob| write!(f, " {glob}"))?;
        self.project.as_ref().map_or(Ok(()), |glob| write!(f, " in {glob}"))
    }
}

/// The result of the rules for a request.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyOutcome<'a> {
    /// Allowed by these rules, one for each command of the line.
    Allow(Vec<&'a PolicyRule>),
    Deny(&'a PolicyRule),
    /// An allowing rule matches, but a person must decide.
    LeftAlone(ReasonToAsk),
    NoRule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasonToAsk {
    /// The command cannot be undone.
    Destructive(&'static str),
    /// The line has several commands and at least one of them has no rule, or only a shell can parse the line.
    NotPlain,
    /// The request is incomplete, or asks to leave the sandbox.
    Unclear,
}

impl ReasonToAsk {
    pub fn sentence(self) -> String {
        match self {
            Self::Destructive(why) => format!("cannot be undone: {}", why.to_lowercase()),
            Self::NotPlain => "more than one plain command or path".to_owned(),
            Self::Unclear => "not whole, or outside the sandbox".to_owned(),
        }
    }
}

impl Policy {
    /// What the rules decide about a request. Ignores [`Policy::enabled`], because a dry run uses this function too.
    pub fn decide(&self, request: &PolicyRequest<'_>) -> PolicyOutcome<'_> {
        let about: Vec<&PolicyRule> = self.rules.iter().filter(|rule| rule.is_about(request)).collect();
        let guesses = match request.text {
            Some(line) if request.is_command => shell::possible_commands(line),
            Some(path) if request.is_path => vec![normalized_path(path)],
            text => text.map(ToOwned::to_owned).into_iter().collect(),
        };
        let fits = |rule: &&PolicyRule| rule.matches_text(request.text) || rule.matches_any(&guesses);
        let refuses = |rule: &&PolicyRule| !rule.allows() && (fits(rule) || rule.may_match_part(&guesses));
        if let Some(rule) = about.iter().copied().find(refuses) {
            return PolicyOutcome::Deny(rule);
        }
        let allows: Vec<&PolicyRule> = about.into_iter().filter(|rule| rule.allows()).collect();
        if !allows.iter().any(fits) {
            return PolicyOutcome::NoRule;
        }
        let why = match request.caution {
            Some(why) => ReasonToAsk::Destructive(why),
            None if request.is_unclear => ReasonToAsk::Unclear,
            None => match allowed_by(&allows, request) {
                Some(rules) => return PolicyOutcome::Allow(rules),
                None => ReasonToAsk::NotPlain,
            },
        };
        PolicyOutcome::LeftAlone(why)
    }

    /// The answer to a request, or `None` to leave it to the person.
    pub(crate) fn answer_request(&self, request: &PolicyRequest<'_>) -> Option<Answer> {
        let outcome = self.decide(request);
        let rule = Some(outcome.rules()?);
        match outcome {
            PolicyOutcome::Deny(by) => {
                let message = Some(by.message().unwrap_or(DENIED).to_owned());
                Some(Answer { message, rule, ..Answer::without_details(Decision::Deny, AnsweredBy::Policy) })
            }
            _ => Some(Answer { rule, ..Answer::without_details(Decision::Allow, AnsweredBy::Policy) }),
        }
    }
}

impl PolicyOutcome<'_> {
    /// The names of the rules that answer, for the log and the card.
    pub fn rules(&self) -> Option<String> {
        match self {
            Self::Allow(rules) => {
                let mut names: Vec<String> = rules.iter().map(ToString::to_string).collect();
                names.dedup();
                Some(names.join(" + "))
            }
            Self::Deny(rule) => Some(rule.to_string()),
            Self::LeftAlone(_) | Self::NoRule => None,
        }
    }
}

/// The first matching rule for each command of the request. `None` if a command has no matching rule.
fn allowed_by<'a>(allows: &[&'a PolicyRule], request: &PolicyRequest<'_>) -> Option<Vec<&'a PolicyRule>> {
    let first = |text: Option<&str>| allows.iter().copied().find(|rule| rule.matches_text(text));
    let Some(text) = request.text else { return first(None).map(|rule| vec![rule]) };
    if let Some(exact) = allows.iter().copied().find(|rule| rule.names_exactly(text)) {
        return Some(vec![exact]);
    }
    if request.is_command {
        return shell::commands(text)?.iter().map(|command| first(Some(command))).collect();
    }
    // `/work/api/src/*` must not match `/work/api/src/../../../.ssh/config`.
    let detours = request.is_path && text != normalized_path(text);
    first(Some(text)).filter(|_| !detours).map(|rule| vec![rule])
}

/// The path without `//`, `/./` and `/../`. Symbolic links are not resolved.
fn normalized_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
