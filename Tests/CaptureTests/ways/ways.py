"""The ways out that are tried: who tries, how, and where it would arrive."""

from dataclasses import dataclass

from network import HOME_IPV6, LAN, LAN_IPV6, METADATA, OWN, PUBLIC, SITE, TRANSLATOR, UNREACHABLE

# The port of the capture server, which runs in a namespace of its own.
SERVER_PORT = 58443
VIRTUAL_PORT = 58444
HOST = "evil.example"
FFMPEG = ["ffmpeg", "-nostdin", "-loglevel", "error", "-rw_timeout", "3000000"]


@dataclass
class Way:
    name: str
    # Who tries: a page, the page itself ("top"), the browser, curl, yt-dlp, a tool that was taken over, or two requests.
    by: str
    kind: str
    # What it's given. `{secret}` is the path of a file that only this way leads to.
    url: str
    # Where it would arrive: a namespace; "file" or "socket" of this computer; "note" if the tool's result shows it.
    place: str
    address: str | None
    port: int | None = None
    protocol: str | None = None
    # The word of the way, if others lead to the same address: only packets with this word count.
    word: str | None = None
    # For tools that were taken over: a command, or a request to the guard.
    command: list | None = None
    text: str | None = None

    def packets(self, network):
        if self.word:
            return network.heard(self.place, self.word, self.address, self.port)
        return network.packets(self.place, self.address, self.port, self.protocol)


WAYS = {}
# Name -> addresses, as in hosts(5). The guard and, in control runs, the name server know them.
NAMES = {HOST: [SITE], "ipv4only.arpa": [f"{TRANSLATOR}c000:aa"]}


def lan():
    """An address that only one way has. The same for `public`."""
    return f"{LAN}{len(WAYS) + 10}"


def public_address():
    return f"{PUBLIC}{len(WAYS) + 1}"


def add(name, by, kind=None, url="http://{address}/", place="lan", address=None, **more):
    """Adds a way, by default to an address of its own in the local network."""
    address = address or lan()
    url = url.replace("{address}", f"[{address}]" if ":" in address else address)
    if url.startswith(("http", "ws", "ftp")) and url.endswith("/"):
        url += f"way-{name}"
    WAYS[name] = Way(name, by, kind or name, url, place, address, **more)
    return WAYS[name]


def shared(name, by, kind, url, place, address=None, port=80, **more):
    """A way to an address to which others lead, too."""
    way = add(name, by, kind, url, place, address or "-", port=port, **more)
    way.address, way.word = address, way.word or name
    return way


def public(name, by, kind, url, port, **more):
    """A way to a host of the internet that isn't allowed, or past the guard."""
    return add(name, by, kind, url, "public", public_address(), port=port, **more)


def home_ipv6():
    """An address in the home's prefix that only one way has. The same for `translated`: a private IPv4 address."""
    return f"{HOME_IPV6}1:{len(WAYS) + 1:x}"


def translated():
    return f"{TRANSLATOR}a01:{len(WAYS) + 1:x}"


def loopback(name, by, host, kind="fetch", port=80, scheme="http"):
    """A way to the computer itself, whatever address it turns out to be."""
    return shared(name, by, kind, f"{scheme}://{host}{'' if port == 80 else f':{port}'}/", "server", port=port)


def named(name, by, kind, scheme="http", addresses=None, **more):
    """A way by a name that only it has."""
    way = add(name, by, kind, f"{scheme}://way-{name}.example/", **more)
    NAMES[f"way-{name}.example"] = addresses or [way.address]
    return way


def question(name, by, kind, url="http://{host}/"):
    """A way that ends at a name server: a question is enough to tell something."""
    NAMES[f"way-{name}.example"] = [SITE]
    return shared(name, by, kind, url.replace("{host}", f"way-{name}.example"), "public", port=53)


def spellings(address):
    """Other ways to write an IPv4 address."""
    parts = [int(part) for part in address.split(".")]
    whole = int.from_bytes(bytes(parts))
    return {
        "decimal": str(whole), "hex": hex(whole), "octal": ".".join(f"0{part:o}" for part in parts),
        "short": f"{parts[0]}.{parts[1]}.{parts[3]}", "dot": f"{address}.", "mapped": f"[::ffff:{address}]",
        "translated": f"[64:ff9b::{whole >> 16:x}:{whole & 0xFFFF:x}]"}


def written(name, by, kind, form):
    way = add(name, by, kind, port=80)
    host = spellings(way.address)[form]
    way.url = f"http://{host}/way-{name}"
    if form == "translated":
        way.address = host[1:-1]


