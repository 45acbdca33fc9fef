import Foundation
import WebArchive

extension Archive {
    /// Returns the path of the archive's file, in the store or linked.
    func path(in layout: StoreLayout) -> String {
        switch storage {
        case .managed: layout.file(key)
        case .linked(let file): file.path
        }
    }

    /// Identifies the file in documents that are made from it. A key changes when a linked file is hashed, so it isn't part
    /// of it.
    var fileStamp: String { "\(size)\(storage.linkedFile.map { "-\($0.modifiedAtNanoseconds)" } ?? "")" }

    /// Whether the file can be read now and is unchanged.
    package func availability(in layout: StoreLayout) -> Availability {
        availability(fileStatus(in: layout))
    }

    /// What is at the path of the file now. In the store, a symbolic link isn't followed.
    private func fileStatus(in layout: StoreLayout) -> stat? {
        Folder.status(of: path(in: layout), followsLink: storage.isLinked)
    }

    private func availability(_ status: stat?) -> Availability {
        if let linkedFile = storage.linkedFile { return linkedFile.availability(status) }
        return status?.isFile ?? false ? .available : .missing
    }

    /// The file's state now; `nil` if it isn't there.
    func fileState(in layout: StoreLayout) -> String? { fileStatus(in: layout)?.state }

    /// Returns the archive as its file is now: whether it can be read, and without the result of a verification that was of
    /// another file, or of this one before it was changed.
    package func observed(in layout: StoreLayout) -> ListedArchive {
        let status = fileStatus(in: layout)
        var archive = self
        if let status, let lastReading, status.state != lastReading.state {
            archive.lastReading = Reading(state: lastReading.state, verified: nil)
        }
        return ListedArchive(archive: archive, availability: availability(status))
    }

    /// Opens the file.
    ///
    /// - Throws: `StoreError`: `unavailable` or `changed` for a linked file; `notFound` or `notAFile` for one of the store.
    func openFile(in layout: StoreLayout) throws(StoreError) -> Descriptor {
        let path = path(in: layout)
        guard let linkedFile = storage.linkedFile else { return try Descriptor(path: path, flags: O_RDONLY) }
        let file: Descriptor
        do {
            // The person chose this path.
            file = try Descriptor(named: path, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            throw unavailable
        }
        guard let status = try? file.status() else { throw unavailable }
        guard linkedFile.describes(status) else { throw changed }
        return file
    }

    /// - Throws: `StoreError`: `unavailable` or `changed` for a linked file, `failed` if it is missing from the store.
    func checkAvailability(in layout: StoreLayout) throws(StoreError) {
        switch availability(in: layout) {
        case .available: return
        case .unavailable: throw unavailable
        case .changed: throw changed
        case .missing:
            throw StoreError(
                .failed, "the file of \"\(id)\" is missing from the store", place: layout.file(key),
                hint: "run `replayhost doctor`")
        }
    }

    /// Returns a finding about a file that is unavailable, changed, missing or not yet read; `nil` for any other.
    func finding(_ availability: Availability) -> Finding? {
        let path = storage.linkedFile?.path ?? "files/\(key).wacz"
        switch availability {
        case .available:
            guard !isExamined else { return nil }
            return Finding(
                severity: .notice, code: "not-read-yet",
                what: "This file was unavailable when the catalog was rebuilt. Its pages haven't been read yet.",
                location: path,
                consequence: "They are read when the server next runs, or by `replayhost doctor`.")
        case .unavailable:
            return Finding(
                severity: .warning, code: "file-unavailable", what: "Can't find \(path).", location: path,
                consequence: "Connect the drive it's on, or move the file back. Your notes and tags are safe.")
        case .changed:
            return Finding(
                severity: .error, code: "file-changed", what: "This file has changed since you added it.",
                location: path, consequence: "Add the new version, or restore the old file.")
        case .missing:
            return Finding(
                severity: .error, code: "file-missing", what: "This archive's file is missing from the store.",
                location: path, consequence: "Add the file again, or restore it from a backup.")
        }
    }

    private var unavailable: StoreError {
        StoreError(
            .unavailable, "can't find the linked file of \"\(id)\"", place: storage.linkedFile?.path,
            hint: "connect the drive it's on, or move the file back; your notes and tags are safe")
    }

    var changed: StoreError {
        StoreError(
            .changed, "the file of \"\(id)\" has changed since you added it", place: storage.linkedFile?.path,
            hint: "add the new version with `replayhost import --link FILE`, or restore the old file")
    }
}

extension FileReference {
    init(path: String, _ status: stat) {
        self.init(
            path: path, size: UInt64(clamping: status.st_size),
            modifiedAtNanoseconds: status.modifiedAtNanoseconds)
    }

    /// Describes the file at `path`; `nil` if there is no regular file.
    package init?(at path: String) {
        guard let status = Folder.status(of: path), status.isFile else { return nil }
        self.init(path: Folder.resolved(path), status)
    }

    /// Whether the linked file can be read now and is unchanged.
    var availability: Availability { availability(Folder.status(of: path)) }

    fileprivate func availability(_ status: stat?) -> Availability {
        guard let status, status.isFile else { return .unavailable }
        return describes(status) ? .available : .changed
    }

    /// Whether a file has the same size and modification time.
    func describes(_ status: stat) -> Bool {
        status.isFile && UInt64(clamping: status.st_size) == size
            && status.modifiedAtNanoseconds == modifiedAtNanoseconds
    }
}
