import Foundation

/// Reads and writes the JSON documents of a store. Times are RFC 3339, UTC, with microseconds.
package enum StoreDocument {
    /// - Parameter bytesMax: The maximum size.
    /// - Throws: `StoreError`: `notFound`, `documentDamaged` if the file isn't a valid document.
    package static func read<Value: Decodable>(
        _ type: Value.Type, at path: String, bytesMax: Int = Self.bytesMax
    ) throws -> Value {
        let file: Descriptor
        do {
            file = try Descriptor(path: path)
        } catch {
            throw error.code == .notAFile ? StoreError(.documentDamaged, error.what, place: path) : error
        }
        let size = Int(try file.status().st_size)
        guard (1...bytesMax).contains(size) else {
            throw StoreError(
                .documentDamaged, "invalid file size: \(size) bytes instead of 1 to \(bytesMax)", place: path)
        }
        var bytes = Data(count: size)
        let count = try bytes.withUnsafeMutableBytes { try file.read(at: 0, into: $0) }
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .custom { decoder in
                let container = try decoder.singleValueContainer()
                guard let date = RFC3339.date(try container.decode(String.self)) else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "no RFC 3339 time")
                }
                return date
            }
            return try decoder.decode(type, from: bytes.prefix(count))
        } catch {
            throw StoreError(.documentDamaged, "this file isn't valid: replayhost can't read its JSON", place: path)
        }
    }

    /// Writes a document atomically: to a temporary file, which is flushed and then renamed.
    package static func write(_ value: some Encodable, to path: String, bytesMax: Int = Self.bytesMax) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(RFC3339.preciseText(of: date))
        }
        let bytes = try encoder.encode(value)
        guard bytes.count <= bytesMax else {
            throw StoreError(
                .failed, "too large to save: \(bytes.count) bytes; the maximum is \(bytesMax)", place: path)
        }
        let temporary = path + temporarySuffix
        let file = try Descriptor(path: temporary, flags: O_WRONLY | O_CREAT | O_TRUNC)
        do {
            try bytes.withUnsafeBytes { try file.append($0) }
            try file.synchronize()
            try Folder.move(temporary, to: path)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Returns a text that changes when the file does; `nil` if there is no file.
    package static func stamp(of path: String) -> String? {
        guard let status = Folder.status(of: path, followsLink: false) else { return nil }
        return "\(status.st_ino)-\(status.st_size)-\(status.modifiedAtNanoseconds)"
    }

    static let temporarySuffix = ".new"
    /// The maximum size of a sidecar or a collection.
    static let bytesMax = 1 << 20
}

extension stat {
    var isFile: Bool { st_mode & S_IFMT == S_IFREG }

    /// The size, the times of the last changes of contents and of attributes, and the number in the file system, as one text. A
    /// file that is changed, replaced or copied gets another one: programs can't set the second time (`st_ctim`), except by the clock.
    package var state: String { "\(st_size)-\(modifiedAtNanoseconds)-\(changedAtNanoseconds)-\(st_ino)" }

    private var changedAtNanoseconds: Int64 {
        #if os(Linux)
        Int64(st_ctim.tv_sec) * 1_000_000_000 + Int64(st_ctim.tv_nsec)
        #else
        Int64(st_ctimespec.tv_sec) * 1_000_000_000 + Int64(st_ctimespec.tv_nsec)
        #endif
    }

    /// The modification time (mtime) in nanoseconds since 1970.
    var modifiedAtNanoseconds: Int64 {
        #if os(Linux)
        Int64(st_mtim.tv_sec) * 1_000_000_000 + Int64(st_mtim.tv_nsec)
        #else
        Int64(st_mtimespec.tv_sec) * 1_000_000_000 + Int64(st_mtimespec.tv_nsec)
        #endif
    }
}
