"""Another website on this computer, without a content security policy."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .host import Server

EMPTY = {}, b"<!doctype html><title>Another site</title><link rel=icon href=data:,><p>Another site"


class WebSite:
    """Serves pages until `close()`: `answer` returns a capture as `write_captures` takes it, with its body, for a path; `None` for 404."""

    def __init__(self, answer=lambda path: EMPTY):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                answered = answer(self.path)
                if answered is None:
                    return self.send_error(404)
                capture, body = answered
                self.send_response(capture.get("status", 200))
                fields = [("Content-Type", capture.get("type", "text/html; charset=utf-8")), *capture.get("fields", [])]
                fields += [("Location", capture["location"])] if "location" in capture else []
                for name, value in [*fields, ("Content-Length", str(len(body)))]:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        # A server of an earlier test may have had it: then errors of these pages would count as those of the app.
        Server.ports.discard(self.port)
        self.address = f"http://localhost:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
