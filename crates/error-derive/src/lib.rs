//! The derive macros of errors: codes and hints, and messages in each language.
//!
//! Invariant: each variant has a code: its own, that of the error in it, or the default that its type
//! states. A variant without one, and attributes that contradict each other, do not compile.

mod localize;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Error, Expr, Fields, Ident, LitStr, Result};

/// Implements `code()` and `hint()` for an error type.
///
/// The attributes stand on a variant. Those on the type are the defaults of its variants:
///
/// - `#[code(ToolNotFound)]`: the variant of `ErrorCode`.
/// - `#[hint("next step")]`: the hint, as a literal or as the path of a constant.
/// - `#[hint(field)]`: the hint is in this field, as a `&'static str`.
/// - `#[coded(transparent)]`: code and hint are those of the error in the only field, or in the field
///   `source`.
/// - `#[coded(no_hint)]`, only on the type: `hint()` is not implemented.
///
/// A variant without code or hint does not compile, nor does one that says two things.
#[proc_macro_derive(Coded, attributes(code, hint, coded))]
pub fn derive_coded(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).and_then(|input| expand(&input));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `toolcell_i18n::Localize` for an error type from its `#[error("…")]` attributes, which
/// are those of `thiserror::Error`.
#[proc_macro_derive(Localize, attributes(error))]
pub fn derive_localize(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).and_then(|input| localize::expand(&input));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// The attributes of a type or of a variant.
#[derive(Default)]
struct Attributes {
    code: Option<Ident>,
    hint: Option<Hint>,
    is_transparent: bool,
    has_no_hint: bool,
}

/// Where a hint is.
enum Hint {
    /// In a literal or a constant.
    Constant(Expr),
    /// In a field.
    Field(Ident),
}

impl Attributes {
    fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut parsed = Self::default();
        for attribute in attributes {
            let is_repeated = if attribute.path().is_ident("code") {
                parsed.code.replace(attribute.parse_args()?).is_some()
            } else if attribute.path().is_ident("hint") {
                parsed.hint.replace(Hint::parse(attribute)?).is_some()
            } else if attribute.path().is_ident("coded") {
                attribute.parse_nested_meta(|meta| {
                    if meta.path.is_ident("transparent") {
                        parsed.is_transparent = true;
                    } else if meta.path.is_ident("no_hint") {
                        parsed.has_no_hint = true;
                    } else {
                        return Err(meta.error("expected `transparent` or `no_hint`"));
                    }
                    Ok(())
                })?;
                false
            } else {
                false
            };
            if is_repeated {
                return Err(Error::new_spanned(attribute, "stated twice"));
            }
        }
        if parsed.is_transparent && (parsed.code.is_some() || parsed.hint.is_some()) {
            return Err(Error::new_spanned(
                &attributes[0],
                "`transparent` forwards: it has no code or hint of its own",
            ));
        }
        Ok(parsed)
    }
}

