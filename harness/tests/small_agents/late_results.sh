#!/bin/sh
# An agent that looks up the weather. It stores results together with the reply that follows them, so a program that
# is killed in between leaves calls without results.
set -eu
thread=thread.json
[ -f "$thread" ] || echo '[]' >"$thread"
keep() { jq -c "$@" "$thread" >"$thread.new" && mv "$thread.new" "$thread"; }
tools='[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object"}}}]'

keep --arg text "$1" '. + [{role: "user", content: $text}]'
cp "$thread" sent.json
while :; do
  body=$(jq -c --argjson tools "$tools" '{model: "gpt-5", tools: $tools, messages: .}' sent.json)
  answer=$(curl -sS --fail-with-body -H 'content-type: application/json' -d "$body" "$OPENAI_BASE_URL/chat/completions")
  jq -c --argjson answer "$answer" '. + [$answer.choices[0].message]' sent.json >"$thread"
  n_calls=$(jq '.[-1].tool_calls // [] | length' "$thread")
  [ "$n_calls" -gt 0 ] || break
  jq -c '. + [.[-1].tool_calls[] | {role: "tool", tool_call_id: .id, content: "sunny"}]' "$thread" >sent.json
  [ -z "${FIXED:-}" ] || cp sent.json "$thread"
done
jq -r '.[-1].content' "$thread"
