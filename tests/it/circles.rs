//! Import circles between the modules of a crate.
//!
//! The modules are parsed, `use` declarations and paths are resolved through re-exports to the module that defines the item, and
//! for each folder the graph between its child modules is searched for strongly connected components (Tarjan, 1972). A file and
//! the files of its own folder are one subject: they may refer to each other. Code under `#[cfg(test)]` does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Item, UseTree};

/// The path of a module in its crate, without `crate`.
type ModulePath = Vec<String>;

/// Why one module depends on another: the path that the source has.
type Edges = BTreeMap<(ModulePath, ModulePath), String>;

/// What one module declares.
#[derive(Default)]
struct Module {
    items: BTreeSet<String>,
    /// The types that are `pub`.
    public_types: BTreeSet<String>,
    /// Imported and re-exported names with their paths.
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// All paths in the code of the module.
    paths: BTreeSet<Vec<String>>,
}

/// The modules of a crate.
#[derive(Default)]
pub(crate) struct Modules {
    modules: BTreeMap<ModulePath, Module>,
}

impl Modules {
    /// Parses the modules of the crate with this root file (`src/lib.rs` or `src/main.rs`).
    pub(crate) fn parse(root: &Path) -> Self {
        let mut this = Self::default();
        this.parse_file(root, root.parent().unwrap(), &Vec::new());
        this
    }

    fn parse_file(&mut self, file: &Path, folder: &Path, path: &ModulePath) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.parse_items(&parsed.items, folder, path);
    }

    fn parse_items(&mut self, items: &[Item], folder: &Path, path: &ModulePath) {
        let mut module = Module::default();
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            if let Some(name) = item_name(item) {
                if is_public_type(item) {
                    module.public_types.insert(name.clone());
                }
                module.items.insert(name);
            }
            match item {
                Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let below: ModulePath = path.iter().cloned().chain([name.clone()]).collect();
                    match &child.content {
                        Some((_, items)) => self.parse_items(items, &folder.join(&name), &below),
                        None => self.parse_file(&file_of(&child.attrs, folder, &name), &folder.join(&name), &below),
                    }
                }
                Item::Use(import) => module.add_imports(&import.tree, Vec::new()),
                _ => PathCollector(&mut module).visit_item(item),
            }
        }
        self.modules.insert(path.clone(), module);
    }

    /// The module that defines what a path names, seen from a module; `None` if it is of another crate.
    fn resolve(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        if depth > 32 {
            return None;
        }
        let (mut module, mut rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => (from[..from.len().checked_sub(1)?].to_vec(), &path[1..]),
            first => {
                let known = &self.modules[from];
                if !known.items.contains(first) {
                    if let Some(import) = known.imports.get(first) {
                        let whole: Vec<String> = import.iter().chain(&path[1..]).cloned().collect();
                        // `use a::a` names another crate's module by its own name.
                        return (whole != path).then(|| self.resolve(from, &whole, depth + 1)).flatten();
                    }
                    return known
                        .globs
                        .iter()
                        .filter(|glob| glob.first().is_some_and(|first| first != path.first().unwrap()))
                        .find_map(|glob| {
                            let target = self.resolve_module(from, glob, depth + 1)?;
                            self.declares(&target, first).then(|| self.descend(target, path, depth + 1)).flatten()
                        });
                }
                (from.clone(), path)
            }
        };
        while rest.first().is_some_and(|segment| segment == "super") {
            module.pop();
            rest = &rest[1..];
        }
        self.descend(module, rest, depth)
    }

    /// The module that a path names.
    fn resolve_module(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        self.resolve(from, path, depth)
    }

    fn declares(&self, module: &ModulePath, name: &str) -> bool {
        let known = &self.modules[module];
        known.items.contains(name) || known.imports.contains_key(name)
    }

    fn descend(&self, mut module: ModulePath, mut rest: &[String], depth: usize) -> Option<ModulePath> {
        while let Some(segment) = rest.first() {
            let child: ModulePath = module.iter().cloned().chain([segment.clone()]).collect();
            if self.modules.contains_key(&child) {
                module = child;
                rest = &rest[1..];
                continue;
            }
            let known = self.modules.get(&module)?;
            if !known.items.contains(segment) {
                let tail: Vec<String> = [segment.clone()].into_iter().chain(rest[1..].iter().cloned()).collect();
                if known.imports.contains_key(segment) || !known.globs.is_empty() {
                    return self.resolve(&module, &tail, depth + 1).or(Some(module));
                }
            }
            break;
        }
        Some(module)
    }

    /// The number of modules.
    pub(crate) fn len(&self) -> usize {
        self.modules.len()
    }

    /// The types that are declared `pub`, each with its module. A type of a private module counts too.
    pub(crate) fn public_types(&self) -> impl Iterator<Item = (String, String)> {
        self.modules
            .iter()
            .flat_map(|(path, module)| module.public_types.iter().map(|name| (path.join("::"), name.clone())))
    }

    /// The dependencies between modules.
    fn edges(&self) -> Edges {
        let mut edges = Edges::new();
        for (from, module) in &self.modules {
            let imports = module.imports.values().chain(&module.globs);
            for path in imports.chain(&module.paths) {
                if let Some(to) = self.resolve(from, path, 0).filter(|to| to != from) {
                    edges.entry((from.clone(), to)).or_insert_with(|| path.join("::"));
                }
            }
        }
        edges
    }

    /// The circles between the child modules of each folder, each with the paths that close it.
    pub(crate) fn circles(&self) -> Vec<Circle> {
        let edges = self.edges();
        let mut circles = Vec::new();
        for folder in self.modules.keys() {
            let mut graph: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
            for ((from, to), path) in &edges {
                if let (Some(from_child), Some(to_child)) = (child_of(folder, from), child_of(folder, to))
                    && from_child != to_child
                {
                    let why = format!("{} uses {path}", from.join("::"));
                    graph.entry(from_child).or_default().entry(to_child).or_insert(why);
                }
            }
            for members in components(&graph) {
                let why = members
                    .iter()
                    .flat_map(|from| graph[from.as_str()].iter().map(move |(to, why)| (from, *to, why)))
                    .filter(|(_, to, _)| members.contains(*to))
                    .map(|(from, to, why)| format!("{from} -> {to}: {why}"))
                    .collect();
                circles.push(Circle { folder: folder.join("::"), members, why });
            }
        }
        circles
    }
}

