import Foundation
import Testing

@testable import WebArchive

struct ContentDecoderTests {
    static let text = "The quick brown fox jumps over the lazy dog. The quick brown fox."

    struct Case: Sendable, CustomTestStringConvertible {
        let coding: ContentCoding
        let base64: String
        var bytes: [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }
        var testDescription: String { coding.rawValue }
    }

    /// Data from Python's zlib and gzip, and from `brotli` 1.0.9 and `zstd` 1.5.4. The last case has two frames.
    static let allCases = [
        Case(
            coding: .gzip,
            base64:
                "H4sIAAAAAAACAwvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp+sphGAq1gMAjqX6nkEAAAA="),
        Case(
            coding: .deflate,
            base64: "eJwLyUhVKCzNTM5WSCrKL89TSMuvUMgqzS0oVsgvSy1SKAFK5yRWVSqk5KfrKYRgKtYDAAumF2k="),
        Case(
            coding: .deflate,
            base64: "C8lIVSgszUzOVkgqyi/PU0jLr1DIKs0tKFbIL0stUigBSuckVlUqpOSn6ymEYCrWAwA="),
        Case(
            coding: .br,
            base64: "oQACQGRxwJuGruy6hNi9WElVhpZkZmwN4jKXt0HO8PRU2BtswIFDFsj+QnaDTiucOTxO1KaQEe77NMYG"),
        Case(
            coding: .zstd,
            base64: "KLUv/SRBtQEA5AJUaGUgcXVpY2sgYnJvd24gZm94IGp1bXBzIG92ZXIgdGhlIGxhenkgZG9nLiAuAQCFiSoDqYC9ug=="),
        Case(
            coding: .zstd,
            base64: "KLUv/QRYaQEAVGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZy4gzpb8pSi1L/0EWKEAAFRoZSBx"
                + "dWljayBicm93biBmb3guBJzYMw=="),
    ]

    static let cases = allCases.filter { Libraries.haveBrotliAndZstd || ![.br, .zstd].contains($0.coding) }
    static let missing = allCases.filter { !Libraries.haveBrotliAndZstd && [.br, .zstd].contains($0.coding) }

