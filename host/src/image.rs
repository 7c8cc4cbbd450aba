//! The guest, compiled ahead of time: three images, of which the process takes the first that works. They are packed, and one
//! is unpacked when it is tried.
//!
//! Invariant: an image is loaded only after the digest of all its bytes was checked, and this is the one place of the host
//! with `unsafe`.

use std::os::fd::OwnedFd;
use std::sync::LazyLock;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, madvise};
use wasmtime::{Engine, InstanceAllocationStrategy, Module, PoolingAllocationConfig};

use crate::error::StartError;
use crate::instance::LINE;
use crate::slots::NESTED;
use crate::tunables::{self, Kind};

mod built {
    include!(concat!(env!("OUT_DIR"), "/images.rs"));
}

/// blake3 of the guest that all images were compiled from, in hexadecimal.
pub const GUEST_DIGEST: &str = built::GUEST;

/// The memory of a fresh instance from [`FRESH_FROM`] on; below it, and behind its end, all is zero. Each image has it in it.
pub(crate) static FRESH: LazyLock<Vec<u8>> = LazyLock::new(|| built::FRESH.unpack());

/// Where [`FRESH`] begins.
pub(crate) use built::FRESH_FROM;

/// A line of a fresh instance's memory.
pub(crate) fn fresh_line(at: usize) -> &'static [u8] {
    let line = at.checked_sub(FRESH_FROM).and_then(|at| FRESH.get(at..at + LINE));
    // What the image does not reach is zero.
    line.unwrap_or(&[0; LINE])
}

/// Bytes as they lie in the binary: one block behind a mark of `mark` bytes.
struct Packed {
    packing: Packing,
    file: &'static [u8],
    mark: usize,
    /// How many they are, unpacked.
    size: usize,
}

/// How bytes are packed.
#[derive(Clone, Copy)]
enum Packing {
    /// LZ4 (its block format): some milliseconds less at each start.
    Fast,
    /// Zstandard (RFC 8878): a third less in the binary.
    Small,
}

impl Packed {
    /// The bytes; all are zero where they cannot be unpacked.
    fn unpack(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size];
        let packed = &self.file[self.mark..];
        let unpacked = match self.packing {
            Packing::Fast => lz4_flex::block::decompress_into(packed, &mut bytes).ok(),
            Packing::Small => zstd::bulk::decompress_to_buffer(packed, &mut bytes).ok(),
        };
        if unpacked == Some(self.size) { bytes } else { vec![0; self.size] }
    }
}

/// An image in the binary.
struct Built {
    /// All of it but what is [`FRESH`].
    others: Packed,
    /// Where [`FRESH`] belongs.
    fresh_at: usize,
    /// blake3 of the whole image.
    digest: &'static str,
}

/// One compiled guest.
pub(crate) struct Image {
    kind: Kind,
    others: Vec<u8>,
    fresh_at: usize,
    digest: &'static str,
}

impl Image {
    /// The image of this kind, unpacked.
    pub(crate) fn of(kind: Kind) -> Self {
        Self::unpacked(kind, built(kind))
    }

    fn unpacked(kind: Kind, built: &Built) -> Self {
        Self { kind, others: built.others.unpack(), fresh_at: built.fresh_at, digest: built.digest }
    }

    /// The image's bytes, one part after the other.
    fn parts(&self) -> [&[u8]; 3] {
        let (before, behind) = self.others.split_at(self.fresh_at);
        [before, FRESH.as_slice(), behind]
    }

    /// Checks that the bytes are those that were built in.
    pub(crate) fn verify(&self) -> Result<Verified<'_>, StartError> {
        let mut hasher = blake3::Hasher::new();
        for part in self.parts() {
            hasher.update(part);
        }
        let actual = hasher.finalize().to_hex();
        if actual.as_str() == self.digest {
            return Ok(Verified(self));
        }
        let expected = self.digest;
        Err(StartError::CorruptedImage { kind: self.kind, expected, actual: actual.to_string() })
    }
}

fn built(kind: Kind) -> &'static Built {
    match kind {
        Kind::Roomy => &built::ROOMY,
        Kind::Bounded => &built::BOUNDED,
        Kind::Interpreted => &built::INTERPRETED,
    }
}

/// An image whose digest was checked.
pub(crate) struct Verified<'a>(&'a Image);