/// Modules that depend on each other.
pub(crate) struct Circle {
    /// The module whose children these are; empty for the root of the crate.
    pub(crate) folder: String,
    pub(crate) members: BTreeSet<String>,
    /// A path for each dependency.
    pub(crate) why: Vec<String>,
}

impl Module {
    fn add_imports(&mut self, tree: &UseTree, mut path: Vec<String>) {
        match tree {
            UseTree::Path(tree_path) => {
                path.push(tree_path.ident.to_string());
                self.add_imports(&tree_path.tree, path);
            }
            UseTree::Name(name) if name.ident == "self" => {
                let last = path.last().unwrap().clone();
                self.imports.insert(last, path);
            }
            UseTree::Name(name) => {
                path.push(name.ident.to_string());
                self.imports.insert(name.ident.to_string(), path);
            }
            UseTree::Rename(rename) => {
                if rename.ident != "self" {
                    path.push(rename.ident.to_string());
                }
                let mut name = rename.rename.to_string();
                if name == "_" {
                    name = format!("_ {}", path.join("::"));
                }
                self.imports.insert(name, path);
            }
            UseTree::Glob(_) => self.globs.push(path),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_imports(tree, path.clone())),
        }
    }
}

/// Collects the paths of an item, including those in macro invocations.
struct PathCollector<'a>(&'a mut Module);

impl PathCollector<'_> {
    fn add_tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons) = (Vec::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add_path(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.add_path(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add_path(path);
    }

    fn add_path(&mut self, path: Vec<String>) {
        if !path.is_empty() {
            self.0.paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for PathCollector<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add_path(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.add_tokens(invocation.tokens.clone());
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if is_test(attributes(item)) {
            return;
        }
        if let Item::Use(import) = item {
            self.0.add_imports(&import.tree, Vec::new());
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            syn::visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// The child of a folder that a module is, or is in.
fn child_of<'a>(folder: &ModulePath, module: &'a ModulePath) -> Option<&'a str> {
    module.starts_with(folder).then(|| module.get(folder.len())).flatten().map(String::as_str)
}

/// The strongly connected components with more than one member.
fn components(graph: &BTreeMap<&str, BTreeMap<&str, String>>) -> Vec<BTreeSet<String>> {
    let reaches = |from: &str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(node) = next.pop() {
            for to in graph.get(node.as_str()).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert((*to).to_owned()) {
                    next.push((*to).to_owned());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&str, BTreeSet<String>> = graph.keys().map(|node| (*node, reaches(node))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (node, reached) in &reach {
        if reached.contains(*node) && !found.iter().any(|members| members.contains(*node)) {
            let back = |other: &&String| reach.get(other.as_str()).is_some_and(|reach| reach.contains(*node));
            found.push(reached.iter().filter(back).cloned().collect());
        }
    }
    found
}

fn file_of(attributes: &[syn::Attribute], folder: &Path, name: &str) -> PathBuf {
    let given = attributes.iter().find(|attribute| attribute.path().is_ident("path")).map(|attribute| {
        let syn::Meta::NameValue(value) = &attribute.meta else { panic!("{name}: path without a value") };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &value.value else { panic!("{name}") };
        folder.join(text.value())
    });
    let flat = given.unwrap_or_else(|| folder.join(format!("{name}.rs")));
    if flat.exists() { flat } else { folder.join(name).join("mod.rs") }
}

/// Whether an item is compiled for tests only.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            condition.contains("test") && !condition.contains("not")
        }
        meta => meta.path().is_ident("test"),
    })
}

fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn item_name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Mod(item) => item.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn is_public_type(item: &Item) -> bool {
    let visibility = match item {
        Item::Enum(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        Item::Type(item) => &item.vis,
        Item::Union(item) => &item.vis,
        _ => return false,
    };
    matches!(visibility, syn::Visibility::Public(_))
}
