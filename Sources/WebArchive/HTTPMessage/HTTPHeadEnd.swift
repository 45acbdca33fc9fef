/// Finds the end of the head of an HTTP message, an empty line, in pieces of any size. A message that begins with a tag has
/// no head; see `HTTPMessageHead.withoutHead`.
struct HTTPHeadEnd {
    private var isAtStart = true
    /// The length of the current line so far, without its CR.
    private var lineLength = 0

    /// Returns the position after the empty line, or the start of a message without a head.
    mutating func find(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let first = bytes.first else { return nil }
        if isAtStart, first == UInt8(ascii: "<") { return 0 }
        isAtStart = false
        for (position, byte) in bytes.enumerated() {
            if byte == 0x0A {
                if lineLength == 0 { return position + 1 }
                lineLength = 0
            } else if byte != 0x0D {
                lineLength += 1
            }
        }
        return nil
    }
}
