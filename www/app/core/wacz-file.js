/**
 * Reads parts of a WACZ file from the server, with range requests: files in its ZIP, and WARC records. APPNOTE 6.3.10; WARC 1.1.
 *
 * Sizes in a file can be wrong, so all of them are limited.
 */
import { errorFrom, serverUnavailable } from "./api.js";

const endBytesMax = 22 + 65_535;
const directoryBytesMax = 16 << 20;
const headBytesMax = 256 << 10;
const inflatedBytesMax = 64 << 20;
const notWhole = 0xffff_ffff;

/**
 * @typedef {{name: string, isDeflated: boolean, compressed: number, size: number, header: number}} Entry `header`: the offset of
 *   its local header
 * @typedef {{entry: (name: string) => Entry|undefined, text: (name: string, bytesMax: number) => Promise<string>,
 *   stream: (entry: Entry, offset: number, length: number) => Promise<ReadableStream<Uint8Array>>}} WACZ `stream`: bytes of the
 *   uncompressed entry
 */

/**
 * @param {import("./api.js").Archive} archive
 * @returns {Promise<WACZ>}
 * @throws {Error} when the file isn't a ZIP that can be read here
 */
export async function openWACZ({ file, sha256, size }) {
    // With the hash, only the file that the report is about is read.
    const address = sha256 ? `${file}?sha256=${sha256}` : file;

    async function request(offset, length) {
        if (!(offset >= 0 && length > 0 && offset + length <= size)) throw new RangeError("a part of the ZIP is outside of the file");
        let answer;
        try {
            answer = await fetch(address, { headers: { Range: `bytes=${offset}-${offset + length - 1}` } });
        } catch {
            throw serverUnavailable();
        }
        if (answer.status !== 206) throw errorFrom("", answer.status);
        return answer.body;
    }

    const view = async (offset, length) => new DataView(await new Response(await request(offset, length)).arrayBuffer());
    const entries = await readDirectory(view, size);

    async function stream(entry, offset, length) {
        if (!(offset + length <= entry.size)) throw new RangeError("the record is outside of its file");
        const local = await view(entry.header, 30);
        if (local.getUint32(0, true) !== 0x04034b50) throw new Error("the ZIP has no header there");
        const start = entry.header + 30 + local.getUint16(26, true) + local.getUint16(28, true);
        if (!entry.isDeflated) return request(start + offset, length);
        if (offset + length > inflatedBytesMax) throw new RangeError("the compressed file is too large");
        const inflated = (await request(start, entry.compressed)).pipeThrough(new DecompressionStream("deflate-raw"));
        return inflated.pipeThrough(slice(offset, length));
    }

    return {
        entry: (name) => entries.get(name),
        stream,
        async text(name, bytesMax) {
            const entry = entries.get(name);
            if (!entry || entry.size > bytesMax) throw new RangeError(`${name} is missing or too large`);
            return entry.size === 0 ? "" : new Response(await stream(entry, 0, entry.size)).text();
        },
    };
}

async function readDirectory(view, size) {
    const tail = await view(Math.max(0, size - endBytesMax), Math.min(size, endBytesMax));
    let end = tail.byteLength - 22;
    while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end -= 1;
    if (end < 0) throw new Error("the ZIP has no directory");
    let [bytes, offset] = [tail.getUint32(end + 12, true), tail.getUint32(end + 16, true)];
    let after = size - tail.byteLength + end;
    if (end >= 20 && tail.getUint32(end - 20, true) === 0x07064b50) {
        after = Number(tail.getBigUint64(end - 12, true));
        const large = await view(after, 56);
        [bytes, offset] = [Number(large.getBigUint64(40, true)), Number(large.getBigUint64(48, true))];
    }
    if (bytes > directoryBytesMax) throw new RangeError("the ZIP's directory is too large");
    // Bytes before the ZIP move everything in it.
    const moved = after - bytes - offset;
    return bytes === 0 ? new Map() : entriesOf(await view(offset + moved, bytes), moved);
}

