import ArchiveStore
import Foundation
import SwiftASN1
import X509

/// Reads and writes the files of certificates and keys.
enum TLSFile {
    /// Reads a small text file.
    ///
    /// - Throws: `StoreError` with a message for people.
    static func text(at path: String) throws(StoreError) -> String {
        let bytes: [UInt8]
        do throws(StoreError) {
            // Nonblocking: opening a FIFO would wait for a writer.
            let file = try Descriptor(named: path, flags: O_RDONLY | O_NONBLOCK)
            guard try file.isRegularFile() else {
                throw StoreError(.failed, "this isn't a file", place: path, hint: "give the path of a PEM file")
            }
            bytes = try file.bytes(at: 0, upTo: bytesMax + 1)
        } catch  where error.code == .notFound {
            throw StoreError(.notFound, "there is no such file", place: path, hint: "check its path")
        } catch  where error.code == .unusable {
            throw StoreError(
                .failed, "this file can't be opened", place: path,
                hint: "let the user who runs replayhost-capture read it")
        }
        guard bytes.count <= bytesMax else {
            throw StoreError(
                .documentDamaged, "this file is larger than \(bytesMax / 1024) KiB, so it isn't a certificate or key",
                place: path, hint: "check its path")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the parts of a PEM text. RFC 7468.
    ///
    /// - Throws: `StoreError` if there are none, or they are damaged.
    static func parts(of text: String, at path: String) throws(StoreError) -> [PEMDocument] {
        guard text.contains("-----BEGIN ") else {
            throw StoreError(
                .documentDamaged, "this file isn't in PEM format, which has a line that starts with -----BEGIN",
                place: path,
                hint:
                    "convert it: `openssl x509 -inform der -in FILE` for a certificate, `openssl pkey -inform der -in FILE` for a key"
            )
        }
        do {
            return try PEMDocument.parseMultiple(pemString: text)
        } catch {
            throw StoreError(
                .documentDamaged, "this PEM file is damaged", place: path, hint: "copy it again from where it was made")
        }
    }

    /// Returns the certificates of a PEM text, in its order; never none.
    static func certificates(of text: String, at path: String) throws(StoreError) -> [Certificate] {
        let parts = try parts(of: text, at: path).filter { $0.discriminator == Certificate.defaultPEMDiscriminator }
        guard !parts.isEmpty else {
            throw StoreError(
                .documentDamaged, "this file has no certificate", place: path,
                hint: "it needs a part that starts with -----BEGIN CERTIFICATE-----")
        }
        do {
            return try parts.map { try Certificate(pemDocument: $0) }
        } catch {
            throw StoreError(
                .documentDamaged, "a certificate in this file can't be read, or its kind of key isn't supported",
                place: path,
                hint: "use RSA with at least 2,048 bits, or ECDSA with P-256, P-384 or P-521")
        }
    }

    /// Returns the private key of a PEM text.
    static func key(of text: String, at path: String) throws(StoreError) -> Certificate.PrivateKey {
        guard let part = try parts(of: text, at: path).first(where: { $0.discriminator.hasSuffix("PRIVATE KEY") })
        else {
            throw StoreError(
                .documentDamaged, "this file has no private key", place: path,
                hint: "it needs a part that starts with -----BEGIN PRIVATE KEY-----")
        }
        guard part.discriminator != "ENCRYPTED PRIVATE KEY", !text.contains("Proc-Type: 4,ENCRYPTED") else {
            throw StoreError(
                .notPossible, "this private key needs a password", place: path,
                hint: "remove the password: openssl pkey -in FILE -out NEW, then use NEW")
        }
        guard let key = try? Certificate.PrivateKey(pemDocument: part), !key.description.hasPrefix("Ed25519") else {
            throw StoreError(
                .notPossible, "this kind of private key isn't supported, or it is damaged", place: path,
                hint: "use RSA with at least 2,048 bits, or ECDSA with P-256, P-384 or P-521")
        }
        return key
    }

    /// Writes a file that only this user can read: to a temporary file, which is flushed and then renamed.
    static func write(_ text: String, to path: String) throws(StoreError) {
        let temporary = path + ".new"
        try Folder.delete(temporary)
        let file = try Descriptor(path: temporary, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try append(text, to: file)
        try file.synchronize()
        try Folder.move(temporary, to: path)
    }

    private static func append(_ text: String, to file: Descriptor) throws(StoreError) {
        let bytes = Array(text.utf8)
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(StoreError) in try file.append(buffer) }
        }
        try result.get()
    }

    private static let bytesMax = 1 << 20
}
