//! How deep a source may nest, told from its tokens before it is parsed.
//!
//! A parser recurses, and its author can make it: what is counted here is at least the depth to which it does. Each level
//! of a tree takes a token of its own that is not closed, or separated from the next level, before the level begins: so
//! tokens are counted since the last separator, in all open brackets together.
//!
//! Invariant: a source that passes is parsed, visited and dropped with a bounded stack. Where it is not clear whether a
//! slash begins a regular expression, strings are no longer skipped, and more is counted than there is.

/// The most tokens that may stand open.
const OPEN: usize = 3_000;
/// The most angle brackets that may stand open: a comma does not separate what is between them.
const ANGLES: usize = 100;
/// The most that may stand open where no operand is before them: they begin a cast, the parameters of a generic arrow or a
/// tag, and the parser tries one after the other, each with all that follows.
const HEADS_OPEN: usize = 4;
/// How deep angle brackets, and colons, are nested, added up over the source: of some, the parser looks at all that are
/// around.
const NESTED: usize = 20_000;
const COLONS: usize = 100_000;

/// Words that an operand does not end with: what follows belongs to them.
const OPERATORS: [&[u8]; 33] = [
    b"abstract",
    b"as",
    b"asserts",
    b"async",
    b"await",
    b"case",
    b"catch",
    b"declare",
    b"default",
    b"delete",
    b"do",
    b"else",
    b"export",
    b"extends",
    b"finally",
    b"for",
    b"if",
    b"in",
    b"infer",
    b"instanceof",
    b"is",
    b"keyof",
    b"new",
    b"of",
    b"return",
    b"satisfies",
    b"static",
    b"throw",
    b"typeof",
    b"unique",
    b"void",
    b"while",
    b"with",
];
/// Words whose brackets are followed by a statement.
const HEADS: [&[u8]; 4] = [b"for", b"if", b"while", b"with"];
/// Words that go on with the statement before them.
const CONTINUES: [&[u8]; 11] =
    [b"as", b"catch", b"else", b"extends", b"finally", b"implements", b"in", b"instanceof", b"is", b"of", b"satisfies"];
/// Words after which a slash may begin a regular expression or divide, by what they are in their place.
const EITHER: [&[u8]; 6] = [b"async", b"await", b"is", b"of", b"static", b"yield"];

/// Where a source nests deeper than it may, in bytes.
pub(crate) fn too_deep(source: &str) -> Option<usize> {
    Scan::new(source.as_bytes(), true).run()
}

/// The same where nothing in it is taken for a string or a comment, as within the text of JSX.
pub(crate) fn too_deep_as_text(source: &str) -> bool {
    Scan::new(source.as_bytes(), false).run().is_some()
}

/// The last token, as far as the next one depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Something that a value ends with.
    Operand,
    /// An operator, or a word that is one.
    Operator,
    /// What ends a value or a statement, or begins one.
    Either,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bracket,
    /// The brackets of `if`, `for`, `while` and `with`.
    Head,
    Brace,
    /// What is between `${` and `}`.
    Template,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Semicolon,
    /// The end of a block, or of an object.
    Brace,
}

/// Whether a token goes on with what is before a separator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Continues {
    Never,
    AfterBrace,
    Always,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    /// Tokens.
    open: usize,
    colons: usize,
    /// Angle brackets without an operand before them.
    heads: usize,
}

struct Level {
    kind: Kind,
    counts: Counts,
    angles: usize,
    row: Option<Row>,
}

impl Level {
    fn new(kind: Kind) -> Self {
        Self { kind, counts: Counts::default(), angles: 0, row: None }
    }
}

/// Decorators in a row, which do not stand in each other: the parser reads one after the other.
#[derive(Clone, Copy)]
struct Row {
    /// What stood open before the first of them.
    before: Counts,
    last: Decorated,
}

/// The last token of a decorator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decorated {
    At,
    Dot,
    /// A name, or what closes brackets: it may end here.
    Whole,
}

#[expect(clippy::struct_excessive_bools, reason = "each says one thing of the last token, in any combination")]
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    levels: Vec<Level>,
    /// What stands open in all levels together.
    counts: Counts,
    angles: usize,
    /// The depths of all angle brackets, and of all colons.
    nested: usize,
    colons: usize,
    last: Last,
    /// A statement may end after the last token, where a line does.
    ended: bool,
    /// The last token was a word of [`HEADS`].
    after_head: bool,
    /// The last token was a dot: what follows is a name, whatever word it is.
    after_dot: bool,
    /// A separator was there, unless the next token goes on with what is before it.
    separated: Option<Separator>,
    /// A line ended since the last token.
    new_line: bool,
    /// Strings, comments and regular expressions are skipped.
    skips: bool,
}

