"""An object store for tests: moto's S3 on a port of the loopback that the system chooses, which it prints.

    server.py FOLDER

Requests are noted in FOLDER/requests, one `METHOD /path STATUS` a line. A bucket named `denied` refuses everything. While the file
FOLDER/hold exists, PUTs whose path ends with what it says wait, and are answered as if the store could not be reached when it is gone.
It ends with its standard input, which is that of the tests."""

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

    def note(self, environ, status):
        with self.lock, open(os.path.join(FOLDER, "requests"), "a") as requests:
            print(environ["REQUEST_METHOD"], environ["PATH_INFO"], status.split()[0], file=requests)

    def held(self, environ):
        try:
            with open(os.path.join(FOLDER, "hold")) as hold:
                return environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"].endswith(hold.read().strip())
        except FileNotFoundError:
            return False

    def __call__(self, environ, start_response):
        def start(status, headers, *rest):
            self.note(environ, status)
            return start_response(status, headers, *rest)

        if environ["PATH_INFO"].startswith("/denied"):
            start("403 Forbidden", [("Content-Type", "application/xml"), ("Content-Length", str(len(DENIED)))])
            return [DENIED]
        if self.held(environ):
            self.note(environ, "held")
            while self.held(environ):
                time.sleep(0.01)
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
