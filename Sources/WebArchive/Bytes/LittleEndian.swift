extension [UInt8] {
    /// The little-endian number of two bytes at `position`, which must be inside.
    func uint16(at position: Int) -> UInt16 {
        UInt16(self[position]) | UInt16(self[position + 1]) << 8
    }

    /// The little-endian number of four bytes at `position`, which must be inside.
    func uint32(at position: Int) -> UInt32 {
        UInt32(uint16(at: position)) | UInt32(uint16(at: position + 2)) << 16
    }

    /// The little-endian number of eight bytes at `position`, which must be inside.
    func uint64(at position: Int) -> UInt64 {
        UInt64(uint32(at: position)) | UInt64(uint32(at: position + 4)) << 32
    }
}
