/// Something about a certificate that a person should know, while the server works.
package struct CertificateWarning: Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, starting in lower case, without a full stop.
    package let what: String
    /// What to do now.
    package let hint: String?

    init(_ what: String, hint: String? = nil) {
        self.what = what
        self.hint = hint
    }

    package var description: String { hint.map { "\(what); \($0)" } ?? what }
}
