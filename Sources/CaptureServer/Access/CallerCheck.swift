import CaptureAPI
import EgressGuard
import Foundation
import HTTPTypes
import Hummingbird
import ReplayServer

/// Determines who sends a request.
struct CallerCheck: Sendable {
    let keys: APIKeys
    /// The administrator's token, of `capture.json`.
    let token: String
    let sessions: AdministratorSessions
    let own: ClientCheck
    let wrongKeys: WrongKeys

    /// - Throws: `RequestFailure` 401 for a wrong key, 403 for an administrator's key that anyone could have read, and 429
    ///   after too many wrong ones.
    func caller(
        of request: Request, _ context: ConnectionContext, isEncrypted: Bool, _ rules: CaptureConfiguration.Security
    ) async throws -> Caller {
        guard let address = Self.address(of: context) else { return Caller(.stranger) }
        if let key = try Self.key(in: request) { return try await holder(of: key, address, isEncrypted, rules) }
        if address.isLoopback, rules.keyRule != .always, try await own.allows(context) { return .own }
        let isAdmitted = rules.keyRule == .never && address.isPrivate
        return isAdmitted ? Caller(.client, limitID: "ip \(address)") : Caller(.stranger)
    }

    private func holder(
        of key: String, _ address: IPAddress, _ isEncrypted: Bool, _ rules: CaptureConfiguration.Security
    ) async throws -> Caller {
        let source = address.description
        if let seconds = wrongKeys.wait(of: source) {
            throw RequestFailure(
                .tooManyRequests, "rate_limited", "too many wrong keys from this address; try again later",
                fields: [.retryAfter: "\(seconds)"])
        }
        if address.isLoopback, key.isSameSecret(as: token) || sessions.include(key) { return Caller(.administrator) }
        if rules.apiKeys.contains(where: key.isSameSecret) {
            return Caller(.client, limitID: "household")
        }
        guard let found = try await BlockingWork().long({ [keys] in try keys.find(key) }) else {
            wrongKeys.add(source)
            throw RequestFailure(
                .unauthorized, "unauthorized", "this key isn't known, or was revoked",
                fields: [.wwwAuthenticate: "Bearer error=\"invalid_token\""])
        }
        guard found.isAdministrator else {
            return Caller(.client, user: found.username.flatMap { Username($0) }, limitID: "\(found.id)")
        }
        guard isEncrypted || address.isLoopback else {
            throw RequestFailure(
                .forbidden, "forbidden",
                "an administrator's key works over https only; revoke this one, since it was sent in the clear")
        }
        return Caller(.administrator, limitID: "\(found.id)")
    }

    /// Returns the key of `Authorization: Bearer` (RFC 6750 §2.1) or `X-API-Key`; `nil` without any.
    private static func key(in request: Request) throws -> String? {
        // RFC 6750 §2.3 allows it, and §5.3 tells why not.
        let inQuery = request.uri.queryParameters.contains { queryNames.contains($0.key.lowercased()) }
        guard !inQuery else {
            throw RequestFailure(
                .unauthorized, "unauthorized",
                "send the key as Authorization: Bearer; a key in a URL ends up in histories and logs")
        }
        var keys: Set<String> = []
        for value in request.headers[values: .authorization] {
            let parts = value.split(separator: " ", omittingEmptySubsequences: true)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else {
                throw RequestFailure(
                    .unauthorized, "unauthorized", "send the key as Authorization: Bearer",
                    fields: [.wwwAuthenticate: "Bearer"])
            }
            keys.insert(String(parts[1]))
        }
        for value in request.headers[values: .apiKey] where !value.isEmpty { keys.insert(value) }
        guard keys.count <= 1 else {
            throw RequestFailure(.unauthorized, "unauthorized", "the request has two different keys; send one")
        }
        return keys.first
    }

    private static let queryNames: Set<String> = ["key", "api_key", "apikey", "access_token", "token"]

    private static func address(of context: ConnectionContext) -> IPAddress? {
        context.remoteAddress?.ipAddress.flatMap { IPAddress($0) }?.unmapped
    }
}

extension HTTPField.Name {
    static let apiKey = HTTPField.Name.name("X-API-Key")
}