impl<'a> Scan<'a> {
    fn new(bytes: &'a [u8], skips: bool) -> Self {
        Self {
            bytes,
            at: 0,
            levels: vec![Level::new(Kind::Brace)],
            counts: Counts::default(),
            angles: 0,
            nested: 0,
            colons: 0,
            last: Last::Operator,
            ended: false,
            after_head: false,
            after_dot: false,
            separated: None,
            new_line: false,
            skips,
        }
    }

    /// Where there is more than may be.
    fn run(mut self) -> Option<usize> {
        while let Some(byte) = self.bytes.get(self.at).copied() {
            let start = self.at;
            match byte {
                b'\n' | b'\r' => {
                    self.new_line = true;
                    self.at += 1;
                }
                b' ' | b'\t' => self.at += 1,
                b'/' if self.skips && self.slash() => {}
                b'"' | b'\'' if self.skips => self.string(byte),
                b'`' if self.skips => {
                    self.token(Last::Operand, Continues::Never);
                    self.at += 1;
                    self.template();
                }
                b'(' | b'[' | b'{' => self.opens(byte),
                b')' | b']' | b'}' => self.closes(byte),
                b';' | b',' => {
                    self.at += 1;
                    self.last = Last::Operator;
                    self.ended = false;
                    if let Some(level) = self.levels.last_mut() {
                        level.row = None;
                    }
                    if byte == b',' {
                        self.separate();
                    } else if let Some(level) = self.levels.last_mut() {
                        self.angles -= std::mem::take(&mut level.angles);
                        self.separated = Some(Separator::Semicolon);
                    }
                }
                byte if is_word(byte) => self.word(),
                _ => self.sign(byte),
            }
            let is_deep = self.counts.open > OPEN || self.angles > ANGLES || self.counts.heads > HEADS_OPEN;
            if is_deep || self.nested > NESTED || self.colons > COLONS {
                return Some(start);
            }
        }
        None
    }

    /// Counts a token; a separator that was held back counts now, unless it goes on with what was before.
    /// A row of decorators ends, unless its token goes on with it.
    fn token(&mut self, last: Last, continues: Continues) -> Option<Row> {
        match self.separated.take() {
            None => {}
            Some(_) if continues == Continues::Always => {}
            Some(Separator::Brace) if continues == Continues::AfterBrace => {}
            Some(_) => self.separate(),
        }
        let mut row = None;
        if let Some(level) = self.levels.last_mut() {
            level.counts.open += 1;
            self.counts.open += 1;
            row = level.row.take();
        }
        self.last = last;
        self.ended = last == Last::Operand;
        self.after_head = false;
        self.after_dot = false;
        self.new_line = false;
        row
    }

    /// Goes on with a row of decorators.
    fn decorated(&mut self, row: Option<Row>, last: Decorated) {
        if let (Some(level), Some(row)) = (self.levels.last_mut(), row) {
            level.row = Some(Row { last, ..row });
        }
    }

    /// What the decorator before this one opened is closed.
    fn next_decorator(&mut self) -> Option<Row> {
        let level = self.levels.last_mut()?;
        let row = level.row.filter(|row| row.last == Decorated::Whole)?;
        let all = std::mem::replace(&mut level.counts, row.before);
        self.counts.open -= all.open - row.before.open;
        self.counts.colons -= all.colons - row.before.colons;
        self.counts.heads -= all.heads - row.before.heads;
        Some(row)
    }

