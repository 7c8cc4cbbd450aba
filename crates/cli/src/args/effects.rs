//! Options of `run` and `resume` that hold effects, and the digests that approve them.
//!
//! Invariant: only a whole digest is an approval.

use toolcell_i18n::message;

use super::usage_error::ValueError;

/// Length of a digest in hexadecimal digits.
const DIGEST_DIGITS: usize = 64;
/// Prefix of the digest of a whole list.
const PLAN_PREFIX: &str = "all:";

/// Options for holding effects and deciding on them.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Dry-run side effects: list writes and requests (other than GET, HEAD and OPTIONS), apply
    /// only approved ones
    #[arg(long)]
    pub(crate) plan: bool,

    /// Like --plan, and apply these effects: digests from an earlier list, or `all:` and the digest
    /// of the whole list
    #[arg(long, value_name = "DIGESTS", value_delimiter = ',', value_parser = ApprovedDigest::parse)]
    pub(crate) approve: Vec<ApprovedDigest>,

    /// Like --plan, and show the details and bodies of effects, truncated if long; --json has all
    /// of them
    #[arg(long)]
    pub(crate) show_content: bool,

    /// Like --plan, and suspend the run if undecided effects remain; continue it with `toolcell
    /// resume`
    #[arg(long, conflicts_with = "receipt")]
    pub(crate) suspend: bool,
}

impl PlanArgs {
    /// Whether effects are held for a decision.
    pub(crate) fn is_enabled(&self) -> bool {
        self.plan || self.suspend || self.show_content || !self.approve.is_empty()
    }
}

/// A digest given with `--approve`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApprovedDigest {
    /// The digest of one effect.
    Line(String),
    /// The digest of a whole list.
    Plan(String),
}

impl ApprovedDigest {
    /// Parses a digest: that of one effect, or `all:` and that of a list. Prefixes of a digest are
    /// rejected.
    pub(super) fn parse(text: &str) -> Result<Self, ValueError> {
        let is_digest = |text: &str| text.len() == DIGEST_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lower = text.to_ascii_lowercase();
        match lower.strip_prefix(PLAN_PREFIX) {
            Some(plan) if is_digest(plan) => Ok(Self::Plan(plan.to_owned())),
            None if is_digest(&lower) => Ok(Self::Line(lower)),
            None if lower == "all" => Err(ValueError(message!(
                "`all` would approve effects that were not shown: list them with --plan, then approve \
                 `all:DIGEST` with the digest that it prints"
            ))),
            _ => Err(ValueError(message!(
                "expected the digest of a listed effect, {digits} hexadecimal digits, \
                 or `all:` and the digest of a plan",
                digits = DIGEST_DIGITS
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_a_whole_digest_or_that_of_a_plan() {
        let digest = "0a".repeat(32);
        assert_eq!(ApprovedDigest::parse(&digest), Ok(ApprovedDigest::Line(digest.clone())));
        assert_eq!(ApprovedDigest::parse(&digest.to_uppercase()), Ok(ApprovedDigest::Line(digest.clone())));
        assert_eq!(ApprovedDigest::parse(&format!("all:{digest}")), Ok(ApprovedDigest::Plan(digest.clone())));
        for wrong in
            [&digest[..63], &digest[..16], "", "all:", "all:0a", &format!("{digest}0"), &format!("any:{digest}")]
        {
            assert!(
                ApprovedDigest::parse(wrong).unwrap_err().to_string().starts_with("expected the digest"),
                "{wrong}"
            );
        }
        assert!(ApprovedDigest::parse("all").unwrap_err().to_string().contains("effects that were not shown"));
    }
}
