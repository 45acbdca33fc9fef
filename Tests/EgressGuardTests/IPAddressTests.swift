import Testing

@testable import EgressGuard

struct IPAddressTests {
    /// The first and the last address of each block of IANA's special-purpose registries that isn't globally reachable, and
    /// addresses beside them.
    @Test(arguments: [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.0.0", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.255",
        "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.7",
        "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:1::1", "2001:2::1", "2001:10::1", "2001:20::1",
        "2001:db8::1", "2002:7f00:1::", "2002:c0a8:101::1", "2002:a9fe:a9fe::1", "3fff::1", "5f00::1", "fc00::1",
        "fdff::1", "fe80::1", "fec0::1", "ff02::1",
    ])
    func addressesThatAreNotPublic(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!address.isPublic)
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.88.98.255",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
        "::ffff:1.1.1.1", "64:ff9b::101:101", "2001:200::1", "2001:dbf::1", "2002:101:101::1", "2606:4700::1111",
        "2a00::1", "3ffe::1",
    ])
    func addressesThatArePublic(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.isPublic)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "0x7f.1", "2130706433", "1.2.3.256", "[::1]", "fe80::1%eth0", "::1:80 ",
    ])
    func textThatIsNoAddress(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    /// The table in RFC 6052 §2.4.
    @Test(arguments: [
        (32, "2001:db8:c000:221::"), (40, "2001:db8:1c0:2:21::"), (48, "2001:db8:122:c000:2:2100::"),
        (56, "2001:db8:122:3c0:0:221::"), (64, "2001:db8:122:344:c0:2:2100::"), (96, "2001:db8:122:344::192.0.2.33"),
    ])
    func translatedAddressesHaveAnIPv4Address(bits: Int, text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.embedded(after: IPAddress.Block(start: address, bits: bits)) == IPAddress("192.0.2.33"))
    }

    @Test func mappedAddressesStandForTheirIPv4Address() throws {
        #expect(IPAddress("::ffff:192.0.2.7")?.unmapped == IPAddress("192.0.2.7"))
        #expect(IPAddress("2001:db8::7")?.unmapped == IPAddress("2001:db8::7"))
    }
}
