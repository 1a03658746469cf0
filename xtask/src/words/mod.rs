//! `cargo xtask test --only words`: words that make a reader guess who or what is meant, in comments, texts, names and docs.

mod lexer;
mod list;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use flightdeck_e2e::workspace::root;

use lexer::{Kind, Language, pieces};
use list::{ALLOWED, BANNED};

/// A banned word in a line of a file.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    file: String,
    line: usize,
    word: &'static str,
    text: String,
}

#[derive(Default)]
struct WordReport {
    found: Vec<Found>,
    comment_lines: usize,
    in_comments: usize,
}

/// Prints every place with a banned word. True if there is none.
pub(crate) fn check() -> Result<bool> {
    let root = root();
    let mut report = WordReport::default();
    for file in files(&root)? {
        let text = fs::read_to_string(root.join(&file)).with_context(|| format!("cannot read {file}"))?;
        report.read(&file, &text);
    }
    report.print();
    Ok(report.found.is_empty())
}

/// What git tracks or would track: no build output, no modules of npm.
fn files(root: &Path) -> Result<Vec<String>> {
    let args = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    let output = Command::new("git").current_dir(root).args(args).output().context("cannot run git")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let all = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_read = |file: &&str| format_of(file).is_some() && root.join(file).exists();
    Ok(all.lines().filter(is_read).map(str::to_owned).collect())
}

enum Format {
    Source(Language),
    Prose,
}

/// `None` for files that are data, and for those whose source is checked instead.
fn format_of(file: &str) -> Option<Format> {
    if file.starts_with("web/src/generated/") || file.starts_with("xtask/src/words/") {
        return None;
    }
    match Path::new(file).extension()?.to_str()? {
        "rs" => Some(Format::Source(Language::Rust)),
        "ts" | "tsx" | "js" | "mjs" => Some(Format::Source(Language::Script)),
        "css" => Some(Format::Source(Language::Style)),
        "md" | "html" | "toml" => Some(Format::Prose),
        _ => None,
    }
}

impl WordReport {
    fn read(&mut self, file: &str, text: &str) {
        match format_of(file) {
            Some(Format::Source(language)) => {
                let mut last = 0;
                for piece in pieces(text, language) {
                    let is_comment = piece.kind == Kind::Comment;
                    self.comment_lines += usize::from(is_comment && piece.line != last);
                    last = if is_comment { piece.line } else { last };
                    let found = self.count_banned(file, piece.line, piece.text);
                    self.in_comments += if is_comment { found } else { 0 };
                }
            }
            Some(Format::Prose) => {
                for (n, line) in text.lines().enumerate() {
                    self.count_banned(file, n + 1, line);
                }
            }
            None => {}
        }
    }

    /// How many banned words a piece of text has.
    fn count_banned(&mut self, file: &str, line: usize, text: &str) -> usize {
        let words = banned_in(text).filter(|word| !is_allowed(file, word, text));
        let before = self.found.len();
        let found = |word| Found { file: file.to_owned(), line, word, text: text.trim().to_owned() };
        self.found.extend(words.map(found));
        self.found.len() - before
    }

    fn print(&self) {
        for Found { file, line, word, text } in &self.found {
            println!("{file}:{line}: {word}: {text}");
        }
        let mut by_word = BTreeMap::new();
        let mut by_area = BTreeMap::new();
        for found in &self.found {
            *by_word.entry(found.word).or_insert(0) += 1;
            *by_area.entry(area(&found.file)).or_insert(0) += 1;
        }
        for (word, count) in by_word {
            let instead =
                BANNED.iter().find(|(banned, _)| *banned == word).map_or("", |(_, instead)| instead);
            println!("{count:>5} {word:<14} {instead}");
        }
        by_area.iter().for_each(|(area, count)| println!("{count:>5} in {area}"));
        let rate = self.in_comments as f64 * 1000.0 / self.comment_lines.max(1) as f64;
        println!(
            "{} banned words; {rate:.1} for 1,000 of the {} comment lines",
            self.found.len(),
            self.comment_lines
        );
    }
}

/// `crates/flightdeck/src/engine`: deep enough that one person can clear it.
fn area(file: &str) -> String {
    let folders: Vec<&str> = file.split('/').collect();
    let depth = if folders.first() == Some(&"crates") { 4 } else { 2 };
    let kept = depth.min(folders.len().saturating_sub(1));
    if kept == 0 { file.to_owned() } else { folders[..kept].join("/") }
}

/// The words of a text, in lower case, as a name joins them too: `nobody_answers`, `nobodyAnswers`.
fn banned_in(text: &str) -> impl Iterator<Item = &'static str> {
    let mut plain = String::with_capacity(text.len() + 2);
    plain.push(' ');
    let mut was_lower = false;
    for c in text.chars() {
        if was_lower && c.is_ascii_uppercase() {
            plain.push(' ');
        }
        was_lower = c.is_ascii_lowercase();
        let c = c.to_ascii_lowercase();
        match c {
            c if c.is_ascii_alphanumeric() => plain.push(c),
            // A phrase does not go on behind one of these.
            ',' | '.' | ';' | ':' | '!' | '?' | '(' | ')' => plain.push_str(" , "),
            _ if plain.ends_with(' ') => {}
            _ => plain.push(' '),
        }
    }
    plain.push(' ');
    let holds = move |word: &&'static str| plain.contains(&format!(" {word} "));
    BANNED.iter().map(|(word, _)| *word).filter(holds)
}

fn is_allowed(file: &str, word: &str, text: &str) -> bool {
    let fits = |allowed: &&list::Allowed| {
        file.starts_with(allowed.file) && allowed.word == word && text.contains(allowed.text)
    };
    ALLOWED.iter().any(|allowed| fits(&allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn banned_words(text: &str) -> Vec<&'static str> {
        banned_in(text).collect()
    }

    #[test]
    fn a_banned_word_is_found_in_prose_and_in_names() {
        assert_eq!(banned_words("/// Nobody's hook, whoever sent it"), ["nobody", "whoever"]);
        assert_eq!(banned_words("fn nobody_answers()"), ["nobody"]);
        assert_eq!(banned_words("whenNobodyAnswers"), ["nobody"]);
        assert_eq!(banned_words("the one that is nobodyx"), ["the one that"]);
        assert!(banned_words("the engine acknowledges the event").is_empty());
        assert!(banned_words("yes or no, one choice").is_empty());
    }

    #[test]
    fn comments_are_counted_and_strings_are_read() {
        let mut report = WordReport::default();
        report.read("a.rs", "// fine\n// nobody\nlet a = \"somebody\"; // nobody\n");
        let found: Vec<_> = report.found.iter().map(|found| (found.line, found.word)).collect();
        assert_eq!(found, [(2, "nobody"), (3, "somebody"), (3, "nobody")]);
        assert_eq!((report.comment_lines, report.in_comments), (3, 2));
    }
}
