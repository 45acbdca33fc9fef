import Foundation
import TestSupport
import Testing

@testable import CaptureWorker

#if os(Linux)
struct ProcessTreeTests {
    /// A shell that starts another, which waits.
    @Test func processesOfProcessesAreMembers() async throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", "/bin/sh -c 'echo $$; read line'; true"]
        let (input, output) = (Pipe(), Pipe())
        (shell.standardInput, shell.standardOutput) = (input, output)
        try shell.run()
        let line = try #require(String(data: output.fileHandleForReading.availableData, encoding: .utf8))
        let inner = try #require(pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)))
        let tree = ProcessTree(of: shell.processIdentifier)
        #expect(Set(tree.members.map(\.id)) == [shell.processIdentifier, inner])
        #expect(ProcessTree(of: getpid()).members.map(\.id).contains(inner))
        try input.fileHandleForWriting.close()
        shell.waitUntilExit()
        #expect(ProcessTree(of: shell.processIdentifier).members.isEmpty)
    }

    @Test func memoryCounts() {
        let before = ProcessTree(of: getpid()).members.first { $0.id == getpid() }
        let size = 200 << 20
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
        memset(memory, 1, size)
        let after = ProcessTree(of: getpid()).members.first { $0.id == getpid() }
        memory.deallocate()
        #expect((after?.bytes ?? 0) > (before?.bytes ?? .max) + UInt64(size / 2))
    }
}
#endif
