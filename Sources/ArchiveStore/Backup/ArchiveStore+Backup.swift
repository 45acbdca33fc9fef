extension ArchiveStore {
    /// Copies to a folder what is new in the store, and writes there what the store is.
    ///
    /// The store stays in use meanwhile: what is imported or removed after the first moment is a matter of the next backup.
    ///
    /// - Parameters:
    ///   - path: Absolute; made when it is not there.
    ///   - progress: Called now and then; throws to stop. The backup before stays valid, and what was copied is made use of by
    ///     the next run.
    /// - Throws: `StoreError`: `failed` for a folder that cannot be one for backups, `locked`, `noSpace`, `unusable`.
    package func backUp(
        to path: String, options: BackupOptions = BackupOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> BackupReport {
        let folder = try BackupFolder.make(at: path, apartFrom: layout)
        do {
            let former = try folder.formerManifest()
            try folder.sweep()
            let snapshot = try takeSnapshot { try progress(.waiting) }
            try Self.check(former, isOf: snapshot, at: folder.manifest)
            var writer = BackupWriter(store: self, folder: folder, former: former, options: options)
            return try writer.run(snapshot, progress)
        } catch let error as StoreError {
            throw folder.inItsWords(error)
        }
    }

    /// The only backup of one store must not make room for that of another.
    private static func check(_ former: BackupManifest?, isOf snapshot: BackupSnapshot, at path: String) throws {
        guard let former, !former.archives.isEmpty else { return }
        let keys = Set(snapshot.items.flatMap { [$0.archive.key, $0.archive.provisionalKey ?? $0.archive.key] })
        let ids = Set(snapshot.items.map(\.archive.id.text))
        if former.archives.contains(where: { keys.contains($0.key) || ids.contains($0.sidecar.id) }) { return }
        throw StoreError(
            .failed, "the folder has the backup of another store: none of its archives is in this one", place: path,
            hint: "give another folder; or, if that backup is no longer needed, move the file away first")
    }
}
