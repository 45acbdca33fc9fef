#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file without a name, which never outlives the process.
final class TemporaryFile {
    let output: FileOutput
    private var descriptor: Int32

    /// - Parameter folder: An existing folder, on the file system whose space is used.
    /// - Throws: `io`, `noSpace`.
    init(in folder: String) throws(WebArchiveError) {
        var opened = FileOutput.openUnnamed(in: folder, mode: 0o600)
        if opened < 0 {
            let path = "\(folder)/.\(String(UInt64.random(in: 0 ... .max), radix: 16)).tmp"
            opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if opened >= 0 { unlink(path) }
        }
        descriptor = opened
        guard opened >= 0, case let copy = fcntl(opened, F_DUPFD_CLOEXEC, 0), copy >= 0 else {
            throw FileOutput.failure("a temporary file can't be created", folder)
        }
        output = FileOutput(ownedDescriptor: copy, name: "temporary file")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Writes the buffered bytes and returns the file for reading. Must be the last call.
    ///
    /// - Parameter name: The name shown in error messages.
    func finish(name: String) throws(WebArchiveError) -> FileByteSource {
        try output.finish()
        let owned = descriptor
        descriptor = -1
        return try FileByteSource(ownedDescriptor: owned, name: name)
    }
}
