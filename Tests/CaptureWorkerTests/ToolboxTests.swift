import Foundation
import TestSupport
import Testing

@testable import CaptureWorker

struct ToolboxTests {
    /// As Ubuntu's `/usr/bin/chromium-browser`, and a script of Debian's kind.
    @Test(arguments: [
        ("#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n", true),
        ("#!/bin/sh\nexec /usr/lib/chromium/chromium \"$@\"\n", false),
        ("\u{7F}ELF /snap/bin/chromium", false), ("", false),
    ])
    func scriptsThatStartSnapsAreSnaps(script: String, isSnap: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/chromium"
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        #expect(Toolbox.isSnap(path) == isSnap)
    }

    /// Without an environment, only its version says how old it is.
    @Test(arguments: [(nil, true), (29.0, false), (31.0, true)] as [(Double?, Bool)])
    func oldMediaToolIsNamedUnlessItWasUpdatedLately(daysSinceUpdate: Double?, isNamed: Bool) throws {
        let folder = try TemporaryFolder()
        if let daysSinceUpdate {
            try FileManager.default.createDirectory(atPath: folder.path + "/current", withIntermediateDirectories: true)
            #expect(
                FileManager.default.createFile(
                    atPath: folder.path + "/current/pyvenv.cfg", contents: Data(),
                    attributes: [.modificationDate: Date(timeIntervalSinceNow: -daysSinceUpdate * 86_400)]))
        }
        let toolbox = Toolbox(environment: ["REPLAYHOST_TOOLS": folder.path])
        #expect((toolbox.days(withoutUpdateOf: "2020.01.01") != nil) == isNamed)
        #expect(toolbox.days(withoutUpdateOf: "nightly") == nil)
    }

    @Test func missingProgramIsNoSnap() { #expect(!Toolbox.isSnap("/nonexistent/chromium")) }
}
