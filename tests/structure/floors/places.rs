//! All names that an item uses: paths of expressions, types and patterns, `use`, methods, and macros with the paths in their arguments.
//! Comments, attributes and the visibility in `pub(in PATH)` are ignored.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItem, Item, Signature, Stmt, TraitItem, Visibility};

use crate::rust_sources::{imports, of_tests};

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A path in an expression, a type, a pattern or the arguments of a macro.
    Path,
    /// A `use` without `pub`.
    Import,
    /// A `use` with `pub` of any visibility.
    Reexport,
    /// A macro call.
    Macro,
    /// A method call: only the method's name.
    Method,
}

/// A use of a name in the code.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) module: usize,
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    pub(crate) path: Vec<String>,
    /// True below `#[cfg(test)]`.
    pub(crate) is_test: bool,
}

fn attributes(item: &Item) -> &[Attribute] {
    use syn::*;
    match item {
        Item::Const(ItemConst { attrs, .. })
        | Item::Enum(ItemEnum { attrs, .. })
        | Item::ExternCrate(ItemExternCrate { attrs, .. })
        | Item::Fn(ItemFn { attrs, .. })
        | Item::ForeignMod(ItemForeignMod { attrs, .. })
        | Item::Impl(ItemImpl { attrs, .. })
        | Item::Macro(ItemMacro { attrs, .. })
        | Item::Mod(ItemMod { attrs, .. })
        | Item::Static(ItemStatic { attrs, .. })
        | Item::Struct(ItemStruct { attrs, .. })
        | Item::Trait(ItemTrait { attrs, .. })
        | Item::TraitAlias(ItemTraitAlias { attrs, .. })
        | Item::Type(ItemType { attrs, .. })
        | Item::Union(ItemUnion { attrs, .. })
        | Item::Use(ItemUse { attrs, .. }) => attrs,
        _ => &[],
    }
}

/// Reads the items of a module, without the modules in it.
pub(crate) struct Places {
    module: usize,
    is_test: bool,
    /// The names that `use` inside functions declares, and their paths, outermost first.
    scopes: Vec<BTreeMap<String, Vec<String>>>,
    /// The variables of the function, which may have the same names as functions elsewhere.
    variables: BTreeSet<String>,
    pub(crate) found: Vec<Use>,
}

impl Places {
    pub(crate) fn new(module: usize, is_test: bool) -> Self {
        Self { module, is_test, scopes: Vec::new(), variables: BTreeSet::new(), found: Vec::new() }
    }

    pub(crate) fn read(&mut self, item: &Item) {
        self.visit_item(item);
    }

    fn add(&mut self, kind: Kind, mut path: Vec<String>, line: usize) {
        if kind == Kind::Path {
            let is_variable = path.len() == 1 && self.variables.contains(&path[0]);
            if is_variable || path[0] == "Self" {
                return;
            }
            if let Some(inner) = self.scopes.iter().rev().find_map(|scope| scope.get(&path[0])) {
                path.splice(..1, inner.iter().cloned());
            }
        }
        self.found.push(Use { module: self.module, line, kind, path, is_test: self.is_test });
    }

    /// Reads an item with attributes, as test code if an attribute marks it.
    fn below(&mut self, attributes: &[Attribute], read: impl FnOnce(&mut Self)) {
        let outside = self.is_test;
        self.is_test |= of_tests(attributes);
        read(self);
        self.is_test = outside;
    }

    /// Reads a function, whose variables are not names of items.
    fn function(&mut self, signature: &Signature, block: Option<&Block>, read: impl FnOnce(&mut Self)) {
        let mut variables = Variables(self.variables.clone());
        variables.visit_signature(signature);
        block.into_iter().for_each(|block| variables.visit_block(block));
        let outside = std::mem::replace(&mut self.variables, variables.0);
        read(self);
        self.variables = outside;
    }

