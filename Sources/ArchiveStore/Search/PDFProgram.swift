import Foundation

#if os(Linux)
import CLinux
#endif

/// `pdftotext` of Poppler, which reads the text of PDFs in a separate process, with limits and in a sandbox.
///
/// PDFs are complex, and an archive can contain any. In the sandbox, the program can read the PDF and its own libraries. It
/// has no network, and can't change a file or start a process.
package struct PDFProgram: Sendable {
    package enum Sandbox: String, Sendable, CaseIterable {
        /// Needs Linux 5.13, but no other program and no namespaces, so it works in containers.
        case landlock = "Landlock and seccomp"
        /// `bwrap`, with the same filter of system calls.
        case bubblewrap
    }

    /// How a run ended.
    enum End {
        case success, failure, tooMuchOutput
    }

    package let path: String
    /// `nil` if none works.
    package let sandbox: Sandbox?
    var processorSecondsMax: UInt32 = 10
    /// The maximum address space in bytes. Most PDFs need 12 MB.
    var memoryMax: UInt64 = 512 << 20
    /// A program that only waits uses no processor time.
    var secondsMax: UInt32 = 600

    /// The installed program and the first sandbox in which it starts; `nil` if it isn't installed. Tried once.
    package static let installed: PDFProgram? = {
        let paths = ["/usr/bin/pdftotext", "/usr/local/bin/pdftotext", "/opt/homebrew/bin/pdftotext"]
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else { return nil }
        #if os(Linux)
        let sandbox = Sandbox.allCases.first { sandbox in
            (try? PDFProgram(path: path, sandbox: sandbox).run(["-v"])) == .success
        }
        return PDFProgram(path: path, sandbox: sandbox)
        #else
        return PDFProgram(path: path, sandbox: nil)
        #endif
    }()

    /// Runs the program, and passes on what it writes to its standard output.
    ///
    /// - Parameters:
    ///   - input: The file that it can read.
    ///   - spent: Called with the seconds of processor time that it took.
    func run(
        _ arguments: [String], input: String? = nil, spent: (Double) -> Void = { _ in },
        receive: ([UInt8]) throws -> Void = { _ in }
    ) throws -> End {
        #if os(Linux) || os(macOS)
        let (process, output) = try start(arguments, readable: Self.readable + (input.map { [$0] } ?? []))
        do {
            let end = try readAll(output, receive)
            if end != .success { kill(process.id, SIGKILL) }
            let (hasSucceeded, seconds) = process.wait()
            spent(seconds)
            return end == .success && !hasSucceeded ? .failure : end
        } catch {
            kill(process.id, SIGKILL)
            spent(process.wait().seconds)
            throw error
        }
        #else
        return .failure
        #endif
    }

    #if os(Linux) || os(macOS)
    private struct Running {
        let id: pid_t
        /// Waits for the end. Returns whether the program succeeded, and its processor time.
        let wait: () -> (hasSucceeded: Bool, seconds: Double)
    }

    /// Reads to the end of the output.
    private func readAll(_ output: Descriptor, _ receive: ([UInt8]) throws -> Void) throws -> End {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var total = 0
        while true {
            let count = read(output.number, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .success }
            total += count
            guard total <= Self.outputMax else { return .tooMuchOutput }
            try receive(Array(buffer.prefix(count)))
        }
    }

    /// Starts the program, and returns it with the reading end of its standard output. The other end is closed here.
    private func start(_ arguments: [String], readable: [String]) throws -> (Running, Descriptor) {
        let (reading, writing) = try Descriptor.pipe()
        return try withExtendedLifetime(writing) {
            (try start(arguments, readable: readable, output: writing), reading)
        }
    }

    #if os(Linux)
    private func start(_ arguments: [String], readable: [String], output: Descriptor) throws -> Running {
        let command = [path] + arguments
        guard sandbox == .bubblewrap else {
            return try start(command, readable: sandbox == nil ? nil : readable, input: nil, output)
        }
        // bubblewrap reads the filter of system calls from its standard input. The filter fits into the pipe's buffer.
        let (input, writing) = try Descriptor.pipe()
        var filter = [sock_filter](repeating: sock_filter(), count: Int(CLINUX_FILTER_MAX))
        let count = clinux_make_filter(&filter, 1)
        try filter.prefix(count).withUnsafeBytes { try writing.append($0) }
        return try start(bubblewrap(command, readable), readable: nil, input: input, output)
    }

    /// Starts a command, in a sandbox of Landlock and seccomp if `readable` isn't `nil`.
    private func start(
        _ command: [String], readable: [String]?, input: Descriptor?, _ output: Descriptor
    ) throws -> Running {
        let program = try Descriptor(named: command[0], flags: O_RDONLY)
        let arguments = command.map { strdup($0) } + [nil]
        let paths = readable.map { $0.map { strdup($0) } + [nil] }
        defer { for string in arguments + (paths ?? []) { free(string) } }
        let descriptors = clinux_descriptors(
            program: program.number, input: input?.number ?? -1, output: output.number)
        let limits = clinux_limits(
            memory: memoryMax, processor: UInt64(processorSecondsMax), duration: secondsMax)
        let id = withExtendedLifetime((program, input)) { clinux_start(descriptors, arguments, paths, limits) }
        guard id > 0 else { throw StoreError.system(errno, doing: "starting", path: path) }
        return Running(id: id) {
            var status: Int32 = 0
            var usage = rusage()
            while wait4(id, &status, 0, &usage) < 0, errno == EINTR {}
            let times = [usage.ru_utime, usage.ru_stime]
            return (status == 0, times.reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 })
        }
    }

    /// The program runs as the first process of its namespace, since bubblewrap's own needs other system calls.
    private func bubblewrap(_ command: [String], _ readable: [String]) -> [String] {
        ["/usr/bin/bwrap", "--unshare-all", "--as-pid-1", "--die-with-parent", "--cap-drop", "ALL", "--seccomp", "0"]
            + (readable + [path]).flatMap { ["--ro-bind-try", $0, $0] } + ["--"] + command
    }
    #else
    private func start(_ arguments: [String], readable: [String], output: Descriptor) throws -> Running {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let limits = "ulimit -v \(memoryMax >> 10); ulimit -t \(processorSecondsMax); ulimit -c 0"
        process.arguments = ["-c", "\(limits); exec \"$0\" \"$@\"", path] + arguments
        process.environment = ["LC_ALL": "C"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(fileDescriptor: output.number, closeOnDealloc: false)
        process.standardError = FileHandle.nullDevice
        try process.run()
        let start = ContinuousClock.now
        return Running(id: process.processIdentifier) {
            process.waitUntilExit()
            // `Process` doesn't report the processor time, which is less.
            return (
                process.terminationReason == .exit && process.terminationStatus == 0,
                (ContinuousClock.now - start) / .seconds(1)
            )
        }
    }
    #endif
    #endif

    /// Libraries, and the character maps of the Debian package `poppler-data`.
    private static let readable = [
        "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/usr/share/poppler",
        "/usr/local/share/poppler",
    ]
    private static let outputMax = 64 << 20
}

#if os(Linux) || os(macOS)
extension Descriptor {
    /// Returns the ends of a new pipe.
    fileprivate static func pipe() throws(StoreError) -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let result = pipe2(&ends, O_CLOEXEC)
        #else
        let result = Darwin.pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #endif
        guard result == 0 else { throw .system(errno, doing: "opening", path: "a pipe") }
        return (Descriptor(owning: ends[0], path: "a pipe"), Descriptor(owning: ends[1], path: "a pipe"))
    }
}
#endif
