package import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why the store could not do what was asked: a stable code for programs, words for people.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is; the command line maps these to exit codes, the server to statuses.
    package enum Code: String, Sendable, Hashable {
        case notFound = "not-found"
        case ambiguous = "ambiguous-id"
        case refused = "archive-refused"
        case unusable = "store-unusable"
        case locked = "store-locked"
        case noSpace = "no-space"
        case failed = "failed"
        /// A revisit whose payload is in no archive at hand.
        case payloadMissing = "payload-missing"
        /// A capture that leads to nothing but itself.
        case redirectsToItself = "redirects-to-itself"
        case interrupted = "interrupted"
        /// Whoever sent a file stopped before its end.
        case uploadCut = "upload-cut"
        /// A linked file is not where it was.
        case unavailable = "archive-unavailable"
        /// A linked file is not the one that was read.
        case changed = "archive-changed"
        case catalogDamaged = "catalog-damaged"
        /// A sidecar or a collection is not what replayhost writes.
        case documentDamaged = "document-damaged"
        /// A file is not the one that its name, a SHA-256, says, or cannot be read.
        case archiveDamaged = "archive-damaged"
        /// An id, or something of that kind, belongs to somebody else.
        case taken = "taken"
        /// A title, tag or note that cannot be kept.
        case invalidMetadata = "invalid-metadata"
        /// What was asked for does not go with the state that something is in.
        case notPossible = "not-possible"
    }

    package let code: Code
    /// What went wrong, lower-case start, no full stop.
    package let what: String
    /// The file or folder it happened to, as the person named it.
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
        var text = what
        if let place { text += ", \(place)" }
        if let hint { text += "; \(hint)" }
        return text
    }

    /// The archive itself was refused: keeps the reader's words, offset and hint.
    package static func refused(_ error: WebArchiveError) -> StoreError {
        let place = error.offset.map { "\(error.file): byte \($0)" } ?? error.file
        switch error.code {
        case .noSpace: return .system(ENOSPC, doing: "writing", path: place)
        case .io: return StoreError(.failed, error.problem, place: place, hint: error.hint)
        default: return StoreError(.refused, error.problem, place: place, hint: error.hint)
        }
    }

    /// A system call failed. `ENOSPC` and the errors of a read-only or forbidden store have words of their own.
    package static func system(_ number: Int32, doing action: String, path: String) -> StoreError {
        let reason = String(cString: strerror(number))
        switch number {
        case ENOSPC, EDQUOT:
            return StoreError(
                .noSpace, "no space left while \(action)", place: path,
                hint: "free some space on that file system, or choose another store with --store")
        case EROFS, EACCES, EPERM:
            return StoreError(
                .unusable, "not allowed: \(action) (\(reason))", place: path,
                hint: "check who owns it and whether it is read-only, or choose another store with --store")
        case ELOOP:
            return StoreError(
                .unusable, "this is a symbolic link, which replayhost doesn't follow here", place: path,
                hint: "check who created it, then delete it")
        case ENOENT:
            return StoreError(.notFound, "no such file or folder", place: path)
        case EIO:
            return StoreError(
                .failed, "the disk failed while \(action) (\(reason))", place: path,
                hint: "check that disk before you go on; what was in the store before is as it was")
        default:
            return StoreError(.failed, "\(action) failed (\(reason))", place: path)
        }
    }
}

extension StoreError {
    /// Whether a small file of the store is there and is not what replayhost writes.
    var isDamagedDocument: Bool { code == .documentDamaged }

    /// Runs reading code and turns its refusal into the store's words.
    static func refusingDamage<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as WebArchiveError {
            throw refused(error)
        }
    }
}
