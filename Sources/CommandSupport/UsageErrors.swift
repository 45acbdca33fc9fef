import ArchiveStore
import ArgumentParser
import Foundation

extension CommandError {
    /// Converts an error of the argument parser.
    init(parserError error: any Error, arguments: [String], of root: any ParsableCommand.Type) {
        if let unknown = UnknownCommand(in: arguments, of: root) {
            self.init(usage: "unknown command \"\(unknown.word)\"", hint: unknown.hint)
            return
        }
        let full = root.fullMessage(for: error)
        let help =
            full.firstMatch(of: /See '(.+)' for more information/).map { String($0.1) } ?? "\(root._commandName) --help"
        let message = Self.withChoicesInOneLine(root.message(for: error))
        let parts = message.split(separator: ". Did you mean ", maxSplits: 1)
        let what = parts.first.map { $0.prefix(1).lowercased() + $0.dropFirst() } ?? "invalid arguments"
        self.init(usage: what, hint: parts.count > 1 ? "did you mean \(parts[1])" : "see `\(help)`")
    }
}

extension CommandError {
    /// Shortens the parser's message about an unknown value, which lists the choices in lines of their own.
    static func withChoicesInOneLine(_ message: String) -> String {
        let pattern = /The value '(.*)' is invalid for '(\S+).*'\. Please provide one of (.*)/.dotMatchesNewlines()
        guard let match = message.wholeMatch(of: pattern) else { return message }
        let choices = match.3.matches(of: /'([^']+)'|\n *- (\S+)/).compactMap { $0.1 ?? $0.2 }
        return "\(match.2) \"\(match.1)\" isn't known; use \(choices.joined(separator: ", "))"
    }
}

/// An argument that should be a command but isn't.
struct UnknownCommand {
    let word: String
    /// The command before it, such as `replayhost collection`.
    let parent: String
    /// A command with a similar name, if any.
    let suggestion: String?

    /// - Returns: `nil` when the arguments contain no unknown command.
    init?(in arguments: [String], of root: any ParsableCommand.Type) {
        var command = root
        var parent = root._commandName
        for word in arguments where word != "help" {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = commands.first(where: { $0._commandName == word }) else {
                self.word = word
                self.parent = parent
                suggestion = Self.closest(to: word, of: commands.map { $0._commandName })
                return
            }
            command = next
            parent += " \(word)"
        }
        return nil
    }

    var hint: String {
        if FolderSearch.isArchive(word) { return "did you mean `replayhost open \(word)`?" }
        guard let suggestion else { return "see `\(parent) --help`" }
        return "did you mean `\(parent) \(suggestion)`? `\(parent) --help` lists all commands"
    }

    /// Returns a name that shares a prefix with the word, or differs from it in at most two letters.
    private static func closest(to word: String, of names: [String]) -> String? {
        let word = word.lowercased()
        let ranked = names.compactMap { name -> (name: String, distance: Int)? in
            if name.hasPrefix(word) || word.hasPrefix(name) { return (name, 1) }
            return Spelling.distance(word, name, most: min(2, name.count - 1)).map { (name, $0) }
        }
        return ranked.min { $0.distance < $1.distance }?.name
    }
}
