import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import CaptureServer

struct FolderRemovalTests {
    private let test: TemporaryFolder
    private var root: String { test.path("root") }

    init() throws {
        test = try TemporaryFolder()
        mkdir(root, 0o700)
    }

    /// A path of more than 4,096 bytes can't be used (PATH_MAX).
    @Test func depthDoesNotMatter() throws {
        var folder = try Descriptor(path: root, flags: O_RDONLY | O_DIRECTORY)
        for level in 0..<5_000 {
            let name = level % 2 == 0 ? "d" : String(repeating: "x", count: 200)
            try #require(mkdirat(folder.number, name, 0o700) == 0)
            let file = openat(folder.number, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0o000)
            try #require(file >= 0 && close(file) == 0)
            let number = openat(folder.number, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            try #require(number >= 0)
            // Of the folder above, once it's open.
            fchmod(folder.number, level % 3 == 0 ? 0 : 0o700)
            folder = Descriptor(owning: number, path: name)
        }
        try FolderRemoval.delete(root)
        #expect(!Folder.hasName(root))
    }

    @Test func namesThatAreNotTextDoNotMatter() throws {
        for name in [[0xFF], [0xC3, 0x28], [0x2E, 0x2E, 0x2E], [0x0A], Array(repeating: 0xFE, count: 255)] as [[UInt8]]
        {
            let path = FolderRemoval.Name((Array("\(root)/".utf8) + name + [0]).map { CChar(bitPattern: $0) })
            try #require(mkdir(path, 0o700) == 0)
            let inner = path.dropLast() + [CChar(bitPattern: 0x2F)] + path.dropFirst(root.utf8.count + 1)
            try #require(mkdir(Array(inner), 0o000) == 0)
            chmod(path, 0o000)
        }
        try FolderRemoval.delete(root)
        #expect(!Folder.hasName(root))
    }

    @Test func targetsOfLinksStay() throws {
        let outside = test.path("outside")
        mkdir(outside, 0o555)
        symlink(outside, root + "/folder")
        mkdir(root + "/inner", 0o700)
        symlink(outside, root + "/inner/folder")
        symlink("/etc/passwd", root + "/inner/file")
        symlink("none", root + "/inner/dangling")
        symlink(root, test.path("link"))
        try FolderRemoval.delete(test.path("link"))
        #expect(Folder.isFolder(root))
        try FolderRemoval.delete(root)
        #expect(names(in: test.path("")) == ["outside"])
        #expect(try FileManager.default.attributesOfItem(atPath: outside)[.posixPermissions] as? Int == 0o555)
    }

    @Test func manyFoldersBesideEachOtherAreDeleted() throws {
        for number in 0..<2_000 {
            mkdir("\(root)/\(number)", 0o700)
            for inner in ["a", "b"] { mkdir("\(root)/\(number)/\(inner)", 0o000) }
        }
        try FolderRemoval.delete(root)
        #expect(!Folder.hasName(root))
    }

    @Test func whatIsMissingIsDeleted() throws {
        try FolderRemoval.delete(test.path("none"))
        try FolderRemoval.delete(test.path("none/inner"))
        #expect(throws: StoreError.self) { try FolderRemoval.delete("/proc/self") }
        #expect(throws: StoreError.self) { try FolderRemoval.delete("/proc/self/status") }
    }
}
