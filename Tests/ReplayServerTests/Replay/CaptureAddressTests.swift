import Testing
import WebArchive

@testable import ReplayServer

struct CaptureAddressTests {
    typealias Target = CaptureAddress.Target

    @Test(
        arguments: [
            ("/c/a/cdx?url=x", .cdx), ("/c/a/cdx", .cdx),
            ("/c/a/timemap/link/http://x.example/?a=b", .timeMap(form: "link", url: "http://x.example/?a=b")),
            ("/c/a/timemap/link/", nil), ("/c/a/timemap/link", nil),
            ("/c/a/http://x.example/2020/y", .timeGate(url: "http://x.example/2020/y")),
            ("/c/a/x.example", .timeGate(url: "http://x.example")),
            ("/c/a/x.example:8080/y", .timeGate(url: "http://x.example:8080/y")),
            ("/c/a/cdx/x", .timeGate(url: "http://cdx/x")),
            (
                "/c/a/20240102030405id_/https://x.example/a%20b?c=%C3%A9",
                .memento(timestamp: "20240102030405", modifier: .identity, url: "https://x.example/a%20b?c=%C3%A9")
            ),
            ("/c/a/2024/http://x/", .memento(timestamp: "2024", modifier: .none, url: "http://x/")),
            ("/c/a/ir_/http://x/", .memento(timestamp: "", modifier: .engine, url: "http://x/")),
            // Merged slashes.
            ("/c/a/2024dl_/https:/x/y", .memento(timestamp: "2024", modifier: .download, url: "https://x/y")),
            ("/c/a/2024mp_/urn:pageinfo:x", .memento(timestamp: "2024", modifier: .page, url: "urn:pageinfo:x")),
            ("/c/a/2024mp_/", nil), ("/c/a/", nil), ("/c/a", nil), ("/c/", nil), ("/c//cdx", nil), ("/d/a/cdx", nil),
            // Not a known modifier, so it is the start of a URL.
            ("/c/a/2024zz_/http://x/", .timeGate(url: "http://2024zz_/http://x/")),
        ] as [(String, Target?)])
    func pathsAreParsed(_ path: String, _ expected: Target?) {
        #expect(CaptureAddress(path: path)?.target == expected)
    }

    @Test func allIsNotAnArchive() {
        #expect(CaptureAddress(path: "/c/all/cdx")?.scope == .all)
        #expect(CaptureAddress(path: "/c/ALL/cdx")?.scope == .archive("ALL"))
    }

    @Test(
        arguments: [
            ("gzip, deflate, br", [.gzip], true), ("gzip", [.br], false), ("*", [.zstd], true),
            ("*;q=0, gzip", [.gzip], true), ("*, br;q=0", [.br], false), ("gzip;q=0", [.gzip], false),
            ("gzip;q=0.5, br", [.gzip, .br], true), ("identity", [.gzip], false), ("", [.gzip], false),
            (nil, [.gzip], false), ("x-gzip", [.gzip], true),
        ] as [(String?, [ContentCoding], Bool)])
    func codingsAreAccepted(_ field: String?, _ codings: [ContentCoding], _ expected: Bool) {
        #expect(CaptureAnswer.accepts(codings, field) == expected)
    }

    /// RFC 6266 §4, RFC 8187 §3.2.1.
    @Test(arguments: [
        ("https://x/a/report.pdf?x=/y", "attachment; filename=\"report.pdf\""),
        ("https://x/caf%C3%A9.txt", "attachment; filename*=UTF-8''caf%C3%A9.txt"),
        ("https://x/", "attachment; filename=\"x\""),
        ("https://x/a%22b.txt", "attachment; filename*=UTF-8''a%22b.txt"),
        ("https://x/..%2F..%2Fetc%0D%0Ax", "attachment; filename=\"....etcx\""),
        ("https://x/annex%E2%80%AEfdp.exe%C2%9B%7F", "attachment; filename=\"annexfdp.exe\""),
    ])
    func downloadsHaveFileNames(_ url: String, _ expected: String) {
        #expect(CaptureAnswer.attachment(url) == expected)
    }
}
