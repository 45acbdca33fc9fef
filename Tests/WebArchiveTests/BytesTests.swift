import Testing

@testable import WebArchive

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private let ten = MemoryByteSource(Array(0..<10), name: "ten")

struct ByteSourceTests {
    @Test func exactReadReturnsAllBytesOrThrows() throws {
        #expect(try ten.read(at: 7, count: 3) == [7, 8, 9])
        #expect(try ten.read(at: 10, count: 0) == [])
        #expect(code { _ = try ten.read(at: 7, count: 4) } == .truncated)
        #expect(code { _ = try ten.read(at: .max, count: 1) } == .truncated)
        #expect(code { _ = try ten.read(at: 0, count: .max) } == .truncated)
    }

    @Test func subrangeNeverReadsOutside() throws {
        let window = try SubrangeByteSource(ten, offset: 2, length: 3)
        #expect(try window.read(at: 0, count: 3) == [2, 3, 4])
        #expect(code { _ = try window.read(at: 1, count: 3) } == .truncated)
        #expect(try window.read(at: 3, count: 0) == [])
    }

    @Test(arguments: [(0, 11), (10, 1), (.max, 1), (1, .max)] as [(UInt64, UInt64)])
    func subrangeOutsideItsBaseIsRefused(_ offset: UInt64, _ length: UInt64) {
        #expect(code { _ = try SubrangeByteSource(ten, offset: offset, length: length) } == .truncated)
    }

    @Test func readsFileAtAnyOffset() throws {
        let path = FileManager.default.temporaryDirectory.path + "/webarchive-\(UUID().uuidString)"
        try #require(FileManager.default.createFile(atPath: path, contents: Data(0..<10)))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try FileByteSource(path: path, name: "shown")
        #expect(file.size == 10)
        #expect(file.name == "shown")
        #expect(try file.read(at: 8, count: 2) == [8, 9])
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 20, alignment: 1)
        defer { buffer.deallocate() }
        #expect(try file.read(at: 4, into: buffer) == 6)
        #expect(try file.read(at: .max, into: buffer) == 0)
    }

    @Test func readingAShrunkenFileThrows() throws {
        let path = FileManager.default.temporaryDirectory.path + "/webarchive-\(UUID().uuidString)"
        try #require(FileManager.default.createFile(atPath: path, contents: Data(0..<10)))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try FileByteSource(path: path, name: "shown")
        // Not atomic, so that it overwrites the same file.
        try Data(0..<4).write(to: URL(fileURLWithPath: path))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 20, alignment: 1)
        defer { buffer.deallocate() }
        let error = #expect(throws: WebArchiveError.self) { _ = try file.read(at: 2, into: buffer) }
        #expect(error?.code == .truncated)
        #expect(error?.offset == 4)
        #expect(try file.read(at: 0, count: 4) == [0, 1, 2, 3])
    }

    @Test(arguments: ["/nonexistent/x.wacz", "/"])
    func pathThatIsNotAFileIsRefusedWithoutShowingIt(_ path: String) {
        let error = #expect(throws: WebArchiveError.self) { _ = try FileByteSource(path: path, name: "x.wacz") }
        #expect(error?.code == .io)
        #expect(error?.description.hasPrefix("x.wacz: ") == true)
        #expect(error?.description.contains("nonexistent") == false)
    }
}

struct InflaterTests {
    private let text = Array(String(repeating: "offline ", count: 500).utf8)

    private func inflated(_ bytes: [UInt8], _ format: Inflater.Format, chunk: Int) throws -> (out: [UInt8], used: Int) {
        let inflater = try Inflater(format: format, file: "x")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
        defer { buffer.deallocate() }
        var out: [UInt8] = []
        var used = 0
        while used < bytes.count {
            let piece = Array(bytes[used..<min(used + chunk, bytes.count)])
            let step = try piece.withUnsafeBytes { try inflater.inflate($0, into: buffer) }
            out += buffer[..<step.produced]
            used += step.consumed
            if step.isFinished || step.consumed == 0 && step.produced == 0 { break }
        }
        return (out, used)
    }

