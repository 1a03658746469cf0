#!/bin/bash
# A client for tests of Ctrl-C under `flightdeck run`. It writes what happens to ./client-log. The first argument says what it does:
#   stubborn  ignores SIGINT
#   twice     ends with 9 at the second SIGINT
#   raw       reads the key itself, and ends with 7 at the second one
#   patient   says that it is still there some time after a SIGINT
log() { printf '%s\n' "$*" >> client-log; }
trap 'log term; exit 143' TERM
count=0
case $1 in
  stubborn) trap '' INT ;;
  twice) trap 'count=$((count + 1)); log "interrupted $count"; ((count < 2)) || exit 9' INT ;;
  patient) trap 'log interrupted; sleep 1.5 & wait $!; log "still here"' INT ;;
  raw) stty raw -echo ;;
esac
log "start $$ supervisor=$PPID."
while :; do
  if [[ $1 == raw ]]; then
    [[ $(dd bs=1 count=1 2> /dev/null | od -An -tx1) == *03* ]] || continue
    count=$((count + 1))
    log "key $count"
    ((count < 2)) || exit 7
  else
    # `wait` ends when a signal comes.
    sleep 0.1 &
    wait $!
  fi
done
