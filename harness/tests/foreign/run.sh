# In a folder with aimock, the agents and `try.sh`: a whole conversation through the proxy, then a request that breaks a rule.
set -euo pipefail
fail() { echo "$1"; cat told; exit 1; }
mkfifo mocked
node node_modules/@copilotkit/aimock/dist/cli.js --port "${MOCK_PORT:-4010}" --fixtures weather.json --log-level info >mocked 2>&1 &
mock=$!
trap 'kill $mock; rm -f mocked' EXIT
exec 5<mocked
# It says where it listens once it does.
while read -r line <&5; do
    case "$line" in *"http://127.0.0.1:"*) break ;; esac
done
cat <&5 >/dev/null &
export SERVER="http://127.0.0.1:${MOCK_PORT:-4010}"
sh try.sh >told || fail "the conversation does not pass"
grep -q '2 streams: 2 complete' told || fail "the streams are not judged"
cp rec.jsonl whole.jsonl
mv agent.mjs whole.mjs
cp broken.mjs agent.mjs
if sh try.sh --let-through >told; then fail "a broken request is not named"; fi
grep -q 'let through anthropic-messages/tool-result-missing: the server accepted 1' told || fail "what was let through is not compared"
mv whole.mjs agent.mjs
mv whole.jsonl rec.jsonl
