"""Small films and sounds, made by ffmpeg: a moving picture with a tone, in the forms in which websites publish them."""

import subprocess

SECONDS = 6
# Height -> size
SIZES = {180: "320x180", 360: "640x360", 720: "1280x720"}
SUBTITLES = {
    "en": "WEBVTT\n\n00:00:00.000 --> 00:00:03.000\nThe ferry leaves the lighthouse quay\n\n"
    "00:00:03.000 --> 00:00:06.000\nand nobbles every heron\n",
    "ja": "WEBVTT\n\n00:00:00.000 --> 00:00:03.000\n灯台の波止場を出る渡し船\n\n00:00:03.000 --> 00:00:06.000\n青鷺を驚かす\n",
}
PICTURE = ["-f", "lavfi", "-i", f"testsrc2=size={SIZES[720]}:rate=25:duration={SECONDS}"]
TONE = ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=44100:duration={SECONDS}"]
H264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "25"]


def ffmpeg(*arguments, folder):
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, arguments)], check=True, cwd=folder)


def make(folder):
    """Makes all files in a folder. Takes a few seconds."""
    for height, size in SIZES.items():
        ffmpeg(*PICTURE, *TONE, "-vf", f"scale={size}", *H264, "-c:a", "aac", "-b:a", "64k", "-movflags", "+faststart",
            f"film-{height}.mp4", folder=folder)
    ffmpeg("-i", "film-180.mp4", "-c:v", "libvpx", "-deadline", "realtime", "-b:v", "200k", "-c:a", "libopus", "-ar", "48000",
        "film.webm", folder=folder)
    ffmpeg(*TONE, "-c:a", "libmp3lame", "-b:a", "64k", "-metadata", "title=Foghorn", "sound.mp3", folder=folder)
    ffmpeg(*TONE, "-c:a", "aac", "-b:a", "64k", "sound.m4a", folder=folder)
    ffmpeg("-i", "film-180.mp4", "-frames:v", "1", "poster.jpg", folder=folder)
    make_hls(folder)
    make_dash(folder)
    for language, text in SUBTITLES.items():
        (folder / f"film.{language}.vtt").write_text(text, encoding="utf-8")


def make_hls(folder):
    lines = ["#EXTM3U", "#EXT-X-VERSION:3",
        '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="hls-en.m3u8"']
    for height, size in SIZES.items():
        ffmpeg("-i", f"film-{height}.mp4", "-c", "copy", "-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod",
            "-hls_segment_filename", f"hls-{height}-%d.ts", f"hls-{height}.m3u8", folder=folder)
        lines += [f'#EXT-X-STREAM-INF:BANDWIDTH={height * 2000},RESOLUTION={size},CODECS="avc1.42c01f,mp4a.40.2",SUBTITLES="subs"',
            f"hls-{height}.m3u8"]
    (folder / "film.m3u8").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "hls-en.m3u8").write_text(
        f"#EXTM3U\n#EXT-X-TARGETDURATION:{SECONDS}\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:{SECONDS},\nfilm.en.vtt\n#EXT-X-ENDLIST\n",
        encoding="utf-8")


def make_dash(folder):
    """Pictures and sound are separate, so that they have to be merged."""
    inputs, maps = [], []
    for number, height in enumerate(SIZES):
        inputs += ["-i", f"film-{height}.mp4"]
        maps += ["-map", f"{number}:v"]
    ffmpeg(*inputs, *maps, "-map", "0:a", "-c", "copy", "-f", "dash", "-seg_duration", "1", "-use_template", "1", "-use_timeline", "1",
        "-init_seg_name", "dash-init-$RepresentationID$.m4s", "-media_seg_name", "dash-$RepresentationID$-$Number$.m4s",
        "-adaptation_sets", "id=0,streams=v id=1,streams=a", "film.mpd", folder=folder)


# A film in three colours, a minute each, with noise, so that it doesn't shrink to nothing
LONG_SECONDS = 180
COLOURS = ["red", "lime", "blue"]
LONG_SUBTITLES = "WEBVTT\n\n" + "".join(
    f"00:0{minute}:00.000 --> 00:0{minute}:59.000\nMinute {minute + 1} of the ferry\n\n" for minute in range(3))


def make_long(folder):
    """Makes long.mp4 (H.264 and AAC, about 20 MB) with subtitles, and long.mp3. Takes about ten seconds."""
    minute = LONG_SECONDS // len(COLOURS)
    sources = [part for colour in COLOURS for part in ("-f", "lavfi", "-i", f"color={colour}:size={SIZES[180]}:rate=25:duration={minute}")]
    tone = ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=44100:duration={LONG_SECONDS}"]
    ffmpeg(*sources, *tone, "-filter_complex", "[0:v][1:v][2:v]concat=n=3,noise=alls=20:allf=t", *H264, "-b:v", "800k", "-c:a", "aac",
        "-b:a", "64k", "-movflags", "+faststart", "long.mp4", folder=folder)
    ffmpeg("-i", "long.mp4", "-vn", "-c:a", "libmp3lame", "-b:a", "64k", "-metadata", "title=Long foghorn", "long.mp3", folder=folder)
    (folder / "long.en.vtt").write_text(LONG_SUBTITLES, encoding="utf-8")