function entriesOf(directory, moved) {
    const entries = new Map();
    for (let at = 0; at + 46 <= directory.byteLength && directory.getUint32(at, true) === 0x02014b50;) {
        const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) => directory.getUint16(at + place, true));
        const name = new TextDecoder().decode(new Uint8Array(directory.buffer, at + 46, nameLength));
        const large = largeSizes(directory, at + 46 + nameLength, extraLength);
        // Those that don't fit are in an extra field, in this order.
        const [size, compressed, header] = [24, 20, 42].map((place) => directory.getUint32(at + place, true))
            .map((value) => (value === notWhole ? large.shift() : value));
        const method = directory.getUint16(at + 10, true);
        // Of two entries with one name, replay uses the first.
        if ([0, 8].includes(method) && !entries.has(name)) {
            entries.set(name, { name, isDeflated: method === 8, compressed, size, header: header + moved });
        }
        at += 46 + nameLength + extraLength + commentLength;
    }
    return entries;
}

function largeSizes(directory, start, length) {
    for (let at = start; at + 4 <= start + length; at += 4 + directory.getUint16(at + 2, true)) {
        if (directory.getUint16(at, true) !== 1) continue;
        const count = Math.floor(directory.getUint16(at + 2, true) / 8);
        return Array.from({ length: count }, (_, index) => Number(directory.getBigUint64(at + 4 + 8 * index, true)));
    }
    return [];
}

/** Passes on some bytes of a stream. */
function slice(offset, length) {
    let before = offset;
    let rest = length;
    return new TransformStream({
        transform(chunk, controller) {
            const part = chunk.subarray(Math.min(before, chunk.length), Math.min(before + rest, chunk.length));
            before = Math.max(0, before - chunk.length);
            rest -= part.length;
            if (part.length > 0) controller.enqueue(part);
            if (rest === 0) controller.terminate();
        },
    });
}

/**
 * Reads the header of a WARC record, and the HTTP header in it.
 *
 * @param {WACZ} wacz
 * @param {{filename: string, offset: number, length: number}} place as in the index
 * @returns {Promise<{name: string, isCompressed: boolean, fields: Map<string, string>, http: Map<string, string>}>} `name`: that of
 *   the WARC file in the ZIP; the names of the fields in lower case
 */
export async function readRecordHead(wacz, { filename, offset, length }) {
    const entry = wacz.entry(`archive/${filename}`) ?? wacz.entry(filename);
    if (!entry) throw new Error(`${filename} isn't in the archive`);
    const raw = await wacz.stream(entry, offset, length);
    const [first, second] = raw.tee();
    const magic = await start(first, 2, (bytes) => bytes.length >= 2);
    const isCompressed = magic[0] === 0x1f && magic[1] === 0x8b;
    const record = isCompressed ? second.pipeThrough(new DecompressionStream("gzip")) : second;
    const bytes = await start(record, headBytesMax, (some) => ends(some).length > 1);
    const [warcEnd, httpEnd] = ends(bytes);
    if (warcEnd === undefined) throw new Error("the record has no header");
    const text = (from, to) => new TextDecoder().decode(bytes.subarray(from, to));
    return { name: entry.name, isCompressed, fields: fieldsIn(text(0, warcEnd)),
        http: fieldsIn(httpEnd ? text(warcEnd + 4, httpEnd) : "") };
}

/** The places of the first two empty lines. */
function ends(bytes) {
    const places = [];
    for (let at = 0; at + 3 < bytes.length && places.length < 2; at += 1) {
        if (bytes[at] === 13 && bytes[at + 1] === 10 && bytes[at + 2] === 13 && bytes[at + 3] === 10) places.push(at);
    }
    return places;
}

function fieldsIn(head) {
    const fields = head.split("\r\n").slice(1).map((line) => /^([^:\s]+):\s*(.*)$/.exec(line)).filter(Boolean);
    return new Map(fields.reverse().map(([, name, value]) => [name.toLowerCase(), value.trim()]));
}

/** Reads a stream until there is enough, and cancels the rest. */
async function start(stream, bytesMax, isEnough) {
    const reader = stream.getReader();
    let bytes = new Uint8Array(0);
    while (bytes.length < bytesMax && !isEnough(bytes)) {
        const { value, done } = await reader.read();
        if (done) break;
        const next = new Uint8Array(bytes.length + value.length);
        next.set(bytes);
        next.set(value, bytes.length);
        bytes = next;
    }
    // A stream that isn't read to its end may fail when it's cancelled, which changes nothing.
    reader.cancel().catch(() => {});
    return bytes;
}
