import Foundation
import WebArchive

/// Imports files, from their source to the catalog.
///
///     source, opened → staging file (copied and hashed in one pass) → examined and indexed → committed under the lock
///
/// A file is opened before it is copied, so that files that aren't archives aren't copied. The copy is only parsed
/// again if the source changed meanwhile. A stream is opened after it was copied.
///
/// A linked file needs no staging file; it is imported once its sidecar is written. Its key is provisional until a job
/// has hashed it. It is identified by path, size and modification time, so a changed file is never mistaken for the
/// original.
struct Importer {
    let store: ArchiveStore
    let options: ImportOptions
    /// Called from time to time; throws to stop, which leaves nothing behind.
    let progress: (ImportProgress) throws -> Void

    private var layout: StoreLayout { store.layout }
    private var catalog: Catalog { store.catalog }

    /// Whether WARC files and packages of several archives are accepted, too. The store keeps other files than these.
    private var acceptsOtherFiles: Bool { options.sha256 == nil }

    /// Imports a file: an archive, or several that become a collection.
    ///
    /// - Parameter others: WARC files to pack into the same archive.
    /// - Throws: `StoreError`: `refused` if it can't be replayed, `noSpace`, `notFound`, `failed`.
    func importFile(at path: String, with others: [String] = [], mode: ImportMode) throws -> ImportResult {
        let files = try ([path] + others).map { try SourceFile($0, isMoved: mode == .move, in: layout) }
        if acceptsOtherFiles, let packing = try WARCImport(files, importer: self) {
            return .archive(try packing.run(mode: mode))
        }
        let source = files[0]
        do {
            switch mode {
            case .copy: return .archive(try copy(source))
            case .move: return .archive(try move(source))
            case .link: return .archive(try link(to: source))
            }
        } catch let error as StoreError where error.code == .refused {
            guard acceptsOtherFiles,
                let package = try MultiWACZImport(source, source: source.reference.path, importer: self)
            else { throw error }
            return .multiWACZ(try package.run(mode: mode))
        }
    }

    /// Imports what a descriptor yields until its end.
    func importStream(_ stream: Descriptor, name: String) throws -> ImportResult {
        let incoming = try IncomingArchive(
            layout: layout, originalName: name, source: stream.path, expectedSize: nil)
        try incoming.copy(from: stream) { try progress(.copying(done: $0, total: nil)) }
        return try finish(incoming)
    }

    /// Imports a staging file: an archive, or several that become a collection.
    func finish(_ incoming: IncomingArchive) throws -> ImportResult {
        let file = try SourceFile(incoming.file)
        if acceptsOtherFiles, let packing = try WARCImport([file], importer: self) {
            return .archive(try packing.pack(names: [incoming.originalName], source: incoming.source))
        }
        do {
            return .archive(try commit(incoming))
        } catch let error as StoreError where error.code == .refused {
            guard acceptsOtherFiles,
                let package = try MultiWACZImport(
                    file, named: incoming.originalName, source: incoming.source, importer: self)
            else { throw error }
            return .multiWACZ(try package.run(mode: .copy))
        }
    }

    private func copy(_ source: SourceFile) throws -> ImportOutcome {
        let wacz = try StoreError.refusingDamage { try WACZFile.open(source.file.bytes()) }
        let original = source.reference
        let incoming = try IncomingArchive(
            layout: layout, originalName: source.path, source: original.path, expectedSize: original.size,
            sourceModifiedAt: original.modifiedAtNanoseconds)
        try incoming.copy(from: source.file) { try progress(.copying(done: $0, total: original.size)) }
        // An unnoticed change would only make the catalog's entry wrong: every read is checked against the copy, and
        // the hash is the copy's.
        return try commit(incoming, opened: try source.isUnchanged() ? wacz : nil)
    }

    /// Imports a file and deletes the original afterwards.
    ///
    /// On the same file system, the file gets a second name in the store, and the first is deleted at the end.
    /// Otherwise it is copied. Wherever this is interrupted, the file is in its old folder, in the store, or in both.
    ///
    /// - Throws: `failed` for a symbolic link, for a file that changes meanwhile, and if the original can't be deleted,
    ///   in which case the archive was imported.
    private func move(_ original: SourceFile) throws -> ImportOutcome {
        let wacz = try StoreError.refusingDamage { try WACZFile.open(original.file.bytes()) }
        let total = original.reference.size
        let incoming: IncomingArchive
        if let linked = try IncomingArchive(layout: layout, linking: original.path, source: original.file) {
            incoming = linked
            try linked.hash(original.file) { try progress(.copying(done: $0, total: total)) }
        } else {
            incoming = try IncomingArchive(
                layout: layout, originalName: original.path, source: original.reference.path, expectedSize: total)
            try incoming.copy(from: original.file) { try progress(.copying(done: $0, total: total)) }
        }
        try original.checkUnchanged()
        let outcome = try commit(incoming, opened: wacz)
        if outcome.isDuplicate { try checkOwnCopy(of: outcome.archive, before: original.path) }
        try original.delete(archive: outcome.archive.id)
        return outcome
    }

