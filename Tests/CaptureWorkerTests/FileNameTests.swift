import Foundation
import Testing

@testable import CaptureWorker

struct FileNameTests {
    @Test(arguments: [
        ("abc123", "My Video", "mp4", "abc123_My_Video.mp4"), ("", "a/b\\c", "pdf", "a_b_c.pdf"),
        ("..", "../../etc/passwd", "mp4", "etc_passwd.mp4"), ("x", "漢字 тест", "webm", "x_漢字_тест.webm"),
        ("", "", "mp4", "file.mp4"), ("a\u{0}b", "x\u{202E}gpj.exe", "mp4", "ab_xgpj.exe.mp4"),
        ("a", "...", "mp4", "a.mp4"),
        // NFC
        ("a", "e\u{301}", "mp4", "a_\u{E9}.mp4"), ("a", "line\nbreak\ttab", "mp3", "a_linebreaktab.mp3"),
    ])
    func namesAreOneSafeComponent(_ id: String, _ title: String, _ ending: String, _ name: String) {
        let made = FileName.make(id: id, title: title, extension: ending)
        #expect(made == name)
        #expect(Array(made.unicodeScalars) == Array(name.unicodeScalars))
    }

    @Test(arguments: ["a", "漢", "👩‍👩‍👧‍👦", "\u{301}", "/", "."])
    func longTitlesAreShortened(_ character: String) {
        let name = FileName.make(
            id: String(repeating: character, count: 5000), title: String(repeating: character, count: 300_000),
            extension: "mp4")
        #expect(name.utf8.count <= 200)
        #expect(name.hasSuffix(".mp4"))
        #expect(!name.contains("/") && !name.hasPrefix("."))
    }
}

struct OutputLinesTests {
    private func lines(_ pieces: [String]) throws -> [String] {
        var output = OutputLines()
        var lines: [String] = []
        for piece in pieces { lines += try Array(piece.utf8).withUnsafeBytes { try output.add($0) } }
        return lines + (output.finish().map { [$0] } ?? [])
    }

    @Test func linesAreJoinedAcrossPieces() throws {
        #expect(try lines(["a\nb", "c\r\n", "\n", "d"]) == ["a", "bc", "d"])
        #expect(try lines([]) == [])
    }

    @Test func restOfALongLineIsDropped() throws {
        let long = String(repeating: "x", count: 100_000)
        let found = try lines([long, long + "\nend\n"])
        #expect(found == [String(repeating: "x", count: OutputLines.lineBytesMax), "end"])
    }

    @Test func tooMuchOutputFails() throws {
        let piece = [UInt8](repeating: 0x78, count: 1 << 20)
        var output = OutputLines()
        for _ in 0..<64 { _ = try piece.withUnsafeBytes { try output.add($0) } }
        let failure = #expect(throws: ToolFailure.self) { try piece.withUnsafeBytes { try output.add($0) } }
        #expect(failure?.code == .toolFailed)
    }
}

struct RedactionTests {
    @Test(arguments: [
        "Cookie: session=SECRET", "set-cookie: a=SECRET; Path=/", "Authorization: Bearer SECRET", "--password SECRET",
        "https://user:SECRET@example.org/", "https://example.org/v?x=1&sig=SECRET&y=2",
        "https://example.org/v?X-Amz-Signature=SECRET",
        "https://example.org/v?access_token=SECRET", "the value SECRETVALUE of a cookie",
    ])
    func secretsAreRemoved(_ text: String) {
        let cookies = "# Netscape HTTP Cookie File\n.example.org\tTRUE\t/\tTRUE\t0\tsid\tSECRETVALUE\n"
        #expect(!Redaction(cookies: cookies).redacted(text).contains("SECRET"), "\(text)")
    }

    @Test func otherTextStays() {
        let text = "[download] Destination: media.mp4, https://example.org/v?id=7&t=3"
        #expect(Redaction(cookies: "a\tb\tc\td\te\tf\t1\n").redacted(text) == text)
    }
}

struct RetryAfterTests {
    /// RFC 9110 §10.2.3.
    @Test func secondsAndDatesAreRead() throws {
        let now = try #require(try? Date("2026-11-24T10:00:00Z", strategy: .iso8601))
        #expect(RetryAfter.seconds("120", now: now) == 120)
        #expect(RetryAfter.seconds("Tue, 24 Nov 2026 10:05:00 GMT", now: now) == 300)
        #expect(RetryAfter.seconds("Tue, 24 Nov 2026 09:00:00 GMT", now: now) == 0)
        #expect(RetryAfter.seconds("99999999999999999999", now: now) == 86_400)
        for text in ["", "-1", "soon", "1.5"] { #expect(RetryAfter.seconds(text, now: now) == nil, "\(text)") }
    }
}
