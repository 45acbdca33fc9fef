#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What makes an archive be there, be another one, or be gone: its file, index files, sidecar and row, in an order that a kill at
/// any instant leaves whole. `edit`, `remove` and `finishHashing` take the commit lock; all else is done under it only.
struct Committer {
    let store: ArchiveStore

    private var layout: StoreLayout { store.layout }
    private var catalog: Catalog { store.catalog }

    /// Changes title, tags or notes. The sidecar is written first: the catalog is a copy of it.
    ///
    /// - Throws: `StoreError` `invalidMetadata`, `notFound` when somebody removed it meanwhile.
    @discardableResult
    func edit(_ id: ArchiveID, _ words: ArchiveMetadata) throws -> Archive {
        let words = try words.checked()
        return try layout.withCommitLock {
            guard var current = try catalog.archive(id: id) else {
                throw StoreError(.notFound, "no archive has the id \"\(id)\" any more")
            }
            if let title = words.title { current.title = title }
            if let tags = words.tags { current.tags = tags }
            if let notes = words.notes { current.notes = notes }
            try save(current)
            return current
        }
    }

    /// Removes an archive: file, index files, sidecar, membership in collections, catalog entry. A linked file itself stays.
    /// Somebody who is reading the file keeps reading it whole.
    /// Nothing is done where nobody has the id any more.
    func remove(_ id: ArchiveID) throws {
        try layout.withCommitLock {
            // Its key may be another one than a moment ago, once its file was hashed or replaced.
            guard let archive = try catalog.archive(id: id) else { return }
            if Folder.exists(layout.file(archive.key)) {
                try Folder.move(layout.file(archive.key), to: layout.removed(archive.key))
            } else if archive.storage.isLinked, Folder.exists(layout.sidecar(archive.key)) {
                try Folder.move(layout.sidecar(archive.key), to: layout.removed(archive.key))
            }
            try finishRemoval(key: archive.key)
        }
    }

    /// Takes over the SHA-256 of a linked file: its key from now on, unless the store has the same file already.
    ///
    /// The new sidecar decides: whoever is stopped after it is completed by `repair`.
    ///
    /// - Parameter key: The key under which hashing was begun.
    /// - Throws: `StoreError`: `notFound` when the archive is gone or was read anew meanwhile, `unavailable`, `changed`.
    func finishHashing(key: String, sha256: String) throws -> Archive {
        return try layout.withCommitLock {
            guard var archive = try catalog.archive(key: key), archive.storage.isLinked else {
                throw StoreError(.notFound, "the archive was removed or read anew while it was hashed")
            }
            try archive.checkAvailability(in: layout)
            archive.sha256 = sha256
            let isTaken = try catalog.archive(key: sha256) != nil || Folder.exists(layout.sidecar(sha256))
            guard key.hasPrefix(StoreLayout.provisionalPrefix), !isTaken else {
                try save(archive)
                return archive
            }
            let hashed = archive.rekeyed(sha256)
            try Sidecar(hashed).write(to: layout.sidecar(sha256))
            try finishRekeying(hashed, from: key)
            return hashed
        }
    }

    /// Sidecar and index files first, then the one rename that makes the archive be there.
    ///
    /// The sidecar of an archive that is known already stays as it is until the file is there: without its file it would mean
    /// that the archive is gone.
    func put(
        _ incoming: IncomingArchive, _ index: IncomingIndex, sidecar: Sidecar, isKnown: Bool
    ) throws {
        let key = index.key
        if !isKnown { try sidecar.write(to: layout.sidecar(key)) }
        do {
            try index.move()
            try Folder.move(incoming.file.path, to: layout.file(key))
        } catch {
            if !isKnown, !Folder.exists(layout.file(key)) { try deleteSidecars(key: key) }
            throw error
        }
        incoming.markCommitted()
        // Against accidents only; file systems without modes (exFAT, SMB) go without.
        _ = chmod(layout.file(key), 0o400)
        preserveModificationTime(incoming.sourceModifiedAt, of: layout.file(key))
        if isKnown { try sidecar.write(to: layout.sidecar(key)) }
    }

