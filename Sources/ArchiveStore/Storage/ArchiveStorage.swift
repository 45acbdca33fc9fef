/// Where an archive's file is.
package enum ArchiveStorage: Sendable, Hashable {
    /// In `files/`, named by its SHA-256.
    case managed
    /// Outside the store.
    case linked(FileReference)

    /// The linked file; `nil` if the file is in the store.
    package var linkedFile: FileReference? {
        if case .linked(let file) = self { file } else { nil }
    }

    package var isLinked: Bool { linkedFile != nil }

    /// The name in the catalog and the API.
    var name: String { isLinked ? "linked" : "managed" }
}

/// A linked file, identified by path, size and modification time.
package struct FileReference: Sendable, Hashable, Codable {
    /// An absolute path with symbolic links resolved.
    package let path: String
    /// In bytes.
    package let size: UInt64
    /// In nanoseconds since 1970.
    package let modifiedAtNanoseconds: Int64
}

/// Whether an archive's file can be read now.
package enum Availability: String, Sendable, Hashable, Codable {
    case available
    /// The linked file can't be found.
    case unavailable
    /// The linked file has changed since it was added.
    case changed
    /// The file is missing from the store.
    case missing
}
