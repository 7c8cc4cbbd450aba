//! The wording of the contract: expected texts are read from `fixtures/contract`, and real
//! operations must produce them.

mod answers;
mod documents;
mod errors;

use toolcell::Lang;

use crate::fixtures::sandbox::read;

/// All languages. Fixture files end in the name of their language; the original text of the
/// contract is Japanese.
const LANGUAGES: [Lang; 3] = [Lang::Ja, Lang::En, Lang::Zh];

/// A text of the contract with `{placeholders}`.
#[derive(Clone)]
struct Template(String);

impl Template {
    /// Returns the template of this name.
    fn load(name: &str, lang: Lang) -> Self {
        let found = templates(lang).into_iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no template is called {name}")).1
    }

    /// Removes the block that contains this text. The contract omits optional blocks that would be
    /// empty.
    fn without_block_of(self, inside: &str) -> Self {
        let blocks: Vec<&str> = self.0.split("\n\n").filter(|block| !block.contains(inside)).collect();
        assert_eq!(blocks.len() + 1, self.0.split("\n\n").count(), "there is no block with {inside}");
        Self(blocks.join("\n\n"))
    }

    /// Returns the names of the placeholders, in order. Other text in braces, such as `{ /* ... */
    /// }`, is not a placeholder.
    fn placeholders(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.replace_each(|name| {
            names.push(name.to_owned());
            String::new()
        });
        names
    }

    /// Fills in the placeholders, in order, and checks their names.
    #[track_caller]
    fn fill(&self, values: &[(&str, &str)]) -> String {
        let mut left = values.iter();
        let text = self.replace_each(|placeholder| match left.next() {
            Some((name, value)) if *name == placeholder => (*value).to_owned(),
            other => panic!("it is the turn of {placeholder}, and the test has {other:?}"),
        });
        assert_eq!(left.next(), None, "a value is left over");
        text
    }

    fn replace_each(&self, mut value: impl FnMut(&str) -> String) -> String {
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

/// Returns the templates of the contract in a language, by name.
fn templates(lang: Lang) -> Vec<(String, Template)> {
    let text = read(format!("fixtures/contract/answers.{}.txt", lang.name()));
    let blocks = text.split("=== ").skip(1).map(|block| block.split_once('\n').unwrap());
    blocks.map(|(name, text)| (name.to_owned(), Template(text.trim_end_matches('\n').to_owned()))).collect()
}
