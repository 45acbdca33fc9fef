import Crypto
import Foundation
import Synchronization
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file on its way into the store. Locked while its process lives; gone with it unless it was committed.
final class IncomingArchive: Sendable {
    /// The name the person knows it by.
    let originalName: String
    /// Where it came from: a path, `standard input`, or `browser`.
    let source: String
    /// When the file that it is a copy of was changed last, in nanoseconds since 1970; `nil` when there is none, or it goes.
    let sourceModifiedAt: Int64?
    let file: Descriptor

    private struct State {
        /// Bytes written, and their hash.
        var size: UInt64 = 0
        var hash = SHA256()
        /// Of what was copied or linked.
        var sha256: String?
        var isCommitted = false
    }
    private let state = Mutex(State())

    /// - Parameter expectedSize: Bytes that will come, where known: free space is checked before the first of them.
    init(
        layout: StoreLayout, originalName: String, source: String, expectedSize: UInt64?, sourceModifiedAt: Int64? = nil
    ) throws {
        self.originalName = Self.cleanName(originalName)
        self.source = source
        self.sourceModifiedAt = sourceModifiedAt
        if let expectedSize { try layout.checkSpace(for: expectedSize, what: "the archive") }
        file = try layout.makeLockedFile()
    }

    /// Takes in a file without copying it: under a second name, which is all that becomes of the first until the archive is there.
    ///
    /// - Returns: `nil` when the file cannot have one: it is on another file system, somebody else's, or known by further names.
    init?(layout: StoreLayout, linking path: String, source: Descriptor) throws {
        let status = try source.status()
        guard status.st_uid == geteuid(), status.st_nlink == 1 else { return nil }
        let name = layout.incomingCopy(UUID().uuidString.lowercased())
        guard link(path, name) == 0 else { return nil }
        do {
            let file = try Descriptor(path: name, flags: O_RDONLY)
            let linked = try file.status()
            // A sweep may have come before the lock; another file may have come to the path before the link.
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

    /// Appends bytes that come from somewhere else than a file.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        try file.append(bytes)
        state.withLock { state in
            state.hash.update(bufferPointer: bytes)
            state.size += UInt64(bytes.count)
        }
    }

    /// Bytes that were written; 0 for what was copied or linked.
    var size: UInt64 { state.withLock { $0.size } }

    /// Copies `source` from its position on, at most `limit` bytes of it, hashing what arrives.
    func copy(from source: Descriptor, limit: UInt64? = nil, progress: (UInt64) throws -> Void) throws {
        let (_, digest) = try HashedCopy(source: source, target: file, limit: limit).run(progress: progress)
        state.withLock { $0.sha256 = digest.hexadecimal }
    }

    /// Reads a file that was taken in without copying it.
    func hash(_ source: Descriptor, progress: (UInt64) throws -> Void) throws {
        let (_, sha256) = try FileHash.of(source, step: progress)
        state.withLock { $0.sha256 = sha256 }
    }

    /// Of what arrived, in hex.
    var sha256: String { state.withLock { $0.sha256 ?? $0.hash.finalize().hexadecimal } }

    func markCommitted() {
        state.withLock { $0.isCommitted = true }
    }

    /// The last part of a path, without control characters, at most 255 characters.
    static func cleanName(_ name: String) -> String {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? name
        let printable = String(last.unicodeScalars.filter { !CharacterSet.controlCharacters.contains($0) })
        return printable.isEmpty ? "archive.wacz" : String(printable.prefix(255))
    }

    /// A file name without its ending.
    static func stem(of name: String) -> String {
        for ending in [".wacz.zip", ".wacz", ".zip"]
        where name.lowercased().hasSuffix(ending) && name.count > ending.count {
            return String(name.dropLast(ending.count))
        }
        return name
    }
}
