//! Has the linker leave the symbols of Node to the process that loads the module.

fn main() {
    napi_build::setup();
}
