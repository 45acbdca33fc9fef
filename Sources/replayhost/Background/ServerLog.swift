import ArchiveStore
import Foundation

/// The log of a background server: one file per store, readable by this user only.
struct ServerLog {
    let path: String
    private let file: Descriptor
    /// The size when it was opened, where the output of this server begins.
    private let start: UInt64

    /// A larger log is emptied when it's opened.
    static let bytesMax = 1 << 20

    var descriptor: Int32 { file.number }

    /// Opens the log of the store at `root`.
    ///
    /// - Throws: `StoreError` when the folder or the file can't be created.
    init(root: String, environment: [String: String]) throws {
        let folder = Self.folder(environment)
        try Self.make(folder)
        path = "\(folder)/\(Self.name(ofStore: root)).log"
        file = try Descriptor(path: path, flags: O_RDWR | O_CREAT | O_APPEND)
        _ = fchmod(file.number, 0o600)
        if Self.size(file) > Self.bytesMax, ftruncate(file.number, 0) != 0 {
            throw StoreError.system(errno, doing: "emptying the log", path: path)
        }
        start = Self.size(file)
    }

    private static func size(_ file: Descriptor) -> UInt64 { UInt64(clamping: lseek(file.number, 0, SEEK_END)) }

    /// Returns the folder for state files. XDG Base Directory Specification 0.8.
    static func folder(_ environment: [String: String]) -> String {
        let home = environment["HOME"] ?? "/"
        // The specification requires that relative paths are ignored.
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/state"
        return state + "/replayhost"
    }

    /// Returns a name for a store: the end of its path, and a hash of the whole path.
    static func name(ofStore root: String) -> String {
        let last = (root as NSString).lastPathComponent.unicodeScalars.map { scalar in
            scalar.isASCII && (CharacterSet.alphanumerics.contains(scalar) || scalar == "-") ? Character(scalar) : "_"
        }
        // FNV-1a
        let hash = root.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "\(String(last.prefix(40)))-\(String(hash, radix: 16))"
    }

    static func make(_ folder: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StoreError(
                .failed, "can't create the folder for the server's log (\(error.localizedDescription))", place: folder,
                hint: "set XDG_STATE_HOME to a writable folder, or run `replayhost serve` instead")
        }
    }

    func append(_ text: String) throws {
        try Array("\(text)\n".utf8).withUnsafeBytes { try file.append($0) }
    }

    /// Returns the lines written since it was opened; at most the last 64 KiB.
    func lines() throws -> [String] {
        let size = Self.size(file)
        let first = max(min(start, size), size - min(size, 65_536))
        var bytes = Data(count: Int(size - first))
        let count = try bytes.withUnsafeMutableBytes { try file.read(at: first, into: $0) }
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
