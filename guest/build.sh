#!/usr/bin/env bash
# Builds the guest from its sources into the file that is named: `guest/build.sh OUT.wasm`.
#
# The output depends on the sources and on the versions of the packages below, never on the time, the machine or the
# folder: the sources are built in a folder of a fixed name (Cargo names symbols after the absolute path of a crate),
# other paths are remapped, and the snapshot is taken with a clock that stands still.
set -euo pipefail
out=$(realpath -m "${1:?usage: guest/build.sh OUT.wasm}")
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-guest/target}")
mkdir -p "$(dirname "$out")" "$target"

packages="rustc-web cargo-web rust-web-src clang-22 lld-22 llvm-22 libclang-22-dev libclang-rt-22-dev-wasm32 wasi-libc b3sum patch"
if ! dpkg-query -W $packages > /dev/null 2>&1; then
  echo "guest: installing $packages" >&2
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >&2
fi

stage=/tmp/toolcell-guest-build
exec 9> "$stage.lock"
flock 9
rm -rf "$stage"
mkdir -p "$stage/crates" "$stage/guest/js"
cp -a crates/protocol "$stage/crates/"
cp -a guest/{Cargo.toml,Cargo.lock,c,javy.patch,profile,rquickjs,src,snapshot} "$stage/guest/"
cp -a guest/js/dist "$stage/guest/js/"
sed 's/^members = .*/members = ["crates\/protocol"]/' Cargo.toml > "$stage/Cargo.toml"
cd "$stage/guest"

# The folder of a registry is named after its address; neither belongs into the guest.
cargo fetch --locked --quiet

# javy is built from the registry's sources with our patch, which Cargo has to be told in two files.
version=$(sed -n '/^name = "javy"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
sources=("${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"javy-$version")
cp -a "${sources[0]}" javy
patch --quiet --strip=1 --fuzz=0 --directory=javy < javy.patch
sed -i 's/^rquickjs = { path = "rquickjs" }$/&\njavy = { path = "javy" }/' Cargo.toml
sed -i '/^name = "javy"$/,/^dependencies/{/^source = /d;/^checksum = /d}' Cargo.lock

remap="--remap-path-prefix=$stage=/toolcell --remap-path-prefix=$target=/target"
prefix="-ffile-prefix-map=$stage=/toolcell -ffile-prefix-map=$target=/target"
for folder in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do
  remap="$remap --remap-path-prefix=${folder%/}=/crates"
  prefix="$prefix -ffile-prefix-map=${folder%/}=/crates"
done

(
  export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$target"
  export CC_wasm32_wasip1=$stage/guest/c/clang AR_wasm32_wasip1=llvm-ar-22 LIBCLANG_PATH=/usr/lib/llvm-22/lib
  export RQUICKJS_SYS_NO_WASI_SDK=1
  # The profile says what is hot. With the usual thresholds so much would be inlined into the interpreter's loop that its variables no
  # longer fit into registers, of which the two meters of Wasmtime take their share.
  tuned="-O2 -fprofile-instr-use=$stage/guest/profile/quickjs.profdata -Wno-profile-instr-unprofiled
    -mllvm -hot-callsite-threshold=60 -mllvm -inline-threshold=30"
  # Cargo does not see the files that the flags name: their digest in a flag has QuickJS compiled again.
  inputs="-DTOOLCELL_INPUTS=$(cat c/* profile/quickjs.profdata | b3sum | cut -c1-16)"
  include="-include $stage/guest/c/quickjs-wasi.h $inputs"
  export CFLAGS_wasm32_wasip1="--sysroot=/usr --target=wasm32-wasi $(echo $tuned) $include $prefix"
  export BINDGEN_EXTRA_CLANG_ARGS="--sysroot=/usr -isystem /usr/include/wasm32-wasi"
  export RUSTFLAGS="$remap -C link-self-contained=no -C linker=wasm-ld-22 -C linker-flavor=wasm-ld
    -L native=/usr/lib/wasm32-wasi -C link-arg=--export=__stack_pointer -C link-arg=--stack-first
    -C link-arg=-zstack-size=2359296"
  unset RUSTUP_TOOLCHAIN
  /usr/bin/cargo build --locked --release --package toolcell-guest --target wasm32-wasip1 -Zbuild-std=std,panic_abort
)
cargo run --locked --release --quiet --package toolcell-snapshot --target-dir "$target" -- \
  "$target/wasm32-wasip1/release/toolcell_guest.wasm" "$out" toolcell:prelude=js/dist/prelude.js \
  @sinclair/typebox=js/dist/packages/sinclair-typebox.js omptype.js=js/dist/packages/omptype.js \
  zod=js/dist/packages/zod.js typebox=js/dist/packages/typebox.js arktype=js/dist/packages/arktype.js
