import TestSupport
import Testing

@testable import WebArchive

/// Which lines without a status name captures. WARC 1.1 §4 (header fields) and §6 (types).
struct RecordTypeReaderTests {
    struct Header: Sendable {
        /// The lines before the length, with their ends.
        let lines: String
        let isCapture: Bool
    }

    private static let long = "X-Note: \(String(repeating: "abcdefgh ", count: 200))\r\n"

    @Test(
        arguments: [
            Header(lines: "WARC/1.1\r\nWARC-Type: resource\r\n", isCapture: true),
            Header(lines: "WARC/1.1\r\nWARC-Type: metadata\r\n", isCapture: false),
            Header(lines: "warc/1.0\nwarc-type:CONVERSION\n", isCapture: false),
            Header(lines: "WARC/1.0\nwarc-TYPE:  Response \n", isCapture: true),
            // Folded lines and spaces, as in HTTP.
            Header(lines: "WARC/1.0\r\nWARC-Type:\r\n metadata\r\n", isCapture: false),
            Header(lines: "WARC/1.0\r\nWARC-Type: reso\r\n urce\r\n", isCapture: false),
            Header(lines: "WARC/1.0\r\nWARC-Type : metadata\r\nWARC-Type: resource\r\n", isCapture: false),
            Header(lines: "WARC/1.0\r\nX: a\r\n WARC-Type: metadata\r\nWARC-Type: resource\r\n", isCapture: true),
            Header(lines: "WARC/1.0\r\nWARC-Type-Of: metadata\r\nWARC-Type: resource\r\n", isCapture: true),
            Header(lines: "WARC/1.0\r\nWARC-Type: metadata\r\nWARC-Type: resource\r\n", isCapture: false),
            Header(lines: "\r\n\r\nWARC/1.0\r\nWARC-Type: metadata\r\n", isCapture: false),
            // Beyond what is read first.
            Header(lines: "WARC/1.0\r\n\(long)WARC-Type: metadata\r\n", isCapture: false),
            Header(lines: "WARC/1.0\r\n\(long)WARC-Type: resource\r\n", isCapture: true),
            Header(lines: "WARC/1.0\r\nX: a\r\n", isCapture: false),
            // What can't be read counts, so that the problem is shown.
            Header(lines: "HTTP/1.1 200 OK\r\nWARC-Type: metadata\r\n", isCapture: true),
        ], [true, false])
    func headerDecides(header: Header, isCompressed: Bool) throws {
        let record = Array("\(header.lines)Content-Length: 22\r\n\r\n\r\nWARC-Type: metadata\r\n\r\n".utf8)
        let stored = isCompressed ? GeneratedArchive.gzip(record) : record
        // Between others, with whose buffers it's read.
        let others = ["resource", "metadata"].map { type in
            let bytes = Array("WARC/1.1\r\nWARC-Type: \(type)\r\nContent-Length: 0\r\n\r\n\r\n\r\n".utf8)
            return isCompressed ? GeneratedArchive.gzip(bytes) : bytes
        }
        var warc: [UInt8] = []
        var index = ""
        for (number, bytes) in [others[0], stored, others[1], stored].enumerated() {
            index +=
                "a)/\(number) 20240102030405 {\"url\":\"http://a/\(number)\",\"mime\":\"text/plain\",\"filename\":\"d.warc\","
                + "\"offset\":\(warc.count),\"length\":\(bytes.count)}\n"
            warc += bytes
        }
        let wacz = try WACZFile.open(
            MemoryByteSource(
                GeneratedArchive.zip([.init("archive/d.warc", warc), .init("indexes/index.cdx", Array(index.utf8))]),
                name: "a.wacz"))
        let expected = [0] + (header.isCapture ? [1, 3] : [])
        for _ in 0..<2 {
            var found: [String] = []
            try wacz.forEachIndexEntry { entry, _ in
                found.append(entry.url)
                return true
            }
            #expect(found == expected.map { "http://a/\($0)" })
        }
        let lookedUp = try (0..<4).filter { try wacz.closestCapture(toURL: "http://a/\($0)", at: nil) != nil }
        #expect(lookedUp == expected)
    }
}
