package sending

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// A page token has the id of the page's last row and a digest that binds the token to the
// organization and the list. It contains no email address, so it may be logged. Ids only
// grow, so rows that are added or deleted between two pages do not shift the position.

const (
	tokenIDBytes     = 8
	tokenDigestBytes = 4
)

// EncodePageToken returns the token of the page after the row with the id last. orgID may be any
// text that names the organization and the list.
func EncodePageToken(orgID string, last int64) string {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, tokenIDBytes+tokenDigestBytes), uint64(last))
	digest := tokenDigest(orgID, b)
	return base64.RawURLEncoding.EncodeToString(append(b, digest[:]...))
}

// DecodePageToken returns the id after which a page starts; 0 for "", which means the first
// page. It fails with Invalid for a token that EncodePageToken did not return for the same
// orgID.
func DecodePageToken(orgID, token string) (int64, error) {
	if token == "" {
		return 0, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != tokenIDBytes+tokenDigestBytes || base64.RawURLEncoding.EncodedLen(len(b)) != len(token) {
		return 0, invalid("not a page token")
	}
	last := binary.BigEndian.Uint64(b)
	if last > 1<<63-1 || tokenDigest(orgID, b[:tokenIDBytes]) != [tokenDigestBytes]byte(b[tokenIDBytes:]) {
		return 0, invalid("not a page token of this account")
	}
	return int64(last), nil
}

// tokenDigest returns a digest that detects page tokens of another list. It is not a
// secret: a forged token only changes the position within data that the caller may read
// anyway.
func tokenDigest(orgID string, id []byte) [tokenDigestBytes]byte {
	h := sha256.New()
	h.Write(id)
	h.Write([]byte(orgID))
	return [tokenDigestBytes]byte(h.Sum(nil)[:tokenDigestBytes])
}
