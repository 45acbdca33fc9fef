import ArchiveStore
import Foundation
import ReplayServer
import WebArchive

/// An error of a `ReplayHost`, with a stable code for programs and a message for people.
public struct ReplayHostError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code, for example `port-in-use`. All codes are listed in `docs/json.md`.
    public let code: String
    /// What went wrong, starting in lower case, without a full stop.
    public let what: String
    /// The file or folder concerned.
    public let place: String?
    /// What to do now.
    public let hint: String?

    init(code: String, what: String, place: String? = nil, hint: String? = nil) {
        (self.code, self.what, self.place, self.hint) = (code, what, place, hint)
    }

    /// Converts any error of the modules below.
    package init(_ error: any Error) {
        switch error {
        case let error as ReplayHostError: self = error
        case let error as StoreError:
            self.init(code: error.code.rawValue, what: error.what, place: error.place, hint: error.hint)
        case let error as WebArchiveError: self.init(StoreError.refused(error))
        case let error as CocoaError: self.init(StoreError.file(error, doing: "using the file"))
        case let error as PortInUse:
            self.init(
                code: "port-in-use", what: error.description,
                hint: "stop that program, or choose another port; 0 means any free port")
        case let error as ListenFailure:
            self.init(code: "port-unavailable", what: error.description, hint: "choose a port above 1023")
        case let error as ClientsUnknown:
            self.init(
                code: "users-unknown", what: error.description,
                hint: "if you trust all users of this computer, set allowedUsers = .everyone")
        default: self.init(code: "failed", what: "\(error)")
        }
    }

    static func converting<Value>(_ body: () throws -> Value) throws(ReplayHostError) -> Value {
        do {
            return try body()
        } catch {
            throw ReplayHostError(error)
        }
    }

    /// The message, the place and the hint in one line.
    public var description: String {
        var text = what
        if let place { text += ", \(place)" }
        if let hint { text += "; \(hint)" }
        return text
    }
}
