import Foundation
import WebArchive

/// A file that was saved from an archive: a line of the list beside the files, documented in `docs/warc.md`.
struct SavedFile: Encodable {
    let file: String
    let url: String
    let timestamp: String
    let capturedAt: String?
    let mime: String?
    let size: UInt64
    let sha256: String
    /// The digest as the index has it.
    let digest: String?

    init(file: String, of capture: OpenCapture, size: UInt64, sha256: String) {
        (self.file, self.size, self.sha256) = (file, size, sha256)
        let entry = capture.entry
        (url, timestamp, mime, digest) = (entry.url, entry.timestamp, capture.mime, entry.digest)
        capturedAt = RFC3339.text(ofTimestamp: entry.timestamp)
    }
}

/// The list of the files that an export has saved, as JSON Lines. It's kept on disk in a file without a name until it's
/// complete, since it can be large.
struct SavedFileList {
    /// The name of the list among the files.
    static let name = "files.jsonl"
    private let lines: Descriptor

    init() throws {
        let path = NSTemporaryDirectory() + "/replayhost-\(UUID().uuidString.lowercased())"
        lines = try Descriptor(path: path, flags: O_RDWR | O_CREAT | O_EXCL)
        try Folder.delete(path)
    }

    /// Adds a file, and returns the size of its line.
    func add(_ file: SavedFile) throws -> UInt64 {
        let line = try JSONText.encoded(file) + [0x0A]
        try line.withUnsafeBytes { try lines.append($0) }
        return UInt64(line.count)
    }

    func contents() throws -> FileByteSource { try lines.bytes(named: Self.name) }
}
