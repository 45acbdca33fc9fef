import Foundation
import WebArchive

/// Updates a backup folder to a snapshot: copies files, writes the manifest, then deletes what is no longer needed.
struct BackupWriter {
    private typealias Item = BackupSnapshot.Item

    private let store: ArchiveStore
    private let folder: BackupFolder
    private let options: BackupOptions
    /// The archives of the previous manifest, by key.
    private let former: [String: BackupManifest.Entry]
    /// The ports of the previous manifest.
    private let formerPorts: PortLedger?
    private var report = BackupReport()
    /// The sizes of the files that the folder has, by SHA-256.
    private var stored: [String: UInt64] = [:]
    /// Files in the folder whose content doesn't match their name.
    private var damaged: Set<String> = []
    /// Files that the report already counts: archives can share one.
    private var counted: Set<String> = []
    private var copying = (done: UInt64(0), total: UInt64(0))

    private init(store: ArchiveStore, folder: BackupFolder, former: BackupManifest?, options: BackupOptions) {
        (self.store, self.folder, self.options) = (store, folder, options)
        let entries = (former?.archives ?? []).map { ($0.key, $0) }
        self.former = Dictionary(entries, uniquingKeysWith: { first, _ in first })
        formerPorts = former?.ports
    }

    /// Backs up a store to the folder at `path`, which is created if necessary.
    static func backUp(
        _ store: ArchiveStore, to path: String, options: BackupOptions, progress: (ImportProgress) throws -> Void
    ) throws -> BackupReport {
        let folder = try BackupFolder.make(at: path, apartFrom: store.layout)
        do {
            let former = try folder.formerManifest()
            try folder.sweep()
            let snapshot = try BackupSnapshot(of: store) { try progress(.waiting) }
            try check(former, isOf: snapshot, at: folder.manifest)
            var writer = BackupWriter(store: store, folder: folder, former: former, options: options)
            return try writer.run(snapshot, progress)
        } catch let error as StoreError {
            throw folder.withBackupHint(error)
        }
    }

    /// Refuses to overwrite the backup of another store, which may be the only one.
    private static func check(_ former: BackupManifest?, isOf snapshot: BackupSnapshot, at path: String) throws {
        guard let former, !former.archives.isEmpty else { return }
        let keys = Set(snapshot.items.flatMap { [$0.archive.key, $0.archive.provisionalKey ?? $0.archive.key] })
        let ids = Set(snapshot.items.map(\.archive.id.text))
        if former.archives.contains(where: { keys.contains($0.key) || ids.contains($0.sidecar.id) }) { return }
        throw StoreError(
            .failed, "this is the backup of another store: none of its archives are in yours", place: path,
            hint: "choose another folder, or move this file away if you no longer need that backup")
    }

    private mutating func run(
        _ snapshot: BackupSnapshot, _ progress: (ImportProgress) throws -> Void
    ) throws -> BackupReport {
        report.madeAt = snapshot.madeAt
        (report.problems, report.leftOut) = (snapshot.problems, snapshot.unreadable)
        findStored(snapshot)
        if options.verifies { try verifyStored(progress) }
        try planCopies(snapshot)
        let entries = try snapshot.items.compactMap { try entry(of: $0, progress) }
        reportDamagedCopies(snapshot)
        let collections = collections(of: snapshot, entries)
        (report.archives, report.collections) = (entries.count, collections.count)
        do {
            try DatabaseCopy.copy(store.layout.captureDatabase, to: folder.layout.captureDatabase)
        } catch let error as StoreError where error.code == .notAFile {
            report.problems.append(error)
        }
        var ports = PortLedger()
        for known in [snapshot.ports, formerPorts].compactMap(\.self) { ports.add(known) }
        let manifest = BackupManifest(
            madeAt: snapshot.madeAt, archives: entries, collections: collections, ports: ports)
        try manifest.write(to: folder.manifest)
        try prune(manifest)
        return report
    }

