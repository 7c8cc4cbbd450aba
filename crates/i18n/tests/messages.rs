//! Messages with arguments.

use toolcell_i18n::{Lang, message};

#[test]
fn arguments_that_are_messages_are_translated() {
    let label = message!("error");
    let outer = message!("{{{label}}} {count}", label, count = 3);
    assert_eq!(outer.to_string(), "{error} 3");
    assert_eq!(outer.to_text(Lang::Ja), "{エラー} 3");
}

#[test]
fn an_argument_is_not_a_template() {
    let name = "{count} {{";
    assert_eq!(message!("a {name} b", name).to_text(Lang::Zh), "a {count} {{ b");
}
