"""No tool gets around the guard: ways out, tried plainly, with walls, and with proxy settings only.

Everything happens in network namespaces that the test makes, whose only routes lead to each other (network.py). Where a way arrives
is a namespace, in which each packet is counted. A way that doesn't arrive plainly proves nothing.

As root, with the tools of `make setup-capture`: `python -m pytest -s Tests/CaptureTests/ways`
"""

import socket

import pytest
from attack_site import Site
from network import Network
from real_tools import installed_ytdlp
from runs import MODES, Runs
from support.needs import lacking
from ways import WAYS

# Written by hand: what arrives plainly, with walls, and with proxy settings only.
EXPECTED = {
    # The guard refuses it, or the tool doesn't try it with a proxy.
    ("out", "-", "-"): """
        fetch request image script style-sheet css-import css-background font frame object embed video audio svg-image web-socket
        event-source preconnect preload prefetch module-preload link-header favicon worker worker-import shared-worker beacon keep-alive
        ping policy-report download redirect-301 redirect-307 redirect-frame meta-refresh location form-get form-post

        loopback loopback-other loopback-frame loopback-socket loopback-decimal loopback-octal loopback-name loopback-below loopback-ipv6
        zero zero-ipv6 own-address server-port server-port-name server-port-frame metadata metadata-frame
        written-decimal written-hex written-octal written-short written-mapped written-translated written-dot unique-local
        local-port-8080 local-port-58443 public-port-8080 public-socket-8080
        name-private name-private-dot name-both name-loopback name-metadata dns-prefetch dns-fetch dns-preconnect

        home-fetch home-image home-script home-style-sheet home-frame home-web-socket home-redirect-301 home-form-post home-own-address
        home-router home-long home-name home-name-both translator translator-image translator-name

        stun turn-udp stun-local peer multicast-name turn-tcp turns-tcp stun-name secure-fetch secure-frame speculation service-worker web-transport web-transport-local
        alt-svc alt-svc-other top-301 top-307 top-meta top-location top-form proxy-discovery browser-services

        curl-redirect curl-loopback curl-loopback-ipv6 curl-loopback-name curl-zero curl-own-address curl-server-port curl-metadata
        curl-local-port-22 curl-public-port-22 curl-decimal curl-octal curl-mapped curl-translated curl-name curl-name-both
        curl-home curl-home-name curl-translator
        curl-ftp curl-gopher curl-file rebind

        media-hls-segment media-hls-key media-hls-variant media-hls-ffmpeg media-dash-segment media-video-redirect media-video-element
        media-home media-ffmpeg-home
        media-subtitles media-poster media-ftp media-loopback media-metadata media-ffmpeg-loopback media-ffmpeg-metadata
        media-ffmpeg-port media-disguised-file

        tool-inherited-socket
        guard-connect guard-connect-22 guard-get guard-get-user guard-get-host guard-get-second guard-chunks guard-mapped guard-decimal
        guard-home guard-translator guard-octal guard-dot guard-port-overflow guard-port-zeros guard-name""",
    # Only walls keep it in: a program that ignores its proxy.
    ("out", "-", "out"): """
        tool-tcp tool-tcp-22 tool-tcp-ipv6 tool-public-80 tool-public-443 tool-public-22 tool-public-53 tool-udp tool-public-udp
        tool-multicast tool-ping tool-raw tool-frame tool-loopback tool-server-port tool-metadata tool-resolve tool-dns
        tool-without-proxy tool-curl tool-ffmpeg tool-ffmpeg-rtmp tool-ffmpeg-udp tool-unix-abstract tool-unix-path tool-unix-store
        tool-other-namespace""",
    # Walls don't keep it in: virtual sockets don't belong to a network namespace.
    ("out", "out", "out"): "tool-virtual-socket",
    # The tool itself refuses it, also plainly. This says nothing about guard and walls.
    ("-", "-", "-"): """
        window local-port-22 public-port-22 file-frame chrome-frame
        media-disguised media-ffmpeg-rtmp media-file media-ffmpeg-file media-ffmpeg-concat""",
}
# Known, and in docs/safety.md
THROUGH_WALLS = {"tool-virtual-socket"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    if reason := lacking("network namespaces"):
        pytest.skip(reason)
    ytdlp = installed_ytdlp()
    assert ytdlp, "yt-dlp is missing; run `make setup-capture`"
    network = Network()
    try:
        site = Site(network, tmp_path_factory.mktemp("site") / "files")
        try:
            runs = Runs(network, site, ytdlp, tmp_path_factory.mktemp("logs"))
            runs.control()
            for mode in ("walls", "proxy"):
                runs.attack(mode)
            runs.close()
        finally:
            site.close()
    finally:
        network.close()
    return runs


def has_virtual_sockets():
    try:
        socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    except OSError:
        return False
    return True


def test_all_ways_were_tried(runs):
    assert runs.untried == {mode: set() for mode in MODES}


def test_nothing_gets_through_the_walls(runs):
    assert {name for name, count in runs.arrived["walls"].items() if count} <= THROUGH_WALLS
    assert runs.others["walls"] == {}


def test_nothing_else_was_sent(runs):
    """No packet that belongs to no way. The network of the machine has seen nothing."""
    assert runs.others["proxy"] == {}
    assert [key for mode in MODES for key in runs.others[mode] if key[0] == "machine"] == []


def test_what_arrives_where(runs):
    print(f"\n{'packets, connections or openings':32}{'control':>9}{'walls':>9}{'proxy':>9}")
    found = {}
    for name in WAYS:
        counts = [runs.arrived[mode][name] for mode in MODES]
        found[name] = tuple("out" if count else "-" for count in counts)
        print(f"{name:32}" + "".join(f"{count or '-':>9}" for count in counts))
    counted = [name for name, (control, *_) in found.items() if control == "out"]
    print(f"{len(counted)} ways that arrive plainly; {sum(found[name][1] == '-' for name in counted)} of them are kept in by walls, "
        f"{sum(found[name][2] == '-' for name in counted)} by proxy settings only")
    expected = {name: row for row, names in EXPECTED.items() for name in names.split()}
    if not has_virtual_sockets():
        expected["tool-virtual-socket"] = ("-", "-", "-")
    assert {name: row for name, row in found.items() if expected.get(name) != row} == {}
    assert expected.keys() == found.keys()
