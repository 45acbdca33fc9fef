import Foundation
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One import, from its source to the catalog.
///
///     source, opened → staging file (copied and hashed in one pass) → examined and indexed → committed under the lock
///
/// A file is opened before it is copied, so that what is no archive costs no copy. What was parsed then holds for the copy, which
/// is only parsed again if the source changed meanwhile. A stream is opened once it was copied.
///
/// A file that stays where it is goes without a staging file: it is there once its sidecar is. Its key is provisional until a job
/// has hashed it. What the file is, is told by path, size and time of change: another one at that path is never shown as this one.
struct Importer {
    let store: ArchiveStore
    let options: ImportOptions
    /// Called now and then; throws to stop, which leaves nothing behind.
    let progress: (ImportProgress) throws -> Void

    private var layout: StoreLayout { store.layout }
    private var catalog: Catalog { store.catalog }

    /// Brings in whatever a file holds: an archive, or several that become a collection.
    ///
    /// - Throws: `StoreError`: `refused` when it is no archive that could be replayed, `noSpace`, `notFound`, `failed`.
    func importFile(at path: String, mode: ImportMode) throws -> ImportResult {
        do {
            switch mode {
            case .copy: return .archive(try copyFile(at: path))
            case .move: return .archive(try moveFile(at: path))
            case .link: return .archive(try link(to: path))
            }
        } catch let error as StoreError where error.code == .refused {
            guard let package = try MultiWACZImport(at: path, source: Folder.resolved(path), importer: self) else {
                throw error
            }
            return .package(try package.run(mode: mode))
        }
    }

    /// Copies what is read from a descriptor to its end.
    func importStream(_ stream: Descriptor, name: String) throws -> ImportResult {
        let incoming = try IncomingArchive(
            layout: layout, originalName: name, source: stream.path, expectedSize: nil)
        try incoming.copy(from: stream) { try progress(.copying(done: $0, total: nil)) }
        return try finish(incoming)
    }

    /// Takes what has been written to a staging file: an archive, or several that become a collection.
    func finish(_ incoming: IncomingArchive) throws -> ImportResult {
        do {
            return .archive(try commit(incoming))
        } catch let error as StoreError where error.code == .refused {
            let package = try MultiWACZImport(
                at: incoming.file.path, named: incoming.originalName, source: incoming.source, importer: self)
            guard let package else { throw error }
            return .package(try package.run(mode: .copy))
        }
    }

    private func copyFile(at path: String) throws -> ImportOutcome {
        let (source, file) = try Self.openFile(path)
        let wacz = try StoreError.refusingDamage { try WACZFile.open(source.bytes()) }
        let incoming = try IncomingArchive(
            layout: layout, originalName: path, source: file.path, expectedSize: file.size,
            sourceModifiedAt: file.modifiedAtNanoseconds)
        try incoming.copy(from: source) { try progress(.copying(done: $0, total: file.size)) }
        // Size and time of change tell, as for a linked file. If they don't, only the catalog's entry is wrong: every read
        // checks its place in the copy again, and the hash is the copy's own.
        return try commit(incoming, opened: file.describes(try source.status()) ? wacz : nil)
    }

    /// Brings a file in and deletes the original, once the store has it for good.
    ///
    /// On one file system nothing is copied: the file gets its place in the store as a second name, and loses the first at the
    /// very end. Elsewhere it is copied. Stopped at any instant the file is in its old place, in the store, or in both.
    ///
    /// - Throws: `failed` for a link, for a file that changes meanwhile, and when the original cannot be deleted: then the archive
    ///   is there as well.
    private func moveFile(at path: String) throws -> ImportOutcome {
        let original = try MovedFile(path, in: layout)
        let wacz = try StoreError.refusingDamage { try WACZFile.open(original.file.bytes()) }
        let total = UInt64(clamping: original.status.st_size)
        let incoming: IncomingArchive
        if let linked = try IncomingArchive(layout: layout, linking: path, source: original.file) {
            incoming = linked
            try linked.hash(original.file) { try progress(.copying(done: $0, total: total)) }
        } else {
            incoming = try IncomingArchive(
                layout: layout, originalName: path, source: Folder.resolved(path), expectedSize: total)
            try incoming.copy(from: original.file) { try progress(.copying(done: $0, total: total)) }
        }
        try original.checkUnchanged()
        let outcome = try commit(incoming, opened: wacz)
        if outcome.isDuplicate { try checkOwnCopy(of: outcome.archive, before: path) }
        try original.delete(archive: outcome.archive.id)
        return outcome
    }