    /// Finds the files that needn't be copied, by name and size.
    private mutating func findStored(_ snapshot: BackupSnapshot) {
        for item in snapshot.items {
            guard let hash = knownHash(of: item) else { continue }
            if folder.hasFile(hash, size: item.archive.size) {
                stored[hash] = item.archive.size
            } else if Folder.hasName(folder.layout.file(hash)) {
                damaged.insert(hash)
            }
        }
    }

    private mutating func verifyStored(_ progress: (ImportProgress) throws -> Void) throws {
        let total = stored.values.reduce(UInt64(0)) { $0.addingSaturated($1) }
        var done: UInt64 = 0
        for (hash, size) in stored.sorted(by: { $0.key < $1.key }) {
            if try isIntact(hash, progress: { try progress(.checking(done: done.addingSaturated($0), total: total)) }) {
                report.verified.add(size)
            } else {
                stored[hash] = nil
                damaged.insert(hash)
            }
            done = done.addingSaturated(size)
        }
    }

    /// Whether a file has the content that its name promises. A file that the disk can't read counts as damaged.
    private func isIntact(_ hash: String, progress: (UInt64) throws -> Void) throws -> Bool {
        let path = folder.layout.file(hash)
        do {
            let file = try Descriptor(path: path, flags: O_RDONLY)
            file.dropFromMemory()
            return try FileHash.of(file, step: progress).sha256 == hash
        } catch let error as StoreError where error.place == path && [.failed, .notAFile].contains(error.code) {
            return false
        }
    }

    /// Adds up what has to be copied, and checks that there is space for it.
    private mutating func planCopies(_ snapshot: BackupSnapshot) throws {
        var planned: Set<String> = []
        for item in snapshot.items where wants(item) {
            let hash = knownHash(of: item) ?? item.archive.key
            guard stored[hash] == nil, planned.insert(hash).inserted else { continue }
            copying.total = copying.total.addingSaturated(item.archive.size)
        }
        if copying.total > 0 { try folder.checkSpace(for: copying.total) }
    }

    /// Returns the manifest's entry for an archive, and copies its file if the folder doesn't have it.
    private mutating func entry(
        of item: Item, _ progress: (ImportProgress) throws -> Void
    ) throws -> BackupManifest.Entry? {
        let archive = item.archive
        var hash = knownHash(of: item).flatMap { stored[$0] == nil ? nil : $0 }
        if let hash {
            if counted.insert(hash).inserted { report.unchanged.add(archive.size) }
        } else if wants(item) {
            hash = try copy(item, progress)
        }
        if hash == nil {
            guard archive.storage.isLinked else {
                report.leftOut.append(archive.id)
                return nil
            }
            report.elsewhere.add(archive.size)
        }
        return BackupManifest.Entry(key: archive.key, size: archive.size, sha256: hash, sidecar: item.sidecar)
    }

    /// - Returns: The file's SHA-256, its name in the folder; `nil` if it couldn't be copied, which is reported.
    private mutating func copy(_ item: Item, _ progress: (ImportProgress) throws -> Void) throws -> String? {
        let archive = item.archive
        let source: Descriptor
        do {
            source = try archive.openFile(in: store.layout)
        } catch {
            try reportUnreadable(item, error)
            return nil
        }
        let target = try folder.layout.makeLockedFile()
        // After the copy was moved, there is nothing left under this name.
        defer { withExtendedLifetime(target) { _ = unlink(target.path) } }
        let (before, total) = copying
        do {
            try source.checkSize(archive.size)
            // One byte more shows that the file grows.
            let limit = archive.size.addingSaturated(1)
            let (size, hash) = try HashedCopy(source: source, target: target, limit: limit).run {
                try progress(.copying(done: min(before + $0, total), total: total))
            }
            copying.done = before + archive.size
            try check(hash, size: size, of: item, source)
            try keep(target, as: hash, of: item)
            return hash
        } catch let error as StoreError where error.place == source.path && error.code != .interrupted {
            let isUnreadable = error.code == .failed
            report.problems.append(
                isUnreadable
                    ? StoreError(.archiveDamaged, error.what, place: error.place, hint: error.hint) : error)
            return nil
        }
    }