impl Hint {
    /// A name in lower case is a field.
    fn parse(attribute: &Attribute) -> Result<Self> {
        if let Ok(text) = attribute.parse_args::<LitStr>() {
            return Ok(Self::Constant(syn::parse_quote!(#text)));
        }
        match attribute.parse_args::<Ident>() {
            Ok(name) if name.to_string().starts_with(char::is_lowercase) => Ok(Self::Field(name)),
            _ => attribute.parse_args().map(Self::Constant),
        }
    }
}

/// The arms of `code()` and `hint()` for a variant.
struct Arms {
    code: TokenStream,
    hint: Option<TokenStream>,
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let defaults = Attributes::parse(&input.attrs)?;
    let arms = match &input.data {
        Data::Enum(data) => data
            .variants
            .iter()
            .map(|variant| {
                let name = &variant.ident;
                arms(&quote!(Self::#name), name, &variant.fields, &Attributes::parse(&variant.attrs)?, &defaults)
            })
            .collect::<Result<Vec<_>>>()?,
        Data::Struct(data) => {
            vec![arms(&quote!(Self), &input.ident, &data.fields, &Attributes::default(), &defaults)?]
        }
        Data::Union(_) => return Err(Error::new_spanned(&input.ident, "an error is an enum or a struct")),
    };
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let codes = arms.iter().map(|arm| &arm.code);
    let hints = arms.iter().filter_map(|arm| arm.hint.as_ref());
    let hint = (!defaults.has_no_hint).then(|| {
        quote! {
            /// Returns a hint on what to do next.
            #[must_use]
            pub fn hint(&self) -> &'static str {
                match self {
                    #(#hints)*
                }
            }
        }
    });
    Ok(quote! {
        impl #generics #name #arguments #bounds {
            /// Returns the stable code of this error.
            #[must_use]
            pub fn code(&self) -> ::toolcell_error::ErrorCode {
                match self {
                    #(#codes)*
                }
            }

            #hint
        }
    })
}

/// Returns the arms for the pattern `path` with these fields.
fn arms(path: &TokenStream, name: &Ident, fields: &Fields, own: &Attributes, defaults: &Attributes) -> Result<Arms> {
    if own.has_no_hint {
        return Err(Error::new_spanned(name, "`no_hint` stands on the type"));
    }
    if own.is_transparent || defaults.is_transparent {
        let inner = inner_pattern(name, fields)?;
        let hint = (!defaults.has_no_hint).then(|| quote!(#path #inner => inner.hint(),));
        return Ok(Arms { code: quote!(#path #inner => inner.code(),), hint });
    }
    let code = own.code.as_ref().or(defaults.code.as_ref());
    let code = code.ok_or_else(|| Error::new_spanned(name, format!("`{name}` has no `#[code(…)]`")))?;
    let hint = match own.hint.as_ref().or(defaults.hint.as_ref()) {
        _ if defaults.has_no_hint => None,
        None => return Err(Error::new_spanned(name, format!("`{name}` has no `#[hint(…)]`"))),
        Some(Hint::Constant(text)) => Some(quote!(#path { .. } => #text,)),
        Some(Hint::Field(field)) => Some(quote!(#path { #field, .. } => #field,)),
    };
    Ok(Arms { code: quote!(#path { .. } => ::toolcell_error::ErrorCode::#code,), hint })
}

/// Returns the pattern that binds the error in a variant to `inner`.
fn inner_pattern(name: &Ident, fields: &Fields) -> Result<TokenStream> {
    let source = format_ident!("source");
    match fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(quote!((inner))),
        Fields::Named(fields) if fields.named.iter().any(|field| field.ident.as_ref() == Some(&source)) => {
            Ok(quote!({ source: inner, .. }))
        }
        _ => Err(Error::new_spanned(name, format!("`{name}` has neither one field nor a field `source`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expect: &str) {
        let input = syn::parse_str(source).unwrap();
        assert_eq!(expand(&input).unwrap_err().to_string(), expect, "{source}");
    }

    #[test]
    fn what_is_missing_is_named_with_its_variant() {
        check("enum E { Unknown }", "`Unknown` has no `#[code(…)]`");
        check("enum E { #[code(Bug)] Unknown }", "`Unknown` has no `#[hint(…)]`");
        check("#[hint(\"wait\")] struct Busy;", "`Busy` has no `#[code(…)]`");
        check("enum E { #[coded(transparent)] Find(A, B) }", "`Find` has neither one field nor a field `source`");
        check("enum E { #[coded(no_hint)] Find(A) }", "`no_hint` stands on the type");
        check("enum E { #[code(Bug)] #[code(Usage)] Unknown }", "stated twice");
        check(
            "enum E { #[coded(transparent)] #[code(Bug)] Find(A) }",
            "`transparent` forwards: it has no code or hint of its own",
        );
        check("enum E { #[coded(opaque)] Find(A) }", "expected `transparent` or `no_hint`");
    }

    #[test]
    fn a_hint_is_a_literal_a_constant_or_a_field() {
        let expanded = |hint: &str| {
            let input =
                syn::parse_str(&format!("enum E {{ #[code(Bug)] #[hint({hint})] A {{ hint: &'static str }} }}"));
            expand(&input.unwrap()).unwrap().to_string()
        };
        assert!(expanded("\"wait\"").contains("Self :: A { .. } => \"wait\""));
        assert!(expanded("super::WAIT").contains("Self :: A { .. } => super :: WAIT"));
        assert!(expanded("hint").contains("Self :: A { hint , .. } => hint"));
    }
}
