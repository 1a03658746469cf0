#!/bin/sh
# A session in a pane that does nothing but be there.
#   jump-client.sh FLIGHTDECK SESSION
export CLAUDE_PID=$$
for event in 'SessionStart","source":"startup' "UserPromptSubmit\",\"prompt\":\"Task of $2"; do
  printf '{"session_id":"%s","cwd":"%s","hook_event_name":"%s"}' "$2" "$PWD" "$event" | "$1" hook
done
while :; do read -r line || sleep 600; done
