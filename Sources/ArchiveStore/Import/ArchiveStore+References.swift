import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files that stay where they are.
///
/// Such an archive is there once its sidecar is: the file is only read. Its key is provisional until a job has hashed it. What the
/// file is, is told by path, size and time of change: another one at that path is never shown as this one.
extension ArchiveStore {
    /// Reads the directory and the index of the file at `path`, and enters it; a job hashes it later.
    ///
    /// A file that is known by path, size and time of change is not read again. One that was changed since is read anew, under
    /// the id that it has.
    ///
    /// - Throws: As `importFile`; `failed` for a file of the store itself, and for one that changes while it is read.
    package func importReference(
        to path: String, options: ImportOptions = ImportOptions(), progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportOutcome {
        let source = try Self.openSource(path)
        let status = try source.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw StoreError(.failed, "not a file", place: path) }
        let reference = FileReference(path: Self.absolute(path), status)
        guard !reference.path.hasPrefix(Self.absolute(layout.root) + "/") else {
            throw StoreError(.failed, "the file is one of the store's own", place: path)
        }
        if let known = try unchanged(reference, options) { return known }
        let examined = try examine(reference.path, name: (path as NSString).lastPathComponent, options: options) {
            try progress(.checking(done: $0, total: $1))
        }
        let key = StoreLayout.provisionalKey()
        let owner = try layout.makeLockedFile()
        defer { withExtendedLifetime(owner) { _ = unlink(owner.path) } }
        let index = try IncomingIndex(for: examined, key: key, owner: owner, layout: layout) {
            try progress(.indexing(done: $0, total: $1))
        }
        guard reference.describes(try source.status()) else {
            throw StoreError(
                .failed, "the file was changed while it was read", place: path,
                hint: "import it again when nobody writes to it")
        }
        return try layout.withCommitLock(pulse: { try progress(.waiting) }) {
            if let known = try unchanged(reference, options) { return known }
            var options = options
            // Another file at a path that is known: that archive, read anew.
            let former = try catalog.archives(referencePath: reference.path).first
            options.replaces = options.replaces ?? former?.id
            let origin = ExaminedArchive.Origin(
                name: IncomingArchive.cleanName(path), source: reference.path,
                importedAt: former?.importedAt ?? RFC3339.now())
            let (new, replaced) = try archive(
                key: key, sha256: nil, examined, origin: origin, options: options, existing: nil)
            var archive = new
            archive.reference = reference
            archive.lookups = index.lookups
            try index.move()
            do {
                try Sidecar(archive, replaces: replaced?.key).write(to: layout.sidecar(key))
            } catch {
                try committer.deleteSidecars(key: key)
                throw error
            }
            try committer.enter(archive, examined, replaced: replaced)
            try jobs.queueHashing(of: archive)
            let details = try details(of: archive, findings: examined.findings)
            return ImportOutcome(details: details, kind: replaced == nil ? .imported : .replaced)
        }
    }

    /// The archive that refers to the file at `path` as it is; nothing is read for it.
    func knownReference(at path: String, _ options: ImportOptions) throws -> ImportOutcome? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return try unchanged(FileReference(path: Self.absolute(path), status), options)
    }

    /// The archive that refers to this very file already; nothing is read for it.
    private func unchanged(_ reference: FileReference, _ options: ImportOptions) throws -> ImportOutcome? {
        let known = try catalog.archives(referencePath: reference.path).first { $0.reference == reference }
        guard let known, options.replaces == nil || options.replaces == known.id else { return nil }
        let details = ArchiveDetails(
            archive: known, availability: .here, findings: try catalog.findings(key: known.key),
            groups: try collections.groups(of: known.id).map(\.id))
        return ImportOutcome(details: details, kind: .duplicate)
    }

    /// Takes over the SHA-256 of a referenced file: its key from now on, unless the store has the same file already.
    ///
    /// The new sidecar decides: whoever is stopped after it is completed by `repair`.
    ///
    /// - Parameter key: The key under which hashing was begun.
    /// - Throws: `StoreError`: `notFound` when the archive is gone or was read anew meanwhile, `offline`, `changed`.
    package func finishHashing(key: String, sha256: String) throws -> Archive {
        return try layout.withCommitLock {
            guard var archive = try catalog.archive(key: key), archive.reference != nil else {
                throw StoreError(.notFound, "the archive was removed or read anew while it was hashed")
            }
            try archive.checkAvailability(in: layout)
            archive.sha256 = sha256
            let isTaken = try catalog.archive(key: sha256) != nil || Folder.exists(layout.sidecar(sha256))
            guard key.hasPrefix(StoreLayout.referencePrefix), !isTaken else {
                try committer.save(archive)
                return archive
            }
            let hashed = archive.rekeyed(sha256)
            try Sidecar(hashed).write(to: layout.sidecar(sha256))
            try committer.finishRekeying(hashed, from: key)
            return hashed
        }
    }
}
