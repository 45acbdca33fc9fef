import CZlib

extension GeneratedArchive {
    /// The number of lines in a block of a gzipped index.
    private static let blockLines = 2

    /// Returns the index files for sorted lines.
    func indexEntries(_ lines: [String]) -> [Entry] {
        let text = Array(lines.joined().utf8)
        switch layout {
        case .plain: return [Entry("indexes/index.cdx", text)]
        case .unsorted: return [Entry("indexes/index.cdx", Array(lines.reversed().joined().utf8))]
        case .missing: return []
        case .deflated: return [Entry("indexes/index.cdx", text, isDeflated: true)]
        case .gzipped: return [Entry("indexes/index.cdx.gz", Self.gzip(text))]
        case .zipNum: return zipNum(lines)
        case .zipNumDeflated: return zipNum(lines, isIDXDeflated: true)
        case .zipNumOtherDigest: return zipNum(lines, digest: "sha256:" + String(repeating: "0", count: 64))
        case .zipNumGarbage: return [zipNum(lines)[0], Entry("indexes/index.idx", [0x00, 0xFF, 0x0A, 0x67, 0x0A])]
        }
    }

    /// Returns a ZipNum index. CDXJ 0.1.0, "ZipNum". `digest` is the declared digest of the first block.
    private func zipNum(_ lines: [String], isIDXDeflated: Bool = false, digest: String? = nil) -> [Entry] {
        var blocks: [UInt8] = []
        var idx = "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n"
        for start in stride(from: 0, to: lines.count, by: Self.blockLines) {
            let block = Self.gzip(Array(lines[start..<min(start + Self.blockLines, lines.count)].joined().utf8))
            let key = lines[start].split(separator: " ").prefix(2).joined(separator: " ")
            let told = start == 0 ? digest.map { ", \"digest\": \"\($0)\"" } ?? "" : ""
            idx += "\(key) {\"offset\": \(blocks.count), \"length\": \(block.count)\(told)}\n"
            blocks += block
        }
        return [
            Entry("indexes/index.cdx.gz", blocks),
            Entry("indexes/index.idx", Array(idx.utf8), isDeflated: isIDXDeflated),
        ]
    }

    package static func gzip(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: MAX_WBITS + 16) }

    /// Compresses with zlib's `deflate`.
    static func deflated(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = bytes
        let bound = Int(deflateBound(&stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            input.withUnsafeMutableBufferPointer { source in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(bound)
                _ = deflate(&stream, Z_FINISH)
            }
            count = bound - Int(stream.avail_out)
        }
    }
}