    /// The original may be the only good copy: the store's own is read through before it goes.
    func checkOwnCopy(of archive: Archive, before path: String) throws {
        let file = try archive.openFile(in: layout)
        let (_, found) = try FileHash.of(file) { try progress(.copying(done: $0, total: archive.size)) }
        guard found == archive.sha256 else {
            throw StoreError(
                .failed,
                "the store has this file as \"\(archive.id)\", but its own copy is damaged; the original was kept",
                place: path, hint: "`replayhost remove \(archive.id)`, then import this one again")
        }
    }

    /// Reads the directory and the index of the file at `path`, and enters it; a job hashes it later.
    ///
    /// A file that is known by path, size and time of change is not read again. One that was changed since is read anew, under
    /// the id that it has.
    ///
    /// - Throws: `failed` for a file of the store itself, and for one that changes while it is read.
    private func link(to path: String) throws -> ImportOutcome {
        let (source, file) = try Self.openFile(path)
        guard !layout.holds(file.path) else {
            throw StoreError(.failed, "the file is one of the store's own", place: path)
        }
        if let known = try known(file) { return known }
        let examined = try ExaminedArchive(
            reading: file.path, name: (path as NSString).lastPathComponent, isStrict: options.isStrict
        ) { try progress(.checking(done: $0, total: $1)) }
        let key = StoreLayout.provisionalKey()
        return try layout.withStagingFile { owner in
            let index = try IncomingIndex(for: examined, key: key, owner: owner, layout: layout) {
                try progress(.indexing(done: $0, total: $1))
            }
            guard file.describes(try source.status()) else {
                throw StoreError(
                    .failed, "the file was changed while it was read", place: path,
                    hint: "import it again when nobody writes to it")
            }
            return try layout.withCommitLock(checkCancellation: { try progress(.waiting) }) {
                if let known = try known(file) { return known }
                return try commit(file, name: IncomingArchive.cleanName(path), examined, index)
            }
        }
    }

    /// The archive that refers to this very file already; nothing is read for it.
    func known(_ file: FileReference) throws -> ImportOutcome? {
        let known = try catalog.archives(linkedPath: file.path).first { $0.storage == .linked(file) }
        guard let known, options.replaces == nil || options.replaces == known.id else { return nil }
        let details = ArchiveDetails(
            archive: known, availability: .available, findings: try catalog.findings(key: known.key),
            collections: try store.collections.collections(of: known.id).map(\.id))
        return ImportOutcome(details: details, kind: .duplicate)
    }

    /// Enters a file that stays where it is. Under the commit lock only.
    private func commit(
        _ file: FileReference, name: String, _ examined: ExaminedArchive, _ index: IncomingIndex
    ) throws -> ImportOutcome {
        // Another file at a path that is known: that archive, read anew.
        let former = try catalog.archives(linkedPath: file.path).first
        let id = options.replaces ?? former?.id
        let replaced = try id.map(archiveToReplace)
        let archive = try makeArchive(
            examined, index, name: name, source: file.path, importedAt: former?.importedAt,
            storage: .linked(file), inheriting: replaced)
        try index.move()
        do {
            try Sidecar(archive, replaces: replaced?.key).write(to: layout.sidecar(archive.key))
        } catch {
            try store.committer.deleteSidecars(key: archive.key)
            throw error
        }
        try store.committer.enter(archive, examined, replaced: replaced)
        try store.jobs.queueHashing(of: archive)
        let details = try store.resolver.details(
            of: archive, findings: examined.findings, opened: examined.wacz)
        return ImportOutcome(details: details, kind: replaced == nil ? .imported : .replaced)
    }

