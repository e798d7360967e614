"""The protocol's own client calls the server: client.py TRACEPARSE EXPORT"""

import asyncio
import json
import subprocess
import sys

from mcp import Client, StdioServerParameters

BINARY, EXPORT = sys.argv[1:]
CALLS = [
    ("open", {"paths": [EXPORT]}, ["--view=overview"]),
    ("functions", {"paths": [EXPORT], "top": 3}, ["--view=functions", "--top=3"]),
    ("open", {"paths": [EXPORT], "what": "contents"}, ["toc"]),
]


def short(arguments: list[str]) -> dict:
    command = arguments[:1] if not arguments[0].startswith("-") else []
    options = arguments[len(command):]
    return json.loads(subprocess.check_output([BINARY, *command, *options, "--format=json", "--max-size=1750B", EXPORT]))


async def main() -> None:
    # Both ways in: with a handshake, and with all that a call needs in its own metadata (2026-07-28).
    for mode in ("legacy", "auto"):
        async with Client(StdioServerParameters(command=BINARY, args=["mcp"]), mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert len(tools) == 9, tools
            for name, arguments, command in CALLS:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result
                answer = {field: value for field, value in result.structured_content.items() if field != "messages"}
                assert answer == short(command), (name, mode)
            refused = await client.call_tool("open", {"paths": [EXPORT], "bogus": True})
            assert refused.is_error and refused.structured_content["error"]["kind"] == "arguments", refused
            page = await client.call_tool("page", {"paths": [EXPORT]})
            html = (await client.read_resource(page.structured_content["page"])).contents[0].text
            assert len(html.encode()) == page.structured_content["bytes"], len(html)


asyncio.run(main())
