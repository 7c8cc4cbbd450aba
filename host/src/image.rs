//! The guest, compiled ahead of time: three images, of which the process takes the first that works; and two with marks, which
//! profiles are taken with. The first is ready to be loaded; the others are packed, and one is unpacked when it is tried.
//!
//! Invariant: an image is loaded only after the digest of all its bytes was checked, and this is the one place of the host
//! with `unsafe`.

use std::borrow::Cow;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, Module, PoolingAllocationConfig};

use crate::error::StartError;
use crate::slots::NESTED;
use crate::tunables::{self, Kind};

mod built {
    include!(concat!(env!("OUT_DIR"), "/images.rs"));
}

/// blake3 of the guest that all images were compiled from, in hexadecimal.
pub const GUEST_DIGEST: &str = built::GUEST;

/// The roomy image. It is not packed: it starts most processes, and in less time than unpacking takes.
static ROOMY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/roomy.cwasm"));

/// The memory of a fresh instance from [`FRESH_FROM`] on; below it, and behind its end, all is zero.
pub(crate) static FRESH: &[u8] = ROOMY.split_at(built::FRESH.0).1.split_at(built::FRESH.1).0;

/// Where [`FRESH`] begins.
pub(crate) use built::FRESH_FROM;

/// An image as it lies in the binary, without what is [`FRESH`]: one block of LZ4 behind a mark of `mark` bytes.
struct Packed {
    file: &'static [u8],
    mark: usize,
    digest: &'static str,
    /// Bytes of the whole image.
    size: usize,
    /// Where [`FRESH`] belongs.
    fresh_at: usize,
}

impl Packed {
    /// The image, or, where it cannot be unpacked, what has another digest.
    fn unpack(&self) -> Vec<u8> {
        let mut image = vec![0; self.size];
        let others = self.size - FRESH.len();
        let unpacked = lz4_flex::block::decompress_into(&self.file[self.mark..], &mut image[..others]);
        if unpacked.is_ok_and(|bytes| bytes == others) {
            image.copy_within(self.fresh_at..others, self.fresh_at + FRESH.len());
            image[self.fresh_at..][..FRESH.len()].copy_from_slice(FRESH);
        }
        image
    }
}

/// One compiled guest.
pub(crate) struct Image {
    kind: Kind,
    bytes: Cow<'static, [u8]>,
    digest: &'static str,
    settings: fn(Kind) -> wasmtime::Result<Config>,
}

impl Image {
    /// The image of this kind, unpacked.
    pub(crate) fn of(kind: Kind) -> Self {
        let packed = match kind {
            Kind::Roomy => {
                let bytes = Cow::Borrowed(ROOMY);
                return Self { kind, bytes, digest: built::ROOMY, settings: tunables::config };
            }
            Kind::Bounded => built::BOUNDED,
            Kind::Interpreted => built::INTERPRETED,
        };
        Self::unpacked(kind, &packed, tunables::config)
    }

    /// The image that profiles are taken with, where one of this kind runs tools.
    pub(crate) fn profiling(kind: Kind) -> Self {
        let (kind, packed) = match kind {
            Kind::Roomy | Kind::Bounded => (Kind::Bounded, built::PROFILING_BOUNDED),
            Kind::Interpreted => (Kind::Interpreted, built::PROFILING_INTERPRETED),
        };
        Self::unpacked(kind, &packed, tunables::profiling)
    }

    fn unpacked(kind: Kind, packed: &Packed, settings: fn(Kind) -> wasmtime::Result<Config>) -> Self {
        Self { kind, bytes: Cow::Owned(packed.unpack()), digest: packed.digest, settings }
    }

    /// Checks that the bytes are those that were built in.
    pub(crate) fn verify(&self) -> Result<Verified<'_>, StartError> {
        let actual = blake3::hash(&self.bytes).to_hex();
        if actual.as_str() == self.digest {
            return Ok(Verified(self));
        }
        let expected = self.digest;
        Err(StartError::CorruptedImage { kind: self.kind, expected, actual: actual.to_string() })
    }
}

