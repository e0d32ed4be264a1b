package examples

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed answers
var answers embed.FS

// The ids, and an address, that the examples of operations and their answers name. Each
// stands for an object that the test which makes the calls creates, and replaces with the
// real one. The broadcasts DraftID, SentID and ScheduledID are those of the demo.
const (
	AttributeID = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a101"
	PropertyID  = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a102"
	JobID       = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a103"
	RunID       = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a104"
	ContactID   = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a105"
	MessageID   = "0107019a4c1f2d33-6b1f0c52-7f5e-4f7e-9d4b-2f8a3c1e5d60-000000"
	SenderID    = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a106"
	AssetID     = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a107"
	DraftID     = "0198c7a2-5d3e-7a01-8b00-2f61c0d4b101"
	SentID      = "0198c7a2-5d3e-7a01-8b00-2f61c0d4b102"
	ScheduledID = "0198c7a2-5d3e-7a01-8b00-2f61c0d4b103"
	InboxID     = "01976f3a-5b00-7000-8000-0000000000a1"
	ReceivedID  = "0198c5a0-0000-7000-8000-00000000b001"
	SourceID    = "0198c5a0-0000-7000-8000-00000000da01"
	EventID     = "0198c5a0-0000-7000-8000-00000000de01"
	Suppressed  = "partner.1@shops.example.net"
)

// Answer is what the product answered to the example of an operation.
type Answer struct {
	// Status and Body are the answer of the route; Status is 0 for an operation without one.
	// Body is absent for an answer without a body.
	Status int             `json:"status,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	// Result is the structured content of the tool's result, absent for an operation without
	// a tool.
	Result json.RawMessage `json:"result,omitempty"`
}

// Of returns the answer to the example of an operation. It returns the zero value if none
// is stored; a test fails for an operation without one.
func Of(operation string) (Answer, error) {
	text, err := answers.ReadFile("answers/" + operation + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return Answer{}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if err := json.Unmarshal(text, &a); err != nil {
		return Answer{}, fmt.Errorf("answer of %s: %w", operation, err)
	}
	return a, nil
}
