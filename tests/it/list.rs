//! Listing tools: filters, order, and pages.

use std::collections::BTreeSet;

use toolcell::Status;
use toolcell::store::{Cursor, Filter, OnConflict, Order, Page};

use crate::fixtures::store::{StoreFixture, returns, sample_tool};

fn names(page: &Page) -> Vec<&str> {
    page.entries.iter().map(|entry| entry.name.as_str()).collect()
}

/// Asserts the names that a filter finds, in alphabetical order.
#[track_caller]
fn check(fixture: &StoreFixture, filter: Filter, expect: &[&str]) {
    let page = fixture.store().catalog().list(&Filter { order: Order::Name, ..filter }).unwrap();
    assert_eq!(names(&page), expect);
    assert_eq!((page.total, page.next), (expect.len() as u64, None));
}

fn named(part: &str) -> Filter {
    Filter { name: Some(part.to_owned()), ..Filter::default() }
}

fn tags(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

#[test]
fn a_part_of_a_name_is_found_in_any_case_and_as_it_is_written() {
    let fixture = StoreFixture::new();
    for tool in ["json_to_csv", "JSON-parse", "average"] {
        fixture.tool(tool, &returns(1));
    }
    check(&fixture, named("json"), &["JSON-parse", "json_to_csv"]);
    check(&fixture, named("N_T"), &["json_to_csv"]);
    check(&fixture, named("_"), &["json_to_csv"]);
    for nothing in ["%", "a%e", "n-t", "\\", "'", "\0", "平均", "a_e"] {
        check(&fixture, named(nothing), &[]);
    }
    check(&fixture, named(""), &["average", "JSON-parse", "json_to_csv"]);
    fixture.delete("average").unwrap();
    check(&fixture, named("average"), &[]);
}

#[test]
fn tags_are_found_whole() {
    let fixture = StoreFixture::new();
    for (tool, tags) in [("one", &["math", "a b"][..]), ("two", &["mathematics", "統計"]), ("three", &["math", "統計"])]
    {
        fixture.insert(&sample_tool(tool, &returns(1)).tags(tags), OnConflict::Refuse).unwrap();
    }
    fixture.tool("none", &returns(1));
    let any = |these: &[&str]| Filter { any_tag: tags(these), ..Filter::default() };
    let all = |these: &[&str]| Filter { all_tags: tags(these), ..Filter::default() };
    check(&fixture, any(&["math"]), &["one", "three"]);
    check(&fixture, any(&["mathematics", "a b"]), &["one", "two"]);
    check(&fixture, all(&["math", "統計"]), &["three"]);
    check(&fixture, Filter { all_tags: tags(&["統計"]), ..any(&["mathematics", "nothing"]) }, &["two"]);
    // Substrings of tags, and tags joined by separators, do not match.
    for nothing in ["mat", "a", "", "\n", "a b\nmath", "math\n", "Math"] {
        check(&fixture, any(&[nothing]), &[]);
        check(&fixture, all(&[nothing]), &[]);
    }
}

#[test]
fn scores_and_status_are_compared() {
    let fixture = StoreFixture::new();
    for (tool, safety) in [("low", 0.3), ("middle", 0.7), ("high", 1.0)] {
        fixture.insert(&sample_tool(tool, &returns(1)).scores(safety, 0.2), OnConflict::Refuse).unwrap();
    }
    let safe = |least| Filter { min_safety: Some(least), ..Filter::default() };
    check(&fixture, safe(0.7), &["high", "middle"]);
    check(&fixture, safe(0.7001), &["high"]);
    check(&fixture, safe(0.0), &["high", "low", "middle"]);
    let middle = fixture.find("middle").unwrap().id;
    fixture.store().catalog().set_status(middle, Status::Quarantined).unwrap();
    check(&fixture, Filter { status: Some(Status::Quarantined), ..Filter::default() }, &["middle"]);
    check(&fixture, Filter { status: Some(Status::Unverified), ..safe(0.5) }, &["high"]);
}

#[test]
fn a_filter_that_is_too_large_is_refused() {
    let fixture = StoreFixture::new();
    let many: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
    let filters = [
        (Filter { any_tag: many.clone(), ..Filter::default() }, "100000 tags to match any of, the limit is 64"),
        (Filter { all_tags: many, ..Filter::default() }, "100000 tags to match all of, the limit is 64"),
    ];
    for (filter, message) in filters {
        let error = fixture.store().catalog().list(&filter).unwrap_err();
        assert_eq!((error.code().as_str(), error.to_string()), ("filter-invalid", format!("the filter has {message}")));
    }
    let most = Filter { any_tag: (0..64).map(|tag| tag.to_string()).collect(), ..named(&"a".repeat(1 << 20)) };
    assert_eq!(fixture.store().catalog().list(&most).unwrap().total, 0);
}

/// Creates a hundred tools that differ in every sort key, with many ties.
fn hundred() -> StoreFixture {
    let fixture = StoreFixture::new();
    for number in 0..100_u64 {
        let tool = sample_tool(&format!("t{:02}", number * 37 % 100), &returns(number)).scores(0.5, 0.5);
        let id = fixture
            .set_clock(1_000 + i64::try_from(number).unwrap() / 10)
            .insert(&tool, OnConflict::Refuse)
            .unwrap()
            .id;
        for run in 0..number % 3 {
            fixture.run(id, (run > 0).then_some("timeout"), 1, 1);
        }
    }
    fixture
}

/// Returns the sort key of an order. Greater keys come first, except for names.
fn key(order: Order, entry: &toolcell::store::Entry) -> String {
    let seconds = |at: Option<jiff::Timestamp>| at.map_or(0, jiff::Timestamp::as_second);
    match order {
        Order::Created => format!("{:020}", seconds(Some(entry.created_at))),
        Order::Updated => format!("{:020}", seconds(Some(entry.updated_at))),
        Order::Name => entry.name.case_folded(),
        Order::Usage => format!("{:020}", entry.runs),
        Order::LastUsed => format!("{:020}", seconds(entry.last_used_at)),
        Order::Confidence => format!("{:.4}", entry.confidence),
    }
}

#[test]
fn pages_show_each_tool_once_in_every_order() {
    let fixture = hundred();
    for order in Order::ALL {
        let mut filter = Filter { order, limit: 7, ..Filter::default() };
        let mut shown = Vec::new();
        loop {
            let page = fixture.store().catalog().list(&filter).unwrap();
            assert!(page.total == 100 && page.entries.len() <= 7);
            shown.extend(page.entries.into_iter().map(|entry| (key(order, &entry), entry.name)));
            let Some(next) = page.next else { break };
            filter.after = Some(Cursor::parse(&next.to_string()).unwrap());
        }
        assert_eq!(shown.iter().map(|(_, name)| name).collect::<BTreeSet<_>>().len(), 100, "{}", order.name());
        assert_eq!(shown.len(), 100);
        let ascending = shown.is_sorted_by(|one, other| one.0 <= other.0);
        let descending = shown.is_sorted_by(|one, other| one.0 >= other.0);
        assert!(if order == Order::Name { ascending } else { descending }, "{}: {shown:?}", order.name());
    }
}

#[test]
fn pages_hold_while_tools_come_and_go() {
    for order in [Order::Created, Order::Name, Order::Updated, Order::Confidence] {
        let fixture = hundred();
        let mut filter = Filter { order, limit: 7, ..Filter::default() };
        let mut shown: Vec<String> = Vec::new();
        let mut gone = BTreeSet::new();
        for number in 0_u64.. {
            let page = fixture.store().catalog().list(&filter).unwrap();
            shown.extend(page.entries.iter().map(|entry| entry.name.to_string()));
            // The cursor refers to the last entry of the page.
            let last = page.entries.last().unwrap().name.to_string();
            fixture.delete(&last).unwrap();
            let another = format!("t{:02}", (number * 13 + 5) % 100);
            if last != another && fixture.delete(&another).is_ok() {
                gone.insert(another);
            }
            fixture.tool(&format!("new{number}"), &returns(number));
            filter.after = page.next;
            if filter.after.is_none() {
                break;
            }
        }
        let all: BTreeSet<String> = shown.iter().cloned().collect();
        assert_eq!(all.len(), shown.len(), "{}: something was shown twice", order.name());
        for number in 0..100 {
            let tool = format!("t{number:02}");
            assert!(all.contains(&tool) || gone.contains(&tool), "{}: {tool} was left out", order.name());
        }
    }
}

#[test]
fn a_cursor_is_of_one_list_only() {
    let fixture = hundred();
    let next = |order| fixture.store().catalog().list(&Filter { order, ..Filter::default() }).unwrap().next;
    let after = next(Order::Usage);
    let error = fixture.store().catalog().list(&Filter { order: Order::Name, after, ..Filter::default() }).unwrap_err();
    assert_eq!(error.code(), "cursor-invalid");
    let long = format!("usage.1.{}", "9".repeat(100));
    for garbage in
        ["", ".", "..", "usage", "usage.1", "usage.1.x", "usage.x.1", "size.1.1", "created.1.1.1", &long, "名"]
    {
        assert_eq!(Cursor::parse(garbage).unwrap_err().code(), "cursor-invalid", "{garbage}");
    }
    // A well-formed cursor that was never issued points somewhere in the list, or to its end.
    for forged in ["name.1.'; DROP TABLE tool", "name.-1.", "usage.9223372036854775807.-9223372036854775808"] {
        let after = Some(Cursor::parse(forged).unwrap());
        let order = if forged.starts_with('n') { Order::Name } else { Order::Usage };
        fixture.store().catalog().list(&Filter { order, after, ..Filter::default() }).unwrap();
    }
    let whole = fixture.store().catalog().list(&Filter { limit: usize::MAX, ..Filter::default() }).unwrap();
    assert_eq!((whole.entries.len(), whole.total, whole.next), (100, 100, None));
}
