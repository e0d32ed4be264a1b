package arrivals

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound/parse"
	"github.com/mailhelm/mailhelm/core/objects"
)

// open returns the content of a file. It fails with core.CodeNotFound if the object or its store
// does not exist any more.
func open(ctx context.Context, stores objects.Stores, f File) (io.ReadCloser, error) {
	store, err := stores.At(ctx, f.OrgID, f.Stored.StoreID)
	if err != nil {
		return nil, err
	}
	body, err := store.Open(ctx, f.Stored.Key)
	if err != nil || !f.Stored.InText {
		return body, err
	}
	defer body.Close()
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(textOf(raw))), nil
}

// textOf returns the text of a message. If it is all of the message, its bytes are unchanged,
// because some reporters say that a compressed file is text.
func textOf(raw []byte) []byte {
	if whole, ok := wholeOf(raw); ok {
		return whole
	}
	return []byte(parse.Bytes(raw, parse.DefaultLimits).TextBody)
}

// wholeOf returns the content of a message that has one part only.
func wholeOf(raw []byte) ([]byte, bool) {
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return nil, false
	}
	if kind, _, err := mime.ParseMediaType(m.Header.Get("Content-Type")); err == nil && strings.HasPrefix(kind, "multipart/") {
		return nil, false
	}
	body := m.Body
	switch strings.ToLower(strings.TrimSpace(m.Header.Get("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	content, err := io.ReadAll(body)
	return content, err == nil
}