    /// Enters an archive whose file and sidecar are in place, and clears away the one that it replaces.
    func enter(_ archive: Archive, _ examined: ExaminedArchive, replaced: Archive?) throws {
        do {
            try catalogue(archive, examined, replacing: replaced?.key)
        } catch {
            throw StoreError(
                .failed, "the archive is stored, but the catalog could not take it (\(error))", place: layout.root,
                hint: "the next start enters it")
        }
        if let replaced { try clearSuperseded(key: replaced.key) }
    }

    /// Enters an archive whose file and sidecar are in place into the catalog, in the place of another one.
    func catalogue(_ archive: Archive, _ examined: ExaminedArchive, replacing oldKey: String? = nil) throws {
        try catalog.add(
            archive, sidecarStamp: StoreDocument.stamp(of: layout.sidecar(archive.key)), findings: examined.findings,
            replacing: [archive.key, oldKey].compactMap { $0 }
        ) { add in
            try examined.forEachPage { try add($0) }
        }
    }

    /// Writes an archive's sidecar, then its row in the catalog.
    func save(_ archive: Archive) throws {
        let path = layout.sidecar(archive.key)
        // What the catalog does not know of is kept.
        let replaces: String?
        do {
            replaces = try Sidecar.read(at: path).replaces
        } catch let error as StoreError where error.code == .notFound || error.isDamagedDocument {
            replaces = nil
        }
        try Sidecar(archive, replaces: replaces).write(to: path)
        try catalog.update(archive, sidecarStamp: StoreDocument.stamp(of: path))
    }

    /// What follows once a linked file's sidecar is there under its hash; repeatable.
    func finishRekeying(_ archive: Archive, from provisionalKey: String) throws {
        for file in IndexFile.allCases where Folder.exists(layout.index(file, key: provisionalKey)) {
            try Folder.move(layout.index(file, key: provisionalKey), to: layout.index(file, key: archive.key))
        }
        try catalog.update(
            archive, from: provisionalKey, sidecarStamp: StoreDocument.stamp(of: layout.sidecar(archive.key)))
        try deleteSidecars(key: provisionalKey)
        store.openArchives.forget(key: provisionalKey)
    }

    /// What follows once the file, or the sidecar of a linked one, has left `files/`; repeatable.
    func finishRemoval(key: String) throws {
        let saved = [layout.sidecar(key), layout.removed(key)].lazy.compactMap { try? Sidecar.read(at: $0) }.first
        if let id = try catalog.archive(key: key)?.id ?? saved.flatMap({ ArchiveID($0.id) }) {
            // The id belongs to another one by now when the archive was replaced.
            let holder = try catalog.archive(id: id)
            if holder == nil || holder?.key == key { try store.collections.leaveAll(id) }
        }
        try catalog.remove(key: key)
        try deleteSidecars(key: key)
        try Folder.delete(layout.removed(key))
        store.openArchives.forget(key: key)
    }

    /// Clears away an archive whose place another one has taken; repeatable.
    func clearSuperseded(key: String) throws {
        try catalog.remove(key: key)
        try Folder.delete(layout.file(key))
        try deleteSidecars(key: key)
        store.openArchives.forget(key: key)
    }

    /// Deletes all that lies in `files/` beside an archive.
    func deleteSidecars(key: String) throws {
        for file in IndexFile.allCases { try Folder.delete(layout.index(file, key: key)) }
        try Folder.delete(layout.sidecar(key))
    }

    /// Gives a file of the store the time of change that its source had before it was read. Where that is not possible, and after
    /// a kill just before, the source is read again when it is opened the next time.
    private func preserveModificationTime(_ nanoseconds: Int64?, of path: String) {
        guard let nanoseconds else { return }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = rest < 0 ? (seconds - 1, rest + 1_000_000_000) : (seconds, rest)
        let changed = timespec(tv_sec: Int(time.0), tv_nsec: Int(time.1))
        let times = [changed, changed]
        _ = utimensat(AT_FDCWD, path, times, 0)
    }
}
