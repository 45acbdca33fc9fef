#!/usr/bin/env bash
# Makes the certificates, signatures and time stamps of this folder with OpenSSL 3. It takes some minutes, for the large keys.
#
# All signers sign the text in hash.txt. Tests verify as of the time in signed-at.txt, so nothing here expires.
#   NAME.pem    the chain of a signer, its own certificate first
#   NAME.sig    its signature, in base64
#   NAME.pub    its public key, in base64, for some signers
#   NAME.tsr    a time stamp of this signature, in base64
#   stamps/     other time stamps of p256.sig
#   roots/      trusted roots of signers and time stamps
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir keys new stamps roots

key() { # NAME KIND
    [ -f "keys/$1.key" ] && return
    case $2 in
        rsa*) openssl genpkey -algorithm RSA -pkeyopt "rsa_keygen_bits:${2#rsa}" -out "keys/$1.key" 2>/dev/null ;;
        *) openssl genpkey -algorithm EC -pkeyopt "ec_paramgen_curve:$2" -out "keys/$1.key" ;;
    esac
}

# Large keys first: all time stamps must be within ten minutes of signed-at.txt.
key rsa8192 rsa8192
key rsa16384 rsa16384

now=$(date -u +%s)
at() { date -u -d "@$((now + $1))" +%Y%m%d%H%M%SZ; } # seconds from now
day=86400
date -u -d "@$now" +%Y-%m-%dT%H:%M:%SZ >signed-at.txt
printf 'sha256:%s' "$(printf 'a package' | sha256sum | cut -d' ' -f1)" >hash.txt

cat >ca.cnf <<'END'
[ca]
default_ca = self
[self]
database = index.txt
serial = serial
new_certs_dir = new
default_md = sha256
policy = any
unique_subject = no
copy_extensions = none
[any]
commonName = supplied
[req]
distinguished_name = dn
prompt = no
[dn]
CN = unused
[tsa]
default_tsa = stamp
[stamp]
serial = tsserial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.3.6.1.4.1.55555.1
digests = sha256, sha384, sha512
ess_cert_id_alg = sha256
ess_cert_id_chain = no
ordering = no
tsa_name = yes
END
: >index.txt
echo 1000 >serial
echo 01 >tsserial

# certificate NAME COMMON-NAME ISSUER FROM UNTIL EXTENSIONS [DIGEST]: ISSUER may be NAME itself
certificate() {
    printf '%b\n' "$6" >"$1.ext"
    openssl req -new -config ca.cnf -key "keys/$1.key" -subj "/CN=$2" -out "$1.csr"
    local by=(-cert "$3.crt" -keyfile "keys/$3.key")
    [ "$3" = "$1" ] && by=(-selfsign -keyfile "keys/$1.key")
    openssl ca -batch -notext -config ca.cnf "${by[@]}" -in "$1.csr" -extfile "$1.ext" -md "${7:-sha256}" \
        -startdate "$(at "$4")" -enddate "$(at "$5")" -out "$1.crt" 2>/dev/null
}

authority='basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash'
server='basicConstraints=critical,CA:false\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth'
stamping='basicConstraints=critical,CA:false\nkeyUsage=critical,digitalSignature\nsubjectKeyIdentifier=hash'
year=$((365 * day))

for name in root stamp-root other-root; do
    key $name P-256
    certificate $name "Test $name" $name $((-year)) $((20 * year)) "$authority"
done
cat root.crt stamp-root.crt >roots/test.pem
for name in ca old-ca narrow-ca flat-ca; do key $name P-256; done
certificate ca "Test ca" root $((-year)) $((10 * year)) "$authority"
certificate old-ca "Test old-ca" root $((-year)) $((-day)) "$authority"
certificate narrow-ca "Test narrow-ca" root $((-year)) $((10 * year)) \
    "$authority\nnameConstraints=critical,permitted;DNS:other.example"
certificate flat-ca "Test flat-ca" root $((-year)) $((10 * year)) "${authority/CA:true/CA:true,pathlen:0}"
key below-flat-ca P-256
certificate below-flat-ca "Test below-flat-ca" flat-ca $((-year)) $((10 * year)) "$authority"

