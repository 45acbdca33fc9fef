import Crypto
import Foundation
import Synchronization
import WebArchive

/// A file that is being imported. It is locked as long as its process lives, and deleted unless it was committed.
final class IncomingArchive: Sendable {
    /// The name of the original file.
    let originalName: String
    /// Where it came from: a path, `standard input`, or `browser`.
    let source: String
    /// The modification time of the original file, in nanoseconds since 1970; `nil` if there is no file, or it is
    /// moved.
    let sourceModifiedAt: Int64?
    let file: Descriptor

    private struct State {
        /// Bytes written, and their hash.
        var size: UInt64 = 0
        var hash = SHA256()
        /// The SHA-256 of a copied or linked file.
        var sha256: String?
        var isCommitted = false
    }
    private let state = Mutex(State())

    /// - Parameter expectedSize: The size in bytes, if known. Free space is checked first.
    init(
        layout: StoreLayout, originalName: String, source: String, expectedSize: UInt64?, sourceModifiedAt: Int64? = nil
    ) throws {
        self.originalName = Self.cleanName(originalName)
        self.source = source
        self.sourceModifiedAt = sourceModifiedAt
        if let expectedSize { try layout.checkSpace(for: expectedSize, what: "the archive") }
        file = try layout.makeLockedFile()
    }

    /// Adds a file without copying it, by a hard link. The original stays until the archive is imported.
    ///
    /// - Returns: `nil` if that isn't possible: the file is on another file system, another user's, or has several
    ///   names.
    init?(layout: StoreLayout, linking path: String, source: Descriptor) throws {
        let status = try source.status()
        guard status.st_uid == geteuid(), status.st_nlink == 1 else { return nil }
        let name = layout.incomingCopy(UUID().uuidString.lowercased())
        guard link(path, name) == 0 else { return nil }
        do {
            let file = try Descriptor(path: name, flags: O_RDONLY)
            let linked = try file.status()
            // `repair` may have deleted the file before the lock, and the path may have become another file before the
            // link.
            guard linked.st_ino == status.st_ino, file.lock() != .heldByAnother, Folder.exists(name) else {
                unlink(name)
                return nil
            }
            self.file = file
        } catch {
            unlink(name)
            throw error
        }
        originalName = Self.cleanName(path)
        self.source = Folder.resolved(path)
        sourceModifiedAt = nil
    }

    deinit {
        if !state.withLock({ $0.isCommitted }) { unlink(file.path) }
    }

    /// Appends bytes from a source other than a file.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        try file.append(bytes)
        state.withLock { state in
            state.hash.update(bufferPointer: bytes)
            state.size += UInt64(bytes.count)
        }
    }

    /// The number of bytes appended; 0 for a copied or linked file.
    var size: UInt64 { state.withLock { $0.size } }

    /// Copies and hashes `source` from its position, at most `limit` bytes.
    func copy(from source: Descriptor, limit: UInt64? = nil, progress: (UInt64) throws -> Void) throws {
        let (_, sha256) = try HashedCopy(source: source, target: file, limit: limit).run(progress: progress)
        state.withLock { $0.sha256 = sha256 }
    }

    /// Hashes a file that was added by a hard link.
    ///
    /// - Throws: `StoreError` `failed` if another program changes it meanwhile.
    func hash(_ source: Descriptor, progress: (UInt64) throws -> Void) throws {
        let before = try source.state()
        let (_, sha256) = try FileHash.of(source, step: progress)
        guard try source.state() == before else { throw SourceFile.changed(self.source) }
        state.withLock { $0.sha256 = sha256 }
    }

    /// The SHA-256 of the file, in hex.
    var sha256: String { state.withLock { $0.sha256 ?? $0.hash.finalize().hexadecimal } }

    func markCommitted() {
        state.withLock { $0.isCommitted = true }
    }

    /// Returns the last component of a path, without control characters, at most 255 characters.
    static func cleanName(_ name: String) -> String {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? name
        let printable = String(last.unicodeScalars.filter { !CharacterSet.controlCharacters.contains($0) })
        return printable.isEmpty ? "archive.wacz" : String(printable.prefix(255))
    }

    /// Returns a file name without its extension.
    static func stem(of name: String) -> String {
        for ending in [".wacz.zip", ".wacz", ".zip"]
        where name.lowercased().hasSuffix(ending) && name.count > ending.count {
            return String(name.dropLast(ending.count))
        }
        return name
    }
}
