//! Model-based test: thousands of random commits against a model in memory.

use std::collections::BTreeMap;

use super::*;

const STEPS: u64 = 4_000;
const KEYS: [&str; 6] = ["a", "ab", "b", "b/1", "ü", "zzzz"];

/// The entry of each key: value, version and expiry.
type Model = BTreeMap<String, (String, u64, Option<i64>)>;

/// A deterministic random number generator (`xorshift64`, Marsaglia 2003).
struct TestRng(u64);

impl TestRng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn key(&mut self) -> String {
        KEYS[usize::try_from(self.below(KEYS.len() as u64)).unwrap()].to_owned()
    }

    fn write(&mut self, now: i64) -> KvWrite {
        let key = self.key();
        if self.below(4) == 0 {
            return KvWrite::Delete { key };
        }
        let value = "1".repeat(usize::try_from(self.below(12)).unwrap() + 1);
        let expires_at = (self.below(2) == 0).then(|| at(now + i64::try_from(self.below(20)).unwrap()));
        KvWrite::Put { key, value, expires_at }
    }
}

fn bytes(model: &Model) -> u64 {
    model.iter().map(|(key, (value, ..))| (key.len() + value.len()) as u64).sum()
}

/// The expected result of a commit; `None` if it is rejected.
fn after(model: &Model, writes: &[KvWrite], limits: &KvLimits, version: u64, now: i64) -> Option<Model> {
    let mut next = model.clone();
    for write in writes {
        match write {
            KvWrite::Delete { key } => {
                next.remove(key);
            }
            KvWrite::Put { key, value, expires_at } => {
                let until = expires_at.map(Timestamp::as_second);
                next.insert(key.clone(), (value.clone(), version, until));
                if until.is_some_and(|until| until <= now) {
                    next.remove(key);
                }
            }
        }
    }
    let grows = |before: u64, after: u64, limit: u64| after > limit && after > before;
    let refused =
        grows(bytes(model), bytes(&next), limits.bytes) || grows(model.len() as u64, next.len() as u64, limits.keys);
    (!refused).then_some(next)
}

#[test]
fn a_space_is_what_the_model_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    let (mut dice, mut model, mut now) = (TestRng(0x2545_f491_4f6c_dd1d), Model::new(), 0_i64);
    let (mut version, mut outcomes) = (0, [0_u32; 3]);
    for step in 0..STEPS {
        now += i64::try_from(dice.below(4)).unwrap();
        model.retain(|_, (.., until)| until.is_none_or(|until| until > now));
        let limits = KvLimits { bytes: 10 + dice.below(40), keys: 2 + dice.below(4), value_bytes: 100 };
        let writes: Vec<KvWrite> = (0..=dice.below(4)).map(|_| dice.write(now)).collect();
        let key = dice.key();
        let known = model.get(&key).map(|(_, version, _)| *version);
        let right = dice.below(3) > 0;
        let check = is(&key, if right { known } else { Some(version + 1) });
        let next = after(&model, &writes, &limits, version + 1, now);
        let done =
            store.kv(&notes()).commit(&[check], &writes, &limits, at(now)).map_err(|error| error.code().as_str());
        let outcome = match next {
            _ if !right => (Ok(false), 0),
            None => (Err("kv-quota"), 1),
            Some(next) => {
                (model, version) = (next, version + 1);
                (Ok(true), 2)
            }
        };
        assert_eq!(done, outcome.0, "step {step}: {writes:?} {limits:?}");
        outcomes[outcome.1] += 1;
        for key in KEYS {
            let seen = store.kv(&notes()).get(key, at(now)).unwrap().map(|pair| (pair.value, pair.version));
            let expect = model.get(key).map(|(value, version, _)| (value.clone(), *version));
            assert_eq!(seen, expect, "step {step}: {key}");
        }
        let listed = store.kv(&notes()).keys("", None, 9, at(now)).unwrap();
        assert_eq!(listed, (model.keys().cloned().collect(), false), "step {step}");
        assert_eq!(room(&store, now), (model.len() as u64, bytes(&model)), "step {step}");
        if step % 500 == 499 {
            drop(store);
            let health = crate::fsck(folder.path(), crate::RepairMode::Check).unwrap();
            assert!(health.problems.is_empty(), "{:#?}", health.problems);
            store = open(&folder);
        }
    }
    assert!(outcomes.iter().all(|count| *count > 200), "{outcomes:?}");
}
