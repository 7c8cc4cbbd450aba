#!/bin/sh
# Puts a release of Toolcell into a folder of a CI job: fetches the archive, compares its SHA-256 with the one that the job
# names, and unpacks it only if they are the same.
#
# .gitlab/toolcell.yml contains this text, because it has to stand alone; tests/dist/test_ci_actions.py holds the two together.
#
#   TOOLCELL_RELEASE_URL  the address of the folder with the files of the release
#   TOOLCELL_VERSION      the version, as in 0.1.0
#   TOOLCELL_SHA256       the archive's line of SHA256SUMS (or its digest alone); other lines are ignored
#   TOOLCELL_CACHE        the folder that keeps the archive for later jobs
#   TOOLCELL_PREFIX       the folder to unpack into, which is replaced
#   TOOLCELL_TIMEOUT      the seconds that the download may take; 600 if it is not set
set -eu

fail() { # CAUSE NEXT-STEP
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}
digest() { sha256sum < "$1" | cut -d ' ' -f 1; }
# Limits the time of a command where there is a `timeout`. That of an old busybox takes other arguments.
limited() { # COMMAND...
  if timeout 1 true > /dev/null 2>&1; then timeout "$seconds" "$@"; else "$@"; fi
}
fetch() ( # URL FILE
  # A server need not announce a size. These are 100 MiB; 200 where bash is not in POSIX mode, and counts in KiB.
  trap '' XFSZ
  ulimit -f 204800 2> /dev/null || :
  if command -v curl > /dev/null 2>&1; then
    curl --globoff --fail --silent --show-error --location --retry 3 --connect-timeout 30 --speed-limit 1024 --speed-time 60 \
      --max-time "$seconds" --retry-max-time "$seconds" --max-filesize 104857600 --output "$2" "$1"
  else
    # Without `-T`, with which the wget of Debian 12's busybox crashes.
    limited \
      wget -q -O "$2" "$1"
  fi
)

[ "$(uname -s)" = Linux ] || fail "this runner has $(uname -s)" "run this job on Linux: releases of Toolcell are for Linux alone"
case $(uname -m) in
  x86_64 | amd64) arch=x86_64 ;;
  aarch64 | arm64) arch=aarch64 ;;
  *) fail "there is no release for $(uname -m)" "run this job on x86_64 or aarch64" ;;
esac
command -v curl > /dev/null 2>&1 || command -v wget > /dev/null 2>&1 \
  || fail "this image has neither curl nor wget" "use an image with one of them, such as buildpack-deps:bookworm-curl"
for command in sha256sum tar gzip; do
  command -v "$command" > /dev/null 2>&1 || fail "this image has no $command" "use an image with it, such as buildpack-deps:bookworm-curl"
done

case $TOOLCELL_VERSION in
  "" | *[!0-9A-Za-z.+-]*) fail "\`version\` is not a version: $TOOLCELL_VERSION" "name a release, as in 0.1.0" ;;
esac
case $TOOLCELL_RELEASE_URL in
  http://*[!/]* | https://*[!/]*) ;;
  "") fail "\`url\` is empty" "pass the address of the folder with the files of the release" ;;
  *) fail "\`url\` is not an address: $TOOLCELL_RELEASE_URL" "pass one that begins with https://" ;;
esac
seconds=${TOOLCELL_TIMEOUT:-600}
case $seconds in
  *[!0-9]* | 0*) fail "TOOLCELL_TIMEOUT is not a number of seconds: $seconds" "write one, as in 600, or leave it out" ;;
esac
archive=toolcell-$TOOLCELL_VERSION-$arch-linux.tar.gz
url=${TOOLCELL_RELEASE_URL%/}/$archive

expected=
while read -r first file rest; do
  case ${file#\*} in
    "" | "$archive") [ -n "$expected" ] || [ -n "$rest" ] || expected=$(printf %s "$first" | tr A-F a-f) ;;
  esac
done << LINES
$TOOLCELL_SHA256
LINES
case $expected in
  "") fail "\`sha256\` has no line for $archive" "copy that line from the release's SHA256SUMS, after you verified its signature" ;;
  *[!0-9a-f]*) expected= ;;
esac
[ ${#expected} = 64 ] || fail "\`sha256\` of $archive is not 64 hexadecimal digits" "copy its line from the release's SHA256SUMS"

# The folder of the cache has only files whose digests were right when they were put there. It may have been changed since.
mkdir -p "$TOOLCELL_CACHE"
kept=$TOOLCELL_CACHE/$archive
new=$TOOLCELL_PREFIX.new
trap 'rm -rf "$kept.part" "$new"' EXIT
if [ -f "$kept" ] && [ "$(digest "$kept")" = "$expected" ]; then
  echo "$archive: cached"
else
  [ ! -e "$kept" ] || echo "the cached $archive has another SHA-256: it is fetched again" >&2
  # Each may be a folder, or a symlink to somewhere else.
  rm -rf "$kept" "$kept.part"
  fetch "$url" "$kept.part" \
    || fail "$archive cannot be fetched from $TOOLCELL_RELEASE_URL in $seconds s and 100 MiB" \
      "look whether this runner reaches that address, and whether it has that file; TOOLCELL_TIMEOUT allows more seconds"
  actual=$(digest "$kept.part")
  [ "$actual" = "$expected" ] || fail "$url has the SHA-256 $actual, expected $expected: nothing was unpacked" \
    "compare \`sha256\` with the release's SHA256SUMS; if it is right, the file was replaced or damaged, and must not be used"
  mv "$kept.part" "$kept"
  echo "$archive: fetched, SHA-256 as expected"
fi

rm -rf "$new"
mkdir -p "$new"
tar -xzof "$kept" -C "$new" --strip-components=1
rm -rf "$TOOLCELL_PREFIX"
mv "$new" "$TOOLCELL_PREFIX"
"$TOOLCELL_PREFIX/bin/toolcell" doctor \
  || fail "toolcell does not work on this runner" "the lines above say what is missing; the guide's page on locked-down runners says what that costs"
