#!/usr/bin/env bash
# Programs of the protocol's authors try the server: tests/mcp/clients.sh TRACEPARSE NODE_MODULES
#
# NODE_MODULES has the inspector, the conformance suite, which needs HTTP, and a gateway from HTTP to standard input and output. Only scenarios that
# need no tools of their own can pass.
set -euo pipefail
command="$1" modules="$2"
inspector=(timeout 60 "$modules/.bin/mcp-inspector" --cli)
"${inspector[@]}" "$command" mcp --method tools/list | grep -c '"inputSchema"' | grep -qx 9
"${inspector[@]}" "$command" mcp --method tools/call --tool-name open --tool-arg 'paths=["fixtures/27/orchard/input.xml"]' \
    | grep -q '"all_weight": 485000000'
echo "the inspector lists nine tools, and calls one"

log="$(mktemp)"
"$modules/.bin/supergateway" --stdio "$command mcp" --outputTransport streamableHttp --port "${TRACEPARSE_MCP_PORT:-8123}" >"$log" 2>&1 &
gateway=$!
trap 'kill "$gateway" 2>/dev/null || true; rm -f "$log"' EXIT
for _ in {1..100}; do
    ! grep -q 'Listening on port' "$log" || break
    sleep 0.1
done
for scenario in server-initialize ping tools-list resources-list; do
    timeout 60 node "$modules/@modelcontextprotocol/conformance/dist/index.js" server --scenario "$scenario" \
        --url "http://localhost:${TRACEPARSE_MCP_PORT:-8123}/mcp" | grep 'Passed: '
done
