enum ZstdFrame {
    /// The first bytes of a frame. RFC 8878 §3.1.1.
    static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    /// Returns whether `bytes` begin with a frame or a skippable frame. RFC 8878 §3.1.
    static func starts(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 4 else { return false }
        return bytes == magic || bytes[0] & 0xF0 == 0x50 && bytes[1...] == [0x2A, 0x4D, 0x18]
    }
}
