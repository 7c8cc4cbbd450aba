#!/bin/sh
# Checks and tests the tools of a repository, and writes what a code host shows: SARIF and JUnit. Both are done, whatever the
# first one finds, so that one job reports all there is to correct.
#
# .gitlab/toolcell.yml contains this text, because it has to stand alone; tests/dist/test_ci_actions.py holds the two together.
#
#   TOOLCELL_TOOLS           files and folders, one a line
#   TOOLCELL_CHECK           `true`, or `false` to test alone
#   TOOLCELL_SARIF           the report of `toolcell check`
#   TOOLCELL_JUNIT           the report of `toolcell test`
#   TOOLCELL_MAX_REGRESSION  as in 5%; empty: the budgets hold
#   TOOLCELL_ARGUMENTS       more arguments of `toolcell test`, one a line
set -eu

complain() { # CAUSE NEXT-STEP
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
}
fail() {
  complain "$@"
  exit 1
}
# Tells later steps of a workflow on GitHub which reports there are.
output() { [ -z "${GITHUB_OUTPUT:-}" ] || printf '%s=%s\n' "$1" "$2" >> "$GITHUB_OUTPUT"; }

case $TOOLCELL_CHECK in
  true | false) ;;
  *) fail "\`check\` is neither true nor false: $TOOLCELL_CHECK" "write one of them" ;;
esac
place=
for report in "$TOOLCELL_JUNIT" "$TOOLCELL_SARIF"; do
  case $report in
    "" | *"
"*) fail "\`junit\` and \`sarif\` are the paths of one file each" "leave them out, or name a file" ;;
  esac
  case $report in /*) ;; *) report=./$report ;; esac
  mkdir -p "$(dirname "$report")"
  # A report of an earlier run is none of this one.
  rm -f "$report"
  # The same file may have several names.
  other=$place
  place=$(cd "$(dirname "$report")" && pwd -P)/${report##*/}
  [ "$place" != "$other" ] || fail "\`junit\` and \`sarif\` are the same file: $place" "name another file for one of them"
done

set --
while IFS= read -r path; do
  # What begins with a dash would be an option.
  case $path in
    "") ;;
    -*) set -- "$@" "./$path" ;;
    *) set -- "$@" "$path" ;;
  esac
done << LINES
$TOOLCELL_TOOLS
LINES
[ $# -gt 0 ] || fail "\`tools\` is empty" "name the folder with your tools, as in tools/"

checked=0
if [ "$TOOLCELL_CHECK" = true ]; then
  # GitHub takes lines of the text for workflow commands, and the names of files are part of it. It takes none between the line with
  # a random token and the line that repeats it. Standard error joins standard output, or its lines could come before or after these.
  token=
  if [ "${GITHUB_ACTIONS:-}" = true ]; then
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    [ ${#token} = 32 ] || fail "there are no random bytes" "look whether this runner has od and /dev/urandom"
    echo "::stop-commands::$token"
  fi
  again=
  {
    toolcell check "$@" || checked=$?
    # Sources that are refused are findings (status 3). With another failure, there is no report.
    case $checked in
      0 | 3)
        again=0
        toolcell check --format sarif "$@" > "$TOOLCELL_SARIF" || again=$?
        ;;
    esac
  } 2>&1
  [ -z "$token" ] || echo "::$token::"
  if [ "$again" = "$checked" ]; then
    output sarif "$TOOLCELL_SARIF"
  elif [ -n "$again" ]; then
    complain "toolcell check ended with status $again when it wrote $TOOLCELL_SARIF, and with $checked before: there is no report" \
      "see what it said, look whether there is room for the file and whether something changes the sources meanwhile, and run the job again"
    rm -f -- "$TOOLCELL_SARIF"
    [ "$checked" != 0 ] || checked=$again
  fi
fi

set -- "$@" --junit="$TOOLCELL_JUNIT"
[ -z "$TOOLCELL_MAX_REGRESSION" ] || set -- "$@" --max-regression="$TOOLCELL_MAX_REGRESSION"
while IFS= read -r argument; do
  [ -z "$argument" ] || set -- "$@" "$argument"
done << LINES
$TOOLCELL_ARGUMENTS
LINES
tested=0
toolcell test "$@" || tested=$?
[ ! -e "$TOOLCELL_JUNIT" ] || output junit "$TOOLCELL_JUNIT"

[ "$checked" = 0 ] || echo "toolcell check: status $checked" >&2
[ "$tested" = 0 ] || echo "toolcell test: status $tested" >&2
[ "$tested" = 0 ] || exit "$tested"
exit "$checked"
