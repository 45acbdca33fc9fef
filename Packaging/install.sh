#!/bin/sh
# Puts replayhost from this folder to where programs belong: PREFIX (/usr/local), below DESTDIR when that is set.
#
#   ./install.sh                    for everybody on this computer, as root
#   PREFIX=~/.local ./install.sh    for this user alone
#   ./install.sh --uninstall        takes away what it put there, with the same PREFIX and DESTDIR
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
    *) fail "PREFIX \"$prefix\" is no absolute path" "PREFIX=/usr/local, or PREFIX=\$HOME/.local" ;;
esac
# It goes into units and desktop files, which would each need it quoted in a way of their own.
case $prefix in
    *[!A-Za-z0-9/._+~-]*) fail "PREFIX \"$prefix\" has characters other than letters, digits and / . _ + ~ -" "choose another folder" ;;
esac
prefix=${prefix%/}
target=$destination$prefix
list=share/replayhost/installed-files.txt

# What desktops know of types and programs is read from caches. Another system's are none of our business.
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
    "$@" || echo "note: \"$*\" failed; desktops may notice the change later" >&2
}

# Deletes the files that a list names, and what is empty then of the folders that are replayhost's own.
delete() {
    while IFS= read -r name; do
        case /$name/ in
            */../* | //*) fail "\"$name\" in $target/$list leads out of $target" "delete by hand what you want to be rid of" ;;
        esac
        rm -f "$target/$name"
        folder=$(dirname "$name")
        while rmdir "$target/$(own "$folder")" 2>/dev/null; do folder=$(dirname "$folder"); done
    done
}

# The folder when it is replayhost's own, else a name that no folder has.
own() {
    case $1/ in
        share/replayhost/* | lib/replayhost/* | share/doc/replayhost/*) printf '%s' "$1" ;;
        *) printf '.none' ;;
    esac
}

case ${1:-} in
    '') ;;
    --uninstall)
        [ -f "$target/$list" ] || fail "no replayhost was installed in $target" "give the same PREFIX and DESTDIR as then"
        names=$(cat "$target/$list")
        printf '%s\n' "$names" | delete
        refresh_caches
        echo "removed replayhost from $target; archives and settings of its users stay"
        exit
        ;;
    *) fail "unknown argument \"$1\"" "install.sh [--uninstall]" ;;
esac

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ -x "$here/bin/replayhost" ] || fail "$here holds no bin/replayhost" "call install.sh in the unpacked folder"
# On the desktop's PATH are these two; elsewhere the whole path has to be said.
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
    # Beside it, then a rename: a program that runs keeps its own file.
    install -m $mode "$source" "$target/$name.new"
    mv -f "$target/$name.new" "$target/$name"
done <"$work/names"
echo "$list" >>"$work/names"
# What an earlier version had, and this one has not.
printf '%s\n' "$before" | while IFS= read -r name; do
    [ -z "$name" ] || grep -qxF -- "$name" "$work/names" || printf '%s\n' "$name"
done >"$work/obsolete"
delete <"$work/obsolete"
install -m 644 "$work/names" "$target/$list"
refresh_caches

echo "installed replayhost in $target"
if [ -z "$destination" ]; then
    case :$PATH: in
        *:$prefix/bin:*) echo "try: replayhost open FILE.wacz" ;;
        *) echo "try: $prefix/bin/replayhost open FILE.wacz ($prefix/bin is not on your PATH)" ;;
    esac
fi
