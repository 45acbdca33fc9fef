import Foundation
import TestSupport
import Testing

/// docs/flows.md names functions that exist.
struct FlowsTests {
    @Test func functionsExist() throws {
        let page = try String(contentsOf: URL(fileURLWithPath: Checkout.path("docs/flows.md")), encoding: .utf8)
        let lines = page.split(separator: "\n").filter { $0.first?.isNumber == true }
        #expect(lines.count > 100)
        for line in lines {
            let step = try #require(line.firstMatch(of: #/\[`([A-Za-z.]+)`\]\(\.\./([^)]+)\): /#), "\(line)")
            let (names, path) = (step.1.split(separator: "."), String(step.2))
            let source = try String(contentsOf: URL(fileURLWithPath: Checkout.path(path)), encoding: .utf8)
            let name = try #require(names.last)
            let function =
                if path.hasSuffix(".js") {
                    "(function |const |\\n +)\(name)( = |\\()"
                } else {
                    name == "init" ? "init[?(<]" : "func \(name)[(<]"
                }
            #expect(source.contains(try Regex(function)), "\(step.1) isn't in \(path)")
            for type in names.dropLast().suffix(1) {
                let declaration = try Regex("(struct|class|enum|extension) ([A-Za-z]+\\.)?\(type)\\b")
                #expect(source.contains(declaration), "\(step.1) isn't in \(path)")
            }
        }
    }
}
