/// Finds the empty line that ends the head of an HTTP message, in pieces of any size.
struct HTTPHeadEnd {
    /// The length of the current line so far, without its CR.
    private var lineLength = 0

    /// Returns the position after the empty line.
    mutating func find(in bytes: UnsafeRawBufferPointer) -> Int? {
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
