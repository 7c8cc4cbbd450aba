//! Small tools, whose run time is the overhead of a call.

/// A tool with parameters and the result of a call.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) params: &'static str,
    pub(crate) result: Option<&'static str>,
}

pub(crate) const STRING_REVERSE: Sample = Sample {
    name: "string_reverse",
    source: include_str!("../tools/string_reverse.js"),
    params: r#"{"text":"Hello World"}"#,
    result: Some(r#""dlroW olleH""#),
};

pub(crate) const CALCULATE_AVERAGE: Sample = Sample {
    name: "calculate_average",
    source: include_str!("../tools/calculate_average.js"),
    params: r#"{"numbers":[1,2,3,4,5,6.5]}"#,
    result: Some("3.5833333333333335"),
};

pub(crate) const EMPTY: Sample =
    Sample { name: "an empty tool", source: include_str!("../tools/empty.js"), params: "{}", result: None };
