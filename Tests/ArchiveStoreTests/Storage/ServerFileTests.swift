import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

struct ServerFileTests {
    private let description = ServerDescription(
        address: "http://localhost:4711", port: 4711, pid: 42, token: String(repeating: "a", count: 64))

    @Test func secondServerReportsFirst() throws {
        let test = try TestStore()
        #expect(ServerFile.running(layout: test.layout) == nil)
        let first = try ServerFile(layout: test.layout)
        try first.write(description)
        #expect(ServerFile.running(layout: test.layout) == description)
        let error = #expect(throws: StoreError.self) { _ = try ServerFile(layout: test.layout) }
        #expect(error?.code == .locked)
        #expect(error?.what.contains("http://localhost:4711") == true)
        let mode = try FileManager.default.attributesOfItem(atPath: test.layout.serverFile)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        first.remove()
        #expect(!FileManager.default.fileExists(atPath: test.layout.serverFile))
    }

    @Test func startingServerHoldsLock() throws {
        let test = try TestStore()
        let first = try ServerFile(layout: test.layout)
        #expect(ServerFile.running(layout: test.layout) == nil)
        #expect(code { _ = try ServerFile(layout: test.layout) } == .locked)
        withExtendedLifetime(first) {}
    }

    @Test func killedServerReleasesLock() throws {
        let test = try TestStore()
        do {
            let killed = try ServerFile(layout: test.layout)
            try killed.write(description)
        }
        #expect(FileManager.default.fileExists(atPath: test.layout.serverFile))
        #expect(ServerFile.running(layout: test.layout) == nil)
        let next = try ServerFile(layout: test.layout)
        try next.write(ServerDescription(address: "http://localhost:1", port: 1, pid: 1, token: "b"))
        #expect(
            ServerFile.running(layout: test.layout)?.address == "http://localhost:1",
            "nothing of the longer one is left")
    }

    /// Another user who could write to the folder may have created it.
    @Test func symbolicLinkIsNotFollowed() throws {
        let test = try TestStore()
        let victim = try test.folder.write("mine", to: "victim")
        try FileManager.default.createSymbolicLink(
            atPath: test.layout.serverFile, withDestinationPath: victim)
        let error = #expect(throws: StoreError.self) { _ = try ServerFile(layout: test.layout) }
        #expect(error?.code == .unusable)
        #expect(error?.place == test.layout.serverFile)
        #expect(ServerFile.running(layout: test.layout) == nil)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
    }

    @Test func hardLinkIsNotWritten() throws {
        let test = try TestStore()
        let victim = try test.folder.write("mine", to: "victim")
        try FileManager.default.linkItem(atPath: victim, toPath: test.layout.serverFile)
        #expect(code { _ = try ServerFile(layout: test.layout) } == .unusable)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
    }

    @Test func fifoIsRefusedWithoutWaiting() throws {
        let test = try TestStore()
        #expect(mkfifo(test.layout.serverFile, 0o600) == 0)
        #expect(code { _ = try ServerFile(layout: test.layout) } == .unusable)
        #expect(ServerFile.running(layout: test.layout) == nil)
    }

    @Test func onlyOneProcessGetsLock() async throws {
        let test = try TestStore()
        let layout = test.layout
        let files = try await withThrowingTaskGroup(of: ServerFile?.self) { tasks in
            for _ in 0..<8 { tasks.addTask { try await onThread { try? ServerFile(layout: layout) } } }
            return try await tasks.reduce(into: [ServerFile]()) { files, file in if let file { files.append(file) } }
        }
        #expect(files.count == 1)
    }
}
