import ArchiveStore
import Foundation
import ReplayServer
import WebArchive

extension FuzzReader {
    static func readSURT(_ bytes: [UInt8]) throws {
        let url = String(decoding: bytes, as: UTF8.self)
        let candidates = SURT.candidates(for: url)
        try require(candidates.contains(SURT.key(for: url)), "the usual key isn't among the candidates")
        try require(candidates.count <= 64, "\(candidates.count) candidates")
        try require(Set(candidates).count == candidates.count, "a candidate is repeated")
        if let reference = SURT.pythonKey(for: url) {
            try require(candidates.contains(reference), "the key of Python's surt isn't among the candidates")
            try require(reference.utf8.count <= 64 + 16 * url.utf8.count, "the key is much longer than the URL")
        }
        try require(SURT.matches(url, url), "a URL doesn't match itself")
        let upper = url.hasPrefix("http:") ? "HTTP:" + url.dropFirst(5) : url
        try require(SURT.matches(url, upper) == SURT.matches(upper, url), "matching isn't symmetric")
    }

    static func readRange(_ bytes: [UInt8]) throws {
        let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        let size = UInt64(String(decoding: parts[0], as: UTF8.self)) ?? 100
        let field = String(decoding: parts.last ?? [], as: UTF8.self)
        do {
            guard let ranges = try ByteRange.parse(field, size: size) else { return }
            try require((1...ByteRange.countMax).contains(ranges.count), "\(ranges.count) ranges")
            for range in ranges {
                try require(range.first <= range.last && range.last < size, "a range is outside the body")
                try require(range.length <= size, "a range is longer than the body")
                try require(range.contentRange(size: size).hasSuffix("/\(size)"), "the size differs")
            }
        } catch is RangeNotSatisfiable {
        }
    }

    /// Reads a query string, with at most 64 parameters.
    static func parameters(of bytes: [UInt8]) -> [(name: String, value: String)] {
        bytes.split(separator: UInt8(ascii: "&")).prefix(64).map { part in
            let text = String(decoding: part, as: UTF8.self)
            let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                String($0).removingPercentEncoding ?? String($0)
            }
            return (pair[0], pair.count > 1 ? pair[1] : "")
        }
    }

    static func readCDXParameters(_ bytes: [UInt8]) throws {
        let query = try CDXQuery(parameters: parameters(of: bytes))
        let run = CDXQueryRun(
            query, sources: [queried], namesSources: true, temporaryFolder: NSTemporaryDirectory(),
            mementoURL: { "http://localhost/c/\($0)/\($1)/\($2)" })
        var count = 0
        while let line = try run.next() {
            count += 1
            try require(
                count <= min(query.limit ?? .max, queriedLines.count), "more lines than exist or were requested")
            try require(line.last == 0x0A, "a line has no line ending")
        }
    }

    private static let queriedLines: [String] = ["", "a", "a?b=1", "a?b=2", "%C3%A9", "z/"].flatMap { path in
        ["20200229120000", "20240102030405"].map { time in
            "org,example)/\(path) \(time) {\"url\": \"http://example.org/\(path)\", \"mime\": \"text/html\", "
                + "\"status\": \"200\", \"digest\": \"sha1:X\", \"length\": \"100\", \"offset\": \"0\", "
                + "\"filename\": \"data.warc\"}\n"
        }
    }

    /// An archive with twelve captures.
    private static let queried = CDXQuerySource(name: "fuzz") { () throws(WebArchiveError) in
        let index = Array(queriedLines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined().utf8)
        let package = SmallPackage.wacz([("indexes/index.cdxj", index)])
        return try WACZFile.open(MemoryByteSource(package, name: "fuzz.wacz"))
    }

    static func readBackupManifest(_ bytes: [UInt8]) throws {
        let path = NSTemporaryDirectory() + "/fuzz-\(ProcessInfo.processInfo.processIdentifier)-\(UUID()).json"
        defer { unlink(path) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let manifest = try BackupManifest.read(at: path)
        try manifest.write(to: path)
        try require(try BackupManifest.read(at: path) == manifest, "it differs after writing and reading it")
    }
}
