//! An upper bound of the nesting depth of a source, computed from its tokens before it is parsed.
//!
//! A parser recurses, and the source decides how deeply. The count is at least that depth: each
//! level of a tree takes a token of its own that is neither closed nor separated from the next
//! level before that level starts. So the tokens since the last separator are counted, summed over
//! all open brackets.
//!
//! Invariant: a source that passes is parsed, visited and dropped with a bounded stack. If a slash
//! may start a regular expression or divide, strings are no longer skipped, so the count can only
//! be too high.

/// The maximum number of open tokens.
const MAX_OPEN_TOKENS: usize = 3_000;
/// The maximum number of open angle brackets: commas do not separate what is between them.
const MAX_OPEN_ANGLES: usize = 100;
/// The maximum number of open angle brackets without an operand before them. They start a cast, the
/// parameters of a generic arrow or a tag; the parser tries one after the other, each with
/// everything that follows.
const MAX_OPEN_HEADS: usize = 4;
/// The maximum sums of the depths of all angle brackets, and of all colons: for some of them, the
/// parser inspects all enclosing ones.
const MAX_ANGLE_DEPTH_SUM: usize = 20_000;
const MAX_COLON_DEPTH_SUM: usize = 100_000;

/// Words that do not end an operand: what follows belongs to them.
const OPERATOR_WORDS: [&[u8]; 33] = [
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
/// Words whose parentheses are followed by a statement.
const HEAD_WORDS: [&[u8]; 4] = [b"for", b"if", b"while", b"with"];
/// Words that continue the previous statement.
const CONTINUATION_WORDS: [&[u8]; 11] =
    [b"as", b"catch", b"else", b"extends", b"finally", b"implements", b"in", b"instanceof", b"is", b"of", b"satisfies"];
/// Words after which a slash may either start a regular expression or divide.
const AMBIGUOUS_WORDS: [&[u8]; 6] = [b"async", b"await", b"is", b"of", b"static", b"yield"];

/// Returns the byte offset at which a source is nested too deeply.
pub(crate) fn find_too_deep(source: &str) -> Option<usize> {
    Scanner::new(source.as_bytes(), true).run()
}

/// Returns whether a source is nested too deeply if nothing in it is a string or a comment, as in
/// the text of JSX.
pub(crate) fn is_too_deep_as_text(source: &str) -> bool {
    Scanner::new(source.as_bytes(), false).run().is_some()
}

/// The last token, as far as the next one depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastToken {
    /// The end of a value.
    Operand,
    /// An operator, or an operator word.
    Operator,
    /// The end of a value or a statement, or the start of one.
    Ambiguous,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LevelKind {
    Bracket,
    /// The parentheses of `if`, `for`, `while` and `with`.
    Head,
    Brace,
    /// The part between `${` and `}`.
    Template,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Semicolon,
    /// The end of a block, or of an object.
    Brace,
}

/// Whether a token continues what is before a separator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Continuation {
    Never,
    AfterBrace,
    Always,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    /// The number of open tokens.
    open: usize,
    colons: usize,
    /// The number of open angle brackets without an operand before them.
    heads: usize,
}

struct Level {
    kind: LevelKind,
    counts: Counts,
    angles: usize,
    decorator_row: Option<DecoratorRow>,
}

impl Level {
    fn new(kind: LevelKind) -> Self {
        Self { kind, counts: Counts::default(), angles: 0, decorator_row: None }
    }
}

/// A row of decorators, which are not nested: the parser reads one after the other.
#[derive(Clone, Copy)]
struct DecoratorRow {
    /// The counts before the first of them.
    before: Counts,
    last: DecoratorEnd,
}

/// The last token of a decorator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DecoratorEnd {
    At,
    Dot,
    /// A name or a closing parenthesis: the decorator may end here.
    Complete,
}

