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
    ///   for a wrong key after too many.
    func caller(
        of request: Request, _ context: ConnectionContext, isEncrypted: Bool, _ rules: CaptureConfiguration.Security
    ) async throws -> Caller {
        guard let address = Self.address(of: context) else { return Caller(.stranger, by: .rule(rules.keyRule)) }
        if let key = try Self.key(in: request) {
            if let holder = try await holder(of: key, address, isEncrypted, rules) { return holder }
            let user = address.isLoopback ? try await own.verdict(on: context) : nil
            return try chosenKeyHolder(key, user.map { .program($0) } ?? .address(address), rules)
        }
        if address.isLoopback, rules.keyRule != .always, try await own.allows(context) {
            return Caller(.own, by: .rule(rules.keyRule))
        }
        let isAdmitted = rules.keyRule == .never && address.isPrivate
        return isAdmitted
            ? Caller(.client, by: .rule(.never), limitID: "ip \(address)") : Caller(.stranger, by: .rule(rules.keyRule))
    }

    /// Returns everything that callers are admitted by now.
    func holders(_ rules: CaptureConfiguration.Security) async throws -> [Caller.Holder] {
        let ids = try await BlockingWork().long { [keys] in try keys.validIDs() }
        return ids.map { .key($0) } + (rules.apiKeys + sessions.all() + [token]).map { .secret($0) }
            + [.rule(rules.keyRule)]
    }

    /// Returns who has a key that can't be guessed; `nil` for any other key. Such keys work however many wrong ones come: one
    /// that does nothing else than send wrong keys would lock others out.
    private func holder(
        of key: String, _ address: IPAddress, _ isEncrypted: Bool, _ rules: CaptureConfiguration.Security
    ) async throws -> Caller? {
        if address.isLoopback, key.isSameSecret(as: token) || sessions.include(key) {
            return Caller(.administrator, by: .secret(key))
        }
        if key.utf8.count >= Self.guessableMax, rules.apiKeys.contains(where: key.isSameSecret) {
            return .household(key)
        }
        guard let found = try await BlockingWork().long({ [keys] in try keys.find(key) }) else { return nil }
        guard found.isAdministrator else {
            let user = found.username.flatMap { Username($0) }
            return Caller(.client, by: .key(found.id), user: user, limitID: "\(found.id)")
        }
        guard isEncrypted || address.isLoopback else {
            throw RequestFailure(
                .forbidden, "forbidden",
                "an administrator's key works over https only; revoke this one, since it was sent in the clear")
        }
        return Caller(.administrator, by: .key(found.id), limitID: "\(found.id)")
    }

    /// Returns the household if it has this short key of the configuration, and not too many wrong keys came.
    private func chosenKeyHolder(
        _ key: String, _ sender: WrongKeys.Sender, _ rules: CaptureConfiguration.Security
    ) throws -> Caller {
        if let seconds = wrongKeys.wait(of: sender) {
            throw RequestFailure(
                .tooManyRequests, "rate_limited", "too many wrong keys from this address; try again later",
                fields: [.retryAfter: "\(seconds)"])
        }
        if rules.apiKeys.contains(where: key.isSameSecret) { return .household(key) }
        wrongKeys.add(sender)
        throw RequestFailure(
            .unauthorized, "unauthorized", "this key isn't known, or was revoked",
            fields: [.wwwAuthenticate: "Bearer error=\"invalid_token\""])
    }

    /// A key that a person chose must have this length so that it can't be guessed: 32 hexadecimal digits are 128 bits.
    private static let guessableMax = 32

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

    static func address(of context: ConnectionContext) -> IPAddress? {
        context.remoteAddress?.ipAddress.flatMap { IPAddress($0) }?.unmapped
    }
}

extension HTTPField.Name {
    static let apiKey = HTTPField.Name.name("X-API-Key")
}
