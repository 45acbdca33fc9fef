import Foundation

/// Runs blocking code on a separate thread, so that the few threads of Swift's pool stay free for the tested server.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Result { try body() }) }
        thread.stackSize = 1 << 20
        thread.start()
    }
}

/// Waits until a condition is true. Returns `false` if it isn't in time.
package func eventually(
    within limit: Duration = .seconds(120), _ condition: @Sendable () throws -> Bool
) async throws -> Bool {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while true {
        if try condition() { return true }
        if ContinuousClock.now > deadline { return false }
        // The interval between checks doesn't affect the result.
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Blocks until a condition is true, and throws if it isn't in time. Use it on a separate thread.
package func waitUntil(within seconds: Double = 300, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now.advanced(by: .seconds(seconds))
    while try !condition() {
        if ContinuousClock.now > deadline { throw WaitedInVain(description: "not within \(seconds) s") }
        // The interval between checks doesn't affect the result.
        usleep(500)
    }
}

/// The error of a condition that didn't become true in time.
package struct WaitedInVain: Error, CustomStringConvertible {
    package let description: String
}

/// A random number generator with a fixed seed, so that failures are reproducible.
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

/// Returns bytes in which any two parts of the same length are likely to differ.
package func patternBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    let words = (count + 7) / 8
    let bytes = [UInt64](unsafeUninitializedCapacity: words) { buffer, filled in
        for position in 0..<words { buffer[position] = generator.next().littleEndian }
        filled = words
    }
    return bytes.withUnsafeBytes { Array(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
}

/// Returns whether two arrays are equal. Unlike `==`, it's fast for many megabytes even in debug builds.
package func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return one.withUnsafeBytes { first in
        other.withUnsafeBytes { second in
            guard let first = first.baseAddress, let second = second.baseAddress else { return true }
            return memcmp(first, second, one.count) == 0
        }
    }
}
