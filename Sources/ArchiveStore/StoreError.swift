import Foundation
package import WebArchive

/// An error of the store, with a stable code for programs and a message for people.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error. The command line maps it to an exit code, the server to a status.
    package enum Code: String, Sendable, Hashable {
        case notFound = "not-found"
        case ambiguous = "ambiguous-id"
        case refused = "archive-refused"
        case unusable = "store-unusable"
        case locked = "store-locked"
        case noSpace = "no-space"
        case failed = "failed"
        /// The payload of a revisit can't be found.
        case payloadMissing = "payload-missing"
        /// All captures of a URL redirect to the URL itself.
        case redirectsToItself = "redirects-to-itself"
        case interrupted = "interrupted"
        /// An upload ended before the file was complete.
        case uploadCut = "upload-cut"
        /// A linked file can't be found.
        case unavailable = "archive-unavailable"
        /// A linked file has changed since it was added.
        case changed = "archive-changed"
        case catalogDamaged = "catalog-damaged"
        /// A sidecar, collection, port list or backup manifest isn't valid.
        case documentDamaged = "document-damaged"
        /// Something else is in the place of a file: a symbolic link, a FIFO, a device or a folder.
        case notAFile = "not-a-file"
        /// A file doesn't match its SHA-256, or can't be read.
        case archiveDamaged = "archive-damaged"
        /// An id or a port is already in use.
        case taken = "taken"
        /// A title, tag or note isn't valid.
        case invalidMetadata = "invalid-metadata"
        /// A search is too long.
        case invalidQuery = "invalid-query"
        /// The action isn't possible in the current state.
        case notPossible = "not-possible"
    }

    package let code: Code
    /// What went wrong, starting in lower case, without a full stop.
    package let what: String
    /// The file or folder concerned, as the person named it.
    package let place: String?
    /// What to do now.
    package let hint: String?

    package init(_ code: Code, _ what: String, place: String? = nil, hint: String? = nil) {
        self.code = code
        self.what = what
        self.place = place
        self.hint = hint
    }

    package var description: String {
        let text = place.map { "\($0): \(what)" } ?? what
        return hint.map { "\(text); \($0)" } ?? text
    }

    /// Converts an error of the reader, with its message, offset and hint.
    package static func refused(_ error: WebArchiveError) -> StoreError {
        let place = error.offset.map { "\(error.file): byte \($0)" } ?? error.file
        switch error.code {
        case .noSpace: return .system(ENOSPC, doing: "writing", path: place)
        case .io: return StoreError(.failed, error.problem, place: place, hint: error.hint)
        default: return StoreError(.refused, error.problem, place: place, hint: error.hint)
        }
    }

    /// Something that was created in the place of a file by another program.
    static func notAFile(_ path: String) -> StoreError {
        StoreError(
            .notAFile, "this isn't a regular file", place: path,
            hint: "check who created it, then move it away")
    }

    /// Converts the error number of a failed system call.
    package static func system(_ number: Int32, doing action: String, path: String) -> StoreError {
        let reason = String(cString: strerror(number))
        switch number {
        case ENOSPC, EDQUOT:
            return StoreError(
                .noSpace, "no space left while \(action)", place: path,
                hint: "free some space on that file system, or choose another store with --store")
        case EROFS, EACCES, EPERM:
            return StoreError(
                .unusable, "\(action) isn't allowed (\(reason))", place: path,
                hint: "check who owns it and whether it is read-only, or choose another store with --store")
        case ENOENT:
            return StoreError(.notFound, "no such file or folder", place: path)
        case EIO:
            return StoreError(
                .failed, "the disk failed while \(action) (\(reason))", place: path,
                hint: "check that disk before you continue; archives already in the library are unchanged")
        default:
            return StoreError(.failed, "\(action) failed (\(reason))", place: path)
        }
    }
}

extension StoreError {
    var isDamagedDocument: Bool { code == .documentDamaged }

    /// Runs `body`, and converts errors of the reader.
    static func refusingDamage<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as WebArchiveError {
            throw refused(error)
        }
    }
}
