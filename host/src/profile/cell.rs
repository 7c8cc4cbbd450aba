//! An instance that is profiled: when its samples are taken.
//!
//! A call pauses when a slice of fuel ends, and while it pauses nobody can look into it. So the host ends an epoch of the engine
//! then, and lets the call go on: it looks at the epoch before it does anything else, and that lends the store to the host.
//!
//! Invariant: taking a sample changes nothing that the guest can see, its fuel included.

use wasmtime::{Global, Memory, StoreContextMut, UpdateDeadline};

use super::Profile;
use super::sampler::{Marks, Sampler};
use crate::instance::Cell;
use crate::link::Inside;
use crate::tunables::{MARKED_CONTEXT, MARKED_PLACE};

impl Cell<'_> {
    /// Profiles what is called from here on, in an instance whose guest has marks.
    pub(crate) fn profile(&mut self, script: &str) -> wasmtime::Result<()> {
        let [context, place] = [MARKED_CONTEXT, MARKED_PLACE].map(|name| {
            let global = self.instance.get_global(&mut self.store, name);
            global.ok_or_else(|| wasmtime::format_err!("the guest exports no `{name}`"))
        });
        let (memory, marked) = (self.memory, [context?, place?]);
        let sampler = Sampler::new(script, self.fuel_left());
        self.store.fuel_async_yield_interval(Some(sampler.next()))?;
        self.store.data_mut().sampler = Some(Box::new(sampler));
        let mut context = 0;
        self.store.epoch_deadline_callback(move |store| sample(store, memory, marked, &mut context));
        self.store.set_epoch_deadline(1);
        self.is_profiled = true;
        Ok(())
    }

    /// Where the fuel went since then.
    pub(crate) fn profiled(&mut self) -> Option<Profile> {
        let left = self.fuel_left();
        Some(self.store.data_mut().sampler.take()?.finish(left))
    }
}

/// Takes a sample, where a slice has ended, and from time to time looks whether the call has to end.
///
/// Another call that is profiled ends epochs of the same engine as well, and so does the ticker for calls that are not: then no slice
/// has ended here.
fn sample(
    mut store: StoreContextMut<'_, Inside>,
    memory: Memory,
    marked: [Global; 2],
    context: &mut u32,
) -> wasmtime::Result<UpdateDeadline> {
    let left = store.get_fuel()?;
    let Some(mut sampler) = store.data_mut().sampler.take_if(|sampler| sampler.is_due(left)) else {
        return Ok(UpdateDeadline::Continue(1));
    };
    let [marked_context, place] = marked;
    let mut read = |global: Global| global.get(&mut store).i32().unwrap_or(0).cast_unsigned();
    if *context == 0 {
        // Whichever it is, it is one of the guest's only runtime, and that is all that is asked of it.
        *context = read(marked_context);
    }
    let marks = Marks { context: *context, place: read(place) };
    sampler.sample(left, memory.data(&store), marks);
    let has_to_end = sampler.looks(left) && store.data().until.is_over();
    let running = sampler.next();
    if left > running {
        // The guest has taken the fuel of the slice that begins here into its own hands already, and what is set now counts
        // from the next one on. What is kept for that is what the store says less what it would hand out.
        let next = sampler.choose();
        store.fuel_async_yield_interval(Some(next))?;
        store.set_fuel(left - running + next)?;
    }
    store.data_mut().sampler = Some(sampler);
    Ok(if has_to_end { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
}
