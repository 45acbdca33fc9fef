/// A property that is written as null when it has no value, as in the published bodies, instead of being left out.
@propertyWrapper
public struct NullWritten<Value: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
    public var wrappedValue: Value?

    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    public init() { wrappedValue = nil }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        wrappedValue = value.decodeNil() ? nil : try value.decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// A property that is left out has no value either.
    func decode<Value>(_ type: NullWritten<Value>.Type, forKey key: Key) throws -> NullWritten<Value> {
        try decodeIfPresent(type, forKey: key) ?? NullWritten()
    }
}
