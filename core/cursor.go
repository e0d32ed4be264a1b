package core

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// A cursor holds the sort keys of the last row of a page and a digest of the list's
// filters. It is not secret and grants nothing: with a forged cursor, a caller only reaches
// rows that the caller may read anyway.
type cursor struct {
	Filter string   `json:"f"`
	Keys   []string `json:"k"`
}

const maxCursorLength = 1024

// EncodeCursor returns an opaque cursor for the page after the row with the given sort
// keys. It is valid only for a list with the same filter text.
func EncodeCursor(filter string, keys ...string) string {
	b, _ := json.Marshal(cursor{Filter: filterDigest(filter), Keys: keys}) // marshaling strings never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// DecodeCursor returns the n sort keys of a cursor that EncodeCursor made for the same
// filter text. For "", the start of the list, it returns nil, nil. For any other text, it
// fails with validation_failed on the field "cursor".
func DecodeCursor(filter, s string, n int) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if len(s) > maxCursorLength {
		return nil, cursorError("is longer than any cursor of this service")
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil, cursorError("is not a cursor of this service")
	}
	var c cursor
	if CheckJSON(b) != nil || json.Unmarshal(b, &c) != nil || len(c.Keys) != n {
		return nil, cursorError("is not a cursor of this list")
	}
	if c.Filter != filterDigest(filter) {
		return nil, cursorError("belongs to a list with other filters")
	}
	return c.Keys, nil
}

func filterDigest(filter string) string {
	sum := sha256.Sum256([]byte(filter))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

func cursorError(reason string) *Error {
	return Invalid("cursor", reason).WithNext("Send next_cursor of the previous page unchanged and with the same filters, or start again without a cursor.")
}
