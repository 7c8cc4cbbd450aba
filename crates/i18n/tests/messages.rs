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
fn a_message_that_was_read_back_equals_the_one_that_was_written() {
    let message = message!("{count} of {all}", count = 1, all = 2);
    let read = toolcell_i18n::Message::verbatim(message.to_string());
    assert_eq!(read, message);
    assert_eq!(read.cmp(&message), std::cmp::Ordering::Equal);
    assert!(message!("error") < message!("hint"));
}

#[test]
fn an_argument_is_not_a_template() {
    let name = "{count} {{";
    assert_eq!(message!("a {name} b", name).to_text(Lang::Zh), "a {count} {{ b");
}
