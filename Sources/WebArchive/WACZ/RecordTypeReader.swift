/// Tells captures from other records by the first bytes of their headers. For use on one thread.
///
/// Index lines without a status don't say what their records are, and there can be very many of them, in any order. This opens
/// no record as a whole: it reads and decompresses as much as the type takes, with the same buffers each time.
final class RecordTypeReader {
    private let wacz: WACZFile
    private var inflater: Inflater?
    /// The WARC file of the last entry; `nil` if it's missing, or compressed in the ZIP.
    private var file: (name: String, source: SubrangeByteSource?)?
    private let stored: UnsafeMutableRawBufferPointer
    private let inflated: UnsafeMutableRawBufferPointer

    init(_ wacz: WACZFile) {
        self.wacz = wacz
        stored = .allocate(byteCount: 1024, alignment: 16)
        inflated = .allocate(byteCount: 512, alignment: 16)
    }

    deinit {
        stored.deallocate()
        inflated.deallocate()
    }

    /// See `WACZFile.isCapture`.
    func isCapture(_ entry: CDXJEntry) -> Bool {
        if entry.saysCapture { return true }
        if let type = try? type(of: entry) { return WARCRecord.isCapture(type: type) }
        // In a file that the ZIP compresses, each record would have to be searched from the start.
        guard wacz.warcEntry(named: entry.filename)?.method == .stored else {
            return !["text/anvl", "application/warc-fields"].contains(entry.mime?.lowercased())
        }
        return (try? wacz.record(of: entry))?.isCapture ?? true
    }

    /// Returns the type of a record in lower case; `nil` if its first bytes don't tell.
    private func type(of entry: CDXJEntry) throws(WebArchiveError) -> String? {
        guard let source = try source(of: entry), let range = entry.range, range.upperBound <= source.size else {
            return nil
        }
        try wacz.allowance.charge(Self.chargedBytes, file: source.name)
        let wanted = stored.prefix(Int(clamping: range.upperBound - range.lowerBound))
        let count = try source.read(at: entry.offset, into: UnsafeMutableRawBufferPointer(rebasing: wanted))
        let start = UnsafeRawBufferPointer(rebasing: stored.prefix(count))
        guard GzipMember.starts(start) else { return Self.type(in: start) }
        if let inflater { inflater.reset() } else { inflater = try Inflater(format: .gzip, file: source.name) }
        guard let step = try inflater?.inflate(start, into: inflated) else { return nil }
        return Self.type(in: UnsafeRawBufferPointer(rebasing: inflated.prefix(step.produced)))
    }

    private func source(of entry: CDXJEntry) throws(WebArchiveError) -> SubrangeByteSource? {
        if let file, file.name == entry.filename { return file.source }
        let warc = wacz.warcEntry(named: entry.filename)
        let source: SubrangeByteSource? =
            if let warc, warc.method == .stored { try wacz.directory.bytes(of: warc) } else { nil }
        file = (entry.filename, source)
        return source
    }

    /// Returns the value of `WARC-Type` in the complete lines of a header's start.
    private static func type(in head: UnsafeRawBufferPointer) -> String? {
        guard WARCRecord.starts(head.prefix(5)) else { return nil }
        let lines = head.split(separator: 0x0A, omittingEmptySubsequences: false)
        // The last one may be cut, and the one before may go on in it.
        for (line, next) in zip(lines.dropFirst(), lines.dropFirst(2)) {
            if line.isEmpty || line.count == 1 && line.first == 0x0D { return nil }
            guard line.lazy.map(\.asciiLowercased).starts(with: Self.field) else { continue }
            let value = line.dropFirst(Self.field.count)
            guard value.first == UInt8(ascii: ":"), let start = next.first, start != 0x20, start != 0x09 else {
                return nil
            }
            return HeaderFields.trimmed(Array(value.dropFirst())[...]).lowercased()
        }
        return nil
    }

    private static let field = Array("warc-type".utf8)
    /// What this counts as, in decompressed bytes.
    private static let chargedBytes = 2 << 10
}
