import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Brings a backup folder up to a snapshot: files first, then the manifest, then what is no longer needed goes.
struct BackupWriter {
    private typealias Item = BackupSnapshot.Item

    private let store: ArchiveStore
    private let folder: BackupFolder
    private let options: BackupOptions
    /// The archives of the manifest before, by key.
    private let former: [String: BackupManifest.Entry]
    private var report = BackupReport()
    /// Files that the folder has, by their SHA-256, and their sizes.
    private var held: [String: UInt64] = [:]
    /// Files there that are not what their name says.
    private var damaged: Set<String> = []
    /// Files that the report counts already: archives may share one.
    private var counted: Set<String> = []
    private var copying = (done: UInt64(0), total: UInt64(0))

    private init(store: ArchiveStore, folder: BackupFolder, former: BackupManifest?, options: BackupOptions) {
        (self.store, self.folder, self.options) = (store, folder, options)
        let entries = (former?.archives ?? []).map { ($0.key, $0) }
        self.former = Dictionary(entries, uniquingKeysWith: { first, _ in first })
    }

    /// Copies what is new in a store to the folder at `path`, which is made when it is not there.
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

    private mutating func run(
        _ snapshot: BackupSnapshot, _ progress: (ImportProgress) throws -> Void
    ) throws -> BackupReport {
        report.madeAt = snapshot.madeAt
        (report.problems, report.leftOut) = (snapshot.problems, snapshot.unreadable)
        try findHeld(snapshot)
        if options.verifies { try verifyHeld(progress) }
        try planCopies(snapshot)
        let entries = try snapshot.items.compactMap { try entry(of: $0, progress) }
        sayWhatStaysDamaged(snapshot)
        let collections = collections(of: snapshot, entries)
        (report.archives, report.collections) = (entries.count, collections.count)
        let manifest = BackupManifest(madeAt: snapshot.madeAt, archives: entries, collections: collections)
        try manifest.write(to: folder.manifest)
        try prune(manifest)
        return report
    }

    /// Looks which files need no copying, by name and size.
    private mutating func findHeld(_ snapshot: BackupSnapshot) throws {
        for item in snapshot.items {
            guard let hash = knownHash(of: item) else { continue }
            if folder.holds(hash, size: item.archive.size) {
                held[hash] = item.archive.size
            } else if Folder.exists(folder.layout.file(hash)) {
                damaged.insert(hash)
            }
        }
    }

    private mutating func verifyHeld(_ progress: (ImportProgress) throws -> Void) throws {
        let total = held.values.reduce(UInt64(0)) { $0.addingSaturated($1) }
        var done: UInt64 = 0
        for (hash, size) in held.sorted(by: { $0.key < $1.key }) {
            if try isWhole(hash, progress: { try progress(.checking(done: done.addingSaturated($0), total: total)) }) {
                report.verified.add(size)
            } else {
                held[hash] = nil
                damaged.insert(hash)
            }
            done = done.addingSaturated(size)
        }
    }

    /// A disk that cannot read a file has lost it.
    private func isWhole(_ hash: String, progress: (UInt64) throws -> Void) throws -> Bool {
        let path = folder.layout.file(hash)
        do {
            let file = try Descriptor(path: path, flags: O_RDONLY)
            file.dropFromMemory()
            return try FileHash.of(file, step: progress).sha256 == hash
        } catch let error as StoreError where error.place == path && error.code == .failed {
            return false
        }
    }

    /// Adds up what is to be copied, and whether there is room for it.
    private mutating func planCopies(_ snapshot: BackupSnapshot) throws {
        var planned: Set<String> = []
        for item in snapshot.items where wants(item) {
            let hash = knownHash(of: item) ?? item.archive.key
            guard held[hash] == nil, planned.insert(hash).inserted else { continue }
            copying.total = copying.total.addingSaturated(item.archive.size)
        }
        if copying.total > 0 { try folder.checkSpace(for: copying.total) }
    }

