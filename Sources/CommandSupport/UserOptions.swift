package import ArgumentParser
import Foundation
package import ReplayHostKit

/// The users of this computer who can connect to the server.
package struct UserOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-user"),
        help: ArgumentHelp("Also let this user of the computer connect (repeatable).", valueName: "name or uid"))
    package var names: [String] = []

    @Flag(name: .customLong("allow-other-users"), help: "Let every user of this computer connect.")
    package var allowsEveryone = false

    package init() {}

    package func validate() throws {
        for name in names where Self.identifier(of: name) == nil {
            throw ValidationError("no user \"\(name)\" on this computer")
        }
    }

    /// Returns the allowed users, which include the one who ran `sudo`.
    package func users(_ environment: [String: String]) -> ReplayHost.AllowedUsers {
        if allowsEveryone { return .everyone }
        let sudo = environment["SUDO_UID"].flatMap { UInt32($0) }
        return .own(and: Set(names.compactMap(Self.identifier) + [sudo].compactMap { $0 }))
    }

    /// The same options as command-line arguments.
    package var arguments: [String] {
        names.flatMap { ["--allow-user", $0] } + (allowsEveryone ? ["--allow-other-users"] : [])
    }

    private static func identifier(of name: String) -> UInt32? {
        if let user = getpwnam(name) { return user.pointee.pw_uid }
        // In chown(2) and others, the largest number means no user.
        return UInt32(name).flatMap { $0 == .max ? nil : $0 }
    }
}
