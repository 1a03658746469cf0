//! Suggests policy rules for one request, narrowest first.

use serde::{Deserialize, Serialize};

use super::{Policy, PolicyRequest, PolicyRule, RuleDecision, RuleDraft};

/// Most words of a command that a wider rule keeps: `npm run build -- --watch` becomes `npm run build*`.
const WORDS_MAX: usize = 3;
/// Fewest words of a wider rule. A rule about the program alone is too wide: `git *` also allows every program that git can be
/// told to run.
const WORDS_MIN: usize = 2;

/// A suggested rule that would match the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SuggestedRule {
    pub rule: RuleDraft,
    /// As cards and the log name it: `Bash cargo test* in /work/api`.
    pub name: String,
    /// False if no rule may answer such a request, because it cannot be undone or is not fully understood.
    pub would_answer: bool,
}

/// Rules that match the request, narrowest first. They are drafts that allow; the person may turn one into a rule that denies.
pub fn suggested_rules(request: &PolicyRequest<'_>) -> Vec<SuggestedRule> {
    let matches = match request.text {
        Some(text) => exact(text).into_iter().chain(wider_pattern(request, text)).map(Some).collect(),
        // The input has no text that a rule could match, so a rule can only name the tool.
        None => vec![None],
    };
    // A rule about a path or an address needs no project, because it names its place already.
    let project = request.project.clone().filter(|_| request.is_command || request.text.is_none());
    let everywhere = matches.last().cloned().filter(|_| project.is_some()).map(|widest| (widest, None));
    let here = matches.into_iter().map(|matches| (matches, project.clone()));
    let drafts: Vec<_> = here.chain(everywhere).collect();
    drafts.into_iter().filter_map(|(matches, project)| suggested(request, matches, project)).collect()
}

/// The text as a pattern that matches only this text. `None` if the text contains a wildcard.
fn exact(text: &str) -> Option<String> {
    (!text.contains(['*', '?'])).then(|| text.trim().to_owned())
}

/// A suggestion with this pattern and project. `None` if the pattern cannot be a rule, because it is empty or too long.
fn suggested(
    request: &PolicyRequest<'_>,
    matches: Option<String>,
    project: Option<String>,
) -> Option<SuggestedRule> {
    let decision = RuleDecision::Allow;
    let draft = RuleDraft { tool: request.tool.to_owned(), matches, project, decision, message: None };
    let rule = PolicyRule::try_from(draft.clone()).ok()?;
    let name = rule.to_string();
    let policy = Policy { enabled: true, rules: vec![rule] };
    let would_answer = policy.decide(request).rules().is_some();
    Some(SuggestedRule { rule: draft, name, would_answer })
}

/// The wider pattern: the same command with other arguments, other files of the folder, or other pages of the site.
fn wider_pattern(request: &PolicyRequest<'_>, text: &str) -> Option<String> {
    if request.is_command {
        return wider_command(text);
    }
    if request.is_path {
        let (folder, _) = text.rsplit_once('/')?;
        return (!folder.is_empty()).then(|| format!("{folder}/*"));
    }
    let (scheme, rest) = text.split_once("://")?;
    let host = rest.split('/').next().filter(|host| !host.is_empty())?;
    Some(format!("{scheme}://{host}/*"))
}

fn wider_command(text: &str) -> Option<String> {
    let words: Vec<&str> =
        text.split_whitespace().take_while(|word| is_plain_word(word)).take(WORDS_MAX).collect();
    (words.len() >= WORDS_MIN).then(|| format!("{}*", words.join(" ")))
}

/// Whether the word is the name of a program or of one of its commands: no option, path, file, variable or special character.
fn is_plain_word(word: &str) -> bool {
    !word.starts_with('-') && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}