# A page: requests into the local network
for name in [
        "fetch", "request", "image", "script", "style-sheet", "css-import", "css-background", "font", "frame", "object", "embed",
        "video", "audio", "svg-image", "web-socket", "event-source", "preconnect", "preload", "prefetch", "module-preload",
        "link-header", "favicon", "worker", "worker-import", "shared-worker", "beacon", "keep-alive", "ping", "policy-report",
        "window", "download", "redirect-301", "redirect-307", "redirect-frame", "meta-refresh", "location",
        "form-get", "form-post"]:
    add(name, "page", url="ws://{address}/" if name == "web-socket" else "http://{address}/")
# Other addresses, other spellings and other ports
loopback("loopback", "page", "127.0.0.1")
loopback("loopback-other", "page", "127.0.0.77")
loopback("loopback-frame", "page", "127.0.0.1", "frame")
loopback("loopback-socket", "page", "127.0.0.1", "web-socket", scheme="ws")
loopback("loopback-decimal", "page", "2130706433")
loopback("loopback-octal", "page", "0177.0.0.1")
loopback("loopback-name", "page", "localhost")
loopback("loopback-below", "page", "a.localhost")
loopback("loopback-ipv6", "page", "[::1]")
loopback("zero", "page", "0.0.0.0")
loopback("zero-ipv6", "page", "[::]")
loopback("own-address", "page", OWN)
loopback("server-port", "page", "127.0.0.1", port=SERVER_PORT)
loopback("server-port-name", "page", "localhost", port=SERVER_PORT)
loopback("server-port-frame", "page", "127.0.0.1", "frame", port=SERVER_PORT)
shared("metadata", "page", "fetch", f"http://{METADATA}/", "metadata")
shared("metadata-frame", "page", "frame", f"http://{METADATA}/", "metadata")
for form in ("decimal", "hex", "octal", "short", "mapped", "translated", "dot"):
    written(f"written-{form}", "page", "fetch", form)
add("unique-local", "page", "fetch", address=f"{LAN_IPV6}1:1")
for port in (22, 8080, SERVER_PORT):
    add(f"local-port-{port}", "page", "fetch", f"http://{{address}}:{port}/", port=port)
for port in (22, 8080):
    public(f"public-port-{port}", "page", "fetch", f"http://{{address}}:{port}/", port)
public("public-socket-8080", "page", "web-socket", "ws://{address}:8080/", 8080)
# Names
named("name-private", "page", "fetch")
named("name-private-dot", "page", "fetch").url = "http://way-name-private-dot.example./way-name-private-dot"
NAMES["way-name-both.example"] = [UNREACHABLE, named("name-both", "page", "fetch").address]
NAMES["way-name-loopback.example"] = ["127.0.0.1"]
shared("name-loopback", "page", "fetch", "http://way-name-loopback.example/", "server")
NAMES["way-name-metadata.example"] = [METADATA]
shared("name-metadata", "page", "fetch", "http://way-name-metadata.example/", "metadata")
question("dns-prefetch", "page", "dns-prefetch")
question("dns-fetch", "page", "fetch")
question("dns-preconnect", "page", "preconnect")
# Devices in the home have public IPv6 addresses. So have those that the network's translator makes.
for kind in ("fetch", "image", "script", "style-sheet", "frame", "web-socket", "redirect-301", "form-post"):
    add(f"home-{kind}", "page", kind, "ws://{address}/" if kind == "web-socket" else "http://{address}/", address=home_ipv6())
loopback("home-own-address", "page", f"[{HOME_IPV6}1]")
add("home-router", "page", "fetch", address=f"{HOME_IPV6}1:0")
way = add("home-long", "page", "fetch", address=home_ipv6())
way.url = f"http://[2606:2800:0220:0001:0000:0000:0001:{int(way.address.rpartition(':')[2], 16):04X}]/way-home-long"
named("home-name", "page", "fetch", addresses=[address := home_ipv6()], address=address)
NAMES["way-home-name-both.example"] = [UNREACHABLE, named("home-name-both", "page", "fetch", address=home_ipv6()).address]
add("translator", "page", "fetch", address=translated())
add("translator-image", "page", "image", address=translated())
named("translator-name", "page", "fetch", addresses=[address := translated()], address=address)
# WebRTC, WebTransport and HTTP/3
public("stun", "page", "gather", "stun:{address}:3478", 3478)
public("turn-udp", "page", "gather", "turn:{address}:3478?transport=udp", 3478)
public("turn-tcp", "page", "gather", "turn:{address}:3478?transport=tcp", 3478)
public("turns-tcp", "page", "gather", "turns:{address}:5349?transport=tcp", 5349)
add("stun-local", "page", "gather", "stun:{address}:3478", port=3478)
question("stun-name", "page", "gather", "stun:{host}:3478")
add("peer", "page", "peer", "{address}", port=40000)
add("multicast-name", "page", "gather-nothing", "", "public", "224.0.0.251", port=5353)
add("secure-fetch", "secure page", "fetch", "https://{address}/")
add("secure-frame", "secure page", "frame", "https://{address}/")
add("speculation", "secure page", "speculation", "https://{address}/")
add("service-worker", "secure page", "service-worker", "https://{address}/")
public("web-transport", "secure page", "web-transport", "https://{address}:443/", 443)
add("web-transport-local", "secure page", "web-transport", "https://{address}:443/", port=443)
# The site itself is reached by TCP.
named("alt-svc", "secure page", "repeat", "https", place="public", address=public_address(), port=443, protocol="UDP")
named("alt-svc-other", "secure page", "repeat", "https", [SITE], port=443, protocol="UDP")
# These would be no packets.
add("file-frame", "page", "frame-of", "file://{secret}", "file", "secret")
add("chrome-frame", "page", "frame-of", "chrome://net-export")

