import Foundation

/// The cases that tests run.
package enum Cases {
    /// Whether to run all cases, which `make soak` does with `CASES=all`. `make test` leaves out repetitions.
    package static let areAll = ProcessInfo.processInfo.environment["CASES"] == "all"
}
