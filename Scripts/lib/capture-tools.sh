# shellcheck shell=bash
# Shared by `setup-capture` and `test-capture`: the tools that save URLs, where replayhost-capture looks for them.

# shellcheck source=Scripts/lib/owner.sh
. Scripts/lib/owner.sh
tools=${REPLAYHOST_TOOLS:-$data_home/replayhost-tools}

# has_tool NAME: whether the tool starts.
has_tool() {
    local tool=$tools/current/bin/$1 option=--version
    [ -x "$tool" ] || tool=$1
    case $1 in ffmpeg | ffprobe) option=-version ;; esac
    "${as_owner[@]}" "$tool" $option >/dev/null 2>&1
}

# Whether there is a Chromium that isn't a snap.
has_chromium() {
    local found
    found=$(command -v "${CHROMIUM:-chromium}") && ! head -c 4096 "$(readlink -f "$found")" | grep -aq /snap/ && has_tool "$found"
}

# Prints the missing tools.
missing_tools() {
    local tool
    for tool in yt-dlp deno ffmpeg ffprobe curl; do
        has_tool "$tool" || echo "$tool"
    done
    has_chromium || echo chromium
}
