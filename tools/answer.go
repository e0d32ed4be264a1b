package tools

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/tools/rpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The members of _meta that this server adds to results. Names that begin with dev.mailhelm
// or dev.service are defined by Mailhelm. The specification fixes the one with dev.service,
// and clients rely on it. New names begin with dev.mailhelm.
const (
	metaReplay    = "dev.service/idempotentReplay"
	metaRequestID = "dev.mailhelm/requestId"
	metaHidden    = "dev.mailhelm/hiddenCharactersRemoved"
	metaUntrusted = "dev.mailhelm/untrusted"
)

// answer is a JSON-RPC response that is being written. It has the same bytes as a response
// that the SDK encodes: members in the order of the SDK's types, members of _meta in the
// order of their names, and <, > and & as escapes.
type answer struct {
	bytes.Buffer
	quoted []byte // a text as JSON, before its characters are escaped for HTML
}

// answers keeps the buffers of answers for reuse.
var answers = sync.Pool{New: func() any { return new(answer) }}

// maxPooled is the maximum size of a buffer that is kept, in bytes.
const maxPooled = 256 << 10

// newAnswer returns an answer that has the beginning of a response to the message, up to the
// value of its result. The caller calls release when it has written the answer.
func newAnswer(m *rpc.Message) *answer {
	a := answers.Get().(*answer)
	a.Reset()
	a.WriteString(`{"jsonrpc":"2.0","id":`)
	a.id(m.ID)
	a.WriteString(`,"result":`)
	return a
}

// release returns the buffers of the answer for reuse. The answer must not be used any more.
func (a *answer) release() {
	if a.Cap()+cap(a.quoted) <= maxPooled {
		answers.Put(a)
	}
}

// lineSeparators replaces the two characters that end a line in old JavaScript, but not in
// JSON, by escapes.
var lineSeparators = strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`)

// id writes the id of a message in the form that the SDK gives it: a text without escapes for
// HTML.
func (a *answer) id(id jsontext.Value) {
	if id.Kind() == '"' {
		text, _ := jsontext.AppendUnquote(nil, id) // package rpc has checked that it is a string
		a.quoted, _ = jsontext.AppendQuote(a.quoted[:0], text)
		_, _ = lineSeparators.WriteString(&a.Buffer, string(a.quoted)) // a buffer takes everything
		return
	}
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil {
		a.int(n)
		return
	}
	a.Write(id) // cannot happen: package rpc accepts strings and integers only
}

// text writes a text as JSON.
func (a *answer) text(s string) {
	// AppendQuote fails for invalid UTF-8 only, and replaces it.
	a.quoted, _ = jsontext.AppendQuote(a.quoted[:0], s)
	json.HTMLEscape(&a.Buffer, a.quoted)
}

func (a *answer) int(n int64) { a.Write(strconv.AppendInt(a.AvailableBuffer(), n, 10)) }

// result writes the result of a tool call. server is the JSON of the server's name, which
// results have from protocol revision 2026-07-28 on; nil before it.
func (a *answer) result(r *toolResult, requestID string, server []byte) {
	a.WriteByte('{')
	a.meta(r, requestID, server)
	a.WriteString(`,"content":[`)
	if r.form == nil {
		a.content(r.text)
	}
	if r.replayed {
		a.WriteByte(',')
		a.content(replayedNote)
	}
	a.WriteByte(']')
	if r.structured != nil {
		a.WriteString(`,"structuredContent":`)
		json.HTMLEscape(&a.Buffer, r.structured)
	}
	if r.failed {
		a.WriteString(`,"isError":true`)
	}
	switch {
	case r.form != nil:
		a.form(r.form)
	case server != nil:
		a.WriteString(`,"resultType":"complete"`)
	}
	a.WriteByte('}')
}

// content writes a text as one item of the content of a result.
func (a *answer) content(text string) {
	a.WriteString(`{"type":"text","text":`)
	a.text(text)
	a.WriteByte('}')
}

// meta writes the member _meta of a result.
func (a *answer) meta(r *toolResult, requestID string, server []byte) {
	a.WriteString(`"_meta":{`)
	if r.hidden > 0 {
		a.WriteString(`"` + metaHidden + `":`)
		a.int(int64(r.hidden))
		a.WriteByte(',')
	}
	a.WriteString(`"` + metaRequestID + `":`)
	a.text(requestID)
	if len(r.untrusted) > 0 {
		a.WriteString(`,"` + metaUntrusted + `":`)
		separator := byte('[')
		for _, path := range r.untrusted {
			a.WriteByte(separator)
			a.text(path)
			separator = ','
		}
		a.WriteByte(']')
	}
	if r.replayed {
		a.WriteString(`,"` + metaReplay + `":true`)
	}
	if server != nil {
		a.WriteString(`,"` + mcp.MetaKeyServerInfo + `":`)
		a.Write(server)
	}
	a.WriteByte('}')
}

// form writes the members with which a result asks for a form.
func (a *answer) form(f *form) {
	// Marshal cannot fail for texts and a valid schema.
	requests, _ := json.Marshal(mcp.InputRequestMap{confirmForm: &mcp.ElicitParams{
		Mode: "form", Message: f.message, RequestedSchema: confirmSchema,
	}})
	a.WriteString(`,"requestState":`)
	a.text(f.state)
	a.WriteString(`,"resultType":"input_required","inputRequests":`)
	a.Write(requests)
}
