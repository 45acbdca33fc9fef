import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ShareKit

/// The rules of the published guide and of docs/clients.md.
struct ShareSenderTests {
    private let temporary: TemporaryFolder
    private let queue: ShareQueue
    private let clock = Clock()

    init() throws {
        temporary = try TemporaryFolder()
        queue = ShareQueue(folder: try ShareFolder(path: temporary.path))
    }

    /// A time that only the test changes.
    private final class Clock: Sendable {
        private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

        var now: Date { time.withLock { $0 } }

        func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
    }

    private func send(
        _ server: FakeServer, _ settings: ShareSettings = ShareSettings()
    ) async throws -> ShareSender.Result {
        let profile = ServerProfile(name: "test", lan: "127.0.0.1:1", scheme: .http)
        let now = clock.now
        return try await ShareSender(
            queue: queue, client: ShareClient(profile: profile, key: "k", transport: server), settings: settings,
            now: { now }, pause: { _ in }
        ).send()
    }

    @Test func confirmedSharesAreInQueueAndHistoryAndLeaveTheQueueAfterADay() async throws {
        let share = try Share("https://example.org/a")
        try await queue.add([share])
        let server = FakeServer([FakeServer.accepted])
        #expect(try await send(server) == .empty)
        #expect(try await queue.all().map(\.status) == [.confirmed])
        #expect(try await queue.all().map(\.serverDownloadId) == ["d1"])
        #expect(try await queue.entries().entries.map(\.status) == [.confirmed])
        #expect(await server.posts[0].fields["Idempotency-Key"] == share.id.uuidString.lowercased())
        clock.advance(86_399)
        _ = try await send(server)
        #expect(try await queue.all().count == 1)
        clock.advance(1)
        _ = try await send(server)
        #expect(try await queue.all().isEmpty)
        #expect(try await queue.entries().entries.map(\.status) == [.confirmed])
        #expect(await server.posts.count == 1)
    }

    /// 30 s, 2 min, then every 5 min; after 10 attempts it has failed, until a person retries it.
    @Test func attemptsWaitLongerAndEnd() async throws {
        let share = try Share("https://example.org/a")
        try await queue.add([share])
        let server = FakeServer([FakeServer.unreachable])
        for (number, wait) in [30.0, 120, 300, 300, 300, 300, 300, 300, 300].enumerated() {
            let due = clock.now + wait
            #expect(try await send(server) == .waiting(.unreachable, next: due))
            #expect(try await queue.all().map(\.attemptCount) == [number + 1])
            clock.advance(wait - 1)
            _ = try await send(server)
            #expect(await server.posts.count == number + 1)
            clock.advance(1)
        }
        #expect(try await send(server) == .empty)
        #expect(try await queue.all().map(\.status) == [.failed])
        #expect(try await queue.entries().entries.map(\.status) == [.failed])
        let keys = Set(await server.posts.map { $0.fields["Idempotency-Key"] })
        #expect(await server.posts.count == 10 && keys.count == 1)
        #expect(try await queue.retry(share.id) == 1)
        #expect(try await send(FakeServer([FakeServer.accepted])) == .empty)
        #expect(try await queue.all().map(\.status) == [.confirmed])
    }

    @Test func orderIsKeptWhileTheServerDoesNotRespond() async throws {
        let urls = ["https://example.org/a", "https://example.org/b"]
        try await queue.add(try urls.map { try Share($0) })
        let stopped = FakeServer([FakeServer.unreachable])
        _ = try await send(stopped)
        #expect(await stopped.urls == ["https://example.org/a"])
        // It responds again before the wait is over.
        let running = FakeServer([FakeServer.accepted], isHealthy: true)
        #expect(try await send(running) == .empty)
        #expect(await running.urls == urls)
    }

    @Test func aProblemOfTheServerWithOneShareDoesNotHoldBackOthers() async throws {
        try await queue.add([try Share("https://example.org/a"), try Share("https://example.org/b")])
        let server = FakeServer([FakeServer.error(503, retryAfter: "77"), FakeServer.accepted])
        let due = clock.now + 77
        #expect(try await send(server) == .waiting(.failed, next: due))
        #expect(try await queue.all().map(\.status) == [.pending, .confirmed])
    }

    @Test func tooManySharesWaitWithoutAnAttempt() async throws {
        try await queue.add([try Share("https://example.org/a")])
        let server = FakeServer([FakeServer.error(429, retryAfter: "1800")])
        let due = clock.now + 1800
        #expect(try await send(server) == .waiting(.rateLimited, next: due))
        #expect(try await queue.all().map(\.attemptCount) == [0])
    }

