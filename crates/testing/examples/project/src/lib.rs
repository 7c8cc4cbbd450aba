//! A shop; its tools are in `tools/`, and what they promise in `tests/`.
