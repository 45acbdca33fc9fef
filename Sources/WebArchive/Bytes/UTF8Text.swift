extension ArraySlice<UInt8> {
    /// The bytes as text; `nil` when they are not UTF-8. Decoding repairs, so text that differs was not UTF-8.
    var utf8Text: String? {
        let text = String(decoding: self, as: UTF8.self)
        let isASCII = withUnsafeBufferPointer { $0.reduce(0, |) } < 0x80
        return isASCII || text.utf8.elementsEqual(self) ? text : nil
    }
}

enum UTF8Text {
    /// Whether bytes are how a text begins: UTF-8, cut anywhere, without control characters but tabs and line ends.
    static func begins(_ bytes: [UInt8]) -> Bool {
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0D].contains($0) }) else { return false }
        // A character has four bytes at most: three of them may be all that is there of the last one.
        return (0...min(3, bytes.count)).contains { bytes[..<(bytes.count - $0)].utf8Text != nil }
    }
}
