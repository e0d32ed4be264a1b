package files

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/objects"
)

// The purpose and the size of Config.Key.
const (
	KeyPurpose = "mailhelm links to received mail 1"
	KeyBytes   = 32
)

// LinkPath is the beginning of the paths of all links, on the fetch host.
const LinkPath = "/o/"

// The form of a token, in bytes: the version; the time in seconds of the Unix epoch (8
// bytes); the key, the file name and the content type, each after its length (2 bytes); the
// signature of all of that.
const (
	version   = 1
	headBytes = 1 + 8
	// signatureBytes is the length of the truncated HMAC-SHA-256 (RFC 2104 section 5).
	signatureBytes = 16
	// maxToken is the maximum length of a token's text: the longest key, file name and
	// content type give less.
	maxToken = 1200
)

// signer makes and reads tokens.
type signer struct{ key []byte }

func newSigner(key []byte) (signer, error) {
	if len(key) != KeyBytes {
		return signer{}, fmt.Errorf("links to received mail: the key has %d bytes, not %d", len(key), KeyBytes)
	}
	return signer{key}, nil
}

func (s signer) sign(content []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(content)
	return mac.Sum(nil)[:signatureBytes]
}

// token returns the token for the object with a key. The link is clean.
func (s signer) token(key string, l objects.Link) string {
	b := append(make([]byte, 0, headBytes+len(key)+len(l.Filename)+len(l.ContentType)+6+signatureBytes), version)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Until.Unix()))
	for _, text := range []string{key, l.Filename, l.ContentType} {
		b = binary.BigEndian.AppendUint16(b, uint16(len(text)))
		b = append(b, text...)
	}
	return base64.RawURLEncoding.EncodeToString(append(b, s.sign(b)...))
}

// parse returns what token was given. It returns false for a text that token did not return
// with the same key.
func (s signer) parse(text string) (key string, l objects.Link, ok bool) {
	if len(text) > maxToken {
		return "", objects.Link{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < headBytes+signatureBytes {
		return "", objects.Link{}, false
	}
	content, signature := raw[:len(raw)-signatureBytes], raw[len(raw)-signatureBytes:]
	if !hmac.Equal(signature, s.sign(content)) || content[0] != version {
		return "", objects.Link{}, false
	}
	l.Until = time.Unix(int64(binary.BigEndian.Uint64(content[1:headBytes])), 0)
	rest := content[headBytes:]
	for _, text := range []*string{&key, &l.Filename, &l.ContentType} {
		if len(rest) < 2 || len(rest)-2 < int(binary.BigEndian.Uint16(rest)) {
			return "", objects.Link{}, false
		}
		length := int(binary.BigEndian.Uint16(rest))
		*text, rest = string(rest[2:2+length]), rest[2+length:]
	}
	return key, l, len(rest) == 0
}

// Link returns a URL on the fetch host. See [objects.Store].
func (f *Files) Link(_ context.Context, key string, l objects.Link) (string, error) {
	if err := objects.CheckKey(key); err != nil {
		return "", err
	}
	now := f.cfg.Clock()
	if !l.Until.After(now) {
		return "", errors.New("link to received mail: the time is over")
	}
	if last := now.Add(objects.MaxLinkLife); l.Until.After(last) {
		l.Until = last
	}
	return f.cfg.FetchURL + LinkPath + f.links.token(key, l.Clean()), nil
}
