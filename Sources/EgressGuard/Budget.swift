import Synchronization

/// What the connections of one guard have used together.
final class Budget: Sendable {
    private let rules: EgressRules
    private struct Used {
        var bytes: UInt64 = 0
        var open = 0
        var connections = 0
    }
    private let used = Mutex(Used())

    init(rules: EgressRules) { self.rules = rules }

    var bytes: UInt64 { used.withLock { $0.bytes } }

    /// - Throws: `Refused` if there are too many connections, or all bytes are used.
    func open() throws {
        try used.withLock { used in
            guard used.open < rules.openConnectionsMax, used.connections < rules.connectionsMax,
                used.bytes < rules.bytesMax
            else { throw Refused(.limit) }
            used.open += 1
            used.connections += 1
        }
    }

    func close() { used.withLock { $0.open -= 1 } }

    /// - Throws: `Refused` if these bytes are too many.
    func count(_ bytes: Int) throws {
        try used.withLock { used in
            used.bytes += UInt64(bytes)
            guard used.bytes <= rules.bytesMax else { throw Refused(.limit) }
        }
    }
}

/// A value on its way from one task to another.
final class Handed<Value>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: sending Value) { self.value = Mutex(value) }

    /// Returns the value the first time.
    func take() -> sending Value? { value.withLock { $0.take() } }
}