#[expect(clippy::struct_excessive_bools, reason = "each says one thing of the last token, in any combination")]
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    levels: Vec<Level>,
    /// The open tokens of all levels together.
    counts: Counts,
    angles: usize,
    /// The sums of the depths of all angle brackets, and of all colons.
    angle_depth_sum: usize,
    colon_depth_sum: usize,
    last: LastToken,
    /// Whether a line break after the last token may end a statement.
    may_end_statement: bool,
    /// Whether the last token was one of [`HEAD_WORDS`].
    after_head: bool,
    /// Whether the last token was a dot: the next word is a name.
    after_dot: bool,
    /// A separator that takes effect unless the next token continues what is before it.
    pending_separator: Option<Separator>,
    /// Whether there was a line break since the last token.
    new_line: bool,
    /// Whether strings, comments and regular expressions are skipped.
    skips_text: bool,
}

impl<'a> Scanner<'a> {
    fn new(bytes: &'a [u8], skips: bool) -> Self {
        Self {
            bytes,
            at: 0,
            levels: vec![Level::new(LevelKind::Brace)],
            counts: Counts::default(),
            angles: 0,
            angle_depth_sum: 0,
            colon_depth_sum: 0,
            last: LastToken::Operator,
            may_end_statement: false,
            after_head: false,
            after_dot: false,
            pending_separator: None,
            new_line: false,
            skips_text: skips,
        }
    }

    /// Returns the offset at which a limit is exceeded.
    fn run(mut self) -> Option<usize> {
        while let Some(byte) = self.bytes.get(self.at).copied() {
            let start = self.at;
            match byte {
                b'\n' | b'\r' => {
                    self.new_line = true;
                    self.at += 1;
                }
                b' ' | b'\t' => self.at += 1,
                b'/' if self.skips_text && self.slash() => {}
                b'"' | b'\'' if self.skips_text => self.string(byte),
                b'`' if self.skips_text => {
                    self.token(LastToken::Operand, Continuation::Never);
                    self.at += 1;
                    self.template();
                }
                b'(' | b'[' | b'{' => self.open_bracket(byte),
                b')' | b']' | b'}' => self.close_bracket(byte),
                b';' | b',' => {
                    self.at += 1;
                    self.last = LastToken::Operator;
                    self.may_end_statement = false;
                    if let Some(level) = self.levels.last_mut() {
                        level.decorator_row = None;
                    }
                    if byte == b',' {
                        self.separate();
                    } else if let Some(level) = self.levels.last_mut() {
                        self.angles -= std::mem::take(&mut level.angles);
                        self.pending_separator = Some(Separator::Semicolon);
                    }
                }
                byte if is_word(byte) => self.word(),
                _ => self.punctuation(byte),
            }
            let is_deep = self.counts.open > MAX_OPEN_TOKENS
                || self.angles > MAX_OPEN_ANGLES
                || self.counts.heads > MAX_OPEN_HEADS;
            if is_deep || self.angle_depth_sum > MAX_ANGLE_DEPTH_SUM || self.colon_depth_sum > MAX_COLON_DEPTH_SUM {
                return Some(start);
            }
        }
        None
    }

    /// Counts a token. A pending separator takes effect, unless the token continues what is before
    /// it. Ends the row of decorators, and returns it so that the caller can continue it.
    fn token(&mut self, last: LastToken, continues: Continuation) -> Option<DecoratorRow> {
        match self.pending_separator.take() {
            None => {}
            Some(_) if continues == Continuation::Always => {}
            Some(Separator::Brace) if continues == Continuation::AfterBrace => {}
            Some(_) => self.separate(),
        }
        let mut row = None;
        if let Some(level) = self.levels.last_mut() {
            level.counts.open += 1;
            self.counts.open += 1;
            row = level.decorator_row.take();
        }
        self.last = last;
        self.may_end_statement = last == LastToken::Operand;
        self.after_head = false;
        self.after_dot = false;
        self.new_line = false;
        row
    }

