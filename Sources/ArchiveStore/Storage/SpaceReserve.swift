#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Space that is kept for the moment when the disk is full: enough for SQLite to take note of a removal.
struct SpaceReserve {
    private let path: String

    /// - Parameter catalog: Path of the catalog.
    init(beside catalog: String) {
        path = String(catalog[..<(catalog.lastIndex(of: "/") ?? catalog.startIndex)]) + "/" + Self.name
    }

    /// Gives the space free; whether there was any.
    func release() -> Bool { unlink(path) == 0 }

    /// Takes the space, where there is plenty; without it the store works as well.
    func keep() {
        guard !Folder.exists(path), let free = try? Folder.freeBytes(at: folder), free > Self.plenty else { return }
        guard let file = try? Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL) else { return }
        let zeros = [UInt8](repeating: 0, count: Self.size)
        do {
            try zeros.withUnsafeBytes { try file.append($0) }
        } catch {
            unlink(path)
        }
    }

    private var folder: String { String(path.dropLast(Self.name.count + 1)) }

    private static let name = "reserve"
    private static let size = 1 << 20
    private static let plenty: UInt64 = 32 << 20
}
