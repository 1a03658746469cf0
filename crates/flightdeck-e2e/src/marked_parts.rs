//! Parts of a page between `<!-- name -->` and `<!-- /name -->`, which a program writes.

use anyhow::{Context, Result};

fn begin(name: &str) -> String {
    format!("<!-- {name} -->\n")
}

/// The text between the marks.
pub fn marked_part<'a>(page: &'a str, name: &str) -> Result<&'a str> {
    let missing = || format!("the page has no {} with its end", begin(name).trim());
    let (_, rest) = page.split_once(&begin(name)).with_context(missing)?;
    let (old, _) = rest.split_once(&format!("<!-- /{name} -->")).with_context(missing)?;
    Ok(old)
}

/// The page with another text between the marks.
pub fn replace_part(page: &str, name: &str, text: &str) -> Result<String> {
    let old = marked_part(page, name)?;
    let begin = page.find(&begin(name)).unwrap_or_default() + begin(name).len();
    Ok(format!("{}{text}{}", &page[..begin], &page[begin + old.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_between_its_marks_and_nothing_else_is() -> Result<()> {
        let page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n";
        assert_eq!(replace_part(page, "x", "new\n")?, "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n");
        assert!(replace_part(page, "y", "").is_err());
        Ok(())
    }
}
