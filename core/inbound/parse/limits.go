package parse

import "cmp"

// Limits bounds what Parse returns and the memory it needs. A zero field means the value of
// DefaultLimits. What exceeds a limit is left out with a warning.
type Limits struct {
	// Depth is the number of multiparts inside one another. A multipart below is an
	// attachment.
	Depth int
	// Parts is the number of MIME parts, multiparts included. The content of further parts
	// is left out.
	Parts int
	// Headers is the number of fields in Content.Headers.
	Headers int
	// HeaderBytes bounds the sum of the names and decoded values in Content.Headers.
	HeaderBytes int
	// ValueBytes bounds one header value, before and after decoding. Longer values are cut.
	ValueBytes int
	// BodyBytes bounds TextBody and HTMLBody, each, after decoding. Longer bodies are cut.
	BodyBytes int
	// Addresses is the number of addresses in one header field.
	Addresses int
}

// DefaultLimits are limits that ordinary mail does not reach.
var DefaultLimits = Limits{
	Depth:       32,
	Parts:       1000,
	Headers:     1000,
	HeaderBytes: 256 << 10,
	ValueBytes:  32 << 10,
	BodyBytes:   4 << 20,
	Addresses:   500,
}

// withDefaults returns the limits with the value of DefaultLimits in each zero field.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	return Limits{
		Depth:       cmp.Or(l.Depth, d.Depth),
		Parts:       cmp.Or(l.Parts, d.Parts),
		Headers:     cmp.Or(l.Headers, d.Headers),
		HeaderBytes: cmp.Or(l.HeaderBytes, d.HeaderBytes),
		ValueBytes:  cmp.Or(l.ValueBytes, d.ValueBytes),
		BodyBytes:   cmp.Or(l.BodyBytes, d.BodyBytes),
		Addresses:   cmp.Or(l.Addresses, d.Addresses),
	}
}

// Bounds of short values, in bytes. None of them cuts a value of ordinary mail.
const (
	maxNameBytes     = 512 // a display name
	maxAddressBytes  = 512 // an address; RFC 5321 section 4.5.3.1 allows 320
	maxFilenameBytes = 200 // what file systems allow, less room for a prefix
	maxIDBytes       = 998 // a message or content identifier: one line of RFC 5322
	maxTypeBytes     = 127 // a media type; RFC 6838 section 4.2 allows 127 for each half
	maxBoundaryBytes = 998 // RFC 2046 section 5.1.1 allows 70, one line is tolerated
	maxParamBytes    = 4 << 10
	maxFieldName     = 256
	maxReferences    = 100
	maxEmbedded      = 1000 // content identifiers that the HTML refers to
)
