/// One line of a ZipNum `.idx`: the first line of a block, and where in the gzipped index the block is.
///
/// Two forms are found: `<urlkey> <timestamp> {"offset": …, "length": …, "digest": …}` (CDXJ 0.1.0, "ZipNum"), and the
/// older `<urlkey> <timestamp>\t<file>\t<offset>\t<length>`.
struct ZipNumLine: Sendable, Hashable {
    /// Key, space and timestamp of the block's first line.
    let sortKey: ArraySlice<UInt8>
    /// Byte offset of the block in the gzipped index.
    let offset: UInt64
    /// Bytes of the compressed block.
    let length: UInt64
    /// Name of the gzipped index; `nil` when the line does not tell.
    let filename: String?
    /// Digest of the compressed block; `nil` when the line does not tell.
    let digest: WARCDigest?

    /// The byte offset behind the block; `nil` when it does not fit.
    var end: UInt64? {
        let (end, overflow) = offset.addingReportingOverflow(length)
        return overflow ? nil : end
    }

    /// `nil` for a line that names no block.
    init?(_ line: [UInt8]) {
        guard let place = line.contains(UInt8(ascii: "\t")) ? Self.tabbed(line) : Self.json(line) else { return nil }
        sortKey = CDXJLine.sortKey(of: line[...])
        (offset, length, filename, digest) = place
    }

    /// Whether a line is empty, `!meta`, or names a block inside of `blocksLength` bytes.
    static func isHarmless(_ line: [UInt8], blocksLength: UInt64) -> Bool {
        if line.isEmpty || line.starts(with: "!meta".utf8) { return true }
        guard let end = ZipNumLine(line)?.end else { return false }
        return end <= blocksLength
    }

    /// The name of the gzipped index that a `!meta` line tells.
    static func filename(inHeader line: [UInt8]) -> String? {
        guard line.starts(with: "!meta".utf8), let start = line.firstIndex(of: UInt8(ascii: "{")),
            case .success(let value) = parsed(line[start...])
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
            case .success(let value) = parsed(line[start...]), let offset = value["offset"]?.unsigned,
            let length = value["length"]?.unsigned
        else { return nil }
        return (offset, length, value["filename"]?.string, value["digest"]?.string.flatMap { WARCDigest($0) })
    }

    private static func parsed(_ text: ArraySlice<UInt8>) -> Result<JSONValue, JSONProblem> {
        do throws(JSONProblem) {
            return .success(try JSONValue.parse(Array(text), depthMax: 8))
        } catch {
            return .failure(error)
        }
    }
}
