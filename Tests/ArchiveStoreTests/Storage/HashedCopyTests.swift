import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

struct HashedCopyTests {
    private struct Stop: Error {}

    // Progress is reported every 16 MiB. The buffer has 1 MiB.
    @Test(arguments: [0, 1, 1 << 20, 16 << 20, (16 << 20) - 1, (16 << 20) + 1, (40 << 20) + 12_345])
    func copyAndHashAreCorrect(size: Int) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(patternBytes(size), to: "source")
        var seen: [UInt64] = []
        let (copied, digest) = try copy(path, to: folder.path("target")) { seen.append($0) }
        #expect(copied == UInt64(size))
        #expect(digest == (try await sha256ByOpenSSL(path)))
        #expect(isSame(try contents(of: folder.path("target")), try contents(of: path)))
        #expect(seen == seen.sorted())
        #expect(seen.last == UInt64(size))
    }

    @Test func pipeIsCopiedToEnd() async throws {
        let folder = try TemporaryFolder()
        let bytes = patternBytes(3_000_001)
        let path = try folder.write(bytes, to: "source")
        let pipe = Pipe()
        let writer = pipe.fileHandleForWriting
        async let written: Void = onThread {
            try writer.write(contentsOf: Data(bytes))
            try writer.close()
        }
        let descriptor = Descriptor(owning: dup(pipe.fileHandleForReading.fileDescriptor), path: "pipe")
        let target = try Descriptor(path: folder.path("target"), flags: O_RDWR | O_CREAT)
        let result = try await onThread { try HashedCopy(source: descriptor, target: target).run { _ in } }
        try await written
        #expect(result.size == 3_000_001)
        #expect(result.sha256 == (try await sha256ByOpenSSL(path)))
        #expect(isSame(try contents(of: folder.path("target")), bytes))
    }

    /// The system states a size of 0 for this file.
    @Test func fileWithoutSizeIsCopiedToEnd() throws {
        let folder = try TemporaryFolder()
        let (size, _) = try copy("/proc/self/status", to: folder.path("target")) { _ in }
        #expect(size > 0)
        #expect(UInt64(try contents(of: folder.path("target")).count) == size)
    }

    @Test func progressCanStopCopy() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(patternBytes(40 << 20), to: "source")
        var calls = 0
        #expect(throws: Stop.self) {
            _ = try copy(path, to: folder.path("target")) { _ in
                calls += 1
                if calls == 2 { throw Stop() }
            }
        }
        #expect(calls == 2)
    }

    @Test(arguments: [0, 1, (16 << 20) + 1, 20 << 20, 99 << 20] as [UInt64])
    func limitEndsCopy(limit: UInt64) async throws {
        let folder = try TemporaryFolder()
        let bytes = patternBytes(20 << 20)
        let source = try Descriptor(path: try folder.write(bytes, to: "source"), flags: O_RDONLY)
        let target = try Descriptor(path: folder.path("target"), flags: O_RDWR | O_CREAT)
        // The copy waits for the hash after every chunk.
        let result = try HashedCopy(source: source, target: target, limit: limit, pauseThreshold: 1).run { _ in }
        let copied = Array(bytes.prefix(Int(limit)))
        #expect(result.size == UInt64(copied.count))
        #expect(isSame(try contents(of: folder.path("target")), copied))
        let path = try folder.write(copied, to: "expected")
        #expect(result.sha256 == (try await sha256ByOpenSSL(path)))
    }

    @Test func fullDiskEndsCopy() throws {
        let folder = try TemporaryFolder()
        let source = try Descriptor(path: try folder.write(patternBytes(1000), to: "source"), flags: O_RDONLY)
        let target = try Descriptor(named: "/dev/full", flags: O_RDWR)
        let error = #expect(throws: StoreError.self) {
            _ = try HashedCopy(source: source, target: target).run { _ in }
        }
        #expect(error?.description.contains("no space left") == true, "\(String(describing: error))")
    }

    @Test func sourceThatCannotBeReadEndsCopy() throws {
        let folder = try TemporaryFolder()
        let source = try Descriptor(named: folder.path, flags: O_RDONLY)
        let target = try Descriptor(path: folder.path("target"), flags: O_RDWR | O_CREAT)
        #expect(throws: StoreError.self) { _ = try HashedCopy(source: source, target: target).run { _ in } }
    }

    /// Another program makes the copy shorter before it is hashed.
    @Test func shortenedCopyIsRefused() throws {
        let folder = try TemporaryFolder()
        let source = try Descriptor(path: try folder.write(patternBytes(40 << 20), to: "source"), flags: O_RDONLY)
        let target = try Descriptor(path: folder.path("target"), flags: O_RDWR | O_CREAT)
        let error = #expect(throws: StoreError.self) {
            _ = try HashedCopy(source: source, target: target).run { done in
                guard done == 16 << 20 else { return }
                while try target.size() < 40 << 20 { usleep(1000) }
                #expect(ftruncate(target.number, 20 << 20) == 0)
            }
        }
        #expect(error?.description.contains("the copy is incomplete") == true, "\(String(describing: error))")
    }

    private func copy(
        _ path: String, to target: String, progress: (UInt64) throws -> Void
    ) throws -> (size: UInt64, sha256: String) {
        let source = try Descriptor(path: path, flags: O_RDONLY)
        let target = try Descriptor(path: target, flags: O_RDWR | O_CREAT)
        return try HashedCopy(source: source, target: target).run(progress: progress)
    }
}
