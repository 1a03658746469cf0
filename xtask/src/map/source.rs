//! The modules of a crate, and every path each one mentions, read from its source. Code for tests is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, ItemMod, Lit, Meta, UseTree};

/// `["engine", "commit"]`; empty for the crate's root.
pub(super) type ModulePath = Vec<String>;

#[derive(Debug)]
pub(super) struct Module {
    /// From the root of the repository.
    pub(super) file: PathBuf,
    pub(super) children: BTreeSet<String>,
    /// Names of the items defined here.
    pub(super) items: BTreeSet<String>,
    /// The path that each imported name stands for, as the `use` has it.
    pub(super) imports: BTreeMap<String, Vec<String>>,
    pub(super) globs: Vec<Vec<String>>,
    pub(super) mentions: Vec<Mention>,
}

/// A path in the code: `crate::store::Store` in line 12.
#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

pub(super) type Modules = BTreeMap<ModulePath, Module>;

/// The text of a file of the repository; `None` if there is no such file.
pub(super) type Files<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// Reads the crate whose root is this file, and every file that its `mod` lines name.
pub(super) fn read_crate(files: Files<'_>, root_file: &Path) -> Result<Modules> {
    let mut modules = Modules::new();
    let folder = root_file.parent().unwrap_or(Path::new("")).to_owned();
    read_file(files, root_file, &folder, ModulePath::new(), &mut modules)?;
    Ok(modules)
}

/// `folder` is where the files of this module's children are.
fn read_file(
    files: Files<'_>,
    file: &Path,
    folder: &Path,
    path: ModulePath,
    modules: &mut Modules,
) -> Result<()> {
    let text = files(file).with_context(|| format!("cannot read {}", file.display()))?;
    let parsed = syn::parse_file(&text).with_context(|| format!("{} is not Rust", file.display()))?;
    if is_for_tests(&parsed.attrs) {
        return Ok(());
    }
    read_items(files, file, folder, path, &parsed.items, modules)
}

fn read_items(
    files: Files<'_>,
    file: &Path,
    folder: &Path,
    path: ModulePath,
    items: &[Item],
    modules: &mut Modules,
) -> Result<()> {
    let mut reader = Reader::default();
    items.iter().for_each(|item| reader.visit_item(item));
    let mut children = BTreeSet::new();
    for child in items.iter().filter_map(declared_module) {
        let name = child.ident.to_string();
        let mut child_path = path.clone();
        child_path.push(name.clone());
        match &child.content {
            Some((_, items)) => read_items(files, file, &folder.join(&name), child_path, items, modules)?,
            None => {
                let child_file = file_of(files, file, folder, child);
                let child_folder = match child_file.file_name().is_some_and(|name| name == "mod.rs") {
                    true => child_file.parent().unwrap_or(folder).to_owned(),
                    false => child_file.with_extension(""),
                };
                read_file(files, &child_file, &child_folder, child_path.clone(), modules)?;
                if !modules.contains_key(&child_path) {
                    continue;
                }
            }
        }
        children.insert(name);
    }
    let Reader { items, imports, globs, mentions } = reader;
    modules.insert(path, Module { file: file.to_owned(), children, items, imports, globs, mentions });
    Ok(())
}

fn declared_module(item: &Item) -> Option<&ItemMod> {
    match item {
        Item::Mod(module) if !is_for_tests(&module.attrs) => Some(module),
        _ => None,
    }
}

/// `#[path]`, else `name.rs`, else `name/mod.rs`.
fn file_of(files: Files<'_>, file: &Path, folder: &Path, module: &ItemMod) -> PathBuf {
    let given = module.attrs.iter().find(|attr| attr.path().is_ident("path"));
    if let Some(Meta::NameValue(value)) = given.map(|attr| &attr.meta)
        && let Expr::Lit(literal) = &value.value
        && let Lit::Str(text) = &literal.lit
    {
        return file.parent().unwrap_or(folder).join(text.value());
    }
    let flat = folder.join(format!("{}.rs", module.ident));
    if files(&flat).is_some() { flat } else { folder.join(module.ident.to_string()).join("mod.rs") }
}

