#!/bin/sh
# Installs toolcell: `curl -fsSL ADDRESS/install.sh | sh`, options after `sh -s --`. Nothing in the prefix changes before all is
# verified. The braces around everything make a shell that receives only a part of this script run nothing of it.
{
set -eu && umask 022 && export LC_ALL=C
version=@VERSION@
key=@PUBLIC_KEY@
url=${TOOLCELL_RELEASE_URL:-@URL@}
url=${url%/} seconds=${TOOLCELL_TIMEOUT:-600} prefix='' remove='' work='' child='' files='' made='' schemes=https state='; nothing was changed'
record=share/toolcell/installed new=.toolcell.$$ path='(bin|share)(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*'
say() { printf '%s\n' "$*"; }
die() { say "install.sh: $*$state" >&2 || :; exit 1; }
has() { command -v "$1" > /dev/null 2>&1; }
cleanup() {
  for file in $record $files; do rm -f "$prefix/$file$new"; done
  for dir in $made; do rmdir "$prefix/${dir#.}" 2> /dev/null || :; done # A folder is listed before it is made.
  [ -z "$work" ] || rm -rf "$work"
}
fetch() { # NAME KIB: in the background, where a signal ends it. A server need not announce a size, so ulimit bounds it, too.
  (
    trap '' XFSZ && ulimit -f $(($2 * 2)) || :
    ! has curl || exec curl -gfsSL --proto "=$schemes" --max-redirs 5 --max-time "$seconds" --connect-timeout "$stall" \
      --speed-limit 1000 --speed-time "$stall" --max-filesize $(($2 * 1024)) "$url/$1"
    gnu=$(wget --help 2>&1 | sed -n "s/.*--read-timeout.*/--timeout=$stall/p") # That of busybox may have no such option.
    exec timeout "$seconds" wget -nv -S -t 1 ${gnu:+"$gnu"} -O - "$url/$1"
  ) > "$1" 2> log < /dev/null & child=$! status=0 && wait "$child" || status=$?
  child='' && case $status in 124 | 143) say "it took too long" >> log ;; esac # wget follows redirects to any scheme.
  [ $schemes != https ] || ! grep -iq '^[[:blank:]]*location:[[:blank:]]*http:' log || { status=1 && say "it redirects to plain http" >> log; }
  [ $status = 0 ] || die "cannot fetch $url/$1 in $seconds s (TOOLCELL_TIMEOUT) and $2 KiB: $(grep -v '^[[:space:]]' log | tail -n 1):" \
    "check the network, and the address (TOOLCELL_RELEASE_URL)"
}
signed() { openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in "$1" -sigfile "$2" > /dev/null 2>&1; }
verify() { # Two Ed25519 signatures: of the BLAKE2b-512 hash of SHA256SUMS, and of that signature with the trusted comment.
  if has minisign; then comment=$(minisign -V -H -Q -P $key -m SHA256SUMS 2> /dev/null); return; fi
  openssl dgst -blake2b512 -binary SHA256SUMS > digest || die "this openssl has no BLAKE2b: install minisign"
  comment=$(tr -d '\r' < SHA256SUMS.minisig | sed -n '3s/^trusted comment: //p')
  { printf '\060\052\060\005\006\003\053\145\160\003\041\000' && say $key | openssl base64 -d -A | tail -c 32; } > key.der
  for line in 2 4; do sed -n ${line}p SHA256SUMS.minisig | tr -d '\r' | openssl base64 -d -A | tail -c 64 > signature.$line; done
  { cat signature.2 && printf %s "$comment"; } > commented && signed digest signature.2 && signed commented signature.4
}
untouched() { at=$prefix/$1; [ -f "$at" ] && grep -Fqx "$(sha256sum < "$at" | cut -c-64)  $1" "$old" || [ ! -e "$at" ] && [ ! -L "$at" ]; }
sweep() { for left in "$1".toolcell.[0-9]*; do case ${left#"$1".toolcell.} in *[!0-9]*) ;; *) rm -f "$left" || return ;; esac; done; } # Of killed runs.
prune() { # FILES: removes what the manifest lists beside these, and folders that were made for it.
  grep -v '^-' "$old" | while read -r _ file; do
    case " $1 " in *" $file "*) continue ;; esac
    if untouched "$file"; then rm -f "$prefix/$file" && sweep "$prefix/$file" || exit 1; else say "kept $prefix/$file: it was changed"; fi
  done || die "not all could be removed: see why, and run this again"
  folders=$(sed -n 's/^-  //p' "$old")
  [ -n "$1" ] || { rm -f "$old" && sweep "$old"; } || die "$old could not be removed: remove it by hand"
  for dir in $folders; do rmdir "$prefix/${dir#.}" 2> /dev/null || :; done
}
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=${2:?"--prefix needs a folder"} && shift ;;
    --remove) remove=yes ;;
    --help) say "Installs toolcell $version. Options: --prefix DIR (~/.local, for root /usr/local), --remove, --help" && exit ;;
    *) die "there is no option $1: the options are --prefix DIR, --remove, --help" ;;
  esac && shift