impl Verified<'_> {
    /// An engine for this image, with the pool that `pool` describes, and the module in it.
    pub(crate) fn load(&self, strategy: InstanceAllocationStrategy) -> wasmtime::Result<(Engine, Module)> {
        let mut config = tunables::config(self.0.kind)?;
        config.allocation_strategy(strategy);
        let engine = Engine::new(&config)?;
        let module = match self.file() {
            // SAFETY: what is in the file is what Wasmtime's compiler made in this crate's build script: the digest of these
            // bytes, taken there, has just been checked. The file has no name, and it is sealed: the kernel lets nobody write to
            // it, not even this process. Wasmtime itself checks version, settings and CPU features.
            #[expect(unsafe_code, reason = "loading machine code that we compiled ourselves")]
            Ok(file) => unsafe { Module::deserialize_open_file(&engine, file.into())? },
            // SAFETY: as above.
            #[expect(unsafe_code, reason = "loading machine code that we compiled ourselves")]
            Err(_) => unsafe { Module::deserialize(&engine, self.0.parts().concat())? },
        };
        Ok((engine, module))
    }

    /// The image in a sealed file in memory (`memfd_create(2)`), which is mapped as it is: instances share its pages, and nothing
    /// is copied again.
    ///
    /// Wasmtime keeps the descriptor, because each slot of the pool maps its memory from it. The seals make it read-only for good:
    /// without them, a shared mapping of it could change the machine code behind the executable mapping. A kernel that does not
    /// seal gets no file, and the image is loaded from a copy.
    fn file(&self) -> Result<OwnedFd, Errno> {
        let file = memfd_create("guest", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        for part in self.0.parts() {
            let mut rest = part;
            while !rest.is_empty() {
                match rustix::io::write(&file, rest)? {
                    0 => return Err(Errno::NOSPC),
                    written => rest = &rest[written..],
                }
            }
        }
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        Ok(file)
    }
}

/// Gives whole pages of an ended instance's memory back to the kernel: they are the image's again.
pub(crate) fn give_back(pages: &mut [u8]) {
    // Those that it does not take stay as they are.
    // SAFETY: we alone have these pages, which are mapped privately: afterwards they read as the file they are mapped from, or as
    // zero where there is none, and any bytes are a valid `[u8]`. Wasmtime expects nothing of the memory of an ended instance, and
    // puts it in order before it is used again.
    #[expect(unsafe_code, reason = "the kernel takes pages back by their addresses")]
    let _ = unsafe { madvise(pages.as_mut_ptr().cast(), pages.len(), Advice::LinuxDontNeed) };
}

/// How much of a memory has pages of the usual size: no more than most calls touch.
const SMALL_PAGES: usize = 8 << 20;

/// The size and the alignment of a huge page, as on x86-64, and on arm64 with pages of 4 KiB.
const HUGE_PAGE: usize = 2 << 20;

/// Asks the kernel for huge pages where a memory grows large. A call that ends gives its pages back before it is answered, which takes
/// 0.1 ms for each MiB of small pages, and next to nothing for huge ones.
///
/// `begin` is the memory's address, `before` and `after` are its sizes in bytes before and after it grows. What grows in steps of less
/// than a huge page stays in small ones: to have the kernel put those together (`MADV_COLLAPSE`) made growing 2.5 times as slow.
pub(crate) fn prefer_huge_pages(begin: usize, before: usize, after: usize) {
    let from = (begin + before.max(SMALL_PAGES)) & !(HUGE_PAGE - 1);
    let to = begin + after;
    if after <= SMALL_PAGES || from >= to {
        return;
    }
    // A kernel without huge pages says so, and all is as it was.
    // SAFETY: the range lies in address space that the pool reserved for this memory. What its bytes are, and who may use them, stays.
    #[expect(unsafe_code, reason = "the kernel is told about pages by their addresses")]
    let _ = unsafe { madvise(std::ptr::without_provenance_mut(from), to - from, Advice::LinuxHugepage) };
}

/// Whether memories and stacks are kept ready for the instances of an image.
pub(crate) const fn is_pooled(kind: Kind) -> bool {
    matches!(kind, Kind::Roomy)
}

