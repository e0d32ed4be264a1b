package server

import (
	"bytes"
	"strings"
	"sync"
)

// journal collects the log of a product. The test may read it while the product writes to
// it.
type journal struct {
	mu      sync.Mutex
	written bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.written.Write(p)
}

// text returns what the product has written.
func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.written.String()
}

// count returns how often the log contains a text.
func (j *journal) count(what string) int { return strings.Count(j.text(), what) }