    @Test(arguments: [1, 7, 10_000])
    func inflatesEveryFormatAndStopsAtItsEnd(_ chunk: Int) throws {
        let formats: [(Inflater.Format, [UInt8])] = [
            (.rawDeflate, Deflater.raw(text)), (.gzip, Deflater.gzip(text)), (.zlib, Deflater.zlib(text)),
        ]
        for (format, packed) in formats {
            let (out, used) = try inflated(packed + [1, 2, 3], format, chunk: chunk)
            #expect(out == text)
            #expect(used == packed.count)
        }
    }

    @Test func checksumDetectsDamage() {
        var packed = Deflater.gzip(text)
        packed[packed.count - 6] ^= 1
        #expect(code { _ = try inflated(packed, .gzip, chunk: 10_000) } == .badGzip)
    }

    /// Python's zlib returns all 4,000 bytes for the same input.
    @Test(arguments: [1, 3, 5000])
    func truncatedMemberReturnsAllItsBytes(_ step: Int) throws {
        let stream = GzipStream(
            SourceStream(MemoryByteSource(Array(Deflater.gzip(text).dropLast(8)), name: "x")), Allowance(archiveSize: 0)
        )
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)
        defer { buffer.deallocate() }
        var out: [UInt8] = []
        let error = #expect(throws: WebArchiveError.self) {
            while case let count = try stream.read(into: buffer), count > 0 { out += buffer[..<count] }
        }
        #expect(error?.code == .truncated)
        #expect(out == text)
    }

    @Test func readsConsecutiveGzipMembers() throws {
        let bytes = Deflater.gzip(Array("one\n".utf8)) + Deflater.gzip(Array("two\n".utf8)) + [0, 0, 0, 0]
        let stream = GzipStream(SourceStream(MemoryByteSource(bytes, name: "x")), Allowance(archiveSize: 0))
        #expect(try stream.readAll(limit: 100) == Array("one\ntwo\n".utf8))
    }

    @Test func junkAfterAGzipMemberIsDamage() {
        let bytes = Deflater.gzip(Array("one\n".utf8)) + Array("junk".utf8)
        let stream = GzipStream(SourceStream(MemoryByteSource(bytes, name: "x")), Allowance(archiveSize: 0))
        #expect(code { _ = try stream.readAll(limit: 100) } == .badGzip)
    }

    @Test func boundedStreamThrowsAtItsLimit() {
        var limits = Limits.standard
        limits.inflatedBytesAlwaysAllowed = 9
        let stream = BoundedStream(SourceStream(ten), compressed: 0, limits: limits)
        #expect(code { _ = try stream.readAll(limit: 100) } == .tooLarge)
    }
}

struct LineReaderTests {
    private func lines(_ text: String, lineMax: Int = 5, skippedMax: Int = 1000) throws -> [String] {
        let stream = SourceStream(MemoryByteSource(Array(text.utf8), name: "x"))
        let reader = LineReader(stream, lineBytesMax: lineMax, skippedLineBytesMax: skippedMax)
        var found: [String] = []
        while let line = try reader.next() {
            let shown = line.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "too long"
            found.append("\(line.number)@\(line.offset):\(shown)")
        }
        return found
    }

    @Test(
        arguments: [
            ("", []), ("a", ["1@0:a"]), ("a\n", ["1@0:a"]), ("a\r\nb", ["1@0:a", "2@3:b"]),
            ("\n\na", ["1@0:", "2@1:", "3@2:a"]),
            ("12345\n123456\nx", ["1@0:12345", "2@6:too long", "3@13:x"]),
        ] as [(String, [String])])
    func linesHaveNumbersAndOffsets(_ text: String, _ expected: [String]) throws {
        #expect(try lines(text) == expected)
    }

    @Test func textWithoutLinesIsRefused() {
        #expect(code { _ = try lines(String(repeating: "x", count: 1001)) } == .tooLarge)
        #expect(code { _ = try lines(String(repeating: "x", count: 1000)) } == nil)
    }

    @Test func readsLineAcrossBuffers() throws {
        let long = String(repeating: "y", count: 700_000)
        #expect(try lines("\(long)\nz", lineMax: 1_000_000) == ["1@0:\(long)", "2@700001:z"])
    }
}