done
[ -n "$prefix" ] || { [ "$(id -u)" = 0 ] && prefix=/usr/local; } || prefix=${HOME:?"choose a folder with --prefix DIR"}/.local
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
dir=$prefix/bin old=$prefix/$record && [ -e "$old" ] || old=/dev/null
[ ! -d "$old" ] && ! grep -Evq "^(-  \.|(-|[0-9a-f]{64})  $path)\$" "$old" || die "$old is damaged: remove toolcell by hand, and that file"
until [ -e "$dir/" ]; do dir=${dir%/*}; done && [ -w "$dir/" ] || die "cannot write to $dir/: choose another folder with --prefix DIR"
[ -z "$remove" ] || [ "$old" != /dev/null ] || die "nothing to remove, there is no $prefix/$record: choose a folder with --prefix"
[ -z "$remove" ] || { state='' && prune '' && say "removed toolcell from $prefix" && exit; }
case "$(uname -sm)" in "Linux x86_64" | "Linux aarch64") folder=toolcell-$version-$(uname -m)-linux archive=$folder.tar.gz ;;
  *) die "releases are for Linux on x86_64 and aarch64, this is $(uname -sm): build toolcell from its sources" ;; esac
has curl || { has wget && has timeout; } || die "there is neither curl nor wget: install one (apt-get install curl)"
has minisign || openssl pkeyutl -help 2>&1 | grep -q rawin || die "nothing can verify the signature: install minisign or openssl 3"
case $seconds in *[!0-9]* | 0*) die "TOOLCELL_TIMEOUT is $seconds: it takes whole seconds" ;; *) stall=$((seconds / 20 + 1)) ;; esac
! say "$url" | grep -Eq '^http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/|$)' || schemes=http,https
case $schemes:$url in http,* | https:https://*) ;; *) die "the address $url is not https: set TOOLCELL_RELEASE_URL" ;; esac
trap cleanup EXIT && trap 'trap "" HUP INT PIPE TERM; [ -z "$child" ] || { kill "$child" && wait "$child"; } || :; die interrupted' HUP INT PIPE TERM
work=$(mktemp -d "${TMPDIR:-/tmp}/toolcell-install.XXXXXX") && cd "$work" && work=$PWD || die "no temporary folder: set TMPDIR"
fetch SHA256SUMS 64 && fetch SHA256SUMS.minisig 64
verify || die "SHA256SUMS is not signed with the key of this script: do not use that release, and report it"
[ "$comment" = "toolcell $version" ] || die "the release at $url is not toolcell $version: do not use it, and report it"
line=$(grep "^[0-9a-f]\{64\}  $archive\$" SHA256SUMS) || die "toolcell $version has no $archive: build it from its sources"
fetch "$archive" 65536 && [ "$(sha256sum "$archive")" = "$line" ] || die "$archive is not the one that was signed: try again, and report it if it stays"
{ tar -tzf "$archive" > names && tar -tvzf "$archive" > types && [ -z "$(sed -n 501p names)" ]; } 2> /dev/null \
  || die "$archive is damaged, or has more than 500 members: report it"
! grep -Evq "^$folder(/$path)?/?\$" names && ! grep -Eq '^[^-d]| -> | link to ' types || die "$archive has unsafe members: report it"
(ulimit -f 524288; tar -xzof "$archive") && [ -f "$folder/bin/toolcell" ] && mkdir -p "$folder/share/toolcell" \
  || die "$archive does not unpack in $work: make room, or report it" # Files have at most 256 MiB.
files=$(cd "$folder" && find bin share -type f | sort | tr '\n' ' ') dirs=$(cd "$folder" && find bin share -type d | sort)
for file in $files; do untouched "$file" || die "$prefix/$file is not from this script: move it, or choose another --prefix"; done
for dir in . $dirs; do at=$prefix/${dir#.} && [ -d "$at" ] || { made="$dir $made" && mkdir -p "$at"; } || die "cannot make $at: choose another --prefix"; done
{ for dir in $made; do say "-  $dir"; done && for dir in . $dirs; do grep -Fx -e "-  $dir" "$old" || :; done; } | sort -ru > installed
(cd "$folder" && sha256sum $files) >> installed && cat installed "$old" > "$folder/$record"
for file in $record $files; do at=$prefix/$file && sweep "$at" && { cp "$folder/$file" "$at$new" & child=$! && wait "$child"; } \
  || die "cannot write $at: make room, or choose another --prefix DIR"; done
child='' && "$prefix/bin/toolcell$new" --version < /dev/null > said 2> log || die "this toolcell does not run here ($(cat said log | tail -n 1)): build it"
[ "$(cat said)" = "toolcell $version" ] || die "the program in $archive is not toolcell $version, it says $(head -n 1 said): report it"
trap '' HUP INT PIPE TERM && state='' old=$prefix/$record # First goes the manifest, with the old files and the new: a run that is killed can be repeated.
for file in $record $files; do mv -f "$prefix/$file$new" "$prefix/$file" || die "cannot replace $prefix/$file: run this again"; done
made='' && prune "$files" && cp installed "$old$new" && mv -f "$old$new" "$old" || die "cannot write $old: run this again"
say "installed $(cat said): $prefix/bin/toolcell, and what $old lists; --remove removes it"
case :$PATH: in *":$prefix/bin:"*) ;; *) say "note: add it to PATH: export PATH='$(say "$prefix/bin" | sed "s/'/'\\\\''/g")':\"\$PATH\"" ;; esac
exit; }
