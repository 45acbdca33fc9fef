#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A regular file on disk, read with `pread` through a descriptor that the source owns.
public final class FileByteSource: ByteSource {
    /// The name shown in error messages.
    public let name: String
    /// The size of the file in bytes when it was opened.
    public let size: UInt64
    /// The open file descriptor. Valid for the lifetime of the source; duplicate it to keep it longer.
    public let descriptor: Int32

    /// Opens the file at `path` for reading.
    ///
    /// - Parameter path: The path of a regular file, or of a link to one.
    /// - Parameter name: The name shown in error messages; by default, the last component of `path`.
    /// - Throws: `io` if the file can't be opened or isn't a regular file.
    public convenience init(path: String, name: String? = nil) throws(WebArchiveError) {
        let displayName = name ?? path.split(separator: "/").last.map(String.init) ?? path
        // Without O_NONBLOCK, opening a named pipe would block. Regular files ignore the flag.
        let descriptor = Self.retryingInterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else {
            throw WebArchiveError(
                code: .io, problem: "the file can't be opened: \(Self.systemText())", file: displayName)
        }
        try self.init(ownedDescriptor: descriptor, name: displayName)
    }

    /// Creates a source that owns an open descriptor. It closes the descriptor at the end, or if this initializer
    /// throws.
    ///
    /// - Throws: `io` if the descriptor isn't that of a regular file.
    public init(ownedDescriptor: Int32, name: String) throws(WebArchiveError) {
        var status = stat()
        guard fstat(ownedDescriptor, &status) == 0 else {
            let text = Self.systemText()
            close(ownedDescriptor)
            throw WebArchiveError(code: .io, problem: "the size of the file can't be read: \(text)", file: name)
        }
        guard status.st_mode & S_IFMT == S_IFREG, let size = UInt64(exactly: status.st_size) else {
            close(ownedDescriptor)
            throw WebArchiveError(code: .io, problem: "this is a folder or a device, not a file", file: name)
        }
        self.name = name
        self.size = size
        descriptor = ownedDescriptor
    }

    deinit { close(descriptor) }

    /// Reads with `pread`, repeating after an interruption or a short read.
    ///
    /// - Throws: `io`; `truncated` if the file has shrunk since it was opened.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard let base = buffer.baseAddress, offset < size, let start = off_t(exactly: offset) else { return 0 }
        let wanted = Int(min(UInt64(buffer.count), size - offset))
        var done = 0
        while done < wanted {
            let count = pread(descriptor, base + done, wanted - done, start + off_t(done))
            if count == 0 {
                throw WebArchiveError(
                    code: .truncated, problem: "the file had \(size) bytes when it was opened, but now ends here",
                    file: name, offset: offset + UInt64(done))
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw WebArchiveError(
                    code: .io, problem: "the file can't be read: \(Self.systemText())", file: name,
                    offset: offset + UInt64(done))
            }
            done += count
        }
        return done
    }

    private static func retryingInterrupted(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    private static func systemText() -> String {
        String(cString: strerror(errno)).lowercased()
    }
}