    @Test(arguments: [400, 409, 413, 415, 422])
    func refusedSharesLeaveTheQueueAndStayInTheHistory(status: Int) async throws {
        try await queue.add([try Share("https://example.org/a"), try Share("https://example.org/b")])
        let server = FakeServer([FakeServer.error(status), FakeServer.accepted])
        #expect(try await send(server) == .empty)
        #expect(try await queue.all().map(\.url) == ["https://example.org/b"])
        let entries = try await queue.entries().entries
        #expect(entries.map(\.status) == [.confirmed, .failed])
        #expect(entries.map(\.message) == [nil, "words"])
    }

    @Test(arguments: [
        (FakeServer.error(401), Share.Reason.key), (FakeServer.error(403), .forbidden),
        (FakeServer.error(421), .forbidden),
        (.failure(ShareError(.untrusted)), .untrusted),
    ])
    func nothingIsSentUntilAPersonActs(answer: FakeServer.Answer, reason: Share.Reason) async throws {
        try await queue.add([try Share("https://example.org/a"), try Share("https://example.org/b")])
        let server = FakeServer([answer], isHealthy: true)
        #expect(try await send(server) == .stopped(reason))
        clock.advance(86_400)
        #expect(try await send(server) == .stopped(reason))
        #expect(await server.posts.count == 1)
        #expect(try await queue.all().map(\.attemptCount) == [0, 0])
        try await queue.retry()
        #expect(try await send(FakeServer([FakeServer.accepted])) == .empty)
    }

    @Test(arguments: [
        FakeServer.answer(200, "<html>"), FakeServer.answer(201, "{}"), FakeServer.answer(500, "<html>"),
        FakeServer.answer(204, ""), FakeServer.answer(201, #"{"success":true,"downl"#), FakeServer.answer(302, ""),
        .failure(ShareError(.foreign)),
    ])
    func answersOfOtherProgramsConfirmNothing(answer: FakeServer.Answer) async throws {
        try await queue.add([try Share("https://example.org/a")])
        let due = clock.now + 30
        #expect(try await send(FakeServer([answer])) == .waiting(.foreign, next: due))
        #expect(try await queue.all().map(\.status) == [.pending])
    }

    @Test func aClockThatWasSetBackDoesNotDelayShares() async throws {
        try await queue.add([try Share("https://example.org/a")])
        clock.advance(864_000)
        _ = try await send(FakeServer([FakeServer.error(503)]))
        clock.advance(-864_000)
        #expect(try await send(FakeServer([FakeServer.accepted])) == .empty)
    }

    /// Its process ended after the request: the same `Idempotency-Key` is sent again.
    @Test func aShareThatWasBeingSentIsPendingAgain() async throws {
        let share = try Share("https://example.org/a")
        try await queue.add([share])
        try await queue.change(share.id) { $0.status = .uploading }
        let server = FakeServer([FakeServer.accepted])
        #expect(try await send(server) == .empty)
        #expect(await server.posts.map { $0.fields["Idempotency-Key"] } == [share.id.uuidString.lowercased()])
    }

    @Test func requestsNameTheDownloadAndHaveTheKey() async throws {
        let server = FakeServer([FakeServer.answer(200, "{}"), FakeServer.answer(200, "{}"), FakeServer.error(404)])
        let profile = ServerProfile(name: "test", lan: "127.0.0.1:1", scheme: .http)
        let client = ShareClient(profile: profile, key: "k", transport: server)
        try await client.cancel("1-a/../b")
        try await client.retry("1-a")
        let error = await #expect(throws: ShareError.self) { try await client.retry("unknown") }
        #expect(error?.code == .notFound)
        let posts = await server.posts
        #expect(posts.map(\.path).prefix(2) == ["/download/1-a%2F%2E%2E%2Fb/cancel", "/download/1-a/retry"])
        #expect(posts.allSatisfy { $0.fields["Authorization"] == "Bearer k" })
    }

    @Test func withoutAServerSharesAreKept() async throws {
        try await queue.add([try Share("https://example.org/a")])
        let sender = ShareSender(queue: queue, client: nil, settings: ShareSettings())
        #expect(try await sender.send() == .stopped(.notConfigured))
        #expect(try await queue.all().map(\.status) == [.pending])
    }

    @Test(arguments: [
        (nil, 60), ("7", 7), ("-1", 60), ("soon", 60), ("999999999", 86_400), ("Fri, 15 Jan 2027 08:00:30 GMT", 30),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0),
    ])
    func retryAfterIsReadAsInRFC9110(field: String?, seconds: Int) {
        #expect(ShareClient.seconds(retryAfter: field, now: Date(timeIntervalSince1970: 1_800_000_000)) == seconds)
    }
}
