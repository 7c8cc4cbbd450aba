//! Sampling of a profiled instance.
//!
//! A call pauses at the end of a slice of fuel, and a paused call cannot be inspected. So the host
//! ends an epoch of the engine and lets the call continue: the call checks the epoch first, and
//! that check gives the host access to the store.
//!
//! Invariant: taking a sample changes nothing that the guest can observe, including its fuel.

use wasmtime::{Global, Memory, StoreContextMut, UpdateDeadline};

use super::GuestInstance;
use super::state::HostState;
use crate::engine::{CONTEXT_GLOBAL, PC_GLOBAL};
use crate::profile::{CallProfile, GuestPosition, Sampler};

impl GuestInstance<'_> {
    /// Starts to profile this instance, whose guest must be instrumented.
    pub(crate) fn start_profile(&mut self, script: &str) -> wasmtime::Result<()> {
        let [context, place] = [CONTEXT_GLOBAL, PC_GLOBAL].map(|name| {
            let global = self.instance.get_global(&mut self.store, name);
            global.ok_or_else(|| wasmtime::format_err!("the guest exports no `{name}`"))
        });
        let (memory, marked) = (self.memory, [context?, place?]);
        let sampler = Sampler::new(script, self.fuel_left());
        self.store.fuel_async_yield_interval(Some(sampler.next_length()))?;
        self.store.data_mut().sampler = Some(Box::new(sampler));
        let mut context = 0;
        self.store.epoch_deadline_callback(move |store| sample(store, memory, marked, &mut context));
        self.store.set_epoch_deadline(1);
        self.is_profiled = true;
        Ok(())
    }

    /// Stops profiling and returns the profile.
    pub(crate) fn take_profile(&mut self) -> Option<CallProfile> {
        let left = self.fuel_left();
        Some(self.store.data_mut().sampler.take()?.finish(left))
    }
}

/// Takes a sample if a slice has ended, and checks the deadline from time to time.
///
/// Other profiled calls end epochs of the same engine too, and so does the ticker for unprofiled
/// calls. In these cases no slice of this call has ended.
fn sample(
    mut store: StoreContextMut<'_, HostState>,
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
        // Any context will do: the guest has one runtime, and only the runtime is read from it.
        *context = read(marked_context);
    }
    let marks = GuestPosition { context: *context, pc: read(place) };
    sampler.sample(left, memory.data(&store), marks);
    let has_to_end = sampler.take_due_check(left) && store.data().deadline.is_expired();
    let running = sampler.next_length();
    if left > running {
        // The guest already holds the fuel of the slice that starts here, so a new interval takes
        // effect with the next slice. The store reports the sum of both; the reserve is what it
        // reports minus the fuel of this slice.
        let next = sampler.choose_next_length();
        store.fuel_async_yield_interval(Some(next))?;
        store.set_fuel(left - running + next)?;
    }
    store.data_mut().sampler = Some(sampler);
    Ok(if has_to_end { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
}
