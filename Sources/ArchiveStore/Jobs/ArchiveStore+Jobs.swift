#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Imports that are seen as jobs, and jobs whose process is no more.
extension ArchiveStore {
    /// `importAny`, as a job: should this process end in the middle, another one begins it again.
    package func importAsJob(
        at path: String, mode: ImportMode = .copy, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        guard let size = Self.sizeOfFile(at: path) else {
            // No file, no work: what is wrong with it is said at once.
            return try importAny(at: path, mode: mode, options: options, progress: progress)
        }
        // Nothing is done for a file that is known, so that nothing is written down either.
        if mode == .reference, let known = try knownReference(at: path, options) { return .archive(known) }
        let order = ImportOrder(path: path, mode: mode, options: options)
        let job = try beginImportJob(order, name: path, total: size)
        return try job.run {
            try importAny(at: path, mode: mode, options: options) {
                try progress($0)
                try job.follow($0)
            }
        }
    }

    /// `importStream`, as a job. It cannot be begun again: what was read is gone.
    package func importStreamAsJob(
        _ descriptor: Int32, name: String, source: String, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        let job = try beginImportJob(ImportOrder(path: nil, options: options), name: name, total: nil)
        return try job.run {
            try importStream(descriptor, name: name, source: source, options: options) {
                try progress($0)
                try job.follow($0)
            }
        }
    }

    /// Writes down an import that is about to begin; whoever begins it ends it.
    ///
    /// - Parameter name: A path or a file name, of which people are shown the last part.
    package func beginImportJob(_ order: ImportOrder, name: String, total: UInt64?) throws -> ImportJob {
        let owner = try JobOwner(layout: layout)
        let id = try catalog.addImport(
            order, subject: IncomingArchive.cleanName(name), total: total, owner: owner.name)
        return ImportJob(id: id, catalog: catalog, owner: owner, total: total)
    }

    /// Takes the jobs of processes that are no more.
    ///
    /// - Returns: How many there were.
    @discardableResult
    package func takeBackOrphanedJobs() throws -> Int {
        try catalog.ownersOfRunningJobs().filter { !JobOwner.isAlive($0, layout: layout) }
            .reduce(0) { try $0 + catalog.takeBackJobs(ofDead: $1) }
    }

    /// `nil` for what is no file.
    private static func sizeOfFile(at path: String) -> UInt64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(clamping: status.st_size)
    }
}
