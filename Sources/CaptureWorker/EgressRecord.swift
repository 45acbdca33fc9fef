import EgressGuard
import Foundation

/// The connections of an attempt, as the server's guard records them in `egress.jsonl`.
struct EgressRecord: Sendable {
    let path: String

    /// Returns the events so far, in order. A last line that isn't complete yet is left out.
    var events: [EgressEvent] {
        guard let bytes = FileManager.default.contents(atPath: path) else { return [] }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(EgressEvent.self, from: Data($0))
        }
    }

    /// Returns the IP address of the last connection to a host; `nil` if there was none.
    func address(of url: String) -> String? {
        guard let parts = URLComponents(string: url), let host = parts.host?.lowercased() else { return nil }
        let port = parts.port ?? (parts.scheme?.lowercased() == "https" ? 443 : 80)
        let name = host.trimmingCharacters(in: ["[", "]"])
        return events.last { $0.host == name && $0.port == port && $0.address != nil }?.address
    }
}

extension EgressEvent {
    /// A failure that this connection explains; `nil` if it was made.
    var failure: ToolFailure? {
        guard let refusal else { return nil }
        let code: ToolFailure.Code =
            switch refusal {
            case .unknownHost, .noConnection, .tooSlow: .network
            case .limit: .tooLarge
            case .notPublic, .denied, .invalid: .refused
            }
        return ToolFailure(code, "\(host):\(port): \(refusal.reason)")
    }
}
