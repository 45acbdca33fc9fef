import Foundation
import Synchronization
import TestSupport
import Testing

@testable import WebArchive

/// `Fixtures/encodings.tsv` has documents, and the encodings that Chromium and Firefox show them in.
struct EncodingDetectorTests {
    struct Document: Sendable, CustomTestStringConvertible {
        let name, contentType, identifiedType: String
        let body: [UInt8]
        /// In parentheses if nothing declares it.
        let encoding, text: String
        var testDescription: String { name }
    }

    static let documents: [Document] = lines(of: "encodings.tsv").map {
        Document(
            name: $0[0], contentType: $0[1], identifiedType: $0[2], body: bytes($0[3]), encoding: $0[4], text: $0[5])
    }

    private static func lines(of name: String) -> [[String]] {
        guard let text = try? String(contentsOfFile: Checkout.fixture(name), encoding: .utf8) else { return [] }
        return text.split(separator: "\n").dropFirst().map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// `\xNN` is a byte, and `{N}` stands for `N` letters.
    private static func bytes(_ text: String) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text.utf8[...]
        while let first = rest.popFirst() {
            switch first {
            case UInt8(ascii: "\\"):
                result.append(UInt8(String(rest.dropFirst().prefix(2)) ?? "", radix: 16) ?? 0)
                rest = rest.dropFirst(3)
            case UInt8(ascii: "{"):
                result += [UInt8](
                    repeating: UInt8(ascii: "x"), count: Int(String(rest.prefix { $0 != 0x7D }) ?? "") ?? 0)
                rest = rest.drop { $0 != 0x7D }.dropFirst()
            default: result.append(first)
            }
        }
        return result
    }

    @Test func documentsAreRead() {
        #expect(Self.documents.count > 60)
        #expect(Self.documents.allSatisfy { !$0.body.isEmpty && !$0.text.isEmpty })
    }

    @Test(arguments: documents, [1, 7, 64 << 10])
    func encodingIsThatOfABrowser(_ document: Document, piece: Int) {
        guard piece > 1 || document.body.count < 8 << 10 else { return }
        var detector = EncodingDetector(
            contentType: document.contentType, identifiedType: document.identifiedType, syntax: .html)
        var found: TextEncoding?
        for start in stride(from: 0, to: document.body.count, by: piece) where found == nil {
            found = detector.read(Array(document.body[start..<min(start + piece, document.body.count)]))
        }
        let encoding = found ?? detector.finish()
        #expect(encoding.name == document.encoding.filter { !"()".contains($0) })
        #if canImport(Glibc)
        let converter = TextConverter(encoding)
        let text = converter.convert(Array(document.body.dropFirst(detector.markLength))) + converter.finish()
        #expect(String(decoding: text, as: UTF8.self).contains(">\(document.text)<"))
        #endif
    }

    #if canImport(Glibc)
    /// The way of titles and text: from the record.
    @Test(arguments: documents) func textHasTheEncodingOfTheDocument(_ document: Document) throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: \(document.contentType)\r\n\r\n"
        let fields = """
            WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: 2024-01-02T03:04:05Z\r
            Content-Type: application/http\r\nWARC-Identified-Payload-Type: \(document.identifiedType)\r
            Content-Length: \(head.utf8.count + document.body.count)\r\n\r\n
            """
        let bytes = Array((fields + head).utf8) + document.body + Array("\r\n\r\n".utf8)
        let reader = WARCReader(MemoryByteSource(bytes, name: "a.warc"))
        let content = try RecordContent(reader.record(at: 0))
        var text = DocumentText(content, contentType: content.contentType)
        let lines = Mutex<[String]>([])
        try text.readHTML { _, line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
        #expect(lines.withLock { $0 }.last == document.text)
        #expect(String(decoding: text.utf8(document.body), as: UTF8.self).hasSuffix(">\(document.text)</p>"))
    }
    #endif

    @Test func plainTextHasNoMeta() {
        var detector = EncodingDetector(contentType: "text/plain", identifiedType: nil, syntax: .text)
        #expect(detector.read(Array("<meta charset=macintosh>caf\u{E9}".utf8)) == nil)
        #expect(detector.finish() == .utf8)
    }

    /// XML 1.0 §4.3.3.
    @Test(arguments: [
        ("<?xml version='1.0' encoding='macintosh'?><p/>", "application/xhtml+xml", "macintosh"),
        ("<p><meta charset='macintosh'/></p>", "application/xhtml+xml", "utf-8"),
        ("<?xml version='1.0' encoding='utf-8'?><p/>", "text/xml; charset=macintosh", "macintosh"),
    ])
    func xmlIsUTF8UnlessItSaysOtherwise(_ text: String, _ type: String, _ encoding: String) {
        var detector = EncodingDetector(contentType: type, identifiedType: nil, syntax: .init(ofType: type))
        #expect((detector.read(Array(text.utf8)) ?? detector.finish()).name == encoding)
    }

    /// Each shape has a million bytes. None is read twice, and the search ends.
    @Test(arguments: [
        "<meta ", "<meta charset=", "<meta content='charset ", "<meta content=charset=", "<!--", "<script>", "</",
        "<a b='", "<",
        "&amp", "<title>&", "<meta charset=none>", "<?xml encoding=", "<!doctype ", "=\"", "charset=\"",
    ])
    func hostileShapesAreReadOnce(_ shape: String) {
        let count = 1 << 20
        let bytes = Array(String(repeating: shape, count: count / shape.utf8.count + 1).utf8.prefix(count))
        let type = "text/html; " + String(decoding: bytes.prefix(256 << 10), as: UTF8.self)
        var detector = EncodingDetector(contentType: type, identifiedType: type, syntax: .html)
        var found: TextEncoding?
        for start in stride(from: 0, to: count, by: 64 << 10) where found == nil {
            found = detector.read(Array(bytes[start..<(start + (64 << 10))]))
        }
        #expect(found != nil)
    }

    /// `Fixtures/encoding-labels.tsv` has the labels of the Encoding Standard, as Chromium and Firefox know them.
    @Test func labelsAreThoseOfTheStandard() {
        let lines = Self.lines(of: "encoding-labels.tsv")
        #expect(lines.count == 40)
        for line in lines {
            for label in line[1].split(separator: " ") {
                #expect(TextEncoding(label: " \t\(label.uppercased())\n")?.name == line[0], "\(label)")
            }
        }
        for label in ["", "iso-8559-1", "utf_8", "utf-7", "utf-32", "macintosh;", "'utf-8'", "iso-8859-12"] {
            #expect(TextEncoding(label: label) == nil, "\(label)")
        }
    }

    #if canImport(Glibc)
    @Test func iconvKnowsEachEncoding() {
        for line in Self.lines(of: "encoding-labels.tsv") {
            guard let encoding = TextEncoding(label: line[0]), !encoding.iconvName.isEmpty else { continue }
            // Without a converter, the bytes would be read as UTF-8.
            let text = TextConverter(encoding).convert(Array("\u{E9}  ".utf8))
            #expect(encoding == .utf8 || text != Array("\u{E9}  ".utf8), "\(encoding.name)")
        }
    }
    #endif
}
