#!/usr/bin/env bash
# stage.sh BINARY FOLDER [CAPTURE]: copies all files of an installation to FOLDER, with the install.sh that installs them. CAPTURE is the
# replayhost-capture to include.
set -euo pipefail
umask 022
readonly binary=$1 folder=$2 capture=${3:-}
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$checkout"

fail() {
    printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
    exit 1
}
[ -x "$binary" ] || fail "can't find $binary" "run \`make build\`"
for file in sw.js engine.json NOTICE.txt; do
    [ -f www/vendor/$file ] || fail "the replay engine is incomplete: can't find www/vendor/$file" "run \`make setup\`"
done
[ ! -d www/bundle ] || [ -z "$(find www/app www/index.html -type f -newer www/bundle/index.html -print -quit)" ] ||
    fail "www/bundle is older than the app" "run \`Scripts/bundle\`"
command -v python3 >/dev/null || fail "can't find python3, which writes the manual page" "install Python 3.9 or newer"

# put FILE PLACE [MODE]
put() { install -D -m "${3:-644}" "$1" "$folder/$2"; }

while IFS= read -r file; do put "$file" "share/replayhost/$file"; done \
    < <(find www -type f ! -path 'www/*/.*' ! -path 'www/.*' | LC_ALL=C sort)

mkdir -p "$folder"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,man/man1}
version=$("$binary" --version | sed -n '1s/replayhost //p')
# The date of the commit, so that builds are reproducible; empty outside of a clone.
date=$(git log -1 --format=%cs 2>/dev/null) || date=

# put_program BINARY NAME: with its completions and its manual page.
put_program() {
    local program=$folder/bin/$2
    put "$1" "bin/$2" 755
    "$program" --generate-completion-script bash | sed '1{/^#!/d}' >"$folder/share/bash-completion/completions/$2"
    "$program" --generate-completion-script zsh >"$folder/share/zsh/site-functions/_$2"
    "$program" --generate-completion-script fish >"$folder/share/fish/vendor_completions.d/$2.fish"
    "$program" --experimental-dump-help |
        python3 Scripts/lib/make-manual.py "$version" "$date" "Packaging/$2.roff" >"$folder/share/man/man1/$2.1"
}

put_program "$binary" replayhost
if [ -n "$capture" ]; then
    put_program "$capture" replayhost-capture
    put Packaging/replayhost-capture.service share/systemd/user/replayhost-capture.service
    put Packaging/capture-requirements.txt share/replayhost/capture-requirements.txt
    put Packaging/apparmor/replayhost-bwrap share/replayhost/apparmor/replayhost-bwrap
fi

put Packaging/replayhost.desktop share/applications/replayhost.desktop
put Packaging/replayhost.metainfo.xml share/metainfo/org.replayhost.replayhost.metainfo.xml
sed -i -e "s|@VERSION@|$version|" -e "s| date=\"@DATE@\"|${date:+ date=\"$date\"}|" \
    "$folder/share/metainfo/org.replayhost.replayhost.metainfo.xml"
put Packaging/replayhost.xml share/mime/packages/replayhost.xml
put www/app/icon.svg share/icons/hicolor/scalable/apps/replayhost.svg
put Packaging/replayhost.socket share/systemd/user/replayhost.socket
put Packaging/replayhost.service share/systemd/user/replayhost.service
for file in LICENSE NOTICE *.md docs/*.md docs/images/*; do put "$file" "share/doc/replayhost/$file"; done
# The evidence report says that it's there.
put Scripts/check-evidence share/doc/replayhost/Scripts/check-evidence
put Packaging/licences/AGPL-3.0.txt share/doc/replayhost/licences/AGPL-3.0.txt
put Packaging/install.sh install.sh 755