    /// Nothing of this level stands open any more.
    fn separate(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.row = None;
            let counts = std::mem::take(&mut level.counts);
            self.leave(counts);
        }
    }

    fn leave(&mut self, counts: Counts) {
        self.counts.open -= counts.open;
        self.counts.colons -= counts.colons;
        self.counts.heads -= counts.heads;
    }

    fn opens(&mut self, byte: u8) {
        let is_head = self.after_head && byte == b'(';
        // `a` on a line and `(b)` on the next is a call: it goes on.
        let row = self.token(Last::Operator, if byte == b'{' { Continues::Never } else { Continues::AfterBrace });
        if byte == b'(' {
            // What is in the brackets is a level of its own, and behind them the decorator may end.
            self.decorated(row.filter(|row| row.last != Decorated::Dot), Decorated::Whole);
        }
        let kind = match byte {
            b'{' => Kind::Brace,
            _ if is_head => Kind::Head,
            _ => Kind::Bracket,
        };
        self.levels.push(Level::new(kind));
        self.at += 1;
    }

    fn closes(&mut self, byte: u8) {
        self.at += 1;
        if self.levels.len() == 1 {
            return;
        }
        let Some(level) = self.levels.pop() else { return };
        self.leave(level.counts);
        self.angles -= level.angles;
        (self.new_line, self.separated, self.ended) = (false, None, level.kind != Kind::Head);
        (self.after_head, self.after_dot) = (false, false);
        match (byte, level.kind) {
            (b'}', Kind::Template) if self.skips => {
                // The expressions of one template do not stand in each other.
                if let Some(around) = self.levels.last_mut() {
                    let one = usize::from(around.counts.open > 0);
                    around.counts.open -= one;
                    self.counts.open -= one;
                }
                self.template();
            }
            (b'}', _) => {
                self.last = Last::Either;
                self.separated = Some(Separator::Brace);
            }
            (_, Kind::Head) => self.last = Last::Operator,
            _ => self.last = Last::Operand,
        }
    }

    fn word(&mut self) {
        let start = self.at;
        while self.bytes.get(self.at).copied().is_some_and(is_word) {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        let is_name = self.after_dot;
        // `for await (`
        let is_head = !is_name && (HEADS.contains(&word) || self.after_head && word == b"await");
        let continues = CONTINUES.contains(&word);
        let is_operator = !is_name && OPERATORS.contains(&word);
        // A line ends a statement where one value would follow another.
        let ends = self.new_line && self.ended && !continues;
        if ends || word == b"case" {
            self.separate();
        }
        let last = match word {
            word if !is_name && EITHER.contains(&word) => Last::Either,
            _ if is_operator => Last::Operator,
            _ => Last::Operand,
        };
        let row = self.token(last, if continues { Continues::Always } else { Continues::Never });
        self.decorated(row.filter(|row| row.last != Decorated::Whole), Decorated::Whole);
        self.after_head = is_head;
    }

    fn sign(&mut self, byte: u8) {
        let is_head = byte == b'<' && self.last == Last::Operator;
        let arrow = byte == b'>' && self.at > 0 && self.bytes[self.at - 1] == b'=';
        let twice = matches!(byte, b'+' | b'-') && self.bytes.get(self.at + 1) == Some(&byte);
        // What is after a block is a statement, but what begins with an operator goes on with a value.
        let continues = if matches!(byte, b'@' | b'#') { Continues::Never } else { Continues::AfterBrace };
        let before = if byte == b'@' { self.next_decorator() } else { None };
        let row = self.token(if twice { Last::Either } else { Last::Operator }, continues);
        match (byte, self.levels.last()) {
            (b'@', Some(level)) => {
                let first = Counts { open: level.counts.open - 1, ..level.counts };
                self.decorated(Some(before.unwrap_or(Row { before: first, last: Decorated::At })), Decorated::At);
            }
            (b'.', _) => self.decorated(row.filter(|row| row.last == Decorated::Whole), Decorated::Dot),
            _ => {}
        }
        if let Some(level) = self.levels.last_mut() {
            if byte == b'<' {
                level.angles += 1;
                self.angles += 1;
                self.nested += self.angles;
                if is_head {
                    level.counts.heads += 1;
                    self.counts.heads += 1;
                }
            } else if byte == b':' {
                level.counts.colons += 1;
                self.counts.colons += 1;
                self.colons += self.counts.colons;
            } else if byte == b'>' && !arrow && level.angles > 0 {
                level.angles -= 1;
                self.angles -= 1;
            }
        }
        self.after_dot = byte == b'.';
        self.at += 1 + usize::from(twice);
    }

    /// Skips a comment or a regular expression; false for a slash that divides.
    fn slash(&mut self) -> bool {
        match self.bytes.get(self.at + 1) {
            Some(b'/') => {
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                true
            }
            Some(b'*') => {
                let rest = &self.bytes[self.at + 2..];
                let end = rest.windows(2).position(|two| two == b"*/");
                let end = end.map_or(self.bytes.len(), |end| self.at + end + 4);
                self.new_line |= self.bytes[self.at..end].contains(&b'\n');
                self.at = end;
                true
            }
            _ => match self.last {
                Last::Operand => false,
                Last::Operator => self.regex(),
                Last::Either => {
                    // If it is one, what is in it is no string; if it is none, what follows may be.
                    let line = self.bytes[self.at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
                    self.skips &= !line.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`'))
                        && !line.windows(2).any(|two| two == b"/*" || two == b"//");
                    false
                }
            },
        }
    }

    fn regex(&mut self) -> bool {
        let mut in_class = false;
        let mut at = self.at + 1;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'\n' => break,
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => {
                    self.at = at + 1;
                    self.token(Last::Operand, Continues::Never);
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        self.skips = false;
        false
    }

    fn string(&mut self, quote: u8) {
        let mut at = self.at + 1;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\n' => break,
                byte if *byte == quote => {
                    if self.new_line && self.ended {
                        self.separate();
                    }
                    self.token(Last::Operand, Continues::Never);
                    self.at = at + 1;
                    return;
                }
                _ => {}
            }
            at += 1;
        }
        // It has no end: nobody knows what the rest is.
        self.skips = false;
        self.token(Last::Operand, Continues::Never);
        self.at += 1;
    }

    /// Skips the text of a template up to its end, or to the next expression in it.
    fn template(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'`' => {
                    self.at += 1;
                    self.last = Last::Operand;
                    return;
                }
                b'$' if self.bytes.get(self.at + 1) == Some(&b'{') => {
                    self.token(Last::Operator, Continues::Always);
                    self.levels.push(Level::new(Kind::Template));
                    self.at += 2;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'\\' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nests_deeper_than_the_limit_is_found_whatever_it_nests() {
        for (open, close) in [
            ("(", ")"),
            ("[", "]"),
            ("{", "}"),
            ("!", ""),
            ("- ", ""),
            ("a=", ""),
            ("a=>", ""),
            ("a+", ""),
            ("a.", ""),
            ("a?b:", ""),
            ("a?{}:", ""),
            ("{}+", ""),
            ("`${", "}`"),
            ("'x'+", ""),
            ("/x/+", ""),
            ("/[/'\"]/+", ""),
            ("if(a)\n", ""),
            ("if(a);else ", ""),
            ("while(1){", "}"),
            ("a:", ""),
            ("new ", ""),
            ("await\n", ""),
            ("a<b,", ""),
            ("keyof ", ""),
            ("()=>{", "}"),
            ("@(class{", "})class{}"),
            ("a()", ""),
            ("a\n.b", ""),
            ("@a x = @a class extends ", ""),
            ("@a(", ")"),
            ("@a class extends ", ""),
            ("@a + ", ""),
            ("@a.b.c + ", ""),
            ("a/*;*/=", ""),
            ("'\\''+", ""),
        ] {
            let source = format!("{}x{}", open.repeat(3_100), close.repeat(3_100));
            assert!(too_deep(&source).is_some(), "{open}");
            let hidden = format!("{{}}\n/'/; {source} '");
            assert!(
                open.contains("/*") || too_deep(&hidden).is_some(),
                "{open} after what may be a regular expression"
            );
        }
    }

    #[test]
    fn what_is_long_and_flat_passes() {
        for flat in [
            "a();\n",
            "a()\n",
            "const x = 1\n",
            "if (a) { b() }\n",
            "'a', ",
            "case 1: ",
            "function f() { return 1 } ",
            "class A { a() {} b = 1 } ",
            "/* ((( */",
            "// (((\n",
            "x(/[(\"]/);\n",
            "x = '((((';\n",
            "`((( ${a}`;\n",
            "a: { b: 1 },\n",
            "type A = { a: B<C> }\n",
            "a < b;\n",
            "M10 20-5.5 ",
            "@a ",
            "@a.b(c)\n",
            "@(a, b) ",
            "@a(@b class {}) ",
        ] {
            let source =
                if flat.starts_with('M') { format!("x = '{}'", flat.repeat(5_000)) } else { flat.repeat(4_000) };
            assert_eq!(too_deep(&source), None, "{flat}");
        }
        assert!(!too_deep_as_text("x = <a>don't</a>"));
        assert!(too_deep_as_text(&format!("<a>'{}'</a>", "{(".repeat(2_000))));
    }
}
