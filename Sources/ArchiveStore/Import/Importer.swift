import Foundation
package import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How an import is to be done.
package struct ImportOptions: Sendable, Hashable {
    /// Instead of the package's own title.
    package var title: String?
    /// Check all hashes inside the package first, and refuse it for any finding above a notice.
    package var isStrict = false
    /// Instead of one that is made of the file's name.
    package var id: ArchiveID?
    package var tags: [String] = []
    /// The archive whose place the file takes: id, title, tags and notes stay.
    package var replaces: ArchiveID?

    package init(
        title: String? = nil, isStrict: Bool = false, id: ArchiveID? = nil, tags: [String] = [],
        replaces: ArchiveID? = nil
    ) {
        self.title = title
        self.isStrict = isStrict
        self.id = id
        self.tags = tags
        self.replaces = replaces
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
    package enum Kind: String, Sendable, Hashable, Encodable {
        case imported
        /// The store had this very file already; nothing was changed.
        case duplicate
        /// The file took the place of another one, under that one's id.
        case replaced
        /// The store only referred to this file; now it has it.
        case takenIn = "taken-in"
    }
    package let details: ArchiveDetails
    package let kind: Kind

    package var isDuplicate: Bool { kind == .duplicate }
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
        try refusingDamage { _ = try WACZFile.open(path: path) }
        let size = UInt64(clamping: status.st_size)
        let incoming = try IncomingArchive(
            layout: layout, originalName: path, source: Self.absolute(path), expectedSize: size,
            sourceModifiedAt: status.modifiedAtNanoseconds)
        return try receive(incoming, from: source, total: size, options: options, progress: progress)
    }

    /// Copies an archive from standard input (or any descriptor that is read to its end).
    package func importStream(
        _ descriptor: Int32, name: String, source: String, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        let copy = dup(descriptor)
        guard copy >= 0 else { throw StoreError.system(errno, doing: "opening", path: source) }
        let stream = Descriptor(owning: copy, path: source)
        let incoming = try IncomingArchive(layout: layout, originalName: name, source: source, expectedSize: nil)
        do {
            return .archive(try receive(incoming, from: stream, total: nil, options: options, progress: progress))
        } catch let error as StoreError where error.code == .refused {
            return .package(try importMembers(ofRefused: incoming, error, options: options, progress: progress))
        }
    }

    /// Begins an import whose bytes come piece by piece; `finish` ends it, letting go of the value abandons it.
    package func beginImport(name: String, source: String, expectedSize: UInt64?) throws -> IncomingArchive {
        try IncomingArchive(layout: layout, originalName: name, source: source, expectedSize: expectedSize)
    }

    /// Checks what was written to `incoming` and puts it into the catalog.
    package func finish(
        _ incoming: IncomingArchive, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportOutcome {
        let (size, sha256) = incoming.writtenSoFar()
        return try commit(incoming, size: size, sha256: sha256, options: options, progress: progress)
    }

    private func receive(
        _ incoming: IncomingArchive, from source: Descriptor, total: UInt64?, options: ImportOptions,
        progress: (ImportProgress) throws -> Void
    ) throws -> ImportOutcome {
        let (size, sha256) = try incoming.copy(from: source) { try progress(.copying(done: $0, total: total)) }
        return try commit(incoming, size: size, sha256: sha256, options: options, progress: progress)
    }

    func commit(
        _ incoming: IncomingArchive, size: UInt64, sha256: String, options: ImportOptions,
        progress: (ImportProgress) throws -> Void
    ) throws -> ImportOutcome {
        if let duplicate = try duplicate(of: sha256, options) { return duplicate }
        let examined = try examine(incoming.file.path, name: incoming.originalName, options: options) {
            try progress(.checking(done: $0, total: $1))
        }
        let index = try IncomingIndex(for: examined, key: sha256, owner: incoming.file, layout: layout) {
            try progress(.indexing(done: $0, total: $1))
        }
        try incoming.file.synchronize()

        return try layout.withCommitLock(pulse: { try progress(.waiting) }) {
            // Another process may have brought the same file meanwhile.
            if let duplicate = try duplicate(of: sha256, options) { return duplicate }
            // One whose file was lost gets it back, one that the store only referred to becomes its own: under the same id.
            let existing = try catalog.archive(key: sha256)
            let origin = ExaminedArchive.Origin(name: incoming.originalName, source: incoming.source)
            let (new, replaced) = try archive(
                key: sha256, sha256: sha256, examined, origin: origin, options: options, existing: existing)
            var archive = new
            archive.lookups = index.lookups
            try committer.put(
                incoming, index, sidecar: Sidecar(archive, replaces: replaced?.key), isKnown: existing != nil)
            try committer.enter(archive, examined, replaced: replaced)
            let kind: ImportOutcome.Kind =
                existing?.reference != nil ? .takenIn : replaced != nil ? .replaced : .imported
            let details = try details(of: archive, findings: examined.findings)
            return ImportOutcome(details: details, kind: kind)
        }
    }

    /// The archive that an examined file becomes, with what people said of the one that it replaces or already is.
    ///
    /// - Throws: `StoreError`: `taken` for an id that is, `notFound` when the archive to replace is none.
    func archive(
        key: String, sha256: String?, _ examined: ExaminedArchive, origin: ExaminedArchive.Origin,
        options: ImportOptions, existing: Archive?
    ) throws -> (archive: Archive, replaced: Archive?) {
        let replaced = try options.replaces.map(archiveToReplace)
        let stem = Self.stem(of: origin.name)
        let heir = existing ?? replaced
        let id = try heir?.id ?? freeID(options, stem: stem)
        let title = options.title ?? heir?.title ?? examined.title ?? stem
        var archive = examined.archive(key: key, id: id, sha256: sha256, title: title, origin: origin)
        archive.tags = Self.merged(heir?.tags ?? [], options.tags)
        archive.notes = heir?.notes ?? ""
        archive.port = heir?.port
        if let existing { archive.importedAt = existing.importedAt }
        let words = try ArchiveWords(title: options.title, tags: archive.tags).checked()
        archive.title = words.title ?? archive.title
        archive.tags = words.tags ?? archive.tags
        return (archive, replaced?.key == key ? nil : replaced)
    }

    private func archiveToReplace(_ id: ArchiveID) throws -> Archive {
        guard let archive = try catalog.archive(id: id) else {
            throw StoreError(.notFound, "no archive has the id \"\(id)\", so that nothing can take its place")
        }
        return archive
    }

    private func freeID(_ options: ImportOptions, stem: String) throws -> ArchiveID {
        guard let wanted = options.id else { return try ArchiveID.readable(from: stem) { try catalog.isFree($0) } }
        guard try catalog.isFree(wanted) else { throw Collections.taken(wanted) }
        return wanted
    }

    private static func merged(_ tags: [String], _ more: [String]) -> [String] {
        tags + more.filter { !tags.contains($0) }
    }

    private func duplicate(of sha256: String, _ options: ImportOptions) throws -> ImportOutcome? {
        guard let archive = try catalog.archive(key: sha256), Folder.exists(layout.file(sha256)) else { return nil }
        if let other = options.replaces, other != archive.id {
            throw StoreError(
                .taken, "the store has this file already, as \"\(archive.id)\", so that it cannot replace \"\(other)\"",
                hint: "`replayhost remove \(archive.id)` first, or `replayhost remove \(other)` and keep that one")
        }
        return ImportOutcome(details: try details(of: archive), kind: .duplicate)
    }

    /// Runs reading code and turns its refusal into the store's words.
    func refusingDamage<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as WebArchiveError {
            throw StoreError.refused(error)
        }
    }

    /// A source that this user may not read is no fault of the store.
    static func openSource(_ path: String) throws(StoreError) -> Descriptor {
        do {
            // Without waiting: opening a FIFO would hold us until somebody writes to it.
            return try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK)
        } catch let error where error.code == .unusable {
            throw StoreError(.failed, "this user may not read the file", place: path)
        } catch let error where error.code == .notFound && path.unicodeScalars.contains("\u{FFFD}") {
            // What stands for bytes that are no UTF-8; the file is there, under a name that a String cannot have.
            throw StoreError(
                .failed, "the file's name is not valid UTF-8", place: path, hint: "rename the file, then import it")
        }
    }

    static func absolute(_ path: String) -> String {
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
