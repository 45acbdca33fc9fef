#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A new file, written from start to end through a buffer.
final class FileOutput {
    let path: String
    /// The number of bytes written so far, including buffered ones.
    private(set) var count: UInt64 = 0
    private let name: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isOpen = true
    private static let bufferBytes = 256 << 10

    /// Creates or replaces the file, readable by its owner only.
    ///
    /// - Throws: `io`, `noSpace`.
    init(path: String) throws(WebArchiveError) {
        self.path = path
        name = path.split(separator: "/").last.map(String.init) ?? path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure("the file can't be created", name) }
    }

    deinit { if isOpen { _ = close(descriptor) } }

    func write(_ bytes: some Collection<UInt8>) throws(WebArchiveError) {
        buffer.append(contentsOf: bytes)
        count += UInt64(bytes.count)
        if buffer.count >= Self.bufferBytes { try flush() }
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
            let written = buffer.withUnsafeBytes { Self.write(descriptor, $0, from: done) }
            if written < 0 {
                if errno == EINTR { continue }
                throw Self.failure("the file can't be written", name)
            }
            done += written
        }
        buffer.removeAll(keepingCapacity: true)
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        #if canImport(Glibc)
        return Glibc.write(descriptor, rest.baseAddress, rest.count)
        #elseif canImport(Musl)
        return Musl.write(descriptor, rest.baseAddress, rest.count)
        #else
        return Darwin.write(descriptor, rest.baseAddress, rest.count)
        #endif
    }

    private static func failure(_ problem: String, _ name: String) -> WebArchiveError {
        let isFull = errno == ENOSPC || errno == EDQUOT
        let text = String(cString: strerror(errno)).lowercased()
        return WebArchiveError(code: isFull ? .noSpace : .io, problem: "\(problem): \(text)", file: name)
    }
}
