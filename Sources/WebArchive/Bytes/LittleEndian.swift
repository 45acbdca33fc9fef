extension [UInt8] {
    /// Returns the little-endian 16-bit integer at `position`, which must be in bounds.
    func uint16(at position: Int) -> UInt16 {
        UInt16(self[position]) | UInt16(self[position + 1]) << 8
    }

    /// Returns the little-endian 32-bit integer at `position`, which must be in bounds.
    func uint32(at position: Int) -> UInt32 {
        UInt32(uint16(at: position)) | UInt32(uint16(at: position + 2)) << 16
    }

    /// Returns the little-endian 64-bit integer at `position`, which must be in bounds.
    func uint64(at position: Int) -> UInt64 {
        UInt64(uint32(at: position)) | UInt64(uint32(at: position + 4)) << 32
    }
}

/// Bytes made of little-endian integers.
struct LittleEndianBytes {
    var bytes: [UInt8] = []

    mutating func add<each Value: FixedWidthInteger>(_ values: repeat each Value) {
        for value in repeat each values {
            withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
        }
    }
}
