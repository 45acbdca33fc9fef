import Foundation

/// Runs code that blocks on a thread of its own, so that the few threads of Swift's pool stay free for the server under test.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Result { try body() }) }
        thread.stackSize = 1 << 20
        thread.start()
    }
}

/// Waits until something that happens elsewhere has happened; `false` when it hasn't within the time.
package func eventually(
    within limit: Duration = .seconds(120), _ condition: @Sendable () throws -> Bool
) async throws -> Bool {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while true {
        if try condition() { return true }
        if ContinuousClock.now > deadline { return false }
        // Only the pause between two looks: no result depends on how long it takes.
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// As `eventually`, for code on a thread of its own: blocks, and throws when the time is over.
package func waitUntil(within seconds: Double = 300, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now.advanced(by: .seconds(seconds))
    while try !condition() {
        if ContinuousClock.now > deadline { throw WaitedInVain(description: "not within \(seconds) s") }
        // Only the pause between two looks: no result depends on how long it takes.
        usleep(500)
    }
}

/// Something that a test waited for, and that didn't happen.
package struct WaitedInVain: Error, CustomStringConvertible {
    package let description: String
}

/// A small generator with a fixed seed, so that a failure can be repeated.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Bytes that tell their place: no two stretches of the same length are likely to be equal.
package func patternBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    let words = (count + 7) / 8
    let bytes = [UInt64](unsafeUninitializedCapacity: words) { buffer, filled in
        for position in 0..<words { buffer[position] = generator.next().littleEndian }
        filled = words
    }
    return bytes.withUnsafeBytes { Array(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
}

/// Whether two runs of bytes are equal; unlike `==`, quick also for many megabytes without optimisation.
package func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return one.withUnsafeBytes { first in
        other.withUnsafeBytes { second in
            guard let first = first.baseAddress, let second = second.baseAddress else { return true }
            return memcmp(first, second, one.count) == 0
        }
    }
}
