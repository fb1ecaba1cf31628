#!/usr/bin/env bash
# What action.yml does: compare two sides, and keep one comment on the pull request up to date.
#
# Settings are GOMEM_BEFORE, GOMEM_AFTER, GOMEM_FAIL_ON, GOMEM_CONFIG, GOMEM_REDACT, GOMEM_NAME and
# GOMEM_PULL_REQUEST, the number to comment on; all but the first two may be empty. The exit code is
# that of `gomem compare`: 1 for a broken budget. A comment that is refused is only a warning, as
# the token of a pull request from a fork may not write one; the job's summary has it anyway.
set -euo pipefail

body=$RUNNER_TEMP/gomem-comment.md
rm -f "$body"

arguments=(--format pr -o "$body" --force)
[[ -z ${GOMEM_FAIL_ON:-} ]] || arguments+=(--fail-on "$GOMEM_FAIL_ON")
[[ -z ${GOMEM_CONFIG:-} ]] || arguments+=(--config "$GOMEM_CONFIG")
[[ ${GOMEM_REDACT:-} != true ]] || arguments+=(--redact)

code=0
gomem compare "${arguments[@]}" -- "$GOMEM_BEFORE" "$GOMEM_AFTER" || code=$?
if [[ ! -s $body ]]; then
  exit "$code"
fi

export MARKER='<!-- gomem compare -->' # as gomem begins it
if [[ -n ${GOMEM_NAME:-} ]]; then
  MARKER="<!-- gomem compare: ${GOMEM_NAME//[^[:alnum:]._ -]/_} -->"
  printf '%s\n%s\n' "$MARKER" "$(cat "$body")" > "$body.named"
  mv "$body.named" "$body"
fi
cat "$body" >> "$GITHUB_STEP_SUMMARY"
echo "comment=$body" >> "$GITHUB_OUTPUT"

comments=repos/$GITHUB_REPOSITORY/issues
# Of a bot alone: anyone may begin a comment with the marker.
own='.[] | select(.user.type == "Bot" and (.body | startswith(env.MARKER))) | .id'

post() {
  local id
  id=$(gh api --paginate "$comments/$GOMEM_PULL_REQUEST/comments" --jq "$own") || return
  id=${id##*$'\n'}
  if [[ -n $id ]]; then
    gh api --silent -X PATCH "$comments/comments/$id" -F "body=@$body"
  else
    gh api --silent -X POST "$comments/$GOMEM_PULL_REQUEST/comments" -F "body=@$body"
  fi
}

if [[ -n ${GOMEM_PULL_REQUEST:-} ]] && ! post; then
  echo "::warning title=gomem::No comment was written; it stands in the job's summary." \
    "The job needs 'permissions: pull-requests: write'; a fork's has no such token."
fi
exit "$code"
