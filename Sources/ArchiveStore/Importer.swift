import Foundation
package import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How an import is to be done.
package struct ImportOptions: Sendable {
    /// Instead of the package's own title.
    package var title: String?
    /// Check all hashes inside the package first, and refuse it for any finding above a notice.
    package var isStrict = false

    package init(title: String? = nil, isStrict: Bool = false) {
        self.title = title
        self.isStrict = isStrict
    }
}

/// What an import is doing right now.
package enum ImportProgress: Sendable, Hashable {
    /// Bytes copied of all, where the size is known.
    case copying(done: UInt64, total: UInt64?)
    /// Bytes of index and page lists read, of all.
    case checking(done: UInt64, total: UInt64)
    /// Bytes read, of all, for a sorted copy of an index that cannot be searched.
    case indexing(done: UInt64, total: UInt64)
    /// Another process is finishing an import or a removal of its own.
    case waiting
}

/// What became of an import.
package struct ImportOutcome: Sendable, Hashable {
    package let details: ArchiveDetails
    /// The store had this very file already; nothing was changed.
    package let isDuplicate: Bool

    package var archive: Archive { details.archive }
    package var findings: [Finding] { details.findings }
}

extension ArchiveStore {
    /// Copies a file into the store, checks it, and puts it into the catalog.
    ///
    /// - Parameter progress: Called now and then; throws to stop, which leaves nothing behind.
    /// - Throws: `StoreError`: `refused` when it is no archive that could be replayed, `noSpace`, `notFound`, `failed`.
    package func importFile(
        at path: String, options: ImportOptions = ImportOptions(), progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportOutcome {
        let source = try Self.openSource(path)
        let status = try source.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw StoreError(.failed, "not a file", place: path) }
        // A look at the source first: what is no archive at all costs no copy.
        try refusingDamage { () throws(WebArchiveError) in _ = try WACZFile.open(path: path) }
        let size = UInt64(clamping: status.st_size)
        let incoming = try IncomingArchive(
            layout: layout, originalName: path, source: Self.absolute(path), expectedSize: size)
        return try receive(incoming, from: source, total: size, options: options, progress: progress)
    }

