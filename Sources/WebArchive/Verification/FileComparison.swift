import Synchronization

/// Compares a whole file with its SHA-256, on a thread of its own.
final class FileComparison {
    private let hashing: LowPriority.Running<Bool>
    private let isWanted = Flag()

    private final class Flag: Sendable {
        let value = Mutex(true)
    }

    init(_ source: any ByteSource, sha256: String) throws {
        hashing = try LowPriority.start { [isWanted] in
            var hasher = DigestHasher(.sha256)
            try SourceStream(source).forEachChunk(chunkBytesMax: 1 << 20) {
                hasher.update($0)
                return isWanted.value.withLock { $0 }
            }
            return hasher.digest.hex == sha256
        }
    }

    deinit {
        isWanted.value.withLock { $0 = false }
        hashing.wait()
    }

    /// Waits until the file was read.
    func agrees() throws -> Bool { try hashing.result() }
}
