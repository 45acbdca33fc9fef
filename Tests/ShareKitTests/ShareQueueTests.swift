import Foundation
import TestSupport
import Testing

@testable import ShareKit

struct ShareQueueTests {
    private let temporary: TemporaryFolder
    private let folder: ShareFolder

    init() throws {
        temporary = try TemporaryFolder()
        folder = try ShareFolder(path: temporary.path)
    }

    private func shares(_ count: Int) throws -> [Share] {
        try (0..<count).map { try Share("https://example.org/\($0)") }
    }

    /// What is whole is used, and the damaged file is set aside by the next change.
    @Test(arguments: ["queue.jsonl", "history.jsonl"])
    func filesThatAreCutAtAnyByteKeepTheirWholeLines(name: String) async throws {
        let shares = try shares(3)
        try await ShareQueue(folder: folder).add(shares)
        let whole = try #require(try folder.read(name))
        let another = try Share("https://example.org/another")
        for length in 0..<whole.count {
            let cut = whole.prefix(length)
            try cut.write(to: URL(fileURLWithPath: folder.place(of: name)))
            let queue = ShareQueue(folder: folder)
            // The first line has the number of records. A line without its end is whole if its last bracket is there.
            let kept = cut.split(separator: 0x0A).dropFirst().count { $0.last == UInt8(ascii: "}") }
            let isQueue = name == "queue.jsonl"
            let ids = try await isQueue ? queue.all().map(\.id) : queue.entries().entries.map(\.id).reversed()
            #expect(ids == shares.prefix(kept).map(\.id), "cut at \(length)")
            // Changes are flushed, which takes time.
            guard [0, 5, whole.count - 1].contains(length) || cut.last == 0x0A else { continue }
            try await queue.add([another])
            let damage = try #require(await queue.damages.first, "cut at \(length)")
            #expect(try folder.read(damage.keptAs) == cut && damage.recovered == kept)
            _ = try await queue.delete { $0.id == another.id }
        }
    }

    @Test func twoQueuesOnOneFolderSeeEachOther() async throws {
        let queues = [ShareQueue(folder: folder), ShareQueue(folder: folder)]
        let shares = try shares(40)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, share) in shares.enumerated() { group.addTask { try await queues[place % 2].add([share]) } }
            try await group.waitForAll()
        }
        for queue in queues {
            #expect(Set(try await queue.all().map(\.id)) == Set(shares.map(\.id)))
            #expect(try await queue.entries().entries.count == shares.count)
        }
        try await queues[0].change(shares[7].id) { $0.status = .failed }
        #expect(try await queues[1].all().filter { $0.status == .failed }.map(\.id) == [shares[7].id])
    }

    @Test func deletedEntriesAreNotSent() async throws {
        let queue = ShareQueue(folder: folder)
        let shares = try shares(3)
        try await queue.add(shares)
        #expect(try await queue.delete { $0.url.hasSuffix("/1") } == 1)
        #expect(try await queue.all().map(\.id) == [shares[0].id, shares[2].id])
        #expect(try await queue.entries().entries.map(\.id) == [shares[2].id, shares[0].id])
    }

    @Test func historyIsSearchedByWordsDomainsAndDays() async throws {
        let queue = ShareQueue(folder: folder)
        let urls = ["https://www.tiktok.com/@a/video/1", "https://eviltiktok.com/b", "https://example.org/?q=tiktok"]
        try await queue.add(try urls.map { try Share($0) })
        let history = try await queue.entries()
        #expect(history.at(domain: "tiktok.com").entries.map(\.url) == [urls[0]])
        #expect(history.matching("TIKTOK example").entries.map(\.url) == [urls[2]])
        #expect(history.with(status: .confirmed).entries.isEmpty)
        #expect(history.days().map(\.entries.count) == [3])
    }

    @Test func historyHasPagesOf20() async throws {
        let queue = ShareQueue(folder: folder)
        try await queue.add(try shares(45))
        let history = try await queue.entries()
        #expect((0...3).map { history.page($0).count } == [20, 20, 5, 0])
        #expect(history.page(0).first?.url == "https://example.org/44")
    }

    @Test(arguments: ["=1", "＝1", "＋1", "－1", "＠a", "\n=1", "=\u{301}1", "-1"])
    func fieldThatASpreadsheetWouldComputeIsExportedAsText(_ message: String) async throws {
        let queue = ShareQueue(folder: folder)
        let share = try Share("https://example.org/a")
        try await queue.add([share])
        try await queue.refuse(share, message)
        #expect(String(decoding: try await queue.entries().csv, as: UTF8.self).contains("'\(message)"))
    }

    /// RFC 4180; and no field begins as a formula of a spreadsheet.
    @Test func historyIsExported() async throws {
        let queue = ShareQueue(folder: folder)
        let share = try Share("https://example.org/a,b")
        try await queue.add([share])
        try await queue.refuse(share, "=1+\"2\"")
        let history = try await queue.entries()
        let lines = String(decoding: history.csv, as: UTF8.self).components(separatedBy: "\r\n")
        #expect(lines[0] == "id,url,sharedAt,status,serverDownloadId,sourceApp,message")
        #expect(lines[1].contains(#","https://example.org/a,b","#) && lines[1].hasSuffix(#",failed,,test,"'=1+""2""""#))
        let entries = try JSONSerialization.jsonObject(with: history.json) as? [[String: Any]]
        #expect(entries?.first?["url"] as? String == "https://example.org/a,b")
    }
}