# The page itself leaves.
for name, path in {"top-301": "redirect", "top-307": "redirect", "top-meta": "frame/meta", "top-location": "frame/location",
        "top-form": "frame/post"}.items():
    add(name, "top", path)

# What a browser asks for by itself
shared("proxy-discovery", "browser", "", "", "public", port=53, word="wpad")
shared("browser-services", "browser", "", "", "public", port=53, word="google")

# The URL of a document redirects; curl follows.
add("curl-redirect", "curl")
loopback("curl-loopback", "curl", "127.0.0.1")
loopback("curl-loopback-ipv6", "curl", "[::1]")
loopback("curl-loopback-name", "curl", "localhost")
loopback("curl-zero", "curl", "0.0.0.0")
loopback("curl-own-address", "curl", OWN)
loopback("curl-server-port", "curl", "localhost", port=SERVER_PORT)
shared("curl-metadata", "curl", "", f"http://{METADATA}/", "metadata")
add("curl-local-port-22", "curl", url="http://{address}:22/", port=22)
public("curl-public-port-22", "curl", "", "http://{address}:22/", 22)
for form in ("decimal", "octal", "mapped", "translated"):
    written(f"curl-{form}", "curl", "", form)
named("curl-name", "curl", "")
NAMES["way-curl-name-both.example"] = [UNREACHABLE, named("curl-name-both", "curl", "").address]
add("curl-home", "curl", address=home_ipv6())
named("curl-home-name", "curl", "", addresses=[address := home_ipv6()], address=address)
add("curl-translator", "curl", address=translated())
add("curl-ftp", "curl", url="ftp://{address}/")
add("curl-gopher", "curl", url="gopher://{address}:80/x")
add("curl-file", "curl", "", "file://{secret}", "file", "secret")

# A URL for yt-dlp, which gives some to ffmpeg; ffprobe reads what comes of it.
for name in ("hls-segment", "hls-key", "hls-variant", "hls-ffmpeg", "dash-segment", "video-redirect", "video-element", "subtitles",
        "poster", "disguised"):
    add(f"media-{name}", "yt-dlp", name)
add("media-home", "yt-dlp", "hls-segment", address=home_ipv6())
add("media-ffmpeg-home", "yt-dlp", "hls-ffmpeg", address=home_ipv6())
add("media-ftp", "yt-dlp", "video-element", "ftp://{address}/")
loopback("media-loopback", "yt-dlp", "127.0.0.1", "hls-segment")
shared("media-metadata", "yt-dlp", "hls-segment", f"http://{METADATA}/", "metadata")
loopback("media-ffmpeg-loopback", "yt-dlp", "127.0.0.1", "hls-ffmpeg")
shared("media-ffmpeg-metadata", "yt-dlp", "hls-ffmpeg", f"http://{METADATA}/", "metadata")
public("media-ffmpeg-port", "yt-dlp", "hls-ffmpeg", "http://{address}:8080/way-media-ffmpeg-port", 8080)
public("media-ffmpeg-rtmp", "yt-dlp", "hls-ffmpeg", "rtmp://{address}:1935/x", 1935)
add("media-file", "yt-dlp", "hls-segment", "file://{secret}", "file", "secret")
add("media-ffmpeg-file", "yt-dlp", "hls-ffmpeg", "file://{secret}", "file", "secret")
add("media-ffmpeg-concat", "yt-dlp", "hls-ffmpeg", "concat:{secret}", "file", "secret")
add("media-disguised-file", "yt-dlp", "disguised", "file://{secret}", "file", "secret")

