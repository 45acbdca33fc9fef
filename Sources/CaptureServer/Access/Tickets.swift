import Crypto
import Foundation

/// Makes texts that stand for the right to read one file for 12 hours. They end when the server does.
struct Tickets: Sendable {
    private let secret = SymmetricKey(size: .bits256)
    private static let seconds = 12 * 3600

    /// - Returns: The ticket, and when it ends.
    func make(for id: String, now: Date = Date()) -> (text: String, end: String) {
        let end = Int(now.timeIntervalSince1970) + Self.seconds
        return ("\(end)-\(code(id, end))", QueueTime.text(Date(timeIntervalSince1970: Double(end))))
    }

    func isValid(_ ticket: String, for id: String, now: Date = Date()) -> Bool {
        let parts = ticket.split(separator: "-")
        guard parts.count == 2, let end = Int(parts[0]), Double(end) > now.timeIntervalSince1970,
            let code = Data(hexText: parts[1])
        else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.message(id, end), using: secret)
    }

    private func code(_ id: String, _ end: Int) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: Self.message(id, end), using: secret)).hexText
    }

    private static func message(_ id: String, _ end: Int) -> Data { Data("\(id) \(end)".utf8) }
}

extension Data {
    /// Parses two hexadecimal digits for each byte.
    init?(hexText text: some StringProtocol) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
    }
}
