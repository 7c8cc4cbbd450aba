//! The way in over HTTP.