    /// Copies an archive from standard input (or any descriptor that is read to its end).
    package func importStream(
        _ descriptor: Int32, name: String, source: String, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportOutcome {
        let copy = dup(descriptor)
        guard copy >= 0 else { throw StoreError.system(errno, doing: "opening", path: source) }
        let stream = Descriptor(owning: copy, path: source)
        let incoming = try IncomingArchive(layout: layout, originalName: name, source: source, expectedSize: nil)
        return try receive(incoming, from: stream, total: nil, options: options, progress: progress)
    }

    /// Begins an import whose bytes come piece by piece; `finish` ends it, letting go of the value abandons it.
    package func beginImport(name: String, source: String, expectedSize: UInt64?) throws -> IncomingArchive {
        try IncomingArchive(layout: layout, originalName: name, source: source, expectedSize: expectedSize)
    }

    /// Checks what was written to `incoming` and puts it into the catalog.
    package func finish(_ incoming: IncomingArchive, options: ImportOptions = ImportOptions()) throws -> ImportOutcome {
        let (size, sha256) = incoming.writtenSoFar()
        return try commit(incoming, size: size, sha256: sha256, options: options, progress: { _ in })
    }

    private func receive(
        _ incoming: IncomingArchive, from source: Descriptor, total: UInt64?, options: ImportOptions,
        progress: (ImportProgress) throws -> Void
    ) throws -> ImportOutcome {
        let (size, sha256) = try incoming.copy(from: source) { try progress(.copying(done: $0, total: total)) }
        return try commit(incoming, size: size, sha256: sha256, options: options, progress: progress)
    }

    private func commit(
        _ incoming: IncomingArchive, size: UInt64, sha256: String, options: ImportOptions,
        progress: (ImportProgress) throws -> Void
    ) throws -> ImportOutcome {
        if let duplicate = try duplicate(of: sha256) { return duplicate }
        let examined = try examine(incoming.file.path, name: incoming.originalName, options: options) {
            try progress(.checking(done: $0, total: $1))
        }
        let index = try IncomingIndex(for: examined, key: sha256, owner: incoming.file, layout: layout) {
            try progress(.indexing(done: $0, total: $1))
        }
        try incoming.file.synchronize()

        let lock = try lockForCommit { try progress(.waiting) }
        defer { withExtendedLifetime(lock) {} }
        // Another process may have brought the same file meanwhile.
        if let duplicate = try duplicate(of: sha256) { return duplicate }
        let stem = Self.stem(of: incoming.originalName)
        // A catalogued archive whose file was lost gets its file and its id back.
        let id =
            try catalog.archive(key: sha256)?.id
            ?? ArchiveID.readable(from: stem) { try catalog.archive(id: $0) == nil }
        let sidecar = Sidecar(
            id: id.text, title: options.title ?? examined.title ?? stem, originalName: incoming.originalName,
            source: incoming.source, importedAt: RFC3339.text(of: Date()))
        try put(incoming, index, sidecar: sidecar, key: sha256)
        let archive: Archive
        do {
            archive = try catalogue(
                examined, lookups: index.lookups, sidecar: sidecar, id: id, sha256: sha256, size: size)
        } catch {
            throw StoreError(
                .failed, "the archive is stored, but the catalog could not take it (\(error))", place: layout.root,
                hint: "the next start enters it")
        }
        let details = try details(of: archive, findings: examined.findings)
        return ImportOutcome(details: details, isDuplicate: false)
    }

    /// Sidecar and index files first, then the one rename that makes the archive be there.
    private func put(_ incoming: IncomingArchive, _ index: IncomingIndex, sidecar: Sidecar, key: String) throws {
        try sidecar.write(to: layout.sidecar(key))
        // Against accidents only; file systems without modes (exFAT, SMB) go without.
        _ = chmod(incoming.file.path, 0o400)
        do {
            try index.move()
            try Folder.move(incoming.file.path, to: layout.file(key))
        } catch {
            if !Folder.exists(layout.file(key)) { try deleteSidecars(key: key) }
            throw error
        }
        incoming.markCommitted()
    }

    private func duplicate(of sha256: String) throws -> ImportOutcome? {
        guard let archive = try catalog.archive(key: sha256), Folder.exists(layout.file(sha256)) else { return nil }
        return ImportOutcome(details: try details(of: archive), isDuplicate: true)
    }

    /// Enters a file that lies in `files/`, with its sidecar, into the catalog.
    func catalogue(
        _ examined: ExaminedArchive, lookups: ArchiveLookups?, sidecar: Sidecar, id: ArchiveID, sha256: String,
        size: UInt64
    ) throws -> Archive {
        var archive = examined.archive(sidecar: sidecar, id: id, sha256: sha256, size: size)
        archive.lookups = lookups
        try catalog.remove(key: sha256)
        try catalog.add(archive, findings: examined.findings) { add in
            try examined.forEachPage { try add($0) }
        }
        return archive
    }

    /// Runs reading code and turns its refusal into the store's words.
    func refusingDamage<Value>(_ body: () throws(WebArchiveError) -> Value) throws -> Value {
        do throws(WebArchiveError) {
            return try body()
        } catch {
            throw StoreError.refused(error)
        }
    }

    /// A source that this user may not read is no fault of the store.
    private static func openSource(_ path: String) throws(StoreError) -> Descriptor {
        do {
            // Without waiting: opening a FIFO would hold us until somebody writes to it.
            return try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK)
        } catch let error where error.code == .unusable {
            throw StoreError(.failed, "this user may not read the file", place: path)
        }
    }

    private static func absolute(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
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
