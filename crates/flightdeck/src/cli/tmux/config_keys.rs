//! Finds what a tmux configuration binds to a key behind the prefix.

/// The number of the last line that binds the key in the prefix table to something that is not ours. `None` if the key is free. Only
/// lines that begin with `bind` or `unbind` are read, not what other files and conditions add.
pub(super) fn line_that_binds(config: &str, key: &str) -> Option<usize> {
    let mut found = None;
    for (number, line) in config.lines().enumerate() {
        let words = words(line);
        let Some((command, rest)) = words.split_first() else { continue };
        let bound = || prefix_key(rest) == Some(key);
        match command.as_str() {
            "bind" | "bind-key" if bound() && !line.contains("flightdeck") => found = Some(number + 1),
            "unbind" | "unbind-key" if rest.iter().any(|word| word == "-a") || bound() => found = None,
            _ => {}
        }
    }
    found
}

/// The key of a `bind` command, if it is bound in the prefix table.
fn prefix_key(words: &[String]) -> Option<&str> {
    let mut words = words.iter().map(String::as_str);
    loop {
        let word = words.next()?;
        match word.strip_prefix('-').filter(|flags| !flags.is_empty()) {
            None => return Some(word),
            Some(flags) if flags.contains('n') => return None,
            Some(flags) if flags.ends_with('T') => match words.next()? {
                "prefix" => {}
                _ => return None,
            },
            Some(flags) if flags.ends_with('N') => drop(words.next()),
            Some(_) => {}
        }
    }
}

/// The words of a line, with quotes taken away. A comment has none.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_is_found_behind_its_options() {
        for line in
            ["bind F x", "bind-key -r F x", "  bind -N 'my own' -T prefix \"F\" x", "bind -rN note F x"]
        {
            assert_eq!(line_that_binds(&format!("set -g mouse on\n{line}\n"), "F"), Some(2), "{line}");
        }
    }

    #[test]
    fn another_table_key_comment_and_our_own_binding_are_passed_over() {
        for line in [
            "bind -n F x",
            "bind -T root F x",
            "bind f x",
            "# bind F x",
            "bind F run 'flightdeck tui'",
            "bind",
        ] {
            assert_eq!(line_that_binds(line, "F"), None, "{line}");
        }
        assert_eq!(line_that_binds("bind F x\nunbind F\n", "F"), None);
        assert_eq!(line_that_binds("unbind -a\nbind F x\n", "F"), Some(2));
    }
}
