extension ArchiveStore {
    /// Makes the store at `root` what a backup says: the same ids, words, groups and files.
    ///
    /// The store is empty or not there, or has only archives of that backup: then a restoration that was stopped goes on, and
    /// files that were lost come back.
    ///
    /// - Parameters:
    ///   - path: Of the backup; absolute.
    ///   - root: Absolute.
    ///   - progress: Called now and then; throws to stop. What was restored stays.
    /// - Throws: `StoreError`: `notFound` where there is no backup, `locked` when a server runs on the store, `failed` when
    ///   it has something else in it, `noSpace`, `unusable`.
    package static func restore(
        from path: String, to root: String, progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> RestoreReport {
        let folder = try BackupFolder.open(at: path, apartFrom: StoreLayout(root: root))
        let manifest = try manifest(in: folder, path)
        let store = try ArchiveStore(at: root)
        try store.checkWritable()
        let server = try store.keepServersAway()
        defer { server.remove() }
        try store.repair()
        try store.check(isOf: manifest)
        var writer = RestoreWriter(store: store, folder: folder, manifest: manifest)
        return try writer.run(progress)
    }

    private static func manifest(in folder: BackupFolder, _ path: String) throws -> BackupManifest {
        do {
            return try BackupManifest.read(at: folder.manifest)
        } catch let error as StoreError where error.code == .notFound {
            throw StoreError(
                .notFound, "there is no complete backup in the folder: backup.json is missing", place: path,
                hint: "name the folder that was given to `replayhost backup`")
        } catch let error as StoreError where error.isDamagedDocument {
            throw StoreError(error.code, error.what, place: error.place, hint: error.hint ?? BackupManifest.byHand)
        }
    }

    /// What serves a store must not see it half restored.
    private func keepServersAway() throws -> ServerFile {
        do {
            return try ServerFile(layout: layout)
        } catch let error as StoreError where error.code == .locked {
            let address = ServerFile.running(layout: layout).map { " at \($0.address)" } ?? ""
            throw StoreError(
                .locked, "a server runs on the store that is to be restored" + address, place: layout.root,
                hint: "stop it, or give another store with --store")
        }
    }

    private func check(isOf manifest: BackupManifest) throws {
        let entries = Dictionary(manifest.archives.map { ($0.sidecar.id, $0) }) { first, _ in first }
        let groups = Set(manifest.groups.map(\.id))
        let foreign =
            try catalog.allArchives().filter { entries[$0.id.text]?.isSame(as: $0) != true }.map(\.id)
            + collections.all().map(\.id).filter { !groups.contains($0.text) }
        guard let first = foreign.first else { return }
        throw StoreError(
            .failed,
            "the store has \(foreign.count) of its own that the backup does not have, for example \"\(first)\"",
            place: layout.root, hint: "restore to an empty folder: --store PATH")
    }
}

extension BackupManifest.Entry {
    /// Whether an archive of a store is this one, also when it was hashed or taken in since.
    func isSame(as archive: Archive) -> Bool {
        guard archive.id.text == sidecar.id else { return false }
        if archive.key == key || archive.provisionalKey == key { return true }
        return sha256 != nil && archive.sha256 == sha256
    }
}
