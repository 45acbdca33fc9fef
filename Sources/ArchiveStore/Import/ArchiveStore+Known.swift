import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files that need not be read again.
extension ArchiveStore {
    /// The archive that was made of the file at `path` as it is now, as far as path, size and time of change tell.
    ///
    /// A copy in the store has the time of change that its source had, since `keepTime`.
    package func archiveKnown(at path: String) throws -> Archive? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let absolute = Self.absolute(path)
        let referred = try catalog.archives(referencePath: absolute)
        if let archive = referred.first(where: { $0.reference?.describes(status) == true }) { return archive }
        let now = FileReference(path: absolute, status)
        return try catalog.archives(source: absolute).first { archive in
            var own = stat()
            return archive.reference == nil && stat(layout.file(archive.key), &own) == 0 && now.describes(own)
        }
    }

    /// Whether there is an ordinary file, or a link to one.
    package static func isFile(at path: String) -> Bool { Folder.holdsFile(path) }
}
