import Foundation
import WebArchive

/// Restores a backup to a store: archives one by one, each with its sidecar before its file, then collections.
struct RestoreWriter {
    private typealias Entry = BackupManifest.Entry

    private let store: ArchiveStore
    private let folder: BackupFolder
    private let manifest: BackupManifest
    private var report = RestoreReport()
    private var copying = (done: UInt64(0), total: UInt64(0))

    private init(store: ArchiveStore, folder: BackupFolder, manifest: BackupManifest) {
        (self.store, self.folder, self.manifest) = (store, folder, manifest)
    }

    private var layout: StoreLayout { store.layout }

    /// Restores the backup at `path` to the store at `root`.
    static func restore(
        from path: String, to root: String, progress: (ImportProgress) throws -> Void
    ) throws -> RestoreReport {
        let folder = try BackupFolder.open(at: path, apartFrom: StoreLayout(root: root))
        let manifest = try manifest(in: folder, path)
        let store = try ArchiveStore(at: root)
        try store.checkWritable()
        // A server must not show a store that is only partly restored.
        let server = try lockOutServers(store.layout)
        defer { server.remove() }
        try store.repair()
        try check(store, isOf: manifest)
        var writer = RestoreWriter(store: store, folder: folder, manifest: manifest)
        return try writer.run(progress)
    }

    private static func manifest(in folder: BackupFolder, _ path: String) throws -> BackupManifest {
        do {
            return try BackupManifest.read(at: folder.manifest)
        } catch let error as StoreError where error.code == .notFound {
            throw StoreError(
                .notFound, "no complete backup in this folder: backup.json is missing", place: path,
                hint: "use the folder that you gave to `replayhost backup`")
        } catch let error as StoreError where error.isDamagedDocument {
            throw StoreError(
                error.code, error.what, place: error.place, hint: error.hint ?? BackupManifest.manualRestoreHint)
        }
    }

    private static func lockOutServers(_ layout: StoreLayout) throws -> ServerFile {
        do {
            return try ServerFile(layout: layout)
        } catch let error as StoreError where error.code == .locked {
            let address = ServerFile.running(layout: layout).map { " at \($0.address)" } ?? ""
            throw StoreError(
                .locked, "a server is using this store" + address, place: layout.root,
                hint: "run `replayhost stop` first, or choose another store with --store")
        }
    }

    private static func check(_ store: ArchiveStore, isOf manifest: BackupManifest) throws {
        let entries = Dictionary(manifest.archives.map { ($0.sidecar.id, $0) }) { first, _ in first }
        let collections = Set(manifest.collections.map(\.id))
        let foreign =
            try store.catalog.allArchives().filter { entries[$0.id.text]?.isSame(as: $0) != true }.map(\.id)
            + store.collections.all().map(\.id).filter { !collections.contains($0.text) }
        guard let first = foreign.first else { return }
        throw StoreError(
            .failed,
            "the store has archives or collections that aren't in this backup (\(foreign.count)), for example \"\(first)\"",
            place: store.layout.root, hint: "choose an empty folder with --store")
    }

    private mutating func run(_ progress: (ImportProgress) throws -> Void) throws -> RestoreReport {
        report.madeAt = manifest.madeAt
        try restorePorts()
        let plan = try plan()
        copying.total = plan.reduce(0) { $0.addingSaturated($1.hash == nil ? 0 : $1.entry.size) }
        if copying.total > 0 { try layout.checkSpace(for: copying.total, what: "the restore") }
        for step in plan {
            if let hash = step.hash {
                try restore(step.entry, hash, progress)
            } else {
                try link(step.entry, progress)
            }
        }
        // Adds linked files to the catalog, and retries what couldn't be read above, to report why.
        report.problems += try store.repair().problems.map { StoreError(.archiveDamaged, $0) }
        try restoreCollections()
        try restoreQueue()
        try count()
        return report
    }

    /// An archive to restore.
    private struct Step {
        let entry: Entry
        /// The hash of the file to copy; `nil` for one that is only linked.
        let hash: String?
    }

