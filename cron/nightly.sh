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

home=${HARNESS_HOME:-$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)}
logs=${HARNESS_LOG_DIR:-$home/reports/log}
harness=${HARNESS_BIN:-$home/.venv/bin/harness}
mkdir -p "$logs"
cd "$home"

# The log keeps what a person would have seen. The night runs in the background of this shell, so that a signal to the
# script alone reaches it, and tee outlives the signal, so that the night's last words are kept.
exec 9>"$logs/nightly.lock"
flock --nonblock --conflict-exit-code 75 9
"$harness" --log-format json nightly "$@" \
    > >(trap '' TERM INT; exec tee -a "$logs/nightly-$(date -u +%F).log") 2>&1 9>&- &
night=$!
trap 'kill -TERM "$night" 2>/dev/null' TERM INT
code=0
wait "$night" || code=$?
while kill -0 "$night" 2>/dev/null; do  # the trap ended the first wait; the night finishes what is in flight
    code=0
    wait "$night" || code=$?
done
exit "$code"
