//! Numbers that are drawn, and are the same ones each time.
//!
//! Invariant: the same seed draws the same numbers on every machine.

/// Numbers that are drawn, the same ones each time (`SplitMix64`, Steele et al. 2014).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// A number below this; 0 where nothing is.
    pub(super) fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % sides.max(1) as u64).unwrap_or(0)
    }

    /// One of these; nothing of nothing.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_numbers() {
        let mut dice = Dice(1);
        assert_eq!([6; 8].map(|sides| dice.below(sides)).to_vec(), {
            let mut dice = Dice(1);
            [6; 8].map(|sides| dice.below(sides)).to_vec()
        });
        assert_eq!((dice.below(0), dice.pick::<u8>(&[])), (0, None));
    }
}
