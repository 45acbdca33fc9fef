/// Copies of some bytes, each with one thing wrong.
package enum DamagedCopies {
    /// Calls `body` with `bytes` cut at each place, and with one bit of the byte there changed: the same bits each time.
    ///
    /// - Parameter step: Bytes from one place to the next.
    package static func forEach(
        of bytes: [UInt8], step: Int = 1, _ body: (_ copy: [UInt8], _ place: Int) throws -> Void
    ) rethrows {
        var state: UInt32 = 1
        for place in stride(from: 0, to: bytes.count, by: step) {
            try body(Array(bytes[..<place]), place)
            // The generator of Numerical Recipes; its upper bits are the good ones.
            state = state &* 1_664_525 &+ 1_013_904_223
            var changed = bytes
            changed[place] ^= 1 << UInt8(state >> 29)
            try body(changed, place)
        }
    }
}
