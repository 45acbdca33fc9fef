"""Draws the images of the sample site with Chromium, and its film with Chromium and ffmpeg."""

import base64
import math
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

SECONDS, RATE = 6, 15


def wave(level, height, phase, colour):
    points = [(x, level + height * math.sin(x / 70 + phase) + height / 3 * math.sin(x / 23 - 2 * phase)) for x in range(0, 641, 8)]
    line = " ".join(f"L{x} {y:.1f}" for x, y in points)
    return f'<path d="M0 360 {line} L640 360z" fill="{colour}"/>'


def film_frame(part):
    """Returns the frame at `part` (0 to 1) of the film: the moon and the tide rise."""
    turn = 2 * math.pi * part
    moon = 170 - 110 * part
    level = 230 - 60 * part
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" width="640" height="360">
<rect width="640" height="360" fill="#16324a"/><circle cx="430" cy="{moon:.1f}" r="42" fill="#f6e7cb"/>
{wave(level, 9, turn * 2, "#1d5a72")}{wave(level + 34, 12, -turn * 3 + 1, "#17738a")}
{wave(level + 80, 14, turn * 4 + 2, "#3a98a3")}<path d="M0 360L0 330C180 318 420 345 640 322L640 360z" fill="#d9c08c"/></svg>"""


def shore():
    rocks = "".join(
        f'<ellipse cx="{x}" cy="{y}" rx="{rx}" ry="{ry}" fill="{colour}"/>'
        for x, y, rx, ry, colour in [
            (120, 330, 190, 70, "#5a5249"), (420, 370, 260, 80, "#6b6459"), (760, 340, 250, 80, "#4c463f"),
            (130, 320, 90, 24, "#4fa3ad"), (430, 355, 130, 28, "#66b5bb"), (770, 325, 110, 25, "#4fa3ad"),
            (150, 318, 30, 5, "#d7eef0"), (470, 350, 40, 6, "#d7eef0"), (800, 320, 34, 5, "#d7eef0"),
        ]
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 400" width="960" height="400">
<defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="#8fc1d4"/><stop offset="1" stop-color="#fbe9d0"/></linearGradient></defs>
<rect width="960" height="400" fill="url(#sky)"/><circle cx="700" cy="130" r="46" fill="#fff6df"/>
<path d="M0 190C120 150 220 150 330 190z" fill="#7b8f86"/><rect y="188" width="960" height="90" fill="#2d7f94"/>
<g stroke="#bfe0e2" stroke-width="3" fill="none"><path d="M0 215q40-10 80 0t80 0 80 0 80 0 80 0 80 0 80 0 80 0 80 0 80 0 80 0 80 0"/>
<path d="M-30 240q40-10 80 0t80 0 80 0 80 0 80 0 80 0 80 0 80 0 80 0 80 0 80 0 80 0 80 0"/></g>
<rect y="268" width="960" height="140" fill="#d9c08c"/>{rocks}</svg>"""


def ico(png):
    """Returns an icon file with one PNG image of 32 by 32 pixels."""
    return struct.pack("<HHHBBBBHHII", 0, 1, 1, 32, 32, 0, 0, 1, 32, len(png), 22) + png


def main():
    media = Path(sys.argv[1])
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()

        def draw(svg, width, height, **options):
            page.set_viewport_size({"width": width, "height": height})
            source = base64.b64encode(svg.encode()).decode()
            page.set_content(f'<style>*{{margin:0}}img{{width:100vw;height:100vh;display:block}}</style><img src="data:image/svg+xml;base64,{source}">')
            page.wait_for_function("document.images[0].complete")
            return page.screenshot(**options)

        (media / "shore.jpg").write_bytes(draw(shore(), 960, 400, type="jpeg", quality=80))
        (media / "waves.jpg").write_bytes(draw(film_frame(0), 640, 360, type="jpeg", quality=75))
        (media / "anemone.png").write_bytes(draw((media / "anemone.svg").read_text(), 640, 440, omit_background=True))
        shell = (media.parent / "guide" / "shell.svg").read_text()
        (media / "favicon.ico").write_bytes(ico(draw(shell, 32, 32, omit_background=True)))
        frames = SECONDS * RATE
        for number in range(frames):
            (Path(folder) / f"{number:04}.png").write_bytes(draw(film_frame(number / frames), 640, 360))
        subprocess.run(
            ["ffmpeg", "-y", "-loglevel", "error", "-framerate", str(RATE), "-i", f"{folder}/%04d.png", "-c:v", "libvpx-vp9",
             "-b:v", "180k", "-g", str(RATE), "-pix_fmt", "yuv420p", "-row-mt", "0", "-threads", "1", "-fflags", "+bitexact",
             "-flags:v", "+bitexact", str(media / "waves.webm")],
            check=True,
        )
        browser.close()


main()
