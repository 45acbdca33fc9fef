/** The commands of an evidence report, which repeat what it states with common tools. `Tests/BrowserTests/test_evidence.py` runs them. */
import { isCovered } from "../components/trust-mark.js";
import { message } from "../core/i18n.js";
import { readDigest } from "./digest.js";

// How the last line of check-evidence begins.
const lastLines = { "hashes-agree": "RESULT not signed", signed: "RESULT signed by", "signed-anonymously": "RESULT signed by", uncovered: "RESULT signed by",
    "invalid-signature": "RESULT FAILS" };
const systemRoots = "/etc/ssl/certs/ca-certificates.crt";

// Letters that are drawn in their own place and in this direction. Shells differ in how they read a backslash.
const isPlain = /^(?!\p{M})(?:[!-[\]-~]|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])$/u;

const isClear = (character, index, characters) => isPlain.test(character) || character === " " && characters[index - 1] !== " ";

/** Quotes an argument for a shell. Characters that are hard to read are escaped as `$'\xNN'`, which needs Bash or zsh. */
function quoted(text) {
    if (/^[\w./:@%+,][\w./:@%+=,-]*$/.test(text)) return text;
    const characters = Array.from(text);
    if (characters.every(isClear)) return `'${text.replaceAll("'", "'\\''")}'`;
    return `$'${characters.map((character, index) => (isClear(character, index, characters) ? character.replace("'", escapedBytes) : escapedBytes(character))).join("")}'`;
}

const escapedBytes = (character) => Array.from(new TextEncoder().encode(character), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");

/**
 * @param {import("./report-data.js").ReportData} data
 * @returns {{title: string, lines: string[], expected?: string, isOfLastLine?: boolean}[]} groups of commands, with what they must print
 */
export function reportCommands({ archive, capture, record, problem }) {
    const file = fileName(archive);
    const claims = [archive.sha256 && `--sha256 ${archive.sha256}`,
        capture && `--url ${quoted(capture.url)} --time ${capture.timestamp.slice(0, 14)}`].filter(Boolean);
    // The script fails for a capture that was added, and if a listed file is missing. A signature by MD5 proves nothing.
    const isUncertain = archive.verification === "uncovered"
        && (!isCovered(archive, capture ?? archive) || archive.verificationReport.result.uncheckedFiles > 0);
    const lastLine = isUncertain ? undefined : lastLines[archive.verification];
    const whole = [`python3 check-evidence ${quoted(file)}`, ...claims].join(" \\\n    ");
    const ofFile = [
        { title: message("commands.whole"), lines: [whole], expected: lastLine, isOfLastLine: true },
        archive.sha256 && { title: message("commands.file"), lines: [`sha256sum ${quoted(file)}`], expected: archive.sha256 },
    ].filter(Boolean);
    // Other programs may find other files in it.
    return archive.verification === "suspicious" ? ofFile : [
        ...ofFile,
        { title: message("commands.list"), lines: [`python3 -m zipfile -e ${quoted(file)} evidence`, "sha256sum evidence/datapackage.json"],
            expected: packageHash(archive) },
        record?.file && record.length !== undefined && !problem && recordCommands("commands.record", record),
        record?.repeats?.file && record.repeats.length !== undefined && record.repeats.archive === archive.id && recordCommands("commands.repeats", record.repeats),
        ...signatureCommands(archive.verificationReport?.signature),
    ].filter(Boolean);
}

/** The name under which a reader probably has the file. A name that starts with a hyphen would be read as an option. */
function fileName({ id, originalName }) {
    const name = (originalName || `${id}.wacz`).replace(/[\u0000-\u001f\u007f/]/g, "_");
    return name.startsWith("-") ? `./${name}` : name;
}

const packageHash = ({ verificationReport }) => readDigest(verificationReport?.result.packageHash)?.value;

function recordCommands(title, { file, offset, length, isCompressed, blockDigest }) {
    const extract = `tail -c +${offset + 1} ${quoted(`evidence/${file}`)} | head -c ${length}${isCompressed ? " | gunzip" : ""} > record`;
    const stated = readDigest(blockDigest);
    const text = stated?.isHex ? "hash.hexdigest()" : "base64.b32encode(hash.digest()).decode()";
    const digest = stated && `python3 -c 'import base64, hashlib, re; head, block = open("record", "rb").read().split(b"\\r\\n\\r\\n", 1); `
        + `size = int(re.search(rb"(?i)content-length: *(\\d+)", head)[1]); hash = hashlib.${stated.algorithm}(block[:size]); `
        + `print(${text})'`;
    return { title: message(title), lines: [extract, digest].filter(Boolean), expected: stated?.value };
}

/** For a domain. An anonymous signature has to be converted first, which the script does. */
function signatureCommands(signature) {
    const { chain = [], certified, domain = "" } = signature?.signer ?? {};
    const time = Date.parse(signature?.timeStamp?.time) / 1000;
    // A signature for other contents would be verified by the commands.
    if (chain.length === 0 || !time || !["valid", "untrusted"].includes(signature.outcome)) return [];
    // In the spelling of certificates.
    const host = certified && /^[\w.-]+$/.test(domain) ? domain.toLowerCase() : "";
    const parts = `python3 -c 'import base64, json; signed = json.load(open("evidence/datapackage-digest.json"))["signedData"]; `
        + `[open(name, "wb").write(data) for name, data in {"signed": signed["hash"].encode(), "signature": base64.b64decode(signed["signature"]), `
        + `"stamped": signed["signature"].encode(), "stamp": base64.b64decode(signed["timeSignature"]), "signer.pem": signed["domainCert"].encode(), `
        + `"stampers.pem": signed["timestampCert"].encode()}.items()]'`;
    return [
        { title: message("commands.signature"), lines: [parts, "openssl x509 -in signer.pem -pubkey -noout -out key.pem",
            "openssl dgst -sha256 -verify key.pem -signature signature signed"], expected: "Verified OK" },
        host && { title: message("commands.certificate"), lines: [`openssl verify -attime ${time} -CAfile ${systemRoots} -untrusted signer.pem \\\n`
            + `    -purpose sslserver -verify_hostname ${host} signer.pem`], expected: signature.outcome === "valid" ? "signer.pem: OK" : undefined },
        { title: message("commands.stamp", { authority: signature.timeStamp.chain?.at(-1)?.sha256 ?? "" }),
            lines: [`openssl ts -verify -data stamped -in stamp -CAfile stampers.pem -untrusted stampers.pem -attime ${time}`,
                // Of the signed token: around it, a file can have any text.
                "openssl ts -reply -in stamp -token_out -out token", "openssl ts -reply -in token -token_in -text"], expected: signature.timeStamp.outcome === "valid" ? "Verification: OK" : undefined },
    ];
}
