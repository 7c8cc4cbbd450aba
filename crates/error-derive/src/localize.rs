//! The derive macro of messages.
//!
//! Invariant: the message has the text that `thiserror::Error` shows, because both are made of the
//! same attribute.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Data, DeriveInput, Error, Expr, Fields, Ident, LitStr, Result, Token};

/// What `#[error(…)]` says.
enum Shown {
    /// The message of the error in the only field.
    Transparent,
    Format {
        text: LitStr,
        positional: Vec<Expr>,
        named: Vec<(Ident, Expr)>,
    },
}

impl Parse for Shown {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Ident) {
            let word: Ident = input.parse()?;
            if word == "transparent" {
                return Ok(Self::Transparent);
            }
            return Err(Error::new_spanned(word, "expected a text or `transparent`"));
        }
        let text = input.parse()?;
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            if input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
                let name = input.parse()?;
                input.parse::<Token![=]>()?;
                named.push((name, expression(input)?));
            } else {
                positional.push(expression(input)?);
            }
        }
        Ok(Self::Format { text, positional, named })
    }
}

/// Parses an argument.
fn expression(input: ParseStream<'_>) -> Result<Expr> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    syn::parse2(with_fields(tokens))
}

/// Names the fields of the variant: `.field` and `.0`, where no value stands before the dot.
fn with_fields(tokens: TokenStream) -> TokenStream {
    let mut named = TokenStream::new();
    let mut begins = true;
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        let token = match token {
            TokenTree::Punct(dot) if begins && dot.as_char() == '.' => match tokens.next() {
                Some(TokenTree::Literal(index)) => TokenTree::Ident(format_ident!("_{}", index.to_string())),
                Some(field) => field,
                None => break,
            },
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), with_fields(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            token => token,
        };
        begins = matches!(&token, TokenTree::Punct(punct) if !matches!(punct.as_char(), '.' | '?'));
        named.extend([token]);
    }
    named
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let arms = match &input.data {
        Data::Enum(data) => data
            .variants
            .iter()
            .map(|variant| {
                let name = &variant.ident;
                let attributes = if has_error(&variant.attrs) { &variant.attrs } else { &input.attrs };
                arm(&quote!(Self::#name), name, &variant.fields, attributes)
            })
            .collect::<Result<Vec<_>>>()?,
        Data::Struct(data) => vec![arm(&quote!(Self), &input.ident, &data.fields, &input.attrs)?],
        Data::Union(_) => return Err(Error::new_spanned(&input.ident, "an error is an enum or a struct")),
    };
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #generics ::toolcell_i18n::Localize for #name #arguments #bounds {
            #[allow(unused_variables, clippy::used_underscore_binding)]
            fn localize(&self) -> ::toolcell_i18n::Message {
                match self {
                    #(#arms)*
                }
            }
        }
    })
}

fn has_error(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("error"))
}

