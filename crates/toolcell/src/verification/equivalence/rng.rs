//! A deterministic random number generator.
//!
//! Invariant: the same seed gives the same numbers on every machine.

/// The `SplitMix64` generator (Steele et al. 2014).
pub(super) struct SplitMix64(pub(super) u64);

impl SplitMix64 {
    /// Returns a number below `sides`; 0 if `sides` is 0.
    pub(super) fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % sides.max(1) as u64).unwrap_or(0)
    }

    /// Returns a random element, or `None` if the slice is empty.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_numbers() {
        let mut dice = SplitMix64(1);
        assert_eq!([6; 8].map(|sides| dice.below(sides)).to_vec(), {
            let mut dice = SplitMix64(1);
            [6; 8].map(|sides| dice.below(sides)).to_vec()
        });
        assert_eq!((dice.below(0), dice.pick::<u8>(&[])), (0, None));
    }
}
