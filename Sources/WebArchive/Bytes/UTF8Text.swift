extension ArraySlice<UInt8> {
    /// The bytes as text; `nil` when they are not UTF-8. Decoding repairs, so text that differs was not UTF-8.
    var utf8Text: String? {
        let text = String(decoding: self, as: UTF8.self)
        let isASCII = withUnsafeBufferPointer { $0.reduce(0, |) } < 0x80
        return isASCII || text.utf8.elementsEqual(self) ? text : nil
    }
}