    private static func decoded(_ bytes: [UInt8], _ codings: [ContentCoding], step: Int = 7) throws -> [UInt8] {
        let stream = ContentDecoder.decode(
            SourceStream(MemoryByteSource(bytes, name: "body")), codings, Allowance(archiveSize: 0))
        var all: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)
        defer { buffer.deallocate() }
        while true {
            let count = try stream.read(into: buffer)
            if count == 0 { return all }
            all += buffer[..<count]
            if all.count > 1 << 20 { return all }
        }
    }

    @Test(arguments: cases)
    func decodesOutputOfOtherPrograms(_ c: Case) throws {
        #expect(String(decoding: try Self.decoded(c.bytes, [c.coding]), as: UTF8.self) == Self.text)
        #expect(String(decoding: try Self.decoded(c.bytes, [c.coding], step: 4096), as: UTF8.self) == Self.text)
    }

    @Test(.enabled(if: Libraries.haveBrotliAndZstd)) func decodesCodingsInReverseOrder() throws {
        let twice = Deflater.gzip(Self.allCases[3].bytes)
        #expect(String(decoding: try Self.decoded(twice, [.br, .gzip]), as: UTF8.self) == Self.text)
    }

    @Test(arguments: ContentCoding.allCases)
    func unencodedBodiesStayUnchanged(_ coding: ContentCoding) throws {
        let plain = "<!doctype html><title>Plain</title>" + String(repeating: "text ", count: 2000)
        #expect(String(decoding: try Self.decoded(Array(plain.utf8), [coding]), as: UTF8.self) == plain)
        #expect(try Self.decoded([], [coding]).isEmpty)
    }

    /// Also as short as the answers of many APIs, and in other letters.
    @Test(
        arguments: ContentCoding.allCases,
        ["ok", "0", "5", "3.14", "7 results", ";f()", "=", "{}", "<p>", "Grüße", "\u{1F980}", "a{color:red}", "\n"])
    func shortTextStaysUnchanged(_ coding: ContentCoding, _ text: String) throws {
        #expect(String(decoding: try Self.decoded(Array(text.utf8), [coding]), as: UTF8.self) == text)
        #expect(ContentCoding.confirmed([coding], by: Array(text.utf8), Allowance(archiveSize: 0)).isEmpty)
    }

    /// The codings of a body, and those that a message names.
    @Test(
        arguments: [
            ([.gzip], [.gzip], [.gzip]), ([], [.gzip], []), ([.gzip, .gzip], [.gzip, .gzip], [.gzip, .gzip]),
            ([.gzip], [.gzip, .gzip], [.gzip]), ([.deflate], [.deflate, .gzip], [.deflate]),
            ([.deflate], [.gzip, .deflate], [.deflate]), ([], [.deflate, .gzip, .gzip], []),
        ] as [([ContentCoding], [ContentCoding], [ContentCoding])])
    func codingsAreConfirmedByTheBytes(_ own: [ContentCoding], _ named: [ContentCoding], _ expected: [ContentCoding]) {
        let long = (0..<20_000).map { (number: Int) -> String in String(number * number % 9973, radix: 36) }.joined()
        for text in [Self.text, Self.text + long] {
            let bytes = own.reduce(Array(text.utf8)) { $1 == .gzip ? Deflater.gzip($0) : Deflater.raw($0) }
            let start = Array(bytes.prefix(ContentCoding.startBytes))
            #expect(ContentCoding.confirmed(named, by: start, Allowance(archiveSize: 0)) == expected)
        }
    }

    @Test(arguments: cases) func codingOfOtherProgramsIsConfirmed(_ c: Case) {
        #expect(ContentCoding.confirmed([c.coding], by: c.bytes, Allowance(archiveSize: 0)) == [c.coding])
        for count in 5..<c.bytes.count {
            #expect(
                ContentCoding.confirmed([c.coding], by: Array(c.bytes.prefix(count)), Allowance(archiveSize: 0)) == [
                    c.coding
                ], "\(count) bytes")
        }
    }

    @Test(arguments: cases)
    func truncatedBodyIsAnError(_ c: Case) throws {
        let cut = Array(c.bytes.dropLast(c.coding == .gzip ? 4 : 6))
        #expect(code { _ = try Self.decoded(cut, [c.coding], step: 4096) } == .truncated)
    }

    /// `FuzzReaderTests` (`content-codings`) tests the memory use.
    @Test(arguments: cases)
    func damageNeverCrashes(_ c: Case) throws {
        for position in c.bytes.indices {
            var damaged = c.bytes
            damaged[position] ^= 0x55
            _ = try? Self.decoded(damaged, [c.coding], step: 4096)
            _ = try? Self.decoded(Array(c.bytes[..<position]), [c.coding], step: 4096)
        }
    }

    /// RFC 9659 limits windows of the content coding to 8 MB. This frame header needs 2 GB: RFC 8878 §3.1.1.
    @Test(.enabled(if: Libraries.haveBrotliAndZstd)) func hugeWindowIsRefused() {
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xA8, 0x01, 0x00, 0x00]
        #expect(code { _ = try Self.decoded(frame, [.zstd]) } == .badEncoding)
    }

    /// RFC 8878 §3.1.1.1.4: the header states the size of the content. The last block is empty, where libzstd compares it only if it
    /// decodes the frame in one call.
    @Test(.enabled(if: Libraries.haveBrotliAndZstd), arguments: [1, 3, 64, 4096])
    func frameOfAnotherSizeThanItStatesIsDamaged(_ step: Int) throws {
        func frame(stated: UInt8) -> [UInt8] {
            [0x28, 0xB5, 0x2F, 0xFD, 0x20, stated, 5 << 3, 0, 0] + Array("coral".utf8) + [1, 0, 0]
        }
        #expect(try Self.decoded(frame(stated: 5), [.zstd], step: step) == Array("coral".utf8))
        for stated in [0, 4, 6, 200] as [UInt8] {
            #expect(code { _ = try Self.decoded(frame(stated: stated), [.zstd], step: step) } == .badEncoding)
        }
    }

    /// A reader would block without an end.
    @Test func endlessDataWithoutContentIsRefused() {
        let members = [UInt8](Array(repeating: Deflater.gzip([]), count: 2000).joined())
        #expect(code { _ = try Self.decoded(members, [.gzip]) } == .badEncoding)
        #expect(code { _ = try Self.decoded(Deflater.gzip(members), [.gzip, .gzip]) } == .badEncoding)
        // A member with an endless name: RFC 1952 §2.3.1, flag FNAME.
        let named: [UInt8] = [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + Array(repeating: 65, count: 20 << 20)
        #expect(code { _ = try Self.decoded(named, [.gzip], step: 4096) } == .badEncoding)
    }

    @Test(.enabled(if: Libraries.haveBrotliAndZstd)) func endlessEmptyFramesAreRefused() {
        // Skippable zstd frames of 1 MB. RFC 8878 §3.1.2.
        let frame: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 0, 0, 16, 0] + Array(repeating: 0, count: 1 << 20)
        let frames = [UInt8](Array(repeating: frame, count: 20).joined())
        #expect(code { _ = try Self.decoded(frames, [.zstd], step: 4096) } == .badEncoding)
    }

    @Test(arguments: missing)
    func codingWithoutItsLibraryIsRefusedWithAMessage(_ c: Case) throws {
        let error = #expect(throws: WebArchiveError.self) { _ = try Self.decoded(c.bytes, [c.coding]) }
        #expect(error?.code == .unsupported)
        #expect(error?.problem.contains(" \(c.coding.rawValue),") == true)
    }

    @Test func isDecodableMatchesTheBuild() {
        let expected: [ContentCoding] =
            Libraries.haveBrotliAndZstd ? [.gzip, .deflate, .br, .zstd] : [.gzip, .deflate]
        #expect(ContentCoding.allCases.filter(\.isDecodable) == expected)
    }

    /// Text is ASCII, or UTF-8 cut anywhere, without control characters.
    @Test(arguments: [
        ("text\r\n\tmore", true), ("\u{FEFF}<a>", true), ("über", true), ("a\0b", false), ("\u{B}", false),
        ("\u{7F}", false),
    ])
    func recognizesTextByItsStart(_ text: String, _ isText: Bool) {
        #expect(UTF8Text.begins(Array(text.utf8)) == isText)
        #expect(UTF8Text.begins(Array("text \u{1F600}".utf8.dropLast())))
        #expect(!UTF8Text.begins([0x61, 0xFF, 0x61, 0x61, 0x61, 0x61]))
        for c in Self.allCases where c.coding == .br { #expect(!UTF8Text.begins(c.bytes)) }
    }

    @Test func tooManyCodingsAreNotDecoded() {
        let many = Array(repeating: "gzip", count: 10_000).joined(separator: ",")
        #expect(ContentCoding.applied(in: HeaderFields([.init(name: "Content-Encoding", value: many)])) == nil)
    }

    @Test(
        arguments: [
            ("gzip", [.gzip]), ("br, gzip", [.br, .gzip]), ("X-GZIP", [.gzip]), ("identity", []), ("", []),
            ("zstd;q=1", [.zstd]), ("compress", nil), ("gzip, dcb", nil),
            // The decoders of these keep up to 16 MB each.
            ("br, br", [.br, .br]), ("br, gzip, zstd, gzip", [.br, .gzip, .zstd, .gzip]), ("br, br, zstd", nil),
        ] as [(String, [ContentCoding]?)])
    func readsCodingsFromFields(_ field: String, _ expected: [ContentCoding]?) {
        let fields = HeaderFields([.init(name: "content-encoding", value: field)])
        #expect(ContentCoding.applied(in: fields) == expected)
    }
}
