package import Foundation

/// Splits what a browser sends into messages, which end with a NUL byte.
///
/// Source: Chromium, `--remote-debugging-pipe`.
package struct BrowserMessages {
    /// The maximum size of a message in bytes.
    private let bytesMax: Int
    private var rest = Data()

    /// The largest messages are screenshots: an image of 1920 by 1080 pixels that can't be compressed has 8 MB.
    package static let bytesMax = 64 << 20

    package init(bytesMax: Int = bytesMax) {
        self.bytesMax = bytesMax
    }

    /// Returns the messages that the bytes complete.
    ///
    /// - Throws: `BrowserEnd` if a message is too large.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) throws -> [Data] {
        var messages: [Data] = []
        for (number, part) in bytes.split(separator: 0, omittingEmptySubsequences: false).enumerated() {
            if number > 0 {
                if !rest.isEmpty { messages.append(rest) }
                rest = Data()
            }
            guard rest.count + part.count <= bytesMax else {
                throw BrowserEnd("the browser sent a message of more than \(bytesMax >> 20) MB")
            }
            rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: part))
        }
        return messages
    }
}

/// Why a browser can't be used anymore.
package struct BrowserEnd: Error, Hashable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// What a browser answers to a command that it doesn't carry out.
struct BrowserRefusal: Error {
    let reason: String
}

/// What a message of the browser is. Source: JSON-RPC 2.0 §5; Chrome DevTools Protocol.
package struct BrowserEnvelope: Decodable, Sendable {
    struct Refusal: Decodable, Sendable {
        let message: String
    }

    /// The number of the command that is answered; `nil` for an event.
    package let id: Int?
    /// The name of an event: `Network.loadingFinished`.
    package let method: String?
    /// The session of a page, frame or worker; `nil` for the browser.
    package let sessionId: String?
    let error: Refusal?

    /// - Throws: `BrowserEnd` if the message isn't JSON of this form.
    package init(message: Data) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: message)
        } catch {
            throw BrowserEnd("the browser sent a message that can't be read")
        }
    }
}

/// An event of a session, whose parameters aren't decoded yet.
struct BrowserEvent: Sendable {
    let method: String
    let session: String?
    private let message: Data

    private struct Event<Parameters: Decodable>: Decodable {
        let params: Parameters
    }

    init(_ envelope: BrowserEnvelope, method: String, message: Data) {
        (self.method, session, self.message) = (method, envelope.sessionId, message)
    }

    /// - Throws: `DecodingError` for parameters of another form.
    func parameters<Parameters: Decodable>(as type: Parameters.Type = Parameters.self) throws -> Parameters {
        try JSONDecoder().decode(Event<Parameters>.self, from: message).params
    }
}