    /// Reads all paths in the arguments of a macro, whose meaning only the macro defines.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == sign);
        let ident = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        };
        let mut at = 0;
        while at < tokens.len() {
            if let TokenTree::Group(group) = &tokens[at] {
                self.tokens(group.stream());
            }
            let Some(first) = ident(at) else {
                at += 1;
                continue;
            };
            let (before, start) = (at.checked_sub(1), first.span().start().line);
            let mut path = vec![first.to_string()];
            while is(at + 1, ':') && is(at + 2, ':') {
                let Some(next) = ident(at + 3) else { break };
                path.push(next.to_string());
                at += 3;
            }
            at += 1;
            let is_call = matches!(tokens.get(at), Some(TokenTree::Group(_)));
            let of_variable = before.is_some_and(|before| is(before, '$')) && path[0] != "crate";
            if before.is_some_and(|before| is(before, '.') && !before.checked_sub(1).is_some_and(|b| is(b, '.'))) {
                if is_call {
                    self.add(Kind::Method, path, start);
                }
            } else if is(at, '!') && matches!(tokens.get(at + 1), Some(TokenTree::Group(_))) {
                self.add(Kind::Macro, path, start);
            } else if !of_variable {
                self.add(Kind::Path, path, start);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Places {
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_item(&mut self, item: &'ast Item) {
        self.below(attributes(item), |places| visit::visit_item(places, item));
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(syn::ImplItemConst { attrs, .. })
            | ImplItem::Fn(syn::ImplItemFn { attrs, .. })
            | ImplItem::Type(syn::ImplItemType { attrs, .. })
            | ImplItem::Macro(syn::ImplItemMacro { attrs, .. }) => attrs.as_slice(),
            _ => &[],
        };
        self.below(attributes, |places| visit::visit_impl_item(places, item));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes = match item {
            TraitItem::Const(syn::TraitItemConst { attrs, .. })
            | TraitItem::Fn(syn::TraitItemFn { attrs, .. })
            | TraitItem::Type(syn::TraitItemType { attrs, .. })
            | TraitItem::Macro(syn::TraitItemMacro { attrs, .. }) => attrs.as_slice(),
            _ => &[],
        };
        self.below(attributes, |places| visit::visit_trait_item(places, item));
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.below(&field.attrs, |places| visit::visit_field(places, field));
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.below(&variant.attrs, |places| visit::visit_variant(places, variant));
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.below(&arm.attrs, |places| visit::visit_arm(places, arm));
    }

    fn visit_field_value(&mut self, value: &'ast syn::FieldValue) {
        self.below(&value.attrs, |places| visit::visit_field_value(places, value));
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.below(&local.attrs, |places| visit::visit_local(places, local));
    }

    fn visit_stmt_macro(&mut self, statement: &'ast syn::StmtMacro) {
        self.below(&statement.attrs, |places| visit::visit_stmt_macro(places, statement));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, Some(&item.block), |places| visit::visit_item_fn(places, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, Some(&item.block), |places| visit::visit_impl_item_fn(places, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.sig, item.default.as_ref(), |places| visit::visit_trait_item_fn(places, item));
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let uses = block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(Item::Use(item)) => Some(imports(&item.tree)),
            _ => None,
        });
        self.scopes.push(uses.flatten().map(|(name, path, _)| (name, path)).collect());
        visit::visit_block(self, block);
        self.scopes.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let kind = if is_public(&item.vis) { Kind::Reexport } else { Kind::Import };
        for (_, path, line) in imports(&item.tree).into_iter().filter(|(_, path, _)| !path.is_empty()) {
            self.add(kind, path, line);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(Kind::Path, names, path.segments[0].ident.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.add(Kind::Method, vec![call.method.to_string()], call.method.span().start().line);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let names = call.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(Kind::Macro, names, call.path.segments[0].ident.span().start().line);
        self.tokens(call.tokens.clone());
    }
}

/// The names that patterns give to values.
struct Variables(BTreeSet<String>);

impl<'ast> Visit<'ast> for Variables {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let name = pattern.ident.to_string();
        if name.starts_with(|first: char| first.is_lowercase() || first == '_') {
            self.0.insert(name);
        }
        visit::visit_pat_ident(self, pattern);
    }
}

/// True for `pub` with any visibility.
fn is_public(visibility: &Visibility) -> bool {
    !matches!(visibility, Visibility::Inherited)
}
