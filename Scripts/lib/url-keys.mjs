// Prints the keys that JavaScript and Rust tools write for the URLs on standard input, one line of JSON for each.
// Based on these sources; Node.js's `URL` and `URLSearchParams` follow the same standard as Rust's `url`.
//   warcio.js: `getSurt` of src/utils.js (1.x; 1.5.1 has warcio2 below) and src/lib/utils.ts (2.x) of
//   webrecorder/warcio.js; pull request 77 changed it last, for 2.3.0
//   surt-rs 0.1.3: src/lib.rs of mijho/surt-rs, without session IDs
//   wacksy 0.0.1-alpha: src/indexer/cdxj_index.rs of extua/wacksy
import { readFileSync } from "node:fs"

const anywhere = /www\d*\./
const atStart = /(?<=^https?:\/\/)www\d*\./
const hostAndPath = url => `${url.hostname.split(".").reverse().join(",")}${url.port && `:${url.port}`})${url.pathname}`
const withQuery = (start, query) => query ? `${start}?${query}` : start

function warcio1(text, www) {
    const url = new URL(text.replace(www, "").toLowerCase())
    url.searchParams.sort()
    return withQuery(hostAndPath(url), url.search.slice(1))
}

/// Removes the equals signs that sorting added, for names without escapes.
function warcio2(text) {
    const lower = text.replace(atStart, "").toLowerCase()
    const given = new URL(lower).search.slice(1).split("&").filter(part => part)
    const key = warcio1(text, atStart)
    const [start, query] = [key.split("?")[0], key.slice(key.indexOf("?") + 1)]
    if (!key.includes("?")) return key
    const bare = new Map()
    for (const part of given) {
        if (part.includes("=")) continue
        const name = new URLSearchParams(part).keys().next().value
        const encoded = new URLSearchParams([[name, ""]]).toString().slice(0, -1)
        const isWrittenWithSign = given.includes(`${name}=`)
        if (encoded !== name || isWrittenWithSign) continue
        bare.set(`${encoded}=`, (bare.get(`${encoded}=`) ?? 0) + 1)
    }
    const parts = query.split("&").map(part => {
        const count = bare.get(part) ?? 0
        if (!count) return part
        bare.set(part, count - 1)
        return part.slice(0, -1)
    })
    return withQuery(start, parts.join("&"))
}

function warcio3(text) {
    const url = new URL(text.replace(atStart, "").toLowerCase())
    return withQuery(hostAndPath(url), url.search.slice(1).split("&").sort().join("&"))
}

const decodedOnce = text => {
    const bytes = []
    const given = Buffer.from(text)
    for (let place = 0; place < given.length; place++) {
        const digits = given.subarray(place + 1, place + 3).toString("latin1")
        if (given[place] === 0x25 && /^[0-9a-f]{2}$/i.test(digits)) {
            bytes.push(parseInt(digits, 16))
            place += 2
        } else bytes.push(given[place])
    }
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes))
}

function surtRs(text) {
    const url = new URL(text)
    url.hash = ""
    if (url.search) url.search = url.search.slice(1).split("&").sort().join("&").toLowerCase()
    url.hostname = url.hostname.replace(/^www\w*\.(.*\.)/, "$1")
    let plain = url.href.replace(/#$/, "")
    if (plain.endsWith("/") && url.pathname !== "/") plain = plain.slice(0, -1)
    if (plain.endsWith("?")) plain = plain.slice(0, -1)
    const again = new URL(plain)
    let key = decodedOnce(withQuery(hostAndPath(again), again.search.slice(1)).toLowerCase()).replaceAll(" ", "%20")
    const end = key.includes("?") ? key.indexOf("?") : key.length
    let start = key.slice(0, end)
    if (start.endsWith("/") && !start.endsWith(")/")) start = start.slice(0, -1)
    return start + key.slice(end)
}

function wacksyAlpha(text) {
    const url = new URL(text)
    return `${url.hostname.split(".").reverse().join(",")})${url.pathname}${url.search}`
}

for (const url of readFileSync(0, "utf8").split("\n").filter(line => line)) {
    console.log(JSON.stringify([
        warcio1(url, anywhere), warcio1(url, atStart), warcio2(url), warcio3(url), surtRs(url),
        wacksyAlpha(url),
    ]))
}