    /// What the manifest will say of an archive; copies its file when the folder does not have it.
    private mutating func entry(
        of item: Item, _ progress: (ImportProgress) throws -> Void
    ) throws -> BackupManifest.Entry? {
        let archive = item.archive
        var hash = knownHash(of: item).flatMap { held[$0] == nil ? nil : $0 }
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

    /// - Returns: The SHA-256 under which the folder has the file now; `nil` when it could not be had, which is said.
    private mutating func copy(_ item: Item, _ progress: (ImportProgress) throws -> Void) throws -> String? {
        let archive = item.archive
        let source: Descriptor
        do {
            source = try archive.openFile(in: store.layout)
        } catch {
            try miss(item, error)
            return nil
        }
        let target = try folder.layout.makeLockedFile()
        // Nothing is there any more under that name once the copy was moved.
        defer { withExtendedLifetime(target) { _ = unlink(target.path) } }
        let (begun, total) = copying
        do {
            let (size, digest) = try HashedCopy(source: source, target: target).run {
                try progress(.copying(done: min(begun + $0, total), total: total))
            }
            copying.done = begun + archive.size
            let hash = digest.hexadecimal
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

    /// - Throws: `StoreError` that names the file, when it is not what the store says.
    private func check(_ hash: String, size: UInt64, of item: Item, _ source: Descriptor) throws {
        let (archive, path) = (item.archive, source.path)
        if let known = archive.sha256, known != hash {
            throw StoreError(
                .archiveDamaged, "the file of \"\(archive.id)\" is damaged: its SHA-256 is \(hash), not \(known)",
                place: path,
                hint: archive.storage.isLinked
                    ? nil : "import it again from where it came from; `replayhost remove \(archive.id)` comes first")
        }
        if let file = archive.storage.linkedFile, !file.describes(try source.status()) {
            throw StoreError(
                .changed, "the file of \"\(archive.id)\" was changed while it was copied", place: path)
        }
    }

    /// Moves a copy to its place, unless the same is there.
    private mutating func keep(_ copy: Descriptor, as hash: String, of item: Item) throws {
        let size = UInt64(clamping: try copy.status().st_size)
        guard damaged.contains(hash) || !folder.holds(hash, size: size) else {
            held[hash] = size
            if counted.insert(hash).inserted { report.unchanged.add(size) }
            return
        }
        try copy.synchronize()
        // Against accidents only; file systems without modes (exFAT, SMB) go without.
        _ = chmod(copy.path, 0o400)
        try Folder.move(copy.path, to: folder.layout.file(hash))
        if damaged.remove(hash) != nil {
            report.notes.append("the copy of \"\(item.archive.id)\" in the backup was damaged, and was made anew")
        }
        held[hash] = size
        counted.insert(hash)
        report.copied.add(size)
    }

    /// A file that could not be opened: its archive was removed since the snapshot, or there is something wrong.
    private mutating func miss(_ item: Item, _ error: StoreError) throws {
        guard error.code == .notFound, try isGone(item.archive) else {
            let archive = item.archive
            let isLost = error.code == .notFound && !archive.storage.isLinked
            return report.problems.append(
                isLost
                    ? StoreError(
                        .archiveDamaged, "the file of \"\(archive.id)\" is gone from the store", place: error.place,
                        hint: "import it again, or remove \(archive.id)") : error)
        }
        report.notes.append(
            "\"\(item.archive.id)\" was removed or replaced meanwhile, and is left out; the next backup has what is there now"
        )
    }

    private mutating func sayWhatStaysDamaged(_ snapshot: BackupSnapshot) {
        for item in snapshot.items {
            guard let hash = knownHash(of: item), damaged.remove(hash) != nil else { continue }
            report.problems.append(
                StoreError(
                    .archiveDamaged, "the copy of \"\(item.archive.id)\" in the backup is damaged",
                    place: folder.layout.file(hash),
                    hint: item.archive.storage.isLinked ? "--include-linked copies it anew" : nil))
        }
    }

    private func isGone(_ archive: Archive) throws -> Bool {
        try store.layout.withCommitLock { try store.catalog.archive(key: archive.key) == nil }
    }

    /// The collections, without the archives that the backup does not have.
    private func collections(of snapshot: BackupSnapshot, _ entries: [BackupManifest.Entry]) -> [CollectionDocument] {
        let ids = Set(entries.map(\.sidecar.id))
        return snapshot.collections.map { document in
            var document = document
            document.members.removeAll { !ids.contains($0) }
            return document
        }
    }

    /// Where something is missing, the files of the manifest before may be what is left of it.
    private mutating func prune(_ manifest: BackupManifest) throws {
        guard options.prunes else { return }
        guard report.problems.isEmpty else {
            report.notes.append("nothing was deleted from the backup, since not everything is well")
            return
        }
        report.pruned = try folder.prune(keeping: manifest.hashes)
    }

    private func wants(_ item: Item) -> Bool { !item.archive.storage.isLinked || options.includesLinkedFiles }

    /// The hash of an archive's file: the catalog's, or what the copying of an unchanged linked file found out before.
    private func knownHash(of item: Item) -> String? {
        if let hash = item.archive.sha256 { return hash }
        guard let known = former[item.archive.key], known.sidecar.storage == item.archive.storage else {
            return nil
        }
        return known.sha256
    }
}
