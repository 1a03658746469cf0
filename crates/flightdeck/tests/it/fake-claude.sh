#!/bin/bash
# A client for tests of `flightdeck run`. It writes what happens to ./client-log and takes lines:
#   exit N    ends with that code
#   raw       changes the settings of the terminal, and does not put them back
log() { printf '%s\n' "$*" >> client-log; }
trap 'log term; exit 143' TERM
trap 'log interrupted' INT
trap 'log continued' CONT
trap 'log "size $(stty size < /dev/tty)"' WINCH
log "start $$ seat=$FLIGHTDECK_SEAT agent=$AGENT_ID home=$FLIGHTDECK_HOME args=$(printf '%s|' "$@")"
begun=
while :; do
  # A short wait, because a trap runs only between commands. It may end in the middle of a line.
  IFS= read -r -t 0.1 part
  result=$?
  line=$begun$part
  if ((result == 0)); then
    begun=
    log "line $line"
    case $line in
      exit*) exit "${line#exit }" ;;
      raw) stty -echo -icanon min 1 ;;
    esac
  elif ((result > 128)); then
    begun=$line
  else
    log 'end of input'
    exit 0
  fi
done
