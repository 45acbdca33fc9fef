import Crypto
import Dispatch
import Foundation
import Synchronization

#if os(Linux)
import CLinux
#endif

/// Copies and hashes a file in one pass: while one thread writes a chunk, another hashes the previous one.
///
/// The hash is computed from the copy, so that it is right even if the source changes meanwhile. Uses two buffers of 1
/// MiB.
struct HashedCopy {
    let source: Descriptor
    let target: Descriptor
    /// The maximum number of bytes to copy; `nil` to copy to the end.
    var limit: UInt64?

    /// The number of bytes between two calls of `progress`.
    private static let chunkSize = 16 << 20
    private static let bufferSize = 1 << 20

    /// - Parameter progress: Called with the bytes copied so far; throws to stop the copy.
    /// - Returns: The size and SHA-256 of the copy.
    func run(progress: (UInt64) throws -> Void) throws -> (size: UInt64, sha256: SHA256.Digest) {
        let writer = ChunkWriter(source: source, target: target)
        let hasher = Mutex(SHA256())
        var hashed: UInt64 = 0
        var written = try writer.advance(by: chunkSize(after: 0))
        while hashed < written {
            try progress(hashed)
            let (from, upTo) = (hashed, written)
            let advanced = Mutex<Result<UInt64, any Error>>(.success(upTo))
            let checked = Mutex<Result<Void, any Error>>(.success(()))
            DispatchQueue.concurrentPerform(iterations: 2) { iteration in
                if iteration == 0 {
                    let result = Result { upTo + (try writer.advance(by: chunkSize(after: upTo))) }
                    advanced.withLock { $0 = result }
                } else {
                    let result = Result { try hasher.withLock { try hash(from: from, upTo: upTo, into: &$0) } }
                    checked.withLock { $0 = result }
                }
            }
            try checked.withLock { try $0.get() }
            hashed = upTo
            written = try advanced.withLock { try $0.get() }
        }
        try progress(hashed)
        return (hashed, hasher.withLock { $0.finalize() })
    }

    private func chunkSize(after done: UInt64) -> Int {
        limit.map { Int(min($0 - min(done, $0), UInt64(Self.chunkSize))) } ?? Self.chunkSize
    }

    private func hash(from: UInt64, upTo: UInt64, into hasher: inout SHA256) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        var offset = from
        while offset < upTo {
            let wanted = Int(min(UInt64(buffer.count), upTo - offset))
            let count = try target.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
            guard count == wanted else {
                throw StoreError(
                    .failed, "the copy is incomplete: it is shorter than what was written", place: target.path)
            }
            hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += UInt64(count)
        }
    }
}

/// Copies bytes between descriptors: in the kernel if possible (which shares blocks on copy-on-write file systems),
/// else through a buffer.
private final class ChunkWriter: Sendable {
    private let source: Descriptor
    private let target: Descriptor
    private let isKernelCopyPossible = Mutex(true)

    init(source: Descriptor, target: Descriptor) {
        self.source = source
        self.target = target
    }

    /// Copies up to `count` bytes, fewer only at the end of the source. Returns the number of bytes copied.
    func advance(by count: Int) throws(StoreError) -> UInt64 {
        var done = 0
        while done < count {
            let copied =
                isKernelCopyPossible.withLock { $0 }
                ? try copyInKernel(upTo: count - done) : try copyThroughBuffer(upTo: count - done)
            guard let copied else { continue }
            if copied == 0 { break }
            done += copied
        }
        return UInt64(done)
    }

    /// Returns `nil` if the kernel can't copy between these files; the buffer is used from then on.
    private func copyInKernel(upTo count: Int) throws(StoreError) -> Int? {
        #if os(Linux)
        while true {
            let copied = copy_file_range(source.number, nil, target.number, nil, count, 0)
            if copied > 0 { return copied }
            // Some file systems return 0 for files of unknown size (procfs): let `read` find the end.
            if copied < 0, errno == EINTR { continue }
            // Other disk errors are reported by the buffered copy, which knows which disk failed.
            if copied < 0, errno == ENOSPC || errno == EDQUOT {
                throw .system(errno, doing: "writing", path: target.path)
            }
            break
        }
        #endif
        isKernelCopyPossible.withLock { $0 = false }
        return nil
    }

    private func copyThroughBuffer(upTo count: Int) throws(StoreError) -> Int {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(count, 1 << 20), alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let received = read(source.number, buffer.baseAddress, buffer.count)
            if received < 0, errno == EINTR { continue }
            guard received >= 0 else { throw .system(errno, doing: "reading", path: source.path) }
            try target.append(UnsafeRawBufferPointer(rebasing: buffer[..<received]))
            return received
        }
    }
}
