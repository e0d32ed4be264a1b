package mixed

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// TestHistories checks which histories are refused. The numbers are the times of the request and of
// the answer.
func TestHistories(t *testing.T) {
	t.Parallel()
	set := func(key string, value int, call, end int64) porcupine.Operation {
		return porcupine.Operation{Input: access{key: key, write: true, value: value}, Call: call, Return: end}
	}
	get := func(key string, value int, call, end int64) porcupine.Operation {
		return porcupine.Operation{Input: access{key: key}, Output: value, Call: call, Return: end}
	}
	for name, c := range map[string]struct {
		history []porcupine.Operation
		legal   bool
	}{
		"one after the other":           {[]porcupine.Operation{set("a", 1, 0, 1), get("a", 1, 2, 3), set("a", 2, 4, 5), get("a", 2, 6, 7)}, true},
		"absent at first":               {[]porcupine.Operation{get("a", absent, 0, 1), set("a", 1, 2, 3)}, true},
		"at the same time":              {[]porcupine.Operation{set("a", 1, 0, 9), set("a", 2, 0, 9), get("a", 2, 1, 2), get("a", 1, 3, 4)}, true},
		"keys are independent":          {[]porcupine.Operation{set("a", 1, 0, 1), get("b", absent, 2, 3)}, true},
		"without an answer, applied":    {[]porcupine.Operation{set("a", 1, 0, 100), get("a", absent, 1, 2), get("a", 1, 3, 4)}, true},
		"without an answer, lost":       {[]porcupine.Operation{set("a", 1, 0, 100), get("a", absent, 1, 2), get("a", absent, 3, 4)}, true},
		"a lost update":                 {[]porcupine.Operation{set("a", 1, 0, 1), set("a", 2, 2, 3), get("a", 1, 4, 5)}, false},
		"a lost write":                  {[]porcupine.Operation{set("a", 1, 0, 1), get("a", absent, 2, 3)}, false},
		"a stale read":                  {[]porcupine.Operation{set("a", 1, 0, 1), set("a", 2, 2, 9), get("a", 2, 3, 4), get("a", 1, 5, 6)}, false},
		"a write that is applied twice": {[]porcupine.Operation{set("a", 1, 0, 1), set("a", 2, 2, 3), get("a", 2, 4, 5), get("a", 1, 6, 7)}, false},
		"a value that was not written":  {[]porcupine.Operation{set("a", 1, 0, 1), get("a", 3, 2, 3)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if why := refusal(c.history, time.Minute); (why == "") != c.legal {
				t.Errorf("refused: %q", why)
			}
		})
	}
}
