import Foundation
import Testing

@testable import WebArchive

/// WARC-ZSTD 1.0, and RFC 8878 §3.1.1 for frames whose contents aren't compressed.
@Suite(.enabled(if: Libraries.haveBrotliAndZstd))
struct ZstdFramesTests {
    private static let records = ["/1", "/2", "/3", "/4"].map { path in
        ArchiveBuilder.Record(url: "https://a.example\(path)").bytes()
    }
    private static let whole = Array(records.joined())

    /// A frame with a window of 8 MiB, without size and checksum.
    private static func frame(_ content: [UInt8], window: UInt8 = 0x68) -> [UInt8] {
        let block = (content.count << 3 | 1).littleEndian
        return ZstdFrame.magic + [0, window] + withUnsafeBytes(of: block) { Array($0.prefix(3)) } + content
    }

    /// A frame with a block of a reserved type. RFC 8878 §3.1.1.2.2
    private static func damagedFrame(_ content: [UInt8]) -> [UInt8] {
        var frame = frame(content)
        frame[6] |= 6
        return frame
    }

    private static func skippable(_ content: [UInt8], kind: UInt8) -> [UInt8] {
        [kind, 0x2A, 0x4D, 0x18] + withUnsafeBytes(of: UInt32(content.count).littleEndian) { Array($0) } + content
    }

    private static func decoded(_ base64: String) -> [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }

    /// From `zstd` 1.5.4: a dictionary, the same compressed, and a frame that needs it.
    private static let dictionary = decoded(
        "N6Qw7EGcAAAnEMCSNB0zMAMzMAMzsKslZJFyI8nNbEs3jciKrLVRE1GBE7hyFmMMUwEANB4mDMwOAAAABODEjBEXmZqYwyLh"
            + "WB0DiBAAAAAAAAAAAAAAIAAALwAAAAAAANTYODabdADAAAAAAAAAAAAAAAABAAAABAAAAAgAAABsYW5rdG9uIHJlZWYgc3Bv"
            + "bmdlIHJlZWYgcGxhbmt0b24gdGlkZSB0aWRlIGFuZW1vbmFuZW1vbmUgbGFnb29uIGNvcmFsIGNvcmFsIHNwb25nZSB1cmNo"
            + "aW4gbGFnb29uIGFuc2ggc3RhcmZpc2ggdXJjaGluIHBsYW5rdG9uIA==")
    private static let compressedDictionary = decoded(
        "KLUv/WQAAC0GACQKN6Qw7EGcAAAnEMCSNB0zMAOwqyVkkXIjyc1sSzeNyIqstVETUYETuHIWYwxTAQA0HiYMzA4AAAAE4MSM"
            + "EReZmpjDIuFYHQOIEAAgAAAv1Ng4Npt0AMAAAQAAAAQAAAAIAAAAbGFua3RvbiByZWVmIHNwb25nZXB0aWRlYW5lbW9uZSBs"
            + "YWdvb24gY29yYWx1cmNoaW5hbnNoIHN0YXJmaXNoDQBhKMBP8omSGgIBwFApo6AM6knuL8O5+7QMkm7BBm4J/Vf3lQ==")
    private static let frameWithDictionary = decoded(
        "KLUv/SZBnLNVBABTyBwLszC/TdZ0tFuYhaGcRgWTS9LMg2bdNQWXFXxdzVfLGSyMEqSHCqKHCqAHEZ7HCZzHCaLn8TQq8HU0"
            + "SIGvOc4KRkFlbwpSoAKKXtekUUEOhFCEE1yW7JltJSneRgXWKxDhBDMQQgyOsDAOCpwUzEAIMThCBvw5bX5vepcSLi4hBP7i"
            + "hwlM5QdkoTCV")

