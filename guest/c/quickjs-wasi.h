/* Given to every C file of QuickJS with `-include`: brings two things back that QuickJS drops on WASI,
 * without touching its sources.
 *
 * 1. The stack check. QuickJS sets its limit to "none" where `__wasi__` is defined; endless recursion would
 *    overwrite memory or trap. With `__wasi__` hidden it becomes a RangeError that a tool can catch.
 * 2. The size of allocations. Without `malloc_usable_size` every block counts as 8 bytes, so cyclic garbage is
 *    never collected in time. wasi-libc has the function; QuickJS asks for it where `__ANDROID__` is defined,
 *    and for nothing else there (cutils.h is the only file that names it).
 *
 * The system headers that need the truth come first; their include guards keep them from being read again.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#undef __wasi__
#define __ANDROID__ 1
