import Synchronization
import WebArchive

/// Writes indexes, and archives that contain them.
enum IndexBuilder {
    static func line(
        _ key: String, _ timestamp: String, url: String, filename: String = "data.warc.gz", offset: Int = 0,
        more: String = ""
    ) -> String {
        "\(key) \(timestamp) {\"url\":\"\(url)\",\"filename\":\"\(filename)\",\"offset\":\(offset),\"length\":10\(more)}"
    }

    /// Returns the lines as a ZipNum index: gzipped blocks and an `.idx` file.
    static func zipNum(
        _ lines: [String], blockLines: Int, usesTabs: Bool = false, digest: (([UInt8]) -> String)? = nil
    ) -> (idx: String, blocks: [UInt8]) {
        var blocks: [UInt8] = []
        var idx = usesTabs ? "" : "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n"
        for start in stride(from: 0, to: lines.count, by: blockLines) {
            let part = lines[start..<min(start + blockLines, lines.count)]
            let member = Deflater.gzip(Array((part.joined(separator: "\n") + "\n").utf8))
            let head = lines[start].split(separator: " ").prefix(2).joined(separator: " ")
            if usesTabs {
                idx += "\(head)\tindex.cdx.gz\t\(blocks.count)\t\(member.count)\t\(start / blockLines + 1)\n"
            } else {
                let told = digest.map { ", \"digest\": \"\($0(member))\"" } ?? ""
                idx += "\(head) {\"offset\": \(blocks.count), \"length\": \(member.count)\(told)}\n"
            }
            blocks += member
        }
        return (idx, blocks)
    }

    static func wacz(_ indexes: [ZIPBuilder.Entry]) -> [UInt8] {
        ArchiveBuilder.wacz { entries in
            entries.remove(at: 1)
            entries += indexes
        }
    }

    static func open(_ indexes: [ZIPBuilder.Entry], limits: Limits = .standard) throws(WebArchiveError) -> WACZFile {
        try ArchiveBuilder.open(wacz(indexes), limits: limits)
    }

    /// Returns archives with the lines in every layout. The last four have to be scanned.
    static func layouts(_ lines: [String]) -> [(name: String, entries: [ZIPBuilder.Entry])] {
        let text = lines.joined(separator: "\n") + "\n"
        let (idx, blocks) = zipNum(lines, blockLines: 7)
        let (tabbed, sameBlocks) = zipNum(lines, blockLines: 3, usesTabs: true)
        let deflated = ZIPBuilder.Entry("indexes/index.cdx", text).with { $0.isDeflated = true }
        return [
            ("plain", [.init("indexes/index.cdx", text)]),
            ("cdxj", [.init("indexes/index.cdxj", "!meta 0 {}\n CDX N b a\n\n" + text)]),
            ("crlf", [.init("indexes/index.cdx", lines.joined(separator: "\r\n") + "\r\n")]),
            ("no final line end", [.init("indexes/index.cdx", String(text.dropLast()))]),
            ("zipnum", [.init("indexes/index.cdx.gz", blocks), .init("indexes/index.idx", idx)]),
            (
                "zipnum, idx deflated",
                [
                    .init("indexes/index.cdx.gz", blocks),
                    ZIPBuilder.Entry("indexes/index.idx", idx).with { $0.isDeflated = true },
                ]
            ),
            ("zipnum, tabs", [.init("indexes/index.cdx.gz", sameBlocks), .init("indexes/index.idx", tabbed)]),
            ("deflated", [deflated]), ("gz without idx", [.init("indexes/index.cdx.gz", blocks)]),
            ("idx garbage", [.init("indexes/index.cdx.gz", blocks), .init("indexes/index.idx", "\u{0}garbage\n")]),
            ("idx empty", [.init("indexes/index.cdx.gz", blocks), .init("indexes/index.idx", "")]),
        ]
    }
}

/// Counts the reads of another source.
final class CountingByteSource: ByteSource {
    let base: any ByteSource
    private let counts = Mutex((reads: 0, bytes: 0))
    var name: String { base.name }
    var size: UInt64 { base.size }

    init(_ base: any ByteSource) {
        self.base = base
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        let count = try base.read(at: offset, into: buffer)
        counts.withLock { $0 = ($0.reads + 1, $0.bytes + count) }
        return count
    }

    /// Returns the number of reads and bytes since the last call.
    func take() -> (reads: Int, bytes: Int) {
        counts.withLock { counts in
            defer { counts = (0, 0) }
            return counts
        }
    }
}

/// A sorted index of any number of lines of the same length, which is generated as it's read.
struct GeneratedLines: ByteSource {
    private static let lineBytes = 128
    let name = "index.cdx"
    let count: Int
    var size: UInt64 { UInt64(count * Self.lineBytes) }

    private static func digits(_ number: Int) -> String { String(String(number + 10_000_000).dropFirst()) }

    static func url(_ number: Int) -> String { "http://example.org/\(digits(number))" }

    static func line(_ number: Int) -> [UInt8] {
        let head =
            "org,example)/\(digits(number)) 20230101000000 {\"url\":\"\(url(number))\",\"filename\":\"a.warc\",\"offset\":"
        let offset = String(number)
        return Array(
            "\(head)\(String(repeating: " ", count: lineBytes - 2 - head.utf8.count - offset.utf8.count))\(offset)}\n"
                .utf8)
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        var done = 0
        while done < buffer.count, offset + UInt64(done) < size {
            let position = Int(offset) + done
            let rest = Self.line(position / Self.lineBytes).dropFirst(position % Self.lineBytes).prefix(
                buffer.count - done)
            UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyBytes(from: rest)
            done += rest.count
        }
        return done
    }
}
