package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// webhookHost is the name that Kueue's certificate must be for; it is the same certificate that kube-apiserver uses.
const webhookHost = webhookService + "." + ManagerNamespace + ".svc"

// certificates are the authority of a control plane and one certificate of it, PEM encoded.
type certificates struct {
	ca, caKey, cert, key []byte
}

// newCertificates makes an authority as Kueue's own certificate rotation would, so that it is content with it,
// and a server certificate for loopback.
func newCertificates() (*certificates, error) {
	caKey, err := rsa.GenerateKey(rand.Reader, 2048) // the rotator reads no other kind
	if err != nil {
		return nil, err
	}
	ca := certificate("kueue-ca")
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage |= x509.KeyUsageCertSign
	ca.DNSNames = []string{"kueue-ca"}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	server := certificate("localhost")
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.DNSNames = []string{"localhost", "kubernetes.default.svc", webhookHost}
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	certDER, err := x509.CreateCertificate(rand.Reader, server, ca, key.Public(), caKey)
	if err != nil {
		return nil, err
	}
	keyPEM, err := pemKey(key)
	if err != nil {
		return nil, err
	}
	return &certificates{
		ca: pemBlock("CERTIFICATE", caDER), caKey: pemBlock("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(caKey)),
		cert: pemBlock("CERTIFICATE", certDER), key: keyPEM,
	}, nil
}

func certificate(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		// Kueue renews certificates that end within three months.
		NotAfter: now.AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
}

func pemBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func pemKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return pemBlock("EC PRIVATE KEY", der), err
}

// write puts the files where the servers look for them.
func (c *certificates) write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"ca.crt": c.ca, "tls.crt": c.cert, "tls.key": c.key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// newTokenKey makes the key that signs service account tokens.
func newTokenKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return pemKey(key)
}
