import Dispatch
import Foundation
import Synchronization

#if os(Linux)
import CLinux
#endif

/// Copies and hashes a file in one pass: one thread copies, and the calling thread hashes what has been written.
///
/// The hash is computed from the copy, so that it is right even if the source changes meanwhile. The copy is at most 256
/// MiB ahead, so that the hash is computed from bytes that are still in memory. Uses at most two buffers of 1 MiB.
struct HashedCopy {
    let source: Descriptor
    let target: Descriptor
    /// The maximum number of bytes to copy; `nil` to copy to the end.
    var limit: UInt64?

    /// The number of unhashed bytes at which the copy pauses. It copies 16 MiB at a time, also while `progress` runs.
    var pauseThreshold: UInt64 = 256 << 20

    /// - Parameter progress: Called before anything is copied, then after every 16 MiB or less, with the number of bytes
    ///   copied and hashed. Throws to stop the copy.
    /// - Returns: The size of the copy, and its SHA-256 in hex.
    func run(progress: (UInt64) throws -> Void) throws -> (size: UInt64, sha256: String) {
        try progress(0)
        let writer = ChunkWriter(source: source, target: target)
        let copy = RunningCopy(writer, limit: limit ?? .max, pauseThreshold: pauseThreshold)
        // When this returns, nothing uses the descriptors.
        defer { copy.stop() }
        var hash = FileHash()
        while let copied = try copy.copied(after: hash.done) {
            try hash.run(target, upTo: copied) { _ in }
            guard hash.done == copied else {
                throw StoreError(
                    .failed, "the copy is incomplete: it is shorter than what was written", place: target.path)
            }
            try progress(hash.done)
        }
        return (hash.done, hash.sha256)
    }
}

/// A copy that runs in a thread of its own, while another thread reads what was copied.
private final class RunningCopy: Sendable {
    private struct State {
        /// Bytes that were written, and how many of them the reader has read.
        var written: UInt64 = 0
        var read: UInt64 = 0
        /// `nil` while the thread runs.
        var end: Result<Void, StoreError>?
        var isStopped = false
    }
    private let state = Mutex(State())
    private let hasChanged = NSCondition()
    /// A serial queue has a thread of its own. In a concurrent one, the copy could have to wait for other blocks.
    private let queue = DispatchQueue(label: "copy")

    private static let chunkSize: UInt64 = 16 << 20

    /// Begins to copy.
    init(_ writer: ChunkWriter, limit: UInt64, pauseThreshold: UInt64) {
        queue.async { self.run(writer, limit: limit, pauseThreshold: pauseThreshold) }
    }

    private func run(_ writer: ChunkWriter, limit: UInt64, pauseThreshold: UInt64) {
        var writer = writer
        let end = Result<Void, StoreError> { () throws(StoreError) in
            var written: UInt64 = 0
            while written < limit {
                let current = wait { $0.isStopped || written - $0.read < pauseThreshold }
                guard !current.isStopped else { return }
                let count = try writer.advance(by: Int(min(Self.chunkSize, limit - written)))
                guard count > 0 else { return }
                written += count
                change { [written] in $0.written = written }
            }
        }
        change { $0.end = end }
    }

    /// Waits until more than `done` bytes were copied, or the copy has ended.
    ///
    /// - Returns: The position up to which to hash, at most 16 MiB after `done`; `nil` if the copy ended without more bytes.
    /// - Throws: `StoreError` for an error that ended the copy.
    func copied(after done: UInt64) throws(StoreError) -> UInt64? {
        change { $0.read = done }
        let found = wait { $0.written > done || $0.end != nil }
        if case .failure(let error) = found.end { throw error }
        return found.written > done ? min(found.written, done + Self.chunkSize) : nil
    }

    /// Stops the copy, and waits until its thread has released the writer.
    func stop() {
        change { $0.isStopped = true }
        queue.sync {}
    }

    private func change(_ body: (inout State) -> Void) {
        hasChanged.lock()
        defer { hasChanged.unlock() }
        state.withLock { body(&$0) }
        hasChanged.broadcast()
    }

    private func wait(until isTrue: (State) -> Bool) -> State {
        hasChanged.lock()
        defer { hasChanged.unlock() }
        while true {
            let current = state.withLock { $0 }
            if isTrue(current) { return current }
            hasChanged.wait()
        }
    }
}

/// Copies bytes between descriptors: in the kernel if possible (which shares blocks on copy-on-write file systems),
/// else through a buffer.
private struct ChunkWriter {
    let source: Descriptor
    let target: Descriptor
    private var isKernelCopyPossible = true

    init(source: Descriptor, target: Descriptor) {
        self.source = source
        self.target = target
    }

    /// Copies up to `count` bytes, fewer only at the end of the source. Returns the number of bytes copied.
    mutating func advance(by count: Int) throws(StoreError) -> UInt64 {
        var done = 0
        while done < count {
            let copied =
                isKernelCopyPossible
                ? try copyInKernel(upTo: count - done) : try copyThroughBuffer(upTo: count - done)
            guard let copied else { continue }
            if copied == 0 { break }
            done += copied
        }
        return UInt64(done)
    }

    /// Returns `nil` if the kernel can't copy between these files; the buffer is used from then on.
    private mutating func copyInKernel(upTo count: Int) throws(StoreError) -> Int? {
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
        isKernelCopyPossible = false
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
