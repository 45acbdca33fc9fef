import Foundation
import WebArchive

/// Adds, changes and removes archives: their file, index files, sidecar and row, in an order that is safe to interrupt.
/// `edit`, `remove` and `finishHashing` acquire the commit lock; all other functions require it.
struct Committer {
    let store: ArchiveStore

    private var layout: StoreLayout { store.layout }
    private var catalog: Catalog { store.catalog }

    /// Changes title, tags or notes, or whether what the signature doesn't cover is shown.
    ///
    /// - Throws: `StoreError`: `invalidMetadata`, `notFound` if the archive was removed meanwhile.
    @discardableResult
    func edit(_ id: ArchiveID, _ metadata: ArchiveMetadata) throws -> Archive {
        let metadata = try metadata.checked()
        // Reading the index can take long, so that is done without the lock.
        let examined = try metadata.showsUncovered.flatMap { try examine(id, showingUncovered: $0) }
        return try store.committing {
            guard var current = try catalog.archive(id: id) else {
                throw StoreError(.notFound, "the archive \"\(id)\" was removed")
            }
            if let title = metadata.title { current.title = title }
            if let tags = metadata.tags { current.tags = tags }
            if let notes = metadata.notes { current.notes = notes }
            guard let examined else {
                try save(current)
                return current
            }
            guard examined.key == current.key else {
                throw StoreError(.failed, "the file of \"\(id)\" was replaced meanwhile", hint: "try again")
            }
            current.showsUncovered = examined.file.wacz.showsUncovered
            return try replaceContents(of: current, with: examined.file, sidecarStamp: writeSidecar(of: current))
        }
    }

    /// Reads the content of an archive again, as it is to be shown.
    ///
    /// - Returns: `nil` if it's shown in this way already.
    /// - Throws: `StoreError` `invalidMetadata` if there is nothing that the signature doesn't cover.
    private func examine(_ id: ArchiveID, showingUncovered: Bool) throws -> (key: String, file: ExaminedArchive)? {
        guard var archive = try catalog.archive(id: id), archive.showsUncovered != showingUncovered else { return nil }
        archive.showsUncovered = showingUncovered
        let file = try examine(archive)
        guard !file.wacz.uncoveredEntries.isEmpty || !showingUncovered else {
            throw StoreError(
                .invalidMetadata, "nothing in \"\(id)\" is hidden, so there is nothing more to show",
                hint: "see `replayhost info \(id)`")
        }
        return (archive.key, file)
    }

    /// Reads the structure, index and pages of an archive, as they are to be shown.
    func examine(_ archive: Archive) throws -> ExaminedArchive {
        try ExaminedArchive(
            reading: archive.openFile(in: layout).bytes(named: "\(archive.id).wacz"),
            showsUncovered: archive.showsUncovered)
    }

    /// Replaces what was made of the content of an archive: its lists of pages and sites, its counts, its filter. Its text is
    /// indexed again.
    @discardableResult
    func replaceContents(
        of archive: Archive, with examined: ExaminedArchive, sidecarStamp: String?
    ) throws -> Archive {
        let counts = archive.summary.findingCounts
        var archive = archive
        archive.summary = examined.summary(archive.lookups)
        // Issues are about all of the file, whatever is shown of it.
        archive.summary.findingCounts = counts
        archive.detectedPageCount = 0
        try catalog.replaceContents(of: archive, sidecarStamp: sidecarStamp) { add in
            try examined.forEachPage { try add($0) }
        } addFilter: { [archive] database in
            try CaptureFilters.save(examined.hashes, of: archive, database)
        }
        store.openArchives.forget(key: archive.key)
        try store.search.forget(key: archive.key)
        return archive
    }

    /// Corrects the list of pages that an earlier version made of an archive with content that its signature doesn't cover.
    func correctContents(of archive: Archive) throws {
        let examined = try examine(archive)
        let summary = examined.summary(archive.lookups)
        try store.committing {
            guard let current = try catalog.archive(id: archive.id), current.key == archive.key,
                current.showsUncovered == archive.showsUncovered,
                // What is set aside is missing as a whole.
                (current.summary.pageCount, current.captureCount) != (summary.pageCount, summary.captureCount)
            else { return }
            try replaceContents(
                of: current, with: examined, sidecarStamp: StoreDocument.stamp(of: layout.sidecar(current.key)))
        }
    }

