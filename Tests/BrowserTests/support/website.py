"""Another website on this computer: an empty page without a content security policy."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Page(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>Another site</title><link rel=icon href=data:,><p>Another site"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class WebSite:
    """Serves that page at every path until `close()`."""

    def __init__(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
