import ArchiveStore
import Foundation

/// A folder for one run of a browser, readable by this user only (mode 0700).
///
/// The folder stays locked while this program or its browser runs.
final class TemporaryProfile {
    let path: String
    private let folder: Descriptor

    /// The descriptor of the folder, which keeps the lock.
    var lock: Int32 { folder.number }

    private static let prefix = "replayhost-isolated-"
    private static let attemptsMax = 5

    /// Creates an empty folder in the system's temporary folder.
    ///
    /// - Throws: `StoreError` `failed`.
    init() throws {
        for _ in 0..<Self.attemptsMax {
            let path = try Self.makeFolder()
            // Another run may see a new folder before it is locked, and delete it as a leftover.
            if let folder = Self.lock(path) {
                (self.path, self.folder) = (path, folder)
                return
            }
        }
        throw StoreError(.failed, "can't lock a temporary folder", place: NSTemporaryDirectory())
    }

    private static func makeFolder() throws -> String {
        var template = Array((NSTemporaryDirectory() as NSString).appendingPathComponent("\(prefix)XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw StoreError.system(errno, doing: "making a temporary folder", path: NSTemporaryDirectory())
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// - Returns: `nil` when the folder belongs to another user, is gone, or is in use.
    private static func lock(_ path: String) -> Descriptor? {
        guard let folder = try? Descriptor(path: path, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
            folder.lock() == .acquired, let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.ownerAccountID] as? UInt == UInt(geteuid())
        else { return nil }
        return folder
    }

    /// Writes a file that only this user can read.
    func write(_ text: String, to name: String) throws {
        let file = (path as NSString).appendingPathComponent(name)
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let descriptor = try Descriptor(path: file, flags: O_WRONLY | O_CREAT | O_EXCL)
        try Array(text.utf8).withUnsafeBytes { try descriptor.append($0) }
    }

    /// Deletes the folder and its contents.
    func remove() throws { try FileManager.default.removeItem(atPath: path) }

    /// Deletes the folders of killed runs, except those in use.
    static func removeLeftovers() {
        let folder = NSTemporaryDirectory() as NSString
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder as String)) ?? []
        for path in names.filter({ $0.hasPrefix(prefix) }).map(folder.appendingPathComponent) {
            guard let leftover = lock(path) else { continue }
            // The next run tries again after an error.
            withExtendedLifetime(leftover) { _ = try? FileManager.default.removeItem(atPath: path) }
        }
    }
}
