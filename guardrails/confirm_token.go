package guardrails

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// confirmation is the signed content of a confirmation token. It contains digests of the
// arguments and the preview, so that the token is small and reveals neither.
type confirmation struct {
	ID        string `json:"id"`
	Key       string `json:"kid"`
	Form      string `json:"form"`
	Operation string `json:"op"`
	Org       string `json:"org"`
	Caller    string `json:"sub"`
	Arguments string `json:"arg"`
	Preview   string `json:"pre"`
	Expires   int64  `json:"exp"` // unix seconds
}

// sign returns c as a token: the JSON content, a dot and the signature, both encoded in
// base64url. It signs with the key of the day that contains now.
func (g *Guard) sign(c confirmation, now time.Time) (string, error) {
	keys, err := g.confirmationKeys(now)
	if err != nil {
		return "", err
	}
	c.Key = keys[0].day
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	body := base64.RawURLEncoding.EncodeToString(payload)
	return body + "." + keys[0].signature(body), nil
}

// verify checks the token's signature and expiry. It also checks that the token's content
// equals the parameter expected, apart from the fields id, key and expiry. It returns the
// content and whether the token is valid.
func (g *Guard) verify(token string, expected confirmation, now time.Time) (confirmation, bool, error) {
	keys, err := g.confirmationKeys(now)
	if err != nil {
		return confirmation{}, false, err
	}
	body, signature, _ := strings.Cut(token, ".")
	signer := ""
	for _, key := range keys { // tries all keys, so that the time taken does not reveal which one matches
		if subtle.ConstantTimeCompare([]byte(signature), []byte(key.signature(body))) == 1 {
			signer = key.day
		}
	}
	if signer == "" {
		return confirmation{}, false, nil
	}
	var c confirmation
	payload, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(payload, &c) != nil || c.ID == "" || now.Unix() >= c.Expires {
		return confirmation{}, false, nil
	}
	expected.ID, expected.Key, expected.Expires = c.ID, signer, c.Expires
	return c, c == expected, nil
}

// signature returns the signature of body in base64url. Signatures are compared as text,
// because different base64 texts can decode to the same bytes.
func (k confirmationKey) signature(body string) string {
	h := hmac.New(sha256.New, k.secret)
	h.Write([]byte(body))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
