package inbound

import (
	"encoding/json"
	"fmt"
)

// Holding says which objects the queue or a destination needs of a message.
type Holding struct {
	MessageID string
	// Keys are the keys of the objects.
	Keys []string
	// Any is true while the message waits to be processed: then any object that was named for the
	// message may be needed.
	Any bool
}

// HoldingOf returns the holding of a destination that stored a message as JSON.
func HoldingOf(messageID, message string) (Holding, error) {
	var m Message
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		return Holding{}, fmt.Errorf("inbound: stored message: %w", err)
	}
	return Holding{MessageID: messageID, Keys: m.Keys()}, nil
}