    /// Continues a row of decorators.
    fn continue_decorators(&mut self, row: Option<DecoratorRow>, last: DecoratorEnd) {
        if let (Some(level), Some(row)) = (self.levels.last_mut(), row) {
            level.decorator_row = Some(DecoratorRow { last, ..row });
        }
    }

    /// Starts the next decorator of a row: the tokens of the previous one are closed.
    fn start_decorator(&mut self) -> Option<DecoratorRow> {
        let level = self.levels.last_mut()?;
        let row = level.decorator_row.filter(|row| row.last == DecoratorEnd::Complete)?;
        let all = std::mem::replace(&mut level.counts, row.before);
        self.counts.open -= all.open - row.before.open;
        self.counts.colons -= all.colons - row.before.colons;
        self.counts.heads -= all.heads - row.before.heads;
        Some(row)
    }

    /// Closes all tokens of the current level.
    fn separate(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.decorator_row = None;
            let counts = std::mem::take(&mut level.counts);
            self.subtract(counts);
        }
    }

    fn subtract(&mut self, counts: Counts) {
        self.counts.open -= counts.open;
        self.counts.colons -= counts.colons;
        self.counts.heads -= counts.heads;
    }

    fn open_bracket(&mut self, byte: u8) {
        let is_head = self.after_head && byte == b'(';
        // `a` on one line and `(b)` on the next is a call, so it continues.
        let row =
            self.token(LastToken::Operator, if byte == b'{' { Continuation::Never } else { Continuation::AfterBrace });
        if byte == b'(' {
            // The arguments are a level of their own; after them the decorator may end.
            self.continue_decorators(row.filter(|row| row.last != DecoratorEnd::Dot), DecoratorEnd::Complete);
        }
        let kind = match byte {
            b'{' => LevelKind::Brace,
            _ if is_head => LevelKind::Head,
            _ => LevelKind::Bracket,
        };
        self.levels.push(Level::new(kind));
        self.at += 1;
    }

    fn close_bracket(&mut self, byte: u8) {
        self.at += 1;
        if self.levels.len() == 1 {
            return;
        }
        let Some(level) = self.levels.pop() else { return };
        self.subtract(level.counts);
        self.angles -= level.angles;
        (self.new_line, self.pending_separator, self.may_end_statement) = (false, None, level.kind != LevelKind::Head);
        (self.after_head, self.after_dot) = (false, false);
        match (byte, level.kind) {
            (b'}', LevelKind::Template) if self.skips_text => {
                // The expressions of one template are not nested.
                if let Some(around) = self.levels.last_mut() {
                    let one = usize::from(around.counts.open > 0);
                    around.counts.open -= one;
                    self.counts.open -= one;
                }
                self.template();
            }
            (b'}', _) => {
                self.last = LastToken::Ambiguous;
                self.pending_separator = Some(Separator::Brace);
            }
            (_, LevelKind::Head) => self.last = LastToken::Operator,
            _ => self.last = LastToken::Operand,
        }
    }

    fn word(&mut self) {
        let start = self.at;
        while self.bytes.get(self.at).copied().is_some_and(is_word) {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        let is_name = self.after_dot;
        // `for await (`.
        let is_head = !is_name && (HEAD_WORDS.contains(&word) || self.after_head && word == b"await");
        let continues = CONTINUATION_WORDS.contains(&word);
        let is_operator = !is_name && OPERATOR_WORDS.contains(&word);
        // A line break ends a statement if one value would follow another.
        let ends = self.new_line && self.may_end_statement && !continues;
        if ends || word == b"case" {
            self.separate();
        }
        let last = match word {
            word if !is_name && AMBIGUOUS_WORDS.contains(&word) => LastToken::Ambiguous,
            _ if is_operator => LastToken::Operator,
            _ => LastToken::Operand,
        };
        let row = self.token(last, if continues { Continuation::Always } else { Continuation::Never });
        self.continue_decorators(row.filter(|row| row.last != DecoratorEnd::Complete), DecoratorEnd::Complete);
        self.after_head = is_head;
    }

    fn punctuation(&mut self, byte: u8) {
        let is_head = byte == b'<' && self.last == LastToken::Operator;
        let arrow = byte == b'>' && self.at > 0 && self.bytes[self.at - 1] == b'=';
        let twice = matches!(byte, b'+' | b'-') && self.bytes.get(self.at + 1) == Some(&byte);
        // A statement follows a block, but an operator continues a value.
        let continues = if matches!(byte, b'@' | b'#') { Continuation::Never } else { Continuation::AfterBrace };
        let before = if byte == b'@' { self.start_decorator() } else { None };
        let row = self.token(if twice { LastToken::Ambiguous } else { LastToken::Operator }, continues);
        match (byte, self.levels.last()) {
            (b'@', Some(level)) => {
                let first = Counts { open: level.counts.open - 1, ..level.counts };
                self.continue_decorators(
                    Some(before.unwrap_or(DecoratorRow { before: first, last: DecoratorEnd::At })),
                    DecoratorEnd::At,
                );
            }
            (b'.', _) => {
                self.continue_decorators(row.filter(|row| row.last == DecoratorEnd::Complete), DecoratorEnd::Dot);
            }
            _ => {}
        }
        if let Some(level) = self.levels.last_mut() {
            if byte == b'<' {
                level.angles += 1;
                self.angles += 1;
                self.angle_depth_sum += self.angles;
                if is_head {
                    level.counts.heads += 1;
                    self.counts.heads += 1;
                }
            } else if byte == b':' {
                level.counts.colons += 1;
                self.counts.colons += 1;
                self.colon_depth_sum += self.counts.colons;
            } else if byte == b'>' && !arrow && level.angles > 0 {
                level.angles -= 1;
                self.angles -= 1;
            }
        }
        self.after_dot = byte == b'.';
        self.at += 1 + usize::from(twice);
    }

    /// Skips a comment or a regular expression; returns false if the slash divides.
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
                LastToken::Operand => false,
                LastToken::Operator => self.regex(),
                LastToken::Ambiguous => {
                    // If it is a regular expression, quotes in it start no string; if it divides,
                    // quotes after it may start one.
                    let line = self.bytes[self.at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
                    self.skips_text &= !line.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`'))
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
                    self.token(LastToken::Operand, Continuation::Never);
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        self.skips_text = false;
        false
    }

    fn string(&mut self, quote: u8) {
        let mut at = self.at + 1;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\n' => break,
                byte if *byte == quote => {
                    if self.new_line && self.may_end_statement {
                        self.separate();
                    }
                    self.token(LastToken::Operand, Continuation::Never);
                    self.at = at + 1;
                    return;
                }
                _ => {}
            }
            at += 1;
        }
        // An unterminated string: the rest is unknown.
        self.skips_text = false;
        self.token(LastToken::Operand, Continuation::Never);
        self.at += 1;
    }

    /// Skips the text of a template up to its end, or to its next expression.
    fn template(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'`' => {
                    self.at += 1;
                    self.last = LastToken::Operand;
                    return;
                }
                b'$' if self.bytes.get(self.at + 1) == Some(&b'{') => {
                    self.token(LastToken::Operator, Continuation::Always);
                    self.levels.push(Level::new(LevelKind::Template));
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
            assert!(find_too_deep(&source).is_some(), "{open}");
            let hidden = format!("{{}}\n/'/; {source} '");
            assert!(
                open.contains("/*") || find_too_deep(&hidden).is_some(),
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
            assert_eq!(find_too_deep(&source), None, "{flat}");
        }
        assert!(!is_too_deep_as_text("x = <a>don't</a>"));
        assert!(is_too_deep_as_text(&format!("<a>'{}'</a>", "{(".repeat(2_000))));
    }
}
