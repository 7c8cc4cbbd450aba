//! Thousands of random steps, compared with an in-memory model.

use toolcell::store::{Durability, OnConflict, Settings};

use crate::fixtures::store::{StoreFixture, returns, sample_tool};

const NAMES: [&str; 5] = ["one", "two", "Three", "four_4", "five"];
const STEPS: u64 = 3_000;

/// A version of a name in the model.
#[derive(Clone, Copy)]
enum ModelVersion {
    /// The name resolves to the source with this number.
    Leads(u64),
    /// The name was deleted when it resolved to the source with this number.
    Deleted(u64),
}

/// The expected state of the store.
#[derive(Default)]
struct NameModel {
    histories: [Vec<ModelVersion>; 5],
}

/// An action on a name.
#[derive(Debug, Clone, Copy)]
enum ModelAction {
    Put(u64),
    Replace(u64),
    Delete,
    Undelete,
    RollBack(u64),
}

impl NameModel {
    fn current(&self, name: usize) -> Option<u64> {
        match self.histories[name].last() {
            Some(ModelVersion::Leads(source)) => Some(*source),
            _ => None,
        }
    }

    /// Applies an action to the model, and returns `done` or the expected error code.
    fn apply(&mut self, name: usize, verb: ModelAction) -> &'static str {
        let leads = self.current(name);
        let history = &mut self.histories[name];
        let past = match (verb, leads, history.last()) {
            (ModelAction::Put(_), Some(_), _) => return "name-taken",
            (ModelAction::Put(source) | ModelAction::Replace(source), ..) => ModelVersion::Leads(source),
            (ModelAction::Delete, Some(source), _) => ModelVersion::Deleted(source),
            (ModelAction::Delete, None, _) | (ModelAction::Undelete | ModelAction::RollBack(_), _, None) => {
                return "tool-not-found";
            }
            (ModelAction::Undelete, Some(_), _) => return "not-deleted",
            (ModelAction::Undelete, None, Some(ModelVersion::Leads(source) | ModelVersion::Deleted(source))) => {
                ModelVersion::Leads(*source)
            }
            (ModelAction::RollBack(number), ..) => {
                let index = usize::try_from(number).unwrap().wrapping_sub(1);
                let Some(ModelVersion::Leads(source)) = history.get(index) else { return "version-not-found" };
                ModelVersion::Leads(*source)
            }
        };
        history.push(past);
        "done"
    }
}

fn perform(fixture: &StoreFixture, name: usize, verb: ModelAction) -> &'static str {
    // Names are matched case-insensitively, so some look-ups use another spelling.
    let name = if let ModelAction::Put(_) | ModelAction::Replace(_) = verb {
        NAMES[name].to_owned()
    } else {
        NAMES[name].to_uppercase()
    };
    let done = match verb {
        ModelAction::Put(source) => fixture.insert(&sample_tool(&name, &returns(source)), OnConflict::Refuse),
        ModelAction::Replace(source) => fixture.insert(&sample_tool(&name, &returns(source)), OnConflict::Replace),
        ModelAction::Delete => fixture.delete(&name),
        ModelAction::Undelete => fixture.undelete(&name),
        ModelAction::RollBack(number) => fixture.roll_back(&name, number),
    };
    done.map_or_else(|error| error.code().as_str(), |_| "done")
}

fn assert_agrees(fixture: &StoreFixture, model: &NameModel, name: usize) {
    let source = model.current(name).map_or_else(|| "tool-not-found".to_owned(), returns);
    assert_eq!(fixture.source(NAMES[name]), source, "{}", NAMES[name]);
}

fn assert_all_agree(fixture: &StoreFixture, model: &NameModel) {
    for (name, history) in model.histories.iter().enumerate() {
        assert_agrees(fixture, model, name);
        let past = fixture.store().catalog().history(&crate::fixtures::store::name(NAMES[name])).unwrap();
        assert!(past.iter().zip(1..).all(|(past, number)| past.number == number));
        let known = history.iter().map(|past| match past {
            ModelVersion::Leads(source) => (sample_tool(NAMES[name], &returns(*source)).id(), false),
            ModelVersion::Deleted(source) => (sample_tool(NAMES[name], &returns(*source)).id(), true),
        });
        let history_steps = past.iter().map(|past| (past.id, past.event.name() == "deleted"));
        assert!(history_steps.eq(known), "{}", NAMES[name]);
    }
}

#[test]
fn names_lead_where_a_model_says() {
    for (seed, durability) in [(1_u64, Durability::Unsynced), (2, Durability::Unsynced), (3, Durability::Synced)] {
        let mut fixture = StoreFixture::with_settings(Settings { durability, ..Settings::default() });
        let mut model = NameModel::default();
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let steps = if durability == Durability::Synced { STEPS / 30 } else { STEPS };
        for step in 0..steps {
            let name = usize::try_from(random(5)).unwrap();
            let verb = match random(6) {
                0 => ModelAction::Put(random(8)),
                1 => ModelAction::Replace(random(8)),
                2 | 3 => ModelAction::Delete,
                4 => ModelAction::Undelete,
                _ => ModelAction::RollBack(random(12)),
            };
            // The clock goes back now and then.
            if step % 100 == 99 {
                fixture.set_clock(i64::try_from(random(5_000)).unwrap());
            }
            assert_eq!(perform(&fixture, name, verb), model.apply(name, verb), "seed {seed}, step {step}: {verb:?}");
            assert_agrees(&fixture, &model, name);
        }
        assert_all_agree(&fixture, &model);
        fixture.reopen();
        assert_all_agree(&fixture, &model);
        fixture.close();
        for file in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
            let _ = std::fs::remove_file(fixture.path().join(file));
        }
        assert!(fixture.repair().is_healthy());
        assert!(fixture.check().problems.is_empty());
        fixture.reopen();
        assert_all_agree(&fixture, &model);
    }
}
