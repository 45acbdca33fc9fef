import ArchiveStore
import ReplayServer
import WebArchive

/// Why something did not work: a stable code for programs, words for people.
public struct ReplayHostError: Error, Sendable, Hashable, CustomStringConvertible {
    /// For example `port-in-use`; the codes are listed in `docs/json.md`.
    public let code: String
    /// What went wrong, lower-case start, no full stop.
    public let what: String
    /// The file or folder that it happened to.
    public let place: String?
    /// What to do now.
    public let hint: String?

    init(code: String, what: String, place: String? = nil, hint: String? = nil) {
        (self.code, self.what, self.place, self.hint) = (code, what, place, hint)
    }

    /// Any error of the rooms below.
    package init(_ error: any Error) {
        switch error {
        case let error as ReplayHostError: self = error
        case let error as StoreError:
            self.init(code: error.code.rawValue, what: error.what, place: error.place, hint: error.hint)
        case let error as WebArchiveError: self.init(StoreError.refused(error))
        case let error as PortInUse:
            self.init(
                code: "port-in-use", what: error.description,
                hint: "stop that program, or choose another port: 0 takes any free one")
        case let error as ListenFailure:
            self.init(code: "port-unavailable", what: error.description, hint: "choose a port above 1023")
        case let error as ClientsUnknown:
            self.init(
                code: "users-unknown", what: error.description,
                hint: "answer every user of this computer, if you trust them: allowedUsers = .everyone")
        default: self.init(code: "failed", what: "\(error)")
        }
    }

    static func inWords<Value>(_ body: () throws -> Value) throws(ReplayHostError) -> Value {
        do {
            return try body()
        } catch {
            throw ReplayHostError(error)
        }
    }

    /// What, where, and what to do now.
    public var description: String {
        var text = what
        if let place { text += ", \(place)" }
        if let hint { text += "; \(hint)" }
        return text
    }
}
