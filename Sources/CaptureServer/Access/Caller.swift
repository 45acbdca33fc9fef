import CaptureAPI
import HTTPTypes

/// Who sends a request, and what that allows.
struct Caller: Sendable, Hashable {
    enum Role: Sendable, Hashable {
        /// Without a key, from another computer or another user of this one.
        case stranger
        /// With a key, or without one where the configuration allows it.
        case client
        /// A program of this user or of root on this computer.
        case own
        /// With the token of `capture.json` on this computer, or with an administrator's key.
        case administrator
    }

    /// What a caller was admitted by. What it makes for others, such as tickets, ends with that.
    enum Holder: Sendable, Hashable {
        /// Nothing but the configuration.
        case rule(CaptureConfiguration.Security.KeyRule)
        /// A key of the database, by its ID.
        case key(Int64)
        /// A key of the configuration, the token of `capture.json`, or that of a session.
        case secret(String)

        var isKey: Bool {
            if case .rule = self { false } else { true }
        }

        var text: String {
            switch self {
            case .rule(let rule): "rule \(rule.rawValue)"
            case .key(let id): "key \(id)"
            case .secret(let text): "secret \(text)"
            }
        }
    }

    let role: Role
    let holder: Holder
    /// The only user whose downloads it sees and adds; `nil` for all.
    let user: Username?
    /// Whose hourly limit its downloads count for: the ID of its key, or its IP address; empty for programs on this computer.
    let limitID: String
    /// Whether it can open the library, which only this computer can.
    var isLocal = false

    init(_ role: Role, by holder: Holder, user: Username? = nil, limitID: String = "") {
        (self.role, self.holder, self.user, self.limitID) = (role, holder, user, limitID)
    }

    /// Creates a caller with a key of `security.api_keys`.
    static func household(_ key: String) -> Caller { Caller(.client, by: .secret(key), limitID: "household") }

    /// - Throws: 401 for a stranger.
    func requireKey() throws {
        guard role != .stranger else { throw RequestFailure.keyNeeded }
    }

    /// - Throws: 401 for a stranger, 403 for everyone else who isn't an administrator.
    func requireAdministrator() throws {
        try requireKey()
        guard role == .administrator else {
            throw RequestFailure(
                .forbidden, "forbidden", "only the administrator can do this; use an administrator's key over https")
        }
    }

    /// Whether a download may be seen by this caller.
    func sees(_ row: DownloadRow) -> Bool { user.map { $0.text == row.username } ?? true }
}

extension RequestFailure {
    static let keyNeeded = RequestFailure(
        .unauthorized, "unauthorized", "API key required. Please check your settings.",
        fields: [.wwwAuthenticate: "Bearer"])
}
