"""Writes Fixtures/url-keys.tsv: URLs for which tools write different keys, and these keys. See Scripts/make-url-keys."""

import json
import pathlib
import subprocess

import surt

FOLDER = pathlib.Path(__file__).resolve().parent
SESSION = "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6"
URLS = """
http://q.example/search?q=caf%C3%A9%20bar
http://q.example/search?q=a%20b
http://q.example/search?q=a+b
http://q.example/index.php?title=Talk:Foo
http://q.example/fonts?family=Lora:400,700|Open+Sans:wght@300..800&display=swap
https://fonts.q.example/css2?family=Roboto:ital,wght@0,100;1,900&display=swap
http://q.example/x?url=http://other.example/a?b=c
http://q.example/x?url=http%3A%2F%2Fother.example%2Fa%3Fb%3Dc
http://q.example/x?u=https://www.other.example/
http://q.example/x?u=https%3A%2F%2Fwww2.other.example%2Fa
http://q.example/web/2020/http://www.other.example/page
http://a.www.q.example/x
http://www.q.example/Path/?B=2&a=1
https://www2.q.example:8443/x?A
http://WWW.Q.Example/x?q=a,b
http://wwwx.q.example/
http://q.example/x?v
http://q.example/x?v&w=1
http://q.example/x?v=
http://q.example/x?b&a&c=
http://q.example/x?a=&a
http://q.example/x?test^2
http://q.example/x?test^2&plain
http://q.example/x?ids[]=1&ids[]=2
http://q.example/x?a[b]=1&a[]
http://q.example/x?a=b=c
http://q.example/x?=1
http://q.example/x?&a=1
http://q.example/x?a=1&&b=2&
http://q.example/x?
http://q.example/?
http://q.example?x=1
http://q.example/x?q=%E9
http://q.example/x?q=%41%42
http://q.example/x?q=%2541
http://q.example/x?q=100%
http://q.example/x?q=%zz
http://q.example/x?q=a%26b%3Dc
http://q.example/x?q=(a)!*'~
http://q.example/x?q="a"<b>
http://q.example/x?q={a}|b^`c\\d
http://q.example/x?q=a/b/
http://q.example/x/?q=1/
http://q.example/x?q=a;b;c
http://q.example/x?z=1&a=2&a=1&m=3
http://q.example/x?a-b=1&a=2
http://q.example/x?A=1&a=2&B=3
http://q.example/x?q=日本語
http://q.example/x?é=1&e=2
http://q.example/x?q=😀&ｚ=1&😀=2
http://q.example/x?q=Ünïcode%20%C3%9C
http://q.example/x?q=$a@b:c,d
http://q.example/x?q=%3Fa#frag
http://q.example/a b/c%20d?e f
http://q.example/caf%C3%A9/Été?x=1,2
http://q.example/%7Ea/~b?q=~
http://q.example/a/../b/./c/%2e%2e/d?q=:
http://q.example/a//b///c?q=:
http://q.example/a%2Fb?q=%2F
http://q.example/a,b;c=d(e)|f?q=|
http://bücher.q.example/ß?q=ß
http://xn--bcher-kva.q.example/x?q=:
http://127.0.0.1:8080/x?q=:
http://q.example:8080/A%20B?C=D
http://user:pw@www.q.example/x?q=:
http://q.example/x?PHPSESSID=SESSION&q=:
http://q.example/x?q=aGVsbG8=/+
""".strip().replace("SESSION", SESSION).splitlines()

COLUMNS = ["url", "surt", "surt-slash", "warcio.js-first", "warcio.js-second", "warcio.js-1.5.1", "warcio.js-2.3",
           "surt-rs", "wacksy-alpha"]


def main():
    text = "\n".join(URLS) + "\n"
    found = subprocess.run(
        ["node", FOLDER / "url-keys.mjs"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    others = [json.loads(line) for line in found.splitlines()]
    rows = [COLUMNS]
    for url, keys in zip(URLS, others, strict=True):
        rows.append([url, surt.surt(url), surt.surt(url, path_strip_trailing_slash_unless_empty=False), *keys])
    try:
        from pywb.utils.canonicalize import canonicalize
    except ImportError:
        pass
    else:
        assert all(canonicalize(row[0]) == row[1] for row in rows[1:])
    assert not any("\t" in value or "\n" in value for row in rows for value in row)
    lines = "".join("\t".join(row) + "\n" for row in rows)
    (FOLDER.parent.parent / "Fixtures" / "url-keys.tsv").write_text(lines, encoding="utf-8")


main()
