#!/bin/sh
# Says where the release is, and what its archive is cached as: the outputs `url`, `cache` and `key` of a step.
#
#   ACTION_REPOSITORY  the repository that the action comes from; empty if it was copied into that of the job
#   TOOLCELL_RELEASE_URL, TOOLCELL_VERSION, TOOLCELL_SHA256  as in setup.sh, which checks them
set -eu

fail() { # CAUSE NEXT-STEP
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

if [ -z "$TOOLCELL_RELEASE_URL" ]; then
  [ -n "$ACTION_REPOSITORY" ] \
    || fail "\`url\` is empty, and this copy of the action does not know where it came from" "pass the address of the folder with the files of the release"
  TOOLCELL_RELEASE_URL=$GITHUB_SERVER_URL/$ACTION_REPOSITORY/releases/download/v$TOOLCELL_VERSION
fi
# Each is a line of a file below.
case $TOOLCELL_RELEASE_URL$TOOLCELL_VERSION in
  *"
"*) fail "\`url\` and \`version\` are one line each" "remove the line breaks" ;;
esac
sum=$(printf %s "$TOOLCELL_SHA256" | sha256sum | cut -c 1-16)
{
  printf 'url=%s\n' "$TOOLCELL_RELEASE_URL"
  printf 'cache=%s\n' "$RUNNER_TEMP/toolcell-cache"
  printf 'key=%s\n' "toolcell-$TOOLCELL_VERSION-$(uname -m)-$sum"
} >> "$GITHUB_OUTPUT"
