#!/bin/sh
# Installs replayhost from this folder to PREFIX (default: /usr/local), below DESTDIR if set.
#
#   ./install.sh                    installs for all users, as root
#   PREFIX=~/.local ./install.sh    installs for this user only
#   ./install.sh --uninstall        removes what it installed; use the same PREFIX and DESTDIR
set -eu
umask 022

fail() {
    printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
    exit 1
}

prefix=${PREFIX:-/usr/local}
destination=${DESTDIR:-}
case $prefix in
    /*) ;;
    *) fail "PREFIX \"$prefix\" isn't an absolute path" "use PREFIX=/usr/local or PREFIX=\$HOME/.local" ;;
esac
# The prefix is written into units and desktop files, which have different rules for quoting.
case $prefix in
    *[!A-Za-z0-9/._+~-]*) fail "PREFIX \"$prefix\" has characters other than letters, digits and / . _ + ~ -" "choose another folder" ;;
esac
prefix=${prefix%/}
target=$destination$prefix
list=share/replayhost/installed-files.txt

# Updates the desktop's caches of file types and programs. With DESTDIR, this system's caches aren't affected.
refresh_caches() {
    [ -z "$destination" ] || return 0
    refresh update-mime-database "$target/share/mime"
    refresh update-desktop-database "$target/share/applications"
    if [ -e "$target/share/icons/hicolor/icon-theme.cache" ]; then
        refresh gtk-update-icon-cache -q -f "$target/share/icons/hicolor"
    fi
}

refresh() {
    for place do :; done
    [ -d "$place" ] && command -v "$1" >/dev/null || return 0
    "$@" || echo "note: \"$*\" failed; the desktop may show the change later" >&2
}

# Deletes the listed files, and then replayhost's own folders that are empty.
delete() {
    while IFS= read -r name; do
        case /$name/ in
            */../* | //*) fail "\"$name\" in $target/$list is outside of $target" "delete the installed files by hand" ;;
        esac
        rm -f "$target/$name"
        folder=$(dirname "$name")
        while rmdir "$target/$(own "$folder")" 2>/dev/null; do folder=$(dirname "$folder"); done
    done
}

# Prints the folder if it belongs to replayhost, else a name that doesn't exist.
own() {
    case $1/ in
        share/replayhost/* | lib/replayhost/* | share/doc/replayhost/*) printf '%s' "$1" ;;
        *) printf '.none' ;;
    esac
}

case ${1:-} in
    '') ;;
    --uninstall)
        [ -f "$target/$list" ] || fail "replayhost isn't installed in $target" "use the PREFIX and DESTDIR of the installation"
        names=$(cat "$target/$list")
        printf '%s\n' "$names" | delete
        refresh_caches
        echo "removed replayhost from $target; your archives and settings are kept"
        exit
        ;;
    *) fail "unknown argument \"$1\"" "usage: install.sh [--uninstall]" ;;
esac

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ -x "$here/bin/replayhost" ] || fail "no bin/replayhost in $here" "run install.sh in the unpacked folder"
# The desktop's PATH contains these two; other prefixes need the whole path.
case $prefix in
    /usr | /usr/local) command=replayhost ;;
    *) command=$prefix/bin/replayhost ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
before=
[ ! -f "$target/$list" ] || before=$(cat "$target/$list")

(cd "$here" && find bin lib share -type f -o -type l 2>/dev/null) | LC_ALL=C sort >"$work/names"
while IFS= read -r name; do
    case $name in
        bin/* | *.so | *.so.*) mode=755 ;;
        *) mode=644 ;;
    esac
    source=$here/$name
    case $name in
        share/applications/* | share/systemd/*)
            sed -e "s|@PREFIX@|$prefix|g" -e "s|@COMMAND@|$command|g" "$source" >"$work/filled"
            source=$work/filled
            ;;
    esac
    mkdir -p "$target/$(dirname "$name")"
    # Written beside the old file, then renamed, so that a running program keeps its file.
    install -m $mode "$source" "$target/$name.new"
    mv -f "$target/$name.new" "$target/$name"
done <"$work/names"
echo "$list" >>"$work/names"
# Files of an earlier version that this one no longer has.
printf '%s\n' "$before" | while IFS= read -r name; do
    [ -z "$name" ] || grep -qxF -- "$name" "$work/names" || printf '%s\n' "$name"
done >"$work/obsolete"
delete <"$work/obsolete"
install -m 644 "$work/names" "$target/$list"
refresh_caches

echo "installed replayhost in $target"
if [ -z "$destination" ]; then
    case :$PATH: in
        *:$prefix/bin:*) echo "next: replayhost open FILE.wacz" ;;
        *) echo "next: $prefix/bin/replayhost open FILE.wacz ($prefix/bin isn't on your PATH)" ;;
    esac
fi