/// An image whose digest was checked.
pub(crate) struct Verified<'a>(&'a Image);

impl Verified<'_> {
    /// An engine for this image, with the pool that `pool` describes, and the module in it.
    pub(crate) fn load(&self, strategy: InstanceAllocationStrategy) -> wasmtime::Result<(Engine, Module)> {
        let mut config = (self.0.settings)(self.0.kind)?;
        config.allocation_strategy(strategy);
        let engine = Engine::new(&config)?;
        // SAFETY: the bytes are what Wasmtime's compiler made in this crate's build script: their digest, taken
        // there, has just been checked. Wasmtime itself checks version, settings and CPU features.
        #[expect(unsafe_code, reason = "loading machine code that we compiled ourselves")]
        let module = unsafe { Module::deserialize(&engine, &self.0.bytes)? };
        Ok((engine, module))
    }
}

/// Where the instances of an image come from.
pub(crate) fn strategy(kind: Kind, slots: usize) -> InstanceAllocationStrategy {
    if kind != Kind::Roomy {
        return InstanceAllocationStrategy::OnDemand;
    }
    let slots = u32::try_from(slots).unwrap_or(u32::MAX);
    // Each slot is a chain of calls, of which the last one runs and the others wait.
    let all = slots.saturating_mul(1 + NESTED);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(all)
        .total_memories(all)
        .total_tables(all)
        .total_stacks(all)
        .max_memory_size(1 << 30)
        .max_unused_warm_slots(slots)
        // What a call touches stays in memory and is put back in order by copying, which is cheaper than new pages.
        .linear_memory_keep_resident(1 << 20)
        .table_keep_resident(64 << 10)
        .pagemap_scan(wasmtime::Enabled::Auto);
    InstanceAllocationStrategy::Pooling(pool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_image_is_the_one_that_was_built_in() {
        for kind in Kind::ALL {
            assert!(Image::of(kind).verify().is_ok(), "{kind:?}");
            assert!(Image::profiling(kind).verify().is_ok(), "{kind:?}, for profiles");
        }
    }

    #[test]
    fn one_flipped_bit_is_an_integrity_error_that_names_the_image() {
        for kind in Kind::ALL {
            for mut image in [Image::of(kind), Image::profiling(kind)] {
                let middle = image.bytes.len() / 2;
                image.bytes.to_mut()[middle] ^= 1;
                refused(&image);
            }
        }
    }

    #[test]
    fn a_packed_image_that_is_damaged_anywhere_is_refused() {
        let all = [
            (Kind::Bounded, built::BOUNDED),
            (Kind::Interpreted, built::INTERPRETED),
            (Kind::Bounded, built::PROFILING_BOUNDED),
            (Kind::Interpreted, built::PROFILING_INTERPRETED),
        ];
        for (kind, packed) in all {
            // Ends of the block, sizes inside of it, and bytes that stand for themselves.
            let bytes = packed.file.len() - packed.mark;
            for at in [0, 1, 2, bytes / 3, bytes / 2, bytes / 2 + 1, bytes - 1] {
                let mut file = packed.file.to_vec();
                file[packed.mark + at] ^= 1;
                let damaged = Packed { file: file.leak(), ..packed };
                refused(&Image::unpacked(kind, &damaged, tunables::config));
            }
            for short in [&packed.file[..packed.mark], &packed.file[..packed.file.len() - 1]] {
                let damaged = Packed { file: short, ..packed };
                refused(&Image::unpacked(kind, &damaged, tunables::config));
            }
        }
    }

    fn refused(image: &Image) {
        let error = image.verify().err().unwrap();
        assert_eq!(error.code(), "integrity");
        let claim = format!("the {} image of the guest is corrupted", image.kind.name());
        assert!(error.to_string().starts_with(&claim), "{error}");
    }
}
