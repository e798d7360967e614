"""An object store for tests: moto's S3 on a port of the loopback that the system chooses, which it prints.

    server.py FOLDER

Requests are noted in FOLDER/requests, one `METHOD /path STATUS` a line. A bucket named `denied` refuses everything. The file FOLDER/hold
says `NUMBER pass METHOD /path` or `NUMBER refuse METHOD /path`: the first such request waits until the file is gone, and is answered or
refused then. The server ends with its standard input, which is that of the tests."""

import os
import sys
import threading
import time

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

FOLDER = sys.argv[1]
DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"


class Store:
    def __init__(self):
        self.moto = DomainDispatcherApplication(create_backend_app)
        self.lock = threading.Lock()
        self.held = None

    def note(self, environ, status):
        with self.lock, open(os.path.join(FOLDER, "requests"), "a") as requests:
            print(environ["REQUEST_METHOD"], environ["PATH_INFO"], status.split()[0], file=requests)

    def hold(self):
        try:
            with open(os.path.join(FOLDER, "hold")) as hold:
                return hold.read()
        except FileNotFoundError:
            return None

    def must_wait(self, environ):
        """The hold that a request is the first to match."""
        hold = self.hold()
        with self.lock:
            if hold is None or hold == self.held:
                return None
            if hold.split(maxsplit=3)[2:] != [environ["REQUEST_METHOD"], environ["PATH_INFO"]]:
                return None
            self.held = hold
            return hold

    def __call__(self, environ, start_response):
        def start(status, headers, *rest):
            self.note(environ, status)
            return start_response(status, headers, *rest)

        hold = self.must_wait(environ)
        if hold is not None:
            self.note(environ, "held")
            while self.hold() == hold:
                time.sleep(0.01)
        if environ["PATH_INFO"].startswith("/denied") or (hold is not None and hold.split()[1] == "refuse"):
            start("403 Forbidden", [("Content-Type", "application/xml"), ("Content-Length", str(len(DENIED)))])
            return [DENIED]
        return self.moto(environ, start)


class Quiet(WSGIRequestHandler):
    def log(self, *_):
        pass


server = make_server("127.0.0.1", 0, Store(), threaded=True, request_handler=Quiet)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print(server.server_port, flush=True)
server.serve_forever()
