import Crypto
import Foundation
import WebArchive

/// Makes texts that stand for the right to read one file for 12 hours. They end with what their maker was admitted by, and when
/// the server does.
struct Tickets: Sendable {
    private let secret = SymmetricKey(size: .bits256)
    private static let seconds = 12 * 3600

    /// - Returns: The ticket, and when it ends.
    func make(for id: String, by holder: Caller.Holder, now: Date = Date()) -> (text: String, end: String) {
        let end = Int(now.timeIntervalSince1970) + Self.seconds
        return (text(id, holder, end), QueueTime.text(Date(timeIntervalSince1970: Double(end))))
    }

    /// - Parameter holders: All who are admitted now.
    func isValid(_ ticket: String, for id: String, of holders: [Caller.Holder], now: Date = Date()) -> Bool {
        guard let end = Int(ticket.prefix { $0 != "-" }), Double(end) > now.timeIntervalSince1970 else { return false }
        return holders.contains { ticket.isSameSecret(as: text(id, $0, end)) }
    }

    private func text(_ id: String, _ holder: Caller.Holder, _ end: Int) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data("\(id) \(end) \(holder.text)".utf8), using: secret)
        return "\(end)-\(code.hexadecimal)"
    }
}

extension String {
    /// Compares in a time that doesn't depend on where two texts differ.
    func isSameSecret(as other: String) -> Bool {
        // Digests are compared in constant time.
        SHA256.hash(data: Data(utf8)) == SHA256.hash(data: Data(other.utf8))
    }
}
