public import Foundation

/// The SHA-256 of a certificate, by which clients recognize it.
public enum Fingerprint {
    /// Whether a text is a SHA-256: 64 hexadecimal digits in lower case.
    static func isValid(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Returns the certificate in a PEM file, as DER; `nil` unless it has exactly one. RFC 7468 §5.
    static func certificate(inPEM text: String) -> Data? {
        let parts = text.components(separatedBy: "-----BEGIN CERTIFICATE-----")
        guard parts.count == 2, let end = parts[1].range(of: "-----END CERTIFICATE-----") else { return nil }
        return Data(base64Encoded: String(parts[1][..<end.lowerBound]), options: .ignoreUnknownCharacters)
    }

    /// Returns a certificate as PEM.
    static func pem(of certificate: Data) -> String {
        let text = certificate.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }

    /// Returns the SHA-256 of bytes, as 64 hexadecimal digits. FIPS 180-4 §6.2.
    public static func sha256(_ data: Data) -> String {
        // Foundation has none, and a library for one hash of a certificate would be this package's only dependency.
        var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        var message = Array(data) + [0x80]
        message += [UInt8](repeating: 0, count: (120 - message.count % 64) % 64)
        message += (0..<8).map { UInt8(truncatingIfNeeded: (UInt64(data.count) * 8) >> (56 - 8 * $0)) }
        for block in stride(from: 0, to: message.count, by: 64) { compress(&state, message[block..<block + 64]) }
        return state.map { String(repeating: "0", count: 8 - String($0, radix: 16).count) + String($0, radix: 16) }
            .joined()
    }

    private static func compress(_ state: inout [UInt32], _ block: ArraySlice<UInt8>) {
        func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { place in
            block[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for place in 16..<64 {
            let (early, late) = (words[place - 15], words[place - 2])
            let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
            let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
            words.append(words[place - 16] &+ first &+ words[place - 7] &+ second)
        }
        var new = state
        for place in 0..<64 {
            let (a, b, c, e, f, g) = (new[0], new[1], new[2], new[4], new[5], new[6])
            let choice = (e & f) ^ (~e & g)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let first =
                new[7] &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ choice &+ constants[place]
                &+ words[place]
            let second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ majority
            new = [first &+ second, a, b, c, new[3] &+ first, e, f, g]
        }
        for place in 0..<8 { state[place] &+= new[place] }
    }

    /// FIPS 180-4 §4.2.2.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
