#!/bin/sh
# Stops the cluster that start.sh started, and removes its files.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/settings.sh"

[ -e "$STATE" ] || exit 0
if [ ! -e "$STATE/$MARK" ]; then
    echo "stop.sh: $STATE is not the folder of a cluster" >&2
    exit 1
fi
groups=$(cat "$STATE"/*.pid 2>/dev/null)
# alive: succeeds if a process of any group still runs.
alive() {
    for group in $groups; do
        kill -0 "-$group" 2>/dev/null && return 0
    done
    return 1
}
for signal in TERM KILL; do
    for group in $groups; do
        kill "-$signal" "-$group" 2>/dev/null
    done
    tries=50
    while [ "$tries" -gt 0 ] && alive; do
        sleep 0.2
        tries=$((tries - 1))
    done
done
rm -rf "$STATE"
