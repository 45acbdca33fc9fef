# shellcheck shell=bash
# Shared by scripts that run a program with the store of the checkout.
#
# as_owner    what to put before a command so that it runs as the owner of archives/, since replayhost refuses another user's
#             store. Empty, unless root runs the script and archives/ belongs to another user.
# data_home   the folder of that user's data

as_owner=()
data_home=${XDG_DATA_HOME:-${HOME:-}/.local/share}
owner=$(stat -c %u archives 2>/dev/null) || owner=0 # only Linux has this stat
if [ "$(id -u)" = 0 ] && [ "$owner" != 0 ]; then
    as_owner=(setpriv --reuid="$owner" --regid="$(stat -c %g archives)" --clear-groups)
    # The program must not look for its files in the home folder of root. In a container, the owner may have no home folder.
    owner_home=$(getent passwd "$owner" | cut -d : -f 6) || owner_home=
    if [ -n "$owner_home" ]; then
        as_owner+=(env --unset=XDG_{DATA,STATE,CACHE,CONFIG}_HOME --unset=XDG_RUNTIME_DIR HOME="$owner_home")
        # shellcheck disable=SC2034 # for the scripts that read this file
        data_home=$owner_home/.local/share
    fi
fi
