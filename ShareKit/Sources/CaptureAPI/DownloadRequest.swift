public import Foundation

/// A problem with a key of a request, as in the published `detail` lists.
public struct FieldProblem: Sendable, Hashable, Codable, Error {
    /// The kind: `value_error`, `missing` or `type_error`.
    public let type: String
    /// Where: `body` or `query`, then the keys.
    public let loc: [String]
    /// What is wrong, for people.
    public let msg: String

    public init(_ loc: [String], _ msg: String, type: String = "value_error") {
        (self.type, self.loc, self.msg) = (type, loc, msg)
    }

    public static let username = FieldProblem(
        ["body", "username"], "Username must be alphanumeric (letters and numbers only)")
}

/// The body of `POST /download`.
public struct DownloadRequest: Sendable, Hashable {
    public var url: WebURL
    public var username: Username
    public var clientID: String?
    public var options: DownloadOptions
    /// Whether the older client sent it, which is known by its integer `timestamp`.
    public var isFromOlderClient: Bool

    public init(
        url: WebURL, username: Username = .standard, clientID: String? = nil,
        options: DownloadOptions = DownloadOptions(), isFromOlderClient: Bool = false
    ) {
        (self.url, self.username, self.clientID) = (url, username, clientID)
        (self.options, self.isFromOlderClient) = (options, isFromOlderClient)
    }

    /// Why a body isn't a request.
    public enum Refusal: Error, Hashable {
        case notJSON
        /// - Parameter isFromOlderClient: Whether the older client sent it.
        case invalid([FieldProblem], isFromOlderClient: Bool)
    }

    /// Parses a body. Unknown keys are ignored.
    public init(json: Data) throws(Refusal) {
        let body: Body
        do {
            body = try JSONDecoder().decode(Body.self, from: json)
        } catch {
            throw .notJSON
        }
        var problems = body.problems
        // Some apps share a text with the URL in it.
        let url = body.url.flatMap { WebURL($0) ?? WebURL(firstIn: $0) }
        if url == nil, !problems.contains(where: { $0.loc == ["body", "url"] }) {
            problems.append(FieldProblem(["body", "url"], "Invalid URL format"))
        }
        let username = body.username.map(Username.init) ?? .standard
        if username == nil {
            problems.append(.username)
        }
        if let id = body.clientID, id.unicodeScalars.count > 100 {
            problems.append(FieldProblem(["body", "client_id"], "Client ID must be at most 100 characters"))
        }
        let options = body.options ?? DownloadOptions()
        problems += options.problems
        guard problems.isEmpty, let url, let username else {
            throw .invalid(problems, isFromOlderClient: body.isFromOlderClient)
        }
        self.init(
            url: url, username: username, clientID: body.clientID, options: options,
            isFromOlderClient: body.isFromOlderClient)
    }

    /// Parses the body of `POST /download/{id}/retry`, which has only `options`; `nil` if it names none.
    public static func retryOptions(json: Data) throws(Refusal) -> DownloadOptions? {
        guard !json.isEmpty else { return nil }
        let body: Body
        do {
            body = try JSONDecoder().decode(Body.self, from: json)
        } catch {
            throw .notJSON
        }
        let problems = body.problems.filter { $0.loc.contains("options") } + (body.options?.problems ?? [])
        guard problems.isEmpty else { throw .invalid(problems, isFromOlderClient: false) }
        return body.options
    }

    /// The keys of the body, and what is wrong with their types.
    private struct Body: Decodable {
        var url: String?
        var username: String?
        var clientID: String?
        var options: DownloadOptions?
        var isFromOlderClient = false
        var problems: [FieldProblem] = []

        private enum Key: String, CodingKey {
            case url, username, options, timestamp
            case clientID = "client_id"
        }

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: Key.self)
            isFromOlderClient = ((try? keys.decodeIfPresent(Int.self, forKey: .timestamp)) ?? nil) != nil
            url = text(.url, in: keys)
            username = text(.username, in: keys)
            clientID = text(.clientID, in: keys)
            if url == nil, problems.isEmpty {
                problems.append(FieldProblem(["body", "url"], "Field required", type: "missing"))
            }
            do {
                options = try keys.decodeIfPresent(DownloadOptions.self, forKey: .options)
            } catch {
                problems.append(Self.problem(error))
            }
            // The same as none.
            if options?.disposition == .library { options?.disposition = nil }
        }

        private mutating func text(_ key: Key, in keys: KeyedDecodingContainer<Key>) -> String? {
            do {
                return try keys.decodeIfPresent(String.self, forKey: key)
            } catch {
                problems.append(FieldProblem(["body", key.rawValue], "Input should be a string", type: "type_error"))
                return nil
            }
        }

        private static func problem(_ error: any Error) -> FieldProblem {
            let path: [any CodingKey]
            let message: String
            switch error {
            case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
                (path, message) = (context.codingPath, "Input has the wrong type")
            case DecodingError.dataCorrupted(let context):
                (path, message) = (context.codingPath, "Input is not one of the known values")
            default: (path, message) = ([], "Input is not valid")
            }
            let names = path.map(\.stringValue)
            return FieldProblem(["body"] + (names.isEmpty ? ["options"] : names), message, type: "type_error")
        }
    }
}
