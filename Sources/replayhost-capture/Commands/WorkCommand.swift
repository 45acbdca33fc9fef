import ArgumentParser
import CaptureWorker
import CommandSupport
import Foundation

/// `replayhost-capture work`: one attempt, in the session folder that is the current one. Only the server starts it.
struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "work", shouldDisplay: false)

    func run() async throws {
        // A server that died closes standard output; the thread below then ends this process and its tools.
        signal(SIGPIPE) { _ in }
        Self.endWithServer()
        try await Attempt.run(in: FileManager.default.currentDirectoryPath) { message in
            Terminal.writeJSON(message)
        }
    }

    /// Ends this process group when the server's end closes standard input.
    private static func endWithServer() {
        // Not when a person runs it in a shell's group. The leader of a confined worker's group is outside: it is 0.
        guard [0, getpid()].contains(getpgrp()) else { return }
        let thread = Thread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || count < 0 && errno != EINTR { break }
            }
            kill(0, SIGKILL)
        }
        thread.start()
    }
}