    private mutating func plan() throws -> [Step] {
        var copied = Set(manifest.archives.filter { !$0.sidecar.storage.isLinked }.map(\.key))
        var steps: [Step] = []
        for entry in manifest.archives {
            if let existing = try archive(of: entry), existing.availability(in: layout) != .missing {
                report.alreadyThere += 1
                noteKeptMetadata(existing, entry)
            } else if !entry.sidecar.storage.isLinked {
                steps.append(Step(entry: entry, hash: entry.key))
            } else {
                // The store can't have the same file twice.
                let isUnchanged = entry.sidecar.storage.linkedFile?.availability == .available
                let copy = isUnchanged ? nil : entry.sha256.flatMap { copied.insert($0).inserted ? $0 : nil }
                steps.append(Step(entry: entry, hash: copy))
            }
        }
        return steps
    }

    /// Returns the archive of an entry if the store has it.
    private func archive(of entry: Entry) throws -> Archive? {
        guard let id = ArchiveID(entry.sidecar.id), let archive = try store.catalog.archive(id: id) else { return nil }
        return entry.isSame(as: archive) ? archive : nil
    }

    private mutating func noteKeptMetadata(_ archive: Archive, _ entry: Entry) {
        var restored = archive
        entry.sidecar.apply(to: &restored)
        guard (archive.title, archive.notes) != (restored.title, restored.notes) || archive.tags != restored.tags
        else { return }
        report.notes.append("\"\(archive.id)\" keeps its current title, tags and notes")
    }

    /// Copies a file from the backup and adds it to the store with its sidecar.
    private mutating func restore(
        _ entry: Entry, _ hash: String, _ progress: (ImportProgress) throws -> Void
    ) throws {
        let sidecar = entry.sidecar.storage.isLinked ? entry.sidecar.asManaged() : entry.sidecar
        let incoming: IncomingArchive
        do {
            incoming = try copied(entry, hash, progress)
        } catch let error as StoreError where error.place?.hasPrefix(folder.layout.root + "/") == true {
            copying.done = copying.done.addingSaturated(entry.size)
            guard error.code != .interrupted else { throw error }
            return report.problems.append(Self.damagedFile(error, of: entry))
        }
        copying.done = copying.done.addingSaturated(entry.size)
        try incoming.file.synchronize()
        let prepared = try prepare(incoming, sidecar, hash, progress)
        try layout.withCommitLock(checkCancellation: { try progress(.waiting) }) {
            if let prepared {
                try add(prepared, incoming, sidecar)
            } else {
                try sidecar.write(to: layout.sidecar(hash))
                _ = chmod(incoming.file.path, 0o400)
                try Folder.move(incoming.file.path, to: layout.file(hash))
                incoming.markCommitted()
            }
            report.restored.add(entry.size)
            if entry.sidecar.storage.isLinked, let id = ArchiveID(sidecar.id) { report.adopted.append(id) }
        }
    }

    /// - Throws: `StoreError` with the path of the backup's file if its hash doesn't match its name.
    private func copied(
        _ entry: Entry, _ hash: String, _ progress: (ImportProgress) throws -> Void
    ) throws -> IncomingArchive {
        let path = folder.layout.file(hash)
        let source = try Descriptor(path: path, flags: O_RDONLY)
        try source.checkSize(entry.size)
        let incoming = try IncomingArchive(
            layout: layout, originalName: entry.sidecar.entry.originalName, source: path, expectedSize: entry.size)
        let (before, total) = copying
        // One byte more shows that the file grows.
        try incoming.copy(from: source, limit: entry.size.addingSaturated(1)) {
            try progress(.copying(done: min(before + $0, total), total: total))
        }
        guard incoming.sha256 == hash else {
            throw StoreError(.archiveDamaged, "its SHA-256 is \(incoming.sha256)", place: path)
        }
        return incoming
    }

    private static func damagedFile(_ error: StoreError, of entry: Entry) -> StoreError {
        let reason = error.code == .notFound ? "it is missing" : error.what
        return StoreError(
            .archiveDamaged, "the backup's file of \"\(entry.sidecar.id)\" is damaged and was left out: \(reason)",
            place: error.place,
            hint: "if another store has this archive, back it up to this folder, then restore again")
    }