# A tool that was taken over does what it likes.
add("tool-tcp", "tool", "tcp", port=80)
add("tool-tcp-22", "tool", "tcp", port=22)
add("tool-tcp-ipv6", "tool", "tcp", address=f"{LAN_IPV6}1:2", port=80)
for port in (80, 443, 22, 53):
    public(f"tool-public-{port}", "tool", "tcp", "", port)
add("tool-udp", "tool", "udp", port=5000)
public("tool-public-udp", "tool", "udp", "", 443)
add("tool-multicast", "tool", "udp", "", "public", "239.1.2.3", port=5002)
add("tool-ping", "tool", "tool-ping")
add("tool-raw", "tool", "tool-raw")
add("tool-frame", "tool", "tool-frame", port=5001)
shared("tool-loopback", "tool", "http", "http://127.0.0.1/", "server")
shared("tool-server-port", "tool", "http", f"http://127.0.0.1:{SERVER_PORT}/", "server", port=SERVER_PORT)
shared("tool-metadata", "tool", "http", f"http://{METADATA}/", "metadata")
question("tool-resolve", "tool", "resolve", "{host}")
add("tool-dns", "tool", "dns", "", "public", "8.8.8.8", port=53)
add("tool-without-proxy", "tool", "http")
add("tool-curl", "tool", "command", command=["curl", "-s", "--noproxy", "*", "--max-time", "3", "{url}"])
add("tool-ffmpeg", "tool", "command", command=[*FFMPEG, "-i", "{url}", "-f", "null", "-"])
public("tool-ffmpeg-rtmp", "tool", "command", "rtmp://{address}/x", 1935, command=[*FFMPEG, "-i", "{url}", "-f", "null", "-"])
add("tool-ffmpeg-udp", "tool", "command", "udp://{address}:5003", port=5003,
    command=["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=d=0.1", "-f", "mpegts", "{url}"])
for kind in ("abstract", "path", "store"):
    add(f"tool-unix-{kind}", "tool", "unix", "", "socket", kind)
# Sockets to the computer that runs a virtual machine. Nothing is sent: a port that is taken outside is taken inside too. vsock(7)
add("tool-virtual-socket", "tool", "virtual", "", "note", "Address already in use", port=VIRTUAL_PORT)
add("tool-inherited-socket", "tool", "inherited", port=5004)
add("tool-other-namespace", "tool", "namespace", port=5005)

# Requests to the guard itself. In control runs, a proxy that refuses nothing gets them.
for name, text in {
    "connect": "CONNECT {address}:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "connect-22": "CONNECT {address}:22 HTTP/1.1\r\nHost: x\r\n\r\n",
    "get": "GET http://{address}/way HTTP/1.1\r\nHost: x\r\n\r\n",
    "get-user": "GET http://evil.example@{address}/way HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "get-host": "GET http://{address}/way HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "get-second": "GET http://evil.example/other HTTP/1.1\r\nHost: evil.example\r\n\r\n"
        "GET http://{address}/way HTTP/1.1\r\nHost: {address}\r\n\r\n",
    "chunks": "POST http://evil.example/other HTTP/1.1\r\nHost: evil.example\r\nTransfer-Encoding: chunked\r\n"
        "Content-Length: 4\r\n\r\n0\r\n\r\nGET http://{address}/way HTTP/1.1\r\nHost: {address}\r\n\r\n",
    "mapped": "CONNECT [::ffff:{address}]:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "decimal": "CONNECT {decimal}:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "octal": "CONNECT {octal}:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "dot": "CONNECT {address}.:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "port-overflow": "CONNECT {address}:65616 HTTP/1.1\r\nHost: x\r\n\r\n",
    "port-zeros": "CONNECT {address}:0080 HTTP/1.1\r\nHost: x\r\n\r\n",
}.items():
    way = add(f"guard-{name}", "tool", "request", port=22 if name == "connect-22" else 80)
    way.text = text.format(address=way.address, **spellings(way.address))
for name, address in {"home": home_ipv6(), "translator": translated()}.items():
    add(f"guard-{name}", "tool", "request", address=address, port=80).text = f"CONNECT [{address}]:80 HTTP/1.1\r\nHost: x\r\n\r\n"
named("guard-name", "tool", "request", port=80).text = "CONNECT way-guard-name.example:80 HTTP/1.1\r\nHost: x\r\n\r\n"

# The address of a name changes after the first answer. For this, the guard asks the name server.
NAMES["way-rebind.example"] = [SITE, named("rebind", "two requests", "").address]