# The authorities for time stamps.
for name in stamper short-stamper old-stamper plain-stamper loose-stamper other-stamper; do key $name P-256; done
key rsa-stamper rsa3072
critical='extendedKeyUsage=critical,timeStamping'
certificate stamper "Test stamper" stamp-root $((-year)) $((10 * year)) "$stamping\n$critical"
certificate rsa-stamper "Test rsa-stamper" stamp-root $((-year)) $((10 * year)) "$stamping\n$critical" sha512
certificate old-stamper "Test old-stamper" stamp-root $((-year)) $((-day)) "$stamping\n$critical"
certificate plain-stamper "Test plain-stamper" stamp-root $((-year)) $((10 * year)) "$stamping"
certificate loose-stamper "Test loose-stamper" stamp-root $((-year)) $((10 * year)) \
    "$stamping\nextendedKeyUsage=timeStamping"
certificate other-stamper "Test other-stamper" other-root $((-year)) $((10 * year)) "$stamping\n$critical"
cat stamper.crt stamp-root.crt >stamper.pem
cat other-stamper.crt other-root.crt >other-stamper.pem

stamp() { # FILE STAMPER OUTPUT
    openssl ts -query -data "$1" -sha256 -cert -out query.tsq 2>/dev/null
    openssl ts -reply -config ca.cnf -queryfile query.tsq -signer "$2.crt" -inkey "keys/$2.key" -out "$3" 2>/dev/null
}

# signer NAME KIND COMMON-NAME ISSUER CHAIN FROM UNTIL EXTENSIONS: makes NAME.pem, NAME.sig and NAME.tsr
signer() {
    key "$1" "$2"
    certificate "$1" "$3" "$4" "$6" "$7" "$8"
    cat "$1.crt" >"$1.pem"
    local other
    for other in $5; do cat "$other.crt" >>"$1.pem"; done
    openssl dgst -sha256 -sign "keys/$1.key" hash.txt | base64 -w0 >"$1.sig"
    stamp "$1.sig" stamper "$1.reply"
    base64 -w0 "$1.reply" >"$1.tsr"
}
names="subjectAltName=DNS:archive.example"
signer p256 P-256 archive.example ca ca $((-day)) $((90 * day)) "$server\n$names"
signer p384 P-384 archive.example ca ca $((-day)) $((90 * day)) "$server\n$names"
signer p521 P-521 archive.example ca ca $((-day)) $((90 * day)) "$server\n$names"
signer rsa rsa2048 archive.example ca ca $((-day)) $((90 * day)) "$server\n$names"
signer rsa8192 rsa8192 archive.example ca ca $((-day)) $((90 * day)) "$server\n$names"
signer rsa16384 rsa16384 archive.example ca ca $((-day)) $((90 * day)) "$server\n$names"
signer wildcard P-256 archive.example ca ca $((-day)) $((90 * day)) "$server\nsubjectAltName=DNS:*.archive.example"
signer soon-expired P-256 archive.example ca ca $((-day)) 3600 "$server\n$names"
signer expired P-256 archive.example ca ca $((-10 * day)) $((-day)) "$server\n$names"
signer not-yet-valid P-256 archive.example ca ca "$day" $((90 * day)) "$server\n$names"
signer self-signed P-256 archive.example self-signed "" $((-day)) $((90 * day)) "$server\n$names"
signer client P-256 archive.example ca ca $((-day)) $((90 * day)) "${server/serverAuth/clientAuth}\n$names"
signer only-common-name P-256 archive.example ca ca $((-day)) $((90 * day)) "$server"
signer below-signer P-256 archive.example p256 "p256 ca" $((-day)) $((90 * day)) "$server\n$names"
signer below-old P-256 archive.example old-ca old-ca $((-day)) $((90 * day)) "$server\n$names"
signer below-narrow P-256 archive.example narrow-ca narrow-ca $((-day)) $((90 * day)) "$server\n$names"
signer below-flat P-256 archive.example below-flat-ca "below-flat-ca flat-ca" $((-day)) $((90 * day)) "$server\n$names"

