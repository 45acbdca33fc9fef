import CZlib
import Crypto
import Foundation
import GRDB
import WebArchive

/// A text as it is stored: headings, then all lines, in UTF-8.
struct SearchText {
    let bytes: [UInt8]
    let headingsSize: Int
    /// The lines of the body that are beside the page's content, in order.
    let beside: [Range<Int>]

    var headings: ArraySlice<UInt8> { bytes[..<headingsSize] }
    var body: ArraySlice<UInt8> { bytes[headingsSize...] }

    /// The lines of the body that are the page's content.
    var content: [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(body.count)
        var position = 0
        for range in beside {
            content += body[shifted(position..<range.lowerBound)]
            position = range.upperBound
        }
        return content + body[shifted(position..<body.count)]
    }

    /// The lines of the body that are beside it.
    var besideContent: [UInt8] { beside.flatMap { body[shifted($0)] } }

    private func shifted(_ range: Range<Int>) -> Range<Int> {
        range.lowerBound + headingsSize..<range.upperBound + headingsSize
    }

    /// `beside` as it is stored: for each range, its distance from the end of the one before, and its length, as LEB128.
    var storedBeside: Data {
        var stored = Data()
        var end = 0
        for range in beside {
            for value in [range.lowerBound - end, range.count] {
                var rest = value
                while rest >= 0x80 {
                    stored.append(UInt8(rest & 0x7F) | 0x80)
                    rest >>= 7
                }
                stored.append(UInt8(rest))
            }
            end = range.upperBound
        }
        return stored
    }

    /// Reads `storedBeside`. Ignores what lies outside of the body.
    private static func ranges(_ stored: Data, bodySize: Int) -> [Range<Int>] {
        var values: [Int] = []
        var (value, shift) = (0, 0)
        for byte in stored {
            value |= Int(byte & 0x7F) << shift
            shift += 7
            guard byte < 0x80 || shift > 28 else { continue }
            values.append(value)
            (value, shift) = (0, 0)
        }
        var end = 0
        return stride(from: 0, to: values.count - 1, by: 2).compactMap { index in
            let range = end + values[index]..<end + values[index] + values[index + 1]
            end = range.upperBound
            return end <= bodySize ? range : nil
        }
    }

    /// Identifies equal texts of this version, whatever is beside their content: that depends on other pages, too.
    func digest() -> Data {
        var hash = SHA256()
        hash.update(data: Data("\(SearchSchema.contents) \(headingsSize) ".utf8))
        hash.update(data: bytes)
        return Data(hash.finalize()).prefix(16)
    }

    init(_ part: TextPart) {
        let headings = Self.valid(part.headings)
        var body: [UInt8] = []
        var beside: [Range<Int>] = []
        var position = 0
        // Pieces can change their size.
        for range in part.isAllBeside ? [] : part.beside {
            body += Self.valid(part.body[position..<range.lowerBound])
            let start = body.count
            body += Self.valid(part.body[range])
            beside.append(start..<body.count)
            position = range.upperBound
        }
        body += Self.valid(part.body[position...])
        (bytes, headingsSize, self.beside) = (headings + body, headings.count, beside)
    }

    private init(bytes: [UInt8], headingsSize: Int, beside: Data) {
        (self.bytes, self.headingsSize) = (bytes, min(headingsSize, bytes.count))
        self.beside = Self.ranges(beside, bodySize: bytes.count - self.headingsSize)
    }

    static func fetch(_ database: Database, number: Int64) throws -> SearchText {
        struct Stored: Decodable, FetchableRecord {
            let headings: Int
            let size: Int
            let beside: Data
            let compressed: Data
        }
        let statement = try database.cachedStatement(
            sql: "SELECT headings, size, beside, compressed FROM text WHERE number = ?")
        guard let row = try Stored.fetchOne(statement, arguments: [number]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a text is missing")
        }
        var size = UInt(clamping: row.size)
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let status = row.compressed.withUnsafeBytes { source in
            uncompress(&bytes, &size, source.bindMemory(to: UInt8.self).baseAddress, UInt(source.count))
        }
        guard status == Z_OK, size == row.size else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a text is damaged")
        }
        return SearchText(bytes: bytes, headingsSize: row.headings, beside: row.beside)
    }

    func compressed() throws -> [UInt8] {
        var size = compressBound(UInt(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(size))
        guard compress2(&output, &size, bytes, UInt(bytes.count), Self.level) == Z_OK else {
            throw StoreError(.failed, "not enough memory to compress a text")
        }
        return Array(output[..<Int(size)])
    }

    /// Returns valid UTF-8 with composed Hangul.
    private static func valid(_ bytes: some Collection<UInt8>) -> [UInt8] {
        Array(WordFolding.composed(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    private static let level: Int32 = 3
}
