import Foundation
import ReplayServer
import Synchronization

/// One-time links to the administrator's page, and the sessions that they open. A restart of the server ends all.
final class AdministratorSessions: Sendable {
    private struct State {
        /// Codes and tokens, each with its end.
        var codes: [String: Date] = [:]
        var tokens: [String: Date] = [:]
    }
    private let state = Mutex(State())
    private static let codeLifetime: TimeInterval = 10 * 60
    private static let sessionLifetime: TimeInterval = 12 * 3600
    /// More than this many links at once aren't needed: the oldest ends.
    private static let codesMax = 20

    /// Makes a code that opens one session.
    func makeCode(now: Date = Date()) -> (code: String, end: Date) {
        let (code, end) = (ReplayServer.randomToken(), now.addingTimeInterval(Self.codeLifetime))
        state.withLock { state in
            state.codes = state.codes.filter { $0.value > now }
            if state.codes.count >= Self.codesMax, let oldest = state.codes.min(by: { $0.value < $1.value })?.key {
                state.codes[oldest] = nil
            }
            state.codes[code] = end
        }
        return (code, end)
    }

    /// Opens a session; `nil` if the code isn't known, was used, or has expired.
    func open(_ code: String, now: Date = Date()) -> (token: String, end: Date)? {
        state.withLock { state in
            guard let known = state.codes.keys.first(where: code.isSameSecret),
                let codeEnd = state.codes.removeValue(forKey: known), codeEnd > now
            else { return nil }
            let (token, end) = (ReplayServer.randomToken(), now.addingTimeInterval(Self.sessionLifetime))
            state.tokens = state.tokens.filter { $0.value > now }
            state.tokens[token] = end
            return (token, end)
        }
    }

    /// The tokens of all sessions.
    func all(now: Date = Date()) -> [String] { state.withLock { $0.tokens.filter { $0.value > now }.map(\.key) } }

    /// Whether a session has this token.
    func include(_ token: String, now: Date = Date()) -> Bool {
        state.withLock { $0.tokens.contains { token.isSameSecret(as: $0.key) && $0.value > now } }
    }
}
