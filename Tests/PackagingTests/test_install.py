"""Installs with `make install`, and uses the installation."""

import http.client
import json
import os
import pwd
import re
import shutil
import stat
from xml.etree import ElementTree

import pytest
from installation import CAPTURE_BINARY, files, install_from, run
from support.places import BINARY, CHECKOUT, FIXTURES
from support.waiting import wait_until

FOLDERS_WITH_OTHER_FILES = ["bin", "share/applications", "share/mime/packages", "share/man/man1"]


def test_files_are_installed_in_standard_folders(tmp_path):
    install_from(CHECKOUT / "Scripts" / "install", DESTDIR=tmp_path)
    target = tmp_path / "usr" / "local"
    installed = files(target)
    web = {f"share/replayhost/www/{name}" for name in files(CHECKOUT / "www") if not name.startswith("vendor/.")}
    assert {"share/replayhost/www/vendor/sw.js", "share/replayhost/www/vendor/NOTICE.txt"} <= web <= installed
    texts = [*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/*.md"), *CHECKOUT.glob("docs/images/*")]
    assert installed - web == {f"share/doc/replayhost/{path.relative_to(CHECKOUT)}" for path in texts} | {
        "bin/replayhost", "share/applications/replayhost.desktop", "share/bash-completion/completions/replayhost",
        "share/doc/replayhost/LICENSE", "share/doc/replayhost/NOTICE", "share/doc/replayhost/Scripts/check-evidence",
        "share/doc/replayhost/licences/AGPL-3.0.txt", "share/fish/vendor_completions.d/replayhost.fish",
        "share/icons/hicolor/scalable/apps/replayhost.svg", "share/man/man1/replayhost.1",
        "share/metainfo/org.replayhost.replayhost.metainfo.xml", "share/mime/packages/replayhost.xml", "share/replayhost/installed-files.txt",
        "share/systemd/user/replayhost.service", "share/systemd/user/replayhost.socket",
        "share/zsh/site-functions/_replayhost",
        # To save URLs
        "bin/replayhost-capture", "share/bash-completion/completions/replayhost-capture",
        "share/fish/vendor_completions.d/replayhost-capture.fish", "share/man/man1/replayhost-capture.1",
        "share/replayhost/apparmor/replayhost-bwrap", "share/replayhost/capture-requirements.txt",
        "share/systemd/user/replayhost-capture.service", "share/zsh/site-functions/_replayhost-capture",
    }, "no caches below DESTDIR"
    for path in [target, *target.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o755 if path.is_dir() or path.parent.name == "bin" else 0o644), path
    for name in web:
        assert (target / name).read_bytes() == (CHECKOUT / name.removeprefix("share/replayhost/")).read_bytes()
    assert not [path for path in target.rglob("*") if path.is_file() and path.stat().st_size < 1 << 20 and re.search(
        rb"@[A-Z]+@", path.read_bytes()) and not {"www", "docs"} & {*path.parts}], "a placeholder was left"


def test_uninstall_removes_only_its_own_files(install, tmp_path):
    target = tmp_path / "usr" / "local"
    for folder in FOLDERS_WITH_OTHER_FILES:
        (target / folder).mkdir(parents=True)
        (target / folder / "other").write_text("another program")
    install(DESTDIR=tmp_path)
    again = install(DESTDIR=tmp_path)
    assert "installed replayhost in" in again.stdout
    install_from(CHECKOUT / "Scripts" / "install", "--uninstall", DESTDIR=tmp_path)
    assert files(target) == {f"{folder}/other" for folder in FOLDERS_WITH_OTHER_FILES}
    assert not (target / "share" / "replayhost").exists()
    missing = install("--uninstall", DESTDIR=tmp_path, check=False)
    assert missing.returncode == 1
    assert "replayhost isn't installed in" in missing.stderr


def test_upgrade_deletes_obsolete_files(install, tmp_path):
    install(DESTDIR=tmp_path)
    target = tmp_path / "usr" / "local"
    old = "share/replayhost/www/app/old.js"
    (target / old).write_text("of an earlier version")
    names = target / "share" / "replayhost" / "installed-files.txt"
    names.write_text(f"{old}\n{names.read_text()}")
    install(DESTDIR=tmp_path)
    assert old not in files(target)
    assert old not in names.read_text()


def test_file_list_with_outside_paths_is_refused(install, tmp_path):
    install(DESTDIR=tmp_path)
    victim = tmp_path / "usr" / "victim"
    victim.write_text("another program")
    (tmp_path / "usr/local/share/replayhost/installed-files.txt").write_text("share/../../victim\n")
    refused = install("--uninstall", DESTDIR=tmp_path, check=False)
    assert refused.returncode != 0
    assert "is outside of" in refused.stderr
    assert victim.exists()


@pytest.mark.parametrize("prefix", ["relative", "/has space", "/has|bar", "/percent%n", "/quote\"s"])
def test_prefix_with_special_characters_is_refused(install, tmp_path, prefix):
    refused = install(DESTDIR=tmp_path, PREFIX=prefix, check=False)
    assert refused.returncode == 1
    assert "error: PREFIX" in refused.stderr
    assert files(tmp_path) == set()


@pytest.fixture
def other_user(public_folder, tmp_path_factory):
    """Runs the installed program in another folder with a clean profile, as another user if possible."""
    home = public_folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    variables = {
        "HOME": home, "XDG_DATA_HOME": home / "data", "XDG_STATE_HOME": home / "state", "XDG_CONFIG_HOME": home / "config",
        "PATH": f"{public_folder / 'prefix' / 'bin'}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    command = ["env", "-i", *(f"{name}={value}" for name, value in variables.items())]
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
        command = ["runuser", "-u", "nobody", "--", *command]

    def call(*words, check=True):
        return run(*command, *words, cwd="/", check=check)

    call.home = home
    yield call
    call("replayhost", "stop")


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers={"Host": f"localhost:{port}"})
    response = connection.getresponse()
    return response.status, response.read()


def test_another_user_opens_a_file(prefix, public_folder, other_user):
    file = shutil.copy(FIXTURES / "sample.wacz", public_folder / "sample.wacz")
    os.chmod(file, 0o644)
    opened = json.loads(other_user("replayhost", "open", file, "--no-browser", "--json", "--port", "0").stdout)
    assert opened["started"] is True
    assert opened["archive"] == "sample"
    assert opened["log"].startswith(str(other_user.home / "state" / "replayhost"))
    port = int(opened["address"].rsplit(":", 1)[1])
    status, page = get(port, "/")
    assert status == 200 and b"<html" in page
    for name in ["app/core/routes.js", "sw.js"]:
        status, body = get(port, f"/{name}")
        source = CHECKOUT / "www" / ("vendor/sw.js" if name == "sw.js" else name)
        assert (status, body) == (200, source.read_bytes())
    assert get(port, "/archives/sample.wacz")[1] == (FIXTURES / "sample.wacz").read_bytes()
    assert (other_user.home / "data" / "replayhost" / "catalog.sqlite").exists()
    again = json.loads(other_user("replayhost", "open", "sam", "--no-browser", "--json").stdout)
    assert (again["started"], again["pid"]) == (False, opened["pid"])
    assert "engine: wabac.js" in other_user("replayhost", "--version").stdout
    assert "stopped the server" in other_user("replayhost", "stop").stdout


@pytest.mark.needs("update-mime-database")
def test_mime_type_is_registered(prefix):
    ElementTree.parse(prefix / "share/mime/packages/replayhost.xml")
    globs = (prefix / "share/mime/globs2").read_text().splitlines()
    assert "50:application/wacz:*.wacz" in globs
    assert "application/zip" in (prefix / "share/mime/subclasses").read_text()


@pytest.mark.needs("gio")
def test_wacz_files_have_the_mime_type(prefix, public_folder, other_user):
    data = f"XDG_DATA_DIRS={prefix}/share:/usr/share"
    for name in ["x.wacz", "x.WACZ", "x.wacz.zip"]:
        file = shutil.copy(FIXTURES / "sample.wacz", public_folder / name)
        os.chmod(file, 0o644)
        result = other_user("env", data, "gio", "info", "-a", "standard::content-type", file).stdout
        assert "standard::content-type: application/wacz" in result


@pytest.mark.needs("xdg-mime")
@pytest.mark.needs("update-desktop-database")
def test_replayhost_opens_wacz_files(prefix, other_user):
    run("desktop-file-validate", prefix / "share/applications/replayhost.desktop")
    result = other_user("env", f"XDG_DATA_DIRS={prefix}/share:/usr/share", "xdg-mime", "query", "default", "application/wacz")
    assert result.stdout == "replayhost.desktop\n"
    entry = (prefix / "share/applications/replayhost.desktop").read_text()
    assert f"Exec={prefix}/bin/replayhost open %f\n" in entry, "this prefix isn't on the desktop's PATH"


@pytest.mark.parametrize(("options", "is_shown"), [
    ([], True), (["--no-browser"], False), (["--json"], False)])
def test_errors_are_shown_as_desktop_notifications(other_user, public_folder, tmp_path, options, is_shown):
    """After a double-click on a file there is no terminal."""
    tools = public_folder / f"tools-{len(options)}"
    tools.mkdir(exist_ok=True)
    notify = tools / "notify-send"
    notify.write_text('#!/bin/sh\nprintf "%s|" "$@" > "$HOME/shown.new"\nmv "$HOME/shown.new" "$HOME/shown"\n')
    notify.chmod(0o755)
    damaged = shutil.copy(FIXTURES / "damaged" / "not-a-zip.wacz", public_folder / "damaged.wacz")
    os.chmod(damaged, 0o644)
    path = f"PATH={tools}:{public_folder / 'prefix' / 'bin'}:/usr/bin:/bin"
    result = other_user("env", path, "DISPLAY=:9", "replayhost", "open", damaged, "--port", "0", *options, check=False)
    assert result.returncode == 4
    notification = other_user.home / "shown"
    if is_shown:
        wait_until(notification.exists, "the notification is shown")
        arguments = notification.read_text().split("|")
        assert arguments[2:4] == ["--", "replayhost"]
        assert result.stderr.split("error: ")[1].split("\n")[0] in arguments[4]
    else:
        assert not notification.exists()


def test_standard_prefixes_use_the_path(install, tmp_path):
    for prefix in ["/usr", "/usr/local"]:
        install(DESTDIR=tmp_path, PREFIX=prefix)
        assert "Exec=replayhost open %f\n" in (tmp_path / f"{prefix[1:]}/share/applications/replayhost.desktop").read_text()


@pytest.mark.needs("systemd-analyze")
def test_systemd_units_are_valid(prefix, tmp_path):
    units = prefix / "share/systemd/user"
    for program in ["replayhost", "replayhost-capture"]:
        assert f"ExecStart={prefix}/bin/{program} serve\n" in (units / f"{program}.service").read_text()
    result = run(
        "systemd-analyze", "--user", "--man=no", "verify", *units.iterdir(),
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "SYSTEMD_LOG_LEVEL": "warning"})
    assert (result.stdout, result.stderr) == ("", "")


@pytest.mark.needs("mandoc")
def test_manual_pages_are_well_formed(prefix):
    result = run("mandoc", "-Tlint", "-Wwarning", *(prefix / "share/man/man1").iterdir(), check=False)
    assert (result.stdout, result.stderr) == ("", "")


@pytest.mark.parametrize("binary", [BINARY, CAPTURE_BINARY], ids=lambda binary: binary.name)
def test_manual_page_is_complete(prefix, binary):
    text = (prefix / f"share/man/man1/{binary.name}.1").read_text().replace("\\-", "-")
    program = json.loads(run(binary, "--experimental-dump-help").stdout)["command"]
    for command in program["subcommands"]:
        name = command["commandName"]
        if name == "help" or not command.get("shouldDisplay", True):
            continue
        assert f'.SS "{name}"' in text
        for child in command.get("subcommands", []):
            assert child["commandName"] == "help" or f'.SS "{name} {child["commandName"]}"' in text
        for argument in command.get("arguments", []):
            if argument["kind"] != "positional" and argument.get("shouldDisplay", True):
                assert f"--{argument['preferredName']['name']}" in text
    for section in ["EXIT STATUS", "FILES", "ENVIRONMENT"]:
        assert f".SH {section}" in text


COMPLETIONS = {
    "bash": "bash-completion/completions/replayhost", "zsh": "zsh/site-functions/_replayhost",
    "fish": "fish/vendor_completions.d/replayhost.fish"}


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_completions_name_the_commands(prefix, shell):
    text = (prefix / "share" / COMPLETIONS[shell]).read_text()
    assert "open" in text and "doctor" in text


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=pytest.mark.needs(shell)) for shell in COMPLETIONS])
def test_completions_are_valid(prefix, shell):
    run(shell, "-n", prefix / "share" / COMPLETIONS[shell])


def test_bash_completes_commands(prefix):
    script = f"""source {prefix}/share/bash-completion/completions/replayhost
        COMP_WORDS=(replayhost sto) COMP_CWORD=1 COMP_LINE='replayhost sto' COMP_POINT=14
        $(complete -p replayhost | sed -E 's/.*-F (\\S+).*/\\1/') replayhost sto replayhost
        printf '%s\\n' "${{COMPREPLY[@]}}" """
    assert run("bash", "-c", script).stdout == "stop\n"


PYTHON = """#!/bin/sh
# Imitates python3 with venv and pip: notes how pip was called, and "installs" programs of one version.
case "$*" in
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    "-m pip install "*)
        echo "$*" >>"$HOME/pip"
        for name in yt-dlp gallery-dl deno; do
            printf '#!/bin/sh\\necho %s\\n' "$(cat "$HOME/version")" >"${0%/*}/$name"
            chmod 755 "${0%/*}/$name"
        done ;;
esac
"""


def test_tools_that_save_urls_are_installed_without_a_clone(prefix, other_user, public_folder):
    """By the versions and hashes that come with the program."""
    tools = public_folder / "python"
    tools.mkdir()
    (tools / "python3").write_text(PYTHON)
    (tools / "python3").chmod(0o755)
    requirements = prefix / "share/replayhost/capture-requirements.txt"
    assert requirements.read_bytes() == (CHECKOUT / "Packaging/capture-requirements.txt").read_bytes()
    pinned = re.search(r"^yt-dlp==(\S+)", requirements.read_text(), re.M)[1]
    year = int(pinned.split(".")[0])

    def install(version):
        (other_user.home / "version").write_text(version)
        return other_user("env", f"PATH={tools}:{prefix}/bin:/usr/bin:/bin", "replayhost-capture", "tools", "install").stdout

    for version, runs in [(f"{year - 1}.01.01", 1), (pinned, 2), ("2020.01.01", 2)]:
        # The program that is there now is older than the list in the first round only.
        install(version)
        calls = (other_user.home / "pip").read_text().splitlines()
        assert len(calls) == runs
        assert calls[-1].endswith(f" --require-hashes --requirement {requirements}")
    assert f"yt-dlp {pinned} is installed" in install(pinned)
