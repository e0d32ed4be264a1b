package unsubscribe

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"sync"

	"github.com/mailhelm/mailhelm/core/sending"
)

// The purpose and the size of the key for [NewLinks], which is derived from the master key.
const (
	KeyPurpose = "mailhelm unsubscribe links 1"
	KeyBytes   = 32
)

const (
	// Path is the beginning of the paths of all links on the app's address.
	Path = "/u/"
	// PreferencesSuffix follows the token in the path of the page of preferences.
	PreferencesSuffix = "/preferences"
)

// Recipient is the recipient of one mail, with what the link in the mail is about.
type Recipient struct {
	// ContactID is the contact to which the mail is sent. "" makes the link of a test mail,
	// whose page changes nothing.
	ContactID string
	// SendID identifies what sent the mail, such as a broadcast; "" for none.
	SendID string
	// Topic is the name of the topic of the mail, at most 255 bytes long. With "", the link
	// opts out of all mail.
	Topic string
}

// Link has the addresses for one recipient.
type Link struct {
	// Unsubscribe is the address of the page that unsubscribes. It is also the one-click
	// address.
	Unsubscribe string
	// Preferences is the address of the page with all choices of the recipient.
	Preferences string
}

// Headers returns the header fields of a mail with which mailbox providers offer one-click
// unsubscribing (RFC 2369 section 3.2, RFC 8058 section 3.1). Both must be covered by the
// DKIM signature of the mail.
func (l Link) Headers() []sending.Header {
	return []sending.Header{
		{Name: "List-Unsubscribe", Value: "<" + l.Unsubscribe + ">"},
		{Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click"},
	}
}

// Links makes and parses links. It is safe for use by several goroutines.
type Links struct {
	base    string // the app's address and Path
	signers sync.Pool
}

// NewLinks returns Links. key is derived from the master key for [KeyPurpose] and has
// [KeyBytes] bytes. appURL is the public address of the app, without a slash at its end.
func NewLinks(key []byte, appURL string) (*Links, error) {
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("unsubscribe: the key has %d bytes, not %d", len(key), KeyBytes)
	}
	l := &Links{base: appURL + Path}
	l.signers.New = func() any { return &signer{mac: hmac.New(sha256.New, key)} }
	return l, nil
}

// signer signs tokens. Its buffers save allocations, because a broadcast makes a link for
// each recipient.
type signer struct {
	mac   hash.Hash
	token []byte
	text  []byte
	sum   [sha256.Size]byte
}

// sign returns the signature of the token's content. It is valid until the next call.
func (s *signer) sign(content []byte) []byte {
	s.mac.Reset()
	s.mac.Write(content)
	return s.mac.Sum(s.sum[:0])[:signatureBytes]
}

// For returns the link of a recipient. It fails if an id is not a UUID in canonical form, or
// if the topic is too long. The same arguments always make the same link.
func (l *Links) For(orgID string, r Recipient) (Link, error) {
	s := l.signers.Get().(*signer) //nolint:forcetypeassert // the pool has only signers
	defer l.signers.Put(s)
	var err error
	if s.token, err = appendContent(s.token[:0], Token{orgID, r}); err != nil {
		return Link{}, err
	}
	s.token = append(s.token, s.sign(s.token)...)
	s.text = append(s.text[:0], l.base...)
	s.text = base64.RawURLEncoding.AppendEncode(s.text, s.token)
	length := len(s.text)
	s.text = append(s.text, PreferencesSuffix...)
	both := string(s.text)
	return Link{Unsubscribe: both[:length], Preferences: both}, nil
}

// Parse returns the content of a link's token. It returns false if the token was not made by
// Links with the same key.
func (l *Links) Parse(text string) (Token, bool) {
	if len(text) > maxTokenText {
		return Token{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < signatureBytes {
		return Token{}, false
	}
	content, signature := raw[:len(raw)-signatureBytes], raw[len(raw)-signatureBytes:]
	s := l.signers.Get().(*signer) //nolint:forcetypeassert // the pool has only signers
	defer l.signers.Put(s)
	if !hmac.Equal(signature, s.sign(content)) {
		return Token{}, false
	}
	return parseContent(content)
}
