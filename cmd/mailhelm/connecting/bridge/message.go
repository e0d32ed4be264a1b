package bridge

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The methods that the bridge treats specially.
const (
	methodInitialize = "initialize"
	methodCancelled  = "notifications/cancelled"
)

// message is a JSON-RPC message with the members that the transport needs.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params params         `json:"params"`
	Result result         `json:"result"`
	// line is the whole message on one line, as it is passed on.
	line []byte
}

// params has the members of a request or a notification that become headers, and the
// request that a cancellation names.
type params struct {
	Name      string         `json:"name"`
	URI       string         `json:"uri"`
	RequestID jsontext.Value `json:"requestId"`
	Meta      struct {
		Revision string `json:"io.modelcontextprotocol/protocolVersion"`
	} `json:"_meta"`
}

// result has the protocol revision on which client and server agree at initialize.
type result struct {
	Revision string `json:"protocolVersion"`
}

// errNoObject means that a line is JSON but not one message.
var errNoObject = errors.New("not a JSON object: send one message on a line, and no batches")

// readMessage parses a message of either side. The line of the message has no line breaks.
// Members of other types than expected are left empty, because the endpoint checks them.
func readMessage(raw []byte) (message, error) {
	var line bytes.Buffer
	if err := stdjson.Compact(&line, raw); err != nil {
		return message{}, err
	}
	m := message{line: line.Bytes()}
	members := map[string]jsontext.Value{}
	if line.Bytes()[0] != '{' {
		return m, errNoObject
	}
	if err := json.Unmarshal(m.line, &members); err != nil {
		return m, err
	}
	m.ID = members["id"]
	_ = json.Unmarshal(members["method"], &m.Method)
	_ = json.Unmarshal(members["params"], &m.Params)
	_ = json.Unmarshal(members["result"], &m.Result)
	return m, nil
}

// isRequest reports whether the message expects an answer.
func (m message) isRequest() bool { return m.Method != "" && m.ID != nil }

// isAnswerTo reports whether the message is the answer to the request with this id.
func (m message) isAnswerTo(id jsontext.Value) bool {
	return m.Method == "" && bytes.Equal(m.ID, id)
}

// name returns the name of the tool, prompt or resource that a request is about.
func (m message) name() string {
	if m.Params.Name != "" {
		return m.Params.Name
	}
	return m.Params.URI
}

// headerValue returns a text in the form of the header Mcp-Name: unchanged if a header can
// contain it, and else in Base64.
func headerValue(text string) string {
	plain := strings.TrimSpace(text) == text && !strings.HasPrefix(text, "=?base64?") &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	if plain {
		return text
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}
