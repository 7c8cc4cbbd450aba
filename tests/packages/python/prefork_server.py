"""A prefork server, as users write it: `prefork_server.py PLACE ISOLATION STORE`.

PLACE says where a toolbox is opened: in the `master`, before its workers are forked, as with `gunicorn --preload`; in each
`worker`, after the fork; or in `both`. The server prints its port, ends at a SIGTERM, and then prints what the toolbox of the master
answers. A worker that ends before is replaced.
"""

import contextlib
import http.server
import json
import os
import signal
import socket
import sys
import threading

from toolcell import Toolbox, ToolcellError

WORKERS = 2


class Handler(http.server.BaseHTTPRequestHandler):
    """`GET /twice/21` runs the tool `twice` with 21."""

    def do_GET(self) -> None:
        _, tool, n = self.path.split("/")
        try:
            answer = {"value": self.server.box.run(tool, {"n": int(n)}).value}
        except ToolcellError as error:
            answer = {"code": error.code, "hint": error.hint}
        body = json.dumps({"worker": os.getpid(), **answer}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, listening: socket.socket, box: Toolbox) -> None:
        super().__init__(listening.getsockname(), Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.box = box


def work(listening: socket.socket, box: Toolbox) -> None:
    server = Server(listening, box)
    # The thread that serves is the one that is interrupted: another one has to tell it.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()
    server.server_close()


def main(place: str, isolation: str, store: str) -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    # Both workers wait for the same connection, and one of them gets it.
    listening.setblocking(False)
    workers: set[int] = set()
    is_ending = False

    def end(*_: object) -> None:
        nonlocal is_ending
        is_ending = True
        for pid in workers:
            os.kill(pid, signal.SIGTERM)

    with contextlib.ExitStack() as stack:
        box = None if place == "worker" else stack.enter_context(Toolbox(store, isolation=isolation))
        if box is not None:
            box.run("twice", {"n": 1})
        signal.signal(signal.SIGTERM, end)
        print(listening.getsockname()[1], flush=True)
        while not is_ending or workers:
            while len(workers) < WORKERS and not is_ending:
                # A signal finds all workers there, or none of this round.
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
                pid = os.fork()
                if pid != 0:
                    workers.add(pid)
                else:
                    signal.signal(signal.SIGTERM, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
                if pid != 0:
                    continue
                if place == "master":
                    work(listening, box)
                else:
                    with Toolbox(store, isolation=isolation) as own:
                        work(listening, own)
                # Past all that is open in the master, and through the end of the interpreter.
                sys.exit(0)
            workers.discard(os.wait()[0])
        if box is not None:
            print(box.run("twice", {"n": 21}).value, flush=True)


main(*sys.argv[1:])
