import ArchiveStore
import CaptureAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CaptureServer
@testable import CaptureWorker

/// A queue in a folder of its own.
struct TestQueue {
    let folder: TemporaryFolder
    let queue: DownloadQueue
    let now: Date

    init(
        retryDelays: [Duration] = QueueRules().retryDelays, downloadsPerHour: Int = QueueRules().downloadsPerHour
    ) throws {
        folder = try TemporaryFolder()
        var changed = QueueRules()
        (changed.retryDelays, changed.downloadsPerHour) = (retryDelays, downloadsPerHour)
        let rules = changed
        queue = DownloadQueue(
            database: try CaptureDatabase(layout: StoreLayout(root: folder.path("store"))), rules: rules)
        now = try #require(QueueTime.date("2026-11-24T10:00:00Z"))
    }

    func request(
        _ url: String, user: String = "john", options: DownloadOptions = DownloadOptions()
    ) throws -> DownloadRequest {
        DownloadRequest(
            url: try #require(WebURL(url)), username: try #require(Username(user)), options: options)
    }

    @discardableResult
    func add(_ url: String, options: DownloadOptions = DownloadOptions()) async throws -> String {
        guard case .added(let row, _) = try await queue.accept(try request(url, options: options), key: nil, now: now)
        else {
            throw StoreError(.failed, "not added")
        }
        return row.downloadID
    }

    func claim(after seconds: Double = 0) async throws -> DownloadRow? {
        try await queue.claim(now: now.addingTimeInterval(seconds)) { _ in nil }
    }

    func row(_ id: String) async throws -> DownloadRow { try #require(try await queue.row(id)) }
}

struct QueueTests {
    private let test: TestQueue

    init() throws { test = try TestQueue() }

    private var queue: DownloadQueue { test.queue }

    @Test func acceptedURLsAreOnTheDisk() async throws {
        let id = try await test.add("https://www.tiktok.com/@a/video/1")
        // Another connection, as of a process after a crash.
        let other = try DatabaseQueue(path: StoreLayout(root: test.folder.path("store")).captureDatabase)
        let columns = "download_id || ' ' || status || ' ' || genre || ' ' || username"
        let rows = try await other.read { try String.fetchAll($0, sql: "SELECT \(columns) FROM downloads") }
        #expect(rows == ["\(id) pending tiktok john"])
        let users = try await other.read { try String.fetchAll($0, sql: "SELECT username FROM users") }
        #expect(users == ["john"])
        #expect(try await queue.database.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
    }

    @Test func sameRequestIsOneDownloadUntilItHasEnded() async throws {
        let url = "https://example.org/film"
        let id = try await test.add(url)
        #expect(
            try await queue.accept(try test.request(url), key: nil, now: test.now) == .known(try await test.row(id)))
        let others = [
            try test.request(url, user: "ana"), try test.request(url, options: DownloadOptions(height: 720)),
            try test.request(url + "?x"),
        ]
        for other in others {
            guard case .added = try await queue.accept(other, key: nil, now: test.now) else {
                Issue.record("not added")
                return
            }
        }
        _ = try await queue.cancel(id)
        guard case .added(let again, _) = try await queue.accept(try test.request(url), key: nil, now: test.now) else {
            Issue.record("not added")
            return
        }
        #expect(again.downloadID != id)
    }

    @Test func keyGivesTheSameDownload() async throws {
        let url = "https://example.org/film"
        guard case .added(let row, _) = try await queue.accept(try test.request(url), key: "k", now: test.now) else {
            Issue.record("not added")
            return
        }
        _ = try await queue.cancel(row.downloadID)
        guard case .known(let known) = try await queue.accept(try test.request(url), key: "k", now: test.now) else {
            Issue.record("added twice")
            return
        }
        #expect(known.downloadID == row.downloadID)
        #expect(try await queue.accept(try test.request(url + "2"), key: "k", now: test.now) == .conflict)
        #expect(try await queue.accept(try test.request(url, user: "ana"), key: "k", now: test.now) == .conflict)
        // Also when it came while the same request was queued, and when the download was removed.
        let other = try test.request("https://example.org/other")
        guard case .added(let first, _) = try await queue.accept(other, key: nil, now: test.now),
            case .known(let same) = try await queue.accept(other, key: "k2", now: test.now)
        else {
            Issue.record("not known")
            return
        }
        _ = try await queue.cancel(first.downloadID)
        #expect(try await queue.accept(other, key: "k2", now: test.now) == .known(try await test.row(same.downloadID)))
        _ = try await queue.delete(first.downloadID)
        #expect(try await queue.accept(other, key: "k2", now: test.now) == .removed)
    }

    @Test func manyRequestsAtOnceAreOneDownloadEach() async throws {
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<90 {
                group.addTask {
                    switch try await queue.accept(
                        try test.request("https://example.org/\(number / 3)"), key: nil, now: test.now)
                    {
                    case .added(let row, _), .known(let row): row.downloadID
                    default: "refused"
                    }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 30)
    }

    @Test func hundredDownloadsInAnHourAreTheLimit() async throws {
        for number in 0..<100 { try await test.add("https://example.org/\(number)") }
        let more = try test.request("https://example.org/100")
        #expect(try await queue.accept(more, key: nil, now: test.now) == .tooMany(retryAfterSeconds: 3600))
        let later = test.now.addingTimeInterval(1800)
        #expect(try await queue.accept(more, key: nil, now: later) == .tooMany(retryAfterSeconds: 1800))
        guard case .known = try await queue.accept(try test.request("https://example.org/5"), key: nil, now: later)
        else {
            Issue.record("a known request was refused")
            return
        }
        guard case .added = try await queue.accept(more, key: nil, now: test.now.addingTimeInterval(3601)) else {
            Issue.record("refused after an hour")
            return
        }
    }

    @Test func downloadsAreClaimedInOrder() async throws {
        let (first, second) = (try await test.add("https://example.org/1"), try await test.add("https://example.org/2"))
        let row = try #require(try await test.claim())
        #expect(row.downloadID == first)
        #expect(row.state == "started" && row.attempt == 1 && row.startedAt == "2026-11-24T10:00:00Z")
        #expect(try await test.claim()?.downloadID == second)
        #expect(try await test.claim() == nil)
    }

    @Test func downloadsWithoutTheirToolWaitAndOthersGoOn() async throws {
        let (film, guide) = (
            try await test.add("https://example.org/film"), try await test.add("https://example.org/a.pdf")
        )
        let claimed = try await queue.claim(now: test.now) { $0.url.hasSuffix(".pdf") ? nil : .tool }
        #expect(claimed?.downloadID == guide)
        #expect(try await test.row(film).download.waitingFor == .tool)
        let later = try #require(try await test.claim())
        #expect(later.downloadID == film)
        #expect(later.waitingFor == nil)
    }

    /// After 30 s, 2 min and 5 min: CAPTURE.md, "retries".
    @Test func transientFailuresAreTriedThreeTimesMore() async throws {
        let id = try await test.add("https://example.org/film")
        let failure = ToolFailure(.network, "timed out")
        var time = 0.0
        for (number, delay) in [30.0, 120, 300].enumerated() {
            #expect(try await test.claim(after: time)?.attempt == number + 1)
            #expect(try await queue.fail(id, failure, now: test.now.addingTimeInterval(time)) == .again)
            let row = try await test.row(id)
            #expect(row.state == "queued" && row.waitingFor == "retry" && row.errorMessage == "timed out")
            #expect(row.notBefore == QueueTime.text(test.now.addingTimeInterval(time + delay)))
            #expect(try await test.claim(after: time + delay - 1) == nil)
            time += delay
        }
        #expect(try await test.claim(after: time)?.attempt == 4)
        #expect(try await queue.fail(id, failure) == .ended(.failed))
        #expect(try await test.row(id).errorCode == "network")
        let attempts = try await queue.database.read {
            try Int.fetchOne(
                $0, sql: "SELECT count(*) FROM attempts WHERE error_code = 'network' AND ended_at IS NOT NULL")
        }
        #expect(attempts == 4)
    }

    @Test(arguments: ToolFailure.Code.allCases.filter { !$0.isTransient && $0 != .quality })
    func permanentFailuresAreNotTriedAgain(_ code: ToolFailure.Code) async throws {
        let id = try await test.add("https://example.org/film")
        _ = try await test.claim()
        #expect(try await queue.fail(id, ToolFailure(code, "no")) == .ended(.failed))
        let row = try await test.row(id)
        #expect(row.state == "failed" && row.errorCode == code.rawValue && row.completedAt != nil)
    }

    @Test func refusedQualityIsTriedOnceAtTheDefault() async throws {
        let id = try await test.add("https://example.org/film", options: DownloadOptions(height: 4320))
        _ = try await test.claim()
        #expect(try await queue.fail(id, ToolFailure(.quality, "no")) == .again)
        let row = try #require(try await test.claim())
        #expect(row.qualityFallback && row.attempt == 1)
        #expect(try await queue.fail(id, ToolFailure(.quality, "no")) == .ended(.failed))
        let other = try await test.add("https://example.org/other")
        _ = try await test.claim()
        #expect(try await queue.fail(other, ToolFailure(.quality, "no")) == .ended(.failed))
    }

    @Test func dyingProcessesEndInAbortedBySystem() async throws {
        let test = try TestQueue(retryDelays: [.zero, .zero, .zero])
        let id = try await test.add("https://example.org/film")
        for _ in 0..<3 {
            _ = try #require(try await test.claim())
            #expect(try await test.queue.fail(id, ToolFailure(.aborted, "died"), now: test.now) == .again)
        }
        _ = try #require(try await test.claim())
        #expect(try await test.queue.fail(id, ToolFailure(.aborted, "died")) == .ended(.abortedBySystem))
        #expect(try await test.row(id).download.status == .failed)
    }

    @Test func siteThatLimitsTheRateHoldsItsDownloadsOnly() async throws {
        let limited = try await test.add("https://example.org/1")
        let same = try await test.add("https://example.org/2")
        let other = try await test.add("https://other.example/3")
        _ = try await test.claim()
        _ = try await queue.fail(limited, ToolFailure(.rateLimited, "429", retryAfterSeconds: 600), now: test.now)
        #expect(try await test.row(same).download.waitingFor == .site)
        #expect(try await test.claim()?.downloadID == other)
        let late = try await test.add("https://example.org/4")
        #expect(try await test.row(late).download.waitingFor == .site)
        #expect(try await test.claim(after: 599) == nil)
        #expect(try await test.claim(after: 601)?.downloadID == limited)
        #expect(try await test.claim(after: 601)?.downloadID == same)
    }

    @Test func missingToolOrSpaceCostsNoAttempt() async throws {
        let id = try await test.add("https://example.org/film")
        for code in [ToolFailure.Code.toolMissing, .diskFull, .toolMissing, .diskFull, .diskFull] {
            _ = try #require(try await test.claim(after: 1000))
            #expect(try await queue.fail(id, ToolFailure(code, "no"), now: test.now) == .again)
            #expect(try await test.row(id).attempt == 0)
        }
        #expect(try await test.row(id).download.waitingFor == .disk)
    }

    @Test func cancelledDownloadsStayCancelled() async throws {
        let id = try await test.add("https://example.org/film")
        _ = try await test.claim()
        #expect(try await queue.cancel(id)?.state == "started")
        #expect(try await queue.cancel(id) == nil)
        // What the attempt reports afterwards changes nothing.
        try await queue.advance(id, WorkerMessage(stage: .fetching))
        #expect(try await queue.fail(id, ToolFailure(.network, "x")) == .ended(.cancelled))
        try await queue.interrupt(id)
        try await queue.complete(id, keepsFile: true)
        #expect(try await test.row(id).state == "cancelled")
        #expect(try await queue.retry(id, options: DownloadOptions(height: 480)) == .queued)
        #expect(try await queue.retry(id, options: nil) == .notPossible)
        let row = try #require(try await test.claim())
        #expect(row.attempt == 1 && row.downloadOptions.height == 480)
    }

    @Test func downloadsThatAreBeingStoredCantBeCancelled() async throws {
        let id = try await test.add("https://example.org/film")
        _ = try await test.claim()
        #expect(try await queue.beginStoring(id))
        #expect(try await queue.cancel(id) == nil)
        #expect(try await test.row(id).download.stage == .storing)
        let other = try await test.add("https://example.org/other")
        _ = try await test.claim()
        _ = try await queue.cancel(other)
        #expect(try await queue.beginStoring(other) == false)
    }

    @Test func retryWithOtherOptionsIsAnotherRequest() async throws {
        let url = "https://example.org/film"
        let id = try await test.add(url)
        _ = try await queue.cancel(id)
        #expect(try await queue.retry(id, options: DownloadOptions(form: .audio)) == .queued)
        guard case .added(let video, _) = try await queue.accept(try test.request(url), key: nil, now: test.now) else {
            Issue.record("the audio was taken for the video")
            return
        }
        #expect(video.downloadID != id)
        let audio = try test.request(url, options: DownloadOptions(form: .audio))
        guard case .known(let known) = try await queue.accept(audio, key: nil, now: test.now) else {
            Issue.record("not known")
            return
        }
        #expect(known.downloadID == id)
    }

    @Test func timesOfAWrongClockHoldNothingUp() async throws {
        let future = test.now.addingTimeInterval(400 * 86_400)
        for number in 0..<100 {
            _ = try await queue.accept(try test.request("https://example.org/\(number)"), key: nil, now: future)
        }
        let id = try await test.add("https://other.example/film")
        _ = try await queue.cancel(id)
        let limited = try await test.add("https://limited.example/film")
        while let row = try await queue.claim(now: future, missing: { $0.downloadID == limited ? nil : .tool }) {
            _ = try await queue.fail(
                row.downloadID, ToolFailure(.rateLimited, "429", retryAfterSeconds: 60), now: future)
        }
        let claimed = try await queue.claim(now: test.now) { $0.downloadID == limited ? nil : .tool }
        #expect(claimed?.downloadID == limited)
    }

    @Test func endThatCouldntBeRecordedIsMended() async throws {
        let (lost, running) = (try await test.add("https://example.org/1"), try await test.add("https://example.org/2"))
        for _ in 0..<2 { _ = try await test.claim() }
        try await queue.requeueInterrupted(except: [running])
        #expect(try await test.row(lost).state == "queued")
        #expect(try await test.row(running).state == "started")
    }

    @Test func killedServersCostNoAttempt() async throws {
        let id = try await test.add("https://example.org/film")
        for _ in 0..<10 {
            #expect(try await test.claim()?.attempt == 1)
            try await queue.advance(id, WorkerMessage(stage: .fetching, title: "Film"))
            try await queue.requeueInterrupted()
        }
        let row = try await test.row(id)
        #expect(row.state == "queued" && row.attempt == 0 && row.title == "Film")
    }

    @Test func namesOfFilesAreReservedOnce() async throws {
        let (one, two) = (try await test.add("https://example.org/1"), try await test.add("https://example.org/2"))
        #expect(try await queue.reserveName(one, "A film.mp4", except: []) == "A film.mp4")
        #expect(try await queue.reserveName(one, "A film.mp4", except: []) == "A film.mp4")
        // Where case doesn't count, too.
        #expect(try await queue.reserveName(two, "a FILM.mp4", except: []) == "a FILM-2.mp4")
        let three = try await test.add("https://example.org/3")
        #expect(try await queue.reserveName(three, "b.mp4", except: ["b.mp4"]) == "b-2.mp4")
    }

    @Test func runningDownloadsCantBeDeleted() async throws {
        let id = try await test.add("https://example.org/film")
        _ = try await test.claim()
        #expect(try await queue.delete(id) == nil)
        _ = try await queue.cancel(id)
        #expect(try await queue.delete(id)?.downloadID == id)
        #expect(try await queue.row(id) == nil)
        #expect(try await queue.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM attempts") } == 0)
    }

    @Test func newerQueueIsLeftAlone() async throws {
        let layout = StoreLayout(root: test.folder.path("store"))
        try await queue.database.pool.write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('9 from the future')")
        }
        let error = #expect(throws: StoreError.self) { try CaptureDatabase(layout: layout) }
        #expect(error?.code == .unusable)
    }
}

struct HistoryQueryTests {
    @Test func downloadsAreFiltered() async throws {
        let test = try TestQueue()
        let film = try await test.add("https://www.tiktok.com/@a/video/1")
        let guide = try await test.add("https://docs.example.org/50%_off.pdf")
        _ = try await test.queue.cancel(film)
        func found(_ parameters: [String: String]) async throws -> [String] {
            let query = try HistoryQuery(parameters)
            return try await test.queue.database.read { try query.run($0).rows.map(\.downloadID) }
        }
        #expect(try await found([:]) == [guide, film])
        #expect(try await found(["limit": "1", "offset": "1"]) == [film])
        #expect(try await found(["status": "failed"]) == [film])
        #expect(try await found(["state": "cancelled", "genre": "tiktok", "service": "tiktok"]) == [film])
        #expect(try await found(["username": "JOHN"]).count == 2)
        #expect(try await found(["username": "ana"]) == [])
        #expect(try await found(["q": "50%_off"]) == [guide])
        #expect(try await found(["q": "50xxoff"]) == [])
        #expect(try await found(["q": "' OR 1=1 --"]) == [])
        #expect(try await found(["domain": "example.org"]) == [guide])
        #expect(try await found(["domain": "ample.org"]) == [])
        #expect(try await found(["since": "2026-11-25"]) == [])
        #expect(try await found(["until": "2026-11-25", "since": "2026-11-24T10:00:00Z"]).count == 2)
    }

    @Test(arguments: [
        ["limit": "0"], ["limit": "101"], ["limit": "x"], ["offset": "-1"], ["status": "done"], ["since": "yesterday"],
    ])
    func invalidParametersAreNamed(_ parameters: [String: String]) {
        let problem = #expect(throws: FieldProblem.self) { try HistoryQuery(parameters) }
        #expect(problem?.loc == ["query", parameters.keys.first ?? ""])
    }
}
