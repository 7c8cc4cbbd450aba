//! Sketches of costs, as they are stored (`DDSketch`, arXiv 1908.10693): counts of buckets whose
//! bounds grow by two per cent.
//!
//! Invariant: the midpoint of a bucket is within one per cent of every value in it.

/// The relative error of percentiles.
const ACCURACY: f64 = 0.01;

fn ln_gamma() -> f64 {
    ((1.0 + ACCURACY) / (1.0 - ACCURACY)).ln()
}

/// The bucket of a value; bucket 0 is for zero.
pub(crate) fn bucket(value: u64) -> i64 {
    if value == 0 {
        return 0;
    }
    #[expect(clippy::cast_precision_loss, reason = "one per cent is asked for")]
    let logarithm = (value as f64).ln();
    #[expect(clippy::cast_possible_truncation, reason = "it is at most 2,219")]
    let number = (logarithm / ln_gamma()).ceil() as i64;
    number + 1
}

/// The representative value of a bucket.
pub(crate) fn bucket_midpoint(bucket: i64) -> u64 {
    if bucket == 0 {
        return 0;
    }
    #[expect(clippy::cast_precision_loss, reason = "it is at most 2,219")]
    let upper = ((bucket - 1) as f64 * ln_gamma()).exp();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates, and is positive")]
    let middle = (upper * (1.0 - ACCURACY)).round() as u64;
    middle.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_bucket_is_within_one_per_cent() {
        let mut value = 1_u64;
        while value < u64::MAX / 3 {
            for value in [value, value + 1, value * 2 + 1] {
                let middle = bucket_midpoint(bucket(value));
                let error = middle.abs_diff(value);
                assert!(error <= value / 100 + 1, "{value} became {middle}");
            }
            value = value * 3 / 2 + 1;
        }
        assert_eq!((bucket(0), bucket_midpoint(0)), (0, 0));
        assert_eq!(bucket_midpoint(bucket(1)), 1);
    }
}
