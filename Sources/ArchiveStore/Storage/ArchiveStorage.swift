/// Where an archive's file is.
package enum ArchiveStorage: Sendable, Hashable {
    /// In `files/`, named for its SHA-256.
    case managed
    /// Outside of the store, where it stays.
    case linked(FileReference)

    /// `nil` when the store has a file of its own.
    package var linkedFile: FileReference? {
        if case .linked(let file) = self { file } else { nil }
    }

    package var isLinked: Bool { linkedFile != nil }

    /// As the catalog and the API say it.
    var name: String { isLinked ? "linked" : "managed" }
}

/// A file that an archive is made of and that stays where it is.
package struct FileReference: Sendable, Hashable, Codable {
    /// Absolute, with links followed.
    package let path: String
    /// Bytes when it was read.
    package let size: UInt64
    /// Time of its last change when it was read, in nanoseconds since 1970.
    package let modifiedAtNanoseconds: Int64
}

/// Whether an archive's file can be read now.
package enum Availability: String, Sendable, Hashable, Codable {
    case available
    /// A linked file is not where it was: its file is unavailable, or it was moved.
    case unavailable
    /// A linked file is another one than was read.
    case changed
    /// The store's own file is gone.
    case missing
}
