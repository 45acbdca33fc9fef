/// Makes damaged copies of data, each with one error.
package enum DamagedCopies {
    /// Calls `body` with `bytes` cut at each position, and with one bit flipped there. The bits are the same in each
    /// run.
    ///
    /// - Parameter step: The distance between positions, in bytes.
    package static func forEach(
        of bytes: [UInt8], step: Int = 1, _ body: (_ copy: [UInt8], _ place: Int) throws -> Void
    ) rethrows {
        var state: UInt32 = 1
        for place in stride(from: 0, to: bytes.count, by: step) {
            try body(Array(bytes[..<place]), place)
            // The generator from Numerical Recipes, whose upper bits are better.
            state = state &* 1_664_525 &+ 1_013_904_223
            var changed = bytes
            changed[place] ^= 1 << UInt8(state >> 29)
            try body(changed, place)
        }
    }
}