    /// Reads the store's copy before the original is deleted, which may be the only intact copy.
    func checkOwnCopy(of archive: Archive, before path: String) throws {
        let file = try archive.openFile(in: layout)
        let (_, found) = try FileHash.of(file) { try progress(.copying(done: $0, total: archive.size)) }
        guard found == archive.sha256 else {
            throw StoreError(
                .failed,
                "the library's copy of this file, \"\(archive.id)\", is damaged; the original was not deleted",
                place: path, hint: "run `replayhost remove \(archive.id)`, then import this file again")
        }
    }

    /// Adds a file without copying it. A job hashes it later.
    ///
    /// A file that is already linked and unchanged isn't read again. One that has changed is read again and keeps its
    /// id.
    ///
    /// - Throws: `failed` for a file in the store's folder, and for one that changes while it is read.
    private func link(to source: SourceFile) throws -> ImportOutcome {
        let file = source.reference
        guard !layout.contains(file.path) else {
            throw StoreError(.failed, "this file is already part of the store", place: source.path)
        }
        if let existing = try existingLink(to: file) { return existing }
        let examined = try ExaminedArchive(reading: source.file.bytes(), isStrict: options.isStrict) {
            try progress(.checking(done: $0, total: $1))
        }
        let key = StoreLayout.provisionalKey()
        return try layout.withStagingFile { owner in
            let index = try IncomingIndex(for: examined, key: key, owner: owner, layout: layout) {
                try progress(.indexing(done: $0, total: $1))
            }
            try source.checkUnchanged()
            return try store.committing(checkCancellation: { try progress(.waiting) }) {
                if let existing = try existingLink(to: file) { return existing }
                return try commit(file, name: IncomingArchive.cleanName(source.path), examined, index)
            }
        }
    }

    /// Returns the archive that is already linked to this file, without reading the file.
    func existingLink(to file: FileReference) throws -> ImportOutcome? {
        let linked = try catalog.archives(linkedPath: file.path).first { $0.storage == .linked(file) }
        guard let linked, options.replaces == nil || options.replaces == linked.id else { return nil }
        let details = ArchiveDetails(
            archive: linked, availability: .available, findings: try catalog.findings(key: linked.key),
            collections: try store.collections.collections(of: linked.id).map(\.id),
            text: try store.searcher.indexedText(of: linked), verification: store.verifications.last(of: linked))
        return ImportOutcome(details: details, kind: .duplicate)
    }

    /// Adds a linked file. Requires the commit lock.
    private func commit(
        _ file: FileReference, name: String, _ examined: ExaminedArchive, _ index: IncomingIndex
    ) throws -> ImportOutcome {
        // A changed file at a linked path updates its archive.
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
        try store.committer.addToCatalog(archive, examined, replaced: replaced)
        try store.jobs.queueHashing(of: archive)
        let details = try store.resolver.details(
            of: archive, findings: examined.findings, opened: examined.wacz)
        return ImportOutcome(details: details, kind: replaced == nil ? .imported : .replaced)
    }