    /// Checks what lies in a staging file and puts it into the store.
    ///
    /// - Parameter opened: The file that it is a copy of, when that is known to be the same still.
    func commit(_ incoming: IncomingArchive, opened: WACZFile? = nil) throws -> ImportOutcome {
        let sha256 = incoming.sha256
        if let duplicate = try duplicate(catalog.archive(key: sha256)) { return duplicate }
        let examined = try ExaminedArchive(
            reading: incoming.file.path, name: incoming.originalName, opened: opened, isStrict: options.isStrict
        ) { try progress(.checking(done: $0, total: $1)) }
        let index = try IncomingIndex(for: examined, key: sha256, owner: incoming.file, layout: layout) {
            try progress(.indexing(done: $0, total: $1))
        }
        try incoming.file.synchronize()
        return try layout.withCommitLock(checkCancellation: { try progress(.waiting) }) {
            // Another process may have brought the same file meanwhile.
            let existing = try catalog.archive(key: sha256)
            if let duplicate = try duplicate(existing) { return duplicate }
            // One whose file was lost gets it back, one that the store only referred to becomes its own: under the same id.
            let replaced = try options.replaces.map(archiveToReplace).flatMap { $0.key == sha256 ? nil : $0 }
            let archive = try makeArchive(
                examined, index, name: incoming.originalName, source: incoming.source,
                importedAt: existing?.importedAt, storage: .managed, inheriting: existing ?? replaced)
            let sidecar = Sidecar(archive, replaces: replaced?.key)
            try store.committer.put(incoming, index, sidecar: sidecar, isKnown: existing != nil)
            try store.committer.enter(archive, examined, replaced: replaced)
            let kind: ImportOutcome.Kind =
                existing?.storage.isLinked == true ? .adopted : replaced != nil ? .replaced : .imported
            let details = try store.resolver.details(
                of: archive, findings: examined.findings, opened: examined.wacz)
            return ImportOutcome(details: details, kind: kind)
        }
    }

    /// What an import of the file of `existing` comes to; `nil` when its file is still to be brought in.
    ///
    /// - Parameter existing: The archive whose key is the file's hash, if there is one.
    /// - Throws: `StoreError` `taken` when another archive is to be replaced.
    private func duplicate(_ existing: Archive?) throws -> ImportOutcome? {
        guard let archive = existing else { return nil }
        // Also one whose file was lost, or that the store only refers to: this file is going to be its own.
        if let other = options.replaces, other != archive.id {
            throw StoreError(
                .taken, "the store has this file already, as \"\(archive.id)\", so that it cannot replace \"\(other)\"",
                hint: "`replayhost remove \(archive.id)` first, or `replayhost remove \(other)` and keep that one")
        }
        guard Folder.exists(layout.file(archive.key)) else { return nil }
        return ImportOutcome(details: try store.details(of: archive), kind: .duplicate)
    }

    /// The archive that an examined file becomes, with what people said of the one that it already is, or replaces.
    ///
    /// - Throws: `StoreError`: `taken` for an id that is, `invalidMetadata`.
    private func makeArchive(
        _ examined: ExaminedArchive, _ index: IncomingIndex, name: String, source: String, importedAt: Date?,
        storage: ArchiveStorage, inheriting former: Archive?
    ) throws -> Archive {
        let stem = IncomingArchive.stem(of: name)
        let id = try former?.id ?? freeID(stem: stem)
        let tags = former?.tags ?? []
        let words = try ArchiveMetadata(
            title: options.title, tags: tags + options.tags.filter { !tags.contains($0) }
        ).checked()
        let entry = LibraryEntry(
            title: words.title ?? former?.title ?? examined.title ?? stem, originalName: name, source: source,
            importedAt: importedAt ?? RFC3339.now(), tags: words.tags ?? [], notes: former?.notes ?? "",
            port: former?.port)
        return examined.archive(
            key: index.key, id: id, sha256: storage.isLinked ? nil : index.key, storage: storage, entry: entry,
            lookups: index.lookups)
    }

    private func archiveToReplace(_ id: ArchiveID) throws -> Archive {
        guard let archive = try catalog.archive(id: id) else {
            throw StoreError(.notFound, "no archive has the id \"\(id)\", so that nothing can take its place")
        }
        return archive
    }

    private func freeID(stem: String) throws -> ArchiveID {
        guard let wanted = options.id else { return try ArchiveID.readable(from: stem) { try catalog.isFree($0) } }
        guard try catalog.isFree(wanted) else { throw Collections.taken(wanted) }
        return wanted
    }

    private static func openFile(_ path: String) throws -> (source: Descriptor, file: FileReference) {
        let source = try Descriptor.source(path)
        let status = try source.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw StoreError(.failed, "not a file", place: path) }
        return (source, FileReference(path: Folder.resolved(path), status))
    }
}
