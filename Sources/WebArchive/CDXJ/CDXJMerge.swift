/// Lines of several readers, each in order, as one. Belongs to one thread.
///
/// Lines come by key and timestamp, bytewise; those equal in both in the order of their archives, then of the readers.
final class CDXJMerge {
    /// A line without its line end, and the place of its archive among several.
    struct Line {
        let bytes: [UInt8]
        var source = 0
    }

    /// Gives the next line, or `nil` at the end; is let go of then.
    typealias Reader = () throws(WebArchiveError) -> Line?

    /// The next line of one reader.
    private struct Head {
        let line: Line
        let sortKey: ArraySlice<UInt8>
        let reader: Int
    }

    private var readers: [Reader?] = []
    /// The first at the end.
    private var heads: [Head] = []

    /// Adds a reader, and reads its first line.
    func add(_ reader: @escaping Reader) throws(WebArchiveError) {
        readers.append(reader)
        try advance(readers.count - 1)
    }

    /// The next line, or `nil` at the end. Its reader is then one line ahead.
    func next() throws(WebArchiveError) -> Line? {
        guard let head = heads.popLast() else { return nil }
        try advance(head.reader)
        return head.line
    }

    /// Puts the next line of a reader where it belongs.
    private func advance(_ reader: Int) throws(WebArchiveError) {
        guard let line = try readers[reader]?() else {
            readers[reader] = nil
            return
        }
        let head = Head(line: line, sortKey: CDXJLine.sortKey(of: line.bytes[...]), reader: reader)
        var (low, high) = (0, heads.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.isBefore(head, heads[middle]) { low = middle + 1 } else { high = middle }
        }
        heads.insert(head, at: low)
    }

    private static func isBefore(_ left: Head, _ right: Head) -> Bool {
        if left.sortKey.lexicographicallyPrecedes(right.sortKey) { return true }
        return (left.line.source, left.reader) < (right.line.source, right.reader)
            && !right.sortKey.lexicographicallyPrecedes(left.sortKey)
    }
}
