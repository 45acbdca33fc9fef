import CaptureAPI
import CaptureWorker
import Testing

@testable import CaptureServer

/// The limits are those of docs/configuration.md.
struct AttemptMeterTests {
    private let start = SuspendingClock.now

    /// The rate of an attempt is the same over its time. Returns the second in which it ends, at most 30,000.
    private func end(bytesPerSecond: UInt64, _ stage: DownloadStage?, _ genre: Genre) -> Int? {
        var meter = AttemptMeter(AttemptLimits(), start: start)
        return (1...30_000).first { second in
            let bytes = UInt64(second) * bytesPerSecond
            let failure = meter.failure(bytes: bytes, stage, genre, now: start + .seconds(second))
            return failure?.code == .tooSlow
        }
    }

    @Test(
        arguments: [
            (999, .fetching, .pdf, 120), (1, .fetching, .youtube, 120), (999, .analysing, .unknown, 120),
            (1, nil, .unknown, 120),
            // As much as is needed, and what takes time without the site.
            (1000, .fetching, .pdf, 1801), (1000, .fetching, .ebook, 1801), (1000, .fetching, .youtube, 21_601),
            (0, .fetching, .unknown, 21_601), (1, .merging, .youtube, 21_601), (1, .checking, .unknown, 21_601),
        ] as [(UInt64, DownloadStage?, Genre, Int)])
    func slowAttemptsEnd(bytesPerSecond: UInt64, stage: DownloadStage?, genre: Genre, second: Int) {
        #expect(end(bytesPerSecond: bytesPerSecond, stage, genre) == second)
    }

    /// The time of a conversion doesn't count for the rate.
    @Test func rateCountsWhileSomethingIsFetched() {
        var meter = AttemptMeter(AttemptLimits(), start: start)
        #expect(meter.failure(bytes: 1_000_000, .fetching, .youtube, now: start + .seconds(100)) == nil)
        #expect(meter.failure(bytes: 1_000_001, .merging, .youtube, now: start + .seconds(1000)) == nil)
        #expect(meter.failure(bytes: 1_000_002, .fetching, .youtube, now: start + .seconds(1119)) == nil)
        #expect(meter.failure(bytes: 1_000_003, .fetching, .youtube, now: start + .seconds(1120))?.code == .tooSlow)
    }

    @Test(
        arguments: [(10_000_000_000, 5_000_000_000), (1_000_000_000_000, 64 << 30), (100, 50), (0, 0)]
            as [(UInt64, UInt64)])
    func halfOfTheFreeSpaceIsTheMost(free: UInt64, bytes: UInt64) {
        #expect(AttemptLimits().bytes(ofFree: free) == bytes)
    }

    /// Of the computer's memory and, in a container or a service, that of the control group.
    @Test(
        arguments: [
            (16_000_000_000, nil, 4_000_000_000), (2_000_000_000, nil, 1_000_000_000),
            (16_000_000_000, 4_000_000_000, 2_000_000_000), (16_000_000_000, 1_000_000_000, 1_000_000_000),
            (16_000_000_000, UInt64(Int64.max), 4_000_000_000),
        ] as [(UInt64, UInt64?, UInt64)])
    func memoryHasALimit(physical: UInt64, group: UInt64?, bytes: UInt64) {
        #expect(AttemptLimits().memory(of: physical, group: group) == bytes)
    }
}
