#!/bin/bash
# A terminal program that draws a prompt box as Claude Code does, takes pastes and keys, and tells the hooks.
#   fake-client.sh FLIGHTDECK SESSION
# A prompt that begins with "work" keeps it busy until Esc. It writes its prompts to ./prompts.
flightdeck=$1 session=$2 text='' stash='' hint='manual mode on' pasting=''
export CLAUDE_PID=$$
stty raw -echo
printf '\e[?2004h'

tell() {
  printf '{"session_id":"%s","hook_event_name":"%s","cwd":"%s"%s}' "$session" "$1" "$PWD" "$2" | "$flightdeck" hook
}

draw() {
  local rule='────────────────────'
  printf '\e[H\e[2J● ready\r\n%*s\r\n%s\r\n❯\u00a0%s\r\n%s\r\n  %s' 30 "${stash:+› stashed}" "$rule" "${text//$'\n'/$'\r\n  '}" "$rule" "$hint"
}

submit() {
  local prompt=$text json
  json=${prompt//\\/\\\\} json=${json//\"/\\\"} json=${json//$'\n'/\\n}
  text=$stash stash=''
  [[ $prompt == work* ]] && hint='manual mode on · esc to interrupt'
  # As the real one: the box is empty before anybody hears of the prompt.
  draw
  printf '%s\n' "$prompt" >> prompts
  # It runs commands itself, and no hook tells of them.
  [[ $prompt == /* ]] && return
  tell UserPromptSubmit ",\"prompt\":\"$json\""
  [[ $prompt == work* ]] || tell Stop
}

escape() {
  local rest=''
  IFS= read -rsN5 -t 0.2 rest
  case $rest in
    '[200~') pasting=1 ;;
    '[201~') pasting='' ;;
    *) [[ $hint == *interrupt ]] && { hint='manual mode on'; draw; tell Stop; } ;;
  esac
}

tell SessionStart ',"source":"startup"'
draw
while IFS= read -rsN1 key; do
  case $key in
    $'\e') escape ;;
    $'\r' | $'\n') if [[ $pasting ]]; then text+=$'\n'; else submit; fi ;;
    $'\x13') stash=$text text='' ;;
    $'\x15' | $'\x0b') text='' ;;
    *) text+=$key ;;
  esac
  # All of a paste is drawn at once.
  read -t 0 || draw
done
