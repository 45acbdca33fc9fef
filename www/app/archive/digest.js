/** Digests in the headers of WARC records. */

const bytes = { md5: 16, sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

/**
 * Reads `algorithm:value`, where the value is hexadecimal or base32 (RFC 4648) of the algorithm's length. Anything else isn't a digest.
 *
 * @param {string|undefined} text
 * @returns {{algorithm: string, value: string, isHex: boolean}|null} `algorithm`: as Python names it; `value`: without padding
 */
export function readDigest(text) {
    const [, label, value] = /^([a-z0-9-]{3,8}):([a-z0-9]+)={0,6}$/i.exec(text ?? "") ?? [];
    const algorithm = label?.toLowerCase().replace("-", "");
    if (!Object.hasOwn(bytes, algorithm ?? "")) return null;
    const size = bytes[algorithm];
    const isHex = value.length === size * 2 && /^[0-9a-f]+$/i.test(value);
    if (!isHex && (value.length !== Math.ceil(size * 8 / 5) || !/^[a-z2-7]+$/i.test(value))) return null;
    return { algorithm, value: isHex ? value.toLowerCase() : value.toUpperCase(), isHex };
}