# A second certificate for the key of self-signed, as authsign makes it, and one for another domain.
for name in cross:archive.example cross-other:other.example; do
    cp keys/self-signed.key "keys/${name%:*}.key"
    certificate "${name%:*}" "${name#*:}" root $((-day)) $((90 * day)) "basicConstraints=CA:false"
    cat "${name%:*}.crt" >"${name%:*}.pem"
done
cp keys/p256.key keys/cross-unknown.key
certificate cross-unknown archive.example other-root $((-day)) $((90 * day)) "basicConstraints=CA:false"
cat cross-unknown.crt >cross-unknown.pem
for name in p256 p384 rsa; do openssl pkey -in keys/$name.key -pubout -outform DER | base64 -w0 >$name.pub; done

# Other time stamps of p256.sig. The command refuses to make wrong ones, so they're made from the TSTInfo of right ones.
info() { # REPLY OUTPUT
    openssl ts -reply -in "$1" -token_out -out info.token 2>/dev/null
    openssl cms -verify -noverify -inform DER -in info.token -certfile stamper.crt -binary -out "$2" 2>/dev/null
}
info p256.reply named.der
sed -i 's/^tsa_name = yes/tsa_name = no/' ca.cnf
stamp p256.sig stamper unnamed.reply
info unnamed.reply info.der
response() { # STATUS [TOKEN]: writes a TimeStampResp in base64
    python3 - "$@" <<'END'
import base64, sys

def tlv(tag, content):
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 128 + len(digits)]) + digits + content

token = open(sys.argv[2], "rb").read() if len(sys.argv) > 2 else b""
print(base64.b64encode(tlv(0x30, tlv(0x30, tlv(2, bytes([int(sys.argv[1])]))) + token)).decode(), end="")
END
}
sign() { # OUTPUT INFO OPTIONS...: signs a TSTInfo as a time stamp
    local output=$1 info=$2
    shift 2
    openssl cms -sign -binary -nodetach -outform DER -md sha256 -econtent_type 1.2.840.113549.1.9.16.1.4 "$@" \
        -in "$info" -out special.token
    response 0 special.token >"stamps/$output.tsr"
}
by() { echo -signer "$1.crt" -inkey "keys/$1.key"; }
sign cms info.der -cades $(by stamper)
sign key-identifier info.der -cades -keyid $(by stamper)
sign rsa info.der -cades -md sha512 $(by rsa-stamper)
sign no-usage info.der -cades $(by plain-stamper)
sign usage-not-critical info.der -cades $(by loose-stamper)
sign expired info.der -cades $(by old-stamper)
sign unknown info.der -cades $(by other-stamper)
sign no-certificates info.der -cades -nocerts $(by stamper)
sign two-signers info.der -cades $(by stamper) $(by rsa-stamper)
sign no-certificate-named info.der $(by stamper)
sign no-attributes info.der -noattr $(by stamper)
sign other-name named.der -cades $(by rsa-stamper)
response 2 >stamps/refused.tsr
response 0 >stamps/no-token.tsr
python3 - <<'END'
import base64, re

# The time is changed after signing: in the content, but not in the digest of it.
reply = open("p256.reply", "rb").read()
at = re.search(rb"20\d{12}Z", reply).end() - 2
changed = reply[:at] + bytes([reply[at] ^ 1]) + reply[at + 1 :]
open("stamps/changed.tsr", "w").write(base64.b64encode(changed).decode())
END

rm -f "$here"/*.pem "$here"/*.sig "$here"/*.tsr "$here"/*.pub "$here"/*.txt
rm -rf "$here/stamps" "$here/keys"
mkdir "$here/keys"
cp ./*.pem ./*.sig ./*.tsr ./*.pub signed-at.txt hash.txt "$here"
rm -f "$here/root.pem" "$here"/*-root.pem
cp roots/test.pem "$here/roots/test.pem"
cp -r stamps "$here/stamps"
for name in root stamp-root ca stamper p256; do cp "keys/$name.key" "$here/keys/"; done