    /// Checks that a copied file is the one that the store describes.
    ///
    /// - Throws: `StoreError` with the file's path.
    private func check(_ hash: String, size: UInt64, of item: Item, _ source: Descriptor) throws {
        let (archive, path) = (item.archive, source.path)
        if let known = archive.sha256, known != hash {
            throw StoreError(
                .archiveDamaged, "the file of \"\(archive.id)\" is damaged: its SHA-256 is \(hash), not \(known)",
                place: path,
                hint: archive.storage.isLinked
                    ? nil : "run `replayhost remove \(archive.id)`, then import the original file again")
        }
        if let file = archive.storage.linkedFile, !file.describes(try source.status()) {
            throw StoreError(
                .changed, "the file of \"\(archive.id)\" changed while it was copied", place: path)
        }
    }

    /// Moves a copy into `files/`, unless the file is already there.
    private mutating func keep(_ copy: Descriptor, as hash: String, of item: Item) throws {
        let size = UInt64(clamping: try copy.status().st_size)
        guard damaged.contains(hash) || !folder.hasFile(hash, size: size) else {
            stored[hash] = size
            if counted.insert(hash).inserted { report.unchanged.add(size) }
            return
        }
        try copy.synchronize()
        // Protects against accidents. File systems without modes (exFAT, SMB) ignore it.
        _ = chmod(copy.path, 0o400)
        try Folder.move(copy.path, to: folder.layout.file(hash))
        if damaged.remove(hash) != nil {
            report.notes.append("the backup's copy of \"\(item.archive.id)\" was damaged and has been replaced")
        }
        stored[hash] = size
        counted.insert(hash)
        report.copied.add(size)
    }

    /// Reports a file that couldn't be opened. Only a note if its archive was removed since the snapshot.
    private mutating func reportUnreadable(_ item: Item, _ error: StoreError) throws {
        guard error.code == .notFound, try isGone(item.archive) else {
            let archive = item.archive
            let isLost = error.code == .notFound && !archive.storage.isLinked
            return report.problems.append(
                isLost
                    ? StoreError(
                        .archiveDamaged, "the file of \"\(archive.id)\" is missing from the store", place: error.place,
                        hint: "import it again, or run `replayhost remove \(archive.id)`") : error)
        }
        report.notes.append(
            "\"\(item.archive.id)\" was removed or replaced during the backup and was left out; run the backup again"
        )
    }

    private mutating func reportDamagedCopies(_ snapshot: BackupSnapshot) {
        for item in snapshot.items {
            guard let hash = knownHash(of: item), damaged.remove(hash) != nil else { continue }
            report.problems.append(
                StoreError(
                    .archiveDamaged, "the backup's copy of \"\(item.archive.id)\" is damaged",
                    place: folder.layout.file(hash),
                    hint: item.archive.storage.isLinked ? "copy it again with --include-linked" : nil))
        }
    }

    private func isGone(_ archive: Archive) throws -> Bool {
        try store.layout.withCommitLock { try store.catalog.archive(key: archive.key) == nil }
    }

    /// Returns the collections, without members that the backup doesn't have.
    private func collections(of snapshot: BackupSnapshot, _ entries: [BackupManifest.Entry]) -> [CollectionDocument] {
        let ids = Set(entries.map(\.sidecar.id))
        return snapshot.collections.map { document in
            var document = document
            document.members.removeAll { !ids.contains($0) }
            return document
        }
    }

    /// Deletes files that the manifest doesn't need, unless there were problems: old files may be all that is left of
    /// an archive.
    private mutating func prune(_ manifest: BackupManifest) throws {
        guard options.prunes else { return }
        guard report.problems.isEmpty else {
            report.notes.append("nothing was deleted from the backup because there were problems")
            return
        }
        report.pruned = try folder.prune(keeping: manifest.hashes)
    }

    private func wants(_ item: Item) -> Bool { !item.archive.storage.isLinked || options.includesLinkedFiles }

    /// Returns the hash of an archive's file from the catalog, or from the previous backup if a linked file is
    /// unchanged.
    private func knownHash(of item: Item) -> String? {
        if let hash = item.archive.sha256 { return hash }
        guard let known = former[item.archive.key], known.sidecar.storage == item.archive.storage else {
            return nil
        }
        return known.sha256
    }
}
