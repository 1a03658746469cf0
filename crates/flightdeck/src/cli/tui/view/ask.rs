//! A request in full, with the keys that answer it.

use flightdeck_core::approval::card::{AskCard, Question};
use flightdeck_core::approval::form::form_fields;
use flightdeck_core::approval::resolution::NeedKind;
use flightdeck_core::approval::tool_input::Replacement;
use flightdeck_core::text::without_controls;
use flightdeck_core::view::card::Card;
use ratatui::style::Style;
use serde_json::{Map, Value};

use super::super::super::ask_text::PART_ONLY;
use super::super::super::draw::duration;
use super::super::super::owner;
use super::super::super::suggestion_text;
use super::super::alike;
use super::super::answering::INPUTS_FIRST;
use super::super::answers::{self, needs_second_press};
use super::super::input::field_words;
use super::super::keys::{KeyAction, shown_key};
use super::super::model::Model;
use super::super::text::{place_name, wrap};
use super::canvas::{StyledLine, StyledText, width};

/// Lines around a change that are the same before and after it.
const CONTEXT_LINES: usize = 2;

pub(super) fn lines(model: &Model, ask: &AskCard, width: usize) -> Vec<StyledLine> {
    let mut page = AskPage { model, width, lines: Vec::new() };
    page.origin(ask);
    match ask.kind {
        NeedKind::Permission => page.input(ask.tool_input.as_ref(), 0),
        NeedKind::Question => page.questions(ask),
        NeedKind::Plan => page.text(ask.plan().unwrap_or_default(), 2, Style::new()),
        NeedKind::Elicitation => page.form(ask),
    }
    if let Some(why) = needs_second_press(ask) {
        let why = if ask.caution.is_some() { why } else { PART_ONLY.to_owned() };
        page.text(&format!("▲ {why}"), 2, model.theme.alarm());
    }
    page.keys(ask);
    page.lines
}

/// What is asked, in a few words; the request itself follows.
pub(super) fn ask_heading(card: &Card, ask: &AskCard) -> String {
    let questions = ask.questions.as_ref().map_or(0, Vec::len);
    match (ask.kind, &ask.mcp_server_name) {
        (NeedKind::Permission, _) => card.status.reason.as_ref().unwrap_or(&card.agent_state.label).clone(),
        (NeedKind::Question, _) if questions > 1 => format!("Asks {questions} questions"),
        (NeedKind::Question, _) => "Asks a question".to_owned(),
        (NeedKind::Plan, _) => "Plan to approve".to_owned(),
        (NeedKind::Elicitation, Some(server)) => format!("{server} asks for input"),
        (NeedKind::Elicitation, None) => "An MCP server asks for input".to_owned(),
    }
}

/// Requests that are alike: each different input with the sessions that ask for it, and the keys that answer all.
pub(super) fn alike_lines(model: &Model, bunch: &[&Card], width: usize) -> Vec<StyledLine> {
    let mut page = AskPage { model, width, lines: Vec::new() };
    let inputs = alike::by_input(bunch);
    let leader = bunch.first().and_then(|card| alike::plain_ask(card)).map(|ask| &ask.id);
    let shows_all = leader.is_some() && leader == model.all_inputs_of.as_ref();
    let shown = if shows_all { inputs.len() } else { inputs.len().min(INPUTS_FIRST) };
    if inputs.len() > 1 {
        page.in_common(&inputs);
    }
    for (ask, members) in inputs.iter().take(shown) {
        page.input(Some(&alike::input_that_counts(ask)), 0);
        let names: Vec<String> =
            members.iter().map(|card| owner::with_host(card, place_name(card))).collect();
        page.text(&names.join(", "), 4, model.theme.dim());
    }
    if shown < inputs.len() {
        let more = format!("+{} more: {} shows them", inputs.len() - shown, shown_key(KeyAction::Allow));
        page.text(&more, 2, model.theme.accent());
    }
    page.keys_for_all(bunch.len());
    page.lines
}

/// Lines that are added one after the other.
struct AskPage<'a> {
    model: &'a Model,
    width: usize,
    lines: Vec<StyledLine>,
}

