"""An MCP session: what an agent's client does with `worldline mcp`, tool by tool.

python examples/mcp_session.py
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters


async def main() -> None:
    """Words are remembered with the facts in them, asked for, changed, and asked for again."""
    store = Path(tempfile.mkdtemp()) / "me.db"
    env = {
        "WORLDLINE_DB": str(store),
        "WORLDLINE_EMBEDDER": "none",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    server = StdioServerParameters(command=sys.executable, args=["-m", "worldline", "mcp"], env=env)
    async with Client(server) as client:

        async def call(tool: str, **given: Any) -> Any:
            answer = await client.call_tool(f"memory_{tool}", given)
            assert not answer.is_error, answer.content
            return answer.structured_content

        said = "I live in Rome, and please always answer in verse."
        print("write:", (await call("write", type="said", content=said, speaker="Ana"))["changes"])
        found = await call("recall", question="Where does Ana live?")
        print("recall:", found["answer"], "because", found["proof"][0]["text"])
        await call("amend", id=found["proof"][0]["id"], content="Porto", reason="she moved")
        print("recall again:", (await call("recall", question="Where does Ana live?"))["answer"])
        for section in (await call("context"))["sections"]:
            print(f"{section['title']}:", "; ".join(line["text"] for line in section["lines"]))


if __name__ == "__main__":
    asyncio.run(main())
