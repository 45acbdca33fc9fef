import Testing

@testable import WebArchive

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private func reopened(_ wacz: WACZFile, _ folder: String) throws -> WACZFile {
    let index = try ZipNumIndex(
        idx: FileByteSource(path: "\(folder)/sorted.idx"), blocks: FileByteSource(path: "\(folder)/sorted.cdx.gz"))
    try index.checkBlocks()
    return try wacz.using(indexes: [.zipNum(index)])
}

private func lines(_ folder: String) throws -> [String] {
    let stream = GzipStream(
        SourceStream(try FileByteSource(path: "\(folder)/sorted.cdx.gz")), Allowance(archiveSize: 0))
    return String(decoding: try stream.readAll(limit: 1 << 30), as: UTF8.self).split(separator: "\n").map(String.init)
}

struct ZipNumWriterTests {
    @Test(arguments: [200, 20_000, Limits.standard.sortedBytesMax])
    func sortsAnyOrderInLittleMemory(_ sortedBytesMax: Int) throws {
        var limits = Limits.standard
        limits.sortedBytesMax = sortedBytesMax
        var generator = SeededGenerator(state: 11)
        let sorted = (0..<1500).map {
            IndexBuilder.line(
                "org,a)/\($0 / 2 + 1000)", "20230101000000", url: "http://a.org/\($0 / 2 + 1000)", offset: $0)
        }
        let wacz = try IndexBuilder.open(
            [.init("indexes/index.cdx", sorted.shuffled(using: &generator).joined(separator: "\n"))], limits: limits)
        try withFolder { folder in
            #expect(try ZipNumWriter.write(from: wacz, to: folder, stem: "sorted") == 1500)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["sorted.cdx.gz", "sorted.idx"])
            #expect(try Set(lines(folder)) == Set(sorted))
            let keys = try lines(folder).map { $0.prefix { $0 != "{" } }
            #expect(keys == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
            let searched = try reopened(wacz, folder)
            for number in [1000, 1001, 1400, 1749] {
                let url = "http://a.org/\(number)"
                #expect(try Set(searched.captures(ofURL: url)) == Set(wacz.captures(ofURL: url)))
                #expect(try searched.captures(ofURL: url).count == 2)
            }
        }
    }

    @Test func linesWithEqualKeysKeepTheirOrder() throws {
        var limits = Limits.standard
        limits.sortedBytesMax = 500
        let same = (0..<400).map { IndexBuilder.line("org,a)/", "20230101000000", url: "http://a.org/", offset: $0) }
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", same.joined(separator: "\n"))], limits: limits)
        try withFolder { folder in
            _ = try ZipNumWriter.write(from: wacz, to: folder, stem: "sorted")
            #expect(try lines(folder) == same)
        }
    }

    @Test func replacesOnlyKeysThatAreNotSURTs() throws {
        let odd = #"{"url": "http://plain.example/X?b&a",  "filename":"a",  "offset": "1" , "x":{"y":[1]}}"#
        let posted = #"{"url":"http://plain.example/p","filename":"a","offset":1,"method":"POST","requestBody":"q=1"}"#
        let kept = #"{"url":"http://www.k.example/","filename":"a","offset":1}"#
        let urn = #"{"url":"urn:x:y","filename":"a","offset":1}"#
        let text = """
            urn:x:y 2023 \(urn)
            http://plain.example/p?__wb_method=POST&q=1 20230102 \(posted)
            http://plain.example/X?b&a 20230101 \(odd)
            example,k,www)/ 20230101 \(kept)
            """
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", text)])
        try withFolder { folder in
            #expect(try ZipNumWriter.write(from: wacz, to: folder, stem: "sorted") == 4)
            #expect(
                try lines(folder) == [
                    "example,k,www)/ 20230101 \(kept)", "example,plain)/p?__wb_method=post&q=1 20230102 \(posted)",
                    "example,plain)/x?a&b 20230101 \(odd)", "urn:x:y 2023 \(urn)",
                ])
            let searched = try reopened(wacz, folder)
            for url in ["http://plain.example/X?b&a", "http://plain.example/p", "urn:x:y", "http://www.k.example/"] {
                #expect(try searched.captures(ofURL: url).map(\.url) == [url])
                #expect(try wacz.captures(ofURL: url).map(\.url) == [url])
            }
        }
    }

    @Test func indexesRecordsOfAnArchiveWithoutIndex() throws {
        let wacz = try IndexBuilder.open([])
        try withFolder { folder in
            #expect(try ZipNumWriter.write(from: wacz, to: folder, stem: "sorted") == 2)
            let searched = try reopened(wacz, folder)
            let found = try searched.captures(ofURL: "http://example.org/two")
            #expect(try found == wacz.captures(ofURL: "http://example.org/two"))
            #expect(found.count == 1)
            #expect(try searched.record(of: #require(found.first)).targetURI == "http://example.org/two")
        }
    }

    @Test func cancelledSortingLeavesNoFiles() throws {
        var limits = Limits.standard
        limits.sortedBytesMax = 20_000
        let lines = (0..<3000).map { IndexBuilder.line("org,a)/\($0)", "2023", url: "http://a.org/\($0)", offset: $0) }
        let text = lines.reversed().joined(separator: "\n")
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", text)], limits: limits)
        try withFolder { folder in
            var calls: [UInt64] = []
            let found = code {
                _ = try ZipNumWriter.write(from: wacz, to: folder, stem: "sorted") { done in
                    calls.append(done)
                    if calls.count == 2 { throw WebArchiveError(code: .cancelled, problem: "stop", file: "") }
                }
            }
            #expect(found == .cancelled)
            #expect(calls.count == 2)
            #expect(calls[0] <= calls[1] && calls[1] <= UInt64(text.utf8.count))
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(left.isEmpty)
        }
    }

    @Test func idxUsesTheGivenNameOfTheBlocks() throws {
        let wacz = try IndexBuilder.open([])
        try withFolder { folder in
            _ = try ZipNumWriter.write(from: wacz, to: folder, stem: "sorted", blocksName: "x.cdx.gz")
            let idx = try String(contentsOfFile: "\(folder)/sorted.idx", encoding: .utf8)
            #expect(idx.hasPrefix("!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"x.cdx.gz\"}\n"))
        }
    }

    @Test func missingFolderIsAnError() throws {
        let wacz = try IndexBuilder.open([])
        let found = code { _ = try ZipNumWriter.write(from: wacz, to: "/nonexistent/folder", stem: "x") }
        #expect(found == .io)
    }
}

@Suite(.enabled(if: fixtures != nil, "REPLAYHOST_FIXTURES is not set"))
struct ZipNumWriterFixtureTests {
    @Test(arguments: ["small-deflate", "small-gz", "small-plain"])
    func lookupsInASortedCopyAreTheSame(_ name: String) throws {
        let wacz = try WACZFile.open(path: "\(fixtures ?? "")/ours/\(name).wacz")
        try withFolder { folder in
            #expect(try ZipNumWriter.write(from: wacz, to: folder, stem: "sorted") == 167)
            let searched = try reopened(wacz, folder)
            #expect(try searched.indexAccess() == .search)
            var number = 0
            try wacz.forEachIndexEntry { entry, _ in
                number += 1
                guard number.isMultiple(of: 8) else { return true }
                let (found, expected) = (try searched.captures(ofURL: entry.url), try wacz.captures(ofURL: entry.url))
                #expect(found == expected)
                return true
            }
        }
    }
}
