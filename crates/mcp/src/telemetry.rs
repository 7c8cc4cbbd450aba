//! What the server says of itself: metrics, traces.