    /// Records what was seen when a saved archive was replayed. Does nothing for other archives.
    func setReplayCheck(_ id: ArchiveID, _ sentence: String?) throws {
        try store.committing {
            guard var current = try catalog.archive(id: id), current.saved != nil else { return }
            current.saved?.replayCheck = sentence
            try save(current)
        }
    }

    /// Removes an archive: file, index files, sidecar, memberships and row. A linked file isn't deleted. Does nothing
    /// if no archive has the id.
    func remove(_ id: ArchiveID) throws {
        try store.committing {
            // Read the key under the lock: it changes when the file is hashed or replaced.
            guard let archive = try catalog.archive(id: id) else { return }
            if Folder.fileSize(layout.file(archive.key)) != nil {
                try Folder.move(layout.file(archive.key), to: layout.removed(archive.key))
            } else if archive.storage.isLinked, Folder.exists(layout.sidecar(archive.key)) {
                try Folder.move(layout.sidecar(archive.key), to: layout.removed(archive.key))
            }
            try finishRemoval(key: archive.key)
        }
    }

    /// Saves the SHA-256 of a linked file. It becomes the archive's key, unless the store already has the same file.
    ///
    /// If this is interrupted after the new sidecar was written, `repair` completes it.
    ///
    /// - Parameters:
    ///   - key: The archive's key when hashing started.
    ///   - state: The file's state when hashing started.
    /// - Throws: `StoreError`: `notFound` if the archive was removed or updated meanwhile, `unavailable`, `changed`.
    func finishHashing(key: String, sha256: String, of state: String) throws -> Archive {
        return try store.committing {
            guard var archive = try catalog.archive(key: key), archive.storage.isLinked else {
                throw StoreError(.notFound, "the archive was removed or updated while its file was hashed")
            }
            try archive.checkAvailability(in: layout)
            guard archive.fileState(in: layout) == state else { throw archive.changed }
            archive.sha256 = sha256
            archive.lastReading = Archive.Reading(state: state, after: archive.lastReading)
            let isDuplicate = try catalog.archive(key: sha256) != nil || Folder.exists(layout.sidecar(sha256))
            guard key.hasPrefix(StoreLayout.provisionalPrefix), !isDuplicate else {
                try save(archive)
                return archive
            }
            let hashed = archive.rekeyed(sha256)
            try Sidecar(hashed).write(to: layout.sidecar(sha256))
            try finishRekeying(hashed, from: key)
            return hashed
        }
    }

    /// Moves a file into the store, after its sidecar and index files.
    ///
    /// If the archive exists, its sidecar is written after the file was moved: a sidecar of a managed file without the
    /// file would mean that the archive was removed.
    func put(
        _ incoming: IncomingArchive, _ index: IncomingIndex, sidecar: Sidecar, isKnown: Bool
    ) throws {
        let key = index.key
        if !isKnown { try sidecar.write(to: layout.sidecar(key)) }
        do {
            try index.move()
            try Folder.move(incoming.file.path, to: layout.file(key))
        } catch {
            if !isKnown, Folder.fileSize(layout.file(key)) == nil { try deleteSidecars(key: key) }
            throw error
        }
        incoming.markCommitted()
        // Protects against accidents. File systems without modes (exFAT, SMB) ignore it.
        _ = chmod(layout.file(key), 0o400)
        preserveModificationTime(incoming.sourceModifiedAt, of: layout.file(key))
        if isKnown { try sidecar.write(to: layout.sidecar(key)) }
    }

    /// Adds an archive whose file and sidecar are in place to the catalog, and deletes the archive that it replaces.
    func addToCatalog(_ archive: Archive, _ examined: ExaminedArchive, replaced: Archive?) throws {
        do {
            try insertIntoCatalog(archive, examined, replacing: replaced?.key)
        } catch {
            throw StoreError(
                .failed, "the archive was stored but couldn't be added to the catalog (\(error))", place: layout.root,
                hint: "start replayhost again, which adds it")
        }
        if let replaced { try clearSuperseded(key: replaced.key) }
    }

