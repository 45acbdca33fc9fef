import Foundation

/// The folder in which a device keeps its shares. An app and its extension, or several processes, can use it together.
///
/// Each change is made under a lock, written beside the file, flushed, and renamed. Readers need no lock: they see the file
/// before or after a change.
public struct ShareFolder: Sendable, Hashable {
    /// The absolute or relative path.
    public let path: String

    /// Creates the folder if it's missing, for its owner only.
    ///
    /// - Throws: `ShareError`.
    public init(path: String) throws(ShareError) {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw ShareError(isFull ? .storageFull : .storage, "can't create \(path)")
        }
    }

    /// The largest file that is read, in bytes.
    static let fileBytesMax = 1 << 28

    func place(of name: String) -> String { "\(path)/\(name)" }

    /// Returns the content of a file; `nil` if there is none.
    func read(_ name: String) throws(ShareError) -> Data? {
        let number = open(place(of: name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if number < 0, errno == ENOENT { return nil }
        guard number >= 0 else { throw .system("can't read \(place(of: name))") }
        defer { close(number) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_size <= Self.fileBytesMax else {
            throw ShareError(.storage, "\(place(of: name)) is too large")
        }
        var data = Data(count: Int(status.st_size))
        var done = 0
        while done < data.count {
            let count = data.withUnsafeMutableBytes {
                system_read(number, $0.baseAddress?.advanced(by: done), $0.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("can't read \(place(of: name))") }
            if count == 0 { break }
            done += count
        }
        return data.prefix(done)
    }

    /// Replaces a file, readable for its owner only. It's on disk when this returns.
    func write(_ data: Data, to name: String) throws(ShareError) {
        let temporary = place(of: ".\(name).new")
        let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("can't write \(temporary)") }
        do throws(ShareError) {
            defer { close(number) }
            try put(data, number, temporary)
            guard fsync(number) == 0 else { throw .system("can't flush \(temporary)") }
            guard rename(temporary, place(of: name)) == 0 else { throw .system("can't replace \(place(of: name))") }
        } catch {
            unlink(temporary)
            throw error
        }
        try flush()
    }

    private func put(_ data: Data, _ number: Int32, _ path: String) throws(ShareError) {
        var done = 0
        while done < data.count {
            let count = data.withUnsafeBytes {
                system_write(number, $0.baseAddress?.advanced(by: done), $0.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("can't write \(path)") }
            done += count
        }
    }

    /// Flushes the folder's list of names.
    private func flush() throws(ShareError) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .system("can't open \(path)") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw .system("can't flush \(path)") }
    }

    /// Runs a closure while no other process and no other value changes the folder.
    func withLock<Value>(_ body: () throws(ShareError) -> Value) throws(ShareError) -> Value {
        let lock = try FolderLock(in: self, named: "lock", waits: true)
        defer { lock?.unlock() }
        return try body()
    }
}

/// A lock between processes, which ends with the process that holds it.
struct FolderLock: Sendable {
    private let number: Int32

    /// - Returns: `nil` if another holds it and `waits` is false.
    init?(in folder: ShareFolder, named name: String, waits: Bool) throws(ShareError) {
        number = open(folder.place(of: name), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("can't write \(folder.place(of: name))") }
        while flock(number, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let isTaken = errno == EWOULDBLOCK
            close(number)
            if isTaken { return nil }
            throw .system("can't lock \(folder.place(of: name))")
        }
    }

    func unlock() { close(number) }
}

// In a type with methods `read` and `write`, their plain names would be those.
private func system_read(_ number: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(number, buffer, count)
}

private func system_write(_ number: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(number, buffer, count)
}
