/* Small blocks of memory that were freed, kept for whoever asks for as much again. Included by quickjs.c alone
 * (`blocks.patch`), and only where it is compiled for Wasm.
 *
 * Invariant: each block is one of wasi-libc's malloc, whole, and is in one list at most; what is idle is bounded.
 *
 * A call is short and takes its memory in a few sizes: closures, promises, strings, objects of few members. dlmalloc
 * merges and splits what is freed, and answers how large a block is through two calls; that was half of what an
 * `await` took. The size stands in the word before a block, with the lowest three bits for other uses
 * (D. Lea, "A Memory Allocator"); `blocks_check` ends the build of a guest whose libc keeps it elsewhere.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_INLINE static inline __attribute__((always_inline))

enum {
    BLOCKS_UNIT = 16, /* sizes of dlmalloc's chunks are multiples of this; four bytes of each are its own */
    BLOCKS_CLASSES = 17, /* the largest kept has 268 bytes */
    BLOCKS_IDLE_BYTES = 1 << 20,
};

static void *blocks_idle[BLOCKS_CLASSES];
static size_t blocks_idle_bytes;

BLOCKS_INLINE size_t blocks_chunk(const void *block)
{
    return ((const size_t *)block)[-1] & ~(size_t)7;
}

/* How many bytes of a block may be used. */
BLOCKS_INLINE size_t blocks_usable(const void *block)
{
    return blocks_chunk(block) - sizeof(size_t);
}

BLOCKS_INLINE void *blocks_take(size_t size)
{
    size_t class = (size + sizeof(size_t) - 1) / BLOCKS_UNIT;
    if (size <= BLOCKS_CLASSES * BLOCKS_UNIT - sizeof(size_t)) {
        void **block = blocks_idle[class];
        if (block) {
            blocks_idle[class] = *block;
            blocks_idle_bytes -= (class + 1) * BLOCKS_UNIT;
            return block;
        }
    }
    return malloc(size);
}

BLOCKS_INLINE void *blocks_take_zeroed(size_t count, size_t size)
{
    size_t bytes = count * size; /* the caller has looked that it fits */
    if (bytes > BLOCKS_CLASSES * BLOCKS_UNIT - sizeof(size_t))
        return calloc(count, size);
    void *block = blocks_take(bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

BLOCKS_INLINE void blocks_give(void *block)
{
    size_t chunk = blocks_chunk(block);
    size_t class = chunk / BLOCKS_UNIT - 1;
    if (class < BLOCKS_CLASSES && blocks_idle_bytes < BLOCKS_IDLE_BYTES) {
        *(void **)block = blocks_idle[class];
        blocks_idle[class] = block;
        blocks_idle_bytes += chunk;
        return;
    }
    free(block);
}

/* Runs while the guest is built. */
__attribute__((constructor)) static void blocks_check(void)
{
    for (size_t size = 1; size < 4096; size++) {
        void *block = malloc(size);
        size_t usable = malloc_usable_size(block);
        if (blocks_usable(block) != usable || usable < size || usable % BLOCKS_UNIT != BLOCKS_UNIT - sizeof(size_t))
            abort();
        free(block);
    }
}

/* Gives what is idle back to libc. Called once, before the snapshot is taken, so that holes can be filled for good. */
void blocks_give_back(void)
{
    for (size_t class = 0; class < BLOCKS_CLASSES; class++) {
        while (blocks_idle[class]) {
            void *block = blocks_idle[class];
            blocks_idle[class] = *(void **)block;
            free(block);
        }
    }
    blocks_idle_bytes = 0;
}
