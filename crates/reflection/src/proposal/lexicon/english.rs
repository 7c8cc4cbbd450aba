//! English words by their grammatical role.

use super::is_listed;

/// Verbs, in the imperative.
const VERBS: &str = "aggregate align analyse analyze annotate append archive assign audit average backup batch \
    build calculate call categorise categorize check classify clean clone collapse collect combine compare compile \
    compress compute concatenate convert copy count crawl create crop deduplicate decode decompress decrypt dedupe \
    detect diff download draft drop encode encrypt enrich ensure escape estimate evaluate expand export extract fetch \
    fill filter find fix flag flatten forecast format generate get group hash highlight import index inspect invoke \
    join label link lint list load lookup map mask match measure merge migrate minify monitor move normalise \
    normalize notify obfuscate order parse ping poll post prepare prettify process produce publish pull push put query rank \
    read reconcile record redact reformat refresh remove rename render reorder repeat replace request reshape resize \
    resolve retrieve reverse review rewrite rotate round sample sanitise sanitize save scan scrape search send serialise \
    serialize shorten shuffle sort split standardise standardize store strip submit subtract sum summarise summarize \
    sync tag tally test tokenise tokenize total track transcribe transform translate transpose trim truncate turn \
    unescape unzip update upload validate verify write zip change tabulate";

/// Words that may precede a verb; after any other word it is a noun.
const BEFORE_VERB: &str = "to and then please should must can could will would we i you let us me also or that which \
    automatically always often repeatedly not just now need needs want wants help script tool function program it they \
    who again it's let's daily first next finally";
/// Words that may precede a verb in `-ing`.
const BEFORE_ING: &str =
    "for of keep keeps by when while start started about me us i'm we're from with after before on";

/// Words that do not belong in a name.
const STOP_WORDS: &str = "a an the this that these those it its they them their he she his her we us our i me my mine you your \
    and or but nor so yet if then else than as at by for from in into of off on onto out over per to up with within \
    without via through during between across against under above below about after before again once is are was were be \
    been being am do does did done doing have has had having can could will would shall should may might must need needs \
    needed want wants wanted please help let lets just also too very really much many more most some any all each every \
    both either neither no not only own same other another such few several multiple various different new old good \
    better best one two three four five first second third last next now here there when where while whenever why how what which \
    who whom whose because until since always often never sometimes repeatedly automatically manually quickly easily \
    correctly properly whether using use used uses tool tools script function program task job thing things stuff way \
    ways time times lot lots kind sort type types bunch etc eg ie via it's let's don't i'm we're given take takes taking \
    keep keeps make makes sure like look looks good well big huge large small long short simple complex complicated \
    whole entire full single hundreds thousands hundred thousand dozens dozen pile folder today tomorrow yesterday back \
    http https www com valid invalid right wrong proper clean nice go goes going come comes get gets got able yet still \
    me's contain contains containing contained match matches exist exists found called named based according fail failed \
    fails failing had gave give gives result results readable human conversion failure failures attempt attempts problem problems processing";

/// Vague nouns, used in a name only if there are no others.
const WEAK_NOUNS: &str = "data file files format formats record records value values text texts list lists result output outputs \
    input inputs content contents information info item items row rows column columns document documents entry entries \
    string strings number set object objects field line lines";

/// Names with digits that are part of them.
const WITH_DIGITS: &str =
    "utf8 utf16 base64 base32 sha256 sha1 md5 iso8601 mp3 mp4 s3 oauth2 ipv4 ipv6 b2b k8s h264 e164";

/// The verb of which a word is an inflection: `converting` gives `convert`.
pub(super) fn base_verb(word: &str) -> Option<String> {
    let known = |base: String| is_listed(VERBS, &base).then_some(base);
    let cut = |ending: &str| word.strip_suffix(ending).filter(|stem| stem.len() > 2);
    let undoubled = |stem: &str| {
        let mut letters = stem.chars().rev();
        let is_doubled = letters.next() == letters.next();
        stem.get(..stem.len() - 1).filter(|_| is_doubled).map(str::to_owned)
    };
    known(word.to_owned())
        .or_else(|| cut("s").and_then(|stem| known(stem.to_owned())))
        .or_else(|| cut("es").and_then(|stem| known(stem.to_owned())))
        .or_else(|| cut("ies").and_then(|stem| known(format!("{stem}y"))))
        .or_else(|| {
            let stem = cut("ing").or_else(|| cut("ed"))?;
            known(stem.to_owned()).or_else(|| known(format!("{stem}e"))).or_else(|| undoubled(stem).and_then(known))
        })
}

/// Whether a word may be a verb after the preceding word of its sentence, if there is one.
pub(super) fn may_be_verb(word: &str, before: Option<&str>) -> bool {
    match before {
        None => true,
        Some(before) => is_listed(BEFORE_VERB, before) || (word.ends_with("ing") && is_listed(BEFORE_ING, before)),
    }
}

/// Whether a word does not belong in a name.
pub(super) fn is_stop_word(word: &str) -> bool {
    let is_odd = word.contains(|letter: char| letter.is_ascii_digit()) && !is_listed(WITH_DIGITS, word);
    word.len() < 2 || word.len() > 20 || is_odd || is_listed(STOP_WORDS, word)
}

/// Whether a word is a vague noun.
pub(super) fn is_weak(word: &str) -> bool {
    is_listed(WEAK_NOUNS, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_an_order_are_known() {
        let check = |word: &str, expect: Option<&str>| assert_eq!(base_verb(word).as_deref(), expect, "{word}");
        check("converting", Some("convert"));
        check("summarises", Some("summarise"));
        check("validated", Some("validate"));
        check("stripping", Some("strip"));
        check("checkout", None);
        check("string", None);
        check("queries", Some("query"));
    }
}
