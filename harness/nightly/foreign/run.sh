# Runs a complete conversation through the proxy, then a request that breaks a rule. Run it in a folder with aimock, the
# agents and `try.sh`.
set -euo pipefail
fail() { echo "$1"; cat told; exit 1; }
mkfifo mocked
node node_modules/@copilotkit/aimock/dist/cli.js --port "${MOCK_PORT:-4010}" --fixtures weather.json --log-level info >mocked 2>&1 &
mock=$!
trap 'kill $mock; rm -f mocked' EXIT
exec 5<mocked
# aimock prints its address as soon as it listens.
while read -r line <&5; do
    case "$line" in *"http://127.0.0.1:"*) break ;; esac
done
cat <&5 >/dev/null &
export SERVER="http://127.0.0.1:${MOCK_PORT:-4010}"
sh try.sh >told || fail "the conversation did not pass"
grep -q '2 streams: 2 complete' told || fail "the streams were not judged"
cp rec.jsonl complete.jsonl
mv agent.mjs complete.mjs
cp broken.mjs agent.mjs
if sh try.sh --let-through >told; then fail "the broken request was not reported"; fi
grep -q 'let through anthropic-messages/tool-result-missing: the server accepted 1' told || fail "the request that was let through was not compared"
mv complete.mjs agent.mjs
mv complete.jsonl rec.jsonl
