/// A line of an `.idx` file: the first line of a block, and its location in the gzipped index.
///
/// Two forms exist: `<urlkey> <timestamp> {"offset": …, "length": …, "digest": …}` (CDXJ 0.1.0, "ZipNum"), and the
/// older `<urlkey> <timestamp>\t<file>\t<offset>\t<length>`.
struct ZipNumLine: Sendable, Hashable {
    /// The key, a space and the timestamp of the block's first line.
    let sortKey: ArraySlice<UInt8>
    /// The byte offset of the block in the gzipped index.
    let offset: UInt64
    /// The compressed size of the block in bytes.
    let length: UInt64
    /// The name of the gzipped index; `nil` if the line doesn't include it.
    let filename: String?
    /// The digest of the compressed block; `nil` if the line doesn't include it.
    let digest: WARCDigest?

    /// The byte offset after the block; `nil` if it overflows.
    var end: UInt64? {
        let (end, overflow) = offset.addingReportingOverflow(length)
        return overflow ? nil : end
    }

    /// Parses a line; `nil` if it names no block.
    init?(_ line: [UInt8]) {
        guard let place = line.contains(UInt8(ascii: "\t")) ? Self.tabbed(line) : Self.json(line) else { return nil }
        sortKey = CDXJLine.sortKey(of: line[...])
        (offset, length, filename, digest) = place
    }

    /// Returns whether a line is empty, `!meta`, or names a block within `blocksLength` bytes.
    static func isValid(_ line: [UInt8], blocksLength: UInt64) -> Bool {
        if line.isEmpty || line.starts(with: "!meta".utf8) { return true }
        guard let end = ZipNumLine(line)?.end else { return false }
        return end <= blocksLength
    }

    /// Returns the name of the gzipped index in a `!meta` line.
    static func filename(inHeader line: [UInt8]) -> String? {
        guard line.starts(with: "!meta".utf8), let start = line.firstIndex(of: UInt8(ascii: "{")),
            let value = try? JSONValue.parse(Array(line[start...]), depthMax: depthMax)
        else { return nil }
        return value["filename"]?.string
    }

    private typealias Place = (UInt64, UInt64, String?, WARCDigest?)

    private static func tabbed(_ line: [UInt8]) -> Place? {
        let parts = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count >= 4, let offset = UInt64(parts[2]), let length = UInt64(parts[3]) else { return nil }
        return (offset, length, parts[1], nil)
    }

    private static func json(_ line: [UInt8]) -> Place? {
        let key = CDXJLine.sortKey(of: line[...])
        guard let start = line[key.endIndex...].firstIndex(of: UInt8(ascii: "{")),
            let value = try? JSONValue.parse(Array(line[start...]), depthMax: depthMax),
            let offset = value["offset"]?.unsigned, let length = value["length"]?.unsigned
        else { return nil }
        return (offset, length, value["filename"]?.string, value["digest"]?.string.flatMap { WARCDigest($0) })
    }

    private static let depthMax = 8
}