impl AskPage<'_> {
    fn text(&mut self, text: &str, indent: usize, style: Style) {
        self.marked(text, indent, "", style);
    }

    /// Each line of the text with a mark before it; wrapped lines continue below the text.
    fn marked(&mut self, text: &str, indent: usize, mark: &str, style: Style) {
        let wide = self.width.saturating_sub(indent + mark.chars().count());
        for line in without_controls(text).trim_end().split('\n') {
            for (n, part) in wrap(line, wide).into_iter().enumerate() {
                let mark = if n == 0 { mark.to_owned() } else { " ".repeat(mark.chars().count()) };
                self.lines.push(vec![StyledText::new(format!("{}{mark}{part}", " ".repeat(indent)), style)]);
            }
        }
    }

    /// Which subagent asks, and how many requests wait, if there is more than one.
    fn origin(&mut self, ask: &AskCard) {
        let Some(card) = self.model.selected_card() else { return };
        let agent = card.sub_agents.iter().find(|agent| Some(&agent.id) == ask.agent_id.as_ref());
        let open = card.asks.iter().filter(|ask| ask.resolution.is_none()).count();
        let agent = agent.map(|agent| format!("asked by the subagent {}", agent.agent_type));
        let others = (open > 1).then(|| format!("the first of {open} requests"));
        let words: Vec<String> = agent.into_iter().chain(others).collect();
        if !words.is_empty() {
            self.text(&words.join(", "), 2, self.model.theme.dim());
        }
    }

    /// The fields of a tool's input: a command after `$`, a change as a difference, others by their names.
    fn input(&mut self, input: Option<&Map<String, Value>>, indent: usize) {
        let Some(input) = input else { return };
        if let Some(Replacement { old, new }) = Replacement::from_input(input) {
            self.fields(Replacement::other_fields(input), indent);
            return self.difference(old, new, indent + 2);
        }
        self.fields(input.iter(), indent);
    }

    fn fields<'a>(&mut self, fields: impl Iterator<Item = (&'a String, &'a Value)>, indent: usize) {
        for (name, value) in fields {
            self.field(name, value, indent + 2);
        }
    }

    fn field(&mut self, name: &str, value: &Value, indent: usize) {
        let dim = self.model.theme.dim();
        match (name, value) {
            ("command", Value::String(command)) => {
                self.marked(command, indent, "$ ", self.model.theme.strong())
            }
            ("content", Value::String(content)) => {
                self.marked(content, indent, "+ ", self.model.theme.added())
            }
            ("file_path" | "description", Value::String(text)) => self.text(text, indent, dim),
            (_, Value::Array(items)) if items.iter().any(Value::is_object) => {
                items.iter().for_each(|item| self.input(item.as_object(), indent));
            }
            (_, Value::Object(map)) => {
                self.text(&format!("{name}:"), indent, dim);
                self.input(Some(map), indent);
            }
            (_, Value::String(text)) => self.text(&format!("{name}: {text}"), indent, Style::new()),
            _ => self.text(&format!("{name}: {value}"), indent, dim),
        }
    }

    /// Removed and added lines, with a little of what is the same around them.
    fn difference(&mut self, old: &str, new: &str, indent: usize) {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let most = old.len().min(new.len()) - before;
        let after = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        let theme = self.model.theme;
        let same = |page: &mut Self, lines: &[&str]| {
            lines.iter().for_each(|line| page.marked(line, indent, "  ", theme.dim()));
        };
        same(self, &old[before.saturating_sub(CONTEXT_LINES)..before]);
        old[before..old.len() - after]
            .iter()
            .for_each(|line| self.marked(line, indent, "- ", theme.removed()));
        new[before..new.len() - after].iter().for_each(|line| self.marked(line, indent, "+ ", theme.added()));
        let end = old.len() - after;
        same(self, &old[end..(end + CONTEXT_LINES).min(old.len())]);
    }

    fn questions(&mut self, ask: &AskCard) {
        let questions = ask.questions.as_deref().unwrap_or_default();
        for (n, question) in questions.iter().enumerate() {
            self.question(ask, question, n, questions.len() > 1);
        }
    }

    fn question(&mut self, ask: &AskCard, question: &Question, n: usize, is_one_of_several: bool) {
        let theme = self.model.theme;
        let choices = Some(&self.model.choices).filter(|choices| choices.ask.as_ref() == Some(&ask.id));
        let present = choices.map_or(0, |choices| choices.question);
        let mark = if is_one_of_several && n == present { "▸ " } else { "  " };
        self.marked(&question.question, 0, mark, theme.strong());
        for (number, option) in question.options.iter().enumerate() {
            let chosen = choices.is_some_and(|choices| choices.is_chosen(n, number));
            let sign = match (chosen, question.multi_select) {
                (true, _) => "✓",
                (false, true) => "·",
                (false, false) => " ",
            };
            let style = if chosen { theme.added() } else { Style::new() };
            self.marked(&option.label, 2, &format!("{} {sign} ", number + 1), style);
            if let Some(why) = &option.description {
                self.text(why, 6, theme.dim());
            }
        }
        if let Some(words) = choices.and_then(|choices| choices.own_words(n)) {
            self.marked(words, 2, "✓ ", theme.added());
        }
    }

    fn form(&mut self, ask: &AskCard) {
        self.text(ask.message.as_deref().unwrap_or("a form"), 2, Style::new());
        if let Some(url) = &ask.url {
            self.text(url, 2, self.model.theme.strong());
        }
        for field in ask.requested_schema.iter().flat_map(form_fields) {
            let about = field.description.map(|about| format!(": {about}")).unwrap_or_default();
            self.text(&format!("{}{about}", field_words(&field)), 4, self.model.theme.dim());
        }
    }

    /// The inputs are not the same: says what they have in common.
    fn in_common(&mut self, inputs: &[(&AskCard, Vec<&Card>)]) {
        let rule = alike::shared_rule(inputs.iter().map(|(ask, _)| *ask));
        let rule = rule.map(suggestion_text::suggestion_sentence).unwrap_or_default();
        self.text(
            &format!("{} different inputs that one rule would cover: {rule}", inputs.len()),
            2,
            Style::new(),
        );
    }

    fn keys_for_all(&mut self, count: usize) {
        let accent = self.model.theme.accent();
        let mut line = vec![StyledText::unstyled("  ")];
        for (action, words) in [
            (KeyAction::Allow, format!("allow all {count}")),
            (KeyAction::Deny, format!("deny all {count}")),
            (KeyAction::OneByOne, "one by one".to_owned()),
        ] {
            let words = StyledText::unstyled(format!(" {words}   "));
            if width(&line) + 1 + words.text.trim_end().len() > self.width {
                self.lines.push(std::mem::replace(&mut line, vec![StyledText::unstyled("  ")]));
            }
            line.extend([StyledText::new(shown_key(action), accent), words]);
        }
        self.lines.push(line);
    }

    /// The keys of this request: what they do in its own words.
    fn keys(&mut self, ask: &AskCard) {
        let Some(card) = self.model.selected_card() else { return };
        if answers::answerable_ask(card).is_none() {
            return self.text(&answers::not_answerable(card), 2, self.model.theme.dim());
        }
        if let Some(why) = owner::allow_refusal(card) {
            self.text(&why, 2, self.model.theme.dim());
        }
        let suggestions = answers::suggestions(ask);
        let always = match suggestions.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            _ => Some(format!("always: {}", numbers_in_words(suggestions.len()))),
        };
        let (yes, no) = match ask.kind {
            NeedKind::Permission => ("allow", "deny"),
            NeedKind::Question => ("send", "do not answer"),
            NeedKind::Plan => ("approve", "reject"),
            NeedKind::Elicitation => ("fill in", "decline"),
        };
        let key = |action: KeyAction, words: &str| {
            [
                StyledText::new(shown_key(action), self.model.theme.accent()),
                StyledText::unstyled(format!(" {words}   ")),
            ]
        };
        let mut line = vec![StyledText::unstyled("  ")];
        line.extend(key(KeyAction::Allow, yes));
        line.extend(key(KeyAction::Deny, no));
        if let Some(until) = ask.expires_at {
            line.push(StyledText::new(
                format!("{} left", duration(until - self.model.now)),
                self.model.theme.dim(),
            ));
        }
        let always = always.map(|words| {
            [vec![StyledText::unstyled("  ")], key(KeyAction::Always, &words).to_vec()].concat()
        });
        self.lines.push(line);
        self.lines.extend(always);
        if suggestions.len() > 1 {
            for (n, words) in suggestions.iter().enumerate() {
                self.marked(words, 4, &format!("{} ", n + 1), self.model.theme.dim());
            }
        }
    }
}

/// `1 or 2`, `1, 2 or 3`.
fn numbers_in_words(last: usize) -> String {
    let before: Vec<String> = (1..last).map(|n| n.to_string()).collect();
    format!("{} or {last}", before.join(", "))
}
