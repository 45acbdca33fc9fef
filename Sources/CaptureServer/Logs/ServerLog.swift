import ArchiveStore
import CaptureAPI
import Foundation

/// Reads `server.log`, also while it grows.
struct ServerLog: Sendable {
    let path: String
    private static let bytesMax: UInt64 = 64 << 10

    /// Returns whole lines from an offset.
    ///
    /// - Parameter offset: In bytes; `nil` for the end of the log. After the log was emptied, it begins again.
    func part(from offset: UInt64?) throws -> ServerLogPart {
        guard Folder.isFile(path) else { return ServerLogPart(offset: 0, next: 0, lines: []) }
        let file = try Descriptor(path: path, flags: O_RDONLY)
        let size = try file.size()
        var start = offset ?? size - min(size, Self.bytesMax)
        if start > size { start = 0 }
        var bytes = try file.bytes(at: start, upTo: Int(Self.bytesMax))[...]
        // The last line may not be complete yet, unless it's longer than a part.
        if let end = bytes.lastIndex(of: 10) {
            bytes = bytes[...end]
        } else if bytes.count < Self.bytesMax {
            bytes = []
        }
        let next = start + UInt64(bytes.count)
        if offset == nil, start > 0, let first = bytes.firstIndex(of: 10) { bytes = bytes[(first + 1)...] }
        var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return ServerLogPart(offset: start, next: next, lines: lines)
    }
}
