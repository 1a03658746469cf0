//! The wire shapes as TypeScript, one file a type, for `cargo xtask gen`.

use std::collections::BTreeSet;

use ts_rs::{Config, TS, TypeVisitor};

use crate::types::*;

/// The first line of every generated file. A file with this line that is not generated any more is stale.
pub const HEADER: &str = "// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.\n";

/// Longest declaration that stays on one line.
const LINE_CHARS_MAX: usize = 110;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeFile {
    /// `Session.ts`
    pub name: String,
    pub text: String,
}

/// `Routes.ts`: every HTTP route of the table with the type of its body and of its reply.
const ROUTES: &str = "Routes";

/// The files of every type in the request or reply of an HTTP route, of the types that those name, and of the routes themselves.
pub fn type_files() -> Vec<TypeFile> {
    let (mut types, mut routes) = (TypeFiles::default(), Routes::default());
    macro_rules! visit {
        ($(
            $request:ident -> $reply:ty, $summary:literal {
                $(socket $command:literal $(by $special:ident)?, example $example:tt;)?
                $(http $method:ident $path:literal $(by $handler:ident)? $(, $about:literal)? [$($responses:tt)*];)*
            }
        )*) => {
            $($(
                types.visit::<$reply>();
                visit_body!($method $path $request $reply);
            )*)*
        };
    }
    macro_rules! visit_body {
        (get $path:literal $request:ident $reply:ty) => {
            routes.add::<(), $reply>("GET", $path)
        };
        (post $path:literal $request:ident $reply:ty) => {
            types.visit::<$request>();
            routes.add::<$request, $reply>("POST", $path)
        };
    }
    crate::endpoints!(visit);
    types.0.push(routes.file());
    types.sorted()
}

/// The lines of `Routes.ts` so far, and the types that they name.
#[derive(Default)]
struct Routes {
    lines: Vec<String>,
    imports: BTreeSet<String>,
}

impl Routes {
    /// How a line names the type; a type with a file of its own is imported.
    fn name<T: TS + 'static + ?Sized>(&mut self) -> String {
        let name = T::name(&types_config());
        if T::output_path().is_some() {
            self.imports.insert(name.clone());
        }
        name
    }

    fn add<Body: TS + 'static, Reply: TS + 'static>(&mut self, method: &str, path: &str) {
        let (body, reply) = (self.name::<Body>(), self.name::<Reply>());
        self.lines.push(format!("  \"{method} {path}\": {{ body: {body}; reply: {reply} }};\n"));
    }

    fn file(&self) -> TypeFile {
        let imports =
            self.imports.iter().map(|name| format!("import type {{ {name} }} from \"./{name}\";\n"));
        let about = "/** The HTTP routes of the daemon. Parts of the path in braces are fields of the request too. */";
        let text = format!(
            "{HEADER}{}\n{about}\nexport type {ROUTES} = {{\n{}}};\n",
            imports.collect::<String>(),
            self.lines.concat()
        );
        TypeFile { name: format!("{ROUTES}.ts"), text }
    }
}

/// Large integers become `number`: every number of ours is far below 2^53.
fn types_config() -> Config {
    Config::new().with_large_int("number")
}

/// The files so far, each once: ts-rs has several Rust types for one TypeScript type, such as `JsonValue`.
#[derive(Default)]
struct TypeFiles(Vec<TypeFile>);

impl TypeFiles {
    fn sorted(mut self) -> Vec<TypeFile> {
        self.0.sort_by(|a, b| a.name.cmp(&b.name));
        self.0
    }
}

impl TypeVisitor for TypeFiles {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        let has_a_name = T::output_path().is_some();
        if !has_a_name {
            return;
        }
        let file = type_file::<T>(&types_config());
        if !self.0.contains(&file) {
            self.0.push(file);
            T::visit_dependencies(self);
        }
    }
}

fn type_file<T: TS + 'static + ?Sized>(config: &Config) -> TypeFile {
    let mut imports: Vec<String> = T::dependencies(config).into_iter().map(|d| d.ts_name).collect();
    imports.sort();
    imports.dedup();
    // A type may name itself.
    imports.retain(|name| *name != T::ident(config));
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
    let (line, last) =
        if flat.len() > LINE_CHARS_MAX && is_one_object(&flat) { ("\n  ", ";\n}") } else { (" ", " }") };
    let (mut text, mut open) = (String::new(), Vec::new());
    for c in flat.chars() {
        match c {
            '{' | '<' | '(' => open.push(c),
            '}' | '>' | ')' => _ = open.pop(),
            _ => {}
        }
        match (c, open.as_slice()) {
            ('{', ['{']) => text += &format!("{{{line}"),
            (',', ['{']) => text += &format!(";{line}"),
            ('}', []) => text = format!("{}{last}", text.trim_end()),
            (' ', ['{']) if text.ends_with(line) => {}
            _ => text.push(c),
        }
    }
    text
}

/// Whether the declaration is one object and not a union: its first brace is closed by its last one.
fn is_one_object(declaration: &str) -> bool {
    let Some((_, fields)) = declaration.split_once(" = {") else { return false };
    let mut depth = 1;
    let closed_at = fields.char_indices().find(|(_, c)| {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        depth == 0
    });
    closed_at.is_some_and(|(at, _)| matches!(&fields[at..], "}" | "};"))
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
        let files = type_files();
        let text = |name: &str| files.iter().find(|f| f.name == name).unwrap().text.clone();
        expect![[r#"
            // Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
            import type { StatusKind } from "./StatusKind";

            /**
             * The three-state view of an agent: whether it works or needs the person, with the current work and the reason for waiting.
             */
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
    fn no_two_types_have_the_same_name() {
        let files = type_files();
        assert!(files.windows(2).all(|pair| pair[0].name != pair[1].name), "{files:?}");
    }

    #[test]
    fn every_route_has_the_types_of_its_row() {
        let files = type_files();
        let routes = &files.iter().find(|f| f.name == "Routes.ts").unwrap().text;
        let row = "\n  \"POST /api/asks/{id}/answer\": { body: AnswerAsk; reply: Resolution };\n";
        assert!(routes.contains(row), "{routes}");
        assert!(routes.contains("import type { Resolution } from \"./Resolution\";"), "{routes}");
    }

    #[test]
    fn a_socket_command_without_a_route_is_not_for_the_page() {
        assert!(!type_files().iter().any(|file| file.name == "Pong.ts"));
    }

    #[test]
    fn every_import_is_a_file_of_ours() {
        let files = type_files();
        for import in files.iter().flat_map(|f| f.text.lines()).filter(|l| l.starts_with("import")) {
            let name = import.split('"').nth(1).unwrap().trim_start_matches("./");
            assert!(files.iter().any(|f| f.name == format!("{name}.ts")), "{import}");
        }
    }
}
