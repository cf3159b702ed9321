"""A site with a film at every path and address, from memory, which sends so many bytes a second to each reader.

The films differ in their last bytes, so that each is stored.
"""

import asyncio
import hashlib
import sys
from pathlib import Path

BLOCK = 64 << 10


async def main(data: bytes, rate: float, port: int) -> None:
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: {len(data)}\r\n"
        'ETag: "film"\r\nConnection: close\r\n\r\n'
    ).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1]
            end = hashlib.sha256(path).digest()
            writer.write(head)
            began = asyncio.get_running_loop().time()
            for at in range(0, len(data), BLOCK):
                is_last = at + BLOCK >= len(data)
                writer.write(data[at : -len(end)] + end if is_last else data[at : at + BLOCK])
                await writer.drain()
                due = began + (at + BLOCK) / rate
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # who looks at the beginning only
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "0.0.0.0", port)  # noqa: S104 - all addresses of this machine, each a host
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).read_bytes(), float(sys.argv[2]), int(sys.argv[3])))
