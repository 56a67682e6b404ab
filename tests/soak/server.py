#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Throws damaged requests and WebSocket frames at yawara view.

usage: server.py YAWARA CONNECTIONS [SEED]

Each connection is a request of the page, a WebSocket with messages of the page, or bytes by chance, damaged by a few changes, cut
short, or repeated. After every hundred the server must still answer a proper request within two seconds, must not have grown by more
than 64 MB, and must end cleanly at last. The messages are those of tests/support/viewer_messages.h. Prints "ok" or "not ok".
"""
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENE = '{ "floor": true, "bodies": [ { "mesh": { "lattice": { "size": 0.4, "cells": 2 } }, "position": [0, 0.5, 0] } ] }'


def page_messages():
    text = (ROOT / "tests" / "support" / "viewer_messages.h").read_text()
    listed = text[text.index("messages[] = {"):text.index("};")]
    items = re.findall(r'\(?((?:"(?:\\.|[^"\\])*"\s*)+)\)?,', listed)
    return [re.sub(r"\\(.)", r"\1", "".join(re.findall(r'"((?:\\.|[^"\\])*)"', item))).encode() for item in items]


class Server:
    def __init__(self, yawara, folder):
        (folder / "page").mkdir()
        (folder / "page" / "index.html").write_text("<title>page</title>")
        (folder / "box.json").write_text(SCENE)
        self.process = subprocess.Popen([yawara, "view", "--live", "box.json", "--page", "page", "--no-open"], cwd=folder,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        found = None
        while not found:
            line = self.process.stdout.readline()
            found = re.search(r"http://([\d.]+):(\d+)(/\S*)", line)
            if not line:
                raise SystemExit("not ok: yawara view does not start")
        self.host, self.port, self.path = found[1], int(found[2]), found[3]

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=2)

    def request(self, name="", more=""):
        return (f"GET {self.path}{name} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nOrigin: http://{self.host}:{self.port}\r\n"
                f"{more}\r\n").encode()

    def upgrade(self):
        return self.request("socket", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: yawara\r\n")

    def memory(self):
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def fault(self, most):
        """What is wrong with the server, or None."""
        if self.process.poll() is not None:
            return f"it ended with {self.process.returncode}"
        start = time.monotonic()
        try:
            with self.connect() as link:
                link.sendall(self.request("", "Connection: close\r\n"))
                answer = link.recv(100)
        except OSError as error:
            return f"a proper request: {error}"
        if not answer.startswith(b"HTTP/1.1 200"):
            return f"a proper request is answered with {answer[:40]}"
        if self.memory() > most:
            return f"it has {self.memory():.0f} MB, {most:.0f} at most are allowed"
        return f"an answer took {time.monotonic() - start:.1f} s" if time.monotonic() - start > 2 else None


def frame(draw, payload):
    """A masked frame, mostly a proper one."""
    opcode = draw.choice([1, 1, 1, 1, 2, 0, 8, 9, 10, 3, 15])
    first = opcode | (0x80 if draw.random() < 0.9 else 0) | (draw.choice([0, 0, 0, 0x40, 0x70]))
    length = len(payload) if draw.random() < 0.9 else draw.choice([0, 125, 65535, 1 << 31, (1 << 64) - 1])
    mask = draw.randbytes(4)
    if length < 126:
        head = bytes([first, 0x80 | length])
    elif length < 65536:
        head = bytes([first, 0xFE]) + length.to_bytes(2, "big")
    else:
        head = bytes([first, 0xFF]) + length.to_bytes(8, "big")
    return head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


def damaged(draw, data):
    data = bytearray(data)
    for _ in range(draw.choice([0, 1, 1, 2, 5])):
        at = draw.randrange(len(data) + 1)
        kind = draw.randrange(4)
        if kind == 0 and at < len(data):
            data[at] = draw.randrange(256)
        elif kind == 1:
            del data[at:at + draw.randrange(1, 9)]
        elif kind == 2:
            data[at:at] = draw.choice([b"\0", b"\r\n", b"\xff" * 8, b"9" * 30, b"[" * 200, b"%2e%2e/", b"A" * 5000])
        else:
            data[at:at] = data[:at][-20:]
    return bytes(data)


def disturb(server, draw, messages):
    kind = draw.random()
    with server.connect() as link:
        if kind < 0.35:
            name = draw.choice(["", "index.html", "../box.json", "socket", "scene.json"])
            link.sendall(damaged(draw, server.request(name)))
        elif kind < 0.4:
            link.sendall(draw.randbytes(draw.randrange(1, 3000)))
        else:
            link.sendall(server.upgrade() if draw.random() < 0.9 else damaged(draw, server.upgrade()))
            link.recv(300)
            for _ in range(draw.randrange(1, 6)):
                link.sendall(damaged(draw, frame(draw, damaged(draw, draw.choice(messages)))) if draw.random() < 0.3 else
                             frame(draw, damaged(draw, draw.choice(messages))))
        if draw.random() < 0.5:
            link.settimeout(0.05)
            link.recv(2000)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    count, seed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) == 4 else 1
    messages = page_messages()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(os.path.abspath(sys.argv[1]), pathlib.Path(folder))
        most, wrong = server.memory() + 64, None
        for i in range(count):
            try:
                disturb(server, random.Random(f"{seed} {i}"), messages)
            except OSError:
                pass  # it may hang up
            if i % 100 == 99 or i == count - 1:
                wrong = server.fault(most)
            if wrong:
                break
        server.process.send_signal(signal.SIGINT)
        try:
            code = server.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.process.kill()
            code = "no end within 10 s"
        wrong = wrong or (f"Ctrl-C ends it with {code}" if code != 0 else None)
    print(f"not ok yawara view, seed {seed}, connection {i}: {wrong}" if wrong else f"ok yawara view: {count} damaged connections")
    sys.exit(wrong is not None)


if __name__ == "__main__":
    main()
