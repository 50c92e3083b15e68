#!/usr/bin/env bash
# One night, started by cron, systemd or CI. Everything is in UTC; a second start of the same night exits with 75.
#
#   HARNESS_GATEWAY           base URL of the gateway
#   HARNESS_GATEWAY_KEY_FILE  file with the gateway's key, readable by this user only
#   HARNESS_HOME              folder of the checkout                      [the folder above this script]
#   HARNESS_LOG_DIR           where each night's log is appended to       [HARNESS_HOME/reports/log]
#
# Further arguments go to `harness nightly`.
set -euo pipefail
export TZ=UTC LC_ALL=C.UTF-8

home=${HARNESS_HOME:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
logs=${HARNESS_LOG_DIR:-$home/reports/log}
harness=${HARNESS_BIN:-$home/.venv/bin/harness}
mkdir -p "$logs"
cd "$home"

# The log keeps what a person would have seen; pipefail makes the night's exit code ours and not tee's.
flock --nonblock --conflict-exit-code 75 "$logs/nightly.lock" \
    "$harness" --log-format json nightly "$@" 2>&1 | tee -a "$logs/nightly-$(date -u +%F).log"
