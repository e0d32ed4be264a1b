package mixed

import (
	"fmt"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// access is an operation on the register of one key. Every write has another value.
type access struct {
	key   string
	write bool
	value int // of a write
}

// absent is the value of a register before its first write.
const absent = 0

// registers is the sequential behaviour that a history is compared with: a read returns the value of
// the last write of its key. The output of a read is its value.
func registers() porcupine.Model {
	return porcupine.Model{
		Partition: byKey,
		Init:      func() any { return absent },
		Step: func(state, input, output any) (bool, any) {
			if a := input.(access); a.write {
				return true, a.value
			}
			return output == state, state
		},
		DescribeOperation: func(input, output any) string {
			a := input.(access)
			if a.write {
				return fmt.Sprintf("%s = %d", a.key, a.value)
			}
			return fmt.Sprintf("%s is %v", a.key, output)
		},
	}
}

// byKey divides a history into those of each key.
func byKey(all []porcupine.Operation) [][]porcupine.Operation {
	of := map[string]int{}
	var parts [][]porcupine.Operation
	for _, op := range all {
		key := op.Input.(access).key
		i, known := of[key]
		if !known {
			i = len(parts)
			of[key] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], op)
	}
	return parts
}

// history collects operations with the times of their first request and their definite answer.
type history struct {
	began time.Time

	mu   sync.Mutex
	done []porcupine.Operation
	open map[int]porcupine.Operation // writes without an answer
	next int
}

func newHistory() *history {
	return &history{began: time.Now(), open: map[int]porcupine.Operation{}}
}

// begin records the first request of a write. Until end is called, it may have taken effect at any
// time since.
func (h *history) begin(client int, a access) (id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	h.open[h.next] = porcupine.Operation{ClientId: client, Input: a, Call: h.now()}
	return h.next
}

// end records the definite answer of a write.
func (h *history) end(id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	op := h.open[id]
	delete(h.open, id)
	op.Return = h.now()
	h.done = append(h.done, op)
}

// read records a read that was answered, which began at the time call.
func (h *history) read(client int, key string, call int64, value int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = append(h.done, porcupine.Operation{ClientId: client, Input: access{key: key}, Call: call, Output: value, Return: h.now()})
}

// now returns the time since the beginning, by the monotonic clock.
func (h *history) now() int64 { return int64(time.Since(h.began)) }

func (h *history) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.done)
}

// complete returns all operations. Writes without an answer may take effect until the end.
func (h *history) complete() []porcupine.Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := append([]porcupine.Operation{}, h.done...)
	for _, op := range h.open {
		op.Return = h.now()
		all = append(all, op)
	}
	return all
}

// refusal returns why the history is not that of registers, or "" if it is.
func refusal(all []porcupine.Operation, limit time.Duration) string {
	model := registers()
	model.Partition = nil
	for _, part := range byKey(all) {
		switch result, info := porcupine.CheckOperationsVerbose(model, part, limit); result {
		case porcupine.Illegal:
			return fmt.Sprintf("the %d calls for %s are not linearizable; at most %d of them are", len(part), part[0].Input.(access).key, longest(info))
		case porcupine.Unknown:
			return fmt.Sprintf("the %d calls for %s could not be checked in %v", len(part), part[0].Input.(access).key, limit)
		}
	}
	return ""
}

// longest returns the length of the longest part of a history that is linearizable.
func longest(info porcupine.LinearizationInfo) int {
	n := 0
	for _, partition := range info.PartialLinearizations() {
		for _, found := range partition {
			n = max(n, len(found))
		}
	}
	return n
}
