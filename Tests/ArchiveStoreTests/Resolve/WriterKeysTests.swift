import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// URLs with different keys in different tools, from `Fixtures/url-keys.tsv` (`Scripts/make-url-keys`).
private struct URLKeys {
    let url: String
    /// By writer.
    let keys: [String: String]

    static let writers = [
        "surt", "surt-slash", "warcio.js-first", "warcio.js-second", "warcio.js-1.5.1", "warcio.js-2.3", "surt-rs",
        "wacksy-alpha",
    ]

    static func all() throws -> [URLKeys] {
        let lines = try String(contentsOfFile: Checkout.fixture("url-keys.tsv"), encoding: .utf8).split(separator: "\n")
        let rows = lines.map { $0.split(separator: "\t").map(String.init) }
        #expect(rows[0] == ["url"] + writers)
        return rows.dropFirst().map { row in
            URLKeys(url: row[0], keys: Dictionary(uniqueKeysWithValues: zip(writers, row.dropFirst())))
        }
    }
}

/// Captures are found by URL, whichever tool wrote the index.
struct WriterKeysTests {
    typealias Record = RecordedArchive.Record

    private let folder: TemporaryFolder
    private let store: ArchiveStore
    private let rows: [URLKeys]

    init() throws {
        folder = try TemporaryFolder()
        store = try ArchiveStore(at: folder.path("store"))
        rows = try URLKeys.all()
    }

    /// A separate digest for each number.
    private static func digest(_ number: Int) -> String {
        "sha256:\(String(repeating: "0", count: 61))\(String(number + 256, radix: 16))"
    }

    /// Each URL with a separate body, and a revisit of each from another URL.
    private func archive(by writer: String) throws -> Archive {
        var records: [Record] = []
        for (number, row) in rows.enumerated() {
            let digest = Self.digest(number)
            records.append(
                Record(row.url, "body \(number)", timestamp: "20240101000000").with {
                    $0.key = row.keys[writer]
                    $0.index += ",\"digest\":\"\(digest)\""
                })
            records.append(
                Record("http://revisits.example/\(number)", "", timestamp: "20240301000000").with {
                    $0.type = "revisit"
                    $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"\(digest)\""
                    $0.fields = [
                        "WARC-Refers-To-Target-URI: \(row.url)", "WARC-Refers-To-Date: 2024-01-01T00:00:00Z",
                        "WARC-Payload-Digest: \(digest)",
                        "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                    ]
                })
        }
        return try store.importFile(at: try folder.write(RecordedArchive(records).bytes(), to: "\(writer).wacz"))
            .archive
    }

    /// The body of the capture, or why there is none.
    private func text(_ url: String, in archive: Archive) -> String? {
        let request = ArchiveStore.CaptureRequest(url: url, time: nil)
        do {
            let capture = try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false)
            return try capture.map { String(decoding: try $0.body.open(decoded: true).read(upTo: 1000), as: UTF8.self) }
        } catch {
            return "\(error)"
        }
    }

    @Test func allWritersAreTested() {
        #expect(rows.count >= 60)
    }

    @Test(arguments: URLKeys.writers)
    func everyKeyIsACandidate(_ writer: String) {
        for row in rows {
            let candidates = SURT.candidates(for: row.url)
            #expect(candidates.contains(row.keys[writer] ?? ""), "\(row.url): \(candidates)")
        }
    }

    @Test(arguments: URLKeys.writers)
    func capturesAndRevisitsAreFoundByURL(_ writer: String) throws {
        let archive = try archive(by: writer)
        #expect(archive.lookups?.strategy == .inPlace)
        for (number, row) in rows.enumerated() {
            #expect(text(row.url, in: archive) == "body \(number)", "\(row.url)")
            #expect(text("http://revisits.example/\(number)", in: archive) == "body \(number)", "\(row.url)")
        }
    }

    @Test(arguments: URLKeys.writers)
    func capturesAreListedByExactQuery(_ writer: String) throws {
        let archive = try archive(by: writer)
        for row in rows {
            let run = CDXQueryRun(
                try CDXQuery(parameters: [
                    ("url", row.url), ("fields", "url"), ("output", "json"), ("matchType", "exact"),
                ]),
                sources: [store.openArchives.querySource(archive, isOneOfSeveral: false)], namesSources: false,
                temporaryFolder: folder.path)
            var urls: [String?] = []
            while let line = try run.next() {
                urls.append(try JSONDecoder().decode([String: String].self, from: Data(line))["url"])
            }
            #expect(urls.contains(row.url), "\(row.url)")
        }
    }

    /// ArchiveWeb.page writes revisits of any method; what they repeat is a `GET`. Source: `src/sw/downloader.ts`.
    @Test func postRevisitCanReferToGet() throws {
        func revisit(_ url: String, _ digest: String) -> Record {
            Record(url, "", timestamp: "20240301000000").with {
                $0.type = "revisit"
                $0.key = "example,a)/post?__wb_method=post&q=1"
                $0.index =
                    "\"mime\":\"warc/revisit\",\"digest\":\"\(digest)\",\"method\":\"POST\",\"requestBody\":\"q=1\""
                $0.fields = [
                    "WARC-Refers-To-Target-URI: http://a.example/get?q=a%20b",
                    "WARC-Refers-To-Date: 2024-01-01T00:00:00Z",
                    "WARC-Payload-Digest: \(digest)",
                ]
            }
        }
        let get = Record("http://a.example/get?q=a%20b", "payload", timestamp: "20240101000000").with {
            $0.key = "example,a)/get?q=a+b"
            $0.index += ",\"digest\":\"\(Self.digest(1))\""
        }
        func add(_ records: [Record], as name: String) throws -> Archive {
            try store.importFile(at: try folder.write(RecordedArchive(records).bytes(), to: name)).archive
        }
        let url = "http://a.example/post?__wb_method=POST&q=1"
        let same = try add([get, revisit("http://a.example/post", Self.digest(1))], as: "same.wacz")
        #expect(text(url, in: same) == "payload")
        // Without a matching digest, a capture of another method isn't used.
        let unknown = try add(
            [
                get.with { $0.index = "\"mime\":\"text/html\",\"status\":\"200\"" },
                revisit("http://a.example/post", Self.digest(2)),
            ], as: "unknown.wacz")
        #expect(text(url, in: unknown)?.contains("is stored with another capture") == true)
    }
}
