//! The contract in its own words: what it says is read from `fixtures/contract`, and a real operation has to say the same.

mod answers;
mod documents;
mod errors;

use toolcell::Lang;

use crate::world::read;

/// All languages. Their files end in their names; the words of the contract are the Japanese ones.
const LANGUAGES: [Lang; 3] = [Lang::Ja, Lang::En, Lang::Zh];

/// An answer of the contract: text with `{placeholders}`.
#[derive(Clone)]
struct Template(String);

impl Template {
    /// The answer of this name.
    fn named(name: &str, lang: Lang) -> Self {
        let found = templates(lang).into_iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no template is called {name}")).1
    }

    /// Without the block that begins with the line before this text: the contract leaves it out where there is none.
    fn without_block_of(self, inside: &str) -> Self {
        let blocks: Vec<&str> = self.0.split("\n\n").filter(|block| !block.contains(inside)).collect();
        assert_eq!(blocks.len() + 1, self.0.split("\n\n").count(), "there is no block with {inside}");
        Self(blocks.join("\n\n"))
    }

    /// What stands between braces, in order. `{ /* ... */ }` and the like are text.
    fn placeholders(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.each(|name| {
            names.push(name.to_owned());
            String::new()
        });
        names
    }

    /// The answer with these values, each for the placeholder whose turn it is.
    #[track_caller]
    fn filled(&self, values: &[(&str, &str)]) -> String {
        let mut left = values.iter();
        let text = self.each(|placeholder| match left.next() {
            Some((name, value)) if *name == placeholder => (*value).to_owned(),
            other => panic!("it is the turn of {placeholder}, and the test has {other:?}"),
        });
        assert_eq!(left.next(), None, "a value is left over");
        text
    }

    fn each(&self, mut value: impl FnMut(&str) -> String) -> String {
        let (mut text, mut rest) = (String::new(), self.0.as_str());
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            match after.split_once('}') {
                Some((name, after)) if is_placeholder(name) => {
                    text.push_str(&value(name));
                    rest = after;
                }
                _ => {
                    text.push('{');
                    rest = after;
                }
            }
        }
        text + rest
    }
}

fn is_placeholder(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|char| char.is_ascii_alphanumeric() || "_|".contains(char))
}

/// The answers of the contract in a language, by name.
fn templates(lang: Lang) -> Vec<(String, Template)> {
    let text = read(format!("fixtures/contract/answers.{}.txt", lang.name()));
    let blocks = text.split("=== ").skip(1).map(|block| block.split_once('\n').unwrap());
    blocks.map(|(name, text)| (name.to_owned(), Template(text.trim_end_matches('\n').to_owned()))).collect()
}
