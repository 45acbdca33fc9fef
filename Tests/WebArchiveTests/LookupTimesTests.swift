import Foundation
import Testing
import WebArchive

private let path = ProcessInfo.processInfo.environment["REPLAYHOST_MILLION"]

/// Measures lookups in the file that `Fixtures/writers/generated.py` writes: docs/benchmarks.md. No time is asserted.
@Suite(.enabled(if: path != nil, "REPLAYHOST_MILLION names no file"))
struct LookupTimesTests {
    @Test func lookupsOfAMillionCaptures() throws {
        let wacz = try WACZFile.open(path: path ?? "")
        let time = CaptureTimestamp(digits: "20240401")
        var random = SystemRandomNumberGenerator()
        var times: [Duration] = []
        for round in 0..<20_500 {
            let url = String(
                format: "https://big.million.example/page/%07d", Int.random(in: 0..<250_000, using: &random))
            let clock = ContinuousClock()
            let began = clock.now
            let found = try wacz.closestCapture(toURL: url, at: time)
            // The first ones open the index and warm the cache.
            if round >= 500 { times.append(began.duration(to: clock.now)) }
            #expect(found?.url == url)
        }
        times.sort()
        print(
            "closest capture, \(times.count) lookups: p50 \(times[times.count / 2]), p99 \(times[times.count * 99 / 100])"
        )
    }
}
