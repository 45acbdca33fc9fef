extension ArraySlice<UInt8> {
    /// The bytes as text, or `nil` if they aren't UTF-8. Decoding repairs errors, so a text that differs wasn't UTF-8.
    var utf8Text: String? {
        let text = String(decoding: self, as: UTF8.self)
        let isASCII = withUnsafeBufferPointer { $0.reduce(0, |) } < 0x80
        return isASCII || text.utf8.elementsEqual(self) ? text : nil
    }
}

enum UTF8Text {
    /// Returns whether the bytes are the start of a text: UTF-8, cut anywhere, whose only control characters are tabs
    /// and line endings.
    static func begins(_ bytes: [UInt8]) -> Bool {
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0D].contains($0) }) else { return false }
        // A character has at most four bytes, so up to three bytes of the last one may be left.
        return (0...min(3, bytes.count)).contains { bytes[..<(bytes.count - $0)].utf8Text != nil }
    }
}