/// Where the instances of an image come from.
pub(crate) fn strategy(kind: Kind, slots: usize) -> InstanceAllocationStrategy {
    if !is_pooled(kind) {
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

    /// The flags of the mapping that an address lies in (`VmFlags` of `/proc/self/smaps`).
    #[expect(clippy::disallowed_methods, reason = "the kernel tells this through a file")]
    fn flags(address: usize) -> String {
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = smaps.lines().skip_while(|line| {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = range.map(|(from, to)| (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16)));
            !matches!(ends, Some((Ok(from), Ok(to))) if (from..to).contains(&address))
        });
        lines.find(|line| line.starts_with("VmFlags:")).unwrap().to_owned() + " "
    }

    #[test]
    fn a_memory_that_grows_large_has_huge_pages_beyond_what_most_calls_touch() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        let memory = vec![0_u8; 64 << 20];
        let begin = memory.as_ptr().addr().next_multiple_of(HUGE_PAGE);
        prefer_huge_pages(begin, 4 << 20, SMALL_PAGES);
        assert!(!flags(begin + (4 << 20)).contains(" hg "));
        prefer_huge_pages(begin, 4 << 20, 32 << 20);
        for (at, is_huge) in
            [(0, false), (SMALL_PAGES - 1, false), (SMALL_PAGES, true), (31 << 20, true), (33 << 20, false)]
        {
            assert_eq!(flags(begin + at).contains(" hg "), is_huge, "{at}");
        }
    }

    #[test]
    fn every_image_is_the_one_that_was_built_in() {
        for kind in Kind::ALL {
            assert!(Image::of(kind).verify().is_ok(), "{kind:?}");
        }
    }

    #[test]
    fn one_flipped_bit_is_an_integrity_error_that_names_the_image() {
        for kind in Kind::ALL {
            let mut image = Image::of(kind);
            let middle = image.others.len() / 2;
            image.others[middle] ^= 1;
            refused(&image);
        }
    }

    #[test]
    fn an_image_that_is_damaged_anywhere_is_refused() {
        for kind in Kind::ALL {
            let Built { others, fresh_at, digest } = built(kind);
            let damaged = |file: &[u8]| {
                let others = Packed { file: file.to_vec().leak(), ..*others };
                refused(&Image::unpacked(kind, &Built { others, fresh_at: *fresh_at, digest }));
            };
            // Ends of the block, sizes inside of it, and bytes that stand for themselves.
            let bytes = others.file.len() - others.mark;
            for at in [0, 1, 2, bytes / 3, bytes / 2, bytes / 2 + 1, bytes - 1] {
                let mut file = others.file.to_vec();
                file[others.mark + at] ^= 1;
                damaged(&file);
            }
            for short in [&others.file[..others.mark], &others.file[..others.file.len() - 1]] {
                damaged(short);
            }
        }
    }

    #[test]
    fn the_file_of_an_image_cannot_be_written_by_any_means() {
        use rustix::fs::{fcntl_add_seals, fcntl_get_seals, ftruncate};
        use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

        let image = Image::of(Kind::Roomy);
        let verified = image.verify().unwrap_or_else(|error| panic!("{error}"));
        let file = verified.file().unwrap();
        let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        assert_eq!(fcntl_get_seals(&file), Ok(all));
        assert_eq!(rustix::io::pwrite(&file, b"a", 0), Err(Errno::PERM));
        assert_eq!(ftruncate(&file, 0), Err(Errno::PERM));
        assert_eq!(fcntl_add_seals(&file, SealFlags::FUTURE_WRITE), Err(Errno::PERM));
        let map = |flags| {
            // SAFETY: the kernel chooses where, and whatever is mapped is given back unread.
            #[expect(unsafe_code, reason = "what must fail has to be tried")]
            unsafe {
                let at = mmap(std::ptr::null_mut(), 4096, ProtFlags::READ | ProtFlags::WRITE, flags, &file, 0)?;
                munmap(at, 4096)
            }
        };
        assert_eq!(map(MapFlags::SHARED), Err(Errno::PERM));
        // This is how the memory of an instance is mapped.
        assert_eq!(map(MapFlags::PRIVATE), Ok(()));
    }

    #[test]
    fn an_image_loads_without_a_file_as_well() {
        for kind in Kind::ALL {
            let image = Image::of(kind);
            let engine = Engine::new(&tunables::config(kind).unwrap()).unwrap();
            // SAFETY: these are the bytes that were built in.
            #[expect(unsafe_code, reason = "loading machine code that we compiled ourselves")]
            let module = unsafe { Module::deserialize(&engine, image.parts().concat()) };
            assert!(module.unwrap().get_export("load").is_some(), "{kind:?}");
        }
    }

    fn refused(image: &Image) {
        let error = image.verify().err().unwrap();
        assert_eq!(error.code(), "integrity");
        let claim = format!("the {} image of the guest is corrupted", image.kind.name());
        assert!(error.to_string().starts_with(&claim), "{error}");
    }
}
