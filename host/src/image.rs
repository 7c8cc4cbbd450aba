//! The guest, compiled ahead of time: three images, of which the process takes the first that works; and two with marks, which
//! profiles are taken with.
//!
//! Invariant: an image is loaded only after its digest was checked, and this is the one place of the host with
//! `unsafe`.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::read::ZlibDecoder;
use wasmtime::{Config, Engine, InstanceAllocationStrategy, Module, PoolingAllocationConfig};

use crate::error::StartError;
use crate::slots::NESTED;
use crate::tunables::{self, Kind};

mod digests {
    include!(concat!(env!("OUT_DIR"), "/digests.rs"));
}

/// blake3 of the guest that all images were compiled from, in hexadecimal.
pub const GUEST_DIGEST: &str = digests::GUEST;

/// The memory of a fresh instance from [`FRESH_FROM`] on; below it, and behind its end, all is zero.
pub(crate) static FRESH: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fresh.memory"));

/// Where [`FRESH`] begins.
pub(crate) use digests::FRESH_FROM;

/// One compiled guest.
pub(crate) struct Image {
    pub(crate) kind: Kind,
    bytes: Cow<'static, [u8]>,
    digest: &'static str,
    settings: fn(Kind) -> wasmtime::Result<Config>,
}

static IMAGES: [Image; 3] = [
    Image {
        kind: Kind::Roomy,
        bytes: Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/roomy.cwasm"))),
        digest: digests::ROOMY,
        settings: tunables::config,
    },
    Image {
        kind: Kind::Bounded,
        bytes: Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/bounded.cwasm"))),
        digest: digests::BOUNDED,
        settings: tunables::config,
    },
    Image {
        kind: Kind::Interpreted,
        bytes: Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/interpreted.cwasm"))),
        digest: digests::INTERPRETED,
        settings: tunables::config,
    },
];

impl Image {
    /// The image of this kind.
    pub(crate) fn of(kind: Kind) -> &'static Self {
        match kind {
            Kind::Roomy => &IMAGES[0],
            Kind::Bounded => &IMAGES[1],
            Kind::Interpreted => &IMAGES[2],
        }
    }

    /// The image that profiles are taken with, where one of this kind runs tools.
    pub(crate) fn profiling(kind: Kind) -> Self {
        let (kind, packed, (digest, size)): (_, &[u8], _) = match kind {
            Kind::Roomy | Kind::Bounded => {
                let packed = include_bytes!(concat!(env!("OUT_DIR"), "/profiling-bounded.cwasm.zlib"));
                (Kind::Bounded, packed, digests::PROFILING_BOUNDED)
            }
            Kind::Interpreted => {
                let packed = include_bytes!(concat!(env!("OUT_DIR"), "/profiling-interpreted.cwasm.zlib"));
                (Kind::Interpreted, packed, digests::PROFILING_INTERPRETED)
            }
        };
        let mut bytes = Vec::with_capacity(size);
        // What cannot be unpacked has another digest.
        let _ = ZlibDecoder::new(packed).take(size as u64 + 1).read_to_end(&mut bytes);
        Self { kind, bytes: Cow::Owned(bytes), digest, settings: tunables::profiling }
    }

    /// The same image with other bytes, as a corrupted file would have them.
    #[cfg(test)]
    fn with_bytes(&self, bytes: &'static [u8]) -> Self {
        Self { kind: self.kind, bytes: Cow::Borrowed(bytes), digest: self.digest, settings: self.settings }
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
        let image = Image::of(Kind::Interpreted);
        let mut bytes = image.bytes.to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let error = image.with_bytes(bytes.leak()).verify().err().unwrap();
        assert_eq!(error.code(), "integrity");
        assert!(error.to_string().starts_with("the interpreted image of the guest is corrupted"), "{error}");
    }
}