    /// Reads an archive and writes the index that its lookups need; `nil` if the archive can't be replayed.
    private func prepare(
        _ incoming: IncomingArchive, _ sidecar: Sidecar, _ hash: String, _ progress: (ImportProgress) throws -> Void
    ) throws -> (examined: ExaminedArchive, index: IncomingIndex)? {
        do {
            let examined = try ExaminedArchive(
                reading: incoming.file.bytes(named: incoming.originalName), showsUncovered: sidecar.entry.showsUncovered
            ) {
                try progress(.checking(done: $0, total: $1))
            }
            let index = try IncomingIndex(for: examined, key: hash, owner: incoming.file, layout: layout) {
                try progress(.indexing(done: $0, total: $1))
            }
            return (examined, index)
        } catch let error as StoreError where error.code == .refused {
            return nil
        }
    }

    /// Adds a file to the store and the catalog. Requires the commit lock.
    private func add(
        _ prepared: (examined: ExaminedArchive, index: IncomingIndex), _ incoming: IncomingArchive, _ sidecar: Sidecar
    ) throws {
        guard let id = ArchiveID(sidecar.id) else { return }
        let key = prepared.index.key
        // An archive that only lost its file keeps its current metadata.
        let known = try store.catalog.archive(key: key).map { Sidecar($0).asManaged() }
        let archive = prepared.examined.archive(
            key: key, id: id, sha256: key, storage: .managed, entry: (known ?? sidecar).entry,
            lookups: prepared.index.lookups)
        try store.committer.put(incoming, prepared.index, sidecar: known ?? sidecar, isKnown: known != nil)
        try store.committer.addToCatalog(archive, prepared.examined, replaced: nil)
    }

    /// Writes the sidecar of a linked file.
    private func link(_ entry: Entry, _ progress: (ImportProgress) throws -> Void) throws {
        try layout.withCommitLock(checkCancellation: { try progress(.waiting) }) {
            try entry.sidecar.write(to: layout.sidecar(entry.key))
        }
    }

    /// Keeps the ports of removed archives from other archives, which would find their data in the browser.
    private func restorePorts() throws {
        guard let saved = manifest.ports else { return }
        try layout.withCommitLock {
            let known = try PortLedger.read(layout)
            var ports = known
            ports.add(saved)
            if ports != known { try ports.write(layout) }
        }
    }

    /// Restores the queue of the capture server, unless the store has one. SQLite opens a copy of it, not a file of the backup.
    private mutating func restoreQueue() throws {
        let source = folder.layout.captureDatabase
        guard !Folder.hasName(layout.captureDatabase), Folder.hasName(source) else { return }
        do {
            let file = try Descriptor(path: source, flags: O_RDONLY)
            let size = try file.size()
            try layout.checkSpace(for: size, what: "the restore")
            try layout.withStagingFile { copy in
                _ = try HashedCopy(source: file, target: copy, limit: size).run { _ in }
                try DatabaseCopy.copy(copy.path, to: layout.captureDatabase)
            }
        } catch let error as StoreError where error.code == .notAFile {
            report.problems.append(error)
        }
    }

    private func restoreCollections() throws {
        try layout.withCommitLock {
            for document in manifest.collections {
                var collection = try document.collection(at: folder.manifest)
                collection.members = try collection.members.filter { try store.catalog.archive(id: $0) != nil }
                guard
                    try store.collections.collection(id: collection.id).map({ $0.lacksMembers(of: collection) }) ?? true
                else { continue }
                try store.collections.save(collection)
            }
        }
    }

    /// Counts what the store has after the restore.
    private mutating func count() throws {
        for entry in manifest.archives {
            guard let id = ArchiveID(entry.sidecar.id) else { continue }
            guard let archive = try archive(of: entry) else {
                report.leftOut.append(id)
                continue
            }
            report.archives += 1
            if archive.storage.isLinked, archive.availability(in: layout) != .available {
                report.unavailable.append(id)
            }
        }
        report.collections = try store.collections.all().count
    }
}

extension ArchiveCollection {
    /// Whether this is the other collection without some of its members, as left by restoring a damaged backup.
    fileprivate func lacksMembers(of other: ArchiveCollection) -> Bool {
        var whole = self
        whole.members = other.members
        whole.port = other.port
        return whole == other && members.allSatisfy(other.members.contains) && members != other.members
    }
}
