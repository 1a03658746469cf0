//! Commands that a heartbeat neither counts nor denies: the agent must be able to log when it is told to.

/// The subcommands of `flightdeck` that an agent may always run.
const EXEMPT_SUBCOMMANDS: [&str; 2] = ["effort", "rpc"];

/// Whether a Bash command is one exempt command and nothing else. `program` is the path of Flightdeck's binary; `exempt` has the
/// first words of each further exempt command.
pub fn is_exempt(command: &str, program: &str, exempt: &[String]) -> bool {
    let Some(words) = single_command(command) else { return false };
    let [name, rest @ ..] = words.as_slice() else { return false };
    let is_ours = name == "flightdeck" || name == program;
    let ours =
        is_ours && after_home(rest).first().is_some_and(|word| EXEMPT_SUBCOMMANDS.contains(&word.as_str()));
    let begins = |prefix: &String| {
        let prefix: Vec<&str> = prefix.split_whitespace().collect();
        !prefix.is_empty() && words.len() >= prefix.len() && prefix.iter().zip(&words).all(|(a, b)| a == b)
    };
    ours || exempt.iter().any(begins)
}

/// The words after `--home DIR`.
fn after_home(words: &[String]) -> &[String] {
    match words {
        [option, _, rest @ ..] if option == "--home" => rest,
        [option, rest @ ..] if option.starts_with("--home=") => rest,
        words => words,
    }
}

/// What a shell reads as space around a command. Any other space, as of Unicode, is part of a word.
const BLANKS: [char; 3] = [' ', '\t', '\n'];

/// The words of a line that a shell would run as one command and nothing else. `None` if that is not certain. The client's shell is not
/// interactive, so `!` is a character like any other.
fn single_command(command: &str) -> Option<Vec<String>> {
    let line = without_heredoc(command.trim_matches(BLANKS))?;
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => escaped(chars.next()?, quote.is_some(), &mut word),
            // A double-quoted text may run a command.
            (Some('"'), '$' | '`') => return None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`' | '#') => return None,
            (None, c) if c.is_control() => return None,
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Adds the character after a backslash, as a shell reads it. A backslash at the end of a line joins the next line to it.
fn escaped(c: char, in_quotes: bool, word: &mut Option<String>) {
    if c == '\n' {
        return;
    }
    let word = word.get_or_insert_default();
    if in_quotes && !matches!(c, '"' | '\\' | '$' | '`') {
        word.push('\\');
    }
    word.push(c);
}

/// Cuts off a heredoc whose delimiter is quoted, so that nothing in it is expanded, and that ends the command.
fn without_heredoc(command: &str) -> Option<&str> {
    let heredoc = command.split_once('\n').and_then(|(line, body)| {
        let (line, delimiter) = line.split_once("<<")?;
        let delimiter = delimiter.trim_matches([' ', '\t']);
        let unquoted = |quote: char| delimiter.strip_prefix(quote)?.strip_suffix(quote);
        Some((line, unquoted('\'').or_else(|| unquoted('"'))?, body))
    });
    // A quoted text of several lines is no second command.
    let Some((line, delimiter, body)) = heredoc else { return Some(command) };
    let plain = !delimiter.is_empty() && delimiter.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut lines = body.split('\n');
    let ends = lines.by_ref().any(|line| line == delimiter);
    (plain && ends && lines.all(|line| line.trim_matches(BLANKS).is_empty())).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_command_of_ours_is_exempt() {
        let yes = [
            "flightdeck effort log e-1 done",
            "  flightdeck effort log e-1 'it works; next: tests'  ",
            "flightdeck effort log e-1 \"a | b\"",
            "flightdeck effort log e-1 'two\nlines'",
            "/opt/bin/flightdeck rpc effort.list",
            "flightdeck rpc effort.list '{}'",
            "flightdeck --home /tmp/x effort log e-1 done",
            "flightdeck --home=/tmp/x rpc fleet.status",
            "flightdeck effort dehydrate e-1 <<'END'\nrm -rf / ; echo\nEND",
            "flightdeck effort dehydrate e-1 <<'END'\nall\nEND\n",
            "flightdeck effort dehydrate e-1 << \"END\"\n$(all)\nEND\n",
            "flightdeck effort log e-1 \"All tests pass! Next: a << b\nand c\"",
            "flightdeck effort log e-1 \"the \\\"tax\\\" rule costs \\$5\"",
            "flightdeck effort log \\\n  e-1 it\\'s\\ done",
            "engine log x",
        ];
        let no = [
            "",
            "flightdeck",
            "flightdeck hooks uninstall",
            "flightdeck --home effort log x",
            "flightdeck effort log e-1 x; rm -rf /",
            "flightdeck effort log e-1 x && rm a",
            "flightdeck effort log e-1 x | sh",
            "flightdeck effort log e-1 x & rm a",
            "flightdeck effort log e-1 $(rm a)",
            "flightdeck effort log e-1 \"$(rm a)\"",
            "flightdeck effort log e-1 `rm a`",
            "flightdeck effort log e-1 x\nrm a",
            "flightdeck effort log e-1 \"x\\\\\"; rm a \"\"",
            "flightdeck effort log e-1 'x\\'; rm a ''",
            "flightdeck effort log e-1 \"costs $5\"",
            "flightdeck effort log e-1 \"\\\\$(rm a)\"",
            "flightdeck effort log e-1 x\\",
            "flightdeck effort log e-1 x\\\\\nrm a",
            "flightdeck effort log e-1 x # it's\nrm a\n#'",
            "flightdeck effort log e-1 x\\<<'END'\nrm a\nEND",
            "flightdeck effort log e-1 <<'A' <<'B'\nA\nB",
            "flightdeck effort log e-1 <<<'END'\nrm a\nEND",
            "! flightdeck effort log e-1 x",
            "flightdeck effort log e-1 x > /etc/passwd",
            "flightdeck effort log e-1 'x",
            "/tmp/flightdeck effort log e-1 x",
            "A=b flightdeck effort log e-1 x",
            "flightdeck effort dehydrate e-1 <<END\n$(rm a)\nEND",
            "flightdeck effort dehydrate e-1 <<'END'\nx\nEND\nrm a",
            "flightdeck effort dehydrate e-1 <<'END' ; rm a\nx\nEND",
            "flightdeck effort dehydrate e-1 <<'END'\nx",
            "flightdeck effort dehydrate e-1 <<\u{a0}'END'\n\u{a0}END\nrm a\nEND",
            "flightdeck effort dehydrate e-1 <<'END'\u{3000}\nx\nEND\nrm a\nEND\u{3000}",
            "flightdeck effort dehydrate e-1 <<\r'END'\n\rEND\nrm a\nEND",
            "flightdeck effort dehydrate e-1 <<'END'\u{c}\nx\nEND\nrm a",
            "flightdeck effort dehydrate e-1 <<'END'\r\r\nx\nEND",
            "flightdeck effort dehydrate e-1 <<'END'\nx\nEND\n\u{a0}",
            "\u{a0}flightdeck effort log e-1 x",
            "engine logx",
            "engine",
        ];
        let exempt = ["engine log".to_owned(), " ".to_owned()];
        for command in yes {
            assert!(is_exempt(command, "/opt/bin/flightdeck", &exempt), "{command:?}");
        }
        for command in no {
            assert!(!is_exempt(command, "/opt/bin/flightdeck", &exempt), "{command:?}");
        }
    }
}
