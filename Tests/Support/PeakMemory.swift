import Foundation

/// Returns the peak memory use of this process, in bytes.
package func peakMemory() throws -> Int {
    #if os(Linux)
    // Not `getrusage`, which includes the parent process.
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let words = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: \.isWhitespace)
    guard let words, let kibibytes = Int(words[1]) else { throw CocoaError(.fileReadCorruptFile) }
    return kibibytes << 10
    #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss
    #endif
}
