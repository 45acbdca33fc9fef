import Foundation

/// A file that reserves disk space. It is deleted when the disk is full, so that archives can be removed.
package struct SpaceReserve {
    private let folder: String
    private var path: String { "\(folder)/reserve" }

    /// - Parameter catalog: The path of the catalog.
    package init(beside catalog: String) { folder = (catalog as NSString).deletingLastPathComponent }

    /// Frees the space. Returns whether there was any.
    package func release() -> Bool { unlink(path) == 0 }

    /// Reserves the space, if there is plenty. Ignores errors, because the reserve is optional.
    package func allocate() {
        guard !Folder.exists(path), let free = try? Folder.freeBytes(at: folder), free > Self.plenty else { return }
        guard let file = try? Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL) else { return }
        let zeros = [UInt8](repeating: 0, count: Self.size)
        do {
            try zeros.withUnsafeBytes { try file.append($0) }
        } catch {
            unlink(path)
        }
    }

    private static let size = 1 << 20
    private static let plenty: UInt64 = 32 << 20
}
