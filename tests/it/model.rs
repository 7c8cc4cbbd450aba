//! Thousands of random steps, and a model in memory that says what must have come of each.

use toolcell::store::{Durability, Settings, WhenTaken};

use crate::shelf::{Shelf, made, returns};

const NAMES: [&str; 5] = ["one", "two", "Three", "four_4", "five"];
const STEPS: u64 = 3_000;

/// A step of a name, as the model knows it.
#[derive(Clone, Copy)]
enum Past {
    /// The name leads to the source with this number.
    Leads(u64),
    /// It was taken away from the source with this number.
    Deleted(u64),
}

/// What the store should be.
#[derive(Default)]
struct Model {
    histories: [Vec<Past>; 5],
}

/// Something that is done with a name.
#[derive(Debug, Clone, Copy)]
enum Verb {
    Put(u64),
    Replace(u64),
    Delete,
    Undelete,
    RollBack(u64),
}

impl Model {
    fn leads(&self, name: usize) -> Option<u64> {
        match self.histories[name].last() {
            Some(Past::Leads(source)) => Some(*source),
            _ => None,
        }
    }

    /// What comes of a step: `done`, or the code of the refusal.
    fn step(&mut self, name: usize, verb: Verb) -> &'static str {
        let leads = self.leads(name);
        let history = &mut self.histories[name];
        let past = match (verb, leads, history.last()) {
            (Verb::Put(_), Some(_), _) => return "name-taken",
            (Verb::Put(source) | Verb::Replace(source), ..) => Past::Leads(source),
            (Verb::Delete, Some(source), _) => Past::Deleted(source),
            (Verb::Delete, None, _) | (Verb::Undelete | Verb::RollBack(_), _, None) => return "tool-not-found",
            (Verb::Undelete, Some(_), _) => return "not-deleted",
            (Verb::Undelete, None, Some(Past::Leads(source) | Past::Deleted(source))) => Past::Leads(*source),
            (Verb::RollBack(number), ..) => {
                let index = usize::try_from(number).unwrap().wrapping_sub(1);
                let Some(Past::Leads(source)) = history.get(index) else { return "version-not-found" };
                Past::Leads(*source)
            }
        };
        history.push(past);
        "done"
    }
}

fn take(shelf: &Shelf, name: usize, verb: Verb) -> &'static str {
    // Whoever is asked for may be written in other ways.
    let name =
        if let Verb::Put(_) | Verb::Replace(_) = verb { NAMES[name].to_owned() } else { NAMES[name].to_uppercase() };
    let done = match verb {
        Verb::Put(source) => shelf.put(&made(&name, &returns(source)), WhenTaken::Refuse),
        Verb::Replace(source) => shelf.put(&made(&name, &returns(source)), WhenTaken::Replace),
        Verb::Delete => shelf.delete(&name),
        Verb::Undelete => shelf.undelete(&name),
        Verb::RollBack(number) => shelf.roll_back(&name, number),
    };
    done.map_or_else(|error| error.code(), |_| "done")
}

fn agrees(shelf: &Shelf, model: &Model, name: usize) {
    let source = model.leads(name).map_or_else(|| "tool-not-found".to_owned(), returns);
    assert_eq!(shelf.source(NAMES[name]), source, "{}", NAMES[name]);
}

fn agrees_in_all(shelf: &Shelf, model: &Model) {
    for (name, history) in model.histories.iter().enumerate() {
        agrees(shelf, model, name);
        let past = shelf.store().history(&crate::shelf::name(NAMES[name])).unwrap();
        assert!(past.iter().zip(1..).all(|(past, number)| past.number == number));
        let known = history.iter().map(|past| match past {
            Past::Leads(source) => (made(NAMES[name], &returns(*source)).id(), false),
            Past::Deleted(source) => (made(NAMES[name], &returns(*source)).id(), true),
        });
        let told = past.iter().map(|past| (past.id, past.event.name() == "deleted"));
        assert!(told.eq(known), "{}", NAMES[name]);
    }
}

#[test]
fn names_lead_where_a_model_says() {
    for (seed, durability) in [(1_u64, Durability::Unsynced), (2, Durability::Unsynced), (3, Durability::Synced)] {
        let mut shelf = Shelf::kept(Settings { durability, ..Settings::default() });
        let mut model = Model::default();
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let steps = if durability == Durability::Synced { STEPS / 30 } else { STEPS };
        for step in 0..steps {
            let name = usize::try_from(random(5)).unwrap();
            let verb = match random(6) {
                0 => Verb::Put(random(8)),
                1 => Verb::Replace(random(8)),
                2 | 3 => Verb::Delete,
                4 => Verb::Undelete,
                _ => Verb::RollBack(random(12)),
            };
            // The clock goes back now and then.
            if step % 100 == 99 {
                shelf.at(i64::try_from(random(5_000)).unwrap());
            }
            assert_eq!(take(&shelf, name, verb), model.step(name, verb), "seed {seed}, step {step}: {verb:?}");
            agrees(&shelf, &model, name);
        }
        agrees_in_all(&shelf, &model);
        shelf.reopen();
        agrees_in_all(&shelf, &model);
        shelf.close();
        for file in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
            let _ = std::fs::remove_file(shelf.path().join(file));
        }
        assert!(shelf.repair().is_good());
        assert!(shelf.look().problems.is_empty());
        shelf.reopen();
        agrees_in_all(&shelf, &model);
    }
}
