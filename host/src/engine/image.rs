//! The guest, compiled ahead of time. There are four images, and the process uses the first one that
//! it prefers and that works. Images are stored compressed and are decompressed when they are tried.
//!
//! Invariant: an image is loaded only after the digest of all its bytes was checked. No other file
//! of this library contains `unsafe`.

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::sync::LazyLock;

#[cfg(target_os = "linux")]
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
#[cfg(target_os = "linux")]
use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::mm::{Advice, madvise};
use wasmtime::{Engine, InstanceAllocationStrategy, Module, PoolingAllocationConfig};

use super::call_targets;
use super::config::{self, ImageKind};
use super::start_error::StartError;
use crate::limits::MAX_NESTED_CALLS;

mod built {
    include!(concat!(env!("OUT_DIR"), "/images.rs"));
}

/// The blake3 digest of the guest that all images were compiled from, in hexadecimal.
pub const GUEST_DIGEST: &str = built::GUEST;

/// The initial memory of an instance, from [`FRESH_FROM`] on. Memory below and above it is zero.
/// Every image contains these bytes.
static FRESH: LazyLock<Vec<u8>> = LazyLock::new(|| built::FRESH.unpack());

/// The offset of [`FRESH`] in linear memory.
use built::FRESH_FROM;

/// The size of a block in bytes: the granularity of memory snapshots. On most pages that loading a
/// script touches, only a few bytes change, such as reference counts.
pub(crate) const BLOCK_BYTES: usize = 64;

/// Returns a block of a fresh instance's memory.
pub(crate) fn fresh_block(at: usize) -> &'static [u8] {
    let line = at.checked_sub(FRESH_FROM).and_then(|at| FRESH.get(at..at + BLOCK_BYTES));
    // Memory outside of the initial data is zero.
    line.unwrap_or(&[0; BLOCK_BYTES])
}

impl ImageKind {
    /// The kinds for a process of Toolcell's own, in order of preference.
    pub const FOR_OWN_PROCESS: [Self; 3] = [Self::Roomy, Self::Bounded, Self::Interpreted];

    /// The kinds for a process whose signal handlers are another program's, in order of preference. The
    /// first one needs the feature `embedded`.
    pub const FOR_FOREIGN_PROCESS: [Self; 3] = [Self::Embedded, Self::Bounded, Self::Interpreted];
}

/// Compressed bytes in the binary, after a marker of `mark` bytes.
struct Packed {
    packing: Packing,
    file: &'static [u8],
    mark: usize,
    /// The decompressed size in bytes.
    size: usize,
}

/// The compression of a block.
#[derive(Clone, Copy)]
enum Packing {
    /// LZ4 (block format): starts some milliseconds faster.
    Fast,
    /// Zstandard (RFC 8878): takes a third less space in the binary.
    Small,
    /// Zstandard, of machine code with absolute call targets: takes another sixth less.
    SmallCode,
}

impl Packed {
    /// Returns the decompressed bytes. If decompression fails, all bytes are zero, and the digest
    /// check fails.
    fn unpack(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size];
        let packed = &self.file[self.mark..];
        let unpacked = match self.packing {
            Packing::Fast => lz4_flex::block::decompress_into(packed, &mut bytes).ok(),
            Packing::Small | Packing::SmallCode => zstd::bulk::decompress_to_buffer(packed, &mut bytes).ok(),
        };
        if matches!(self.packing, Packing::SmallCode) {
            call_targets::to_relative(&mut bytes);
        }
        if unpacked == Some(self.size) { bytes } else { vec![0; self.size] }
    }
}

/// An image as it is stored in the binary.
struct Built {
    /// The image without the bytes of [`FRESH`].
    others: Packed,
    /// The offset at which [`FRESH`] is inserted.
    fresh_at: usize,
    /// The blake3 digest of the whole image.
    digest: &'static str,
}

/// A decompressed image.
pub(crate) struct Image {
    kind: ImageKind,
    others: Vec<u8>,
    fresh_at: usize,
    digest: &'static str,
}

impl Image {
    /// Decompresses the image of this kind; `None` if it is not built in.
    pub(crate) fn for_kind(kind: ImageKind) -> Option<Self> {
        built_image(kind).map(|built| Self::from_built(kind, built))
    }

    fn from_built(kind: ImageKind, built: &Built) -> Self {
        Self { kind, others: built.others.unpack(), fresh_at: built.fresh_at, digest: built.digest }
    }

    /// Returns the image's bytes in three consecutive parts.
    fn parts(&self) -> [&[u8]; 3] {
        let (before, behind) = self.others.split_at(self.fresh_at);
        [before, FRESH.as_slice(), behind]
    }

    /// Checks the digest of the image against the one that was built in.
    pub(crate) fn verify(&self) -> Result<VerifiedImage<'_>, StartError> {
        let mut hasher = blake3::Hasher::new();
        for part in self.parts() {
            hasher.update(part);
        }
        let actual = hasher.finalize().to_hex();
        if actual.as_str() == self.digest {
            return Ok(VerifiedImage(self));
        }
        let expected = self.digest;
        Err(StartError::CorruptedImage { kind: self.kind, expected, actual: actual.to_string() })
    }
}

