// Lists the pages of an archive, or writes the body of one of its captures. Uses only the WebArchive library.
//
//     swift run ReadArchive ARCHIVE.wacz [URL]

import Foundation
import WebArchive

@main
struct ReadArchive {
    static func main() {
        let arguments = CommandLine.arguments
        do {
            switch arguments.count {
            case 2: try list(arguments[1])
            case 3: try write(arguments[2], of: arguments[1])
            default: print("usage: ReadArchive ARCHIVE.wacz [URL]")
            }
        } catch {
            print("error: \(error)")
            exit(1)
        }
    }

    static func list(_ path: String) throws {
        let wacz = try WACZFile.open(path: path)
        print(wacz.dataPackage?.title ?? wacz.name)
        let findings = try wacz.forEachPage { page in
            print("\(page.timestamp ?? "-") \(page.url) \(page.title ?? "")")
            return true
        }
        for finding in findings { print("\(finding.severity): \(finding.what)") }
    }

    static func write(_ url: String, of path: String) throws {
        let wacz = try WACZFile.open(path: path)
        // Revisits have no payload, but refer to an earlier one. All other captures have one.
        guard let entry = try wacz.closestCapture(toURL: url, at: nil, where: { !$0.isRevisit }) else {
            return print("\(url) wasn't captured")
        }
        let content = try RecordContent(wacz.record(of: entry))
        let body = ContentDecoder.decode(try content.openBody(), content.codings ?? [], content.record.allowance)
        let bytes = try body.readAll(limit: 16 << 20)
        let type = content.contentType ?? "unknown"
        let head = "\(entry.timestamp) \(content.head?.status ?? 0) \(type), \(bytes.count) bytes\n"
        FileHandle.standardOutput.write(Data(head.utf8) + Data(bytes))
    }
}
