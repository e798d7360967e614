//! What each module of a crate declares, with all features on and without its tests.

use std::collections::BTreeMap;

use syn::{Attribute, Fields, Item, Meta, Visibility};

use crate::rust_sources::{Source, imports, of_tests};

/// The item that a name in a module refers to.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Module(usize),
    Item(ItemFacts),
    /// A `use`, with its path.
    Use(Vec<String>),
}

/// An item: its kind, and what a `struct` or `enum` lets others see.
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemFacts {
    pub(crate) kind: &'static str,
    pub(crate) public_fields: usize,
    pub(crate) is_non_exhaustive: bool,
}

/// A name that a module declares.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) is_public: bool,
    pub(crate) meaning: Meaning,
}

/// A module, and the module that declares it.
pub(crate) struct Module {
    pub(crate) parent: usize,
    pub(crate) definitions: Vec<Definition>,
}

/// The modules of a crate; the first is its root.
pub(crate) struct Definitions {
    pub(crate) modules: Vec<Module>,
}

impl Definitions {
    pub(crate) fn read(sources: &[Source]) -> Self {
        let texts = sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
        let mut definitions = Self { modules: Vec::new() };
        let root = syn::parse_file(sources.iter().find(|source| source.path == "src/lib.rs").unwrap().text.as_str());
        definitions.module(0, "src".to_owned(), &root.unwrap().items, &texts);
        definitions
    }

    fn module(&mut self, parent: usize, folder: String, items: &[Item], texts: &BTreeMap<&str, &str>) -> usize {
        let index = self.modules.len();
        self.modules.push(Module { parent, definitions: Vec::new() });
        for item in items {
            self.declare(index, &folder, item, texts);
        }
        index
    }

    fn declare(&mut self, module: usize, folder: &str, item: &Item, texts: &BTreeMap<&str, &str>) {
        let none = Vec::new();
        let plain = |kind| ItemFacts { kind, ..ItemFacts::default() };
        let (attributes, visibility, ident, item) = match item {
            Item::Mod(child) if is_there(&child.attrs) => return self.child(module, folder, child, texts),
            Item::Use(item) if is_there(&item.attrs) => {
                for (name, path, _) in imports(&item.tree) {
                    self.define(module, name, is_public(&item.vis), Meaning::Use(path));
                }
                return;
            }
            Item::Struct(item) => (&item.attrs, &item.vis, &item.ident, structure(&item.attrs, &item.fields)),
            Item::Enum(item) => {
                let is_non_exhaustive = has(&item.attrs, "non_exhaustive");
                (&item.attrs, &item.vis, &item.ident, ItemFacts { is_non_exhaustive, ..plain("enum") })
            }
            Item::Fn(item) => (&item.attrs, &item.vis, &item.sig.ident, plain("fn")),
            Item::Const(item) => (&item.attrs, &item.vis, &item.ident, plain("const")),
            Item::Static(item) => (&item.attrs, &item.vis, &item.ident, plain("static")),
            Item::Trait(item) => (&item.attrs, &item.vis, &item.ident, plain("trait")),
            Item::Type(item) => (&item.attrs, &item.vis, &item.ident, plain("type")),
            Item::Union(item) => (&item.attrs, &item.vis, &item.ident, plain("union")),
            Item::Macro(syn::ItemMacro { attrs, ident: Some(ident), .. }) if has(attrs, "macro_export") => {
                // The item is at the root, regardless of where it is written.
                return self.define(0, ident.to_string(), is_there(attrs), Meaning::Item(plain("macro")));
            }
            _ => (&none, &Visibility::Inherited, &syn::Ident::new("_", proc_macro2::Span::call_site()), plain("")),
        };
        if is_there(attributes) && !item.kind.is_empty() {
            self.define(module, ident.to_string(), is_public(visibility), Meaning::Item(item));
        }
    }

    fn child(&mut self, parent: usize, folder: &str, child: &syn::ItemMod, texts: &BTreeMap<&str, &str>) {
        let name = child.ident.to_string();
        let folder = format!("{folder}/{name}");
        let index = if let Some((_, items)) = &child.content {
            self.module(parent, folder, items, texts)
        } else {
            let candidates = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
            let text = candidates.iter().find_map(|path| texts.get(path.as_str())).unwrap();
            self.module(parent, folder, &syn::parse_file(text).unwrap().items, texts)
        };
        self.define(parent, name, is_public(&child.vis), Meaning::Module(index));
    }

    fn define(&mut self, module: usize, name: String, is_public: bool, meaning: Meaning) {
        self.modules[module].definitions.push(Definition { name, is_public, meaning });
    }
}

fn structure(attributes: &[Attribute], fields: &Fields) -> ItemFacts {
    let public_fields = fields.iter().filter(|field| is_public(&field.vis) && is_there(&field.attrs)).count();
    ItemFacts { kind: "struct", public_fields, is_non_exhaustive: has(attributes, "non_exhaustive") }
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

/// True of `pub` without a reach.
fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// True of code that is there with all features on, outside of tests.
fn is_there(attributes: &[Attribute]) -> bool {
    let is_left_out = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args().is_ok_and(|meta: Meta| {
                matches!(&meta, Meta::List(not) if not.path.is_ident("not") && not.tokens.to_string().starts_with("feature"))
            })
    };
    !of_tests(attributes) && !attributes.iter().any(is_left_out)
}
