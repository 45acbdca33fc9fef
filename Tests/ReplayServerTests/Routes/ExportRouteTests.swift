import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import ReplayServer

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Exports with `/api`, and their downloads.
struct ExportRouteTests {
    /// Makes a repaired copy of the sample. Returns the path of its download.
    private func prepared(_ server: LiveServer) async throws -> String {
        _ = try server.store.importFile(at: Checkout.fixture("sample.wacz"))
        let answer = try await server.ask("POST", "/api/archives/sample/exports", json: #"{"kind":"repaired"}"#)
        #expect(answer.status == 201)
        return try #require(try answer.object()["url"] as? String)
    }

    @Test func cutDownloadDoesNotEndAsIfItWereComplete() async throws {
        try await withServer { server in
            let url = try await prepared(server)
            let whole = try await server.ask("GET", url)
            let token = try #require(url.split(separator: "/").last.map(String.init))
            let export = try #require(server.server.site.exports.export(token))
            #expect(whole.body.count == Int(export.size))
            #expect(ftruncate(export.file.number, off_t(export.size / 2)) == 0)
            await #expect(throws: HTTPConnectionError.self) { try await server.ask("GET", url) }
        }
    }

    /// Three captures of a page with other titles, of which the middle one is meant, in whatever saves or names one.
    @Test func theCaptureThatIsMeantIsSavedAndNamed() async throws {
        let times = ["20200101000000", "20210101000000", "20220101000000"]
        let records = times.map {
            RecordedArchive.Record("http://a.example/x", "<title>In \($0)</title><p>text \($0)", timestamp: $0)
        }
        try await withServer { server in
            try Data(RecordedArchive(records).bytes()).write(
                to: URL(fileURLWithPath: "\(server.store.layout.root)/a.wacz"))
            _ = try server.store.importFile(at: "\(server.store.layout.root)/a.wacz")
            for time in times {
                let order = #"{"kind":"page","url":"http://a.example/x","timestamp":"\#(time)"}"#
                let answer = try await server.ask("POST", "/api/archives/a/exports", json: order).object()
                #expect(answer["name"] as? String == "In \(time).wacz")
                let page = try #require((answer["result"] as? [String: Any])?["page"] as? [String: Any])
                #expect(page["timestamp"] as? String == time && page["url"] as? String == "http://a.example/x")
                for form in ["id_", "dl_", "ir_"] {
                    let body = try await server.ask("GET", "/c/a/\(time)\(form)/http://a.example/x").body
                    #expect(String(decoding: body, as: UTF8.self).contains("text \(time)"), "\(form)")
                }
                let target = "/api/archives/a/records?url=http://a.example/x&ts=\(time)&title=true"
                let listed = try await server.ask("GET", target).object()["records"] as? [[String: Any]]
                #expect(listed?.map { $0["title"] as? String } == ["In \(time)"])
            }
            let order = #"{"kind":"page","url":"http://a.example/x","timestamp":"yesterday"}"#
            #expect(try await server.ask("POST", "/api/archives/a/exports", json: order).status == 400)
        }
    }

    @Test func unusedExportsAreDeleted() async throws {
        try await withServer { server in
            let url = try await prepared(server)
            let exports = server.server.site.exports
            exports.delete(unusedSince: .now - .seconds(3600))
            #expect(try await server.ask("GET", url).status == 200)
            exports.delete(unusedSince: .now)
            #expect(try await server.ask("GET", url).status == 404)
            #expect(names(in: server.store.layout.incoming).allSatisfy { !$0.hasPrefix("copy-") })
        }
    }

    @Test func requestsBesideARemovalAreNeverServerErrors() async throws {
        let paths = [
            "/api/archives/sample", "/api/archives/sample/pages?limit=5", "/api/archives/sample/urls?limit=5",
            "/c/sample/2030id_/https://fieldguide.example/", "/cdx?url=fieldguide.example/*&limit=5",
            "/archives/sample.wacz",
        ]
        try await withServer { server in
            for _ in 0..<5 {
                _ = try server.store.importFile(at: Checkout.fixture("sample.wacz"))
                let answers = try await withThrowingTaskGroup(of: (String, HTTPAnswer).self) { group in
                    for path in paths + paths { group.addTask { (path, try await server.ask("GET", path)) } }
                    group.addTask {
                        try await onThread { try server.store.remove(#require(ArchiveID("sample"))) }
                        return ("", try await server.ask("GET", "/api/health"))
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                for (path, answer) in answers {
                    #expect(answer.status < 500, "\(path)")
                    #expect(!String(decoding: answer.body, as: UTF8.self).contains("doctor"), "\(path)")
                }
            }
        }
    }

    /// The moment at which the file is gone and the catalog still has the archive.
    @Test func requestWaitsForTheEndOfARemoval() async throws {
        try await withServer { server in
            let archive = try server.store.importFile(at: Checkout.fixture("sample.wacz")).archive
            let layout = server.store.layout
            try Folder.move(layout.file(archive.key), to: layout.removed(archive.key))
            let answer = try await withThrowingTaskGroup(of: HTTPAnswer?.self) { group in
                group.addTask { try await server.ask("GET", "/archives/sample.wacz") }
                group.addTask {
                    try await onThread { _ = try server.store.repair() }
                    return nil
                }
                return try await group.compactMap { $0 }.reduce(into: []) { $0.append($1) }.first
            }
            #expect(answer?.status == 404)
        }
    }
}