    /// What can be read of a file, and the offsets of its damaged frames.
    private static func read(_ file: [UInt8], step: Int = 64 << 10) throws -> (content: [UInt8], damage: [UInt64?]) {
        let frames = try ZstdFrames(MemoryByteSource(file, name: "a.warc.zst"), Allowance(archiveSize: 0))
        var (content, damage): ([UInt8], [UInt64?]) = ([], [])
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)
        defer { buffer.deallocate() }
        while true {
            do throws(WebArchiveError) {
                let count = try frames.read(into: buffer)
                if count == 0 { break }
                content += buffer[..<count]
            } catch {
                #expect(error.code == .badGzip || error.code == .truncated)
                damage.append(error.offset)
            }
        }
        #expect(frames.offset == UInt64(file.count))
        return (content, damage)
    }

    @Test(arguments: [1, 7, 64 << 10])
    func framesAreOneStream(_ step: Int) throws {
        let padding = Self.skippable([1, 2, 3], kind: 0x50)
        let file = Self.records.flatMap { Self.frame($0) + padding + Self.frame([]) }
        let (content, damage) = try Self.read(file, step: step)
        #expect(content == Self.whole && damage.isEmpty)
    }

    @Test func readingGoesOnAfterDamage() throws {
        let start = Self.frame(Self.records[0])
        let middle = Self.damagedFrame(Self.records[1]) + [1, 2, 3] + Self.frame(Self.records[2])
        let (content, damage) = try Self.read(start + middle + [0, 0] + Self.frame(Self.records[3]).prefix(30))
        #expect(content.starts(with: Self.records[0] + Self.records[2]))
        let end = start.count + middle.count
        #expect(damage == [start.count, end, end + 2].map { UInt64($0) })
    }

    /// A frame of one segment that states a size, with an empty last block. RFC 8878 §3.1.1.1.4
    @Test(arguments: [1, 64 << 10])
    func frameOfAnotherSizeThanItStatesIsDamage(_ step: Int) throws {
        let frame = ZstdFrame.magic + [0x20, 6, 5 << 3, 0, 0] + Array("coral".utf8) + [1, 0, 0]
        let (content, damage) = try Self.read(frame + Self.frame(Self.records[0]), step: step)
        #expect(damage == [0] && content.suffix(Self.records[0].count) == Self.records[0][...])
    }

    /// The dictionary may be compressed itself.
    @Test(arguments: [true, false]) func dictionaryIsUsed(_ isCompressed: Bool) throws {
        let dictionary = isCompressed ? Self.compressedDictionary : Self.dictionary
        let file = Self.skippable(dictionary, kind: 0x5D) + Self.frameWithDictionary + Self.frameWithDictionary
        let (content, damage) = try Self.read(file)
        let record =
            "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: https://reef.example/coral\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"
            + "Content-Type: text/plain\r\nContent-Length: 18\r\n\r\nstarfish and coral\r\n\r\n"
        #expect(String(decoding: content, as: UTF8.self) == record + record)
        #expect(damage.isEmpty)
        #expect(try Self.read(Self.frameWithDictionary).content.isEmpty)
    }

    @Test func dictionaryThatCannotBeUsedIsRefused() {
        func code(_ dictionary: [UInt8]) -> WebArchiveError.Code? {
            WebArchiveTests.code { _ = try Self.read(dictionary + Self.frame(Self.whole)) }
        }
        #expect(code(Self.skippable([1, 2, 3], kind: 0x5D)) == .badGzip)
        #expect(code(Self.skippable(Array(Self.dictionary.prefix(30)), kind: 0x5D)) == .badGzip)
        #expect(code(Self.skippable(Array(Self.compressedDictionary.dropLast(9)), kind: 0x5D)) == .badGzip)
        #expect(code([0x5D, 0x2A, 0x4D, 0x18, 0, 0, 0, 0x7F]) == .tooLarge)
        #expect(code([0x5D, 0x2A, 0x4D, 0x18, 0, 0, 0x7F, 0]) == .truncated)
    }

    /// WARC-ZSTD 1.0 requires windows of up to 8 MiB. This one has 2 GiB.
    @Test func hugeWindowIsRefused() throws {
        let (content, damage) = try Self.read(Self.frame(Self.whole, window: 0xA8) + Self.frame(Self.records[0]))
        #expect(content == Self.records[0] && damage == [0])
    }

    @Test(arguments: ["records", "one frame", "parts of records"])
    func recordsBecomeGzipMembers(_ form: String) throws {
        let pieces =
            switch form {
            case "records": Self.records
            case "one frame": [Self.whole]
            default: stride(from: 0, to: Self.whole.count, by: 100).map { Array(Self.whole.dropFirst($0).prefix(100)) }
            }
        let file = MemoryByteSource(pieces.flatMap { Self.frame($0) }, name: "a.warc.zst")
        let path = FileManager.default.temporaryDirectory.path + "/zstd-\(UUID().uuidString).wacz"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = try WACZWriter(path: path)
        var progress: [UInt64] = []
        #expect(try writer.addCaptures(file, name: "a.warc.zst") { progress.append($0) })
        let result = try writer.finish()
        #expect(result.captureCount == Self.records.count && result.findings.isEmpty)
        #expect(progress == progress.sorted() && progress.allSatisfy { $0 <= file.size } && Set(progress).count > 4)
        let wacz = try WACZFile.open(FileByteSource(path: path))
        let entry = try #require(wacz.warcEntry(named: "a.warc.gz"))
        let stored = MemoryByteSource(try wacz.directory.contents(of: entry, limit: 1 << 20), name: "a")
        #expect(try GzipStream(SourceStream(stored), Allowance(archiveSize: 0)).readAll(limit: 1 << 20) == Self.whole)
    }

    @Test func onlyWARCFilesAreRecognized() throws {
        func format(_ file: [UInt8]) throws -> WARCFormat? { try WARCFormat(MemoryByteSource(file, name: "x")) }
        #expect(try format(Self.frame(Array("hello".utf8))) == nil)
        #expect(try format(Self.frame([])) == nil)
        #expect(try format(Self.frame(Array("\r\n\r\n".utf8) + Self.whole))?.kind == .warc)
        #expect(try format(Self.damagedFrame(Self.whole) + Self.frame(Self.whole))?.kind == .warc)
        #expect(code { _ = try format(Self.frameWithDictionary) } == .badGzip)
    }
}

struct WithoutZstandardTests {
    @Test(.enabled(if: !Libraries.haveBrotliAndZstd)) func fileIsRefusedWithAMessage() {
        let file = MemoryByteSource([0x28, 0xB5, 0x2F, 0xFD, 0, 0x68, 1, 0, 0], name: "a.warc.zst")
        #expect(code { _ = try WARCFormat(file) } == .unsupported)
    }
}
