#if canImport(Glibc)
import CLinux
import Glibc
#else
import Darwin
#endif

/// A new file, written from start to end through a buffer.
final class FileOutput {
    /// The number of bytes written so far, including buffered ones.
    private(set) var count: UInt64 = 0
    private let name: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isOpen = true
    private static let bufferBytes = 256 << 10

    /// Creates or replaces the file, readable by its owner only by default.
    ///
    /// - Throws: `io`, `noSpace`.
    init(path: String, mode: mode_t = 0o600) throws(WebArchiveError) {
        name = path.split(separator: "/").last.map(String.init) ?? path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw Self.failure("the file can't be created", name) }
    }

    /// Writes to an open file, from its start. Owns the descriptor.
    init(ownedDescriptor: Int32, name: String) {
        (descriptor, self.name) = (ownedDescriptor, name)
    }

    deinit { if isOpen { _ = close(descriptor) } }

    /// Opens a file without a name for reading and writing.
    ///
    /// - Returns: A negative number if the file system has no such files.
    static func openUnnamed(in folder: String, mode: mode_t) -> Int32 {
        #if canImport(Glibc)
        open(folder, Int32(CLINUX_O_TMPFILE) | O_RDWR | O_CLOEXEC, mode)
        #else
        -1
        #endif
    }

    /// Gives a file without a name its name, unless there is a file of that name. open(2), "O_TMPFILE".
    static func name(unnamed number: Int32, _ path: String) -> Bool {
        #if os(Linux)
        linkat(AT_FDCWD, "/proc/self/fd/\(number)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
        #else
        false
        #endif
    }

    func write(_ bytes: some Collection<UInt8>) throws(WebArchiveError) {
        buffer.append(contentsOf: bytes)
        count += UInt64(bytes.count)
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    /// Replaces bytes that were written before.
    func overwrite(_ bytes: [UInt8], at offset: UInt64) throws(WebArchiveError) {
        try flush()
        let written = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(clamping: offset)) }
        guard written == bytes.count else { throw Self.failure("the file can't be written", name) }
    }

    /// Writes everything to the disk.
    func synchronize() throws(WebArchiveError) {
        try flush()
        guard fsync(descriptor) == 0 else { throw Self.failure("the file can't be written", name) }
    }

    /// Writes the buffered bytes and closes the file. Must be the last call.
    func finish() throws(WebArchiveError) {
        try flush()
        isOpen = false
        guard close(descriptor) == 0 else { throw Self.failure("the file can't be written", name) }
    }

    private func flush() throws(WebArchiveError) {
        var done = 0
        while done < buffer.count {
            let written = buffer.withUnsafeBytes {
                UnsafeRawBufferPointer(rebasing: $0[done...]).writeOnce(to: descriptor)
            }
            if written < 0 {
                if errno == EINTR { continue }
                throw Self.failure("the file can't be written", name)
            }
            done += written
        }
        buffer.removeAll(keepingCapacity: true)
    }

    static func failure(_ problem: String, _ name: String) -> WebArchiveError {
        let isFull = errno == ENOSPC || errno == EDQUOT
        let text = String(cString: strerror(errno)).lowercased()
        return WebArchiveError(code: isFull ? .noSpace : .io, problem: "\(problem): \(text)", file: name)
    }
}

extension UnsafeRawBufferPointer {
    /// Writes as many of the bytes as the system takes at once.
    fileprivate func writeOnce(to descriptor: Int32) -> Int { write(descriptor, baseAddress, count) }
}
