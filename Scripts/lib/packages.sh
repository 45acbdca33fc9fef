# shellcheck shell=bash
# Shared by `setup`, `setup-capture` and `capture`, which define `say` and `fail`: finding and installing system packages.

has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }
is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
# Whether libqrencode is there, without which replayhost-capture can't be built.
has_qrencode() {
    if has_apt; then is_installed libqrencode-dev; else pkg-config --exists libqrencode 2>/dev/null; fi
}
python_has_pip() { command -v python3 >/dev/null && python3 -c 'import ensurepip, venv' 2>/dev/null; }

# become_root PROBLEM COMMANDS: sets as_root to what runs a command as root. Fails with the commands to run by hand.
become_root() {
    as_root=()
    [ "$(id -u)" -ne 0 ] || return 0
    command -v sudo >/dev/null || fail "$1" "run as root: ${2//sudo /}"
    sudo -n true 2>/dev/null || [ -t 0 ] || fail "$1" "run: $2"
    as_root=(sudo)
}

# install_with_apt PACKAGE...: as root, or with sudo.
install_with_apt() {
    local by_hand="sudo apt-get update && sudo apt-get install --no-install-recommends $*" as_root
    become_root "missing system packages: $*" "$by_hand"
    say "installing with apt${as_root:+ (sudo)}: $*"
    "${as_root[@]}" apt-get update -q || say "apt-get update failed; continuing with the existing package lists"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@" ||
        fail "apt couldn't install: $*" "run: $by_hand"
}

# estimate_with_apt PACKAGE...: prints how much apt would install: "12 packages, 3 MB to download, 10 MB on disk". Needs no root.
estimate_with_apt() {
    local install=(install --no-install-recommends "$@") names download disk
    if ! names=$(apt-get -qq --simulate "${install[@]}" 2>/dev/null | awk '$1 == "Inst" { print $2 }'); then
        echo "size unknown until \`apt-get update\` has run"
        return
    fi
    download=$(apt-get -qq --print-uris "${install[@]}" | awk '{ bytes += $3 } END { printf "%.0f", bytes / 1e6 }')
    # Installed-Size is in KiB.
    disk=$(xargs apt-cache show --no-all-versions <<<"$names" |
        awk '$1 == "Installed-Size:" { size += $2 } END { printf "%.0f", size * 1024 / 1e6 }')
    echo "$(wc -w <<<"$names") packages, $download MB to download, $disk MB on disk"
}
