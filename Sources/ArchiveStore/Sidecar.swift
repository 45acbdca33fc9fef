import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `SHA256.json` beside an archive's file: what the file itself cannot tell. The catalog is rebuilt from these.
struct Sidecar: Codable, Hashable {
    /// Of this file; a later version that adds keys counts on.
    var format = 1
    var id: String
    var title: String
    var originalName: String
    var source: String
    /// RFC 3339, UTC.
    var importedAt: String

    static func read(at path: String) throws -> Sidecar {
        let file = try Descriptor(path: path, flags: O_RDONLY)
        let size = Int(try file.status().st_size)
        guard (1...bytesMax).contains(size) else {
            throw StoreError(.unusable, "the sidecar has \(size) bytes, 1 to \(bytesMax) are possible", place: path)
        }
        var bytes = Data(count: size)
        let count = try bytes.withUnsafeMutableBytes { try file.read(at: 0, into: $0) }
        do {
            return try JSONDecoder().decode(Sidecar.self, from: bytes.prefix(count))
        } catch {
            throw StoreError(.unusable, "the sidecar is not the JSON that replayhost writes", place: path)
        }
    }

    /// Written whole or not at all: to a file beside it, flushed, then renamed over it.
    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes = try encoder.encode(self)
        let temporary = path + ".new"
        let file = try Descriptor(path: temporary, flags: O_WRONLY | O_CREAT | O_TRUNC)
        try bytes.withUnsafeBytes { try file.append($0) }
        try file.synchronize()
        try Folder.move(temporary, to: path)
    }

    private static let bytesMax = 1 << 20
}