    /// Checks a staging file and moves it into the store.
    ///
    /// - Parameters:
    ///   - opened: The original file, if it is open and unchanged.
    ///   - packed: What was found when it was made; `nil` if it wasn't made now.
    func commit(
        _ incoming: IncomingArchive, opened: WACZFile? = nil, packed: WACZWriter.Result? = nil
    ) throws -> ImportOutcome {
        let sha256 = incoming.sha256
        if let expected = options.sha256, expected != sha256 {
            throw StoreError(.refused, "the file doesn't have the expected SHA-256", place: incoming.source)
        }
        let state = try incoming.file.state()
        if let duplicate = try duplicate(catalog.archive(key: sha256)) { return duplicate }
        let examined = try ExaminedArchive(
            reading: incoming.file.bytes(named: incoming.originalName), opened: opened,
            alsoFound: packed?.findings ?? [], isStrict: options.isStrict
        ) { try progress(.checking(done: $0, total: $1)) }
        let index = try IncomingIndex(for: examined, key: sha256, owner: incoming.file, layout: layout) {
            try progress(.indexing(done: $0, total: $1))
        }
        try incoming.file.synchronize()
        return try store.committing(checkCancellation: { try progress(.waiting) }) {
            // A file that was moved here can still be open in another program.
            guard try incoming.file.state() == state else { throw SourceFile.changed(incoming.source) }
            // Another process may have imported the same file meanwhile.
            let existing = try catalog.archive(key: sha256)
            if let duplicate = try duplicate(existing) { return duplicate }
            // An archive whose file was lost gets it back, and a linked one becomes a copy, under the same id.
            let replaced = try options.replaces.map(archiveToReplace).flatMap { $0.key == sha256 ? nil : $0 }
            var archive = try makeArchive(
                examined, index, name: incoming.originalName, source: incoming.source,
                importedAt: existing?.importedAt, storage: .managed, inheriting: existing ?? replaced)
            let lost = packed?.sourceFindings ?? existing?.entry.sourceFindings ?? []
            archive.entry.sourceFindings = lost.isEmpty ? nil : lost
            let sidecar = Sidecar(archive, replaces: replaced?.key)
            try store.committer.put(incoming, index, sidecar: sidecar, isKnown: existing != nil)
            archive.lastReading = archive.fileState(in: layout).map { Archive.Reading(state: $0, verified: nil) }
            try store.committer.addToCatalog(archive, examined, replaced: replaced)
            let kind: ImportOutcome.Kind =
                existing?.storage.isLinked == true ? .adopted : replaced != nil ? .replaced : .imported
            let details = try store.resolver.details(
                of: archive, findings: examined.findings, opened: examined.wacz)
            return ImportOutcome(details: details, kind: kind)
        }
    }

    /// Returns the outcome for a file that the store already has; `nil` if the file must be imported.
    ///
    /// - Parameter existing: The archive whose key is the file's hash, if there is one.
    /// - Throws: `StoreError`: `taken` if the file should replace another archive, `refused` if it was saved and the archive
    ///   comes from elsewhere.
    private func duplicate(_ existing: Archive?) throws -> ImportOutcome? {
        guard let archive = existing else { return nil }
        // Saving makes new archives. Otherwise, what was said about this one would replace what is known about that one.
        if let saved = options.saved, saved.download == nil || saved.download != archive.entry.saved?.download {
            throw StoreError(
                .refused, "the library already has this archive, from another source", place: layout.file(archive.key))
        }
        // Also if the existing archive's file is lost or linked: this file belongs to it.
        if let other = options.replaces, other != archive.id {
            throw StoreError(
                .taken, "this file is already in your library as \"\(archive.id)\" and can't replace \"\(other)\"",
                hint: "remove \"\(archive.id)\" first, or remove \"\(other)\" and keep \"\(archive.id)\"")
        }
        guard Folder.fileSize(layout.file(archive.key)) != nil else { return nil }
        return ImportOutcome(details: try store.details(of: archive), kind: .duplicate)
    }

    /// Makes the archive for an examined file, with the metadata of the archive that it updates or replaces.
    ///
    /// - Throws: `StoreError`: `taken` for an id in use, `invalidMetadata`.
    private func makeArchive(
        _ examined: ExaminedArchive, _ index: IncomingIndex, name: String, source: String, importedAt: Date?,
        storage: ArchiveStorage, inheriting former: Archive?
    ) throws -> Archive {
        let stem = IncomingArchive.stem(of: name)
        let id = try former?.id ?? freeID(stem: stem)
        let tags = former?.tags ?? []
        let metadata = try ArchiveMetadata(
            title: options.title, tags: tags + options.tags.filter { !tags.contains($0) }
        ).checked()
        let entry = LibraryEntry(
            title: metadata.title ?? former?.title ?? examined.title ?? stem, originalName: name,
            source: options.saved?.url ?? source,
            importedAt: importedAt ?? RFC3339.now(), tags: metadata.tags ?? [], notes: former?.notes ?? "",
            port: former?.port, indexesText: options.indexesText && former?.entry.indexesText ?? true,
            saved: options.saved ?? former?.entry.saved)
        return examined.archive(
            key: index.key, id: id, sha256: storage.isLinked ? nil : index.key, storage: storage, entry: entry,
            lookups: index.lookups)
    }

    private func archiveToReplace(_ id: ArchiveID) throws -> Archive {
        guard let archive = try catalog.archive(id: id) else {
            throw StoreError(
                .notFound, "can't replace \"\(id)\": no archive has this id",
                hint: "run `replayhost list` to see all archives")
        }
        return archive
    }

    private func freeID(stem: String) throws -> ArchiveID {
        guard let wanted = options.id else { return try ArchiveID.readable(from: stem) { try catalog.isFree($0) } }
        guard try catalog.isFree(wanted) else { throw Collections.idTaken(wanted) }
        return wanted
    }
}