/// `#[cfg(test)]`, `#[cfg(any(test, …))]`; not `#[cfg(not(test))]`.
fn is_for_tests(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::List(list) if list.path.is_ident("cfg") => names_test(list.tokens.clone()),
        meta => meta.path().is_ident("test"),
    })
}

fn names_test(tokens: TokenStream) -> bool {
    let mut negated = false;
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => {
            negated = name == "not";
            name == "test"
        }
        TokenTree::Group(group) => !std::mem::take(&mut negated) && names_test(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

#[derive(Default)]
struct Reader {
    items: BTreeSet<String>,
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    mentions: Vec<Mention>,
}

impl Reader {
    fn read_use(&mut self, prefix: &[String], tree: &UseTree) {
        let with = |name: String| prefix.iter().cloned().chain([name]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.read_use(&with(path.ident.to_string()), &path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.read_use(prefix, tree)),
            UseTree::Name(name) if name.ident == "self" => {
                self.import(prefix.last().cloned(), prefix.to_vec(), &name.ident);
            }
            UseTree::Name(name) => {
                let text = name.ident.to_string();
                self.import(Some(text.clone()), with(text), &name.ident);
            }
            UseTree::Rename(rename) => {
                let path = match rename.ident == "self" {
                    true => prefix.to_vec(),
                    false => with(rename.ident.to_string()),
                };
                self.import(Some(rename.rename.to_string()), path, &rename.ident);
            }
            UseTree::Glob(glob) => {
                self.globs.push(prefix.to_vec());
                let line = glob.star_token.spans[0].start().line;
                self.mentions.push(Mention { path: prefix.to_vec(), line });
            }
        }
    }

    fn import(&mut self, name: Option<String>, path: Vec<String>, at: &proc_macro2::Ident) {
        self.mentions.push(Mention { path: path.clone(), line: at.span().start().line });
        if let Some(name) = name {
            self.imports.insert(name, path);
        }
    }

    fn mention(&mut self, path: Vec<String>, line: usize) {
        // A single name is an import, which is counted already, or an item of this module.
        if path.len() > 1 {
            self.mentions.push(Mention { path, line });
        }
    }

    /// Finds paths inside a macro call, which is not a syntax tree: names with `::` between them.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut line, mut colons) = (Vec::new(), 0, 0);
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.mention(std::mem::take(&mut path), line);
                        line = name.span().start().line;
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                other => {
                    self.mention(std::mem::take(&mut path), line);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.read_tokens(group.stream());
                    }
                }
            }
        }
        self.mention(path, line);
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attrs, name) = outline(item);
        if is_for_tests(attrs) {
            return;
        }
        self.items.extend(name);
        match item {
            // Modules are read on their own.
            Item::Mod(_) => {}
            Item::Use(item) => self.read_use(&[], &item.tree),
            item => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attrs: &[Attribute] = match item {
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Const(item) => &item.attrs,
            _ => &[],
        };
        if !is_for_tests(attrs) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let line = path.segments.first().map_or(0, |first| first.ident.span().start().line);
        self.mention(path.segments.iter().map(|segment| segment.ident.to_string()).collect(), line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.read_tokens(call.tokens.clone());
    }
}

fn outline(item: &Item) -> (&[Attribute], Option<String>) {
    match item {
        Item::Const(i) => (&i.attrs, Some(i.ident.to_string())),
        Item::Enum(i) => (&i.attrs, Some(i.ident.to_string())),
        Item::Fn(i) => (&i.attrs, Some(i.sig.ident.to_string())),
        Item::Impl(i) => (&i.attrs, None),
        Item::Macro(i) => (&i.attrs, i.ident.as_ref().map(ToString::to_string)),
        Item::Mod(i) => (&i.attrs, None),
        Item::Static(i) => (&i.attrs, Some(i.ident.to_string())),
        Item::Struct(i) => (&i.attrs, Some(i.ident.to_string())),
        Item::Trait(i) => (&i.attrs, Some(i.ident.to_string())),
        Item::Type(i) => (&i.attrs, Some(i.ident.to_string())),
        Item::Use(i) => (&i.attrs, None),
        _ => (&[], None),
    }
}
