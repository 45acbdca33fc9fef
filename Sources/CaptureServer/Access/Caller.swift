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

    let role: Role
    /// The only user whose downloads it sees and adds; `nil` for all.
    let user: Username?
    /// Whose hourly limit its downloads count for: the ID of its key, or its IP address; empty for programs on this computer.
    let limitID: String
    /// Whether it can open the library, which only this computer can.
    var isLocal = false

    init(_ role: Role, user: Username? = nil, limitID: String = "") {
        (self.role, self.user, self.limitID) = (role, user, limitID)
    }

    static let own = Caller(.own)
    /// With a key of `security.api_keys`.
    static let household = Caller(.client, limitID: "household")

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