/// Returns the arm for the pattern `path` with these fields.
fn arm(path: &TokenStream, name: &Ident, fields: &Fields, attributes: &[Attribute]) -> Result<TokenStream> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("error"));
    let attribute = attribute.ok_or_else(|| Error::new_spanned(name, format!("`{name}` has no `#[error(…)]`")))?;
    let bound: Vec<Ident> = match fields {
        Fields::Named(fields) => fields.named.iter().filter_map(|field| field.ident.clone()).collect(),
        Fields::Unnamed(fields) => (0..fields.unnamed.len()).map(|index| format_ident!("_{index}")).collect(),
        Fields::Unit => Vec::new(),
    };
    let pattern = match fields {
        Fields::Named(_) => quote!(#path { #(#bound),* }),
        Fields::Unnamed(_) => quote!(#path(#(#bound),*)),
        Fields::Unit => path.clone(),
    };
    let (text, positional, named) = match attribute.parse_args()? {
        Shown::Format { text, positional, named } => (text, positional, named),
        Shown::Transparent => {
            let [inner] = &bound[..] else {
                return Err(Error::new_spanned(name, format!("`{name}` is transparent, but has not one field")));
            };
            let argument = argument(&quote!(#inner));
            return Ok(quote!(#pattern => #argument,));
        }
    };
    let mut next = 0;
    let mut arguments: Vec<(String, TokenStream)> = Vec::new();
    let mut numbered = false;
    let template = template(&text, |placeholder, spec| {
        let (key, value) = if placeholder.is_empty() {
            let value = positional.get(next).ok_or_else(|| Error::new_spanned(&text, "a `{}` has no argument"))?;
            next += 1;
            (format!("{}", next - 1), quote!(#value))
        } else if let Some((_, value)) = named.iter().find(|(known, _)| known == placeholder) {
            (placeholder.to_owned(), quote!(#value))
        } else if placeholder.parse::<usize>().is_ok() {
            numbered = true;
            let field = format_ident!("_{placeholder}");
            (placeholder.to_owned(), quote!(#field))
        } else {
            let field = Ident::new(placeholder, text.span());
            (placeholder.to_owned(), quote!(#field))
        };
        let value = if spec.is_empty() {
            argument(&value)
        } else {
            let format = format!("{{:{spec}}}");
            quote!(::toolcell_i18n::Message::verbatim(::std::format!(#format, #value)))
        };
        if numbered && next > 0 {
            return Err(Error::new_spanned(&text, "`{}` beside `{0}`: name the argument"));
        }
        if !arguments.iter().any(|(known, _)| *known == key) {
            arguments.push((key.clone(), value));
        }
        Ok(key)
    })?;
    let entries = arguments.iter().map(|(key, value)| quote!((#key, #value)));
    Ok(quote!(#pattern => ::toolcell_i18n::Message::new(#template, ::std::vec![#(#entries),*]),))
}

/// Returns the value of an argument: translated if it is a message, else as its `Display` shows it.
fn argument(value: &TokenStream) -> TokenStream {
    quote! {{
        #[allow(unused_imports)]
        use ::toolcell_i18n::expansion::{ViaDisplay as _, ViaLocalize as _};
        (&::toolcell_i18n::expansion::Value(&#value)).to_argument()
    }}
}

/// Returns the text as a key of the catalogues: placeholders without a format, each with a name.
/// `rename` gets the name and the format of each placeholder, and returns its name in the key.
fn template(text: &LitStr, mut rename: impl FnMut(&str, &str) -> Result<String>) -> Result<String> {
    let value = text.value();
    let mut rest = value.as_str();
    let mut key = String::new();
    while let Some(at) = rest.find(['{', '}']) {
        key.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            key.push_str(&rest[..2]);
            rest = &rest[2..];
        } else {
            let inside = rest[1..].split_once('}').filter(|_| rest.starts_with('{'));
            let (inside, after) = inside.ok_or_else(|| Error::new_spanned(text, "a brace without its pair"))?;
            let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
            key.push('{');
            key.push_str(&rename(name.trim(), spec)?);
            key.push('}');
            rest = after;
        }
    }
    key.push_str(rest);
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(source: &str) -> String {
        expand(&syn::parse_str(source).unwrap()).unwrap().to_string()
    }

    #[test]
    fn the_key_has_a_name_for_each_placeholder() {
        let code = expanded("#[error(\"{{ {} {name:?} {} }}\", .0.len(), self.x(), name = .1)] struct E(A, B);");
        assert!(code.contains("\"{{ {0} {name} {1} }}\""), "{code}");
        assert!(expanded("#[error(\"{}\", f(.0, self.1))] struct E(A, B);").contains("f (_0 , self . 1)"));
        assert!(code.contains("_0 . len ()") && code.contains("\"{:?}\" , _1"), "{code}");
    }

    #[test]
    fn what_cannot_be_shown_does_not_compile() {
        let error = |source: &str| expand(&syn::parse_str(source).unwrap()).unwrap_err().to_string();
        assert_eq!(error("enum E { A }"), "`A` has no `#[error(…)]`");
        assert_eq!(error("#[error(\"{}\")] struct E;"), "a `{}` has no argument");
        assert_eq!(error("#[error(\"{\")] struct E;"), "a brace without its pair");
        assert_eq!(error("#[error(transparent)] struct E;"), "`E` is transparent, but has not one field");
        assert_eq!(error("#[error(\"{0} {}\", 3)] struct E(A);"), "`{}` beside `{0}`: name the argument");
        assert_eq!(error("#[error(opaque)] struct E;"), "expected a text or `transparent`");
    }
}
