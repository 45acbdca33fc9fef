/// A decompressed block of a ZipNum index, with at least one line. Its order is checked in `init`.
final class ZipNumBlock: Sendable {
    private let text: [UInt8]
    private let lines: [Range<Int>]
    var lineCount: Int { lines.count }
    var byteCount: Int { text.count }

    /// The problem of a block that the `.idx` file names by another line, which `SequentialReason` recognizes.
    static let wrongFirstLine = "the block doesn't begin with the line given in the .idx file"

    /// - Throws: `badIndex` if there are no lines, they aren't sorted, or the first one doesn't match `place`.
    init(_ text: [UInt8], place: ZipNumLine, file: String, limits: Limits) throws(WebArchiveError) {
        var lines: [Range<Int>] = []
        var previous: ArraySlice<UInt8> = []
        var start = 0
        let newline: [UInt8] = [0x0A]
        while start < text.count {
            let stop = text[start...].firstRange(ofBytes: newline)?.lowerBound ?? text.count
            let end = stop > start && text[stop - 1] == UInt8(ascii: "\r") ? stop - 1 : stop
            let range = start..<end
            start = stop + 1
            guard !range.isEmpty, !Self.isHeader(text[range]) else { continue }
            guard range.count <= limits.indexLineBytesMax else { continue }
            let key = CDXJLine.sortKey(of: text[range])
            if lines.isEmpty, !key.elementsEqual(place.sortKey) {
                throw Self.invalid(Self.wrongFirstLine, file, place)
            }
            guard !key.lexicographicallyPrecedes(previous) else {
                throw Self.invalid("the block isn't sorted", file, place)
            }
            previous = key
            lines.append(range)
            guard lines.count <= limits.indexBlockLinesMax else {
                throw Self.invalid("a block has more than \(limits.indexBlockLinesMax) lines", file, place)
            }
        }
        guard !lines.isEmpty else { throw Self.invalid("the block has no lines", file, place) }
        self.text = text
        self.lines = lines
    }

    /// Looks at the first byte first: few lines begin with either.
    private static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
        switch line.first {
        case UInt8(ascii: "!"): line.starts(with: "!meta".utf8)
        case UInt8(ascii: " "): line.starts(with: " CDX ".utf8)
        default: false
        }
    }

    func line(_ index: Int) -> [UInt8] { Array(text[lines[index]]) }

    /// Returns the number of the first line that isn't below `target`.
    func lowerBound(_ target: [UInt8]) -> Int {
        lines.partition { !text[$0].lexicographicallyPrecedes(target) }
    }

    static func invalid(_ problem: String, _ file: String, _ place: ZipNumLine) -> WebArchiveError {
        WebArchiveError(code: .badIndex, problem: problem, file: file, offset: place.offset)
    }
}

/// A cache of recently used blocks, bounded in number and in bytes.
struct ZipNumBlockCache {
    /// The location of a block.
    struct Key: Hashable {
        let file: Int
        let offset: UInt64
        let length: UInt64
    }

    private let countMax: Int
    private let bytesMax: Int
    /// The blocks, least recently used first. There are few, so a list is fast enough.
    private var blocks: [(key: Key, block: ZipNumBlock)] = []
    /// Blocks that were read before and whose digest, if any, was right.
    private var checked: Set<Key> = []
    private(set) var byteCount = 0
    var count: Int { blocks.count }
    /// The approximate memory of `checked`, in bytes.
    var checkedByteCount: Int { 2 * checked.count * MemoryLayout<Key>.stride }

    /// The digests of further blocks are checked whenever they're read.
    static let checkedMax = 65_536

    init(limits: Limits) {
        countMax = max(limits.cachedIndexBlocksMax, 1)
        bytesMax = limits.cachedIndexBlockBytesMax
    }

    mutating func block(_ key: Key) -> ZipNumBlock? {
        guard let place = blocks.lastIndex(where: { $0.key == key }) else { return nil }
        let found = blocks.remove(at: place)
        blocks.append(found)
        return found.block
    }

    mutating func add(_ block: ZipNumBlock, _ key: Key) {
        guard !blocks.contains(where: { $0.key == key }) else { return }
        if checked.count < Self.checkedMax { checked.insert(key) }
        blocks.append((key, block))
        byteCount += block.byteCount
        while blocks.count > 1, blocks.count > countMax || byteCount > bytesMax {
            byteCount -= blocks.removeFirst().block.byteCount
        }
    }

    func isChecked(_ key: Key) -> Bool { checked.contains(key) }
}
