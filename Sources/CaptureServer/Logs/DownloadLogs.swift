import ArchiveStore
import CZstd
package import CaptureAPI
import CaptureWorker
import Foundation

/// The logs of downloads: plain text in the session folder while a download is active, then compressed by month.
package struct DownloadLogs: Sendable {
    private let layout: CaptureLayout

    package init(layout: CaptureLayout) {
        self.layout = layout
    }

    private static let bytesMax = AttemptLog.bytesMax

    /// Compresses the log of a session. Does nothing if there is none.
    func store(_ row: DownloadRow) throws {
        guard let id = row.logID, let bytes = try active(row) else { return }
        let path = path(id, row.createdAt)
        try Folder.create((path as NSString).deletingLastPathComponent)
        let temporary = path + ".new"
        try Folder.delete(temporary)
        let file = try Descriptor(path: temporary, flags: O_WRONLY | O_CREAT | O_EXCL)
        try Self.compressed(bytes).withUnsafeBytes { try file.append($0) }
        try Folder.move(temporary, to: path)
    }

    /// Returns lines of a download's log; an empty page if it has none.
    package func page(_ row: DownloadRow, offset: Int, limit: Int) throws -> LogPage {
        let bytes = try bytes(row)
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        let shown = lines.dropFirst(offset).prefix(limit).map { String(decoding: $0, as: UTF8.self) }
        return LogPage(logID: row.logID ?? "", total: lines.count, offset: offset, lines: shown)
    }

    func delete(_ row: DownloadRow) throws {
        if let id = row.logID { try Folder.delete(path(id, row.createdAt)) }
    }

    private func bytes(_ row: DownloadRow) throws -> [UInt8] {
        if let bytes = try active(row) { return bytes }
        guard let id = row.logID, Folder.isFile(path(id, row.createdAt)) else { return [] }
        return try Self.decompressed(Self.read(path(id, row.createdAt)))
    }

    /// Returns the log of a download that is active; `nil` if its folder has none, or not any more.
    private func active(_ row: DownloadRow) throws -> [UInt8]? {
        let session = layout.session(row.sessionID)
        do {
            return try SessionFolder(session).read(SessionFile.log, bytesMax: Self.bytesMax)
        } catch {
            // The hand-over stores the log first, and then deletes the folder, maybe just now.
            let isRefused = (error as? StoreError)?.code == .refused
            guard Folder.isFolder(session), !isRefused else { return nil }
            throw error
        }
    }

    private func path(_ id: String, _ createdAt: String) -> String {
        "\(layout.logs)/\(createdAt.prefix(7))/log_\(id).zst"
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let file = try Descriptor(path: path, flags: O_RDONLY)
        return try file.bytes(at: 0, upTo: min(Int(clamping: try file.size()), bytesMax))
    }

    static func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { buffer, count in
            let size = ZSTD_compress(buffer.baseAddress, buffer.count, bytes, bytes.count, 3)
            guard ZSTD_isError(size) == 0 else { throw StoreError(.failed, "the log can't be compressed") }
            count = size
        }
    }

    static func decompressed(_ bytes: [UInt8]) throws -> [UInt8] {
        let size = ZSTD_getFrameContentSize(bytes, bytes.count)
        guard size <= UInt64(bytesMax) else { throw StoreError(.failed, "the log is damaged") }
        return try [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            let found = ZSTD_decompress(buffer.baseAddress, buffer.count, bytes, bytes.count)
            guard ZSTD_isError(found) == 0 else { throw StoreError(.failed, "the log is damaged") }
            count = found
        }
    }
}
