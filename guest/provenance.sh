#!/usr/bin/env bash
# Writes what the committed guest is and what it was built with: `guest/provenance.sh > guest/prebuilt/PROVENANCE.md`.
set -euo pipefail
cd "$(dirname "$0")"
version() { dpkg-query -W -f='${Version}' "$1"; }
locked() { awk -v name="$1" '$0 == "name = \"" name "\"" { getline; gsub(/version = |"/, ""); print; exit }' Cargo.lock; }
quickjs() {
  local header=("${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"rquickjs-sys-$(locked rquickjs-sys)/quickjs/quickjs.h")
  sed -n 's/^#define QJS_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' "${header[0]}" | paste -sd.
}
cat <<END
# Where \`guest.wasm\` comes from

blake3: \`$(cut -d' ' -f1 prebuilt/guest.wasm.b3)\` ($(stat -c %s prebuilt/guest.wasm) bytes)

Built by \`make guest\` (\`guest/build.sh\`) from \`guest/\` and \`crates/protocol/\`; \`make check-guest\` builds it again and compares the bytes.

| part | version |
|---|---|
| rustc-web, cargo-web, rust-web-src | $(version rustc-web) |
| clang-22, lld-22, llvm-22 | $(version clang-22) |
| libclang-rt-22-dev-wasm32 | $(version libclang-rt-22-dev-wasm32) |
| wasi-libc | $(version wasi-libc) |
| javy | $(locked javy) |
| rquickjs, below javy (\`guest/javy.patch\`) | $(locked rquickjs-core) |
| QuickJS-ng | $(quickjs) |
| our patches of QuickJS (\`guest/c/*.patch\`) | blake3 \`$(cat c/*.patch | b3sum --no-names)\` |
| url | $(locked url) |
| wasmtime-wizer (the snapshot) | $(locked wasmtime-wizer) |
| prelude (\`guest/js/dist/prelude.js\`) | blake3 \`$(b3sum --no-names js/dist/prelude.js)\` |
| packages that tools can import (\`guest/js/dist/packages/*.js\`) | blake3 \`$(cat js/dist/packages/*.js | b3sum --no-names)\` |

The licences of what the bundles contain are in \`guest/js/dist/LICENSES.txt\`.
END
