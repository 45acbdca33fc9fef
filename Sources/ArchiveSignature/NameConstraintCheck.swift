import X509

/// Checks names against the constraints of an authority. RFC 5280 §4.2.1.10.
///
/// Only constraints of domains and distinguished names are compared. A certificate with another kind of name, for
/// example an IP address, is refused if there is a constraint of this kind.
enum NameConstraintCheck {
    /// Returns why the certificates below an authority violate its constraints; `nil` if they don't.
    static func problem(of issuer: ChainCertificate, below path: [ChainCertificate]) -> String? {
        guard let constraints = issuer.nameConstraints else { return nil }
        let count = constraints.permittedSubtrees.count + constraints.excludedSubtrees.count
        for certificate in path {
            var names = certificate.names ?? []
            if !certificate.certificate.subject.isEmpty {
                names.append(.directoryName(certificate.certificate.subject))
            }
            // Without alternative names, the common name counts as the domain.
            if certificate.names == nil, let name = certificate.commonName, name.contains("."), !name.contains(" ") {
                names.append(.dnsName(name))
            }
            let (comparisons, overflow) = names.count.multipliedReportingOverflow(by: count)
            guard !overflow, comparisons <= SignatureLimits.nameComparisonsMax else {
                return "The certificate of “\(certificate.name)” has too many names to compare with constraints."
            }
            for name in names where !isAllowed(name, by: constraints) {
                return "The certificate of “\(issuer.name)” doesn't allow all names of “\(certificate.name)”."
            }
        }
        return nil
    }

    private static func isAllowed(_ name: GeneralName, by constraints: NameConstraints) -> Bool {
        let permitted = constraints.permittedSubtrees.compactMap { isIn(name, $0) }
        let excluded = constraints.excludedSubtrees.compactMap { isIn(name, $0) }
        // A kind that can't be compared counts as excluded, and as not permitted.
        return (permitted.isEmpty || permitted.contains(.yes)) && excluded.allSatisfy { $0 == .no }
    }

    private enum Answer { case yes, no, unknown }

    /// Returns whether a name is in a subtree; `nil` if the subtree is of another kind.
    private static func isIn(_ name: GeneralName, _ subtree: GeneralName) -> Answer? {
        switch (name, subtree) {
        case (.dnsName(let name), .dnsName(let subtree)): DomainName.isIn(name, subtree: subtree) ? .yes : .no
        case (.directoryName(let name), .directoryName(let subtree)): name.starts(with: subtree) ? .yes : .no
        case (.rfc822Name, .rfc822Name), (.uniformResourceIdentifier, .uniformResourceIdentifier),
            (.ipAddress, .ipAddress), (.otherName, .otherName), (.registeredID, .registeredID),
            (.x400Address, .x400Address), (.ediPartyName, .ediPartyName):
            .unknown
        default: nil
        }
    }
}