fn built_image(kind: ImageKind) -> Option<&'static Built> {
    match kind {
        ImageKind::Roomy => built::ROOMY.as_ref(),
        ImageKind::Embedded => built::EMBEDDED.as_ref(),
        ImageKind::Bounded => built::BOUNDED.as_ref(),
        ImageKind::Interpreted => built::INTERPRETED.as_ref(),
    }
}

/// An image whose digest was checked.
pub(crate) struct VerifiedImage<'a>(&'a Image);

impl VerifiedImage<'_> {
    /// Creates an engine for this image with an allocation strategy, and loads the module into it.
    pub(crate) fn load(&self, strategy: InstanceAllocationStrategy) -> wasmtime::Result<Module> {
        let mut config = config::config(self.0.kind)?;
        config.allocation_strategy(strategy);
        let engine = Engine::new(&config)?;
        #[cfg(target_os = "linux")]
        if let Ok(file) = self.sealed_memfd() {
            // SAFETY: the file contains the output of Wasmtime's compiler in this crate's build
            // script: the digest of these bytes, taken there, has just been checked. The file has
            // no name, and it is sealed: the kernel lets no process write to it, not even this one.
            // Wasmtime itself checks version, settings and CPU features.
            #[expect(unsafe_code, reason = "loading machine code that we compiled ourselves")]
            return unsafe { Module::deserialize_open_file(&engine, file.into()) };
        }
        // SAFETY: as above; these bytes are this process's own.
        #[expect(unsafe_code, reason = "loading machine code that we compiled ourselves")]
        unsafe {
            Module::deserialize(&engine, self.0.parts().concat())
        }
    }

    /// Copies the image into a sealed file in memory (`memfd_create(2)`). Wasmtime maps this file
    /// directly, so instances share its pages and nothing is copied again.
    ///
    /// Wasmtime keeps the descriptor, because each slot of the pool maps its memory from it. The
    /// seals make the file permanently read-only: without them, a shared mapping could change the
    /// machine code behind the executable mapping. If the kernel does not support seals, this fails
    /// and the image is loaded from a copy, as on systems other than Linux.
    #[cfg(target_os = "linux")]
    fn sealed_memfd(&self) -> Result<OwnedFd, Errno> {
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

/// Returns whole pages of an ended instance's memory to the kernel. They read as the image's again.
/// Only Linux promises that.
#[cfg(target_os = "linux")]
pub(crate) fn discard_pages(pages: &mut [u8]) {
    // Pages that the kernel does not take stay as they are.
    // SAFETY: this function has exclusive access to these pages, which are mapped privately:
    // afterwards they read as the file they are mapped from, or as zero if there is none, and any
    // bytes are a valid `[u8]`. Wasmtime expects nothing of the memory of an ended instance, and
    // resets it before it is used again.
    #[expect(unsafe_code, reason = "the kernel takes pages back by their addresses")]
    let _ = unsafe { madvise(pages.as_mut_ptr().cast(), pages.len(), Advice::LinuxDontNeed) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) const fn discard_pages(_: &mut [u8]) {}

/// The part of a memory that keeps pages of the usual size, in bytes: no more than most calls
/// touch.
#[cfg(target_os = "linux")]
const SMALL_PAGE_BYTES: usize = 8 << 20;

/// The size and the alignment of a huge page in bytes, on x86-64, and on arm64 with pages of 4 KiB.
#[cfg(target_os = "linux")]
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Asks the kernel for huge pages when a memory grows large. The end of a call releases its pages
/// before the call is answered; this takes 0.1 ms per MiB of small pages, and next to nothing for
/// huge pages.
///
/// `begin` is the memory's address, `before` and `after` are its sizes in bytes before and after it
/// grows. Memory that grows in steps smaller than a huge page keeps small pages: merging them
/// (`MADV_COLLAPSE`) made growing 2.5 times as slow. Other systems than Linux choose by themselves.
#[cfg(target_os = "linux")]
pub(crate) fn prefer_huge_pages(begin: usize, before: usize, after: usize) {
    let from = (begin + before.max(SMALL_PAGE_BYTES)) & !(HUGE_PAGE_BYTES - 1);
    let to = begin + after;
    if after <= SMALL_PAGE_BYTES || from >= to {
        return;
    }
    // A kernel without huge pages returns an error, which changes nothing.
    // SAFETY: the range lies in address space that the pool reserved for this memory. The contents
    // of the pages and the access rights to them stay the same.
    #[expect(unsafe_code, reason = "the kernel is told about pages by their addresses")]
    let _ = unsafe { madvise(std::ptr::without_provenance_mut(from), to - from, Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) const fn prefer_huge_pages(_begin: usize, _before: usize, _after: usize) {}

/// Returns whether instances of an image take their memories and stacks from a pool.
pub(crate) const fn is_pooled(kind: ImageKind) -> bool {
    matches!(kind, ImageKind::Roomy | ImageKind::Embedded)
}

/// Returns the allocation strategy for instances of an image.
pub(crate) fn allocation_strategy(kind: ImageKind, slots: usize) -> InstanceAllocationStrategy {
    if !is_pooled(kind) {
        return InstanceAllocationStrategy::OnDemand;
    }
    let slots = u32::try_from(slots).unwrap_or(u32::MAX);
    // Each slot holds a chain of nested calls, of which the last one runs and the others wait.
    let all = slots.saturating_mul(1 + MAX_NESTED_CALLS);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(all)
        .total_memories(all)
        .total_tables(all)
        .total_stacks(all)
        .max_memory_size(1 << 30)
        .max_unused_warm_slots(slots)
        // Touched pages stay resident and are reset by copying, which is cheaper than fresh pages.
        .linear_memory_keep_resident(1 << 20)
        .table_keep_resident(64 << 10)
        .pagemap_scan(wasmtime::Enabled::Auto);
    InstanceAllocationStrategy::Pooling(pool)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the flags of the mapping that contains an address (`VmFlags` of `/proc/self/smaps`).
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
        let begin = memory.as_ptr().addr().next_multiple_of(HUGE_PAGE_BYTES);
        prefer_huge_pages(begin, 4 << 20, SMALL_PAGE_BYTES);
        assert!(!flags(begin + (4 << 20)).contains(" hg "));
        prefer_huge_pages(begin, 4 << 20, 32 << 20);
        for (at, is_huge) in
            [(0, false), (SMALL_PAGE_BYTES - 1, false), (SMALL_PAGE_BYTES, true), (31 << 20, true), (33 << 20, false)]
        {
            assert_eq!(flags(begin + at).contains(" hg "), is_huge, "{at}");
        }
    }

    #[test]
    fn every_image_is_the_one_that_was_built_in() {
        for kind in built_in() {
            assert!(image(kind).verify().is_ok(), "{kind:?}");
        }
    }

    #[test]
    fn one_flipped_bit_is_an_integrity_error_that_names_the_image() {
        for kind in built_in() {
            let mut image = image(kind);
            let middle = image.others.len() / 2;
            image.others[middle] ^= 1;
            refused(&image);
        }
    }

    #[test]
    fn an_image_that_is_damaged_anywhere_is_refused() {
        for kind in built_in() {
            let Built { others, fresh_at, digest } = built_image(kind).unwrap();
            let damaged = |file: &[u8]| {
                let others = Packed { file: file.to_vec().leak(), ..*others };
                refused(&Image::from_built(kind, &Built { others, fresh_at: *fresh_at, digest }));
            };
            // The ends of the block, lengths inside of it, and literal bytes.
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

        let image = image(ImageKind::Roomy);
        let verified = image.verify().unwrap_or_else(|error| panic!("{error}"));
        let file = verified.sealed_memfd().unwrap();
        let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        assert_eq!(fcntl_get_seals(&file), Ok(all));
        assert_eq!(rustix::io::pwrite(&file, b"a", 0), Err(Errno::PERM));
        assert_eq!(ftruncate(&file, 0), Err(Errno::PERM));
        assert_eq!(fcntl_add_seals(&file, SealFlags::FUTURE_WRITE), Err(Errno::PERM));
        let map = |flags| {
            // SAFETY: the kernel chooses the address, and a successful mapping is unmapped without
            // being read.
            #[expect(unsafe_code, reason = "what must fail has to be tried")]
            unsafe {
                let at = mmap(std::ptr::null_mut(), 4096, ProtFlags::READ | ProtFlags::WRITE, flags, &file, 0)?;
                munmap(at, 4096)
            }
        };
        assert_eq!(map(MapFlags::SHARED), Err(Errno::PERM));
        // The memory of an instance is mapped like this.
        assert_eq!(map(MapFlags::PRIVATE), Ok(()));
    }

    #[test]
    fn an_image_loads_without_a_file_as_well() {
        for kind in built_in() {
            let image = image(kind);
            let engine = Engine::new(&config::config(kind).unwrap()).unwrap();
            // SAFETY: these are the bytes that were built in.
            #[expect(unsafe_code, reason = "loading machine code that we compiled ourselves")]
            let module = unsafe { Module::deserialize(&engine, image.parts().concat()) };
            assert!(module.unwrap().get_export("load").is_some(), "{kind:?}");
        }
    }

    fn built_in() -> impl Iterator<Item = ImageKind> {
        ImageKind::ALL.into_iter().filter(|kind| built_image(*kind).is_some())
    }

    fn image(kind: ImageKind) -> Image {
        Image::for_kind(kind).unwrap()
    }

    fn refused(image: &Image) {
        let error = image.verify().err().unwrap();
        assert_eq!(error.code(), "integrity");
        let claim = format!("the {} image of the guest is corrupted", image.kind.name());
        assert!(error.to_string().starts_with(&claim), "{error}");
    }
}
