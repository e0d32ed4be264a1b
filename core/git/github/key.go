package github

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strconv"
	"time"
)

// The validity of a token of the app. GitHub takes at most ten minutes, and advises to begin a minute
// in the past, because clocks differ.
const (
	appTokenPast   = time.Minute
	appTokenFuture = 8 * time.Minute
)

// minKeyBits is the length of the keys that GitHub makes.
const minKeyBits = 2048

// ParseKey returns the private key of an app in the form in which GitHub gives it: PEM with PKCS #1
// or PKCS #8. No error has a part of the key.
func ParseKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the private key of the app is not in PEM form; use the file that GitHub offers for download")
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		other, second := x509.ParsePKCS8PrivateKey(block.Bytes)
		own, ok := other.(*rsa.PrivateKey)
		if second != nil || !ok {
			return nil, errors.New("the private key of the app is no RSA key")
		}
		key = own
	}
	if key.N.BitLen() < minKeyBits {
		return nil, errors.New("the private key of the app has less than 2048 bits")
	}
	return key, nil
}

// appToken returns a JSON Web Token (RFC 7519) that proves to be the app.
func (a *client) appToken() (string, error) {
	now := a.cfg.Clock()
	claims, err := json.Marshal(map[string]any{
		"iss": strconv.FormatInt(a.cfg.ID, 10), "iat": now.Add(-appTokenPast).Unix(), "exp": now.Add(appTokenFuture).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed, err := a.signer.Sign(claims)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
