//! rquickjs as javy and the guest see it: the newer crate, under the version that javy asks for.
//!
//! javy 8.1 asks for rquickjs 0.12, whose QuickJS-ng (0.15.1) has faults that ordinary tools meet. What javy uses of
//! rquickjs is the same in 0.14, so that re-exporting it is enough.
#![no_std]

pub use newer::*;
