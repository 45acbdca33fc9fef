import CZlib
import Crypto
import Foundation
import GRDB
import WebArchive

/// A text as it is stored: headings, then all lines, in UTF-8.
struct SearchText {
    let bytes: [UInt8]
    let headingsSize: Int

    var headings: ArraySlice<UInt8> { bytes[..<headingsSize] }
    var body: ArraySlice<UInt8> { bytes[headingsSize...] }

    /// Identifies equal texts.
    func digest() -> Data {
        var hash = SHA256()
        hash.update(data: Data("\(headingsSize) ".utf8))
        hash.update(data: bytes)
        return Data(hash.finalize()).prefix(16)
    }

    init(_ part: TextPart) {
        let headings = Self.valid(part.headings)
        (bytes, headingsSize) = (headings + Self.valid(part.body), headings.count)
    }

    private init(bytes: [UInt8], headingsSize: Int) {
        (self.bytes, self.headingsSize) = (bytes, min(headingsSize, bytes.count))
    }

    static func fetch(_ database: Database, number: Int64) throws -> SearchText {
        struct Stored: Decodable, FetchableRecord {
            let headings: Int
            let size: Int
            let compressed: Data
        }
        let statement = try database.cachedStatement(
            sql: "SELECT headings, size, compressed FROM text WHERE number = ?")
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
        return SearchText(bytes: bytes, headingsSize: row.headings)
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
    private static func valid(_ bytes: [UInt8]) -> [UInt8] {
        Array(WordFolding.composed(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    private static let level: Int32 = 3
}
