import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file behind an archive, in the store or outside of it.
extension Archive {
    /// Where the file is.
    func path(in layout: StoreLayout) -> String {
        switch storage {
        case .managed: layout.file(key)
        case .linked(let file): file.path
        }
    }

    /// Whether the file can be read now, and is the one that was read.
    package func availability(in layout: StoreLayout) -> Availability {
        var status = stat()
        guard stat(path(in: layout), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return storage.isLinked ? .unavailable : .missing
        }
        guard let linkedFile = storage.linkedFile else { return .available }
        return linkedFile.describes(status) ? .available : .changed
    }

    /// Opens the file.
    ///
    /// - Throws: `StoreError`: `unavailable` or `changed` for a linked file, `failed` for a lost one.
    func openFile(in layout: StoreLayout) throws(StoreError) -> Descriptor {
        let path = path(in: layout)
        guard let linkedFile = storage.linkedFile else { return try Descriptor(path: path, flags: O_RDONLY) }
        let file: Descriptor
        do {
            file = try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            throw unavailable
        }
        // A volume that went away while it was being asked is away as well.
        guard let status = try? file.status() else { throw unavailable }
        guard linkedFile.describes(status) else { throw changed }
        return file
    }

    /// - Throws: `StoreError`: `unavailable` or `changed` for a linked file, `failed` for a lost one.
    func checkAvailability(in layout: StoreLayout) throws(StoreError) {
        switch availability(in: layout) {
        case .available: return
        case .unavailable: throw unavailable
        case .changed: throw changed
        case .missing:
            throw StoreError(
                .failed, "the file of \"\(id)\" is gone from the store", place: layout.file(key),
                hint: "run `replayhost doctor`")
        }
    }

    /// What is wrong with a file that is not there as it was.
    func findings(_ availability: Availability) -> [Finding] {
        let path = storage.linkedFile?.path ?? "files/\(key).wacz"
        switch availability {
        case .available:
            guard !isExamined else { return [] }
            return [
                Finding(
                    severity: .notice, code: "not-read-yet",
                    what: "The file was away when the catalog was made anew; its pages were not read yet.",
                    location: path, consequence: "It is read again by `replayhost doctor`, or soon by a running server."
                )
            ]
        case .unavailable:
            return [
                Finding(
                    severity: .warning, code: "file-unavailable", what: "The file is not where it was.", location: path,
                    consequence: "Nothing of it can be shown until its volume is attached or the file is put back.")
            ]
        case .changed:
            return [
                Finding(
                    severity: .error, code: "file-changed", what: "The file was changed since it was read.",
                    location: path,
                    consequence: "It is not shown as what it was; `replayhost import --link` reads it anew.")
            ]
        case .missing:
            return [
                Finding(
                    severity: .error, code: "file-missing", what: "The file is gone from the store.", location: path,
                    consequence: "Nothing of it can be shown; import it again, or take it from a backup.")
            ]
        }
    }

    private var unavailable: StoreError {
        StoreError(
            .unavailable, "\"\(id)\" is offline: its file is not where it was", place: storage.linkedFile?.path,
            hint: "attach the volume that holds it, or put the file back; nothing else of the archive is lost")
    }

    private var changed: StoreError {
        StoreError(
            .changed, "the file of \"\(id)\" was changed since it was read, and is not shown as what it was",
            place: storage.linkedFile?.path,
            hint: "`replayhost import --link FILE` reads it anew; or put the file back as it was")
    }
}

extension FileReference {
    init(path: String, _ status: stat) {
        self.init(
            path: path, size: UInt64(clamping: status.st_size),
            modifiedAtNanoseconds: status.modifiedAtNanoseconds)
    }

    /// The file at `path` as it is now; `nil` for what is no file.
    package init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(path: Folder.resolved(path), status)
    }

    /// Whether a file is, by size and time of change, the one that was read.
    func describes(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && UInt64(clamping: status.st_size) == size
            && status.modifiedAtNanoseconds == modifiedAtNanoseconds
    }
}
