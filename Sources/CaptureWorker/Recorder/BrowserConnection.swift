import ArchiveStore
import Foundation
import Synchronization

/// Commands to a browser and its events, over two pipes. Source: Chrome DevTools Protocol 1.3.
final class BrowserConnection: Sendable {
    /// What the browser reports, in order. It ends when the browser does.
    let events: AsyncStream<BrowserEvent>
    private let queue: AsyncStream<BrowserEvent>.Continuation
    private let input: Descriptor
    private let output: Descriptor
    /// One message after the other.
    private let writing = Mutex<Void>(())

    private struct State {
        var lastID = 0
        var waiting: [Int: CheckedContinuation<Data, any Error>] = [:]
        var end: BrowserEnd?
    }
    private let state = Mutex(State())

    /// Events that wait. They are handled at once, so that more of them mean that something is wrong.
    private static let eventsMax = 50_000

    /// - Parameters:
    ///   - input: What the browser writes.
    ///   - output: What the browser reads.
    init(input: Descriptor, output: Descriptor) {
        (self.input, self.output) = (input, output)
        (events, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.eventsMax))
        Thread { [self] in
            do {
                try receiveMessages()
            } catch {
                end(error as? BrowserEnd ?? BrowserEnd("the browser can't be read: \(error)"))
            }
        }.start()
    }

    /// Why the browser can't be used anymore; `nil` while it can.
    var endReason: BrowserEnd? { state.withLock { $0.end } }

    /// Sends a command and waits for its answer.
    ///
    /// - Throws: `BrowserRefusal`; `BrowserEnd`; `CancellationError` if the task is cancelled.
    @discardableResult
    func call<Parameters: Encodable & Sendable, Answer: Decodable & Sendable>(
        _ method: String, _ parameters: Parameters = NoValues(), session: String? = nil,
        as type: Answer.Type = NoValues.self
    ) async throws -> Answer {
        let id = nextID()
        let message = try JSONEncoder().encode(Command(id: id, method: method, params: parameters, sessionId: session))
        let answer = try await answer(to: id) { try self.write([message]) }
        return try JSONDecoder().decode(Result<Answer>.self, from: answer).result
    }

    /// Sends a command whose answer doesn't matter, as a rule because the target may be gone already.
    func send<Parameters: Encodable>(
        _ method: String, _ parameters: Parameters = NoValues(), session: String?
    ) throws {
        try write([
            JSONEncoder().encode(Command(id: nextID(), method: method, params: parameters, sessionId: session))
        ])
    }

    /// Answers a paused request with the content of a file, which is never in memory.
    ///
    /// - Parameter body: The file; `nil` for an empty body.
    func fulfill(_ response: Fetch.Fulfilled, body: String?, session: String?) async throws {
        let id = nextID()
        let mark = "body-\(UUID().uuidString)"
        var marked = response
        marked.body = mark
        let message = try JSONEncoder().encode(
            Command(id: id, method: "Fetch.fulfillRequest", params: marked, sessionId: session))
        guard let place = message.range(of: Data(mark.utf8)) else { throw BrowserEnd("a command can't be written") }
        let file = try body.map { try Descriptor(path: $0, flags: O_RDONLY) }
        _ = try await answer(to: id) {
            try self.write([message[..<place.lowerBound]], file: file, [message[place.upperBound...]])
        }
    }

    /// Closes the pipe, which ends the browser.
    func end(_ reason: BrowserEnd) {
        let waiting = state.withLock { state in
            state.end = state.end ?? reason
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(throwing: reason) }
        queue.finish()
    }

    private struct Command<Parameters: Encodable>: Encodable {
        let id: Int
        let method: String
        let params: Parameters
        let sessionId: String?
    }

    private struct Result<Answer: Decodable>: Decodable {
        let result: Answer
    }

    private func nextID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func answer(to id: Int, _ send: @Sendable () throws -> Void) async throws -> Data {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let end = state.withLock { state in
                    if state.end == nil { state.waiting[id] = continuation }
                    return state.end
                }
                if let end { return continuation.resume(throwing: end) }
                do {
                    try Task.checkCancellation()
                    try send()
                } catch {
                    take(id)?.resume(throwing: error)
                }
            }
        } onCancel: {
            take(id)?.resume(throwing: CancellationError())
        }
    }

    private func take(_ id: Int) -> CheckedContinuation<Data, any Error>? {
        state.withLock { $0.waiting.removeValue(forKey: id) }
    }

    private func write(_ start: [Data], file: Descriptor? = nil, _ rest: [Data] = []) throws {
        if let end = endReason { throw end }
        try writing.withLock { _ in
            for part in start { try send(part) }
            // Three bytes become four characters, so that pieces can be joined.
            let pieceSize = 3 << 16
            var offset: UInt64 = 0
            while let file {
                let piece = try file.bytes(at: offset, upTo: pieceSize)
                if piece.isEmpty { break }
                offset += UInt64(piece.count)
                try send(Data(piece).base64EncodedData())
            }
            for part in rest + [Data([0])] { try send(part) }
        }
    }

    private func send(_ bytes: Data) throws {
        do {
            try bytes.withUnsafeBytes { try output.append($0) }
        } catch {
            throw endReason ?? BrowserEnd("the browser ended unexpectedly")
        }
    }

    /// Reads until the browser ends.
    private func receiveMessages() throws {
        var messages = BrowserMessages()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while endReason == nil {
            let count = read(input.number, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw BrowserEnd("the browser ended unexpectedly") }
            for message in try messages.add(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                try receive(message)
            }
        }
    }

    private func receive(_ message: Data) throws {
        let envelope = try BrowserEnvelope(message: message)
        if let id = envelope.id {
            guard let continuation = take(id) else { return }
            if let refusal = envelope.error {
                continuation.resume(throwing: BrowserRefusal(reason: refusal.message))
            } else {
                continuation.resume(returning: message)
            }
        } else if let method = envelope.method, BrowserEventName(rawValue: method) != nil {
            let event = BrowserEvent(envelope, method: method, message: message)
            if case .dropped = queue.yield(event) { throw BrowserEnd("the page causes too many events") }
        }
    }
}
