//! The wire shapes as TypeScript, one file a type, for `cargo xtask gen`.

use flightdeck_core::approval::answer::{Answer, Decision, OneOrMany};
use flightdeck_core::approval::card::{AskCard, Question, QuestionOption, ResolutionCard};
use flightdeck_core::approval::resolution::{AnsweredBy, AskOutcome};
use flightdeck_core::log::event::Background;
use flightdeck_core::log::record::Source;
use flightdeck_core::log::todo::Todo;
use flightdeck_core::session::Failure;
use flightdeck_core::session::state_name::{Group, StateName};
use flightdeck_core::usage::amounts::{Cache, CacheStatus, Context, Cost, ModelCost, Tokens};
use flightdeck_core::usage::numbers::{Numbers, Point};
use flightdeck_core::usage::totals;
use flightdeck_core::view::card::{
    Card, ProcessCard, ProjectCard, Rank, SeatCard, StateCard, StatusCard, SubAgentCard, SubAgentState,
};
use flightdeck_core::view::explain::{Explanation, Reason, Step};
use flightdeck_core::view::fleet_history::{FleetHistory, Row, Span};
use flightdeck_core::view::lens::{FleetStatus, Role, StatusKind, TerminalInput};
use flightdeck_core::view::timeline::{EventPage, TimelineEvent};
use flightdeck_core::wire::status_line::{Limit, RateLimits};
use ts_rs::{Config, TS};

use crate::hooks::{HookStatus, SpoolStatus};
use crate::notify::{ReportVisibility, VisibilityNoted};
use crate::sessions::Snapshot;
use crate::terminal::{Draft, Focused, Pressed, PromptBody, PromptKind};

/// Begins every generated file; a file that begins so and is not generated any more is stale.
pub const HEADER: &str = "// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.\n";

/// Longest declaration that stays on one line.
const LINE_CHARS_MAX: usize = 110;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeFile {
    /// `Session.ts`
    pub name: String,
    pub text: String,
}

/// Every type of the wire that the page reads.
pub fn files() -> Vec<TypeFile> {
    // Every number of ours is far below 2^53.
    let config = Config::new().with_large_int("number");
    macro_rules! files {
        ($($shape:ty),* $(,)?) => { vec![$(file::<$shape>(&config)),*] };
    }
    let mut files = files![
        Answer,
        AskCard,
        Background,
        AnsweredBy,
        Decision,
        AskOutcome,
        OneOrMany,
        Question,
        QuestionOption,
        ResolutionCard,
        Cache,
        CacheStatus,
        Card,
        Context,
        Cost,
        Failure,
        FleetStatus,
        Group,
        ModelCost,
        ProjectCard,
        Rank,
        Role,
        SeatCard,
        ProcessCard,
        StateCard,
        StateName,
        StatusCard,
        StatusKind,
        SubAgentCard,
        SubAgentState,
        TerminalInput,
        Todo,
        Tokens,
        Source,
        Limit,
        RateLimits,
        Explanation,
        Reason,
        Step,
        FleetHistory,
        Row,
        Span,
        EventPage,
        TimelineEvent,
        Numbers,
        Point,
        Snapshot,
        HookStatus,
        SpoolStatus,
        PromptKind,
        Draft,
        Focused,
        PromptBody,
        Pressed,
        ReportVisibility,
        VisibilityNoted,
        totals::Group,
        totals::Indexing,
        totals::Report,
        totals::Spent,
    ];
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

fn file<T: TS + 'static>(config: &Config) -> TypeFile {
    let mut imports: Vec<String> = T::dependencies(config).into_iter().map(|d| d.ts_name).collect();
    imports.sort();
    imports.dedup();
    let mut text = HEADER.to_owned();
    for name in &imports {
        text += &format!("import type {{ {name} }} from \"./{name}\";\n");
    }
    if !imports.is_empty() {
        text += "\n";
    }
    text += &T::docs().unwrap_or_default();
    text += &format!("export {}\n", broken_into_lines(&T::decl(config)));
    TypeFile { name: format!("{}.ts", T::ident(config)), text }
}

/// ts-rs writes a type on one line, with commas. A long object gets a line a field; a long union stays.
fn broken_into_lines(declaration: &str) -> String {
    let flat = without_comments(declaration).trim().replace(", }", " }");
    let (line, last) = if flat.len() <= LINE_CHARS_MAX { (" ", " }") } else { ("\n  ", ";\n}") };
    let (mut text, mut depth) = (String::new(), 0);
    for c in flat.chars() {
        match c {
            '{' | '<' | '(' => depth += 1,
            '}' | '>' | ')' => depth -= 1,
            _ => {}
        }
        match (c, depth) {
            ('{', 1) => text += &format!("{{{line}"),
            (',', 1) => text += &format!(";{line}"),
            ('}', 0) => text = format!("{}{last}", text.trim_end()),
            (' ', 1) if text.ends_with(line) => {}
            _ => text.push(c),
        }
    }
    text
}

/// Comments on fields stay in the Rust source: their commas would break lines.
fn without_comments(declaration: &str) -> String {
    let mut text = String::new();
    for piece in declaration.split("/**") {
        let code = piece.split_once("*/").map_or(piece, |(_, code)| code);
        text = format!("{}{}", text.trim_end(), if text.is_empty() { "" } else { " " }) + code.trim_start();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_type_is_a_file_that_imports_what_it_names() {
        let files = files();
        let text = |name: &str| files.iter().find(|f| f.name == name).unwrap().text.clone();
        expect![[r#"
            // Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
            import type { StatusKind } from "./StatusKind";

            export type Status = { kind: StatusKind; detail: string | null; reason: string | null };
        "#]]
        .assert_eq(&text("Status.ts"));
        expect![[r#"
            // Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
            import type { ModelCost } from "./ModelCost";

            export type Cost = {
              usd_micros: number;
              client_usd_micros: number | null;
              unpriced_models: Array<string>;
              by_model: Array<ModelCost>;
            };
        "#]]
        .assert_eq(&text("Cost.ts"));
        assert!(text("Session.ts").contains("\n  last_activity_at: string;\n"));
    }

    #[test]
    fn every_import_is_a_file_of_ours() {
        let files = files();
        for import in files.iter().flat_map(|f| f.text.lines()).filter(|l| l.starts_with("import")) {
            let name = import.split('"').nth(1).unwrap().trim_start_matches("./");
            assert!(files.iter().any(|f| f.name == format!("{name}.ts")), "{import}");
        }
    }
}
