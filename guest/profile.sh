#!/usr/bin/env bash
# Gathers the profile that QuickJS's C is compiled with: `guest/profile.sh OUT.profdata`.
#
# QuickJS is built for this machine with counters and runs `profile/programs`, which are other programs than those
# that the benchmark measures. It is built for 32 bits, because there QuickJS keeps its values as it does in Wasm.
set -euo pipefail
out=$(realpath -m "${1:?usage: guest/profile.sh OUT.profdata}")
cd "$(dirname "$0")"

packages="clang-22 llvm-22 libclang-rt-22-dev libc6-dev-i386 gcc-multilib patch"
if ! dpkg-query -W $packages > /dev/null 2>&1; then
  echo "guest: installing $packages" >&2
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >&2
fi

cargo fetch --locked --quiet
version=$(sed -n '/^name = "rquickjs-sys"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
sources=("${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"rquickjs-sys-$version/quickjs")
quickjs=${sources[0]}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$quickjs"/{quickjs,libregexp,libunicode,dtoa}.c "$work"
for patch in c/*.patch; do patch --quiet --fuzz=0 "$work/quickjs.c" "$patch"; done
clang-22 -m32 -O1 -w -fprofile-instr-generate -D_GNU_SOURCE -DEMSCRIPTEN=1 -DFE_DOWNWARD=0 -DFE_UPWARD=0 -I"$quickjs" \
  profile/gather.c "$work"/{quickjs,libregexp,libunicode,dtoa}.c -lm -o "$work/gather"
LLVM_PROFILE_FILE="$work/raw.profraw" "$work/gather" profile/programs/*.js
llvm-profdata-22 merge "$work/raw.profraw" -o "$out"
