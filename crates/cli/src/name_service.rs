//! Keeps a static binary from loading name-service modules (NSS) of the machine.
//!
//! The GNU C library looks names up with the modules of `/etc/nsswitch.conf`, which it loads while a
//! program runs. A static binary that loads them gets a second C library, of another version, into
//! its process. The modules for files (`/etc/hosts`, `/etc/passwd`) and for DNS are part of the
//! static library.
//!
//! Invariant: this runs before the first lookup, which is when the library reads its configuration.

/// Limits lookups of a static binary to files and DNS.
#[cfg(all(target_os = "linux", target_env = "gnu", target_feature = "crt-static"))]
pub(crate) fn use_built_in_modules() {
    use std::ffi::{CStr, c_char, c_int};

    // SAFETY: the declaration of glibc's `nss.h`.
    #[expect(unsafe_code, reason = "the crate `libc` does not declare this function")]
    unsafe extern "C" {
        fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
    }
    let databases: [(&CStr, &CStr); 3] = [(c"hosts", c"files dns"), (c"passwd", c"files"), (c"group", c"files")];
    for (database, services) in databases {
        // SAFETY: both are texts that end with zero, and the library copies what it keeps. No other thread
        // runs yet.
        #[expect(unsafe_code, reason = "there is no safe wrapper, and no variable or file that says the same")]
        let status = unsafe { __nss_configure_lookup(database.as_ptr(), services.as_ptr()) };
        assert_eq!(status, 0);
    }
}

/// A dynamic binary uses what the machine configures.
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_feature = "crt-static")))]
pub(crate) const fn use_built_in_modules() {}
