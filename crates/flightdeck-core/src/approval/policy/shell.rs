//! The commands that a shell would run for a line, as far as they can be determined without a shell.

/// Redirects that hide output and touch no file.
const HARMLESS: [&str; 5] = ["2>&1", ">/dev/null", "1>/dev/null", "2>/dev/null", "&>/dev/null"];

/// The commands of a line in order. `None` if only a shell can parse the line: then only a person may allow it.
///
/// A line without special characters is one command, including quotes. A line with `&&`, `||`, `;` or `|` is split only if
/// it has no quotes, backslashes, expansions or redirects, so that these operators are unambiguous.
pub(super) fn commands(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    if !line.contains(is_special) {
        return is_named(line).then(|| vec![line.to_owned()]);
    }
    if line.contains(['\'', '"', '\\', '\n', '\r']) {
        return None;
    }
    let words: Vec<&str> = line.split(' ').filter(|word| !HARMLESS.contains(word)).collect();
    let joined = words.join(" ").replace("&&", ";").replace("||", ";").replace('|', ";");
    let parts: Vec<String> = joined.split(';').map(|part| part.trim().to_owned()).collect();
    let certain = parts.iter().all(|part| is_named(part) && !part.contains(is_special));
    certain.then_some(parts)
}

/// Whether the program's name has no pattern that the shell would expand, as in `/bin/r? -rf x`.
fn is_named(command: &str) -> bool {
    command.split_whitespace().next().is_some_and(|name| !name.contains(['*', '?', '[', '~']))
}

fn is_special(c: char) -> bool {
    matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`')
        || (c.is_control() && c != '\t')
}

/// Every part of a line that might be a command. Deny rules are compared with each of them. White space is reduced to single
/// spaces and quotes are removed. Each part is listed a second time with the folders of its programs removed.
pub(super) fn possible_commands(line: &str) -> Vec<String> {
    let plain: String =
        line.replace("\\\n", "").chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let pieces = std::iter::once(plain.as_str()).chain(plain.split(is_special));
    let words = |piece: &str| piece.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
    let mut guesses = vec![line.trim().to_owned()];
    for piece in pieces.map(words).filter(|words| !words.is_empty()) {
        let bare: Vec<&str> = piece.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
        guesses.extend([piece.join(" "), bare.join(" ")]);
    }
    guesses.dedup();
    guesses
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_line_is_taken_apart_only_where_that_is_certain() {
        let lines = [
            "cargo test",
            "  cargo test 'a b'  ",
            "cd api && cargo test | tail -5",
            "a || b; c",
            "cargo test 2>&1 | tail",
            "cargo test >/dev/null 2>&1",
            "cargo test > out.txt",
            "cargo test >>/dev/null.txt",
            "cargo test &",
            "a & b",
            "a |& b",
            "a |||| b",
            "a ;; b",
            "a;",
            "echo $(b)",
            "echo `b`",
            "echo ${B}",
            "cat <(b)",
            "(a)",
            "a\nb",
            "a \\\n b",
            "echo 'a; b'",
            "echo \"x\" && b",
            "a\u{7}b",
            "/bin/r? -f x",
            "ls *.rs; /bin/r? x",
            "",
        ];
        let said: Vec<_> = lines
            .iter()
            .map(|l| {
                format!("{:<34} {}", format!("{l:?}"), commands(l).map_or("-".into(), |c| c.join(" / ")))
            })
            .collect();
        expect![[r#"
            "cargo test"                       cargo test
            "  cargo test 'a b'  "             cargo test 'a b'
            "cd api && cargo test | tail -5"   cd api / cargo test / tail -5
            "a || b; c"                        a / b / c
            "cargo test 2>&1 | tail"           cargo test / tail
            "cargo test >/dev/null 2>&1"       cargo test
            "cargo test > out.txt"             -
            "cargo test >>/dev/null.txt"       -
            "cargo test &"                     -
            "a & b"                            -
            "a |& b"                           -
            "a |||| b"                         -
            "a ;; b"                           -
            "a;"                               -
            "echo $(b)"                        -
            "echo `b`"                         -
            "echo ${B}"                        -
            "cat <(b)"                         -
            "(a)"                              -
            "a\nb"                             -
            "a \\\n b"                         -
            "echo 'a; b'"                      -
            "echo \"x\" && b"                  -
            "a\u{7}b"                          -
            "/bin/r? -f x"                     -
            "ls *.rs; /bin/r? x"               -
            ""                                 -
        "#]]
        .assert_eq(&(said.join("\n") + "\n"));
    }
}