    /// Inserts an archive into the catalog, with its findings and pages.
    func insertIntoCatalog(_ archive: Archive, _ examined: ExaminedArchive, replacing oldKey: String? = nil) throws {
        let lost = archive.sourceFindings ?? []
        let findings = lost + examined.findings.filter { !lost.contains($0) }
        var archive = archive
        archive.summary.findingCounts = FindingCounts(findings)
        try catalog.add(
            archive, sidecarStamp: StoreDocument.stamp(of: layout.sidecar(archive.key)), findings: findings,
            replacing: [archive.key, oldKey].compactMap { $0 }
        ) { add in
            try examined.forEachPage { try add($0) }
        } addFilter: { database in
            try CaptureFilters.save(examined.hashes, of: archive, database)
        }
        // When the catalog is rebuilt, the file has been verified already.
        try store.verifications.restore(archive)
        try store.resolver.restoreSites(of: archive)
    }

    /// Writes an archive's sidecar, then its row in the catalog.
    func save(_ archive: Archive) throws {
        try catalog.update(archive, sidecarStamp: writeSidecar(of: archive))
    }

    /// Writes an archive's sidecar, and returns its version.
    private func writeSidecar(of archive: Archive) throws -> String? {
        let path = layout.sidecar(archive.key)
        // `replaces` isn't in the catalog, so it has to be copied.
        let replaces: String?
        do {
            replaces = try Sidecar.read(at: path).replaces
        } catch let error as StoreError where error.code == .notFound || error.isDamagedDocument {
            replaces = nil
        }
        try Sidecar(archive, replaces: replaces).write(to: path)
        return StoreDocument.stamp(of: path)
    }

    /// Completes the change of a key after the new sidecar was written. Idempotent.
    func finishRekeying(_ archive: Archive, from provisionalKey: String) throws {
        for file in DerivedFile.allCases where Folder.exists(layout.derived(file, key: provisionalKey)) {
            try Folder.move(layout.derived(file, key: provisionalKey), to: layout.derived(file, key: archive.key))
        }
        try catalog.update(
            archive, from: provisionalKey, sidecarStamp: StoreDocument.stamp(of: layout.sidecar(archive.key)))
        try deleteSidecars(key: provisionalKey)
        store.openArchives.forget(key: provisionalKey)
        try store.search.rekey(provisionalKey, to: archive.key)
    }

    /// Completes a removal after the file, or the sidecar of a linked one, was moved out of `files/`. Idempotent.
    func finishRemoval(key: String) throws {
        let saved = [layout.sidecar(key), layout.removed(key)].lazy.compactMap { try? Sidecar.read(at: $0) }.first
        if let id = try catalog.archive(key: key)?.id ?? saved.flatMap({ ArchiveID($0.id) }) {
            // If the archive was replaced, its id belongs to another one.
            let holder = try catalog.archive(id: id)
            if holder == nil || holder?.key == key { try store.collections.removeFromAll(id) }
        }
        try catalog.remove(key: key)
        try deleteSidecars(key: key)
        try Folder.delete(layout.removed(key))
        store.openArchives.forget(key: key)
    }

    /// Deletes an archive that was replaced. Idempotent.
    func clearSuperseded(key: String) throws {
        try catalog.remove(key: key)
        try Folder.delete(layout.file(key))
        try deleteSidecars(key: key)
        store.openArchives.forget(key: key)
    }

    /// Deletes the sidecar and the index files of an archive.
    func deleteSidecars(key: String) throws {
        for file in DerivedFile.allCases { try Folder.delete(layout.derived(file, key: key)) }
        try Folder.delete(layout.sidecar(key))
    }

    /// Gives a file the modification time of its source, by which `replayhost open FILE` recognizes the source. If that
    /// fails, the source is only read again.
    private func preserveModificationTime(_ nanoseconds: Int64?, of path: String) {
        guard let nanoseconds else { return }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = rest < 0 ? (seconds - 1, rest + 1_000_000_000) : (seconds, rest)
        let modified = timespec(tv_sec: Int(time.0), tv_nsec: Int(time.1))
        let times = [modified, modified]
        _ = utimensat(AT_FDCWD, path, times, 0)
    }
}
